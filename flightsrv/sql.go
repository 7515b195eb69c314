package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/flightsrv/frame"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/wire"
)

const noSQL = "this server has no SQL: it was started with --no-sql, or built without cgo"

// isSQL reports whether b, a descriptor's command or a ticket, is for Flight SQL. It returns an
// error if the server has no SQL.
func (s *service) isSQL(ctx context.Context, b []byte) (bool, error) {
	name := sql.Name(b)
	if name == "" {
		return false, nil
	}
	c := callOf(ctx)
	c.name, c.sql = name, sql.Text(b)
	if s.sql == nil {
		return false, &unimplementedError{fmt.Sprintf("%s: %s", name, noSQL)}
	}
	return true, nil
}

// getSQL sends the rows of a ticket of Flight SQL. The messages use the engine's records without a
// copy. If the client leaves, the query ends with the next message.
func (s *service) getSQL(ctx context.Context, sqlTicket []byte, stream flight.FlightService_DoGetServer) error {
	c := callOf(ctx)
	if runsQuery(c.name) {
		leave, err := s.cfg.Admission.Query(ctx)
		if err != nil {
			return err
		}
		defer leave()
	}
	ctx, clock := newQueryClock(ctx)
	defer clock.stop()
	c.query = new(engine.Report)
	rows, err := s.sql.Get(engine.WithReport(ctx, c.query), sqlTicket)
	if err != nil {
		return err
	}
	defer rows.Close()
	c.isOpen()
	over := wire.Of(ctx)
	send := func(f *frame.Frame) error {
		c.bytes += int64(f.Size())
		f.Bind(over, rows.Retain())
		return c.send(stream, f)
	}
	schema, err := frame.Schema(rows.Schema())
	if err != nil {
		return err
	}
	if err := send(schema); err != nil {
		return err
	}
	name := func(row int64) string { return fmt.Sprintf("row %d of the result", row) }
	enc := frame.NewEncoder(rows.Schema(), ticket.NoCompression, name, s.cfg.MaxMessageBytes)
	for {
		clock.Start()
		rec, err := rows.Next()
		clock.Pause()
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

// runSQLAction runs an action of Flight SQL.
func (s *service) runSQLAction(req *flight.Action, stream flight.FlightService_DoActionServer) error {
	ctx := stream.Context()
	c := callOf(ctx)
	c.name, c.sql = req.GetType(), sql.Text(req.GetBody())
	if s.sql == nil {
		return &unimplementedError{fmt.Sprintf("action %q: %s", req.GetType(), noSQL)}
	}
	body, err := s.sql.Action(ctx, req.GetType(), req.GetBody())
	if err != nil {
		return err
	}
	return stream.Send(&flight.Result{Body: body})
}
