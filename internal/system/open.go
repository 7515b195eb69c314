package system

import "os"

// OpenPlain opens a file as os.OpenFile does, but follows no link at the end of the name, and does
// not wait for the other end of a pipe. A link gives an error that is syscall.ELOOP. The file may be
// irregular.
func OpenPlain(name string, flag int, mode os.FileMode) (*os.File, error) {
	return openPlain(name, flag, mode, os.OpenFile)
}

// OpenPlainIn is OpenPlain for a name below a root.
func OpenPlainIn(dir *os.Root, name string, flag int, mode os.FileMode) (*os.File, error) {
	return openPlain(name, flag, mode, dir.OpenFile)
}

type openFunc func(name string, flag int, mode os.FileMode) (*os.File, error)
