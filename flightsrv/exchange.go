package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/frame"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/uploads"
	"github.com/vibeflight/vibeflight/flightsrv/wire"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// uploadIdle is how long a client may send nothing before its upload ends.
const uploadIdle = time.Minute

// DoExchange parses the file that a client sends, and returns its table. The server keeps neither.
//
//	client   command, schema, bytes, bytes, bytes, end
//	server       without a shape                       schema, batches
//	             with a shape        schema, batches, batches, batches
//
// If the client states the file's size, the parse begins with the first bytes, otherwise with the
// last ones. The same holds for the unpacked size of a packed file. The schema of a table is known
// after its last row. Earlier, rows are sent only if the client passes the shape that an earlier
// exchange returned.
//
// There are three goroutines. This one waits. One receives, since a client may send everything
// before it reads. One parses and answers. The receiving one ends with the call at the latest. So
// does the answering one if it waits for a client that does not read.
func (s *service) DoExchange(stream flight.FlightService_DoExchangeServer) error {
	first, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("exchange: %w", &ticket.Error{Err: errors.New("no message came")})
	}
	if err != nil {
		return err
	}
	x, err := s.exchangeOf(first.GetFlightDescriptor())
	if err != nil {
		return err
	}
	c := callOf(stream.Context())
	c.name = x.Name
	ctx, cancel := context.WithTimeoutCause(stream.Context(), s.cfg.ExchangeTimeout,
		&timeoutError{"exchange", "--exchange-timeout", s.cfg.ExchangeTimeout})
	defer cancel()
	leave, err := s.cfg.Catalog.Admit(ctx)
	if err != nil {
		return err
	}
	up, err := source.NewUpload(x.Name, x.Size, s.cfg.Catalog.Temporary(s.cfg.MaxExchangeBytes))
	if err != nil {
		leave()
		return s.roomError(err)
	}
	up.FailAfter(ctx)
	go func() {
		if err := catchPanic(func() error { return s.receive(x, up, first, stream) }); err != nil {
			up.Fail(err)
		}
	}()
	done, active := make(chan exchangeResult, 1), c.active
	go func() {
		a := &exchangeResponse{service: s, exchange: x, stream: stream, call: call{active: active}}
		err := catchPanic(func() error { return a.run(ctx, up) })
		done <- exchangeResult{err, a.call}
		_ = up.Close() // the file has no name
		leave()
	}()
	select {
	case a := <-done:
		c.rows, c.bytes, c.first, c.sending = a.call.rows, a.call.bytes, a.call.first, a.call.sending
		return a.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// catchPanic returns a panic as an error. No interceptor sees the panics of these goroutines.
func catchPanic(do func() error) (err error) {
	defer func() { err = panicOr(recover(), err) }()
	return do()
}

// exchangeResult is the end of an exchange.
type exchangeResult struct {
	err  error
	call call
}

// timeoutError is the error of a call that took longer than the operator allows.
type timeoutError struct {
	what, flag string
	limit      time.Duration
}

func (e *timeoutError) Error() string {
	return fmt.Sprintf("%s: it took longer than the limit %v of %s", e.what, e.limit, e.flag)
}

func (e *timeoutError) Unwrap() error { return context.DeadlineExceeded }

// idleError is the error of a client that sends nothing although its upload is incomplete.
type idleError struct {
	name  string
	limit time.Duration
}

func (e *idleError) Error() string {
	return fmt.Sprintf("%s: nothing came for %v, and the upload is not ended: end it (done_writing) after its last "+
		"message", e.name, e.limit)
}

func (e *idleError) Unwrap() error { return context.DeadlineExceeded }

// receive writes what a client sends to up, until the file or the call ends, or until an error.
func (s *service) receive(x ticket.Exchange, up *source.Upload, d *flight.FlightData,
	stream flight.FlightService_DoExchangeServer,
) error {
	idle := time.AfterFunc(s.cfg.uploadIdle, func() { up.Fail(&idleError{x.Name, s.cfg.uploadIdle}) })
	defer idle.Stop()
	var in uploads.Bytes
	var n int64
	for {
		b, err := in.Next(d)
		if err != nil {
			return fmt.Errorf("exchange: %w", &ticket.Error{Err: err})
		}
		if n += int64(len(b)); x.Size >= 0 && n > x.Size {
			return sizeError("is %d, and more bytes came", x.Size)
		}
		if _, err := up.Write(b); err != nil {
			return s.roomError(err)
		}
		d, err = stream.Recv()
		idle.Reset(s.cfg.uploadIdle)
		switch {
		case errors.Is(err, io.EOF) && n < x.Size:
			return sizeError("is %d, and %d bytes came", x.Size, n)
		case errors.Is(err, io.EOF):
			up.End()
			return nil
		case err != nil:
			return err
		}
	}
}

// sizeError is the error of a file whose size differs from the one in its command.
func sizeError(format string, args ...any) error {
	return fmt.Errorf("exchange: %w", &ticket.Error{Field: "size", Err: fmt.Errorf(format, args...)})
}

// roomError names the limit that an uploaded file exceeds.
func (s *service) roomError(err error) error {
	var room *source.RoomError
	switch {
	case errors.As(err, &room) && room.Disk != "":
		return &readers.LimitError{
			What: room.Name + ", which is being sent,",
			Flag: "the free room of the disk (--cache-dir)", Limit: room.Limit,
		}
	case errors.As(err, &room):
		return &readers.LimitError{
			What: room.Name + ", which is being sent,", Flag: "--max-exchange-bytes",
			Limit: room.Limit,
		}
	}
	return err
}

// exchangeResponse sends the table of one exchange.
type exchangeResponse struct {
	*service
	exchange ticket.Exchange
	stream   flight.FlightService_DoExchangeServer
	call     call
	table    *catalog.TableRef // nil: rows are sent while they are parsed
	pending  *frame.Frame      // sent after the next frame, or with the metadata at the end
}

func (a *exchangeResponse) run(ctx context.Context, up *source.Upload) error {
	src, err := up.Open()
	if err != nil {
		return err
	}
	var facts exchangeMetadata
	if a.exchange.Shape != nil {
		facts, err = a.sendWhileParsing(ctx, src)
	} else {
		facts, err = a.sendParsed(ctx, src)
		defer a.table.Release()
	}
	if err != nil {
		return err
	}
	if err := up.Wait(); err != nil { // the client may have sent more bytes than the parse needed
		return err
	}
	facts.Rows = a.call.rows
	metadata, err := metadata.Marshal(facts)
	if err != nil {
		return err
	}
	a.pending.AddMetadata(metadata)
	return a.send(a.pending)
}

// exchangeMetadata is app_metadata of the last batch: the properties of the file.
type exchangeMetadata struct {
	metadata.Table
	Rows   int64          `json:"rows"` // number of rows that were sent
	Layers []string       `json:"layers,omitempty"`
	Shape  *readers.Shape `json:"shape,omitempty"` // for later exchanges
}

// sendParsed parses the file, then sends its rows.
func (a *exchangeResponse) sendParsed(ctx context.Context, src *source.File) (f exchangeMetadata, err error) {
	a.table, err = a.cfg.Catalog.Parse(ctx, src, a.exchange.Upload(), a.exchange.Request().Columns)
	if err != nil {
		return f, err
	}
	scan, err := catalog.NewScan(a.table.Table, a.cfg.selection(a.exchange.Ticket))
	if err != nil {
		return f, fmt.Errorf("%s: %w", src.Name, err)
	}
	enc, err := a.sendSchema(scan.Schema())
	if err != nil {
		return f, err
	}
	for {
		rec, err := scan.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return f, err
		}
		if err := sendRecord(enc, rec, &a.call, a.enqueue); err != nil {
			return f, err
		}
	}
	f = exchangeMetadata{Table: metadata.OfTable(a.table.Table, false), Layers: a.table.Table.Summary.Layers}
	if shape, ok := a.cfg.Catalog.OpenShape(a.table); ok {
		f.Shape = &shape
	}
	return f, a.ensureBatch(scan.Schema(), enc)
}

