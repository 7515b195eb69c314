// Package login identifies callers by passwords, API tokens, access tokens of an OpenID Connect
// issuer, client certificates and session tokens. It implements auth.Authenticator.
//
// The file of users, if there is one, is the list of who may log in, but for an issuer's users: API
// tokens and certificates of other users are refused.
package login

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/auth/livefile"
	"github.com/vibeflight/vibeflight/flightsrv/auth/oidc"
	"github.com/vibeflight/vibeflight/flightsrv/auth/passwords"
	"github.com/vibeflight/vibeflight/flightsrv/auth/sessions"
	"github.com/vibeflight/vibeflight/flightsrv/auth/tokens"
)

// Config is the ways to log in. At least one of Users, Tokens, OIDC and CertificateUser is set.
type Config struct {
	Users           string        // file of users and passwords (--users)
	Tokens          string        // file of API tokens (--tokens)
	SessionKeys     string        // file of keys for session tokens; empty: a random key (--session-keys)
	SessionLifetime time.Duration // default DefaultSessionLifetime (--session-lifetime)
	OIDC            oidc.Config   // Issuer is empty: none (--oidc-issuer)
	// field of client certificates with the user's name, of certs.Fields; empty: certificates do
	// not log in (--tls-client-user)
	CertificateUser string
	Log             zerolog.Logger

	grace time.Duration    // of streams at the expiry; DefaultGrace, unless a test sets it
	now   func() time.Time // time.Now, unless a test sets it
}

// Defaults of Config.
const (
	DefaultSessionLifetime = 12 * time.Hour
	// DefaultGrace is how long a stream may go on after its credential has expired.
	DefaultGrace = time.Minute
)

// Login is an auth.Authenticator. Close ends its watch of files.
type Login struct {
	cfg       Config
	users     *livefile.File[*passwords.Users] // nil: none
	tokens    *livefile.File[*tokens.Tokens]   // nil: none
	keyFile   *livefile.File[*keyring]         // nil: random
	random    *keyring
	passwords *verifier
	issuer    *oidc.Verifier // nil: none
	verified  *memo[*auth.Principal]
	streams   streams
	stop      context.CancelFunc
	watches   sync.WaitGroup
}

// accessPeriod is the time in which an access token or a session token is not verified again.
const accessPeriod = time.Minute

// Open reads the files. The caller closes the Login.
func Open(cfg Config) (*Login, error) {
	if cfg.SessionLifetime == 0 {
		cfg.SessionLifetime = DefaultSessionLifetime
	}
	if cfg.grace == 0 {
		cfg.grace = DefaultGrace
	}
	if cfg.now == nil {
		cfg.now = time.Now
	}
	l := &Login{cfg: cfg, verified: newMemo[*auth.Principal](accessPeriod)}
	l.passwords = newVerifier(l.usersNow, cfg.now)
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	err := errors.Join(
		open(ctx, l, "--users", cfg.Users, passwords.Parse, &l.users),
		open(ctx, l, "--tokens", cfg.Tokens, tokens.Parse, &l.tokens),
		open(ctx, l, "--session-keys", cfg.SessionKeys, parseKeyring, &l.keyFile),
	)
	if l.keyFile == nil {
		l.random = newKeyring(sessions.NewKeys())
	}
	if err == nil && cfg.OIDC.Issuer != "" {
		l.issuer, err = oidc.New(cfg.OIDC)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// open opens a file, unless its name is empty, and watches it.
func open[T any](ctx context.Context, l *Login, flag, path string, parse func([]byte) (T, error),
	to **livefile.File[T],
) error {
	if path == "" {
		return nil
	}
	f, err := livefile.Open(path, parse)
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	*to = f
	l.watches.Go(func() {
		f.Watch(ctx, func() {
			l.cfg.Log.Info().Str("file", path).Msg(flag + ": the file has changed and is read again")
			l.streams.endRevoked(l.revoked)
		}, func(err error) {
			l.cfg.Log.Error().Err(err).Msg(flag + ": the file has changed and can't be read; its old content is used")
		})
	})
	return nil
}

// Close ends the watch of files.
func (l *Login) Close() {
	l.stop()
	l.watches.Wait()
}

var noUsers, _ = passwords.Parse(nil)

func (l *Login) usersNow() *passwords.Users {
	if l.users == nil {
		return noUsers
	}
	return l.users.Content()
}

func (l *Login) keys() *keyring {
	if l.keyFile == nil {
		return l.random
	}
	return l.keyFile.Content()
}

// Authenticate returns the caller of an RPC.
func (l *Login) Authenticate(ctx context.Context) (*auth.Principal, error) {
	c, err := credentialOf(ctx)
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return l.byCertificate(ctx)
	case c.bearer != "":
		return l.byBearer(ctx, c.bearer)
	}
	return l.byPassword(ctx, c)
}

// Handshake authenticates the caller and returns what it sends with later calls: a session token for
// a password or a certificate, and otherwise its own token.
func (l *Login) Handshake(ctx context.Context) (*auth.Principal, string, error) {
	p, err := l.Authenticate(ctx)
	if err != nil {
		return nil, "", err
	}
	if p.Method != auth.Password && p.Method != auth.Certificate {
		c, err := credentialOf(ctx)
		if err != nil {
			return nil, "", err
		}
		return p, "Bearer " + c.bearer, nil
	}
	expires := l.cfg.now().Add(l.cfg.SessionLifetime)
	if !p.Expires.IsZero() && p.Expires.Before(expires) {
		expires = p.Expires
	}
	token, err := l.keys().Issue(sessions.Session{
		User: p.Name, Method: p.Method, Fingerprint: p.Fingerprint, Expires: expires.Unix(),
	})
	return p, "Bearer " + token, err
}

// groupsOf returns the groups of a user in the file, and others.
func groupsOf(u *passwords.User, others []string) []string {
	if u == nil {
		u = &passwords.User{}
	}
	groups := slices.Concat(u.Groups, others)
	slices.Sort(groups)
	return slices.Compact(groups)
}
