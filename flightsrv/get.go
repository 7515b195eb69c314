package flightsrv

import (
	"errors"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/flightsrv/wire"
)

// DoGet sends the schema, then the rows that the ticket selects. It holds the table until the last
// message is on its way; gRPC's flow control keeps at most two messages of a stream waiting. When
// the client leaves, it returns at the next message.
func (s *service) DoGet(req *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	ctx := stream.Context()
	if ok, err := s.forSQL(ctx, req.GetTicket()); err != nil {
		return err
	} else if ok {
		return s.getSQL(ctx, req.GetTicket(), stream)
	}
	t, err := ParseTicket(req.GetTicket())
	if err != nil {
		return err
	}
	c := callOf(ctx)
	c.name = t.Name
	held, scan, err := s.cfg.Catalog.Read(ctx, t.request(), s.cfg.selection(t))
	if err != nil {
		return err
	}
	o := opened{held, scan}
	defer o.Release()

	over := wire.Of(ctx)
	send := func(f *frame) error {
		c.bytes += int64(f.size())
		f.release, f.over = o.Retain(), over
		return stream.SendMsg(f)
	}
	schema, err := o.scan.SchemaMessage(schemaMessage)
	if err != nil {
		return err
	}
	if err := send(&frame{head: schema}); err != nil {
		return err
	}
	enc := newEncoder(o.scan.Schema(), t.Compression, t.rowName, s.cfg.MaxMessageBytes)
	for {
		rec, err := o.scan.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := sendRecord(enc, rec, c, send); err != nil {
			return err
		}
	}
}

// sendRecord sends and releases rec, the first row of which is row c.rows of the answer.
func sendRecord(enc *encoder, rec arrow.Record, c *call, send func(*frame) error) error {
	defer rec.Release()
	if rec.NumRows() == 0 {
		return nil
	}
	if err := enc.encode(rec, c.rows, send); err != nil {
		return err
	}
	c.rows += rec.NumRows()
	return nil
}
