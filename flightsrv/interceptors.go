package flightsrv

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"google.golang.org/grpc"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
)

// unary runs a handler, converts its error or panic to a status, and logs the call.
func (s *service) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any,
	err error,
) {
	if _, ok := ctx.Value(callKey{}).(*call); ok { // requestRegistrar has begun it
		return handler(ctx, req)
	}
	return s.runUnary(ctx, info.FullMethod, func(ctx context.Context) (any, error) { return handler(ctx, req) })
}

// runUnary is [service.unary] for a function.
func (s *service) runUnary(ctx context.Context, method string, run func(context.Context) (any, error)) (resp any,
	err error,
) {
	ctx, c, end, err := s.begin(ctx, method)
	defer end()
	defer func() {
		err = s.finish(ctx, c, panicOr(recover(), err))
	}()
	if err != nil {
		return nil, err
	}
	return run(ctx)
}

// stream is [service.unary] for streaming calls.
func (s *service) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo,
	handler grpc.StreamHandler,
) (err error) {
	ctx, c, end, err := s.begin(ss.Context(), info.FullMethod)
	defer end()
	in := &callStream{ServerStream: ss, service: s, ctx: ctx, call: c}
	defer func() {
		err = s.finish(ctx, c, panicOr(recover(), in.requestErrorOf(err)))
	}()
	if err != nil {
		return err
	}
	if c.caller == nil {
		return handler(srv, in)
	}
	hold := holdSlot(ctx)
	abandoned, err := untilRevoked(ctx, func() error {
		defer hold()
		return handler(srv, in)
	})
	if abandoned { // the handler still uses c
		c = &call{method: c.method, start: c.start, caller: c.caller}
	}
	return err
}

// releaseTime is how long a handler may take to return after the end of its caller's credential.
const releaseTime = 200 * time.Millisecond

// untilRevoked runs a handler. When the credential of its caller ends, the handler has some time to
// return; after that it is abandoned. It may be blocked by a client that reads nothing, and gRPC
// releases it when the interceptor has returned.
func untilRevoked(ctx context.Context, handler func() error) (abandoned bool, err error) {
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() { done <- panicOr(recover(), err) }()
		err = handler()
	}()
	select {
	case err := <-done:
		return false, err
	case <-ctx.Done():
	}
	if !errors.Is(context.Cause(ctx), auth.ErrUnauthenticated) {
		return false, <-done
	}
	select {
	case err := <-done:
		return false, err
	case <-time.After(releaseTime):
		return true, context.Cause(ctx)
	}
}

// panicOr returns a recovered panic as an error, or err if there was none.
func panicOr(value any, err error) error {
	if value == nil {
		return err
	}
	return &panicError{value, debug.Stack()}
}
