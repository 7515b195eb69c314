package flightsrv

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// PollFlightInfo is GetFlightInfo for long parses: while the parse goes on it answers soon, with
// the part of the file that is read, and with the descriptor to ask with again, which is the one
// that was asked with and the poll's ID. The FlightInfo has it too, for CancelFlightInfo.
func (s *service) PollFlightInfo(ctx context.Context, d *flight.FlightDescriptor) (*flight.PollInfo, error) {
	if ok, err := s.forSQL(ctx, d.GetCmd()); err != nil {
		return nil, err
	} else if ok {
		return s.sql.Poll(ctx, d)
	}
	t, err := descriptorOf(d, parsePolled)
	if err != nil {
		return nil, err
	}
	callOf(ctx).name = t.Name
	if t.Poll == "" {
		switch held, scan, err := s.cfg.Catalog.Recall(ctx, t.request(), s.cfg.selection(t), true); {
		case err != nil:
			return nil, err
		case scan != nil:
			return s.polled(ctx, d, t, opened{held, scan}, 1)
		}
	}
	held, at, err := s.cfg.Catalog.Poll(ctx, t.request(), t.Poll)
	if err != nil {
		return nil, err
	}
	if held == nil {
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
	o, err := s.scan(held, t)
	if err != nil {
		return nil, err
	}
	return s.polled(ctx, d, t, o, at.Progress)
}

// polled is the last answer to who polls. It releases the table.
func (s *service) polled(ctx context.Context, d *flight.FlightDescriptor, t Ticket, o opened,
	progress float64,
) (*flight.PollInfo, error) {
	defer o.Release()
	t.Version = o.Version
	info, err := s.info(ctx, d, t, o.Table, o.scan, o.Cached)
	if err != nil {
		return nil, err
	}
	return &flight.PollInfo{Info: info, Progress: &progress}, nil
}
