package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/protobuf/proto"

	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// messageAction is an action that Flight defines. Its body and its answer are messages of
// Flight.proto.
type messageAction struct {
	name, doc string
	run       func(s *service, ctx context.Context, body []byte) (proto.Message, error)
}

var messageActions = []messageAction{
	{flight.CancelFlightInfoActionType, "ends what is done for a FlightInfo: the query of Flight SQL, or the parse " +
		"that PollFlightInfo waits for unless others do too", (*service).cancelInfo},
	{flight.RenewFlightEndpointActionType, "says that an endpoint still holds; none expires, but for unfetched " +
		"results of Flight SQL, which are kept for longer", (*service).renewEndpoint},
}

// runMessageAction runs an action that Flight defines. It reports false for any other action.
func (s *service) runMessageAction(req *flight.Action, stream flight.FlightService_DoActionServer) (bool, error) {
	i := slices.IndexFunc(messageActions, func(a messageAction) bool { return a.name == req.GetType() })
	if i < 0 {
		return false, nil
	}
	answer, err := messageActions[i].run(s, stream.Context(), req.GetBody())
	if err != nil {
		return true, fmt.Errorf("action %s: %w", req.GetType(), err)
	}
	body, err := proto.Marshal(answer)
	if err != nil {
		return true, err
	}
	return true, stream.Send(&flight.Result{Body: body})
}

// cancelInfo is CancelFlightInfo. A call that has ended can't be cancelled. A DoGet is cancelled as
// calls are.
func (s *service) cancelInfo(ctx context.Context, body []byte) (proto.Message, error) {
	var m flight.CancelFlightInfoRequest
	if err := readMessage(body, &m); err != nil {
		return nil, err
	}
	if m.GetInfo() == nil {
		return nil, &ticket.Error{Field: "info", Err: errors.New("is missing")}
	}
	cancelled := false
	if s.sql != nil {
		var err error
		if cancelled, err = s.sql.Cancel(ctx, m.GetInfo()); err != nil {
			return nil, err
		}
	}
	if d := m.GetInfo().GetFlightDescriptor(); d.GetType() == flight.DescriptorCMD && sql.Name(d.GetCmd()) == "" {
		t, err := ticket.ParsePollCommand(d.GetCmd())
		if err != nil {
			return nil, err
		}
		callOf(ctx).selects(t)
		cancelled = t.Poll != "" && s.cfg.Catalog.CancelPoll(ctx, t.Poll)
	}
	out := &flight.CancelFlightInfoResult{Status: flight.CancelStatusNotCancellable}
	if cancelled {
		out.Status = flight.CancelStatusCancelled
	}
	return out, nil
}

// renewEndpoint is RenewFlightEndpoint. The ticket of an entry has no expiration time: it is valid
// until the file changes or is removed. The answer says so.
func (s *service) renewEndpoint(ctx context.Context, body []byte) (proto.Message, error) {
	var m flight.RenewFlightEndpointRequest
	if err := readMessage(body, &m); err != nil {
		return nil, err
	}
	ticket := m.GetEndpoint().GetTicket().GetTicket()
	isSQL, err := s.isSQL(ctx, ticket)
	if err != nil {
		return nil, err
	}
	if isSQL {
		err = s.sql.Renew(ctx, ticket)
	} else {
		err = s.checkTicket(ctx, ticket)
	}
	if err != nil {
		return nil, err
	}
	m.GetEndpoint().ExpirationTime = nil
	return m.GetEndpoint(), nil
}

// checkTicket returns an error if a DoGet of the ticket would fail at once.
func (s *service) checkTicket(ctx context.Context, b []byte) error {
	t, err := ticket.Parse(b)
	if err == nil {
		err = s.resolve(ctx, &t)
	}
	if err != nil {
		return err
	}
	callOf(ctx).selects(t)
	return s.cfg.Catalog.Check(ctx, t.Request())
}

func readMessage(body []byte, m proto.Message) error {
	if err := proto.Unmarshal(body, m); err != nil {
		name := m.ProtoReflect().Descriptor().FullName()
		return &ticket.Error{Err: fmt.Errorf("the body is no %s: %w", name, err)}
	}
	return nil
}
