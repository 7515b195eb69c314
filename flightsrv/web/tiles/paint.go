package tiles

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// painter makes one tile of candidates. Its stages are sketch, then simplify and encode, then add to
// the layer; each is done for a number of candidates by several goroutines, the last by one.
type painter struct {
	frame    *frame
	rows     rowSource
	columns  []int
	layer    *layer
	features int // that may still be added
	workers  []*worker
	nodes    *nodes // nil: no path is simplified
}

// rowSource gives the rows of candidates.
type rowSource interface {
	// columnsOf returns the batch that has a candidate. It is for several goroutines.
	columnsOf(c *candidate) (*geoarrow.Columns, int)
}

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

// outline is a candidate whose geometry is in a sketch, and then in features.
type outline struct {
	candidate *candidate
	sketcher  *worker
	paths     [2]int // in sketcher.sketch
	encoder   *worker
	features  [2]int // in encoder.features
}

// chunkRows is the number of candidates that are drawn together.
const chunkRows = 8192

// workerPool keeps the memory of goroutines that have drawn a tile.
var workerPool = sync.Pool{New: func() any { return &worker{encoders: map[*geoarrow.Columns][]*valueEncoder{}} }}

func newPainter(f *frame, rows rowSource, columns []int, l *layer, features int) *painter {
	d := &painter{frame: f, rows: rows, columns: columns, layer: l, features: features}
	for range runtime.GOMAXPROCS(0) {
		w := workerPool.Get().(*worker)
		w.clipper.lo, w.clipper.hi = -f.buffer, f.extent+f.buffer
		d.workers = append(d.workers, w)
	}
	return d
}

// release gives the memory of the painter back. It must not be used any more.
func (d *painter) release() {
	for _, w := range d.workers {
		clear(w.encoders) // the table may be evicted
		w.sketch.vertices, w.sketch.paths, w.sketch.long = w.sketch.vertices[:0], w.sketch.paths[:0], false
		w.simplifier.nodes = nil
		clear(w.features)
		if cap(w.sketch.vertices) < maxKeptVertices {
			workerPool.Put(w)
		}
	}
}

// maxKeptVertices bounds the memory that a worker keeps.
const maxKeptVertices = 1 << 18

// draw adds the candidates to the layer in the order of their keys, until it is full. Candidates
// with borders that may be simplified are sketched together, so that all nodes are known.
func (d *painter) draw(ctx context.Context, all []candidate) error {
	byKey := func(a, b candidate) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.row, b.row)) }
	if !slices.IsSortedFunc(all, byKey) {
		all = sorted(all)
	}
	all = all[:min(len(all), d.features)]
	var former []outline
	for len(all) > 0 {
		n := min(len(all), chunkRows)
		now, err := d.sketch(ctx, all[:n])
		if err != nil {
			return err
		}
		if d.long() && d.nodes == nil {
			rest, err := d.sketch(ctx, all[n:])
			if err != nil {
				return err
			}
			now, n = append(now, rest...), len(all)
			d.findNodes(former, now)
		}
		former, all = append(former, now...), all[n:]
		full, err := d.add(ctx, now)
		if full || err != nil {
			return err
		}
	}
	return nil
}

// sorted returns the candidates in the order of their keys.
func sorted(all []candidate) []candidate {
	type entry struct {
		key uint64
		i   int32
	}
	order := make([]entry, len(all))
	for i := range all {
		order[i] = entry{all[i].key, int32(i)}
	}
	slices.SortFunc(order, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(all[a.i].row, all[b.i].row))
	})
	out := make([]candidate, len(all))
	for i, p := range order {
		out[i] = all[p.i]
	}
	return out
}

// long reports whether a path is to be simplified.
func (d *painter) long() bool {
	return slices.ContainsFunc(d.workers, func(w *worker) bool { return w.sketch.long })
}

// sketch sketches candidates. It reads them in the order of rows.
func (d *painter) sketch(ctx context.Context, all []candidate) ([]outline, error) {
	order := make([]uint64, len(all))
	for i := range all {
		order[i] = rowOrder(all[i].row, i)
	}
	slices.Sort(order)
	out := make([]outline, len(all))
	err := d.parallel(ctx, len(all), func(w *worker, i int) error {
		i = int(order[i] & (maxFeatures - 1))
		c := &all[i]
		s := &w.sketch
		out[i] = outline{candidate: c, sketcher: w, paths: [2]int{len(s.paths), len(s.paths)}}
		if c.tiny {
			s.square(d.frame, c.cell)
		} else {
			columns, row := d.rows.columnsOf(c)
			if err := s.add(d.frame, columns.Geometry, row); err != nil {
				return err
			}
		}
		out[i].paths[1] = len(s.paths)
		return nil
	})
	return out, err
}

