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
	"syscall"
	"time"
)

// listener knows its address in the words of --listen.
type listener struct {
	net.Listener
	name string
}

// listen opens host:port or unix:///path. An address that other hosts can reach is refused unless
// insecure is said: there is no login, whether encrypted or not.
func listen(addr string, encrypted, insecure bool) (listener, error) {
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
	if !insecure && !at.IP.IsLoopback() {
		lacks := "neither TLS (--tls-cert, --tls-key) nor a login"
		if encrypted {
			lacks = "TLS, but no login"
		}
		return listener{}, fmt.Errorf("others can reach this address, and the server has %s: "+
			"listen on 127.0.0.1, [::1] or a unix socket, or say --insecure to serve everyone", lacks)
	}
	l, err := net.ListenTCP("tcp", at)
	if err != nil {
		return listener{}, err
	}
	return listener{l, l.Addr().String()}, nil
}

// listenUnix makes a socket that only the server's user can connect to. It is made in a private
// folder and then moved to its path: so at no moment is it open to others, and a socket that a dead
// server left is replaced at once. A socket on which somebody listens, and anything that is no
// socket, stays. (Two servers that start at the same moment on one path may both get it; the last
// one is reached.)
func listenUnix(path string) (net.Listener, error) {
	if !filepath.IsAbs(path) {
		return nil, errors.New("want an absolute path: unix:///path")
	}
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the path has %d bytes; that of a socket has at most %d", len(path), maxSocketPath)
	}
	if err := checkStale(path); err != nil {
		return nil, err
	}
	private, err := os.MkdirTemp(filepath.Dir(path), ".vf-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(private) }() // at worst an empty folder stays
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

const maxSocketPath = 107 // sun_path of Linux, without the zero at its end

// checkStale gives an error unless path is free or a socket on which nobody listens.
func checkStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return errors.New("something that is no socket lies there: remove it, or choose another path")
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil
	}
	if err == nil {
		_ = c.Close()
	}
	return errors.New("another server listens there")
}

// unixSocket removes its file when it is closed, if the file is still its own.
type unixSocket struct {
	*net.UnixListener
	path string
	info fs.FileInfo
	once sync.Once
}

// socketBufferBytes is how much a connection's socket takes before its reader does, as far as the
// system allows (net.core.wmem_max). Measured: with Linux's 208 KiB, less than one write of ours,
// the server sleeps and wakes several times a megabyte and takes a tenth more CPU time. On TCP the
// system finds the size itself.
const socketBufferBytes = 1 << 20

// Accept gives the next connection.
func (s *unixSocket) Accept() (net.Conn, error) {
	conn, err := s.AcceptUnix()
	if err != nil {
		return nil, err
	}
	_ = conn.SetWriteBuffer(socketBufferBytes) // it is only slower without
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
