// Package httpcall runs HTTP requests as calls of the server: with its login, its grants, its limits and
// its logs. It answers errors as problem details (RFC 9457).
package httpcall

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// Request is what a server logs of a request before it runs.
type Request struct {
	Method string // a fixed name, such as "table"; metrics have it as a label
	Name   string // of the entry; may be empty
	SQL    string // text of the statement; may be empty
}

// Server runs calls.
type Server interface {
	// Run identifies the caller, waits for its turn, runs do, and logs the call. The context has the
	// client's address and its credential, as [Context] sets them. The context of do has the rights
	// of the caller, and ends with its credential. Errors are *Error.
	Run(ctx context.Context, r Request, do func(ctx context.Context, c Call) error) error

	// Login returns the name of the caller and a session token, "Bearer …", for its later requests.
	// The name is empty without a login. Errors are *Error.
	Login(ctx context.Context) (user, token string, err error)

	// HasLogin reports whether callers have to log in.
	HasLogin() bool
}

// Call is a call in progress.
type Call interface {
	// Selects records what the call reads.
	Selects(t ticket.Ticket)
	// Opened records that the answer is known: its first byte comes next.
	Opened()
	// BeginQuery waits for the turn of a query of SQL, which logs show. The query's context ends after the time that
	// the caller's queries may take. The caller calls end.
	BeginQuery(ctx context.Context, query string) (_ context.Context, clock Clock, end func(), err error)
	// AddRows counts rows that are sent next. It returns an error if the answer has too many.
	AddRows(n int64) error
	// Send waits until the caller may be sent n bytes, and counts them.
	Send(ctx context.Context, n int) error
	// Action runs an action of the server, as DoAction does, and returns what its JSON is made of.
	Action(ctx context.Context, name string, body []byte) (any, error)
}

// Clock measures the time in which the server computes a query. It is paused at first.
type Clock interface {
	Start()
	Pause()
}

// SessionCookie is the name of the cookie with a session token. Browsers send it to the server that
// has set it, and with requests of its own pages alone.
const SessionCookie = "vibeflight_session"

// Context returns the context of a request, with the client's address and certificate, and with the
// headers that calls read, as gRPC has them. A cookie with a session token is a credential if there
// is no header Authorization.
func Context(r *http.Request) context.Context {
	md := metadata.MD{}
	for _, name := range []string{"authorization", "user-agent", "traceparent", "tracestate"} {
		if v := r.Header.Values(name); len(v) > 0 {
			md[name] = v
		}
	}
	if c, err := r.Cookie(SessionCookie); err == nil && len(md["authorization"]) == 0 {
		md["authorization"] = []string{"Bearer " + c.Value}
	}
	ctx := metadata.NewIncomingContext(r.Context(), md)
	return peer.NewContext(ctx, &peer.Peer{Addr: addressOf(r.RemoteAddr), AuthInfo: certificateOf(r.TLS)})
}

// addressOf returns the address of a client.
func addressOf(remote string) net.Addr {
	if at, err := netip.ParseAddrPort(remote); err == nil {
		return net.TCPAddrFromAddrPort(at)
	}
	return &net.UnixAddr{Net: "unix"}
}

// certificateOf returns the state of TLS as gRPC has it; nil without TLS.
func certificateOf(state *tls.ConnectionState) credentials.AuthInfo {
	if state == nil {
		return nil
	}
	return credentials.TLSInfo{
		State: *state, CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
	}
}
