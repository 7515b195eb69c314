package login

import (
	"context"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
)

// streams are the calls in progress, which end when their credential does.
type streams struct {
	mu    sync.Mutex
	calls map[*watchedCall]struct{}
}

// watchedCall is a call in progress.
type watchedCall struct {
	caller *auth.Principal
	end    context.CancelCauseFunc
}

// Watch returns a context that ends when the credential of p is revoked, or has expired and a grace
// has passed.
func (l *Login) Watch(ctx context.Context, p *auth.Principal) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	c := &watchedCall{p, end}
	l.streams.add(c)
	var timer *time.Timer
	if !p.Expires.IsZero() {
		timer = time.AfterFunc(p.Expires.Add(l.cfg.grace).Sub(l.cfg.now()), func() {
			end(&auth.Error{Reason: "the credential has expired during the call: log in again"})
		})
	}
	// The file may have changed after the caller was identified.
	if l.revoked(p) {
		end(errRevoked)
	}
	return ctx, func() {
		if timer != nil {
			timer.Stop()
		}
		l.streams.remove(c)
		end(nil)
	}
}

var errRevoked = &auth.Error{Reason: "the credential was revoked during the call"}

// revoked reports whether the credential of a caller is no longer in the files.
func (l *Login) revoked(p *auth.Principal) bool {
	switch p.Method {
	case auth.Password, auth.Session:
		u := l.usersNow().Find(p.Name)
		return u == nil || u.Fingerprint != p.Fingerprint
	case auth.Token:
		if l.tokens == nil {
			return true
		}
		t := l.tokens.Content().ByID(p.ID)
		if t == nil || !t.Expires.Equal(p.Expires) && t.Expired(l.cfg.now()) {
			return true
		}
	case auth.OIDC:
		return false
	}
	_, err := l.listed(p.Name)
	return err != nil
}

func (s *streams) add(c *watchedCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = map[*watchedCall]struct{}{}
	}
	s.calls[c] = struct{}{}
}

func (s *streams) remove(c *watchedCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, c)
}

// endRevoked ends the calls of revoked credentials.
func (s *streams) endRevoked(revoked func(*auth.Principal) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.calls {
		if revoked(c.caller) {
			c.end(errRevoked)
		}
	}
}
