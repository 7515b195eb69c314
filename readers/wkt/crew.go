package wkt

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/window"
)

// crew reads one file with several workers.
type crew struct {
	ctx     context.Context
	cpu     parser
	req     readers.Request
	lead    *scanner // that found the first row, and gets what all of them learned
	from    int64    // where that is
	batcher *readers.Batcher
	sinks   rows.Lent[*rows.Sink]
	cards   *device.File // nil: without
	known   atomic.Int32 // SRID of the parts that were taken, 0 if they have none
}

func newCrew(ctx context.Context, c parser, req readers.Request, lead *scanner, from int64) *crew {
	w := &crew{ctx: ctx, cpu: c, req: req, lead: lead, from: from}
	if c.device != nil {
		w.cards = c.device.File(ctx, lead.Src)
	}
	w.sinks.New = rows.NewSink
	w.batcher = readers.NewBatcher(ctx, c, lead.Src, req.Span.Row, req.Span.To, req.Limits, lead.emit)
	w.batcher.Inline = w.cards == nil
	return w
}

// read reads the rows, and waits for all chunks.
func (w *crew) read() error {
	s, reader := w.lead, w.reader
	if w.cards != nil {
		reader = w.deviceReader
	}
	parts := readers.Parts{
		From: w.from, To: s.End, Row: s.row, Size: s.limits.PartBytes, Workers: s.limits.Workers,
		Reader: reader,
	}
	if _, _, err := parts.Read(w.ctx, w.take); err != nil {
		return err
	}
	return w.batcher.Finish()
}

// take puts a part that is known to be right behind the ones before.
func (w *crew) take(p readers.Part) error {
	s := w.lead
	srid, closed := unpack(p.State)
	if srid != 0 {
		if s.known != 0 && s.known != srid {
			return rows.Refuse(w.reader(), p, s.row)
		}
		s.known = srid
		w.known.Store(srid)
	}
	if p.Columns != nil {
		s.closed = closed
	}
	s.row += p.Rows
	s.sum.Add(&p.Summary)
	p.State = 0
	return w.batcher.Add(p)
}

// pack is what a part found, as its State carries it to take: the SRID of its rows, and whether
// more than the end of the file ends the last one.
func pack(srid int32, closed bool) uint64 {
	state := uint64(srid) << 1
	if closed {
		state |= 1
	}
	return state
}

func unpack(state uint64) (srid int32, closed bool) { return int32(state >> 1), state&1 != 0 }

// partReader reads parts of the file for one worker.
type partReader struct {
	*crew
	s      *scanner
	limits readers.Limits
	rows   readers.Chunk // of the part at hand
}

func (w *crew) reader() readers.PartReader {
	r := &partReader{crew: w, s: w.cpu.scanner(w.req)}
	r.limits = r.s.limits.Unbatched()
	r.s.emit = func(c readers.Chunk) error {
		r.rows = c
		return nil
	}
	return r
}

// Guess reads the rows between two offsets, from what seems to be the first one on.
func (r *partReader) Guess(from, stop int64) readers.Part {
	r.s.limits = r.limits.Guessed()
	back := min(from-r.from, lookBack)
	p := -1
	if r.open(from-back, stop, 0) {
		p = 0
		if back > 0 {
			p = r.find(int(back) - 1)
		}
	}
	return r.read(p, 0)
}

// lookBack is how many bytes before a guess show whether ";" ends an SRID.
const lookBack = 16

// Read reads the rows between two offsets; at the first one a row begins, or should.
func (r *partReader) Read(from, stop, row int64) (readers.Part, error) {
	r.s.limits = r.limits
	p := -1
	if r.open(from, stop, row) {
		p = 0
	}
	part := r.read(p, row)
	if part.Failed {
		return part, r.s.error()
	}
	return part, nil
}

func (r *partReader) open(from, stop, row int64) bool {
	s := r.s
	s.sink = r.sinks.Take()
	s.sum = readers.Summary{Foreign: map[string]int64{}}
	s.known, s.stop, s.closed = r.known.Load(), stop, false
	r.rows = readers.Chunk{}
	return s.open(r.ctx, r.lead.Src, from, r.lead.End, row, cmp.Or(r.cpu.readBytes, window.Bytes))
}

// find gives the index of the first letter behind something that stands at index first or further
// on and ends a row, or -1: there begins a row, or a line inside of one.
func (r *partReader) find(first int) int {
	s := r.s
	for p, digit := 0, false; ; { // whether the last byte that is not blank is a digit: then ";" ends an SRID
		for ; p < s.N; p++ {
			c := byteAt(s.Q, p)
			if p >= first && (c == '\n' || c == '\r' || c == ';' && !digit) {
				if p = s.between(p); p < 0 || s.Base+int64(p) >= s.stop {
					return -1
				}
				first = 0
				if c = byteAt(s.Q, p); isLetter(c) {
					return p
				}
			}
			if !isBlank(c) {
				digit = c-'0' < 10
			}
		}
		if s.EOF || s.Base+int64(p) >= s.stop {
			return -1
		}
		first = max(0, first-s.N)
		if p = s.refill(s.N); p < 0 {
			return -1
		}
	}
}

// read reads the part from the row at p on, which is row number row; p < 0 is a part that failed.
func (r *partReader) read(p int, row int64) readers.Part {
	s := r.s
	start := s.Base + int64(p)
	if p < 0 || !s.rows(p) {
		r.sinks.Give(s.sink)
		return readers.Part{Failed: true}
	}
	part := r.sinks.Part(s.sink, r.rows, start, s.next)
	part.End, part.Rows, part.State, part.Summary = !s.stopped, s.row-row, pack(s.known, s.closed), s.sum
	part.Summary.Deviations.Shift(-row)
	part.Summary.BytesRead = s.Read
	return part
}
