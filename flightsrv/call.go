package flightsrv

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"google.golang.org/grpc/peer"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/internal/errorlog"
	"github.com/vibeflight/vibeflight/flightsrv/internal/excerpt"
	"github.com/vibeflight/vibeflight/flightsrv/wire"
)

// call is what the interceptors and the handler of an RPC know of it. One goroutine uses it.
type call struct {
	method string
	start  time.Time
	caller *auth.Principal // nil: the server has no login, or the caller is not identified
	name   string          // of the entry
	sql    string          // text of the statement; empty if the call has none
	rows   int64
	bytes  int64       // of the messages that were sent
	active *activeCall // nil: the call needs no admission, such as a health check
	// replica to which the call was forwarded, and that which has forwarded it, as the call says; "":
	// none
	forwardedTo, forwardedBy string
	phases
}

type callKey struct{}

// callOf returns the call that the interceptors put into ctx.
func callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return &call{}
}

// begin starts an RPC: it identifies the caller, and finds what the caller may do. The context has
// the call, the caller and its scope, and ends with the caller's credential. end is called once,
// also after an error.
func (s *service) begin(ctx context.Context, method string) (_ context.Context, c *call, end func(), err error) {
	c = &call{method: method, start: time.Now()}
	defer func() { c.began = time.Now() }()
	ctx = context.WithValue(ctx, callKey{}, c)
	end = holdSlot(ctx)
	if isPublic(method) {
		return ctx, c, end, nil
	}
	if c.forwardedBy = s.forwardedBy(ctx); c.forwardedBy != "" {
		s.cfg.Telemetry.Metrics.Forwarded("received")
	}
	if s.cfg.Login != nil {
		if ctx, end, err = s.identify(ctx, c, end); err != nil {
			return ctx, c, end, err
		}
	}
	ctx, end = s.register(ctx, c, end)
	return restrict.WithGate(ctx, s.filterGate), c, end, nil
}

// identify finds the caller of a call and its rights.
func (s *service) identify(ctx context.Context, c *call, after func()) (_ context.Context, end func(), err error) {
	c.caller, err = s.cfg.Login.Authenticate(ctx)
	s.countAuthentication(c.caller)
	if err != nil {
		return ctx, after, err
	}
	ctx, stop := s.cfg.Login.Watch(auth.With(ctx, c.caller), c.caller)
	ctx = access.WithOwner(access.With(ctx, s.cfg.Grants.Scope(c.caller)), c.caller.Name)
	return ctx, func() {
		stop()
		after()
	}, nil
}

// register adds a call to those in progress, until end is called.
func (s *service) register(ctx context.Context, c *call, after func()) (_ context.Context, end func()) {
	u := s.cfg.Admission.UserOf(ctx, c.caller)
	wire.Of(ctx).SetUser(u.Name)
	ctx, leave := s.active.add(ctx, c, u)
	return ctx, func() {
		leave()
		after()
	}
}

// isPublic reports whether an RPC needs no login: Handshake is the login, and health checks have no
// credential.
func isPublic(method string) bool {
	return method == flightPrefix+"Handshake" || strings.HasPrefix(method, healthPrefix)
}

// finish logs a call and returns its error as a status.
func (s *service) finish(ctx context.Context, c *call, err error) error {
	err = causeOr(ctx, err)
	code := codeOf(err)
	s.observe(ctx, c, codeNames[code], err)
	var e *zerolog.Event
	switch {
	case isServerError(code):
		e = s.cfg.Log.Error()
	case strings.HasPrefix(c.method, healthPrefix): // health checks come every few seconds
		e = s.cfg.Log.Debug()
	case isClientError(code):
		e = s.clientErrors.Event(s.cfg.Log, errorlog.Kind{What: c.method, Code: code.String()})
	default:
		e = s.cfg.Log.Info()
	}
	if err != nil {
		e = e.Str("error", excerpt.Clip(err.Error(), maxMessageText))
	}
	if p, ok := err.(*panicError); ok { //nolint:errorlint // panicOr made it, nothing wraps it
		e = e.Bytes("stack", p.stack)
	}
	if p, ok := peer.FromContext(ctx); ok && p.Addr.String() != "" {
		e = e.Str("client", p.Addr.String())
	}
	if c.sql != "" {
		e = e.Str("sql", excerpt.Clip(c.sql, maxMessageText))
	}
	if c.caller != nil {
		e = e.Str("user", excerpt.Clip(c.caller.Name, maxMessageText))
	}
	if c.forwardedTo != "" {
		e = e.Str("forwarded_to", c.forwardedTo)
	}
	if c.forwardedBy != "" {
		e = e.Str("forwarded_by", c.forwardedBy)
	}
	e.Str("method", c.method[strings.LastIndexByte(c.method, '/')+1:]).
		Str("name", excerpt.Clip(c.name, maxMessageText)).
		Int64("rows", c.rows).Int64("bytes", c.bytes).Dur("ms", time.Since(c.start)).Stringer("code", code).Msg("call")
	return s.statusError(c.name, err)
}

// causeOr returns the reason of the server if it has ended the call, such as the end of the caller's
// credential, or else err.
func causeOr(ctx context.Context, err error) error {
	var ended *endError
	cause := context.Cause(ctx)
	if err != nil && (errors.Is(cause, auth.ErrUnauthenticated) || errors.As(cause, &ended)) {
		return cause
	}
	return err
}

// Prefixes of methods.
const (
	healthPrefix = "/grpc.health.v1.Health/"
	flightPrefix = "/arrow.flight.protocol.FlightService/"
)
