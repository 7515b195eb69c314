package system

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// NoWait is the flag of os.OpenFile that does not wait for the other end of a pipe: Windows has no
// pipes in folders.
const NoWait = 0

// openPlain opens a link itself, and then refuses it.
func openPlain(name string, flag int, mode os.FileMode, open openFunc) (*os.File, error) {
	f, err := open(name, flag|windows.FILE_FLAG_OPEN_REPARSE_POINT, mode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = &os.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}
