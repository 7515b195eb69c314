package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/uploads"
	"github.com/vibeflight/vibeflight/flightsrv/wire"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// uploadIdle is how long a client may send nothing before its file or its table is whole.
const uploadIdle = time.Minute

// DoExchange parses the file that a client sends, and gives its table back. Nothing of either
// stays.
//
//	client   command, schema, bytes, bytes, bytes, end
//	server       without a shape                       schema, batches
//	             with a shape        schema, batches, batches, batches
//
// With the size of the file the parse begins with the first bytes, else with the last one; that of
// a packed file likewise. A table has no schema before its last row is known, so rows go out before
// that only if the client says of which shape they are, as an earlier exchange has told it.
//
// Three goroutines: this one waits; one takes what comes, since a client may send all before it
// reads anything; one parses and answers. The first ends with the call at the latest, and so does
// the third, if it waits for a client that does not read.
func (s *service) DoExchange(stream flight.FlightService_DoExchangeServer) error {
	first, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("exchange: %w", &TicketError{Err: errors.New("no message came")})
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
		if err := noPanic(func() error { return s.receive(x, up, first, stream) }); err != nil {
			up.Fail(err)
		}
	}()
	done := make(chan answered, 1)
	go func() {
		a := &answer{service: s, exchange: x, stream: stream}
		err := noPanic(func() error { return a.run(ctx, up) })
		done <- answered{err, a.call}
		_ = up.Close() // of a file without a name
		leave()
	}()
	select {
	case a := <-done:
		c.rows, c.bytes = a.call.rows, a.call.bytes
		return a.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// noPanic gives a panic, which nobody else would catch, as an error.
func noPanic(do func() error) (err error) {
	defer func() { err = caught(recover(), err) }()
	return do()
}

// answered is how an answer ended.
type answered struct {
	err  error
	call call
}

// timeoutError says that a call took longer than the operator allows.
type timeoutError struct {
	what, flag string
	limit      time.Duration
}

func (e *timeoutError) Error() string {
	return fmt.Sprintf("%s: it took longer than the limit %v of %s", e.what, e.limit, e.flag)
}

func (e *timeoutError) Unwrap() error { return context.DeadlineExceeded }

// idleError says that a client sends nothing although its file is not whole.
type idleError struct {
	name  string
	limit time.Duration
}

func (e *idleError) Error() string {
	return fmt.Sprintf("%s: nothing came for %v, and the upload is not ended: end it (done_writing) behind its last "+
		"message", e.name, e.limit)
}

func (e *idleError) Unwrap() error { return context.DeadlineExceeded }

// receive writes what a client sends to up, until it ends the file, the call ends, or something is
// wrong.
func (s *service) receive(x Exchange, up *source.Upload, d *flight.FlightData,
	stream flight.FlightService_DoExchangeServer,
) error {
	idle := time.AfterFunc(s.cfg.uploadIdle, func() { up.Fail(&idleError{x.Name, s.cfg.uploadIdle}) })
	defer idle.Stop()
	var in uploads.Bytes
	var n int64
	for {
		b, err := in.Next(d)
		if err != nil {
			return fmt.Errorf("exchange: %w", &TicketError{Err: err})
		}
		if n += int64(len(b)); x.Size >= 0 && n > x.Size {
			return fmt.Errorf("exchange: %w", &TicketError{"size", fmt.Errorf("is %d, and more bytes came", x.Size)})
		}
		if _, err := up.Write(b); err != nil {
			return s.roomError(err)
		}
		d, err = stream.Recv()
		idle.Reset(s.cfg.uploadIdle)
		switch {
		case errors.Is(err, io.EOF) && n < x.Size:
			return fmt.Errorf("exchange: %w", &TicketError{"size", fmt.Errorf("is %d, and %d bytes came", x.Size, n)})
		case errors.Is(err, io.EOF):
			up.End()
			return nil
		case err != nil:
			return err
		}
	}
}

// roomError says which limit a file passes that a client sends.
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

// answer sends the table of one exchange.
type answer struct {
	*service
	exchange Exchange
	stream   flight.FlightService_DoExchangeServer
	call     call
	held     *catalog.TableRef // nil: rows are sent while they are parsed
	last     *frame            // goes out with what is known at the end
}

func (a *answer) run(ctx context.Context, up *source.Upload) error {
	src, err := up.Open()
	if err != nil {
		return err
	}
	var facts answerFacts
	if a.exchange.Shape != nil {
		facts, err = a.streamed(ctx, src)
	} else {
		facts, err = a.whole(ctx, src)
		defer a.held.Release()
	}
	if err != nil {
		return err
	}
	if err := up.Wait(); err != nil { // more bytes than the parse wanted may have come
		return err
	}
	facts.Rows = a.call.rows
	metadata, err := jsonBody(facts)
	if err != nil {
		return err
	}
	a.last.addMetadata(metadata)
	return a.send(a.last)
}

// answerFacts is app_metadata of the last batch: what is known of the file beside its rows.
type answerFacts struct {
	facts
	Rows   int64          `json:"rows"` // that were sent
	Layers []string       `json:"layers,omitempty"`
	Shape  *readers.Shape `json:"shape,omitempty"` // for later exchanges
}

// whole parses the file, then sends its rows.
func (a *answer) whole(ctx context.Context, src *source.File) (f answerFacts, err error) {
	a.held, err = a.cfg.Catalog.Parse(ctx, src, a.exchange.sent(), a.exchange.request().Columns)
	if err != nil {
		return f, err
	}
	scan, err := catalog.NewScan(a.held.Table, a.cfg.selection(a.exchange.Ticket))
	if err != nil {
		return f, fmt.Errorf("%s: %w", src.Name, err)
	}
	enc, err := a.begin(scan.Schema())
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
		if err := sendRecord(enc, rec, &a.call, a.put); err != nil {
			return f, err
		}
	}
	f = answerFacts{facts: factsOf(a.held.Table, false), Layers: a.held.Table.Summary.Layers}
	if shape, ok := a.cfg.Catalog.OpenShape(a.held); ok {
		f.Shape = &shape
	}
	return f, a.atLeastOne(scan.Schema(), enc)
}

