//go:build linux || darwin || freebsd

package prompt

import (
	"os"

	"golang.org/x/sys/unix"
)

// sized gives a terminal that does not know its size, as a serial line or a container, the usual one.
// Without columns, the editor would read plain lines: no completion, no history, Ctrl-C without effect.
// The caller calls restore at the end.
func sized(f *os.File) (restore func()) {
	fd := int(f.Fd())
	was, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil || was.Col != 0 {
		return func() {}
	}
	usual := unix.Winsize{Row: was.Row, Col: 80}
	if usual.Row == 0 {
		usual.Row = 24
	}
	if unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &usual) != nil {
		return func() {}
	}
	return func() {
		// A size that came in the meantime stays.
		if is, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ); err == nil && *is == usual {
			_ = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, was)
		}
	}
}
