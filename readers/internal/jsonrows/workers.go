package jsonrows

import (
	"bytes"
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Workers parse one file. The head scanner parses the first rows, learns from them how rows begin,
// and parses the text after all rows.
type Workers struct {
	*parallel.File[*Sink]
	WorkersConfig
	Head   *Scanner
	Prefix []byte // first bytes of rows; empty: too short to search for
	ctx    context.Context
}

// WorkersConfig describes the parse that workers share.
type WorkersConfig struct {
	Parser    readers.Parser  // parses the rows of a part again where a batch needs that
	ReadBytes int             // bytes read at a time; 0: window.Bytes
	Engine    *device.Engine  // the GPU engine, or nil
	New       func() *Scanner // makes a scanner that reads rows as the head scanner does

	// Chunks makes what the device needs for one goroutine, and Commit notes the rows of a part for
	// it; nil without a device.
	Chunks func() device.Chunks
	Commit func(p *readers.Part) error
}

// NewWorkers returns workers to which the head scanner hands over after the first rows.
func NewWorkers(ctx context.Context, src *source.File, head *Scanner, c WorkersConfig) *Workers {
	w := &Workers{WorkersConfig: c, ctx: ctx, Head: head}
	w.File = parallel.NewFile[*Sink](ctx, parallel.Config{
		Parser: c.Parser, Source: src, Request: head.Request, Limits: head.Limits, Engine: c.Engine,
		Summary: &head.Sum, Emit: head.Emit, Commit: c.Commit,
	})
	w.NewScanner, w.OpenSchema = w.newWorker, true
	w.Sinks.New = func() *Sink {
		k := NewSink(head.Config)
		k.MaxColumns = head.Limits.MaxColumns
		return k
	}
	head.Limits = head.Limits.Unbatched()
	head.stop = head.Request.Span.From + w.headBytes()
	head.use(w.Sinks.Take())
	head.Sink.Follow(w.Columns())
	head.Emit = func(chunk readers.Chunk) error { return w.AddHead(head.Sink, chunk) }
	head.Rest = w.rest
	return w
}

// headBytes returns how many bytes of rows the head scanner reads before other workers start. It is
// less with a device, since all workers wait until it is known how rows begin and which members
// they usually have.
func (w *Workers) headBytes() int64 {
	if w.Device != nil {
		return min(w.Limits.PartBytes, parallel.HeadBytes/4)
	}
	return w.HeadBytes()
}

// rest parses the rows after those of the head scanner, and returns its index after them, or -1.
func (w *Workers) rest() int {
	s := w.Head
	w.Prefix = s.Prefix()
	end, row, err := w.Read(s.next, s.Window.End, s.RowNumber, w.Chunks)
	if err != nil {
		s.Failure = err
		return -1
	}
	s.RowNumber, s.InRow = row, false
	p := s.MoveTo(end)
	if p < 0 {
		s.Failure = s.Window.Err
	}
	return p
}

// worker parses parts of the file for one goroutine.
type worker struct {
	*Workers
	s      *Scanner
	limits readers.Limits // of verified rows
	p      int            // index of the current row
}

func (w *Workers) newWorker(keep func(readers.Chunk) error) parallel.Scanner[*Sink] {
	s := w.New()
	r := &worker{Workers: w, s: s, limits: s.Limits.Unbatched()}
	s.State, s.gaps, s.Emit = w.Head.State, w.Head.gaps, keep
	return r
}

// Find moves to the first bytes between two offsets that look like a row; in a sequence, a line
// must begin with them.
func (r *worker) Find(sink *Sink, from, stop int64) bool {
	r.s.Limits = r.limits.Guessed()
	if len(r.Prefix) == 0 {
		return false
	}
	if r.s.InSequence {
		from-- // the line feed before the row at from
	}
	if !r.open(sink, from, stop, 0) {
		return false
	}
	r.p = r.find()
	return r.p >= 0
}

// Open moves to the row at an offset.
func (r *worker) Open(sink *Sink, from, stop, row int64) bool {
	r.s.Limits = r.limits
	return r.open(sink, from, stop, row)
}

func (r *worker) open(sink *Sink, from, stop, row int64) bool {
	s := r.s
	s.use(sink)
	s.Sum = readers.Summary{CRS: r.Head.Sum.CRS, Foreign: map[string]int64{}}
	s.stop = stop
	r.p = 0
	return s.Start(r.ctx, r.Source, from, r.Head.Window.End, row, r.ReadBytes)
}

// find returns the index of the prefix, or -1.
func (r *worker) find() int {
	s := r.s
	for p := 0; ; {
		if s.Base+int64(p) >= s.stop {
			return -1
		}
		at := bytes.Index(s.Text(p, s.N), r.Prefix)
		if at < 0 {
			if p = max(p, s.N-len(r.Prefix)); s.EOF {
				return -1
			}
			if p = s.Refill(p); p < 0 {
				return -1
			}
			continue
		}
		p += at
		if !s.InSequence || s.opensLine(p) {
			return p
		}
		p++
	}
}

// opensLine reports whether only blanks separate the row at p from the line feed or record
// separator before it. That is in the window.
func (s *Scanner) opensLine(p int) bool {
	for p--; p >= 0; p-- {
		switch s.At(p) {
		case ' ', '\t', '\r':
		case '\n', RecordSeparator:
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
	if s.InSequence {
		if !s.values(r.p, true) {
			return parallel.Extent{}, false
		}
	} else {
		p := s.array(r.p, arrayRow)
		if p < 0 {
			return parallel.Extent{}, false
		}
		if !s.Stopped {
			s.next = s.Base + int64(p)
		}
	}
	s.Sum.BytesRead = s.Read
	return parallel.Extent{
		Start: start, Next: s.next, Row: s.RowNumber, Stopped: s.Stopped, State: s.Pack(), Summary: s.Sum,
	}, true
}

// Err returns the reason for a failure, and tells the head scanner whether it is a fault of the
// text.
func (r *worker) Err() error {
	r.Head.Faulty = r.s.Failure == nil
	return r.s.Error()
}
