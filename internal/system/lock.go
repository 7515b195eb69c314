package system

import "os"

// TryLock locks a file for this open file, against other open files of this and other processes. It
// returns false if another one has the lock. The lock ends when the file is closed, at the latest
// with the process.
func TryLock(f *os.File) (bool, error) { return lock(f, false) }

// Lock is TryLock, but waits for the lock.
func Lock(f *os.File) error {
	_, err := lock(f, true)
	return err
}
