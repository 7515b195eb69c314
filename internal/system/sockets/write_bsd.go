//go:build unix && !linux

package sockets

import (
	"os"

	"golang.org/x/sys/unix"
)

// DirectWrites reports whether WriteParts works here.
const DirectWrites = true

// WriteParts writes the first part to the descriptor of a socket that does not block. It returns how
// many bytes the socket took.
func WriteParts(fd uintptr, parts [][]byte) (int, error) {
	for {
		switch n, err := unix.Write(int(fd), parts[0]); err {
		case nil:
			return n, nil
		case unix.EAGAIN:
			return 0, ErrWouldBlock
		case unix.EINTR:
		default:
			return 0, os.NewSyscallError("write", err)
		}
	}
}
