package flightsrv

import (
	"context"
	"runtime/debug"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/vibeflight/vibeflight/flightsrv/internal/excerpt"
)

// call is what a handler reports for the log. One goroutine uses it.
type call struct {
	name  string // of the entry
	sql   string // text of the statement; empty if the call has none
	rows  int64
	bytes int64 // of the messages that were sent
}

type callKey struct{}

// callOf returns the call that the interceptors put into ctx.
func callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return &call{}
}

// unary runs a handler, converts its error or panic to a status, and logs the call.
func (s *service) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any,
	err error,
) {
	c := &call{}
	start := time.Now()
	defer holdSlot(ctx)()
	defer func() {
		err = s.finish(ctx, c, info.FullMethod, start, panicOr(recover(), err))
	}()
	return handler(context.WithValue(ctx, callKey{}, c), req)
}

// stream is [service.unary] for streaming calls.
func (s *service) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo,
	handler grpc.StreamHandler,
) (err error) {
	c := &call{}
	start := time.Now()
	defer holdSlot(ss.Context())()
	in := &callStream{ServerStream: ss, ctx: context.WithValue(ss.Context(), callKey{}, c)}
	defer func() {
		err = s.finish(ss.Context(), c, info.FullMethod, start, panicOr(recover(), in.requestErrorOf(err)))
	}()
	return handler(srv, in)
}

// panicOr returns a recovered panic as an error, or err if there was none.
func panicOr(value any, err error) error {
	if value == nil {
		return err
	}
	return &panicError{value, debug.Stack()}
}

func (s *service) finish(
	ctx context.Context, c *call, method string, start time.Time, err error,
) error {
	code := codeOf(err)
	var e *zerolog.Event
	switch {
	case isServerError(code):
		e = s.cfg.Log.Error()
	case !strings.HasPrefix(method, flightPrefix): // health checks come every few seconds
		e = s.cfg.Log.Debug()
	case isClientError(code):
		e = s.clientErrors.event(s.cfg.Log, errorKind{method, code.String()})
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
	e.Str("method", method[strings.LastIndexByte(method, '/')+1:]).Str("name", excerpt.Clip(c.name, maxMessageText)).
		Int64("rows", c.rows).Int64("bytes", c.bytes).Dur("ms", time.Since(start)).Stringer("code", code).Msg("call")
	return statusError(c.name, err)
}

const flightPrefix = "/arrow.flight.protocol.FlightService/"
