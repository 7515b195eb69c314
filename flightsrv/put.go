package flightsrv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/uploads"
	"github.com/vibeflight/vibeflight/readers"
)

// maxPuts is how many tables are stored at the same time: each may have messages of MaxMessageBytes
// in memory. Further calls wait.
const maxPuts = 16

// put stores a table.
func (s *service) put(first *flight.FlightData, stream flight.FlightService_DoPutServer) error {
	name, mode, err := ticket.ParsePut(first.GetFlightDescriptor())
	if err != nil {
		return err
	}
	stored, err := s.store(stream.Context(), name, mode, first, s.receiveAhead(name, stream))
	if err != nil {
		return err
	}
	body, err := metadata.Marshal(stored)
	if err != nil {
		return err
	}
	return stream.Send(&flight.PutResult{AppMetadata: body})
}

// ingest stores the table of a CommandStatementIngest.
func (s *service) ingest(first *flight.FlightData, stream flight.FlightService_DoPutServer) error {
	more := s.receiveAhead(sql.IngestName, stream)
	in, err := sql.IngestOf(first.GetFlightDescriptor().GetCmd())
	if err != nil {
		sql.Drain(more)
		return err
	}
	stored, err := s.store(stream.Context(), in.Name, in.Mode, first, more)
	if err != nil {
		sql.Drain(more)
		return err
	}
	body, err := sql.IngestAnswer(stored.Rows)
	if err != nil {
		return err
	}
	return stream.Send(&flight.PutResult{AppMetadata: body})
}

// store makes an entry of the record batches that a client sends. A stream that breaks off leaves
// nothing.
func (s *service) store(ctx context.Context, name string, mode catalog.Mode, first *flight.FlightData,
	more uploads.Messages,
) (_ catalog.WriteResult, err error) {
	c := callOf(ctx)
	c.name = name
	select {
	case s.puts <- struct{}{}:
		defer func() { <-s.puts }()
	case <-ctx.Done():
		return catalog.WriteResult{}, ctx.Err()
	}
	in, err := uploads.NewRecords(first, more, int64(s.cfg.MaxMessageBytes))
	if err != nil {
		return catalog.WriteResult{}, fmt.Errorf("%s: %w", name, err)
	}
	defer in.Release()
	d, err := s.cfg.Catalog.Draft(ctx, name, mode, in.Schema())
	if err != nil {
		return catalog.WriteResult{}, err
	}
	defer d.Abort()
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, uploads.ErrUnpacked) {
			return catalog.WriteResult{}, &readers.LimitError{
				What: fmt.Sprintf("%s: the batch of the rows from %d on, unpacked,", name, c.rows),
				Flag: "--max-message-bytes", Limit: int64(s.cfg.MaxMessageBytes),
			}
		}
		if err != nil {
			return catalog.WriteResult{}, fmt.Errorf("%s: the rows from %d on: %w", name, c.rows, err)
		}
		if err := d.Write(rec); err != nil {
			return catalog.WriteResult{}, err
		}
		c.rows += rec.NumRows()
	}
	if err := ctx.Err(); err != nil {
		return catalog.WriteResult{}, err
	}
	return d.Commit(ctx)
}

// drop removes a table that a client has stored.
func (s *service) drop(ctx context.Context, body []byte) (any, error) {
	t, err := ticket.ParseName(body, "name")
	if err != nil {
		return nil, err
	}
	callOf(ctx).name = t.Name
	if err := s.cfg.Catalog.Drop(ctx, t.Name); err != nil {
		return nil, err
	}
	return map[string]string{"dropped": t.Name}, nil
}

// uploadStream is the messages of a client, with a limit on the time between two of them.
type uploadStream struct {
	name     string
	idle     time.Duration
	ctx      context.Context
	received chan uploadMessage
}

type uploadMessage struct {
	data *flight.FlightData
	err  error
}

// receiveAhead receives the messages of a client, one ahead. It ends with the call at the latest.
func (s *service) receiveAhead(name string, stream flight.FlightService_DoPutServer) *uploadStream {
	a := &uploadStream{name, s.cfg.uploadIdle, stream.Context(), make(chan uploadMessage)}
	go func() {
		defer close(a.received)
		for {
			d, err := stream.Recv()
			select {
			case a.received <- uploadMessage{d, err}:
			case <-a.ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return a
}

// Recv returns the next message, and io.EOF after the last one however often it is called.
func (a *uploadStream) Recv() (*flight.FlightData, error) {
	late := time.NewTimer(a.idle)
	defer late.Stop()
	select {
	case m, ok := <-a.received:
		if !ok {
			return nil, cmp.Or(a.ctx.Err(), io.EOF)
		}
		return m.data, m.err
	case <-a.ctx.Done():
		return nil, a.ctx.Err()
	case <-late.C:
		return nil, &idleError{a.name, a.idle}
	}
}
