// Package files is the file system that the cache uses. Tests can replace it, to make any operation
// fail or to crash after it. The package knows nothing about the contents of files.
package files

import (
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
	"unsafe"
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
	// Map maps bytes [from, to), read-only; from is a multiple of the page size. The mapping stays
	// valid after Close, until Unmap.
	Map(from, to int64) ([]byte, error)
	// Lock locks the file for this open file. It returns false if another open file has the lock.
	Lock() (bool, error)
	Close() error
}

// Unmap ends a mapping of Map.
func Unmap(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	return os.NewSyscallError("munmap", syscall.Munmap(b))
}

// madvPopulateRead is MADV_POPULATE_READ of Linux's madvise(2), since Linux 5.14.
const madvPopulateRead = 22

// Populate loads the pages of a part of a mapping that will be read completely. One call is faster
// than a page fault for every few pages. If the kernel does not support the call, the pages are
// loaded by faults.
func Populate(b []byte) {
	if len(b) == 0 {
		return
	}
	// madvise needs complete pages. The whole page belongs to the mapping.
	before := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(os.Getpagesize()-1))
	_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), -before)), before+len(b)),
		madvPopulateRead)
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
	return wrap(os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0))
}

// Rename renames a file atomically.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove removes a file or a link.
func (OS) Remove(name string) error {
	for {
		switch err := syscall.Unlink(name); err { // os.Remove would also remove an empty folder
		case nil:
			return nil
		case syscall.EINTR:
		default:
			return &fs.PathError{Op: "remove", Path: name, Err: err}
		}
	}
}

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
	return d.Sync()
}

// Free returns how many bytes an ordinary user can still write.
func (OS) Free(name string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(name, &st); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: name, Err: err}
	}
	// Bsize is the preferred transfer size, which is larger on network file systems
	unit := st.Frsize
	if unit == 0 {
		unit = st.Bsize
	}
	return int64(st.Bavail) * unit, nil
}

type osFile struct{ *os.File }

func wrap(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (f osFile) Map(from, to int64) ([]byte, error) {
	if from == to {
		return nil, nil
	}
	b, err := syscall.Mmap(int(f.Fd()), from, int(to-from), syscall.PROT_READ, syscall.MAP_PRIVATE)
	return b, os.NewSyscallError("mmap", err)
}

func (f osFile) Lock() (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, os.NewSyscallError("flock", err)
}
