package tiles

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// painter makes one tile of candidates. Its stages are sketch, then simplify and encode, then add
// to the layer; each is done for a number of candidates by several goroutines, the last by one.
type painter struct {
	pool     *workerPool
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

// newPainter returns a painter of a tile. The caller releases it.
func newPainter(p *workerPool, f *frame, rows rowSource, columns []int, l *layer, features int) *painter {
	d := &painter{pool: p, frame: f, rows: rows, columns: columns, layer: l, features: features}
	for range runtime.GOMAXPROCS(0) {
		w := p.get()
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
			d.pool.pool.Put(w)
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
			} // else this one is large, and others may fit
		}
	}
	return full, nil
}

// parallel calls f with the numbers below n, in runs, on all workers.
func (d *painter) parallel(ctx context.Context, n int, f func(w *worker, i int) error) error {
	return parallel(ctx, len(d.workers), n, 256, func(k, i int) error { return f(d.workers[k], i) })
}