// sendWhileParsing sends rows while the file is parsed.
func (a *exchangeResponse) sendWhileParsing(ctx context.Context, src *source.File) (f exchangeMetadata, err error) {
	schema, err := catalog.StreamSchema(a.exchange.Shape, a.cfg.selection(a.exchange.Ticket))
	if err != nil {
		return f, err
	}
	enc, err := a.sendSchema(schema)
	if err != nil {
		return f, err
	}
	t, err := a.cfg.Catalog.Stream(ctx, src, a.exchange.Upload(), a.exchange.Shape, a.cfg.selection(a.exchange.Ticket),
		func(rec arrow.Record) error {
			return sendRecord(enc, rec, &a.call, a.enqueue)
		})
	if err != nil {
		return f, err
	}
	return exchangeMetadata{Table: metadata.OfTable(t, false), Layers: t.Summary.Layers}, a.ensureBatch(schema, enc)
}

// sendSchema sends the schema.
func (a *exchangeResponse) sendSchema(schema *arrow.Schema) (*frame.Encoder, error) {
	f, err := frame.Schema(schema)
	if err != nil {
		return nil, err
	}
	return frame.NewEncoder(schema, a.exchange.Compression, a.exchange.RowName, a.cfg.MaxMessageBytes), a.send(f)
}

