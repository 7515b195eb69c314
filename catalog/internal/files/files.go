// Package files is the file system that the cache uses. Tests can replace it, to make any operation
// fail or to crash after it. The package knows nothing about the contents of files.
package files

import (
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/vibeflight/vibeflight/internal/system"
)

// FS is a file system. Names are paths of the operating system. It is safe for concurrent use.
type FS interface {
	MkdirAll(name string) error
	Create(name string) (File, error) // for reading and writing; the name must not exist
	// Open opens a file for reading. It follows no link and does not wait for a pipe. The file may
	// be irregular.
	Open(name string) (File, error)
	Rename(from, to string) error // replaces an existing file
	Remove(name string) error     // never a folder
	ReadDir(name string) ([]fs.DirEntry, error)
	Stat(name string) (fs.FileInfo, error) // does not follow links
	Touch(name string, at time.Time) error // sets the modification time
	// makes creations, renames and removals in a folder durable
	SyncDir(name string) error
	Free(name string) (int64, error) // bytes that can still be written below a folder
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	Name() string
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	Sync() error
	// Map maps bytes [from, to), see system.Map. The mapping stays valid after Close, until
	// system.Unmap.
	Map(from, to int64) ([]byte, error)
	// Lock locks the file for this open file. It returns false if another open file has the lock.
	Lock() (bool, error)
	Close() error
}

// OS is the operating system's file system.
type OS struct{}

const (
	dirMode  = 0o700 // parsed tables are as private as their files
	fileMode = 0o600
)

// MkdirAll creates a folder and its parents, accessible only to their owner.
func (OS) MkdirAll(name string) error { return os.MkdirAll(name, dirMode) }

// Create creates a file, accessible only to its owner.
func (OS) Create(name string) (File, error) {
	return wrap(os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode))
}

// Open opens a file.
func (OS) Open(name string) (File, error) {
	return wrap(system.OpenPlain(name, os.O_RDONLY, 0))
}

// Rename renames a file atomically.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove removes a file or a link.
func (OS) Remove(name string) error { return system.RemoveFile(name) }

// ReadDir lists a folder in order of name.
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Stat describes a file, without following a link.
func (OS) Stat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// Touch sets the modification time.
func (OS) Touch(name string, at time.Time) error { return os.Chtimes(name, time.Time{}, at) }

// SyncDir syncs a folder.
func (OS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return system.SyncFolder(d)
}

// Free returns how many bytes an ordinary user can still write.
func (OS) Free(name string) (int64, error) { return system.Free(name) }

type osFile struct{ *os.File }

func wrap(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (f osFile) Map(from, to int64) ([]byte, error) { return system.Map(f.File, from, to) }

func (f osFile) Lock() (bool, error) { return system.TryLock(f.File) }
