package gml

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/source"
)

// workers parse one file. The head scanner parses the first rows. Then all workers parse parts of
// the rest, up to the end of the file.
//
// A guess assumes that a row begins where text begins like the previous rows. It also assumes that
// the row is inside of the same elements as the first row after those of the head scanner. If a
// part ends before a row that is in other elements, the following parts are read from there, with
// those elements as the new assumption.
type workers struct {
	*parallel.File[*sink]
	ctx    context.Context
	parser parser
	head   *scanner
	crs    atomic.Pointer[layerCRS] // of the parts that were committed
	home   where                    // of rows where parts begin
	row    int64                    // number of the row after the last part
	words  *vocabulary              // of rows, for the device

	mu    sync.Mutex
	moves map[partEnd]where // of rows after parts, if these are in other elements than home
	next  *where            // of the row after the last part, if it is such a row
}

// partEnd is a part that ends before a row that is in other elements.
type partEnd struct{ start, next int64 }

// newWorkers returns workers to which the head scanner hands over after the first rows.
func newWorkers(ctx context.Context, c parser, src *source.File, req readers.Request, head *scanner) *workers {
	w := &workers{ctx: ctx, parser: c, head: head, moves: map[partEnd]where{}}
	w.File = parallel.NewFile[*sink](ctx, parallel.Config{
		Parser: c, Source: src, Request: req, Limits: head.limits, Engine: c.device,
		Summary: &head.sum, Emit: head.emit, Commit: w.commit,
	})
	w.NewScanner, w.OpenSchema = w.newWorker, true
	w.Sinks.New = func() *sink {
		k := newSink(head.schema, c.layout.Columns)
		k.MaxColumns = head.limits.MaxColumns
		return k
	}
	head.limits = head.limits.Unbatched()
	head.headBytes = w.HeadBytes()
	head.sink = w.Sinks.Take()
	head.sink.Follow(w.Columns())
	head.emit = func(chunk readers.Chunk) error { return w.AddHead(head.sink, chunk) }
	head.rest = w.rest
	return w
}

// commit keeps the state of a part. A part that was parsed without the system of the previous rows
// is parsed again.
func (w *workers) commit(p *readers.Part) error {
	s := w.head
	if s.crs.set && (p.State&foundSystem != 0 && p.Summary.CRS != s.crs.crs || p.State&droppedSystem != 0) {
		if err := w.again(p); err != nil {
			return err
		}
	}
	if p.State&foundSystem != 0 {
		s.crs.crs, s.crs.set = p.Summary.CRS, true
	}
	w.crs.Store(&layerCRS{crs: s.crs.crs, set: s.crs.set})
	p.CRS = s.crs.span()
	for _, name := range p.Summary.Layers {
		s.layers.add([]byte(name))
	}
	w.row += p.Rows
	w.mu.Lock()
	if next, ok := w.moves[partEnd{p.Start, p.Next}]; ok && p.End {
		w.next = &next
	}
	w.mu.Unlock()
	p.State &^= foundSystem | droppedSystem
	return nil
}

// again parses a part again that was guessed before the state of the previous rows was known.
func (w *workers) again(p *readers.Part) (err error) {
	p.Release()
	*p, err = w.Reader().Read(p.Start, p.Next, w.row)
	p.Summary.Deviations.Shift(w.row)
	return err
}

// Bits of the State of a part.
const (
	foundSystem   = 1 << 63 // a geometry has a system, or has none
	droppedSystem = 1 << 62 // as scanner.dropped
)

// rest parses the rows after those of the head scanner, to the end of the file.
func (w *workers) rest() bool {
	s := w.head
	w.home, w.row = s.ending, s.feature
	for at := s.next; ; {
		w.next = nil
		clear(w.moves)
		var chunks func() device.Chunks
		if w.onDevice(at) {
			chunks = func() device.Chunks { return w.deviceChunks() }
		}
		end, _, err := w.Read(at, s.End, w.row, chunks)
		if err != nil {
			s.Failed = err
			return false
		}
		if w.next == nil {
			s.stopped = true
			return true
		}
		at, w.home = end, *w.next
	}
}

// worker parses parts of the file for one goroutine.
type worker struct {
	*workers
	s      *scanner
	limits readers.Limits // of verified rows
}

func (w *workers) newWorker(keep func(readers.Chunk) error) parallel.Scanner[*sink] {
	s := w.parser.scanner(w.Request)
	r := &worker{workers: w, s: s, limits: s.limits.Unbatched()}
	s.part, s.membered, s.emit = true, true, keep
	s.layer, s.frame, s.wraps, s.X.Encoding = w.head.layer, w.head.frame, w.head.wraps, w.head.X.Encoding
	s.names.fme = w.head.names.fme
	return r
}

// Find moves to the first feature that seems to begin between two offsets.
func (r *worker) Find(sink *sink, from, stop int64) bool {
	r.s.limits = r.limits.Guessed()
	return r.open(sink, from, stop, 0) && r.s.Find(r.head.opening, stop)
}

// Open moves to the feature at an offset.
func (r *worker) Open(sink *sink, from, stop, row int64) bool {
	r.s.limits = r.limits
	return r.open(sink, from, stop, row)
}

func (r *worker) open(sink *sink, from, stop, row int64) bool {
	s := r.s
	if s.sink = sink; sink.layer == "" {
		sink.begin(s.layer)
	}
	s.sum = readers.Summary{Foreign: map[string]int64{}}
	s.layers, s.crs, s.dropped = layers{}, layerCRS{}, false
	if crs := r.crs.Load(); crs != nil {
		s.crs = *crs
	}
	s.stop = stop
	s.resume(&r.home)
	return s.open(r.ctx, r.Source, from, r.head.End, row, cmp.Or(r.parser.readBytes, window.Bytes))
}

// Scan parses the features of the part.
func (r *worker) Scan() (parallel.Extent, bool) {
	s := r.s
	start := s.Base + int64(s.X.P)
	if !s.walk() {
		return parallel.Extent{}, false
	}
	x := parallel.Extent{Start: start, Next: s.next, Row: s.feature, Stopped: s.stopped, State: s.pack()}
	if s.stopped && !s.ending.same(&r.home) {
		r.mu.Lock()
		r.moves[partEnd{start, s.next}] = s.ending
		r.mu.Unlock()
		s.ending = where{} // the slices are those of moves now
		x.Stopped = false
	}
	if s.crs.set {
		x.State |= foundSystem
	}
	if s.dropped {
		x.State |= droppedSystem
	}
	x.Summary = s.sum
	x.Summary.BytesRead, x.Summary.CRS, x.Summary.Layers = s.Read, s.crs.crs, slices.Clone(s.layers.names)
	return x, true
}

// Err returns the reason for a failure.
func (r *worker) Err() error { return r.s.error() }
