package geojson

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// crew reads one file with several workers. The lead, which began with the file, reads the first rows, learns from them what features look like,
// and reads what stands behind the rows in the end.
type crew struct {
	cpu     cpu
	ctx     context.Context
	src     *source.File
	req     readers.Request
	lead    *scanner
	batcher *readers.Batcher
	sinks   lent
	prefix  []byte       // what features begin with; empty if that is too short to be looked for
	seen    seen         // properties of the rows so far
	refused atomic.Int32 // chunks that the device refused, since it took one
}

// leadBytes is how much the lead reads while all others wait.
const leadBytes = 256 << 10

// crew makes the lead hand over behind the first rows.
func (c cpu) crew(ctx context.Context, src *source.File, req readers.Request, lead *scanner) *crew {
	w := &crew{cpu: c, ctx: ctx, src: src, req: req, lead: lead}
	w.batcher = readers.NewBatcher(ctx, c, src, req.Span.Row, req.Span.To, req.Limits, lead.emit)
	lead.limits = lead.limits.Unbatched()
	lead.stop = req.Span.From + min(lead.limits.PartBytes, leadBytes)
	lead.sink = w.sinks.take()
	lead.emit = func(chunk readers.Chunk) error {
		if c.device == nil { // else sinks are for what a card leaves, which may be much or next to nothing
			w.sinks.expect(lead.sink.expect(float64(lead.limits.PartBytes) / float64(chunk.Span.To-chunk.Span.From)))
		}
		return w.take(lead.part(&w.sinks, chunk))
	}
	lead.rest = w.rest
	return w
}

func (w *crew) close() { w.batcher.Close() }

// finish waits for all chunks.
func (w *crew) finish() error { return w.batcher.Finish() }

// take puts a part that is known to be right behind the ones before.
func (w *crew) take(p readers.Part) error {
	w.lead.sum.Add(&p.Summary)
	w.sinks.learn(p.Text)
	if w.cpu.device != nil {
		w.seen.learn(p.Columns)
	}
	return w.batcher.Add(p)
}

// rest reads the rows behind those of the lead, and gives the lead's index behind them.
func (w *crew) rest() int {
	s := w.lead
	w.prefix = s.prefix()
	reader := w.reader
	if w.cpu.device != nil {
		reader = w.deviceReader
	}
	parts := readers.Parts{From: s.next, To: s.window.end, Row: s.feature, Size: s.limits.PartBytes, Workers: s.limits.Workers, Reader: reader}
	end, row, err := parts.Read(w.ctx, w.take)
	if err != nil {
		s.err = err
		return -1
	}
	s.feature, s.inRow = row, false
	p := s.seek(end)
	if p < 0 {
		s.err = s.window.err
	}
	return p
}

// shortestPrefix is how many bytes a feature must begin with so that who looks for them finds features and little else.
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

// lent are sinks whose memory serves one part after the other: a part's columns are copied into chunks before the next part fills them again.
type lent struct {
	mu   sync.Mutex
	free []*sink
	text []geoarrow.ColumnID // columns that are known to be text
	want sizes               // of a new one
}

func (l *lent) take() *sink {
	l.mu.Lock()
	var k *sink
	if n := len(l.free); n > 0 {
		k, l.free = l.free[n-1], l.free[:n-1]
	}
	text, want := slices.Clone(l.text), l.want
	l.mu.Unlock()
	if k == nil {
		k = newSink()
		k.memory.Lend = true
		k.prepare(want)
	}
	k.text = text
	k.reset()
	return k
}

// expect says how large sinks will be.
func (l *lent) expect(s sizes) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.want = s
}

func (l *lent) give(k *sink) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, k)
}

// learn keeps what a part of the file showed, so that the next ones need not be read twice.
func (l *lent) learn(text []geoarrow.ColumnID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range text {
		if !slices.Contains(l.text, id) {
			l.text = append(l.text, id)
		}
	}
}

// part is what the scanner read, of which chunk is the rows.
func (s *scanner) part(sinks *lent, chunk readers.Chunk) readers.Part {
	sink := s.sink
	return readers.Part{
		Start: chunk.Span.From, To: chunk.Span.To, Next: chunk.Span.To, Columns: chunk.Columns, Starts: sink.starts, State: chunk.Span.State, Text: chunk.Span.Text,
		Release: func() { sinks.give(sink) },
	}
}
