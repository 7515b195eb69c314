package source

import (
	"context"
	"io"

	"github.com/klauspost/compress/gzip"
)

// gunzip hands on the content of a gzip file, decoded by one worker from its first byte on.
func (f *File) gunzip(ctx context.Context, write func([]byte) error) error {
	in := f.stream(ctx, 0, f.Size)
	content, err := gzip.NewReader(in.Reader)
	if err != nil {
		return in.wrong(err)
	}
	bad, err := drain(ctx, content, make([]byte, copyBytes), write)
	if bad != nil {
		err = in.wrong(bad)
	}
	return err
}

// gzipDecoder decodes runs of members. It is handed the bufio.Reader itself, for which package flate
// has a loop of its own.
type gzipDecoder struct{ z *gzip.Reader }

func (d *gzipDecoder) content(_ *spread, _ *segment, in *stream) (_ io.Reader, err error) {
	if d.z == nil {
		d.z, err = gzip.NewReader(in.Reader)
		return d.z, err
	}
	return d.z, d.z.Reset(in.Reader)
}

func (d *gzipDecoder) close() {}
