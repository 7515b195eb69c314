package flightsrv

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
)

// authorization is the header of a credential.
const authorization = "authorization"

// Handshake answers the value of the header "authorization" for later calls, in header and trailer:
// clients read one or the other. The payload of a request is ignored, but for that of a client that
// sends no header and logs in by Flight's BasicAuth; it also has the token as the payload of the
// answer.
//
// Without a login it accepts every client: drivers that always send a user expect a token.
func (s *service) Handshake(stream flight.FlightService_HandshakeServer) error {
	token := "Bearer none"
	var payload []byte
	if s.cfg.Login != nil {
		ctx, basic, err := withPayload(stream)
		if err != nil {
			return err
		}
		var caller *auth.Principal
		if caller, token, err = s.cfg.Login.Handshake(ctx); err != nil {
			return err
		}
		callOf(ctx).caller = caller
		if basic {
			payload = []byte(token)
		}
	}
	answer := metadata.Pairs(authorization, token)
	stream.SetTrailer(answer)
	if err := stream.SendHeader(answer); err != nil {
		return err
	}
	if payload == nil {
		return nil
	}
	return stream.Send(&flight.HandshakeResponse{Payload: payload})
}

// withPayload returns the context of a Handshake. If there is no header with a credential and the
// first message has a user and a password, the context has these as header.
func withPayload(stream flight.FlightService_HandshakeServer) (ctx context.Context, basic bool, err error) {
	ctx = stream.Context()
	md, _ := metadata.FromIncomingContext(ctx)
	if len(md.Get(authorization)) > 0 {
		return ctx, false, nil
	}
	first, err := receiveFirst(stream)
	if first == nil || err != nil {
		return ctx, false, err
	}
	var user pb.BasicAuth
	if len(first.GetPayload()) == 0 || proto.Unmarshal(first.GetPayload(), &user) != nil || user.GetUsername() == "" {
		return ctx, false, nil
	}
	md = md.Copy()
	md.Set(authorization, auth.Basic(user.GetUsername(), user.GetPassword()))
	return metadata.NewIncomingContext(ctx, md), true, nil
}

// receiveFirst returns the first message; nil if none comes in time. A caller that is not identified
// must not hold a call for long.
func receiveFirst(stream flight.FlightService_HandshakeServer) (*flight.HandshakeRequest, error) {
	done := make(chan struct{})
	var first *flight.HandshakeRequest
	var err error
	go func() { // it ends with the stream at the latest
		defer close(done)
		first, err = stream.Recv()
	}()
	select {
	case <-done:
	case <-time.After(handshakeTimeout):
		return nil, &requestError{errNoRequest}
	}
	if errors.Is(err, io.EOF) {
		return nil, nil //nolint:nilnil // no message
	}
	return first, err
}
