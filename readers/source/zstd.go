package source

import (
	"context"
	"errors"
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

// unzstd writes the content of a zstd file to t. What is wrong with it one worker alone says: where
// several of them were is not always the same place.
func (f *File) unzstd(ctx context.Context, t *Temp, workers int) error {
	err := f.decodeZstd(ctx, t, workers)
	if malformed := new(PackError); workers == 1 || !errors.As(err, &malformed) {
		return err
	}
	if err := t.clear(); err != nil {
		return err
	}
	return f.decodeZstd(ctx, t, 1)
}

func (f *File) decodeZstd(ctx context.Context, t *Temp, workers int) error {
	in := f.stream(ctx, 0, f.Size)
	if f.Size == 0 {
		return in.wrong(io.ErrUnexpectedEOF) // no frame is an error of the zstd command too
	}
	content, err := newZstd(in, workers)
	if err != nil {
		return err
	}
	bad, err := drain(ctx, content, t)
	content.Close() // what it read ahead is read
	if bad != nil {
		err = in.wrong(bad)
	}
	return err
}
