package faulty

import (
	"errors"
	"io/fs"
	"math/bits"
	"path/filepath"
	"syscall"
	"time"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
)

var _ files.FS = (*FS)(nil)

func pathError(op Op, name string, err error) error {
	names := [...]string{
		"mkdir", "create", "open", "rename", "remove", "readdir", "stat", "touch", "syncdir", "statfs",
		"read", "write", "truncate", "sync", "mmap", "flock", "close",
	}
	return &fs.PathError{Op: names[bits.TrailingZeros32(uint32(op))], Path: name, Err: err}
}

// do runs an operation, unless a fault applies to it.
func do[T any](f *FS, op Op, name string, run func() (T, error)) (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault := f.step(op, name); fault != nil {
		var zero T
		return zero, fault.Err
	}
	return run()
}

// try is do for an operation that only returns an error.
func try(f *FS, op Op, name string, run func() error) error {
	_, err := do(f, op, name, func() (struct{}, error) { return struct{}{}, run() })
	return err
}

// MkdirAll creates a folder, which is durable at once.
func (f *FS) MkdirAll(name string) error {
	return try(f, MkdirAll, name, func() error { return f.inner.MkdirAll(name) })
}

// Create creates a file, which is durable after a sync of its folder.
func (f *FS) Create(name string) (files.File, error) {
	return do(f, Create, name, func() (files.File, error) {
		dir, err := f.folder(filepath.Dir(name))
		if err != nil {
			return nil, err
		}
		opened, err := f.inner.Create(name)
		if err != nil {
			return nil, err
		}
		n := &node{}
		dir.change(func(names map[string]*node) { names[filepath.Base(name)] = n })
		return &file{File: opened, fs: f, node: n}, nil
	})
}

// Open opens a file for reading.
func (f *FS) Open(name string) (files.File, error) {
	return do(f, Open, name, func() (files.File, error) {
		dir, err := f.folder(filepath.Dir(name))
		if err != nil {
			return nil, err
		}
		opened, err := f.inner.Open(name)
		if err != nil {
			return nil, err
		}
		n := dir.now[filepath.Base(name)]
		if n == nil {
			n = &node{} // not a regular file
		}
		return &file{File: opened, fs: f, node: n}, nil
	})
}

// Rename renames a file inside its folder. The change is durable after a sync of the folder.
func (f *FS) Rename(from, to string) error {
	return try(f, Rename, from, func() error {
		if filepath.Dir(from) != filepath.Dir(to) {
			return pathError(Rename, from, syscall.EXDEV)
		}
		dir, err := f.folder(filepath.Dir(from))
		if err != nil {
			return err
		}
		if err := f.inner.Rename(from, to); err != nil {
			return err
		}
		dir.change(func(names map[string]*node) {
			if n := names[filepath.Base(from)]; n != nil {
				names[filepath.Base(to)] = n
				delete(names, filepath.Base(from))
			}
		})
		return nil
	})
}

// Remove removes a file. The change is durable after a sync of its folder.
func (f *FS) Remove(name string) error {
	return try(f, Remove, name, func() error {
		dir, err := f.folder(filepath.Dir(name))
		if err != nil {
			return err
		}
		if err := f.inner.Remove(name); err != nil {
			return err
		}
		dir.change(func(names map[string]*node) { delete(names, filepath.Base(name)) })
		return nil
	})
}

// ReadDir lists a folder.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	return do(f, ReadDir, name, func() ([]fs.DirEntry, error) { return f.inner.ReadDir(name) })
}

// Stat describes a file.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	return do(f, Stat, name, func() (fs.FileInfo, error) { return f.inner.Stat(name) })
}

// Touch sets a modification time.
func (f *FS) Touch(name string, at time.Time) error {
	return try(f, Touch, name, func() error { return f.inner.Touch(name, at) })
}

// SyncDir makes the names in a folder durable.
func (f *FS) SyncDir(name string) error {
	return try(f, SyncDir, name, func() error {
		dir, err := f.folder(name)
		if err != nil {
			return err
		}
		dir.sync()
		return nil
	})
}

// Free returns the free bytes of the disk.
func (f *FS) Free(name string) (int64, error) {
	return do(f, Free, name, func() (int64, error) { return f.inner.Free(name) })
}

// file is an open file. It reads and locks the inner file.
type file struct {
	files.File
	fs   *FS
	node *node
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	return do(f.fs, Read, f.Name(), func() (int, error) { return f.File.ReadAt(p, off) })
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	fault := f.fs.step(Write, f.Name())
	if fault != nil {
		if !fault.Short || len(p) == 0 {
			return 0, fault.Err
		}
		p = p[:f.fs.random.IntN(len(p))]
	}
	n, err := f.File.WriteAt(p, off)
	f.node.write(p[:n], off)
	if err == nil && fault != nil {
		err = fault.Err
	}
	return n, err
}

func (f *file) Truncate(size int64) error {
	return try(f.fs, Truncate, f.Name(), func() error {
		if err := f.File.Truncate(size); err != nil {
			return err
		}
		f.node.truncate(size)
		return nil
	})
}

func (f *file) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if fault := f.fs.step(Sync, f.Name()); fault != nil {
		f.node.disk, f.node.pending = f.node.survive(f.fs.random), nil
		return fault.Err
	}
	f.node.sync()
	return nil
}

func (f *file) Stat() (fs.FileInfo, error) {
	return do(f.fs, Stat, f.Name(), f.File.Stat)
}

func (f *file) Map(from, to int64) ([]byte, error) {
	return do(f.fs, Map, f.Name(), func() ([]byte, error) { return f.File.Map(from, to) })
}

func (f *file) Lock() (bool, error) { return do(f.fs, Lock, f.Name(), f.File.Lock) }

// Close closes the inner file even if a fault applies, because callers do not close twice.
func (f *file) Close() error {
	err := f.File.Close()
	return errors.Join(try(f.fs, Close, f.Name(), func() error { return nil }), err)
}
