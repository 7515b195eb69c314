package flightsrv

import (
	"errors"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/flightsrv/fleet"
	"github.com/vibeflight/vibeflight/flightsrv/frame"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/wire"
)

// DoGet sends the schema, then the rows that the ticket selects. It holds the table until the last
// message is on its way. gRPC's flow control keeps at most two messages of a stream waiting. If the
// client leaves, DoGet returns with the next message.
func (s *service) DoGet(req *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	ctx := stream.Context()
	if ok, err := s.isSQL(ctx, req.GetTicket()); err != nil {
		return err
	} else if ok {
		if to, err := s.remoteOfCommand(ctx, req.GetTicket()); err != nil {
			return err
		} else if to != nil {
			return s.forwardStream(to, "DoGet", req, stream)
		}
		return s.getSQL(ctx, req.GetTicket(), stream)
	}
	t, err := ticket.Parse(req.GetTicket())
	if err != nil {
		return err
	}
	if err := s.resolve(ctx, &t); err != nil {
		return err
	}
	c := callOf(ctx)
	c.selects(t)
	if id := s.elsewhere(ctx, t); id != "" {
		err := s.forwardTicket(id, req, stream)
		if lost := new(fleet.UnreachableError); !errors.As(err, &lost) || c.bytes > 0 {
			return err
		}
		c.forwardedTo = "" // the file is parsed here
	}
	ref, scan, err := s.cfg.Catalog.Read(ctx, t.Request(), s.cfg.selection(t))
	if err != nil {
		return err
	}
	o := tableScan{ref, scan}
	defer o.Release()
	s.opened(c, o)

	over := wire.Of(ctx)
	send := func(f *frame.Frame) error {
		c.bytes += int64(f.Size())
		f.Bind(over, o.Retain())
		return c.send(stream, f)
	}
	schema, err := o.scan.SchemaMessage(frame.SchemaMessage)
	if err != nil {
		return err
	}
	if err := send(frame.FromMessage(schema)); err != nil {
		return err
	}
	enc := frame.NewEncoder(o.scan.Schema(), t.Compression, t.RowName, s.cfg.MaxMessageBytes)
	for {
		rec, err := o.scan.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return s.cfg.Catalog.Known(ctx, t.Name, err)
		}
		if err := sendRecord(enc, rec, c, send); err != nil {
			return err
		}
	}
}

// sendRecord sends and releases rec, and adds its rows to c.rows.
func sendRecord(enc *frame.Encoder, rec arrow.Record, c *call, send func(*frame.Frame) error) error {
	defer rec.Release()
	if rec.NumRows() == 0 {
		return nil
	}
	if err := c.addRows(rec.NumRows()); err != nil {
		return err
	}
	if err := enc.Encode(rec, c.rows-rec.NumRows(), send); err != nil {
		return err
	}
	c.sentBatch()
	return nil
}
