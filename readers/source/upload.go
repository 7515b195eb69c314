package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
)

// Upload is a file whose bytes come while it is read. It lies in a temporary file without a name,
// which goes with Close.
//
// One goroutine writes, others read: who wants a byte that is not there yet waits for it, until
// somebody calls End or Fail.
type Upload struct {
	name string
	size int64 // of the whole; < 0: nobody knows before End
	t    *Temp
	in   *arrivals
}

// NewUpload makes a file of a name, for errors and for its packing, that will have n bytes;
// size < 0 says that nobody knows. u.MaxBytes bounds it. The caller closes it, when nobody reads or
// writes any more.
func NewUpload(name string, size int64, u UnpackOptions) (*Upload, error) {
	t, err := NewTemp(name, u.withDefaults())
	if err != nil {
		return nil, err
	}
	return &Upload{name: name, size: size, t: t, in: newArrivals()}, nil
}

// Write appends bytes. Beyond the limit, or the room on the disk, it gives a *RoomError.
func (u *Upload) Write(p []byte) (int, error) {
	if err := u.t.write(p); err != nil {
		return 0, err
	}
	return len(p), u.in.add(int64(len(p)))
}

// End says that all bytes came.
func (u *Upload) End() { u.in.finish(nil) }

// Fail says that no more bytes come, and why. The first of End and Fail counts.
func (u *Upload) Fail(err error) { u.in.finish(err) }

// Err is what Fail was told.
func (u *Upload) Err() error {
	_, err := u.in.over()
	return err
}

// Wait waits for the end, and gives what Fail was told.
func (u *Upload) Wait() error {
	_, err := u.in.reach(-1)
	return err
}

// Whole reports whether all bytes came.
func (u *Upload) Whole() bool {
	ended, err := u.in.over()
	return ended && err == nil
}

// magics are the first bytes of what is packed.
var magics = []struct {
	bytes     string
	extension string
}{
	{"\x1f\x8b\x08", ".gz"},
	{"\x28\xb5\x2f\xfd", ".zst"},
	{"PK\x03\x04", ".zip"},
}

// Open gives the file, once its size is known and its first bytes show how it is packed, where its
// name does not. Closing the answer does nothing; Unchanged of it is nil.
func (u *Upload) Open() (*File, error) {
	const head = 4
	if u.size < 0 {
		if err := u.Wait(); err != nil {
			return nil, err
		}
	}
	have, err := u.in.reach(head)
	if err != nil {
		return nil, err
	}
	first := make([]byte, min(have, head))
	if _, err := u.t.ReadAt(first, 0); err != nil {
		return nil, err
	}
	name := u.name
	if packing, _ := PackingOf(name); packing == Plain {
		for _, m := range magics {
			if bytes.HasPrefix(first, []byte(m.bytes)) {
				name += m.extension
			}
		}
	}
	size := u.size
	if size < 0 {
		size = have
	}
	return &File{
		Name: name, Path: name, Size: size, Identity: Identity{Size: size}, content: uploadReader{u},
		folder: nowhere{}, base: path.Base(name), upload: u,
	}, nil
}

// Uploaded gives the upload that f is, or whose content it is; nil: it is a file of a folder.
func (f *File) Uploaded() *Upload {
	if f.packed != nil {
		return f.packed.Uploaded()
	}
	return f.upload
}

// Close removes the file.
func (u *Upload) Close() error {
	u.Fail(fs.ErrClosed)
	return u.t.Close()
}

// FailAfter fails the upload when ctx ends, unless stop is called before.
func (u *Upload) FailAfter(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { u.Fail(context.Cause(ctx)) })
}

// uploadReader is the content of an upload.
type uploadReader struct{ u *Upload }

// ReadAt waits for the bytes.
func (a uploadReader) ReadAt(p []byte, off int64) (int, error) {
	have, err := a.u.in.reach(off + int64(len(p)))
	if err != nil {
		return 0, err
	}
	if off >= have {
		return 0, io.EOF
	}
	n, err := a.u.t.ReadAt(p[:min(int64(len(p)), have-off)], off)
	if n < len(p) && err == nil {
		err = io.EOF
	}
	return n, err
}

func (a uploadReader) Stat() (fs.FileInfo, error) { return a.u.t.Stat() }

// Close does nothing: the upload is closed by who made it.
func (a uploadReader) Close() error { return nil }

// nowhere is the folder of a file that lies next to nothing.
type nowhere struct{}

func (nowhere) Look(names []string) ([]fs.FileInfo, error) {
	return make([]fs.FileInfo, len(names)), nil
}

func (nowhere) Open(name string) (Content, string, error) {
	return nil, "", &fs.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
}
