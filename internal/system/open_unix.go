//go:build unix

package system

import (
	"errors"
	"os"
	"syscall"
)

// NoWait is the flag of os.OpenFile that does not wait for the other end of a pipe. It changes
// nothing about regular files.
const NoWait = syscall.O_NONBLOCK

func openPlain(name string, flag int, mode os.FileMode, open openFunc) (*os.File, error) {
	f, err := open(name, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, mode)
	if errors.Is(err, syscall.EMLINK) { // what FreeBSD says of a link
		err = &os.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
	}
	return f, err
}
