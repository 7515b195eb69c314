// Package auth identifies the callers of a server.
package auth

import (
	"context"
	"time"
)

// Principal is an identified caller.
type Principal struct {
	Name    string    // of the user
	Groups  []string  // that the user is in, sorted
	Method  string    // by which the caller was identified: "password", "token", "session", "oidc", "mtls"
	Scopes  []string  // of an API token: it has these privileges at most; nil: no bound
	Expires time.Time // of the credential; zero: never
	ID      string    // of the token, for revocation; "" if there is none
}

// Authenticator identifies the caller of each RPC. It is safe for use by several goroutines.
type Authenticator interface {
	// Authenticate returns the caller of an RPC by its headers and its TLS connection. Its error
	// wraps ErrUnauthenticated, and is safe to send.
	Authenticate(ctx context.Context) (*Principal, error)
	// Handshake authenticates the caller of Handshake and returns the value of the header
	// "authorization" for the calls that follow.
	Handshake(ctx context.Context) (p *Principal, authorization string, err error)
	// Watch returns a context that ends, with a cause that wraps ErrUnauthenticated, when the
	// credential of p expires or is revoked.
	Watch(ctx context.Context, p *Principal) (context.Context, context.CancelFunc)
}

type principalKey struct{}

// With returns a context with the caller.
func With(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// Of returns the caller of a context, or nil if the server has no login.
func Of(ctx context.Context) *Principal {
	p, _ := ctx.Value(principalKey{}).(*Principal)
	return p
}
