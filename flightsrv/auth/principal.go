// Package auth identifies the callers of a server.
package auth

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Principal is an identified caller.
type Principal struct {
	Name    string    // of the user
	Groups  []string  // that the user is in, sorted
	Method  string    // by which the caller was identified: "password", "token", "session", "oidc", "mtls"
	Scopes  []string  // of an API token: it has these privileges at most; nil: no bound
	Expires time.Time // of the credential; zero: never
	ID      string    // of the token or session, for revocation; "" if there is none
	// digest of what proved the name: the line of a password, an API token or a certificate. The
	// credential is revoked when the user or the token no longer has it.
	Fingerprint string
}

// Values of Principal.Method.
const (
	Password    = "password"
	Token       = "token"
	Session     = "session"
	OIDC        = "oidc"
	Certificate = "mtls"
)

// Authenticator identifies the caller of each RPC. It is safe for use by several goroutines.
type Authenticator interface {
	// Authenticate returns the caller of an RPC by its headers and its TLS connection. Its error
	// wraps ErrUnauthenticated, or is a *LimitError or an *UnavailableError. It is safe to send.
	Authenticate(ctx context.Context) (*Principal, error)
	// Handshake authenticates the caller of Handshake and returns the value of the header
	// "authorization" for the calls that follow.
	Handshake(ctx context.Context) (p *Principal, authorization string, err error)
	// Watch returns a context that ends, with a cause that wraps ErrUnauthenticated, when the
	// credential of p expires or is revoked.
	Watch(ctx context.Context, p *Principal) (context.Context, context.CancelFunc)
}

// maxNameBytes bounds the name of a user or a group.
const maxNameBytes = 256

// CheckName returns an error unless a text may be the name of a user or a group. Names have no
// spaces, colons, commas or control characters, which separate names in files and logs.
func CheckName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%s: the name is empty", what)
	case len(name) > maxNameBytes:
		return fmt.Errorf("%s: the name has %d bytes, at most %d", what, len(name), maxNameBytes)
	case !utf8.ValidString(name), strings.ContainsFunc(name, func(r rune) bool {
		return r == ':' || r == ',' || unicode.IsSpace(r) || !unicode.IsPrint(r)
	}):
		return fmt.Errorf("%s: %q: a name has no spaces, colons, commas or control characters", what, name)
	case name[0] == '#':
		return fmt.Errorf("%s: %q: a name does not begin with #", what, name)
	}
	return nil
}

// Basic returns the value of a header authorization for a user and a password (RFC 7617).
func Basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
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
