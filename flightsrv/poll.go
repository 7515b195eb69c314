package flightsrv

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// PollFlightInfo is GetFlightInfo for long parses. While the parse runs, it answers soon, with the
// fraction of the file that is read and a descriptor for the next poll: the same command with the
// poll's ID. The FlightInfo has that descriptor too, for CancelFlightInfo.
func (s *service) PollFlightInfo(ctx context.Context, d *flight.FlightDescriptor) (*flight.PollInfo, error) {
	if ok, err := s.isSQL(ctx, d.GetCmd()); err != nil {
		return nil, err
	} else if ok {
		if to, err := s.remoteOfCommand(ctx, d.GetCmd()); err != nil {
			return nil, err
		} else if to != nil {
			return forwardUnary[flight.PollInfo](ctx, s, to, "PollFlightInfo", d)
		}
		return s.sql.Poll(ctx, d)
	}
	t, err := ticket.ParsePollDescriptor(d)
	if err == nil {
		err = s.resolve(ctx, &t)
	}
	if err != nil {
		return nil, err
	}
	callOf(ctx).selects(t)
	if t.Poll == "" {
		switch ref, scan, ok, err := s.cfg.Catalog.Recall(ctx, t.Request(), s.cfg.selection(t), true); {
		case err != nil:
			return nil, err
		case ok:
			return s.finishPoll(ctx, d, t, tableScan{ref, scan}, 1)
		}
	}
	ref, at, err := s.cfg.Catalog.Poll(ctx, t.Request(), t.Poll)
	if err != nil {
		return nil, err
	}
	if ref == nil {
		t.Poll = at.ID
		again := &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: t.Encode()}
		known := &flight.FlightInfo{FlightDescriptor: again, TotalRecords: -1, TotalBytes: -1, Ordered: true}
		return &flight.PollInfo{
			Info: known, FlightDescriptor: again, Progress: &at.Progress,
			ExpirationTime: timestamppb.New(at.Until),
		}, nil
	}
	if t.Poll != "" {
		t.Poll = ""
		d = &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: t.Encode()}
	}
	o, err := s.scan(ref, t)
	if err != nil {
		return nil, err
	}
	return s.finishPoll(ctx, d, t, o, at.Progress)
}

// finishPoll makes the last answer of a poll. It releases the table.
func (s *service) finishPoll(ctx context.Context, d *flight.FlightDescriptor, t ticket.Ticket, o tableScan,
	progress float64,
) (*flight.PollInfo, error) {
	defer o.Release()
	t.Version = o.Version
	info, err := s.info(ctx, d, t, o)
	if err != nil {
		return nil, err
	}
	return &flight.PollInfo{Info: info, Progress: &progress}, nil
}
