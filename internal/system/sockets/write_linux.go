package sockets

import (
	"os"

	"golang.org/x/sys/unix"
)

// maxParts is how many parts one call writes (IOV_MAX).
const maxParts = 1024

// DirectWrites reports whether WriteParts works here.
const DirectWrites = true

// WriteParts writes parts to the descriptor of a socket that does not block, with one call. It
// returns how many bytes the socket took.
func WriteParts(fd uintptr, parts [][]byte) (int, error) {
	for {
		switch n, err := unix.Writev(int(fd), parts[:min(len(parts), maxParts)]); err {
		case nil:
			return n, nil
		case unix.EAGAIN:
			return 0, ErrWouldBlock
		case unix.EINTR:
		default:
			return 0, os.NewSyscallError("writev", err)
		}
	}
}
