package flightsrv

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/internal/system"
	"github.com/vibeflight/vibeflight/internal/system/sockets"
)

// listener has its address in the form of --listen.
type listener struct {
	net.Listener
	name string
}

// protection is what keeps others from an address that they can reach.
type protection struct {
	encrypted, login bool
	insecure         bool // serve without
}

// gap describes what lacks for an address that other hosts can reach; "" is nothing.
func (p protection) gap() string {
	switch {
	case p.insecure || p.encrypted && p.login:
		return ""
	case p.encrypted:
		return "TLS, but no login"
	case p.login:
		return "a login, but no TLS (--tls-cert, --tls-key)"
	}
	return "neither TLS (--tls-cert, --tls-key) nor a login"
}

// listen opens host:port or unix:///path. It refuses an address that other hosts can reach, unless
// it is protected.
func listen(addr string, by protection) (listener, error) {
	if path, ok := strings.CutPrefix(addr, "unix://"); ok {
		l, err := listenUnix(path)
		return listener{l, addr}, err
	}
	if strings.Contains(addr, "://") {
		return listener{}, errors.New("want host:port or unix:///path")
	}
	at, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return listener{}, err
	}
	if gap := by.gap(); gap != "" && !at.IP.IsLoopback() {
		return listener{}, fmt.Errorf("others can reach this address, and the server has %s: add what is missing "+
			"(--users is a login, among others), listen on 127.0.0.1, [::1] or a unix socket, or say --insecure", gap)
	}
	l, err := net.ListenTCP("tcp", at)
	if err != nil {
		return listener{}, err
	}
	return listener{l, l.Addr().String()}, nil
}

// listenUnix creates a socket that only the server's user can connect to. It creates the socket in
// a private folder and renames it to its path. So it is never open to others, and it replaces the
// socket of a server that has died. It keeps a socket with a listening server, and any other file.
// (Two servers that start at the same moment on one path may both get it; clients reach the last
// one.)
func listenUnix(path string) (net.Listener, error) {
	if !filepath.IsAbs(path) {
		return nil, errors.New("want an absolute path: unix:///path")
	}
	maxSocketPath := sockets.MaxPath()
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the path has %d bytes; that of a socket has at most %d", len(path), maxSocketPath)
	}
	if err := checkSocketPath(path); err != nil {
		return nil, err
	}
	private, err := os.MkdirTemp(filepath.Dir(path), ".vf-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(private) }() // at worst an empty folder remains
	made := filepath.Join(private, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("%w (%d bytes of path; that of a socket has at most %d)", err, len(made), maxSocketPath)
	}
	l.SetUnlinkOnClose(false)
	s := &unixSocket{UnixListener: l, path: path}
	err = os.Chmod(made, 0o600)
	if err == nil {
		s.info, err = os.Lstat(made)
	}
	if err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return s, nil
}

// checkSocketPath returns an error unless path is free, or a socket without a listening server.
func checkSocketPath(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return errors.New("something that is not a socket is there: remove it, or choose another path")
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if system.Refused(err) {
		return nil
	}
	if err == nil {
		_ = c.Close()
	}
	return errors.New("another server listens there")
}

// unixSocket removes its file on Close, if the file is still its own.
type unixSocket struct {
	*net.UnixListener
	path string
	info fs.FileInfo
	once sync.Once
}

// socketBufferBytes is the send buffer of a unix socket, as far as the system allows
// (net.core.wmem_max). Linux's default of 208 KiB is less than one of our writes. With it, the
// server sleeps and wakes several times per megabyte and takes 10 % more CPU time (measured). TCP
// adapts its buffer itself.
const socketBufferBytes = 1 << 20

// Accept returns the next connection.
func (s *unixSocket) Accept() (net.Conn, error) {
	conn, err := s.AcceptUnix()
	if err != nil {
		return nil, err
	}
	_ = conn.SetWriteBuffer(socketBufferBytes) // the connection works without, only slower
	return conn, nil
}

func (s *unixSocket) Close() error {
	s.once.Do(func() {
		if now, err := os.Lstat(s.path); err == nil && os.SameFile(now, s.info) {
			_ = os.Remove(s.path)
		}
	})
	return s.UnixListener.Close()
}
