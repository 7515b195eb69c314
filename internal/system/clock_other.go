//go:build !linux

package system

import "time"

// Monotonic returns false: there is no systemd.
func Monotonic() (time.Duration, bool) { return 0, false }
