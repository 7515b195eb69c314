package csv

import (
	"cmp"
	"context"

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
	lead    *scanner // that found the first record, and gets what all of them learned
	from    int64    // where that is
	batcher *readers.Batcher
	sinks   rows.Lent[*sink]
	cards   *device.File // nil: without
}

func newCrew(ctx context.Context, c parser, req readers.Request, lead *scanner, from int64) *crew {
	w := &crew{ctx: ctx, cpu: c, req: req, lead: lead, from: from}
	if c.device != nil {
		w.cards = c.device.File(ctx, lead.Src)
	}
	w.sinks.New = func() *sink { return newSink(c.dialect, c.columns) }
	w.sinks.Learn(lead.sink.Text)
	w.batcher = readers.NewBatcher(ctx, c, lead.Src, req.Span.Row, req.Span.To, req.Limits, lead.emit)
	w.batcher.Inline = w.cards == nil
	return w
}

// read reads the records, and waits for all chunks.
func (w *crew) read() error {
	s := w.lead
	reader := w.reader
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
		if s.srid != 0 && s.srid != srid {
			return rows.Refuse(w.reader(), p, s.row)
		}
		s.srid = srid
	}
	if p.Rows > 0 {
		s.closed = closed
	}
	s.row += p.Rows
	s.sum.Add(&p.Summary)
	w.sinks.Learn(p.Text)
	p.State = 0
	return w.batcher.Add(p)
}

// pack is what a part found, as its State carries it to take: the SRID of its records, and whether
// more than the end of the file ends the last one.
func pack(srid int32, closed bool) uint64 {
	state := uint64(uint32(srid)) << 1
	if closed {
		state |= 1
	}
	return state
}

func unpack(state uint64) (srid int32, closed bool) { return int32(uint32(state >> 1)), state&1 != 0 }

// partReader reads parts of the file for one worker.
type partReader struct {
	*crew
	s    *scanner
	rows readers.Chunk // of the part at hand
}

func (w *crew) reader() readers.PartReader {
	r := &partReader{crew: w, s: w.cpu.scanner(w.req)}
	r.s.limits = r.s.limits.Unbatched()
	r.s.emit = func(c readers.Chunk) error {
		r.rows = c
		return nil
	}
	return r
}

// mostTries is how many lines a guess looks at for one that is a record: inside of a text of many
// lines none is. It reads no more than patience times the bytes of a part: what seems to be a
// record may have no end.
const (
	mostTries = 64
	patience  = 4
)

// guessBytes is how long a record of a guess may be. A longer one is read where it is known to be
// one.
func (r *partReader) guessBytes() int64 {
	return min(r.s.limits.MaxFeatureBytes, patience*r.s.limits.PartBytes+window.Bytes)
}

// Guess reads the records between two offsets, from the first line on that is a record. Whether it
// stands inside of quotes is not known.
func (r *partReader) Guess(from, stop int64) readers.Part {
	first := from == r.from
	if !first {
		from-- // this byte may end a line
	}
	if !r.open(from, stop, 0, 0) {
		return r.read(-1, 0)
	}
	r.s.Most = r.guessBytes()
	if first {
		return r.read(0, 0)
	}
	return r.read(r.find(0), 0)
}

// Read reads the records between two offsets; at the first one a record begins, or should. It is
// called where parts are taken, so what the lead knows is what stands before.
func (r *partReader) Read(from, stop, row int64) (readers.Part, error) {
	p := -1
	if r.open(from, stop, row, r.lead.srid) {
		p = 0
	}
	part := r.read(p, row)
	if part.Failed {
		return part, r.s.failure()
	}
	return part, nil
}

// open has the reader begin at an offset, with record number row, behind records of an SRID, 0
// where they have none or nobody knows.
func (r *partReader) open(from, stop, row int64, srid int32) bool {
	s := r.s
	s.sink = r.sinks.Take()
	s.sum = readers.Summary{}
	s.srid, s.stop = srid, stop
	r.rows = readers.Chunk{}
	return s.open(r.ctx, r.lead.Src, from, r.lead.End, row, cmp.Or(r.cpu.readBytes, window.Bytes))
}

// find gives the index of the first line behind one that ends at p or behind, of which the first
// record can be read; or -1.
func (r *partReader) find(p int) int {
	s := r.s
	for range mostTries {
		if p = s.line(p); p < 0 || s.Base+int64(p) >= s.stop {
			return -1
		}
		at := s.Base + int64(p)
		end := s.record(p)
		good := end >= 0
		s.sink.Reset()
		s.row, s.srid, s.chunk, s.closed = 0, 0, readers.Span{}, true
		if s.err != nil || s.Read > r.guessBytes() && !good {
			return -1
		}
		if p = s.MoveTo(at); p < 0 || good {
			return p
		}
	}
	return -1
}

// line gives the index of the first line that begins behind a line end at p or behind, or -1.
func (s *scanner) line(p int) int {
	for {
		for ; p < s.N; p++ {
			if s.class[s.At(p)] == classLineEnd {
				if p = s.lineEnds(p); p == s.N {
					return -1
				}
				return p
			}
		}
		if s.EOF || s.Base+int64(p) >= s.stop {
			return -1
		}
		if p = s.refill(s.N); p < 0 {
			return -1
		}
	}
}

// read reads the part from the record at p on, which is record number row; p < 0 is a part that
// failed.
func (r *partReader) read(p int, row int64) readers.Part {
	s := r.s
	start := s.Base + int64(p)
	if p < 0 || !s.records(p) {
		r.sinks.Give(s.sink)
		return readers.Part{Failed: true}
	}
	part := r.sinks.Part(s.sink, r.rows, start, s.next)
	part.End, part.Rows, part.State, part.Summary = !s.stopped, s.row-row, pack(s.srid, s.closed), s.sum
	part.Summary.Deviations.Shift(-row)
	part.Summary.BytesRead = s.Read
	return part
}
