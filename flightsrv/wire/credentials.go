package wire

import (
	"context"
	"crypto/tls"
	"net"
	"sync"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// Credentials wraps c so that its connections are each a Conn, above TLS if c uses it. Large writes
// wait for turn. refused is called with the reason if a Conn closes its connection. Both may be nil.
func Credentials(c credentials.TransportCredentials, turn Turn, refused func(client net.Addr,
	why error),
) credentials.TransportCredentials {
	return connCredentials{c, newRooms(), turn, refused}
}

type connCredentials struct {
	credentials.TransportCredentials
	rooms   *sync.Pool
	turn    Turn
	refused func(net.Addr, error)
}

func (g connCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	socket := newSocket(raw, g.turn)
	r := &records{socket: socket, rooms: g.rooms}
	secure, info, err := g.TransportCredentials.ServerHandshake(r)
	if err != nil {
		return nil, nil, err
	}
	var c *Conn
	if secure == net.Conn(r) {
		c = newConn(raw, func(b *net.Buffers) error { return socket.writeAll(*b) })
	} else {
		c = newConn(secure, func(b *net.Buffers) error { return r.send(secure, *b) })
	}
	c.socket = socket
	if g.refused != nil {
		c.refused = func(why error) { g.refused(raw.RemoteAddr(), why) }
	}
	return c, connInfo{info, c}, nil
}

func (g connCredentials) Clone() credentials.TransportCredentials {
	return connCredentials{g.TransportCredentials.Clone(), g.rooms, g.turn, g.refused}
}

// connInfo is the connection of a call.
type connInfo struct {
	credentials.AuthInfo
	conn *Conn
}

// Of returns the connection of a call by its context; nil without Credentials.
func Of(ctx context.Context) *Conn {
	if p, ok := peer.FromContext(ctx); ok {
		if info, ok := p.AuthInfo.(connInfo); ok {
			return info.conn
		}
	}
	return nil
}

// TLSOf returns the state of TLS on the connection of a call, or of a request by HTTP, by its context;
// nil without TLS.
func TLSOf(ctx context.Context) *tls.ConnectionState {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	info := p.AuthInfo
	if of, ok := info.(connInfo); ok {
		info = of.AuthInfo
	}
	if secure, ok := info.(credentials.TLSInfo); ok {
		return &secure.State
	}
	return nil
}
