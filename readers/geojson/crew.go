package geojson

import (
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/source"
)

// crew reads one file with several workers. The lead, which began with the file, reads the first
// rows, learns from them what features look like, and reads what stands behind the rows in the end.
type crew struct {
	cpu     parser
	ctx     context.Context
	src     *source.File
	req     readers.Request
	lead    *scanner
	batcher *readers.Batcher
	sinks   rows.Lent[*sink]
	prefix  []byte       // what features begin with; empty if that is too short to be looked for
	seen    seen         // properties of the rows so far
	cards   *device.File // nil: without
}

// crew makes the lead hand over behind the first rows.
func (c parser) crew(ctx context.Context, src *source.File, req readers.Request, lead *scanner) *crew {
	w := &crew{cpu: c, ctx: ctx, src: src, req: req, lead: lead}
	if c.device != nil {
		w.cards = c.device.File(ctx, src)
	}
	w.sinks.New = func() *sink {
		k := newSink(c.layout.Columns)
		k.MaxColumns = lead.limits.MaxColumns
		return k
	}
	w.batcher = readers.NewBatcher(ctx, c, src, req.Span.Row, req.Span.To, req.Limits, lead.emit)
	w.batcher.Inline = w.cards == nil
	lead.limits = lead.limits.Unbatched()
	lead.stop = req.Span.From + min(lead.limits.PartBytes, leadBytes(w.cards != nil))
	lead.sink = w.sinks.Take()
	lead.sink.Follow(w.batcher.Columns())
	lead.emit = func(chunk readers.Chunk) error {
		if w.cards == nil { // else sinks are for what a card leaves, which may be much or next to nothing
			w.sinks.Expect(lead.sink.Expect(float64(lead.limits.PartBytes) / float64(chunk.Span.To-chunk.Span.From)))
		}
		return w.take(w.sinks.Part(lead.sink, chunk, chunk.Span.From, chunk.Span.To))
	}
	lead.rest = w.rest
	return w
}

// leadBytes is how much of the rows the lead reads at most before others help. A card needs to know
// how features begin, and which members most of them have: everybody waits until it does.
func leadBytes(card bool) int64 {
	if card {
		return rows.LeadBytes / 4
	}
	return rows.LeadBytes
}

func (w *crew) close() { w.batcher.Close() }

// finish waits for all chunks.
func (w *crew) finish() error { return w.batcher.Finish() }

// take puts a part that is known to be right behind the ones before.
func (w *crew) take(p readers.Part) error {
	w.lead.sum.Add(&p.Summary)
	w.sinks.Learn(p.Text)
	if w.cards != nil {
		w.seen.learn(p.Columns)
	}
	return w.batcher.Add(p)
}

// rest reads the rows behind those of the lead, and gives the lead's index behind them.
func (w *crew) rest() int {
	s := w.lead
	w.prefix = s.prefix()
	reader := w.reader
	if w.cards != nil {
		reader = w.deviceReader
	}
	parts := readers.Parts{
		From: s.next, To: s.Window.End, Row: s.feature, Size: s.limits.PartBytes,
		Workers: s.limits.Workers, Reader: reader, Columns: w.batcher.Columns(),
	}
	end, row, err := parts.Read(w.ctx, w.take)
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

// shortestPrefix is how many bytes a feature must begin with so that who looks for them finds
// features and little else.
const shortestPrefix = 8

// prefix is what the last features began with, if that is enough.
func (s *scanner) prefix() []byte {
	a, b := s.gaps[gapStart][0].text, s.gaps[gapStart][1].text
	if b != "" {
		n := 0
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		a = a[:n]
	}
	if len(a) < shortestPrefix {
		return nil
	}
	return []byte(a)
}
