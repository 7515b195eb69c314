package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	fleetstore "github.com/vibeflight/vibeflight/catalog/fleet"
)

// HopHeader is the header of a forwarded call: the ID of the replica that forwards it. A replica
// forwards no call that has it.
const HopHeader = "x-vibeflight-forwarded-by"

// forwardedHeaders are the headers of a caller that a forwarded call has: its credential, its session
// of Flight SQL, and its trace.
var forwardedHeaders = []string{"authorization", "auth-token-bin", "cookie", "traceparent", "tracestate"}

// Times of connections to other replicas.
const (
	connectTimeout = 3 * time.Second
	peerPing       = 20 * time.Second // that a connection with calls is silent; peers allow one in 10 s
	peerTimeout    = 5 * time.Second  // for the answer
	maxPeerBackoff = 2 * time.Second
)

// Thing is what a replica has and others do not.
type Thing string

// The things that calls are forwarded for.
const (
	Result    Thing = "the result"
	Statement Thing = "the prepared statement"
	Session   Thing = "the session"
	Table     Thing = "the table"
)

// advice says what a client does when the replica is lost.
func (t Thing) advice() string {
	switch t {
	case Statement:
		return "prepare it again"
	case Session:
		return "set its options again"
	case Table:
		return "ask again"
	}
	return "send the query again"
}

// UnreachableError is the error of a call for what only another replica has, when that replica does
// not answer.
type UnreachableError struct {
	Replica string
	Has     Thing
	Err     error // nil: the replica has left, or is silent for long
}

func (e *UnreachableError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("replica %s had %s, and is not in the fleet any more: %s", e.Replica, e.Has, e.Has.advice())
	}
	return fmt.Sprintf("replica %s has %s, and does not answer (%v): %s", e.Replica, e.Has, e.Err, e.Has.advice())
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// Peers has the connections to other replicas. It is safe for concurrent use.
type Peers struct {
	id        string // of this replica
	encrypted bool   // this replica serves TLS: credentials of its callers leave it encrypted only
	roots     *x509.CertPool
	options   []grpc.DialOption

	mu     sync.Mutex
	closed bool
	conns  map[string]*peer // by location
}

// peer is a connection to a replica. Peers.mu guards it.
type peer struct {
	*grpc.ClientConn
	replica string
	calls   int
	unused  bool // it is closed after the last call
}

// NewPeers returns the connections of the replica with an ID. ca is a file with the certificates that
// sign those of other replicas; empty: those of the system.
func NewPeers(id string, encrypted bool, ca string) (*Peers, error) {
	p := &Peers{id: id, encrypted: encrypted, conns: map[string]*peer{}}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("--peer-ca: %w", err)
		}
		p.roots = x509.NewCertPool()
		if !p.roots.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--peer-ca %s: has no certificate in PEM", ca)
		}
	}
	wait := backoff.DefaultConfig
	wait.MaxDelay = maxPeerBackoff
	p.options = []grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(newCodec()), grpc.MaxCallRecvMsgSize(math.MaxInt32),
			grpc.MaxCallSendMsgSize(math.MaxInt32)),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: wait, MinConnectTimeout: connectTimeout}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: peerPing, Timeout: peerTimeout}),
		grpc.WithDisableServiceConfig(), grpc.WithNoProxy(), grpc.WithUserAgent("vibeflight-replica"),
	}
	return p, nil
}

// Call is a call to another replica. Its end must be called.
type Call struct {
	grpc.ClientStream
	replica string
	has     Thing
	end     func()
}

// End ends the call and the use of its connection.
func (c *Call) End() { c.end() }

// RecvMsg receives a message of the other replica.
func (c *Call) RecvMsg(m any) error { return unreachable(c.replica, c.has, c.ClientStream.RecvMsg(m)) }

// SendMsg sends a message to the other replica.
func (c *Call) SendMsg(m any) error { return unreachable(c.replica, c.has, c.ClientStream.SendMsg(m)) }

// Header returns the headers of the answer.
func (c *Call) Header() (metadata.MD, error) {
	md, err := c.ClientStream.Header()
	return md, unreachable(c.replica, c.has, err)
}

