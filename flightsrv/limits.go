package flightsrv

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/peer"
	grpctap "google.golang.org/grpc/tap"
)

// overloadError says that a call is one too many.
type overloadError struct{ what string }

func (e *overloadError) Error() string { return e.what }

// load is what clients have open on the server, all of them together.
type load struct {
	maxConnections, maxStreams       int64
	connections, streams             atomic.Int64
	refusedConnections, refusedCalls atomic.Int64
	// told of each connection and call that is refused
	refused func(what string, client net.Addr)
}

// connections is what stats says of them.
type connections struct {
	Open         int64 `json:"open"`
	Refused      int64 `json:"refused"` // closed at once, beyond --max-connections
	Calls        int64 `json:"calls"`
	RefusedCalls int64 `json:"refused_calls"` // beyond --max-streams
}

func (l *load) now() connections {
	return connections{
		Open: l.connections.Load(), Refused: l.refusedConnections.Load(), Calls: l.streams.Load(),
		RefusedCalls: l.refusedCalls.Load(),
	}
}

// take counts one more, unless there are most.
func take(n *atomic.Int64, most int64) bool {
	if n.Add(1) > most {
		n.Add(-1)
		return false
	}
	return true
}

// limited is a listener that closes connections beyond the limit as soon as they come.
type limited struct {
	net.Listener
	load *load
}

// Accept gives the next connection within the limit.
func (l limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if !take(&l.load.connections, l.load.maxConnections) {
			l.load.refusedConnections.Add(1)
			l.load.refused(fmt.Sprintf("connection: %d are open, the limit of --max-connections",
				l.load.maxConnections), conn.RemoteAddr())
			_ = conn.Close()
			continue
		}
		leave := sync.OnceFunc(func() { l.load.connections.Add(-1) })
		switch conn := conn.(type) { // what they are embedded as, so that writev is theirs
		case *net.TCPConn:
			return countedTCP{conn, leave}, nil
		case *net.UnixConn:
			return countedUnix{conn, leave}, nil
		}
		return counted{conn, leave}, nil
	}
}

type countedTCP struct {
	*net.TCPConn
	leave func()
}

func (c countedTCP) Close() error {
	defer c.leave()
	return c.TCPConn.Close()
}

type countedUnix struct {
	*net.UnixConn
	leave func()
}

func (c countedUnix) Close() error {
	defer c.leave()
	return c.UnixConn.Close()
}

type counted struct {
	net.Conn
	leave func()
}

func (c counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// place is that of a call among those that may be open. It is free when the stream has ended and
// its handler, if one ran, has returned.
type place struct {
	load *load
	uses atomic.Int32
}

type placeKey struct{}

// enter gives a stream its place, or refuses it: before there is a goroutine, and before any
// message. gRPC holds a lock of the connection meanwhile.
func (l *load) enter(ctx context.Context, _ *grpctap.Info) (context.Context, error) {
	if !take(&l.streams, l.maxStreams) {
		l.refusedCalls.Add(1)
		what := fmt.Sprintf("call: %d are open, the limit of --max-streams", l.maxStreams)
		var client net.Addr
		if p, ok := peer.FromContext(ctx); ok {
			client = p.Addr
		}
		l.refused(what, client)
		return nil, statusError("", &overloadError{what})
	}
	p := &place{load: l}
	p.uses.Store(1)
	context.AfterFunc(ctx, p.leave)
	return context.WithValue(ctx, placeKey{}, p), nil
}

// stay keeps the place of a call until leave is called, though its stream ends before.
func stay(ctx context.Context) (leave func()) {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return func() {}
	}
	for {
		n := p.uses.Load()
		if n == 0 { // the stream has ended already
			return func() {}
		}
		if p.uses.CompareAndSwap(n, n+1) {
			return p.leave
		}
	}
}

func (p *place) leave() {
	if p.uses.Add(-1) == 0 {
		p.load.streams.Add(-1)
	}
}
