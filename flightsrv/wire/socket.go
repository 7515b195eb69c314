package wire

import (
	"errors"
	"net"
	"sync/atomic"
	"syscall"

	"github.com/vibeflight/vibeflight/internal/system/sockets"
)

const turnBytes = 64 << 10 // a write of this many bytes waits for a turn

// socket is the socket of a connection. Large writes wait for a turn of the user. A turn lasts
// while the kernel copies, and not while the socket is full: a client that does not read holds none.
type socket struct {
	net.Conn
	raw  syscall.RawConn // nil: its writes have no turns, as the socket has no descriptor or the system no such call
	turn Turn
	user atomic.Pointer[string]
}

// Turn waits until a connection of a user may write, and leave ends the turn.
type Turn func(user string) (leave func())

func newSocket(conn net.Conn, turn Turn) *socket {
	s := &socket{Conn: conn, turn: turn}
	if c, ok := conn.(syscall.Conn); ok && turn != nil && sockets.DirectWrites {
		if raw, err := c.SyscallConn(); err == nil {
			s.raw = raw
		}
	}
	s.setUser("")
	return s
}

func (s *socket) setUser(name string) {
	if u := s.user.Load(); u == nil || *u != name {
		s.user.Store(&name)
	}
}

// writeAll writes all parts, which it changes.
func (s *socket) writeAll(parts net.Buffers) error {
	if s.raw == nil || !reach(parts, turnBytes) {
		_, err := parts.WriteTo(s.Conn)
		return err
	}
	var failed error
	err := s.raw.Write(func(fd uintptr) (done bool) {
		defer s.turn(*s.user.Load())()
		parts, failed = writeParts(fd, parts)
		return failed != nil || len(parts) == 0
	})
	if failed != nil {
		return failed
	}
	return err
}

// writeParts writes until the socket is full, and returns the rest.
func writeParts(fd uintptr, parts net.Buffers) (net.Buffers, error) {
	for len(parts) > 0 {
		n, err := sockets.WriteParts(fd, parts)
		switch {
		case errors.Is(err, sockets.ErrWouldBlock):
			return parts, nil
		case err != nil:
			return parts, err
		}
		for len(parts) > 0 && n >= len(parts[0]) {
			n -= len(parts[0])
			parts = parts[1:]
		}
		if len(parts) > 0 {
			parts[0] = parts[0][n:]
		}
	}
	return nil, nil
}

// reach reports whether the parts have n bytes or more.
func reach(parts net.Buffers, n int) bool {
	for _, p := range parts {
		if n -= len(p); n <= 0 {
			return true
		}
	}
	return false
}
