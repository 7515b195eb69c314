package kml

import (
	"cmp"
	"context"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/source"
)

// workers parse one file. The head scanner finds the layer and parses its first rows. Then all
// workers parse parts of its container, and skip inner ones. Then the head scanner continues after
// the container.
//
// A guess assumes that any "<Placemark" begins a row. One in a comment, in another container or in
// a CDATA section is not a row. It does not begin where the previous part ended, since the parse of
// all previous bytes has found a row of the container there.
type workers struct {
	*parallel.File[*sink]
	ctx    context.Context
	parser parser
	head   *scanner
	tags   *tagTexts // for the device
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
	head.headBytes = w.HeadBytes()
	head.sink = w.Sinks.Take()
	head.sink.Follow(w.Columns())
	head.emit = func(chunk readers.Chunk) error { return w.AddHead(head.sink, chunk) }
	head.rest = w.rest
	return w
}

// commit notes the layers of a part.
func (w *workers) commit(p *readers.Part) error {
	for _, name := range p.Summary.Layers {
		w.head.layers.add(name)
	}
	return nil
}

// rest parses the rows after those of the head scanner, and moves to the end tag of their
// container.
func (w *workers) rest() bool {
	s := w.head
	var chunks func() device.Chunks
	if w.Device != nil && w.onDevice() {
		w.tags = newTagTexts(&s.schemas, s.repairs)
		chunks = func() device.Chunks { return w.deviceChunks() }
	}
	s.asides.addTo(&s.sum)
	end, row, err := w.Read(s.next, s.End, s.feature, chunks)
	if err != nil {
		s.Failed = err
		return false
	}
	s.feature, s.inRow = row, false
	s.sink = w.Sinks.Take()
	return s.seek(end)
}

// worker parses parts of the container for one goroutine.
type worker struct {
	*workers
	s      *scanner
	limits readers.Limits // of verified rows
}

func (w *workers) newWorker(keep func(readers.Chunk) error) parallel.Scanner[*sink] {
	s := w.parser.scanner(w.Source, w.Request)
	r := &worker{workers: w, s: s, limits: s.limits.Unbatched()}
	s.part, s.found, s.schemas, s.header, s.emit = true, true, w.head.schemas, w.head.header, keep
	s.home.ResumeIn(&w.head.home)
	s.X.Encoding = w.head.X.Encoding
	return r
}

// Find moves to the first Placemark that seems to begin between two offsets.
func (r *worker) Find(sink *sink, from, stop int64) bool {
	r.s.limits = r.limits.Guessed()
	return r.open(sink, from, stop, 0) && r.s.Find(r.head.opening, stop)
}

// Open moves to the Placemark at an offset.
func (r *worker) Open(sink *sink, from, stop, row int64) bool {
	r.s.limits = r.limits
	return r.open(sink, from, stop, row)
}

func (r *worker) open(sink *sink, from, stop, row int64) bool {
	s := r.s
	s.sink, s.stop = sink, stop
	s.sum = readers.Summary{CRS: geoarrow.CRS84, Foreign: map[string]int64{}}
	s.layers, s.asides = layers{}, asides{}
	s.containers = append(s.containers[:0], container{numbered: true, chosen: true})
	s.X.ResumeIn(&s.home)
	return s.open(r.ctx, r.Source, from, r.head.End, row, cmp.Or(r.parser.readBytes, window.Bytes))
}

// Scan parses the Placemarks of the part.
func (r *worker) Scan() (parallel.Extent, bool) {
	s := r.s
	start := s.Base + int64(s.X.P)
	if !s.walk() {
		return parallel.Extent{}, false
	}
	s.asides.addTo(&s.sum)
	s.sum.BytesRead, s.sum.Layers = s.Read, slices.Clone(s.layers.raw)
	return parallel.Extent{
		Start: start, Next: s.next, Row: s.feature, Stopped: s.stopped, State: s.pack(), Summary: s.sum,
	}, true
}

// Err returns the reason for a failure.
func (r *worker) Err() error { return r.s.error() }
