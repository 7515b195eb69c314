package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/uploads"
	"github.com/vibeflight/vibeflight/readers"
)

// maxPuts is how many tables are stored at the same time: each may have messages of MaxMessageBytes
// in memory. Others wait in line.
const maxPuts = 16

// putModes are what a command's "mode" can say.
var putModes = []string{
	catalog.Create: "create", catalog.Replace: "replace", catalog.Append: "append",
	catalog.CreateAppend: "create_append",
}

// putOf reads the descriptor of a DoPut: the name of the entry as a path, or {"name": "…", "mode":
// "…"}.
func putOf(d *flight.FlightDescriptor) (name string, mode catalog.Mode, err error) {
	if d.GetType() == flight.DescriptorPATH {
		name = strings.Join(d.GetPath(), "/")
		err = checkSize([]byte(name))
	} else {
		text := putModes[catalog.Create]
		if err = readObject(d.GetCmd(), map[string]*string{"name": &name, "mode": &text}); err == nil {
			i := slices.Index(putModes, text)
			if i < 0 {
				return "", 0, fmt.Errorf("put: %w", &TicketError{"mode", fmt.Errorf("%q is none of %q",
					text, putModes)})
			}
			mode = catalog.Mode(i)
		}
	}
	if err == nil && name == "" {
		err = &TicketError{"name", errors.New("is missing: say what the table is to be called")}
	}
	if err != nil {
		return "", 0, fmt.Errorf("put: %w", err)
	}
	return name, mode, nil
}

// put stores a table.
func (s *service) put(first *flight.FlightData, stream flight.FlightService_DoPutServer) error {
	name, mode, err := putOf(first.GetFlightDescriptor())
	if err != nil {
		return err
	}
	stored, err := s.store(stream.Context(), name, mode, first, s.attend(name, stream))
	if err != nil {
		return err
	}
	body, err := jsonBody(stored)
	if err != nil {
		return err
	}
	return stream.Send(&flight.PutResult{AppMetadata: body})
}

// ingest stores the table of a CommandStatementIngest.
func (s *service) ingest(first *flight.FlightData, stream flight.FlightService_DoPutServer) error {
	more := s.attend(sql.IngestName, stream)
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
	body, err := sql.Ingested(stored.Rows)
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
	d, err := s.cfg.Catalog.Draft(name, mode, in.Schema())
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
	t, err := nameOf(body, "name")
	if err != nil {
		return nil, err
	}
	callOf(ctx).name = t.Name
	if err := s.cfg.Catalog.Drop(ctx, t.Name); err != nil {
		return nil, err
	}
	return map[string]string{"dropped": t.Name}, nil
}

// attended is the messages of a client that is not waited for longer than a while.
type attended struct {
	name string
	idle time.Duration
	ctx  context.Context
	came chan message
}

type message struct {
	data *flight.FlightData
	err  error
}

// attend takes the messages of a client, one ahead. That ends with the call at the latest.
func (s *service) attend(name string, stream flight.FlightService_DoPutServer) *attended {
	a := &attended{name, s.cfg.uploadIdle, stream.Context(), make(chan message)}
	go func() {
		for {
			d, err := stream.Recv()
			select {
			case a.came <- message{d, err}:
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

// Recv gives the next message.
func (a *attended) Recv() (*flight.FlightData, error) {
	late := time.NewTimer(a.idle)
	defer late.Stop()
	select {
	case m := <-a.came:
		return m.data, m.err
	case <-a.ctx.Done():
		return nil, a.ctx.Err()
	case <-late.C:
		return nil, &idleError{a.name, a.idle}
	}
}
