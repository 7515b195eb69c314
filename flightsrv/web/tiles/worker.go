package tiles

import (
	"cmp"
	"slices"
	"sync"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// worker is the state of one goroutine.
type worker struct {
	sketch     sketch
	simplifier simplifier
	clipper    clipper
	commands   commands
	shapes     []byte
	values     []byte
	ends       []int // in values
	encoders   map[*geoarrow.Columns][]*valueEncoder
	features   []feature
}

// feature is a geometry of a candidate: one for each type of geometry that it has.
type feature struct {
	kind   geometryType
	shape  [2]int // in worker.shapes
	values []int  // ends in worker.values, the first one being the start; nil for no columns
}

// workerPool keeps the memory of goroutines that have drawn a tile. The zero value is ready for
// use.
type workerPool struct{ pool sync.Pool }

func (p *workerPool) get() *worker {
	if w, ok := p.pool.Get().(*worker); ok {
		return w
	}
	return &worker{encoders: map[*geoarrow.Columns][]*valueEncoder{}}
}

// encode appends the features of a sketch to those of a worker. The sketch may be another worker's,
// and is changed.
func (d *painter) encode(w *worker, s *outline) error {
	first := len(w.features)
	s.encoder, s.features = w, [2]int{first, first}
	k := &s.sketcher.sketch
	paths := k.paths[s.paths[0]:s.paths[1]]
	if d.nodes != nil && !s.candidate.tiny {
		for i := range paths {
			paths[i].to = w.simplifier.simplify(k, paths[i])
		}
	}
	for _, t := range [...]geometryType{pointType, lineType, polygonType} {
		w.commands.reset()
		w.shape(t, k, paths)
		if len(w.commands.bytes) > 0 {
			from := len(w.shapes)
			w.shapes = append(w.shapes, w.commands.bytes...)
			w.features = append(w.features, feature{kind: t, shape: [2]int{from, len(w.shapes)}})
		}
	}
	s.features[1] = len(w.features)
	if len(w.features) == first || len(d.columns) == 0 {
		return nil
	}
	columns, row := d.rows.columnsOf(s.candidate)
	encoders := w.encoders[columns]
	if encoders == nil {
		for _, c := range d.columns {
			e, err := newValueEncoder(&columns.Attributes[c], columns.Rows)
			if err != nil {
				return err
			}
			encoders = append(encoders, e)
		}
		w.encoders[columns] = encoders
	}
	start := len(w.ends)
	w.ends = append(w.ends, len(w.values))
	for _, e := range encoders {
		w.values = e.append(w.values, row)
		w.ends = append(w.ends, len(w.values))
	}
	ends := w.ends[start:len(w.ends):len(w.ends)]
	for i := first; i < len(w.features); i++ {
		w.features[i].values = ends
	}
	return nil
}

// shape encodes the paths of one type of geometry, cut at the buffer.
func (w *worker) shape(t geometryType, k *sketch, paths []path) {
	var points []vertex
	outer := false // the last exterior ring is drawn
	for _, p := range paths {
		v := k.vertices[p.from:p.to]
		switch {
		case t == pointType && p.kind == pointPath:
			for _, q := range v {
				if w.clipper.inside([]vertex{q}) {
					points = append(points, q)
				}
			}
		case len(v) == 0 && p.kind != outerRing: // no position is a number, or near
		case t == lineType && p.kind == linePath:
			if len(v) == 1 { // shorter than a unit
				v = []vertex{v[0], {v[0].x + 1, v[0].y}}
			}
			w.clipper.line(v, w.commands.line)
		case t == polygonType && p.kind == outerRing, t == polygonType && p.kind == innerRing && outer:
			v = w.clipper.ring(v)
			a := int64(0)
			if len(v) > 2 {
				a = area(v)
			}
			if p.kind == outerRing {
				outer = a != 0
			}
			if a != 0 {
				w.commands.ring(v, (a > 0) != (p.kind == outerRing))
			}
		}
	}
	if t == pointType {
		if len(points) > shortPath { // many of them may be one unit
			slices.SortFunc(points, func(a, b vertex) int {
				return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y))
			})
			points = slices.Compact(points)
		}
		w.commands.points(points)
	}
}
