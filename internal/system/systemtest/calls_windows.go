package systemtest

import "errors"

// Mkfifo returns an error: Windows has no pipes in folders.
func Mkfifo(string) error { return errors.ErrUnsupported }

// LimitFileSize returns an error: Windows has no such limit.
func LimitFileSize(uint32) error { return errors.ErrUnsupported }
