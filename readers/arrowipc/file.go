package arrowipc

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/records"
	"github.com/vibeflight/vibeflight/readers/source"
)

// file is what is known before any row.
type file struct {
	plan   *records.Plan
	schema message
	to     int64 // latest end of the stream
}

// minRows may be in a batch of any size, since rows of a column of nulls take no bytes.
const minRows = 4 << 20

// open reads the schema. at is the offset of an error.
func (f *file) open(src *source.File) (at int64, err error) {
	from, to, at, err := bounds(src)
	if err != nil {
		return at, err
	}
	f.to = to
	m, ok, err := next(src, from, to)
	if err == nil && !ok {
		err = errors.New("no message: want a schema")
	}
	if err == nil && m.kind != ipc.MessageSchema {
		err = fmt.Errorf("a message of the kind %d: want a schema", m.kind)
	}
	if err != nil {
		return from, err
	}
	f.schema = m
	text := make([]byte, m.length)
	if err := read(src, text, m.metadata); err != nil {
		return from, err
	}
	return from, records.Guard(func() error {
		if err := records.CheckSchema(text); err != nil {
			return err
		}
		schema, err := f.reader(src, &records.Allocator{Most: readers.Limits{}.WithDefaults().Memory})
		if err != nil {
			return err
		}
		f.plan, err = records.NewPlan(schema.Schema())
		return err
	})
}

// reader is Arrow's, after the schema.
func (f *file) reader(src *source.File, room *records.Allocator, messages ...message) (*ipc.Reader, error) {
	return ipc.NewReaderFromMessageReader(&queue{src: src, rest: append([]message{f.schema}, messages...)},
		ipc.WithAllocator(room))
}

// loads returns the record batches.
func (f *file) loads(_ context.Context, src *source.File, limits readers.Limits, _ records.Rows,
	put func(records.Load) error,
) error {
	parser := records.Parser{Format: formatName}
	var series *series // once there is a dictionary
	for at := f.schema.end(); ; {
		m, ok, err := next(src, at, f.to)
		if err != nil {
			return parser.Fault(src, limits, at, err)
		}
		if !ok {
			return nil
		}
		at = m.end()
		if m.length+m.body > limits.Memory/2 {
			return &readers.LimitError{What: fmt.Sprintf("%s: what the message at byte %d takes in memory",
				src.Name, m.at), Flag: "--memory", Limit: limits.Memory}
		}
		switch m.kind {
		case ipc.MessageDictionaryBatch:
			if series == nil {
				series = f.series(src, limits)
			}
			series.queue.rest = append(series.queue.rest, m)
		case ipc.MessageRecordBatch:
			load := records.Load{From: m.at, Bytes: m.length + m.body}
			if series == nil {
				load.Do = func() (records.Batch, error) { return f.alone(src, limits, m) }
			} else {
				// One after the other: a dictionary is that of the batches after it.
				batch, err := series.next(m)
				if err != nil {
					return parser.Fault(src, limits, m.at, err)
				}
				load.Do = func() (records.Batch, error) { return batch, nil }
			}
			if err := put(load); err != nil {
				return err
			}
		default:
			return parser.Fault(src, limits, m.at,
				fmt.Errorf("a message of the kind %d: want a dictionary or a record batch", m.kind))
		}
	}
}

// alone reads a batch of a file without dictionaries.
func (f *file) alone(src *source.File, limits readers.Limits, m message) (records.Batch, error) {
	room := &records.Allocator{Most: limits.Memory / 2}
	r, err := f.reader(src, room, m)
	if err != nil {
		return records.Batch{}, err
	}
	defer r.Release()
	return batchOf(r, m, room)
}

// batchOf returns the next batch of a reader.
func batchOf(r *ipc.Reader, m message, room *records.Allocator) (records.Batch, error) {
	if !r.Next() {
		if err := r.Err(); err != nil {
			return records.Batch{}, err
		}
		return records.Batch{}, errors.New("no record batch")
	}
	rec := r.Record()
	n := rec.NumRows()
	if n < 0 || n > max(minRows, 8*(room.Used()+m.body)) {
		return records.Batch{}, fmt.Errorf("%d rows in a batch of %d bytes", n, m.body)
	}
	b := records.Batch{Rows: int(n), From: m.at, To: m.end(), Arrays: make([]arrow.ArrayData, rec.NumCols())}
	for i, a := range rec.Columns() {
		a.Data().Retain()
		b.Arrays[i] = a.Data()
	}
	return b, nil
}

// series reads batches one after the other, with the dictionaries between them.
type series struct {
	queue  *queue
	room   *records.Allocator
	reader *ipc.Reader
}

func (f *file) series(src *source.File, limits readers.Limits) *series {
	return &series{
		queue: &queue{src: src, rest: []message{f.schema}},
		room:  &records.Allocator{Most: limits.Memory / 2},
	}
}

func (s *series) next(m message) (b records.Batch, err error) {
	err = records.Guard(func() error {
		s.queue.rest = append(s.queue.rest, m)
		if s.reader == nil {
			if s.reader, err = ipc.NewReaderFromMessageReader(s.queue, ipc.WithAllocator(s.room)); err != nil {
				return err
			}
		}
		s.room.Reset()
		b, err = batchOf(s.reader, m, s.room)
		return err
	})
	return b, err
}