// enqueue sends the pending frame and keeps f in its place. By then the encoder reuses the parts of
// f's body.
func (a *exchangeResponse) enqueue(f *frame.Frame) error {
	before := a.pending
	f.Keep()
	a.pending = f
	if before == nil {
		return nil
	}
	return a.send(before)
}

func (a *exchangeResponse) send(f *frame.Frame) error {
	a.call.bytes += int64(f.Size())
	var release func()
	if a.table != nil {
		release = a.table.Retain()
	}
	f.Bind(wire.Of(a.stream.Context()), release)
	return a.stream.SendMsg(f)
}

// ensureBatch makes an empty batch the last one if there is no other: Arrow's reader for Go refuses
// a message that has only metadata.
func (a *exchangeResponse) ensureBatch(schema *arrow.Schema, enc *frame.Encoder) error {
	if a.pending != nil {
		return nil
	}
	rec := frame.EmptyRecord(schema)
	defer rec.Release()
	return enc.Encode(rec, 0, a.enqueue)
}

// exchangeOf reads the descriptor of a DoExchange and checks it against the formats.
func (s *service) exchangeOf(d *flight.FlightDescriptor) (ticket.Exchange, error) {
	x, err := ticket.ParseExchange(d)
	if err != nil {
		return ticket.Exchange{}, fmt.Errorf("exchange: %w", err)
	}
	if x.Format == "" {
		packing, inner := source.PackingOf(x.Name)
		if packing == source.KMZ {
			inner = "doc.kml"
		}
		if x.Format = s.cfg.Catalog.FormatOf(inner); x.Format == "" {
			return ticket.Exchange{}, fmt.Errorf("exchange: %w", &ticket.Error{
				Field: "format",
				Err:   errors.New("is missing, and no name tells it"),
			})
		}
	}
	var unknown *catalog.UnknownFormatError
	var none *readers.NoLayerError
	switch err := s.cfg.Catalog.CheckSent(x.Upload()); {
	case errors.As(err, &unknown):
		return ticket.Exchange{}, fmt.Errorf("exchange: %w", &ticket.Error{Field: "format", Err: err})
	case errors.As(err, &none):
		return ticket.Exchange{}, fmt.Errorf("exchange: %w",
			&ticket.Error{Field: "layer", Err: fmt.Errorf("files of the format %s have none", x.Format)})
	case err != nil:
		return ticket.Exchange{}, err
	}
	return x, nil
}
