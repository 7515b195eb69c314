package gpx

import (
	"cmp"
	"context"
	"sync"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/source"
)

// workers parse one file. The head scanner parses the first rows. Then all workers parse parts of
// the rest, up to the end of the file.
//
// A guess assumes that any "<trkpt" begins a row. One in a comment, a CDATA section or another
// element does not begin where the previous part ended. All rows are in elements of the same names.
// The numbers of tracks, segments and positions in a part count from its first row. They get their
// values when the part is committed, after all rows before it.
type workers struct {
	*parallel.File[*sink]
	ctx    context.Context
	parser parser
	head   *scanner
	home   around // of every row
	at     place  // of the last row of the last part

	mu    sync.Mutex
	notes map[partEnd]*note // of parts that were read and not committed
}

// partEnd identifies a part.
type partEnd struct{ start, next int64 }

// note is what a part says in addition to its rows.
type note struct {
	exact   bool // places are those of the file
	runs    []run
	entries entries
	last    place
}

// newWorkers returns workers to which the head scanner hands over after the first rows.
func newWorkers(ctx context.Context, c parser, src *source.File, req readers.Request, head *scanner) *workers {
	w := &workers{ctx: ctx, parser: c, head: head, notes: map[partEnd]*note{}}
	w.File = parallel.NewFile[*sink](ctx, parallel.Config{
		Parser: c, Source: src, Request: req, Limits: head.limits,
		Summary: &head.sum, Emit: head.emit, Commit: w.commit,
	})
	w.NewScanner, w.OpenSchema = w.newWorker, true
	w.Sinks.New = func() *sink {
		k := newSink(head.header, c.layout.Columns)
		k.MaxColumns = head.limits.MaxColumns
		return k
	}
	head.limits = head.limits.Unbatched()
	head.headBytes = w.HeadBytes()
	head.sink = w.Sinks.Take()
	head.sink.Follow(w.Columns())
	head.emit = func(chunk readers.Chunk) error {
		w.note(partEnd{chunk.Span.From, chunk.Span.To}, &note{exact: true, runs: head.sink.runs, last: head.at})
		return w.AddHead(head.sink, chunk)
	}
	head.rest = w.rest
	return w
}

func (w *workers) note(part partEnd, n *note) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes[part] = n
}

// commit gives the rows of a part their numbers.
func (w *workers) commit(p *readers.Part) error {
	if !w.head.header.layer.isNumbered() {
		return nil
	}
	w.mu.Lock()
	part := partEnd{p.Start, p.Next}
	n := w.notes[part]
	delete(w.notes, part)
	w.mu.Unlock()
	if !n.exact {
		n.place(w.at, p.Columns)
	}
	w.at = n.last
	p.StateAt = func(i int) uint64 { return w.head.state(placeOf(n.runs, i)) }
	return nil
}

// place turns the numbers of the part into those of the file. before is the place of the last row
// before the part.
func (n *note) place(before place, columns *geoarrow.Columns) {
	before.number++ // relative numbers begin with 0
	rows := 0
	if columns != nil {
		rows = columns.Rows
	}
	until := func(entry int) int { // the first row whose number is not relative
		if entry < 0 {
			return rows
		}
		return entry
	}
	segments, numbers := until(n.entries.path), until(n.entries.any)
	for i := range n.runs {
		r := &n.runs[i]
		r.place.path += before.path
		if r.row < segments {
			r.place.segment += before.segment
		}
		if r.row < numbers {
			r.place.number += before.number
		}
	}
	n.last.path += before.path
	if n.entries.path < 0 {
		n.last.segment += before.segment
	}
	if n.entries.any < 0 {
		n.last.number += before.number
	}
	if columns != nil {
		setNumbers(columns, n.runs)
	}
}

// rest parses the rows after those of the head scanner, to the end of the file.
func (w *workers) rest() bool {
	s := w.head
	w.home, w.at = s.ending, s.ending.at
	_, _, err := w.Read(s.next, s.End, s.feature, nil)
	s.Failed, s.stopped = err, true
	return err == nil
}

// worker parses parts of the file for one goroutine.
type worker struct {
	*workers
	s      *scanner
	limits readers.Limits // of verified rows
	exact  bool           // the place of the rows is known
}

func (w *workers) newWorker(keep func(readers.Chunk) error) parallel.Scanner[*sink] {
	s := w.parser.scanner(w.Request)
	r := &worker{workers: w, s: s, limits: s.limits.Unbatched()}
	s.header, s.first, s.prefix, s.opening, s.emit = w.head.header, w.head.first, w.head.prefix, w.head.opening, keep
	known := *w.head.fast
	s.X.Encoding, s.fast = w.head.X.Encoding, &known
	return r
}

// Find moves to the first row that seems to begin between two offsets.
func (r *worker) Find(sink *sink, from, stop int64) bool {
	r.s.limits, r.exact = r.limits.Guessed(), false
	return r.open(sink, from, stop, 0) && r.s.Find(r.s.opening, stop)
}

// Open moves to the row at an offset.
func (r *worker) Open(sink *sink, from, stop, row int64) bool {
	r.s.limits, r.exact = r.limits, true
	return r.open(sink, from, stop, row)
}

func (r *worker) open(sink *sink, from, stop, row int64) bool {
	s := r.s
	s.sink, s.stop, s.sum = sink, stop, newSummary()
	s.entries = entries{-1, -1}
	s.resume(&r.home)
	if s.at = (place{0, 0, -1}); r.exact {
		s.at = r.at
	}
	return s.open(r.ctx, r.Source, from, r.head.End, row, cmp.Or(r.parser.readBytes, window.Bytes))
}

// Scan parses the rows of the part.
func (r *worker) Scan() (parallel.Extent, bool) {
	s := r.s
	start := s.Base + int64(s.X.P)
	if !s.walk() {
		return parallel.Extent{}, false
	}
	s.sum.BytesRead = s.Read
	x := parallel.Extent{
		Start: start, Next: s.next, Row: s.feature, Stopped: s.stopped, State: s.firstState, Summary: s.sum,
	}
	r.note(partEnd{start, s.next}, &note{exact: r.exact, runs: s.sink.runs, entries: s.entries, last: s.at})
	return x, true
}

// Err returns the reason for a failure.
func (r *worker) Err() error { return r.s.error() }
