package flightsrv

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
)

// received is a message of a client whose error gRPC does not see: it would answer Internal, and
// not wait for what the handler says.
type received struct {
	message any
	err     error
}

// by receives the message with a function of gRPC.
func (r *received) by(receive func(any) error) error {
	if err := receive(r); err != nil {
		if errors.Is(err, io.EOF) {
			return err
		}
		return &requestError{err}
	}
	if r.err != nil {
		return &requestError{r.err}
	}
	return nil
}

// errNoRequest is the error of a call whose client ends it without the message that it is to have.
var errNoRequest = errors.New("no message came")

// stream is a ServerStream of which the context knows the call.
type stream struct {
	grpc.ServerStream
	ctx   context.Context
	ended atomic.Bool // there are no more messages; a goroutine that receives may outlive the handler
}

func (s *stream) Context() context.Context { return s.ctx }

// RecvMsg gives a *requestError for what is no message.
func (s *stream) RecvMsg(m any) error {
	in := received{message: m}
	err := in.by(s.ServerStream.RecvMsg)
	if errors.Is(err, io.EOF) {
		s.ended.Store(true)
	}
	return err
}

// blame gives the error of a handler: the end of the messages, where it wanted one, is the client's
// fault.
func (s *stream) blame(err error) error {
	if s.ended.Load() && err == io.EOF { //nolint:errorlint // as RecvMsg gave it: a wrapped one is of a file
		return &requestError{errNoRequest}
	}
	return err
}

// decoding has requests that can't be decoded logged and answered as other errors of calls are.
// gRPC decodes the request of a unary call before any interceptor.
type decoding struct {
	grpc.ServiceRegistrar
	service *service
}

// RegisterService registers a service whose methods are those of of.
func (d decoding) RegisterService(of *grpc.ServiceDesc, impl any) {
	wrapped := *of
	wrapped.Methods = nil
	for _, m := range of.Methods {
		handler, method := m.Handler, "/"+of.ServiceName+"/"+m.MethodName
		m.Handler = func(srv any, ctx context.Context, dec func(any) error,
			interceptor grpc.UnaryServerInterceptor,
		) (any, error) {
			start := time.Now()
			var failed error
			resp, err := handler(srv, ctx, func(v any) error {
				in := received{message: v}
				failed = in.by(dec)
				return failed
			}, interceptor)
			if failed != nil {
				return nil, d.service.finish(ctx, &call{}, method, start, failed)
			}
			return resp, err
		}
		wrapped.Methods = append(wrapped.Methods, m)
	}
	d.ServiceRegistrar.RegisterService(&wrapped, impl)
}
