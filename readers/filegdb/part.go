package filegdb

import (
	"errors"
	"fmt"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// partReader reads parts of a layer, for one goroutine.
type partReader struct {
	*job
	rows   *rows
	values [][]byte
	pooled bool // memory of parts is reused
}

// reader returns a reader whose parts keep their memory.
func (j *job) reader() *partReader {
	return &partReader{job: j, rows: j.table.rows(j.ctx, j.limits, j.step), values: make([][]byte, len(j.fields))}
}

// pooledReader returns a reader whose parts return their memory.
func (j *job) pooledReader() *partReader {
	r := j.reader()
	r.pooled = true
	return r
}

// Guess reads the rows of the slots between two offsets. Slots are known, so it is never wrong.
func (r *partReader) Guess(from, stop int64) readers.Part {
	part, err := r.Read(from, stop, 0)
	if err != nil {
		return readers.Part{Failed: true}
	}
	return part
}

// Read reads the rows of the slots between two offsets, the first of which is row number row.
func (r *partReader) Read(from, stop, row int64) (readers.Part, error) {
	stop = min(stop, r.slots)
	s, ok := r.sinks.Take()
	if !ok || !r.pooled {
		s = r.newSink(r.pooled)
	}
	s.reset()
	before := r.rows.window.read + r.rows.read
	numbered, next := row, stop
	err := r.rows.each(from, stop, func(slot, at int64, b []byte, bad error) error {
		if r.pooled && s.full() {
			next = slot
			return errFull
		}
		err := r.row(s, slot, at, numbered, b, bad)
		numbered++
		return err
	})
	if errors.Is(err, errFull) {
		err = nil
	}
	var columns *geoarrow.Columns
	if err == nil {
		if columns, err = s.finish(); err != nil {
			err = fmt.Errorf("%s: the rows from %d on: %w", r.src.Name, row, err)
		}
	}
	if err != nil {
		if r.pooled {
			r.sinks.Give(s)
		}
		return readers.Part{}, err
	}
	part := readers.Part{
		Start: from, Next: next, To: next, End: next == r.slots, Columns: columns, Starts: s.starts,
		SiblingBytes: s.bytes, Rows: numbered - row, Summary: s.sum, Release: func() {},
	}
	part.Summary.Deviations.Shift(-row)
	part.Summary.BytesRead = r.rows.window.read + r.rows.read - before
	part.Summary.UnclosedRings, part.Summary.ShortRings, part.Summary.ShortLines = s.decoder.unclosed,
		s.decoder.shortRings, s.decoder.shortLines
	if r.pooled {
		part.Release = func() { r.sinks.Give(s) }
	}
	return part, nil
}

// A part ends early if its rows have this many bytes or cells: rows may be much longer than on average.
const (
	fullBytes = 16 << 20
	fullCells = 1 << 22
)

var errFull = errors.New("the part is full")

func (s *sink) full() bool {
	return s.n > 0 && (s.bytes[s.n-1] >= fullBytes || s.n*len(s.columns) >= fullCells)
}

// sink collects the rows of a part.
type sink struct {
	memory  geoarrow.Arena
	geom    geoarrow.GeometryBuilder
	bare    bool // rows have no geometry
	decoder decoder
	columns []*column

	n      int     // rows
	starts []int64 // slots
	bytes  []int64 // of the rows up to and including each one
	sum    readers.Summary
}

func (j *job) newSink(lend bool) *sink {
	requested := j.parser.layout.Columns
	s := &sink{columns: j.newColumns(requested), bare: j.geometry < 0}
	s.memory.Lend = lend
	s.geom.Memory, s.geom.Unread = &s.memory, !requested.Geometry()
	if !s.bare {
		s.decoder = decoder{
			geometryField: j.fields[j.geometry].geometry, geom: &s.geom,
			linearize: j.parser.layout.Options.Get(optionCurves) == curvesLinearize,
		}
	}
	s.reset()
	return s
}

// reset drops the part.
func (s *sink) reset() {
	for _, c := range s.columns {
		c.reset()
	}
	s.geom.Reset()
	s.decoder.unclosed, s.decoder.shortRings, s.decoder.shortLines = 0, 0, 0
	s.n, s.starts, s.bytes, s.sum = 0, s.starts[:0], s.bytes[:0], readers.Summary{}
}

// finish returns the columns of the part.
func (s *sink) finish() (*geoarrow.Columns, error) {
	out := &geoarrow.Columns{Rows: s.n, Attributes: make([]geoarrow.Column, len(s.columns))}
	for i, c := range s.columns {
		if len(c.values) > maxBatchBytes {
			return nil, geoarrow.ErrBatchTooLarge
		}
		out.Attributes[i] = c.finish()
	}
	if s.bare {
		return out, nil
	}
	var err error
	out.Geometry, err = s.geom.Finish()
	return out, err
}

const maxBatchBytes = 1<<31 - 1

// Rules of deviations, under on_error: null and repair.
const (
	ruleValue    = "bad-value"
	ruleRow      = "bad-row"
	ruleGeometry = "bad-geometry"
)

// row adds the row of a slot, at an offset of the table. bad is the defect of its place or length.
func (r *partReader) row(s *sink, slot, at, number int64, b []byte, bad error) error {
	first := at + lengthBytes
	if bad != nil {
		first = at
	}
	if limit := (*readers.LimitError)(nil); errors.As(bad, &limit) {
		return limit
	}
	var broken *fault
	if bad == nil {
		broken = r.split(b, r.values)
	} else {
		broken = &fault{err: bad}
		clear(r.values)
	}
	if broken != nil {
		if !r.nulls {
			return r.malformed(s, slot, first, number, broken)
		}
		done := "the values from here on are null"
		if bad != nil {
			done = "all values are null"
		}
		s.deviate(first, number, broken, ruleRow, done)
	}
	for _, c := range s.columns {
		value := r.values[c.index]
		err := c.add(value)
		if err == nil {
			continue
		}
		f := (&fault{err: err}).in(c.field.name, place(b, value))
		if !r.nulls {
			return r.malformed(s, slot, first, number, f)
		}
		c.null()
		s.deviate(first, number, f, ruleValue, "value is null")
	}
	if !s.bare {
		if f := r.geometryOf(s, b, first, number); f != nil {
			return r.malformed(s, slot, first, number, f)
		}
	}
	s.n++
	s.starts = append(s.starts, slot)
	total := int64(lengthBytes + len(b))
	if n := len(s.bytes); n > 0 {
		total += s.bytes[n-1]
	}
	s.bytes = append(s.bytes, total)
	return nil
}

// geometryOf adds the geometry of the current row.
func (r *partReader) geometryOf(s *sink, b []byte, first, number int64) *fault {
	value := r.values[r.geometry]
	if len(value) == 0 {
		s.geom.Null()
		return nil
	}
	d := &s.decoder
	mark := s.geom.Mark()
	unclosed, rings, lines := d.unclosed, d.shortRings, d.shortLines
	f := d.add(value)
	if f == nil {
		return nil
	}
	s.geom.Rewind(mark)
	d.unclosed, d.shortRings, d.shortLines = unclosed, rings, lines
	f.at += place(b, value)
	if !r.nulls {
		return f
	}
	s.geom.Null()
	s.deviate(first, number, f, ruleGeometry, "geometry is null")
	return nil
}

// place returns the index of a value in the row that it is part of.
func place(row, value []byte) int {
	if value == nil {
		return 0
	}
	return cap(row) - cap(value)
}

// malformed undoes the current row. It returns an error unless the row may be skipped.
func (r *partReader) malformed(s *sink, slot, first, number int64, f *fault) error {
	for _, c := range s.columns {
		c.truncate(s.n)
	}
	s.geom.Undo()
	if errors.Is(f.err, geoarrow.ErrBatchTooLarge) {
		return f.err
	}
	if r.skip {
		s.sum.Skipped.Count++
		if len(s.sum.Skipped.First) < readers.MaxSkippedOffsets {
			s.sum.Skipped.First = append(s.sum.Skipped.First, first)
		}
		return nil
	}
	f.err = fmt.Errorf("OBJECTID %d: %w", r.objectID(slot), f.err)
	e := errorAt(r.file, first+int64(f.at), number, f)
	e.Mode = "null"
	return e
}

func (s *sink) deviate(first, number int64, f *fault, rule, done string) {
	s.sum.Deviations.Add(readers.Deviation{
		Offset: first + int64(f.at), Row: number, Field: f.field, Rule: rule, Done: done,
	})
}
