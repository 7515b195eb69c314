package gml

import (
	"cmp"
	"slices"

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
	r.limits, s.part, s.membered = s.limits.Unbatched(), true, true
	s.layer, s.frame, s.wraps, s.X.Encoding = w.lead.layer, w.lead.frame, w.lead.wraps, w.lead.X.Encoding
	s.names.fme = w.lead.names.fme
	s.emit = func(c readers.Chunk) error {
		r.rows = c
		return nil
	}
	return r
}

// Guess reads the rows between two offsets, from what seems to be the first one on.
func (r *partReader) Guess(from, stop int64) readers.Part {
	r.s.limits = r.limits.Guessed()
	ok := r.open(from, stop, 0) && r.s.Find(r.lead.opening, stop)
	return r.read(ok, 0)
}

// Read reads the rows between two offsets; at the first one a row begins.
func (r *partReader) Read(from, stop, row int64) (readers.Part, error) {
	r.s.limits = r.limits
	ok := r.open(from, stop, row)
	r.s.sink.Follow(r.batcher.Columns())
	part := r.read(ok, row)
	if part.Failed {
		return part, r.s.error()
	}
	return part, nil
}

func (r *partReader) open(from, stop, row int64) bool {
	s := r.s
	s.sink = r.sinks.Take()
	if s.sink.layer == "" {
		s.sink.begin(s.layer)
	}
	s.sum = readers.Summary{Foreign: map[string]int64{}}
	s.layers, s.crs, s.dropped = layers{}, established{}, false
	if known := r.known.Load(); known != nil {
		s.crs = *known
	}
	s.stop = stop
	r.rows = readers.Chunk{}
	s.resume(&r.home)
	return s.open(r.ctx, r.src, from, r.lead.End, row, cmp.Or(r.cpu.readBytes, window.Bytes))
}

// read reads the part from the row at hand on, which is row number row; unless ok, it failed
// already.
func (r *partReader) read(ok bool, row int64) readers.Part {
	s := r.s
	start := s.Base + int64(s.X.P)
	if !ok || !s.walk() {
		return readers.Part{Failed: true} // its sink holds what may be no column at all
	}
	part := r.sinks.Part(s.sink, r.rows, start, s.next)
	end := !s.stopped
	if s.stopped && !s.ending.same(&r.home) {
		r.mu.Lock()
		r.moved[moved{start, s.next}] = s.ending
		r.mu.Unlock()
		s.ending = where{} // of its own slices from now on
		end = true
	}
	part.End, part.Rows, part.State = end, s.feature-row, s.pack()
	if s.crs.set {
		part.State |= foundSystem
	}
	if s.dropped {
		part.State |= droppedSystem
	}
	part.Summary = s.sum
	part.Summary.Deviations.Shift(-row)
	part.Summary.BytesRead, part.Summary.CRS, part.Summary.Layers = s.Read, s.crs.crs, slices.Clone(s.layers.names)
	return part
}
