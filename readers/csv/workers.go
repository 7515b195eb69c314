package csv

import (
	"cmp"
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/internal/window"
)

// workers parse one file.
type workers struct {
	*parallel.File[*sink]
	ctx    context.Context
	parser parser
	head   *scanner // that found the first record, and gets what the parts showed
	from   int64    // offset of the first record
}

func newWorkers(ctx context.Context, c parser, req readers.Request, head *scanner, from int64) *workers {
	w := &workers{ctx: ctx, parser: c, head: head, from: from}
	w.File = parallel.NewFile[*sink](ctx, parallel.Config{
		Parser: c, Source: head.Src, Request: req, Limits: head.limits, Engine: c.device,
		Summary: &head.sum, Emit: head.emit, Commit: w.commit,
	})
	w.NewScanner = w.newWorker
	w.Sinks.New = func() *sink { return newSink(c.dialect, c.columns) }
	w.Sinks.Learn(head.sink.Text)
	return w
}

// read parses the records, and waits for all batches.
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
		if s.srid != 0 && s.srid != srid {
			return w.Refuse(p, s.row)
		}
		s.srid = srid
	}
	if p.Rows > 0 {
		s.closed = closed
	}
	s.row += p.Rows
	p.State = 0
	return nil
}

// worker parses parts of the file for one goroutine.
type worker struct {
	*workers
	s *scanner
	p int // index of the current record
}

func (w *workers) newWorker(keep func(readers.Chunk) error) parallel.Scanner[*sink] {
	s := w.parser.scanner(w.Request)
	s.limits, s.emit = s.limits.Unbatched(), keep
	return &worker{workers: w, s: s}
}

// A guess tries maxTries lines to find a record: inside of a text of many lines there is none. It
// reads at most patience times the bytes of a part, since an apparent record may have no end.
const (
	maxTries = 64
	patience = 4
)

// guessBytes returns the maximum length of a record of a guess. A longer one is parsed once its
// start is verified.
func (r *worker) guessBytes() int64 {
	return min(r.s.limits.MaxFeatureBytes, patience*r.s.limits.PartBytes+window.Bytes)
}

// Find moves to the first line that is a record. It may be inside of quotes.
func (r *worker) Find(sink *sink, from, stop int64) bool {
	first := from == r.from
	if !first {
		from-- // this byte may end a line
	}
	if !r.open(sink, from, stop, 0, 0) {
		return false
	}
	r.s.Most = r.guessBytes()
	if !first {
		r.p = r.find(0)
	}
	return r.p >= 0
}

// Open moves to the record at an offset. The SRID is that of all earlier records, since Open is
// called when parts are committed.
func (r *worker) Open(sink *sink, from, stop, row int64) bool {
	return r.open(sink, from, stop, row, r.head.srid)
}

// open begins at an offset, with record number row, after records of an SRID; 0: they have none, or
// it is unknown.
func (r *worker) open(sink *sink, from, stop, row int64, srid int32) bool {
	s := r.s
	s.sink, s.sum, s.srid, s.stop = sink, readers.Summary{}, srid, stop
	r.p = 0
	return s.open(r.ctx, r.head.Src, from, r.head.End, row, cmp.Or(r.parser.readBytes, window.Bytes))
}

// find returns the index of the first line, after a line end at p or later, whose first record can
// be read; or -1.
func (r *worker) find(p int) int {
	s := r.s
	for range maxTries {
		if p = s.line(p); p < 0 || s.Base+int64(p) >= s.stop {
			return -1
		}
		at := s.Base + int64(p)
		end := s.record(p)
		good := end >= 0
		s.sink.Reset()
		s.row, s.srid, s.chunk, s.closed = 0, 0, readers.Span{}, true
		if s.err != nil || s.Read > r.guessBytes() && !good {
			return -1
		}
		if p = s.MoveTo(at); p < 0 || good {
			return p
		}
	}
	return -1
}

// line returns the index of the first line that begins after a line end at p or later, or -1.
func (s *scanner) line(p int) int {
	for {
		for ; p < s.N; p++ {
			if s.class[s.At(p)] == classLineEnd {
				if p = s.lineEnds(p); p == s.N {
					return -1
				}
				return p
			}
		}
		if s.EOF || s.Base+int64(p) >= s.stop {
			return -1
		}
		if p = s.refill(s.N); p < 0 {
			return -1
		}
	}
}

// Scan parses the records of the part.
func (r *worker) Scan() (parallel.Extent, bool) {
	s := r.s
	start := s.Base + int64(r.p)
	if !s.records(r.p) {
		return parallel.Extent{}, false
	}
	s.sum.BytesRead = s.Read
	return parallel.Extent{
		Start: start, Next: s.next, Row: s.row, Stopped: s.stopped,
		State: parallel.PackState(s.srid, s.closed), Summary: s.sum,
	}, true
}

// Err returns the reason of a failure.
func (r *worker) Err() error { return r.s.failure() }
