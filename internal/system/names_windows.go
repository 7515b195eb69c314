package system

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// RemoveFile removes a file or a link to one, and never a folder.
func RemoveFile(name string) error {
	path, err := windows.UTF16PtrFromString(name)
	if err == nil {
		err = windows.DeleteFile(path)
	}
	if err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}

// SyncFolder does nothing: NTFS keeps its own journal of names, and no handle of a folder can be
// flushed.
func SyncFolder(*os.File) error { return nil }
