package geojson

import (
	"bytes"
	"cmp"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/window"
)

// partReader reads parts of the file for one worker.
type partReader struct {
	*crew
	s      *scanner
	limits readers.Limits
	rows   readers.Chunk // of the part at hand
}

func (w *crew) reader() readers.PartReader {
	r := &partReader{crew: w, s: w.cpu.scanner(w.req)}
	s := r.s
	r.limits, s.state, s.onlyCRS, s.gaps = s.limits.Unbatched(), w.lead.state, true, w.lead.gaps
	s.emit = func(c readers.Chunk) error {
		r.rows = c
		return nil
	}
	return r
}

// Guess reads the rows between two offsets, from what seems to be the first one on.
func (r *partReader) Guess(from, stop int64) readers.Part {
	r.s.limits = r.limits.Guessed()
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
	r.s.limits = r.limits
	p := -1
	if r.open(from, stop, row) {
		r.s.sink.Follow(r.batcher.Columns())
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
	s.sink = r.sinks.Take()
	s.sum = readers.Summary{CRS: r.lead.sum.CRS, Foreign: map[string]int64{}}
	s.stop = stop
	r.rows = readers.Chunk{}
	return s.open(r.ctx, r.src, from, r.lead.Window.End, row, cmp.Or(r.cpu.readBytes, window.Bytes))
}

// find gives the index of the first bytes that look like the beginning of a feature, in a sequence
// at that of a line, or -1.
func (r *partReader) find() int {
	s := r.s
	for p := 0; ; {
		if s.Base+int64(p) >= s.stop {
			return -1
		}
		at := bytes.Index(s.Text(p, s.N), r.prefix)
		if at < 0 {
			if p = max(p, s.N-len(r.prefix)); s.EOF {
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

// opensLine reports whether only blanks stand between the row at p and the line feed or record
// separator before it, which is in the window.
func (s *scanner) opensLine(p int) bool {
	for p--; p >= 0; p-- {
		switch s.At(p) {
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
	start := s.Base + int64(p)
	switch {
	case p < 0:
	case s.inSequence && !s.values(p, true):
		p = -1
	case !s.inSequence:
		if p = s.features(p, arrayFeature); p >= 0 && !s.stopped {
			s.next = s.Base + int64(p)
		}
	}
	if p < 0 {
		return readers.Part{Failed: true} // its sink holds what may be no column at all
	}
	part := r.sinks.Part(s.sink, r.rows, start, s.next)
	part.End, part.Rows, part.State, part.Summary = !s.stopped, s.feature-row, s.pack(), s.sum
	part.Summary.Deviations.Shift(-row)
	part.Summary.BytesRead = s.Read
	return part
}
