package sql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/flight"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"google.golang.org/protobuf/proto"

	"github.com/vibeflight/vibeflight/flightsrv/uploads"
)

// Messages is an upload of a client. Recv returns io.EOF after the last message.
type Messages interface {
	Recv() (*flight.FlightData, error)
}

// Put runs the Flight SQL command in the descriptor of the first message: it binds parameters, and
// refuses other commands. It returns the metadata of the answer.
func (s *Server) Put(ctx context.Context, first *flight.FlightData, more Messages) (_ []byte, err error) {
	defer func() {
		if err != nil {
			Drain(more)
		}
	}()
	m, err := commandOf(first.GetFlightDescriptor().GetCmd())
	if err != nil {
		return nil, err
	}
	c, ok := m.(*pb.CommandPreparedStatementQuery)
	if !ok {
		return nil, unsupportedCommand(m)
	}
	s.mu.Lock()
	p, err := s.findPrepared(ctx, c.GetPreparedStatementHandle())
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if err := p.plan.stmt.Authorize(ctx); err != nil {
		return nil, err
	}
	b, err := readParameters(ctx, first, more, p.plan.stmt.Parameters())
	if err != nil {
		return nil, err
	}
	if err := s.bind(p, b); err != nil {
		return nil, err
	}
	return proto.Marshal(&pb.DoPutPreparedStatementResult{PreparedStatementHandle: c.GetPreparedStatementHandle()})
}

// Drain receives the rest of an upload, up to a limit. If a call ends while Arrow's client for Go
// (and ADBC) still sends, that client reports EOF in place of the answer.
func Drain(more Messages) {
	const messages = 64 // of at most 4 MiB
	for range messages {
		if _, err := more.Recv(); err != nil {
			return
		}
	}
}

// checkedMessages passes messages to Arrow's reader after checkMessage.
type checkedMessages struct {
	first *flight.FlightData // nil after it was returned
	more  Messages
	check uploads.Checker
	bytes int64
	rows  int64
	err   error // the first error; Arrow's reader wraps it
}

func (c *checkedMessages) Recv() (*flight.FlightData, error) {
	d, err := c.next()
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return d, err
}

func (c *checkedMessages) next() (*flight.FlightData, error) {
	d := c.first
	c.first = nil
	if d == nil {
		var err error
		if d, err = c.more.Recv(); err != nil {
			return nil, err
		}
	}
	if len(d.GetDataHeader()) == 0 { // only a descriptor or metadata
		return d, nil
	}
	n, err := checkMessage(&c.check, d)
	if err != nil {
		return nil, err
	}
	c.rows += n
	c.bytes += int64(len(d.GetDataHeader()) + len(d.GetDataBody()))
	if c.rows > maxParameterRows || c.bytes > maxParameterBytes {
		return nil, &LimitError{fmt.Sprintf(
			"parameters: %d rows, %d bytes: more than %d rows or %d bytes in one binding", c.rows, c.bytes,
			maxParameterRows, maxParameterBytes,
		)}
	}
	return d, nil
}

// readParameters reads parameters of the given types. The caller releases the binding.
func readParameters(
	ctx context.Context, first *flight.FlightData, more Messages, want *arrow.Schema,
) (_ *binding, err error) {
	in := &checkedMessages{first: first, more: more, check: uploads.Checker{Rules: parameterRules}}
	b := &binding{}
	defer func() {
		if err == nil {
			return
		}
		b.release()
		if in.err != nil {
			err = in.err
		}
	}()
	r, err := flight.NewRecordReader(in)
	if err != nil {
		return nil, &RequestError{"parameters: no schema came", err}
	}
	defer r.Release()
	if err := checkParameters(want, r.Schema()); err != nil {
		return nil, err
	}
	for r.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rec := r.Record()
		for i, c := range rec.Columns() {
			if c.Len() != int(rec.NumRows()) {
				return nil, malformed("parameter %d has %d values, not %d", i+1, c.Len(), rec.NumRows())
			}
			check := checkArray
			if _, ok := c.(array.Union); ok {
				check = uploads.CheckArray
			}
			if err := check(c); err != nil {
				return nil, &RequestError{fmt.Sprintf("parameter %d", i+1), err}
			}
		}
		if rec.NumRows() > 0 {
			rec.Retain()
			b.records = append(b.records, rec)
		}
	}
	if err := r.Err(); err != nil {
		return nil, &RequestError{"parameters", err}
	}
	b.bytes = in.bytes
	return b, nil
}

// checkArray checks that the buffers of a flat array hold all of its values, and that its texts are
// UTF-8.
func checkArray(a arrow.Array) error {
	d, n := a.Data(), a.Len()
	buffers := d.Buffers()
	if a.DataType().ID() == arrow.NULL {
		return nil
	}
	short := errors.New("a buffer is too short")
	if a.NullN() > 0 && (buffers[0] == nil || buffers[0].Len() < int(bitutil.BytesForBits(int64(n)))) {
		return short
	}
	if fixed, ok := a.DataType().(arrow.FixedWidthDataType); ok {
		if bits := int64(n) * int64(fixed.BitWidth()); n > 0 &&
			(buffers[1] == nil || int64(buffers[1].Len()) < bitutil.BytesForBits(bits)) {
			return short
		}
		return nil
	}
	var offsets func(i int) int64
	switch a := a.(type) {
	case *array.String:
		offsets = func(i int) int64 { return int64(a.ValueOffset(i)) }
	case *array.LargeString:
		offsets = a.ValueOffset
	case *array.Binary:
		// ValueOffset excludes the end of the last value
		offsets = func(i int) int64 { return int64(a.ValueOffsets()[i]) }
	case *array.LargeBinary:
		offsets = func(i int) int64 { return a.ValueOffsets()[i] }
	default:
		return fmt.Errorf("a value of type %v can't be bound", a.DataType())
	}
	if n == 0 {
		return nil
	}
	width := int(4)
	if id := a.DataType().ID(); id == arrow.LARGE_STRING || id == arrow.LARGE_BINARY {
		width = 8
	}
	if buffers[1] == nil || buffers[1].Len() < (n+1)*width {
		return short
	}
	last := int64(0)
	for i := range n + 1 {
		at := offsets(i)
		if at < last {
			return fmt.Errorf("offset %d is %d, after %d", i, at, last)
		}
		last = at
	}
	if last > 0 && (buffers[2] == nil || last > int64(buffers[2].Len())) {
		return short
	}
	return checkUTF8(a)
}

func checkUTF8(a arrow.Array) error {
	texts, ok := a.(interface{ Value(int) string })
	if !ok {
		return nil
	}
	for i := range a.Len() {
		if a.IsValid(i) && !utf8.ValidString(texts.Value(i)) {
			return fmt.Errorf("row %d is not UTF-8", i)
		}
	}
	return nil
}
