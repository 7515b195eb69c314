package process

import (
	"time"

	"golang.org/x/sys/unix"
)

// Monotonic returns the time of the system's monotonic clock, as systemd counts it.
func Monotonic() (time.Duration, bool) {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 0, false
	}
	return time.Duration(now.Nano()), true
}
