package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// Recoder says how the text of a file becomes the UTF-8 that parsers read.
type Recoder struct {
	From   string                    // name of the encoding that the file has: "UTF-16LE"
	Reader func(io.Reader) io.Reader // gives what it reads as UTF-8; malformed bytes are a *RecodeError
}

// RecodeError says which bytes of a file are no text of its encoding.
type RecodeError struct {
	Offset int64  // in the file
	Rule   string // that is broken: "XML 1.0 section 4.3.3"
	Err    error
}

// Error is "byte 1234: what".
func (e *RecodeError) Error() string { return fmt.Sprintf("byte %d: %v", e.Offset, e.Err) }

func (e *RecodeError) Unwrap() error { return e.Err }

// Recode gives the text of f as UTF-8, in a temporary file that goes with the answer, under the
// name of f. Unchanged and siblings of it are those of f. The caller closes the answer, and f after
// it; an f that Unpack gave is closed with the answer.
//
// Errors: *RecodeError for malformed text, *RoomError, those of reading and writing, that of ctx.
func (f *File) Recode(ctx context.Context, r Recoder, u UnpackOptions) (*File, error) {
	t, err := NewTemp(f.Name, u.withDefaults())
	if err != nil {
		return nil, err
	}
	in := f.stream(ctx, 0, f.Size)
	bad, err := drain(ctx, r.Reader(in), make([]byte, copyBytes), t.write)
	if in.err != nil {
		err = in.err
	} else if err == nil {
		err = bad
	}
	if err != nil {
		_ = t.Close()
		return nil, err
	}
	c := recodedReader{t.File, nil}
	if f.packed != nil {
		c.under = f
	}
	return &File{
		Name: f.Name, Path: f.Path, Size: t.size.Load(), Modified: f.Modified, Identity: f.Identity, Encoding: r.From,
		Layers: f.Layers, content: c, packed: f,
	}, nil
}

// recodedReader is the content of a recodedReader file, with which that of the packed file before
// it is closed.
type recodedReader struct {
	*os.File
	under *File // nil: the caller's
}

func (c recodedReader) Close() error {
	err := c.File.Close()
	if c.under != nil {
		err = errors.Join(err, c.under.Close())
	}
	return err
}
