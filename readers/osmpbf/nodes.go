package osmpbf

import (
	"errors"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

var errPosition = errors.New("the position of a node is not on Earth: expected -180 to 180 and -90 to 90 degrees")

// partBytes is the size of the rows, about, at which a part ends.
const partBytes = 4 << 20

// builder fills parts with the rows of a blob.
type builder struct {
	w    *worker
	f    frame
	sink *sink
	put  func(part) error
}

func (w *worker) builder(f frame, put func(part) error) *builder {
	return &builder{w: w, f: f, sink: w.out.sinks.Take(), put: put}
}

// end ends the blob, with an error or without.
func (b *builder) end(err error) error {
	if b.sink == nil { // its rows could not be put
		return err
	}
	if err == nil {
		return b.flush(nil)
	}
	return b.flush(&rowFault{err})
}

// flush puts the rows so far, and the error of the row that follows.
func (b *builder) flush(f *rowFault) error {
	k := b.sink
	b.sink = nil
	return b.put(part{sink: k, fault: f})
}

// next ends the current row, and begins another part if this one is large.
func (b *builder) next() error {
	b.sink.commit(b.f)
	if b.sink.size < partBytes {
		return nil
	}
	if err := b.flush(nil); err != nil {
		return err
	}
	b.sink = b.w.out.sinks.Take()
	return b.w.ctx.Err()
}

// skip leaves out the current row, whose fault is given. It returns an error unless the row may be
// skipped.
func (b *builder) skip(bad *fault) error {
	b.sink.rollback()
	if b.w.layout.Options.SkipErrors() {
		b.sink.Skip(b.f.at)
		return nil
	}
	e := blockError(b.w.src, b.f, bad)
	e.Row, e.Mode = 0, "null" // the number comes later
	return e
}

// points reads the layer of nodes.
func (r *run) points() error { return each(r, r.frames(), (*worker).pointRows, r.take) }

// pointRows reads the nodes of a blob that are points.
func (w *worker) pointRows(f blob, put func(part) error) error {
	if err := w.open(f.frame); err != nil {
		return err
	}
	b := w.builder(f.frame, put)
	var failed error
	_, bad := w.block.each(func(field int, s span) (bad *fault) {
		switch field {
		case groupDense:
			bad, failed = b.densePoints(s)
		case groupNodes:
			if bad = w.objects.node(&w.block, s); bad == nil {
				failed = b.point(s.from, w.objects.id, w.objects.lon, w.objects.lat, w.objects.tags)
			}
		}
		if failed != nil {
			bad = &fault{err: failed}
		}
		return bad
	})
	if bad != nil && failed == nil {
		failed = blockError(w.src, f.frame, bad)
	}
	return b.end(failed)
}

// densePoints reads dense nodes.
func (b *builder) densePoints(s span) (*fault, error) {
	w := b.w
	d := &w.dense
	if bad := d.read(&w.block, s, true); bad != nil {
		return bad, nil
	}
	n, p, kv := uint64(len(w.spans)), 0, d.tags
	for i := range d.ids {
		w.objects.tags = w.objects.tags[:0]
		for len(kv) > 0 {
			if p >= len(kv) {
				return faultf(s.from, "the tags of dense nodes end at node %d of %d", i, len(d.ids)), nil
			}
			key := kv[p]
			if p++; key == 0 {
				break
			}
			if p == len(kv) {
				return faultf(s.from, "the tags of dense nodes end after a key"), nil
			}
			value := kv[p]
			p++
			if key >= n || value >= n {
				return faultf(s.from, "string %d, of a table of %d", max(key, value), n), nil
			}
			w.objects.tags = append(w.objects.tags, tag{uint32(key), uint32(value)})
		}
		if err := b.point(s.from, int64(d.ids[i]), int64(d.lons[i]), int64(d.lats[i]), w.objects.tags); err != nil {
			return nil, err
		}
	}
	if p < len(kv) {
		return faultf(s.from, "%d numbers after the tags of the last dense node", len(kv)-p), nil
	}
	return nil, nil
}

// point adds a node, if it has a significant tag.
func (b *builder) point(at int, id, lon, lat int64, tags []tag) error {
	w, k := b.w, b.sink
	x, y := w.position(w.block.lon, lon), w.position(w.block.lat, lat)
	valid := isDegrees(x, y)
	t := &w.texts
	significant := slices.ContainsFunc(tags, func(g tag) bool { return w.layer.class(t, g.key)&keyMinor == 0 })
	if valid && !significant {
		return nil
	}
	if !valid {
		bad := &fault{at: at, field: "geometry", err: errPosition}
		if !k.nulls {
			return b.skip(bad)
		}
		if !significant {
			k.Deviations.Add(readers.Deviation{
				Offset: b.f.at, Row: int64(k.Rows), Field: "geometry",
				Rule: rulePosition, Done: "node is left out",
			})
			return nil
		}
		k.bad = append(k.bad, deviation{bad, rulePosition, "geometry is null"})
	}
	if bad := k.attributes(t, at, id, false, tags); bad != nil {
		return b.skip(bad)
	}
	if valid {
		k.Geom.X, k.Geom.Y = append(k.Geom.X, x), append(k.Geom.Y, y)
		k.Geom.End(geoarrow.Point)
		k.size += positionBytes
	} else {
		k.Geom.Null()
	}
	return b.next()
}

// positionBytes is the size of a position.
const positionBytes = 16
