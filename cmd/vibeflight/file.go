package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// newFile is a file that is there whole or not at all: it is written under another name beside its
// own, and renamed when it is complete and on the disk.
type newFile struct {
	*os.File
	path string
}

// createFile starts the file that will replace path. The caller calls keep, and discard in any
// case.
func createFile(path string) (*newFile, error) {
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s: not a regular file", path)
		}
		// A link stays a link: what it points to is replaced.
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	}
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()[:8]+".tmp")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		// The name that the user knows, not the temporary one.
		var p *fs.PathError
		if errors.As(err, &p) {
			p.Path = path
		}
		return nil, err
	}
	return &newFile{File: f, path: path}, nil
}

// keep syncs the file and gives it its name.
func (f *newFile) keep() error {
	if err := f.Sync(); err != nil {
		return err
	}
	temporary := f.Name()
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(temporary, f.path); err != nil {
		return err
	}
	f.File = nil
	dir, err := os.Open(filepath.Dir(f.path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// problem is an error of writing the file in words for a person: with the name that the file was to
// have, and what to do where there is no room for it.
func (f *newFile) problem(err error) error {
	var p *fs.PathError
	if f.File == nil || !errors.As(err, &p) || filepath.Dir(p.Path) != filepath.Dir(f.Name()) {
		return err
	}
	if !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) && !errors.Is(err, unix.EFBIG) {
		return fmt.Errorf("%s: %w", f.path, p.Err)
	}
	return fmt.Errorf("%s: %w; nothing of it is left; name a file where there is room for it", f.path, p.Err)
}

// discard removes the file unless keep has been called and did well.
func (f *newFile) discard() {
	if f.File != nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
}
