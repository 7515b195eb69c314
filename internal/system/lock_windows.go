package system

import (
	"os"

	"golang.org/x/sys/windows"
)

// lock locks a byte beyond every content: other processes can't read or write what is locked.
func lock(f *os.File, wait bool) (bool, error) {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	at := &windows.Overlapped{OffsetHigh: 1 << 30}
	switch err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, at); err {
	case nil:
		return true, nil
	case windows.ERROR_LOCK_VIOLATION:
		return false, nil
	default:
		return false, &os.PathError{Op: "LockFileEx", Path: f.Name(), Err: err}
	}
}
