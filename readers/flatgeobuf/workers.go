package flatgeobuf

import (
	"cmp"
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/internal/window"
)

// workers parse one file.
type workers struct {
	*parallel.File[*sink]
	ctx    context.Context
	parser parser
	head   *scanner // gets what the parts showed
	from   int64    // offset of the first feature
}

func newWorkers(ctx context.Context, c parser, req readers.Request, head *scanner, from int64) *workers {
	w := &workers{ctx: ctx, parser: c, head: head, from: from}
	req.Span.To = head.End
	w.File = parallel.NewFile[*sink](ctx, parallel.Config{
		Parser: c, Source: head.Src, Request: req, Limits: head.limits,
		Summary: &head.sum, Emit: head.emit, Commit: w.commit,
	})
	w.NewScanner = w.newWorker
	w.Sinks.New = func() *sink { return newSink(head.header, c.layout.Columns) }
	w.Sinks.Learn(head.sink.Text)
	return w
}

// read parses the features, and waits for all batches.
func (w *workers) read() error {
	if _, _, err := w.Read(w.from, w.head.End, w.head.row, nil); err != nil {
		return err
	}
	return w.Finish()
}

// commit counts the features, and refuses a part with more than in the header.
func (w *workers) commit(p *readers.Part) error {
	s := w.head
	if count := s.header.count; count > 0 && s.row+p.Rows > count { // a guess does not know how many precede it
		return w.Refuse(p, s.row)
	}
	s.row += p.Rows
	return nil
}

// worker parses parts of the file for one goroutine.
type worker struct {
	*workers
	s *scanner
	p int // index of the current feature
}

func (w *workers) newWorker(keep func(readers.Chunk) error) parallel.Scanner[*sink] {
	s := w.parser.scanner(w.Request)
	s.limits, s.emit = s.limits.Unbatched(), keep
	return &worker{workers: w, s: s}
}

// maxGuessed is the maximum length of a feature at a guessed place.
const maxGuessed = 16 << 20

// Find moves to the first bytes between two offsets that look like a feature.
func (r *worker) Find(sink *sink, from, stop int64) bool {
	r.s.guess, r.s.most = true, min(r.head.most, maxGuessed)
	if !r.open(sink, from, stop, 0) {
		return false
	}
	if from > r.from {
		r.p = r.find(0)
	}
	return r.p >= 0
}

// Open moves to the feature at an offset, which is number row.
func (r *worker) Open(sink *sink, from, stop, row int64) bool {
	r.s.guess, r.s.most = false, r.head.most
	return r.open(sink, from, stop, row)
}

func (r *worker) open(sink *sink, from, stop, row int64) bool {
	s := r.s
	s.use(sink)
	s.sum, s.stop = readers.Summary{}, stop
	r.p = 0
	return s.open(r.ctx, r.head.Src, from, r.head.End, row, cmp.Or(r.parser.readBytes, window.Bytes))
}

// Scan parses the features of the part.
func (r *worker) Scan() (parallel.Extent, bool) {
	s := r.s
	start := s.Base + int64(r.p)
	if !s.features(r.p) {
		return parallel.Extent{}, false
	}
	s.sum.BytesRead = s.Read
	return parallel.Extent{Start: start, Next: s.next, Row: s.row, Stopped: s.stopped, Summary: s.sum}, true
}

// Err returns the reason for a failure.
func (r *worker) Err() error { return r.s.err }

// frontBytes is the size of the start of a feature's flatbuffer that has the root's offset and
// vtable: writers put both before everything else.
const frontBytes = 64

// find returns the index of the first bytes at p or after that look like a feature, or -1.
//
//	length (4), offset of the root (4), … vtable … root
func (r *worker) find(p int) int {
	s := r.s
	for {
		if p = s.hold(p, lengthBytes+frontBytes); p < 0 || s.Base+int64(p) >= s.stop || p == s.N {
			return -1
		}
		if s.looks(p, 1) {
			return p
		}
		p++
	}
}

// looks reports whether the bytes at p look like a feature followed by n more, as far as the window
// has them.
func (s *scanner) looks(p, more int) bool {
	w := s.Word(p)
	n, at := int64(uint32(w)), int(w>>32)
	end := s.Base + int64(p) + lengthBytes + n
	if at < 8 || at > frontBytes-4 || int64(at) > n-4 || end > s.End {
		return false
	}
	front := s.Text(p+lengthBytes, min(s.N, p+lengthBytes+frontBytes, p+lengthBytes+int(n)))
	t, f := root(front)
	if f != nil || t.fields > featureColumns+1 {
		return false
	}
	next := end - s.Base
	if more == 0 || next+lengthBytes+frontBytes > int64(s.N) {
		return true
	}
	return s.looks(int(next), more-1)
}
