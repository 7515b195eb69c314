package uploads

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight"
)

// recordRules bound the messages of a table. unpacked is the maximum size of a decompressed batch.
func recordRules(unpacked int64) Rules {
	return Rules{Rows: 1<<31 - 1, SchemaBytes: 4 << 20, Fields: 1 << 16, Unpacked: unpacked}
}

// Messages is an upload of a client. Recv returns io.EOF after the last message.
type Messages interface {
	Recv() (*flight.FlightData, error)
}

// MessageError is the error of an invalid message or of its content.
type MessageError struct{ Err error }

func (e *MessageError) Error() string { return e.Err.Error() }

func (e *MessageError) Unwrap() error { return e.Err }

// Records reads the table that a client uploads, for one goroutine.
type Records struct {
	in     *checkedMessages
	r      *flight.Reader
	schema *arrow.Schema
	rec    arrow.Record // that Next returned; nil: none
}

// NewRecords reads the schema. first is the first message of the upload, and more has the others.
// unpacked bounds a decompressed batch. The caller releases the reader. Errors are *MessageError,
// or those of more.
func NewRecords(first *flight.FlightData, more Messages, unpacked int64) (*Records, error) {
	in := &checkedMessages{first: first, more: more, check: Checker{Rules: recordRules(unpacked)}}
	// The first message may have only a descriptor.
	for len(first.GetDataHeader()) == 0 {
		d, err := more.Recv()
		if errors.Is(err, io.EOF) {
			return nil, &MessageError{errors.New("no schema came")}
		}
		if err != nil {
			return nil, err
		}
		first, in.first = d, d
	}
	r, err := flight.NewRecordReader(in)
	if err != nil {
		return nil, in.errorOf(err)
	}
	for _, f := range r.Schema().Fields() {
		if f.Type == nil {
			r.Release()
			return nil, &MessageError{fmt.Errorf("column %q has no type", f.Name)}
		}
	}
	return &Records{in: in, r: r, schema: plainSchema(r.Schema())}, nil
}

// Schema returns the schema of all records, without views.
func (r *Records) Schema() *arrow.Schema { return r.schema }

// Next returns the next record, which is valid until the next call, or io.EOF.
func (r *Records) Next() (arrow.Record, error) {
	r.drop()
	if !r.r.Next() {
		if err := r.in.errorOf(r.r.Err()); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	rec := r.r.Record()
	columns := make([]arrow.Array, rec.NumCols())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, c := range rec.Columns() {
		if c.Len() != int(rec.NumRows()) {
			return nil, &MessageError{fmt.Errorf("column %q has %d rows of %d", rec.ColumnName(i), c.Len(),
				rec.NumRows())}
		}
		err := recoverPanic(func() error {
			d, err := withoutViewsOf(c.Data())
			if err != nil {
				return err
			}
			defer d.Release()
			if err := checkArray(d); err != nil {
				return err
			}
			columns[i] = array.MakeFromData(d)
			return nil
		})
		if err != nil {
			return nil, &MessageError{fmt.Errorf("column %q: %w", rec.ColumnName(i), err)}
		}
	}
	r.rec = array.NewRecord(r.schema, columns, rec.NumRows())
	return r.rec, nil
}

func (r *Records) drop() {
	if r.rec != nil {
		r.rec.Release()
		r.rec = nil
	}
}

// Release releases the reader.
func (r *Records) Release() {
	r.drop()
	r.r.Release()
}

// recoverPanic returns a panic caused by a client's message as an error.
func recoverPanic(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it is malformed: %v", p)
		}
	}()
	return do()
}

// checkedMessages passes messages to Arrow's reader after Check.
type checkedMessages struct {
	first *flight.FlightData // nil after it was returned
	more  Messages
	check Checker
	err   error // the first error; Arrow's reader wraps it
}

// Recv returns the next message. It skips empty ones, which Arrow's reader refuses.
func (c *checkedMessages) Recv() (*flight.FlightData, error) {
	for {
		d := c.first
		c.first = nil
		if d == nil {
			var err error
			if d, err = c.more.Recv(); err != nil {
				if !errors.Is(err, io.EOF) {
					c.err = err
				}
				return nil, err
			}
		}
		kind, _, err := c.check.Check(d)
		if err != nil {
			c.err = &MessageError{err}
			return nil, c.err
		}
		if kind == Nothing {
			continue
		}
		return d, nil
	}
}

// errorOf returns the error of the messages, or that of Arrow's reader about them.
func (c *checkedMessages) errorOf(err error) error {
	switch {
	case c.err != nil:
		return c.err
	case err == nil:
		return nil
	}
	return &MessageError{err}
}
