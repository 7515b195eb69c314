package geojson

import (
	"bytes"
	"cmp"

	"github.com/vibeflight/vibeflight/readers"
)

// partReader reads parts of the file for one worker.
type partReader struct {
	*crew
	s    *scanner
	rows readers.Chunk // of the part at hand
}

func (w *crew) reader() readers.PartReader {
	r := &partReader{crew: w, s: w.cpu.scanner(w.req)}
	s := r.s
	s.limits, s.state, s.onlyCRS, s.gaps = s.limits.Unbatched(), w.lead.state, true, w.lead.gaps
	s.emit = func(c readers.Chunk) error {
		r.rows = c
		return nil
	}
	return r
}

// Guess reads the rows between two offsets, from what seems to be the first one on.
func (r *partReader) Guess(from, stop int64) readers.Part {
	if len(r.prefix) == 0 {
		return readers.Part{Failed: true}
	}
	if r.s.inSequence {
		from-- // the line feed before the row at from
	}
	p := -1
	if r.open(from, stop, 0) {
		p = r.find()
	}
	return r.read(p, 0)
}

// Read reads the rows between two offsets; at the first one a row begins, or should.
func (r *partReader) Read(from, stop, row int64) (readers.Part, error) {
	p := -1
	if r.open(from, stop, row) {
		p = 0
	}
	part := r.read(p, row)
	if part.Failed {
		r.lead.faulty = r.s.err == nil
		return part, r.s.error()
	}
	return part, nil
}

func (r *partReader) open(from, stop, row int64) bool {
	s := r.s
	s.sink = r.sinks.take()
	s.sum = readers.Summary{CRS: r.lead.sum.CRS, Foreign: map[string]int64{}}
	s.stop = stop
	r.rows = readers.Chunk{}
	return s.open(r.ctx, r.src, from, r.lead.window.end, row, cmp.Or(r.cpu.readBytes, windowBytes))
}

// find gives the index of the first bytes that look like the beginning of a feature, in a sequence at that of a line, or -1.
func (r *partReader) find() int {
	s := r.s
	for p := 0; ; {
		if s.base+int64(p) >= s.stop {
			return -1
		}
		at := bytes.Index(s.text(p, s.n), r.prefix)
		if at < 0 {
			if p = max(p, s.n-len(r.prefix)); s.eof {
				return -1
			}
			if p = s.refill(p); p < 0 {
				return -1
			}
			continue
		}
		p += at
		if !s.inSequence || s.opensLine(p) {
			return p
		}
		p++
	}
}

// opensLine reports whether only blanks stand between the row at p and the line feed or record separator before it, which is in the window.
func (s *scanner) opensLine(p int) bool {
	for p--; p >= 0; p-- {
		switch s.at(p) {
		case ' ', '\t', '\r':
		case '\n', recordSeparator:
			return true
		default:
			return false
		}
	}
	return false
}

// read reads the part from the row at p on, which is row number row; p < 0 is a part that failed.
func (r *partReader) read(p int, row int64) readers.Part {
	s := r.s
	start := s.base + int64(p)
	to := start
	switch {
	case p < 0:
	case s.inSequence && !s.values(p, true):
		p = -1
	case !s.inSequence:
		if p = s.features(p, arrayFeature); p >= 0 && !s.stopped {
			s.next = s.base + int64(p)
		}
	}
	if p < 0 {
		return readers.Part{Failed: true} // its sink holds what may be no column at all
	}
	part := readers.Part{Release: func() {}}
	if r.rows.Columns != nil {
		part = s.part(&r.sinks, r.rows)
	} else {
		r.sinks.give(s.sink)
	}
	if r.rows.Columns != nil {
		to = r.rows.Span.To
	}
	part.Start, part.To, part.Next, part.End, part.Rows, part.State = start, to, s.next, !s.stopped, s.feature-row, s.pack()
	part.Summary = s.sum
	part.Summary.BytesRead = s.read
	return part
}