// rowOrder returns a number by which the features of a tile are sorted: by rows, then by a number
// less than maxFeatures. Go sorts numbers faster than structs.
func rowOrder(row int64, i int) uint64 { return uint64(row)<<featureBits | uint64(i) }

// maxFeatures bounds Config.MaxFeatures.
const (
	maxFeatures = 1 << featureBits
	featureBits = 22
)

// findNodes makes the table of nodes of all sketches.
func (d *painter) findNodes(groups ...[]outline) {
	n := 0
	for _, w := range d.workers {
		n += len(w.sketch.vertices)
	}
	d.nodes = newNodes(n)
	for _, group := range groups {
		for _, s := range group {
			if s.candidate.tiny {
				continue
			}
			for _, p := range s.sketcher.sketch.paths[s.paths[0]:s.paths[1]] {
				d.nodes.add(&s.sketcher.sketch, p)
			}
		}
	}
	for _, w := range d.workers {
		s := &w.simplifier
		s.nodes, s.tolerance = d.nodes, float64(d.frame.pixel)/4
		s.lo, s.hi = -d.frame.buffer-margin, d.frame.extent+d.frame.buffer+margin
	}
}

// add encodes sketches and adds them to the layer. full is true if one did not fit.
func (d *painter) add(ctx context.Context, all []outline) (full bool, err error) {
	for _, w := range d.workers {
		w.features, w.shapes, w.values = w.features[:0], w.shapes[:0], w.values[:0]
		w.ends = w.ends[:0]
	}
	if err := d.parallel(ctx, len(all), func(w *worker, i int) error { return d.encode(w, &all[i]) }); err != nil {
		return false, err
	}
	values := make([][]byte, len(d.columns))
	for i := range all {
		o := &all[i]
		for _, f := range o.encoder.features[o.features[0]:o.features[1]] {
			if d.features == 0 {
				return true, nil
			}
			for k := range values {
				values[k] = o.encoder.values[f.values[k]:f.values[k+1]]
			}
			if d.layer.add(o.candidate.row, f.kind, o.encoder.shapes[f.shape[0]:f.shape[1]], values) {
				d.features--
				continue
			}
			if full = true; d.layer.max-d.layer.size() < d.layer.max/16 {
				return true, nil
			} // else this one is larger than most, and others may fit
		}
	}
	return full, nil
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

// parallel calls f with the numbers below n, in runs, on all workers.
func (d *painter) parallel(ctx context.Context, n int, f func(w *worker, i int) error) error {
	return parallel(ctx, len(d.workers), n, 256, func(k, i int) error { return f(d.workers[k], i) })
}

// parallel calls f with the numbers below n, in runs, on goroutines 0 to workers-1.
func parallel(ctx context.Context, workers, n, run int, f func(worker, i int) error) error {
	var next atomic.Int64
	var wait sync.WaitGroup
	errs := make([]error, workers)
	work := func(k int) {
		for errs[k] == nil {
			to := int(next.Add(int64(run)))
			if to-run >= n {
				return
			}
			if errs[k] = ctx.Err(); errs[k] != nil {
				return
			}
			for i := to - run; i < min(to, n) && errs[k] == nil; i++ {
				errs[k] = f(k, i)
			}
		}
	}
	for k := 1; k < workers && k*run < n; k++ {
		wait.Go(func() { work(k) })
	}
	work(0)
	wait.Wait()
	return cmp.Or(errs...)
}

// square appends the square of a pixel.
func (s *sketch) square(f *frame, at cell) {
	from := int32(len(s.vertices))
	x, y := int64(at.x)*f.pixel, int64(at.y)*f.pixel
	s.vertices = append(s.vertices,
		vertex{x, y}, vertex{x + f.pixel, y}, vertex{x + f.pixel, y + f.pixel}, vertex{x, y + f.pixel})
	s.paths = append(s.paths, path{outerRing, from, from + 4})
}
