//go:build unix

package process

import "os"

// OpenTerminal opens the controlling terminal of this process, for reading and for writing. The
// caller closes both; they may be one file.
func OpenTerminal() (in, out *os.File, err error) {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	return f, f, err
}
