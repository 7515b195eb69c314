package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/flightsrv/admission"
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

// queryClock bounds the time in which the server computes the rows of a query. The time in which the
// client does not read does not count. One goroutine uses it.
type queryClock struct {
	timer  *time.Timer // nil: no bound
	left   time.Duration
	began  time.Time
	cancel context.CancelCauseFunc
}

// newQueryClock returns a context that ends when the time of the context's user is over. The clock is
// paused.
func newQueryClock(ctx context.Context) (context.Context, *queryClock) {
	limit := admission.Of(ctx).QueryTime
	if limit == 0 {
		return ctx, &queryClock{}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c := &queryClock{left: limit, cancel: cancel}
	c.timer = time.AfterFunc(limit, func() { cancel(&timeoutError{"query", "--query-timeout", limit}) })
	c.timer.Stop()
	return ctx, c
}

func (c *queryClock) Start() {
	if c.timer != nil {
		c.began = time.Now()
		c.timer.Reset(max(0, c.left))
	}
}

func (c *queryClock) Pause() {
	if c.timer != nil {
		c.timer.Stop()
		c.left -= time.Since(c.began)
	}
}

// stop ends the context.
func (c *queryClock) stop() {
	if c.timer != nil {
		c.timer.Stop()
		c.cancel(context.Canceled)
	}
}

// filterGate has the filter of a ticket count as a query of the caller, whose time is bounded. A filter
// whose rows are known is not computed again, and does not count.
func (s *service) filterGate(ctx context.Context) (_ context.Context, leave func(), err error) {
	end, err := s.cfg.Admission.Query(ctx)
	if err != nil {
		return ctx, nil, err
	}
	ctx, clock := newQueryClock(ctx)
	clock.Start()
	return ctx, func() {
		clock.stop()
		end()
	}, nil
}

// runsQuery reports whether the rows of a ticket of Flight SQL are computed by a query.
func runsQuery(ticketName string) bool {
	return ticketName == "TicketStatementQuery" || ticketName == "CommandPreparedStatementQuery"
}