// Stream begins a call of a method of a replica for the caller in the context, with the caller's
// credentials. It ends with the context. It must be a replica that the store has named.
func (p *Peers) Stream(ctx context.Context, r fleetstore.Replica, has Thing, method string) (*Call, error) {
	conn, free, err := p.conn(r)
	if err != nil {
		return nil, &UnreachableError{r.ID, has, err}
	}
	ctx, cancel := context.WithCancel(p.outgoing(ctx))
	both := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
	stream, err := conn.NewStream(ctx, both, method)
	if err != nil {
		cancel()
		free()
		return nil, unreachable(r.ID, has, err)
	}
	end := sync.OnceFunc(func() {
		cancel()
		free()
	})
	return &Call{stream, r.ID, has, end}, nil
}

// Invoke is Stream for a method with one message in each direction. It returns the headers of the
// answer.
func (p *Peers) Invoke(ctx context.Context, r fleetstore.Replica, has Thing, method string, in, out any) (
	metadata.MD, error,
) {
	conn, free, err := p.conn(r)
	if err != nil {
		return nil, &UnreachableError{r.ID, has, err}
	}
	defer free()
	var head metadata.MD
	err = conn.Invoke(p.outgoing(ctx), method, in, out, grpc.Header(&head))
	return head, unreachable(r.ID, has, err)
}

// outgoing returns the context of a forwarded call.
func (p *Peers) outgoing(ctx context.Context) context.Context {
	md := metadata.MD{}
	for _, name := range forwardedHeaders {
		if values := metadata.ValueFromIncomingContext(ctx, name); len(values) > 0 {
			md.Set(name, values...)
		}
	}
	md.Set(HopHeader, p.id)
	return metadata.NewOutgoingContext(ctx, md)
}

// unreachable returns the error of a replica, or an *UnreachableError if the call did not reach it or
// lost it.
func unreachable(replica string, has Thing, err error) error {
	if err != nil && status.Code(err) == codes.Unavailable {
		return &UnreachableError{replica, has, errors.New(status.Convert(err).Message())}
	}
	return err
}

// conn returns the connection to a replica, until free is called.
func (p *Peers) conn(r fleetstore.Replica) (conn *peer, free func(), err error) {
	target, creds, err := p.target(r)
	if err != nil {
		return nil, nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, errors.New("this replica is closed")
	}
	c := p.conns[target]
	if c == nil || c.replica != r.ID {
		to, err := grpc.NewClient(target, append(slices.Clone(p.options), grpc.WithTransportCredentials(creds))...)
		if err != nil {
			return nil, nil, err
		}
		p.drop(target)
		c = &peer{ClientConn: to, replica: r.ID}
		p.conns[target] = c
	}
	c.calls++
	return c, sync.OnceFunc(func() { p.free(c) }), nil
}

func (p *Peers) free(c *peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.calls--
	if c.unused && c.calls == 0 {
		_ = c.Close() // nothing is lost
	}
}

// drop closes the connection to a target when its calls have ended. Peers.mu is held.
func (p *Peers) drop(target string) {
	c := p.conns[target]
	if c == nil {
		return
	}
	delete(p.conns, target)
	c.unused = true
	if c.calls == 0 {
		_ = c.Close() // nothing is lost
	}
}

// Keep closes the connections to all replicas but those for which it is true. Calls in progress end
// first.
func (p *Peers) Keep(callable func(id string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for target, c := range p.conns {
		if !callable(c.replica) {
			p.drop(target)
		}
	}
}

// Close closes all connections, if p is not nil. It ends the calls in progress.
func (p *Peers) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for target, c := range p.conns {
		delete(p.conns, target)
		_ = c.Close() // the calls get an error
	}
}

// Connections returns the number of connections.
func (p *Peers) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

// target returns the first location of a replica that gRPC can connect to, and its credentials.
func (p *Peers) target(r fleetstore.Replica) (target string, creds credentials.TransportCredentials, err error) {
	err = errors.New("it has no location that this replica can connect to")
	for _, location := range r.Locations {
		u, parsing := url.Parse(location)
		if parsing != nil {
			continue
		}
		switch u.Scheme {
		case "grpc+tls":
			return "dns:///" + u.Host, credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12, RootCAs: p.roots}), nil
		case "grpc+unix":
			return "unix://" + u.Path, insecure.NewCredentials(), nil
		case "grpc", "grpc+tcp":
			if p.encrypted && !isLoopback(u.Hostname()) {
				err = fmt.Errorf("its location %s has no TLS, and credentials leave this replica encrypted only", location)
				continue
			}
			return "dns:///" + u.Host, insecure.NewCredentials(), nil
		}
	}
	return "", nil, err
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
