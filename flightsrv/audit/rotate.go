package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// rotatingFile is a file that is renamed to FILE.1 when it is full; FILE.1 becomes FILE.2, and so on.
// One goroutine uses it.
type rotatingFile struct {
	name     string
	maxBytes int64
	maxFiles int
	file     *os.File // nil: it could not be opened; the next write tries again
	size     int64
}

func openRotating(name string, maxBytes int64, maxFiles int) (*rotatingFile, error) {
	r := &rotatingFile{name: name, maxBytes: maxBytes, maxFiles: maxFiles}
	if err := r.open(); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *rotatingFile) open() error {
	// Only the server's user may read what callers asked.
	f, err := os.OpenFile(r.name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r.file, r.size = f, info.Size()
	return nil
}

// Write appends whole lines.
func (r *rotatingFile) Write(lines []byte) (int, error) {
	if r.file == nil {
		if err := r.open(); err != nil {
			return 0, err
		}
	}
	if r.size > 0 && r.size+int64(len(lines)) > r.maxBytes {
		if err := r.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := r.file.Write(lines)
	r.size += int64(n)
	return n, err
}

func (r *rotatingFile) rotate() error {
	err := r.file.Close()
	r.file = nil
	if err != nil {
		return err
	}
	if !isRegular(r.name) { // a pipe or a device has no size
		return r.open()
	}
	for i := r.maxFiles - 1; i >= 1; i-- {
		if err := os.Rename(r.numbered(i), r.numbered(i+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(r.name, r.numbered(1)); err != nil {
		return err
	}
	return r.open()
}

func (r *rotatingFile) numbered(i int) string { return fmt.Sprintf("%s.%d", r.name, i) }

func isRegular(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// Close closes the file.
func (r *rotatingFile) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
