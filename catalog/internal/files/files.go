// Package files is what the cache asks of a file system, so that a test can have any of it fail, or
// be the last thing that happens before a crash. It knows nothing of what is in a file.
package files

import (
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// FS is a file system. Names are paths of the operating system. It is safe for use by several
// goroutines.
type FS interface {
	MkdirAll(name string) error
	Create(name string) (File, error) // for reading and writing; there must be none of this name
	// for reading; follows no link and waits for no pipe, so what is opened may be no regular file
	Open(name string) (File, error)
	Rename(from, to string) error // replaces what is called to
	Remove(name string) error     // never a folder
	ReadDir(name string) ([]fs.DirEntry, error)
	Stat(name string) (fs.FileInfo, error) // of a link itself
	Touch(name string, at time.Time) error // sets the time of modification
	SyncDir(name string) error             // makes names that were created, renamed or removed in a folder last
	Free(name string) (int64, error)       // bytes that may still be written below a folder
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	Name() string
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	Sync() error
	// Map gives bytes [from, to) in memory, read-only; from is a multiple of the page size. They
	// stay valid after Close, until Unmap.
	Map(from, to int64) ([]byte, error)
	// Lock takes the file's lock for this open file, unless somebody has it: then it gives false.
	Lock() (bool, error)
	Close() error
}

// Unmap ends a mapping that Map gave.
func Unmap(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	return os.NewSyscallError("munmap", syscall.Munmap(b))
}

// madvPopulateRead is MADV_POPULATE_READ of Linux's madvise(2), from Linux 5.14 on.
const madvPopulateRead = 22

// Populate maps in the pages of a part of a mapping that is about to be read as a whole: one call
// is quicker than a fault for every few pages. Where the kernel does not know the call, they come
// one by one.
func Populate(b []byte) {
	if len(b) == 0 {
		return
	}
	// madvise wants whole pages, and they are ours
	before := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(os.Getpagesize()-1))
	_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), -before)), before+len(b)),
		madvPopulateRead)
}

// OS is the operating system's file system.
type OS struct{}

const (
	dirMode  = 0o700 // what is parsed is as private as the files it came from
	fileMode = 0o600
)

// MkdirAll makes a folder, and those above it, for its owner alone.
func (OS) MkdirAll(name string) error { return os.MkdirAll(name, dirMode) }

// Create makes a file, for its owner alone.
func (OS) Create(name string) (File, error) {
	return wrap(os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode))
}

// Open opens what has the name.
func (OS) Open(name string) (File, error) {
	return wrap(os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0))
}

// Rename renames in one step.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove removes a file or a link.
func (OS) Remove(name string) error {
	for {
		switch err := syscall.Unlink(name); err { // os.Remove would go on to remove an empty folder
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

// Stat describes what has the name.
func (OS) Stat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// Touch sets the time of modification.
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

// Free gives what somebody who is not root may still write, in bytes.
func (OS) Free(name string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(name, &st); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: name, Err: err}
	}
	unit := st.Frsize // Bsize is the best size of a transfer, which network file systems set larger
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
