package gpkg

import (
	"context"
	"math"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
)

// workers parse one table. Where rows begin is known, so no part is a wrong guess.
type workers struct {
	*parallel.File[*sink]
	ctx    context.Context
	parser parser
	head   *scanner // gets what the parts showed
	end    int64
}

func newWorkers(ctx context.Context, c parser, req readers.Request, head *scanner, end int64) *workers {
	w := &workers{ctx: ctx, parser: c, head: head, end: end}
	req.Span.To = end
	w.File = parallel.NewFile[*sink](ctx, parallel.Config{
		Parser: c, Source: head.src, Request: req, Limits: head.limits,
		Summary: &head.sum, Emit: head.emit, Commit: w.commit,
	})
	w.NewScanner = w.newWorker
	w.Sinks.New = func() *sink { return newSink(head.table, c.layout.Columns) }
	w.Sinks.Learn(head.sink.Text)
	return w
}

// read parses the rows, and waits for all batches.
func (w *workers) read(from int64) error {
	if _, _, err := w.Read(from, w.end, w.Request.Span.Row, nil); err != nil {
		return err
	}
	return w.Finish()
}

// commit counts the bytes of overflow pages, and refuses a part with more than the file has.
func (w *workers) commit(p *readers.Part) error {
	s := w.head
	if n := len(p.SiblingBytes); n > 0 {
		bytes := p.SiblingBytes[n-1]
		if s.overflow+bytes > int64(s.db.Pages)*int64(s.db.PageSize) {
			return w.Refuse(p, s.row)
		}
		s.overflow += bytes
	}
	s.row += p.Rows
	return nil
}

// worker parses parts of the table for one goroutine.
type worker struct {
	*workers
	s *scanner
}

func (w *workers) newWorker(keep func(readers.Chunk) error) parallel.Scanner[*sink] {
	s := w.parser.scanner(w.ctx, w.head.src, w.head.table, w.head.limits.Unbatched())
	s.limits.MaxFeatureBytes = w.head.limits.MaxFeatureBytes
	s.emit = keep
	return &worker{workers: w, s: s}
}

// Find moves to the first row between two places.
func (r *worker) Find(sink *sink, from, stop int64) bool {
	r.s.overflow = 0
	return r.open(sink, from, stop, 0) && r.s.cursor.Place() < stop
}

// Open moves to the row at a place, which is number row.
func (r *worker) Open(sink *sink, from, stop, row int64) bool {
	r.s.overflow = r.head.overflow
	return r.open(sink, from, stop, row)
}

func (r *worker) open(sink *sink, from, stop, row int64) bool {
	s := r.s
	s.use(sink)
	s.sum, s.err = readers.Summary{}, nil
	if stop == math.MaxInt64 {
		stop = r.end
	}
	return s.open(from, stop, row)
}

// Scan parses the rows of the part.
func (r *worker) Scan() (parallel.Extent, bool) {
	s := r.s
	start, read := s.cursor.Place(), s.cursor.Read
	if !s.rows() {
		return parallel.Extent{}, false
	}
	s.sum.BytesRead = s.cursor.Read - read
	return parallel.Extent{Start: start, Next: s.next, Row: s.row, Stopped: s.next < r.end, Summary: s.sum}, true
}

// Err returns the reason for a failure.
func (r *worker) Err() error { return r.s.err }
