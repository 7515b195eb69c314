package geojson

import (
	"bytes"
	"cmp"
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/source"
)

// workers parse one file. The head scanner parses the first rows, learns from them how features
// begin, and parses the text after all rows.
type workers struct {
	*parallel.File[*sink]
	ctx    context.Context
	parser parser
	head   *scanner
	prefix []byte      // first bytes of features; empty: too short to search for
	seen   memberNames // properties of the rows so far, for the device
}

// newWorkers returns workers to which the head scanner hands over after the first rows.
func newWorkers(ctx context.Context, c parser, src *source.File, req readers.Request, head *scanner) *workers {
	w := &workers{ctx: ctx, parser: c, head: head}
	w.File = parallel.NewFile[*sink](ctx, parallel.Config{
		Parser: c, Source: src, Request: req, Limits: head.limits, Engine: c.device,
		Summary: &head.sum, Emit: head.emit, Commit: w.commit,
	})
	w.NewScanner, w.OpenSchema = w.newWorker, true
	w.Sinks.New = func() *sink {
		k := newSink(c.layout.Columns)
		k.MaxColumns = head.limits.MaxColumns
		return k
	}
	head.limits = head.limits.Unbatched()
	head.stop = req.Span.From + w.headBytes()
	head.sink = w.Sinks.Take()
	head.sink.Follow(w.Columns())
	head.emit = func(chunk readers.Chunk) error { return w.AddHead(head.sink, chunk) }
	head.rest = w.rest
	return w
}

// headBytes returns how many bytes of rows the head scanner reads before other workers start. It is
// less with a device, since all workers wait until it is known how features begin and which members
// they usually have.
func (w *workers) headBytes() int64 {
	if w.Device != nil {
		return min(w.Limits.PartBytes, parallel.HeadBytes/4)
	}
	return w.HeadBytes()
}

// commit notes the properties of a part, for the device.
func (w *workers) commit(p *readers.Part) error {
	if w.Device != nil {
		w.seen.learn(p.Columns)
	}
	return nil
}

// rest parses the rows after those of the head scanner, and returns its index after them, or -1.
func (w *workers) rest() int {
	s := w.head
	w.prefix = s.prefix()
	chunks := func() device.Chunks { return w.deviceChunks() }
	end, row, err := w.Read(s.next, s.Window.End, s.feature, chunks)
	if err != nil {
		s.err = err
		return -1
	}
	s.feature, s.inRow = row, false
	p := s.MoveTo(end)
	if p < 0 {
		s.err = s.Window.Err
	}
	return p
}

// minPrefix is how many bytes features must have in common at their beginning for a search to find
// mostly features.
const minPrefix = 8

// prefix returns what the last features began with, or nil if that is too short.
func (s *scanner) prefix() []byte {
	a, b := s.gaps[gapStart][0].text, s.gaps[gapStart][1].text
	if b != "" {
		n := 0
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		a = a[:n]
	}
	if len(a) < minPrefix {
		return nil
	}
	return []byte(a)
}

// worker parses parts of the file for one goroutine.
type worker struct {
	*workers
	s      *scanner
	limits readers.Limits // of verified rows
	p      int            // index of the current row
}

func (w *workers) newWorker(keep func(readers.Chunk) error) parallel.Scanner[*sink] {
	s := w.parser.scanner(w.Request)
	r := &worker{workers: w, s: s, limits: s.limits.Unbatched()}
	s.state, s.onlyCRS, s.gaps, s.emit = w.head.state, true, w.head.gaps, keep
	return r
}

// Find moves to the first bytes between two offsets that look like a feature; in a sequence, a line
// must begin with them.
func (r *worker) Find(sink *sink, from, stop int64) bool {
	r.s.limits = r.limits.Guessed()
	if len(r.prefix) == 0 {
		return false
	}
	if r.s.inSequence {
		from-- // the line feed before the row at from
	}
	if !r.open(sink, from, stop, 0) {
		return false
	}
	r.p = r.find()
	return r.p >= 0
}

// Open moves to the row at an offset.
func (r *worker) Open(sink *sink, from, stop, row int64) bool {
	r.s.limits = r.limits
	return r.open(sink, from, stop, row)
}

func (r *worker) open(sink *sink, from, stop, row int64) bool {
	s := r.s
	s.sink = sink
	s.sum = readers.Summary{CRS: r.head.sum.CRS, Foreign: map[string]int64{}}
	s.stop = stop
	r.p = 0
	return s.open(r.ctx, r.Source, from, r.head.Window.End, row, cmp.Or(r.parser.readBytes, window.Bytes))
}

// find returns the index of the prefix, or -1.
func (r *worker) find() int {
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

// opensLine reports whether only blanks separate the row at p from the line feed or record
// separator before it. That is in the window.
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

// Scan parses the rows of the part.
func (r *worker) Scan() (parallel.Extent, bool) {
	s := r.s
	start := s.Base + int64(r.p)
	if s.inSequence {
		if !s.values(r.p, true) {
			return parallel.Extent{}, false
		}
	} else {
		p := s.features(r.p, arrayFeature)
		if p < 0 {
			return parallel.Extent{}, false
		}
		if !s.stopped {
			s.next = s.Base + int64(p)
		}
	}
	s.sum.BytesRead = s.Read
	return parallel.Extent{
		Start: start, Next: s.next, Row: s.feature, Stopped: s.stopped, State: s.pack(), Summary: s.sum,
	}, true
}

// Err returns the reason for a failure, and tells the head scanner whether it is a fault of the
// text.
func (r *worker) Err() error {
	r.head.faulty = r.s.err == nil
	return r.s.error()
}
