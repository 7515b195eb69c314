//go:build unix

package process

import (
	"math"
	"os"
	"syscall"
	"time"
)

// CPUTime returns the CPU time of this process so far, user and system.
func CPUTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, os.NewSyscallError("getrusage", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// OpenFiles returns how many files this process may have open; math.MaxInt64 is any number.
func OpenFiles() (int64, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, os.NewSyscallError("getrlimit", err)
	}
	return int64(min(uint64(limit.Cur), math.MaxInt64)), nil // FreeBSD counts with a sign
}
