package gml

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/source"
)

// crew reads one file with several workers. The lead, which began with the file, reads the first
// rows; then all of them read parts of the rest, up to the end of the file. A guess takes for a row
// whatever begins as the rows before did, and takes it to stand in the elements in which the row
// behind those of the lead does. If a part ends before a row that stands in others, the ones behind
// are read from there with a new guess at what rows stand in.
type crew struct {
	cpu     parser
	ctx     context.Context
	src     *source.File
	req     readers.Request
	lead    *scanner
	batcher *readers.Batcher
	sinks   rows.Lent[*sink]
	known   atomic.Pointer[established] // of the parts that were taken
	home    where                       // of rows where parts begin
	row     int64                       // number of the one behind the last part
	cards   *device.File                // nil: without
	words   *vocabulary                 // of rows, for cards

	mu    sync.Mutex
	moved map[moved]where // of rows behind parts that stand in other elements than home
	next  *where          // of the row behind the last part, if it is one of those
}

// moved is a part that ends before a row that stands in other elements.
type moved struct{ start, next int64 }

// crew makes the lead hand over behind the first rows.
func (c parser) crew(ctx context.Context, src *source.File, req readers.Request, lead *scanner) *crew {
	w := &crew{cpu: c, ctx: ctx, src: src, req: req, lead: lead, moved: map[moved]where{}}
	if c.device != nil {
		w.cards = c.device.File(ctx, src)
	}
	w.sinks.New = func() *sink {
		k := newSink(lead.schema, c.layout.Columns)
		k.MaxColumns = lead.limits.MaxColumns
		return k
	}
	w.batcher = readers.NewBatcher(ctx, c, src, req.Span.Row, req.Span.To, req.Limits, lead.emit)
	w.batcher.Inline = w.cards == nil
	lead.limits = lead.limits.Unbatched()
	lead.lead = min(lead.limits.PartBytes, rows.LeadBytes)
	lead.sink = w.sinks.Take()
	lead.sink.Follow(w.batcher.Columns())
	lead.emit = func(chunk readers.Chunk) error {
		w.sinks.Expect(lead.sink.Expect(float64(lead.limits.PartBytes) / float64(chunk.Span.To-chunk.Span.From)))
		return w.take(w.sinks.Part(lead.sink, chunk, chunk.Span.From, chunk.Span.To))
	}
	lead.rest = w.rest
	return w
}

func (w *crew) close() { w.batcher.Close() }

// finish waits for all chunks.
func (w *crew) finish() error { return w.batcher.Finish() }

// take puts a part that is known to be right behind the ones before.
func (w *crew) take(p readers.Part) error {
	s := w.lead
	if s.crs.set && (p.State&foundSystem != 0 && p.Summary.CRS != s.crs.crs || p.State&droppedSystem != 0) {
		var err error
		if p, err = w.again(p); err != nil {
			return err
		}
	}
	if p.State&foundSystem != 0 {
		s.crs.crs, s.crs.set = p.Summary.CRS, true
	}
	w.known.Store(&established{crs: s.crs.crs, set: s.crs.set})
	p.CRS = s.crs.span()
	for _, name := range p.Summary.Layers {
		s.layers.add([]byte(name))
	}
	s.sum.Add(&p.Summary)
	w.sinks.Learn(p.Text)
	w.row += p.Rows
	w.mu.Lock()
	if next, ok := w.moved[moved{p.Start, p.Next}]; ok && p.End {
		w.next = &next
	}
	w.mu.Unlock()
	p.State &^= foundSystem | droppedSystem
	return w.batcher.Add(p)
}

// again reads a part once more that was guessed before what the rows in front of it showed was
// known.
func (w *crew) again(p readers.Part) (readers.Part, error) {
	p.Release()
	p, err := w.reader().Read(p.Start, p.Next, w.row)
	p.Summary.Deviations.Shift(w.row)
	return p, err
}

// Bits of the State of a part.
const (
	foundSystem   = 1 << 63 // a geometry has a system, or has none
	droppedSystem = 1 << 62 // as scanner.dropped
)

// rest reads the rows behind those of the lead, to the end of the file.
func (w *crew) rest() bool {
	s := w.lead
	w.home, w.row = s.ending, s.feature
	for at := s.next; ; {
		w.next = nil
		clear(w.moved)
		reader := w.reader
		if w.forCards(at) {
			reader = w.deviceReader
		}
		parts := readers.Parts{
			From: at, To: s.End, Row: w.row, Size: s.limits.PartBytes, Workers: s.limits.Workers, Reader: reader,
			Columns: w.batcher.Columns(),
		}
		end, _, err := parts.Read(w.ctx, w.take)
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
