//go:build unix

package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// OpenTerminal opens the controlling terminal of this process, for reading and for writing. The
// caller closes both; they may be one file.
func OpenTerminal() (in, out *os.File, err error) {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	return f, f, err
}

// InterruptByKey says whether Ctrl-C at a terminal sends SIGINT, or is a character that the program
// reads.
func InterruptByKey(f *os.File, signal bool) error {
	mode, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	if err != nil {
		return os.NewSyscallError("ioctl", err)
	}
	mode.Lflag &^= unix.ISIG
	if signal {
		mode.Lflag |= unix.ISIG
	}
	return os.NewSyscallError("ioctl", unix.IoctlSetTermios(int(f.Fd()), setTermios, mode))
}

// GiveSize gives a terminal that does not know its size, as a serial line or a container, the usual one.
// Without columns, the editor would read plain lines: no completion, no history, Ctrl-C without effect.
// The caller calls restore at the end.
func GiveSize(f *os.File) (restore func()) {
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