// streamed sends rows as they are parsed.
func (a *answer) streamed(ctx context.Context, src *source.File) (f answerFacts, err error) {
	schema, err := catalog.StreamSchema(a.exchange.Shape, a.cfg.selection(a.exchange.Ticket))
	if err != nil {
		return f, err
	}
	enc, err := a.begin(schema)
	if err != nil {
		return f, err
	}
	t, err := a.cfg.Catalog.Stream(ctx, src, a.exchange.sent(), a.exchange.Shape, a.cfg.selection(a.exchange.Ticket),
		func(rec arrow.Record) error {
			return sendRecord(enc, rec, &a.call, a.put)
		})
	if err != nil {
		return f, err
	}
	return answerFacts{facts: factsOf(t, false), Layers: t.Summary.Layers}, a.atLeastOne(schema, enc)
}

// begin sends the schema.
func (a *answer) begin(schema *arrow.Schema) (*encoder, error) {
	f, err := schemaFrame(schema)
	if err != nil {
		return nil, err
	}
	return newEncoder(schema, a.exchange.Compression, a.exchange.rowName, a.cfg.MaxMessageBytes), a.send(f)
}

// put sends a frame when the next one is there. The encoder uses the parts of its body again by
// then.
func (a *answer) put(f *frame) error {
	before := a.last
	f.body = slices.Clone(f.body)
	a.last = f
	if before == nil {
		return nil
	}
	return a.send(before)
}

func (a *answer) send(f *frame) error {
	a.call.bytes += int64(f.size())
	f.over = wire.Of(a.stream.Context())
	if a.held != nil {
		f.release = a.held.Retain()
	}
	return a.stream.SendMsg(f)
}

// atLeastOne makes a batch without rows the last one where there is no other: Arrow's reader for Go
// takes no message of metadata alone.
func (a *answer) atLeastOne(schema *arrow.Schema, enc *encoder) error {
	if a.last != nil {
		return nil
	}
	rec := emptyRecord(schema)
	defer rec.Release()
	return enc.encode(rec, 0, a.put)
}
