package sockets

import "runtime"

// MaxPath is the maximum number of bytes of a unix socket's path: sun_path without the
// terminating zero.
func MaxPath() int {
	switch runtime.GOOS {
	case "linux", "windows":
		return 107
	}
	return 103
}
