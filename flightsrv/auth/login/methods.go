package login

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/auth/certs"
	"github.com/vibeflight/vibeflight/flightsrv/auth/oidc"
	"github.com/vibeflight/vibeflight/flightsrv/auth/passwords"
	"github.com/vibeflight/vibeflight/flightsrv/auth/sessions"
	"github.com/vibeflight/vibeflight/flightsrv/auth/tokens"
)

func (l *Login) byPassword(ctx context.Context, c *credential) (*auth.Principal, error) {
	if l.users == nil {
		return nil, &auth.Error{Reason: "this server has no passwords: send Authorization: Bearer with a token"}
	}
	u, err := l.passwords.verify(ctx, c.user, c.password)
	if err != nil {
		return nil, err
	}
	return &auth.Principal{Name: u.Name, Groups: u.Groups, Method: auth.Password, Fingerprint: u.Fingerprint}, nil
}

func (l *Login) byBearer(ctx context.Context, token string) (*auth.Principal, error) {
	switch {
	case strings.HasPrefix(token, sessions.Prefix):
		return l.bySession(ctx, token)
	case strings.HasPrefix(token, tokens.Prefix) && l.tokens != nil:
		return l.byToken(token)
	case l.issuer != nil && oidc.IsJWT(token):
		return l.byIssuer(ctx, token)
	}
	return nil, &auth.Error{Reason: "the bearer token is invalid"}
}

func (l *Login) byToken(token string) (*auth.Principal, error) {
	t := l.tokens.Content().Find(token)
	if t == nil {
		return nil, &auth.Error{Reason: "the API token is invalid or was revoked"}
	}
	if t.Expired(l.cfg.now()) {
		return nil, &auth.Error{Reason: "the API token has expired: get a new one"}
	}
	u, err := l.listed(t.User)
	if err != nil {
		return nil, err
	}
	return &auth.Principal{
		Name: t.User, Groups: groupsOf(u, t.Groups), Method: auth.Token, Scopes: t.Scopes, Expires: t.Expires,
		ID: t.ID(), Fingerprint: t.SHA256,
	}, nil
}

// listed returns the line of a user; nil if there is no file of users.
func (l *Login) listed(name string) (*passwords.User, error) {
	if l.users == nil {
		return nil, nil //nolint:nilnil // every user may log in
	}
	if u := l.usersNow().Find(name); u != nil {
		return u, nil
	}
	return nil, &auth.Error{Reason: "the user of this credential may not log in"}
}

func (l *Login) bySession(ctx context.Context, token string) (*auth.Principal, error) {
	s, err := l.keys().verify(token, l.cfg.now())
	if err != nil {
		return nil, &auth.Error{Reason: err.Error()}
	}
	p := &auth.Principal{
		Name: s.User, Method: auth.Session, Expires: time.Unix(s.Expires, 0), ID: s.ID, Fingerprint: s.Fingerprint,
	}
	if s.Method == auth.Certificate {
		now, err := l.byCertificate(ctx)
		if err != nil || now.Fingerprint != s.Fingerprint || now.Name != s.User {
			return nil, &auth.Error{Reason: "the session needs a connection with the certificate that it began with"}
		}
		p.Groups, p.Method = now.Groups, auth.Certificate
		return p, nil
	}
	u := l.usersNow().Find(s.User)
	if u == nil || u.Fingerprint != s.Fingerprint {
		return nil, errSessionRevoked
	}
	p.Groups = u.Groups
	return p, nil
}

var errSessionRevoked = &auth.Error{Reason: "the session was revoked: log in again"}

func (l *Login) byIssuer(ctx context.Context, token string) (*auth.Principal, error) {
	key := l.verified.keyOf(token)
	if p, ok := l.verified.get(key, l.cfg.now()); ok && l.cfg.now().Before(p.Expires) {
		return p, nil
	}
	p, err := l.issuer.Verify(ctx, token)
	var unavailable *oidc.UnavailableError
	if errors.As(err, &unavailable) {
		l.cfg.Log.Error().Err(err).Msg("the keys of the OIDC issuer can't be read")
		return nil, &auth.UnavailableError{Reason: "the issuer of access tokens can't be reached: try again"}
	}
	if err != nil {
		return nil, err
	}
	l.verified.put(key, p, l.cfg.now())
	return p, nil
}

// byCertificate returns the caller of a connection with a client certificate.
func (l *Login) byCertificate(ctx context.Context) (*auth.Principal, error) {
	cert := certs.Peer(ctx)
	if l.cfg.CertificateUser == "" || cert == nil {
		return nil, &auth.Error{Reason: "the call has no credential: " + l.methods()}
	}
	now := l.cfg.now()
	if now.After(cert.NotAfter) { // the connection may be older
		return nil, &auth.Error{Reason: "the client certificate has expired"}
	}
	name, err := certs.User(cert, l.cfg.CertificateUser)
	if err != nil {
		return nil, &auth.Error{Reason: err.Error()}
	}
	u, err := l.listed(name)
	if err != nil {
		return nil, err
	}
	return &auth.Principal{
		Name: name, Groups: groupsOf(u, nil), Method: auth.Certificate, Expires: cert.NotAfter,
		Fingerprint: certs.Fingerprint(cert),
	}, nil
}

// methods describes what a caller may send.
func (l *Login) methods() string {
	var accepted []string
	if l.users != nil {
		accepted = append(accepted, "a user and a password")
	}
	if l.tokens != nil {
		accepted = append(accepted, "an API token")
	}
	if l.issuer != nil {
		accepted = append(accepted, "an access token")
	}
	if l.cfg.CertificateUser != "" {
		accepted = append(accepted, "a client certificate")
	}
	return "this server accepts " + strings.Join(accepted, ", or ")
}
