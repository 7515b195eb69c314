//go:build !linux

package process

import "time"

// Monotonic returns false: there is no systemd.
func Monotonic() (time.Duration, bool) { return 0, false }
