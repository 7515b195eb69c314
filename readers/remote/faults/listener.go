package faults

import (
	"io"
	"log"
	"net"
	"sync"
	"sync/atomic"
)

// countingListener counts connections until they are closed, hijacked ones too.
type countingListener struct {
	net.Listener
	open, total atomic.Int64
}

func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.open.Add(1)
	l.total.Add(1)
	return &countedConn{Conn: c, listener: l}, nil
}

type countedConn struct {
	net.Conn
	listener *countingListener
	once     sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.listener.open.Add(-1) })
	return c.Conn.Close()
}

// SetLinger is TCP's, for resets.
func (c *countedConn) SetLinger(seconds int) error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		return tcp.SetLinger(seconds)
	}
	return nil
}

// quiet drops what net/http logs of connections that faults have closed.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
