//go:build unix

package system

import (
	"io/fs"
	"os"
	"syscall"
)

// RemoveFile removes a file or a link, and never a folder, as os.Remove does with an empty one.
func RemoveFile(name string) error {
	for {
		switch err := syscall.Unlink(name); err {
		case nil:
			return nil
		case syscall.EINTR:
		default:
			return &fs.PathError{Op: "remove", Path: name, Err: err}
		}
	}
}

// SyncFolder makes creations, renames and removals in a folder durable.
func SyncFolder(folder *os.File) error { return folder.Sync() }
