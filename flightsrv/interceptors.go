package flightsrv

import (
	"context"
	"runtime/debug"

	"google.golang.org/grpc"
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
	return handler(srv, in)
}

// panicOr returns a recovered panic as an error, or err if there was none.
func panicOr(value any, err error) error {
	if value == nil {
		return err
	}
	return &panicError{value, debug.Stack()}
}
