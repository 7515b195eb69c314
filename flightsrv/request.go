package flightsrv

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"

	"github.com/vibeflight/vibeflight/flightsrv/frame"
)

// requestMessage is a message of a client whose decoding error is hidden from gRPC. gRPC would
// answer Internal and not wait for the handler.
type requestMessage struct {
	message any
	err     error
}

// receive receives the message with a function of gRPC.
func (r *requestMessage) receive(receive func(any) error) error {
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

// errNoRequest is the error of a call that its client ends without the request message.
var errNoRequest = errors.New("no message came")

// callStream is a ServerStream whose context has the call.
type callStream struct {
	grpc.ServerStream
	service *service
	ctx     context.Context
	call    *call
	ended   atomic.Bool // there are no more messages; a goroutine that receives may outlive the handler
}

func (s *callStream) Context() context.Context { return s.ctx }

// RecvMsg returns a *requestError for an invalid message.
func (s *callStream) RecvMsg(m any) error {
	in := requestMessage{message: m}
	err := in.receive(s.ServerStream.RecvMsg)
	if errors.Is(err, io.EOF) {
		s.ended.Store(true)
	}
	if err != nil {
		return err
	}
	return s.service.admit(s.ctx, m)
}

// SendMsg sends a message when the user may send its bytes.
func (s *callStream) SendMsg(m any) error {
	f, ok := m.(*frame.Frame)
	if !ok || s.call.active == nil {
		return s.ServerStream.SendMsg(m)
	}
	n := f.Size()
	if err := s.service.cfg.Admission.Send(s.ctx, n); err != nil {
		return err
	}
	s.call.active.bytes.Add(int64(n))
	return s.ServerStream.SendMsg(m)
}

// requestErrorOf returns the error of a handler. If the handler failed because the messages ended
// too early, it is the client's error.
func (s *callStream) requestErrorOf(err error) error {
	if s.ended.Load() && err == io.EOF { //nolint:errorlint // as RecvMsg returned it; a wrapped EOF is of a file
		return &requestError{errNoRequest}
	}
	return err
}

// requestRegistrar registers services so that invalid requests are logged and answered like other
// errors, and so that the caller is identified first. gRPC decodes the request of a unary call before
// any interceptor.
type requestRegistrar struct {
	grpc.ServiceRegistrar
	service *service
}

// RegisterService registers a service with the methods of desc.
func (d requestRegistrar) RegisterService(desc *grpc.ServiceDesc, impl any) {
	wrapped := *desc
	wrapped.Methods = nil
	for _, m := range desc.Methods {
		handler, method := m.Handler, "/"+desc.ServiceName+"/"+m.MethodName
		m.Handler = func(srv any, ctx context.Context, dec func(any) error,
			interceptor grpc.UnaryServerInterceptor,
		) (any, error) {
			return d.service.runUnary(ctx, method, func(ctx context.Context) (any, error) {
				var failed error
				resp, err := handler(srv, ctx, func(v any) error {
					in := requestMessage{message: v}
					if failed = in.receive(dec); failed == nil {
						failed = d.service.admit(ctx, v)
					}
					return failed
				}, interceptor)
				if failed != nil {
					return nil, failed
				}
				return resp, err
			})
		}
		wrapped.Methods = append(wrapped.Methods, m)
	}
	d.ServiceRegistrar.RegisterService(&wrapped, impl)
}

// requestCodec is the codec of frames. It keeps the error of a request that can't be decoded for
// [requestMessage.receive], since gRPC would answer Internal.
type requestCodec struct{ frame.Codec }

func (c requestCodec) Unmarshal(data mem.BufferSlice, v any) error {
	if r, ok := v.(*requestMessage); ok {
		r.err = c.Codec.Unmarshal(data, r.message)
		return nil
	}
	return c.Codec.Unmarshal(data, v)
}
