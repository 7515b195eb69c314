package source

import (
	"context"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxZstdWindow is the memory that a frame may ask for: what zstd itself takes without --long=28 or
// more.
const maxZstdWindow = 128 << 20

// newZstd decodes all frames of a zstd file, one after the other. The stages of a frame run side by
// side if there are workers for them.
func newZstd(in io.Reader, workers int) (*zstd.Decoder, error) {
	return zstd.NewReader(in, zstd.WithDecoderConcurrency(workers), zstd.WithDecoderMaxWindow(maxZstdWindow),
		zstd.WithDecoderLowmem(true))
}

// unzstd hands on the content of a zstd file, decoded by one worker from its first byte on.
func (f *File) unzstd(ctx context.Context, write func([]byte) error) error {
	in := f.stream(ctx, 0, f.Size)
	if f.Size == 0 {
		return in.wrong(io.ErrUnexpectedEOF) // no frame is an error of the zstd command too
	}
	content, err := newZstd(in, 1)
	if err != nil {
		return err
	}
	bad, err := drain(ctx, content, make([]byte, copyBytes), write)
	content.Close() // what it read ahead is read
	if bad != nil {
		err = in.wrong(bad)
	}
	return err
}

// zstdDecoder decodes runs of frames. The stages of a long one run side by side.
type zstdDecoder struct{ plain, staged *zstd.Decoder }

func (d *zstdDecoder) content(s *spread, seg *segment, in *stream) (_ io.Reader, err error) {
	end, err := s.end(seg, seg.from+stagedBytes)
	if err != nil {
		return nil, err
	}
	z, workers := &d.plain, 1
	if end-seg.from > stagedBytes && s.workers > 1 {
		z, workers = &d.staged, s.workers
	}
	if *z == nil {
		*z, err = newZstd(in, workers)
		return *z, err
	}
	return *z, (*z).Reset(in)
}

func (d *zstdDecoder) close() {
	for _, z := range []*zstd.Decoder{d.plain, d.staged} {
		if z != nil {
			z.Close()
		}
	}
	d.plain, d.staged = nil, nil
}
