//go:build unix

package systemtest

import (
	"os/signal"
	"syscall"
)

// Mkfifo makes a named pipe.
func Mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// LimitFileSize makes writes of this process beyond a size of a file fail, as on a full disk.
func LimitFileSize(bytes uint32) error {
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	set(&limit.Cur, bytes)
	set(&limit.Max, bytes)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

// set sets a limit, which has a sign on FreeBSD.
func set[T int64 | uint64](to *T, n uint32) { *to = T(n) }
