// Package source gives the bytes of a data file and its siblings, and says whether they are still the same bytes.
//
// Users' files are read with pread and never mapped: a mapping of a file that somebody truncates kills the process.
package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
)

// ErrChanged is the cause of the error when a file changed between two looks at it.
var ErrChanged = errors.New("the file changed while it was read")

// File is an open data file. It is safe for use by several goroutines.
type File struct {
	Name     string   // the catalog's name: what users see in errors
	Path     string   // where it lies
	Size     int64    // bytes when it was opened
	Identity Identity // when it was opened

	f     *os.File
	there func() (fs.FileInfo, error) // what lies at the path now
	read  atomic.Int64                // bytes that ReadAt gave
}

// Without O_NONBLOCK, opening a named pipe waits for somebody to write to it. It changes nothing about regular files.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK

// Open opens the file at path under a catalog name. The caller closes it.
func Open(name, path string) (*File, error) {
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return nil, err
	}
	return open(f, name, path, func() (fs.FileInfo, error) { return os.Stat(path) })
}

// OpenIn opens the file at rel below root under a catalog name. Links are followed as long as they stay below root, at any time: a
// file that a link out of it replaced is an error, and so is every look at it after root was closed. The caller closes the file and keeps root
// open until then.
func OpenIn(root *os.Root, name, rel string) (*File, error) {
	f, err := root.OpenFile(rel, openFlags, 0)
	if err != nil {
		return nil, err
	}
	return open(f, name, filepath.Join(root.Name(), rel), func() (fs.FileInfo, error) { return root.Stat(rel) })
}

func open(f *os.File, name, path string, there func() (fs.FileInfo, error)) (*File, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &File{Name: name, Path: path, Size: info.Size(), Identity: IdentityOf(info), f: f, there: there}, nil
}

// ReadAt reads len(p) bytes from offset off, as io.ReaderAt says.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.f.ReadAt(p, off)
	f.read.Add(int64(n))
	return n, err
}

// BytesRead is how many bytes ReadAt gave so far, those that it gave twice counted twice: how far a parse is, while it runs.
func (f *File) BytesRead() int64 { return f.read.Load() }

// Head reads the first n bytes, or all of a shorter file.
func (f *File) Head(n int) ([]byte, error) {
	head := make([]byte, min(f.Size, int64(n)))
	got, err := f.ReadAt(head, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head[:got], err
}

// Unchanged gives an error that wraps ErrChanged if the open file or the file now at its path is another than when it was opened.
// A reader calls it after its last byte: a table is never made of two versions of a file.
func (f *File) Unchanged() error {
	for _, stat := range []func() (fs.FileInfo, error){f.f.Stat, f.there} {
		info, err := stat()
		if err != nil {
			return fmt.Errorf("%s: %w (%w)", f.Name, ErrChanged, err)
		}
		if now := IdentityOf(info); now != f.Identity {
			return fmt.Errorf("%s: %w: was %v, is %v", f.Name, ErrChanged, f.Identity, now)
		}
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }
