package wkt

import (
	"context"
	"fmt"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/source"
)

// scanner is one run of the CPU parser over a file. Its methods return the index after what they
// read, or -1 with fault or err set.
type scanner struct {
	window.Window
	text       // of the window
	limits     readers.Limits
	skipErrors bool
	nulls      bool // a malformed row is null
	repairs    bool // a defect that has one obvious reading is read that way
	emit       func(readers.Chunk) error
	err        error // of the window, of emit or of a chunk: not a fault of the text

	sink    *rows.Sink
	chunk   readers.Span
	sum     readers.Summary
	row     int64 // number of the current row
	stop    int64 // rows that begin here or later are not read
	stopped bool  // the last reading ended because of stop
	next    int64 // offset of the current row, or of the end of the file
	closed  bool  // the last row ended before the end of the file
	known   int32 // SRID of earlier rows, 0 if they have none
}

// open moves the scanner to an offset, where row number row begins.
func (s *scanner) open(ctx context.Context, src *source.File, from, end, row int64, step int) bool {
	s.row, s.chunk, s.fault, s.err, s.stopped = row, readers.Span{Row: row}, fault{}, nil, false
	if !s.Open(ctx, src, from, s.stop, end, s.limits.MaxFeatureBytes, step) {
		s.err = s.Err
	}
	return s.err == nil
}

// refill reads more of the file after index p, which becomes index 0. It returns -1 with err set
// if it can't.
func (s *scanner) refill(p int) int {
	if !s.Fill(p) {
		s.err = s.Err
		return -1
	}
	return 0
}

// rows reads the rows from p on, with the text between them, and emits them in chunks.
func (s *scanner) rows(p int) bool {
	for {
		if p = s.between(p); p < 0 {
			return false
		}
		s.next = s.Base + int64(p)
		s.stopped = p < s.N && s.next >= s.stop
		over := p == s.N || s.stopped
		if (over || s.full()) && !s.end() {
			return false
		}
		if over {
			return true
		}
		if p = s.readRow(p); p < 0 {
			return false
		}
	}
}

// between skips the text between rows, over any number of windows.
func (s *scanner) between(p int) int {
	q := s.Q
	for {
		for isBlank(byteAt(q, p)) || byteAt(q, p) == ';' {
			p++
		}
		if p < s.N || s.EOF {
			return p
		}
		if p = s.refill(s.N); p < 0 {
			return -1
		}
		q = s.Q
	}
}

// readRow reads the row at p, and counts it.
func (s *scanner) readRow(p int) int {
	for {
		at := s.Base + int64(p)
		g, end := s.try(p)
		switch {
		case s.tooLong(p, end):
			return -1
		case end >= 0 && !s.conflict(p, g.SRID):
			s.commit(g, at)
			s.closed = end < s.N
			return end
		}
		s.sink.Rollback()
		if s.fault.seen >= s.N && !s.EOF { // the rest of the row may be after the window
			s.sink.Foresee(s.Base+int64(p)-s.chunk.From, min(s.End, s.stop)-s.chunk.From, s.limits.BatchRows)
			if p = s.refill(p); p < 0 {
				return -1
			}
			continue
		}
		if s.fault.depth || s.fault.file || !s.skipErrors && !s.nulls {
			s.conflict(p, g.SRID) // it comes before other faults
			return -1
		}
		if s.repairs {
			again, end := s.repair(p, at)
			if again && s.err == nil {
				if p = s.refill(p); p >= 0 {
					continue
				}
			}
			if end >= 0 || s.err != nil || s.fault.file {
				return end
			}
		}
		return s.malformed(p, at)
	}
}

// malformed skips the malformed row at p, which began at an offset, or makes it null.
func (s *scanner) malformed(p int, at int64) int {
	fault := s.Base + int64(min(s.fault.pos, s.N))
	if p = s.rowEnd(p); p < 0 {
		return -1
	}
	s.closed = p < s.N
	if s.skipErrors {
		s.sink.Skip(at)
		s.row++
		return p
	}
	s.sink.Deviate(readers.Deviation{
		Offset: fault, Row: s.row, Field: "geometry", Rule: ruleGeometry,
		Done: "value is null",
	})
	s.commit(Geometry{}, at)
	return p
}

// conflict refuses the SRID of the row at p if earlier rows have another one. Skipped rows don't
// count.
func (s *scanner) conflict(p int, srid int32) bool {
	if srid == 0 || s.known == 0 || srid == s.known {
		return false
	}
	s.wrong(p, p, fmt.Sprintf("SRID %d, while the rows before have %d: a table has one coordinate reference system",
		srid, s.known))
	s.fault.file = true
	return true
}

// commit ends the current row, which began at an offset. NULL has no kind.
func (s *scanner) commit(g Geometry, at int64) {
	if s.sink.Rows == 0 {
		s.chunk.From = at
	}
	if g.Kind == geoarrow.NoKind {
		s.geom.Null()
	} else {
		End(s.geom, g.Kind)
	}
	if g.SRID != 0 {
		s.known = g.SRID
	}
	s.sink.Commit(at)
	s.row++
}

// try reads the row at p through its end, and leaves it open.
func (s *scanner) try(p int) (g Geometry, end int) {
	s.begin(s.Q, s.limits.MaxDepth)
	s.geom, s.shapes = &s.sink.Geom, &s.sink.Shapes
	return s.whole(p)
}

// whole reads a row through its end.
func (s *scanner) whole(p int) (g Geometry, end int) {
	if s.at(p)|0x20 == 'n' {
		end = s.null(p)
	} else {
		g, end = s.geometry(p)
	}
	if end < 0 {
		return g, -1
	}
	return g, s.behind(end)
}

// after skips blanks after a geometry that ends at end, through the end of the row.
func (s *scanner) behind(end int) int {
	for {
		switch c := s.at(end); {
		case c == '\n' || c == '\r' || c == ';' || end == s.N && s.EOF:
			return end
		case c == ')' && s.loose != nil:
			s.loose(end, ruleBracket, "not read")
		case !isBlank(c):
			return s.fail(end, `the end of the line or ";" behind the geometry`)
		}
		end++
	}
}

// null passes NULL.
func (s *scanner) null(p int) int {
	end := s.word(p)
	if !is(s.slice(p, end), "NULL") {
		return s.failWord(p, end, wantName)
	}
	return end
}

// tooLong refuses a row at p that is longer than --max-feature-bytes, wherever windows end: one
// that ends at end, or that has a fault if end < 0.
func (s *scanner) tooLong(p, end int) bool {
	if end < 0 {
		end = min(s.fault.pos, s.N)
	}
	if int64(end-p) <= s.Most {
		return false
	}
	s.err = s.TooLong(p)
	return true
}

// rowEnd finds the end of a malformed row at p: the next line end or ";", except that of its SRID,
// or the end of the file.
func (s *scanner) rowEnd(p int) int {
	srid := is(s.slice(p, s.word(p)), "SRID")
	for {
		for ; p < s.N; p++ {
			switch c := s.at(p); {
			case c == '\n', c == '\r', c == ';' && !srid:
				return p
			case c == ';':
				srid = false
			}
		}
		if s.EOF {
			return p
		}
		if p = s.refill(s.N); p < 0 {
			return -1
		}
		s.q = s.Q
	}
}

// full reports whether the current chunk ends before the current row.
func (s *scanner) full() bool {
	return s.sink.Rows > 0 && (s.sink.Rows >= s.limits.BatchRows || s.next-s.chunk.From >= s.limits.BatchBytes)
}

// end finishes the chunk whose last row ended before the current one.
func (s *scanner) end() bool {
	s.sink.AddTo(&s.sum)
	s.err = rows.Emit(s.sink, &s.Window, &s.chunk, s.next, s.limits, s.emit)
	return s.err == nil
}
