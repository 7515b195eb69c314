// Package atomicfile writes files that are complete or absent. A file is written under a temporary
// name and renamed when it is on the disk.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vibeflight/vibeflight/internal/system"
)

// File is a file that is complete or absent. It is written in the folder of its path under a
// temporary name.
type File struct {
	*os.File
	path string
}

// Create creates the file that will replace path. The caller calls Commit, and Discard in any case.
func Create(path string) (*File, error) {
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s: not a regular file", path)
		}
		// A symbolic link stays: the file that it points to is replaced.
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	}
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()[:8]+".tmp")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		// An error has the path of the user, not the temporary one.
		var p *fs.PathError
		if errors.As(err, &p) {
			p.Path = path
		}
		return nil, err
	}
	return &File{File: f, path: path}, nil
}

// Commit syncs the file and renames it to its path.
func (f *File) Commit() error {
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
	return system.SyncFolder(dir)
}

// Explain describes an error of writing the file for a person: with its path, and with advice if
// the disk is full.
func (f *File) Explain(err error) error {
	var p *fs.PathError
	if f.File == nil || !errors.As(err, &p) || filepath.Dir(p.Path) != filepath.Dir(f.Name()) {
		return err
	}
	if !system.Full(err) && !system.TooLarge(err) {
		return fmt.Errorf("%s: %w", f.path, p.Err)
	}
	return fmt.Errorf("%s: %w; nothing of it is left; name a file where there is room for it", f.path, p.Err)
}

// Discard removes the file, unless Commit has succeeded.
func (f *File) Discard() {
	if f.File != nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
}
