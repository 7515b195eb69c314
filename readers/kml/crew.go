package kml

import (
	"cmp"
	"context"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/source"
)

// crew reads one file with several workers. The lead, which began with the file, goes to the layer
// and reads its first rows; then all of them read parts of its container, inner ones passed; then
// the lead reads on behind it.
//
// A guess takes any "<Placemark" for a row. One in a comment, in another container or in a CDATA
// section is none, and does not begin where the part before ended: that is where a row of the
// container begins, as all bytes before were read to say so.
type crew struct {
	cpu     parser
	ctx     context.Context
	src     *source.File
	req     readers.Request
	lead    *scanner
	batcher *readers.Batcher
	sinks   rows.Lent[*sink]
	cards   *device.File // nil: without
	tags    *tagTexts    // that cards know
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
	for _, name := range p.Summary.Layers {
		w.lead.layers.add(name)
	}
	w.lead.sum.Add(&p.Summary)
	w.sinks.Learn(p.Text)
	return w.batcher.Add(p)
}

// rest reads the rows behind those of the lead, and goes to the end tag of their container.
func (w *crew) rest() bool {
	s := w.lead
	reader := w.reader
	if w.cards != nil && w.onCards() {
		w.tags, reader = newTagTexts(&s.schemas, s.repairs), w.deviceReader
	}
	s.asides.addTo(&s.sum)
	parts := readers.Parts{
		From: s.next, To: s.End, Row: s.feature, Size: s.limits.PartBytes, Workers: s.limits.Workers, Reader: reader,
		Columns: w.batcher.Columns(),
	}
	end, row, err := parts.Read(w.ctx, w.take)
	if err != nil {
		s.Failed = err
		return false
	}
	s.feature, s.inRow = row, false
	s.sink = w.sinks.Take()
	return s.seek(end)
}

// partReader reads parts of the container for one worker.
type partReader struct {
	*crew
	s      *scanner
	limits readers.Limits
	rows   readers.Chunk // of the part at hand
}

func (w *crew) reader() readers.PartReader {
	r := &partReader{crew: w, s: w.cpu.scanner(w.src, w.req)}
	s := r.s
	r.limits, s.part, s.found, s.schemas, s.header = s.limits.Unbatched(), true, true, w.lead.schemas, w.lead.header
	s.home.ResumeIn(&w.lead.home)
	s.X.Encoding = w.lead.X.Encoding
	s.emit = func(c readers.Chunk) error {
		r.rows = c
		return nil
	}
	return r
}

// Guess reads the rows between two offsets, from what seems to be the first one on.
func (r *partReader) Guess(from, stop int64) readers.Part {
	r.s.limits = r.limits.Guessed()
	ok := r.open(from, stop, 0) && r.s.Find(r.lead.opening, stop)
	return r.read(ok, 0)
}

// Read reads the rows between two offsets; at the first one a row begins.
func (r *partReader) Read(from, stop, row int64) (readers.Part, error) {
	r.s.limits = r.limits
	ok := r.open(from, stop, row)
	r.s.sink.Follow(r.batcher.Columns())
	part := r.read(ok, row)
	if part.Failed {
		return part, r.s.error()
	}
	return part, nil
}

func (r *partReader) open(from, stop, row int64) bool {
	s := r.s
	s.sink = r.sinks.Take()
	s.sum = readers.Summary{CRS: geoarrow.CRS84, Foreign: map[string]int64{}}
	s.layers, s.asides = layers{}, asides{}
	s.containers = append(s.containers[:0], container{numbered: true, chosen: true})
	s.stop = stop
	r.rows = readers.Chunk{}
	s.X.ResumeIn(&s.home)
	return s.open(r.ctx, r.src, from, r.lead.End, row, cmp.Or(r.cpu.readBytes, window.Bytes))
}

// read reads the part from the row at hand on, which is row number row; unless ok, it failed
// already.
func (r *partReader) read(ok bool, row int64) readers.Part {
	s := r.s
	start := s.Base + int64(s.X.P)
	if !ok || !s.walk() {
		return readers.Part{Failed: true} // its sink holds what may be no column at all
	}
	s.asides.addTo(&s.sum)
	part := r.sinks.Part(s.sink, r.rows, start, s.next)
	part.End, part.Rows, part.State, part.Summary = !s.stopped, s.feature-row, s.pack(), s.sum
	part.Summary.Deviations.Shift(-row)
	part.Summary.BytesRead = s.Read
	part.Summary.Layers = slices.Clone(s.layers.raw)
	return part
}
