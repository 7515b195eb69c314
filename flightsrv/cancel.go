package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/protobuf/proto"

	"github.com/vibeflight/vibeflight/flightsrv/sql"
)

// messageAction is one of Flight's own actions: a message of Flight.proto in, one out.
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

// actMessage runs the action of a name. It reports false if there is none.
func (s *service) actMessage(req *flight.Action, stream flight.FlightService_DoActionServer) (bool, error) {
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

// cancelInfo is CancelFlightInfo. What is over already can't be cancelled; a DoGet is cancelled as
// calls are.
func (s *service) cancelInfo(ctx context.Context, body []byte) (proto.Message, error) {
	var m flight.CancelFlightInfoRequest
	if err := readMessage(body, &m); err != nil {
		return nil, err
	}
	if m.GetInfo() == nil {
		return nil, &TicketError{"info", errors.New("is missing")}
	}
	cancelled := false
	if s.sql != nil {
		var err error
		if cancelled, err = s.sql.Cancel(m.GetInfo()); err != nil {
			return nil, err
		}
	}
	if d := m.GetInfo().GetFlightDescriptor(); d.GetType() == flight.DescriptorCMD && sql.Name(d.GetCmd()) == "" {
		t, err := parsePolled(d.GetCmd())
		if err != nil {
			return nil, err
		}
		callOf(ctx).name = t.Name
		cancelled = t.Poll != "" && s.cfg.Catalog.CancelPoll(t.Poll)
	}
	out := &flight.CancelFlightInfoResult{Status: flight.CancelStatusNotCancellable}
	if cancelled {
		out.Status = flight.CancelStatusCancelled
	}
	return out, nil
}

// renewEndpoint is RenewFlightEndpoint. The ticket of an entry never expires: it is good until the
// file changes or goes, which the answer tells.
func (s *service) renewEndpoint(ctx context.Context, body []byte) (proto.Message, error) {
	var m flight.RenewFlightEndpointRequest
	if err := readMessage(body, &m); err != nil {
		return nil, err
	}
	ticket := m.GetEndpoint().GetTicket().GetTicket()
	isSQL, err := s.forSQL(ctx, ticket)
	if err != nil {
		return nil, err
	}
	if isSQL {
		err = s.sql.Renew(ticket)
	} else {
		err = s.stands(ctx, ticket)
	}
	if err != nil {
		return nil, err
	}
	m.GetEndpoint().ExpirationTime = nil
	return m.GetEndpoint(), nil
}

// stands gives an error if a DoGet of the ticket would fail at once.
func (s *service) stands(ctx context.Context, ticket []byte) error {
	t, err := ParseTicket(ticket)
	if err != nil {
		return err
	}
	callOf(ctx).name = t.Name
	return s.cfg.Catalog.Check(t.request())
}

func readMessage(body []byte, m proto.Message) error {
	if err := proto.Unmarshal(body, m); err != nil {
		return &TicketError{"", fmt.Errorf("the body is no %s: %w", m.ProtoReflect().Descriptor().FullName(), err)}
	}
	return nil
}
