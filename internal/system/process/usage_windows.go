package process

import (
	"math"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// CPUTime returns the CPU time of this process so far, user and system.
func CPUTime() (time.Duration, error) {
	var created, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user); err != nil {
		return 0, os.NewSyscallError("GetProcessTimes", err)
	}
	const unit = 100 * time.Nanosecond // of a duration in a Filetime
	ticks := func(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
	return time.Duration(ticks(kernel)+ticks(user)) * unit, nil
}

// OpenFiles returns math.MaxInt64: Windows has no such limit.
func OpenFiles() (int64, error) { return math.MaxInt64, nil }
