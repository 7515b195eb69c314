package wkt

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/window"
)

// workers parse one file.
type workers struct {
	*parallel.File[*rows.Sink]
	ctx    context.Context
	parser parser
	head   *scanner     // that found the first row, and gets what the parts showed
	from   int64        // offset of the first row
	srid   atomic.Int32 // of the parts that were committed, 0 if they have none
}

func newWorkers(ctx context.Context, c parser, req readers.Request, head *scanner, from int64) *workers {
	w := &workers{ctx: ctx, parser: c, head: head, from: from}
	w.File = parallel.NewFile[*rows.Sink](ctx, parallel.Config{
		Parser: c, Source: head.Src, Request: req, Limits: head.limits, Engine: c.device,
		Summary: &head.sum, Emit: head.emit, Commit: w.commit,
	})
	w.NewScanner, w.Sinks.New = w.newWorker, rows.NewSink
	return w
}

// read parses the rows, and waits for all batches.
func (w *workers) read() error {
	chunks := func() device.Chunks { return w.deviceChunks() }
	if _, _, err := w.Read(w.from, w.head.End, w.head.row, chunks); err != nil {
		return err
	}
	return w.Finish()
}

// commit keeps the state of a part, and refuses one whose SRID differs from that of earlier parts.
func (w *workers) commit(p *readers.Part) error {
	s := w.head
	srid, closed := parallel.UnpackState(p.State)
	if srid != 0 {
		if s.known != 0 && s.known != srid {
			return w.Refuse(p, s.row)
		}
		s.known = srid
		w.srid.Store(srid)
	}
	if p.Columns != nil {
		s.closed = closed
	}
	s.row += p.Rows
	p.State = 0
	return nil
}

// worker parses parts of the file for one goroutine.
type worker struct {
	*workers
	s      *scanner
	limits readers.Limits // of verified rows
	p      int            // index of the current row
}

func (w *workers) newWorker(keep func(readers.Chunk) error) parallel.Scanner[*rows.Sink] {
	s := w.parser.scanner(w.Request)
	s.emit = keep
	return &worker{workers: w, s: s, limits: s.limits.Unbatched()}
}

// lookBack is how many bytes before a guess are read to find whether ";" ends an SRID.
const lookBack = 16

// Find moves to the first row that seems to begin between two offsets.
func (r *worker) Find(sink *rows.Sink, from, stop int64) bool {
	r.s.limits = r.limits.Guessed()
	back := min(from-r.from, lookBack)
	if !r.open(sink, from-back, stop, 0) {
		return false
	}
	if back > 0 {
		r.p = r.find(int(back) - 1)
	}
	return r.p >= 0
}

// Open moves to the row at an offset.
func (r *worker) Open(sink *rows.Sink, from, stop, row int64) bool {
	r.s.limits = r.limits
	return r.open(sink, from, stop, row)
}

func (r *worker) open(sink *rows.Sink, from, stop, row int64) bool {
	s := r.s
	s.sink, s.sum = sink, readers.Summary{Foreign: map[string]int64{}}
	s.known, s.stop, s.closed = r.srid.Load(), stop, false
	r.p = 0
	return s.open(r.ctx, r.head.Src, from, r.head.End, row, cmp.Or(r.parser.readBytes, window.Bytes))
}

// find returns the index of the first letter after a byte, at index first or later, that ends a
// row; or -1. A row begins there, or a line inside of one.
func (r *worker) find(first int) int {
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

// Scan parses the rows of the part.
func (r *worker) Scan() (parallel.Extent, bool) {
	s := r.s
	start := s.Base + int64(r.p)
	if !s.rows(r.p) {
		return parallel.Extent{}, false
	}
	s.sum.BytesRead = s.Read
	return parallel.Extent{
		Start: start, Next: s.next, Row: s.row, Stopped: s.stopped,
		State: parallel.PackState(s.known, s.closed), Summary: s.sum,
	}, true
}

// Err returns the reason for a failure.
func (r *worker) Err() error { return r.s.error() }
