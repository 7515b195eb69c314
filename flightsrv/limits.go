package flightsrv

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/peer"
	grpctap "google.golang.org/grpc/tap"

	"github.com/vibeflight/vibeflight/flightsrv/internal/errorlog"
)

// overloadError is the error of a call above a limit.
type overloadError struct{ what string }

func (e *overloadError) Error() string { return e.what }

// clientLoad counts the open connections and calls of all clients.
type clientLoad struct {
	maxConnections, maxStreams       int64
	connections, streams             atomic.Int64
	goingAway                        atomic.Bool // new calls are refused
	refusedConnections, refusedCalls atomic.Int64
	// called for each refused connection and call
	refused func(what string, client net.Addr)
}

// connections is the part of the action stats about connections and calls.
type connections struct {
	Open         int64 `json:"open"`
	Refused      int64 `json:"refused"` // closed at once, above --max-connections
	Calls        int64 `json:"calls"`
	RefusedCalls int64 `json:"refused_calls"` // above --max-streams
}

func (l *clientLoad) now() connections {
	return connections{
		Open: l.connections.Load(), Refused: l.refusedConnections.Load(), Calls: l.streams.Load(),
		RefusedCalls: l.refusedCalls.Load(),
	}
}

// acquire increments n, unless it would exceed limit.
func acquire(n *atomic.Int64, limit int64) bool {
	if n.Add(1) > limit {
		n.Add(-1)
		return false
	}
	return true
}

// limitListener is a listener that closes connections above the limit at once.
type limitListener struct {
	net.Listener
	load *clientLoad
}

// Accept returns the next connection within the limit.
func (l limitListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if !acquire(&l.load.connections, l.load.maxConnections) {
			l.load.refusedConnections.Add(1)
			l.load.refused(fmt.Sprintf("connection: %d are open, the limit of --max-connections",
				l.load.maxConnections), conn.RemoteAddr())
			_ = conn.Close()
			continue
		}
		leave := sync.OnceFunc(func() { l.load.connections.Add(-1) })
		switch conn := conn.(type) { // embedded by type, which keeps their writev
		case *net.TCPConn:
			return tcpConn{conn, leave}, nil
		case *net.UnixConn:
			return unixConn{conn, leave}, nil
		}
		return otherConn{conn, leave}, nil
	}
}

type tcpConn struct {
	*net.TCPConn
	leave func()
}

func (c tcpConn) Close() error {
	defer c.leave()
	return c.TCPConn.Close()
}

type unixConn struct {
	*net.UnixConn
	leave func()
}

func (c unixConn) Close() error {
	defer c.leave()
	return c.UnixConn.Close()
}

type otherConn struct {
	net.Conn
	leave func()
}

func (c otherConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// callSlot is one of the calls that may be open. It is free when the stream has ended and its
// handler, if one ran, has returned.
type callSlot struct {
	load *clientLoad
	uses atomic.Int32
}

type callSlotKey struct{}

// acquireSlot assigns a slot to a stream, or refuses the call. No goroutine and no message of the
// call exists yet. gRPC holds a lock of the connection meanwhile.
func (l *clientLoad) acquireSlot(ctx context.Context, info *grpctap.Info) (context.Context, error) {
	if l.goingAway.Load() && !strings.HasPrefix(info.FullMethodName, healthPrefix) {
		return nil, refusal(errGoingAway)
	}
	if !acquire(&l.streams, l.maxStreams) {
		return nil, refusal(l.refuse(ctx))
	}
	p := &callSlot{load: l}
	p.uses.Store(1)
	context.AfterFunc(ctx, p.leave)
	return context.WithValue(ctx, callSlotKey{}, p), nil
}

// refuse counts a call above the limit, and returns its error.
func (l *clientLoad) refuse(ctx context.Context) error {
	l.refusedCalls.Add(1)
	what := fmt.Sprintf("call: %d are open, the limit of --max-streams", l.maxStreams)
	var client net.Addr
	if p, ok := peer.FromContext(ctx); ok {
		client = p.Addr
	}
	l.refused(what, client)
	return &overloadError{what}
}

// holdSlot keeps the slot of a call until leave is called, even if its stream ends earlier.
func holdSlot(ctx context.Context) (leave func()) {
	p, ok := ctx.Value(callSlotKey{}).(*callSlot)
	if !ok {
		return func() {}
	}
	for {
		n := p.uses.Load()
		if n == 0 { // the stream has already ended
			return func() {}
		}
		if p.uses.CompareAndSwap(n, n+1) {
			return p.leave
		}
	}
}

func (p *callSlot) leave() {
	if p.uses.Add(-1) == 0 {
		p.load.streams.Add(-1)
	}
}

// overloaded logs a connection or a call that is refused because there are too many.
func (s *service) overloaded(what string, client net.Addr) {
	e := s.clientErrors.Event(s.cfg.Log, errorlog.Kind{What: what})
	if client != nil && client.String() != "" {
		e = e.Str("client", client.String())
	}
	e.Str("error", what).Msg("refused")
}

// refused logs a connection that the server closes, and the reason.
func (s *service) refused(client net.Addr, why error) {
	s.clientErrors.Event(s.cfg.Log, errorlog.Kind{What: why.Error()}).Str("client", client.String()).Err(why).Msg(
		"the connection is closed",
	)
}
