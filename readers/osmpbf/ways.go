package osmpbf

import (
	"fmt"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// lineReader finds the lines of ways, for one goroutine.
type lineReader struct {
	line []location // of the current way
	ways wayReader
}

// minLine is the number of positions of the shortest line.
const minLine = 2

// find sets the line of the current way: the locations of those of its nodes that the file has. The
// line of an area ends with its first position, whether or not the file has the last node. ok is
// false if they are too few.
func (w *worker) find(area bool) (ok bool) {
	refs := w.objects.refs
	if area {
		refs = refs[:len(refs)-1]
	}
	line := slices.Grow(w.lines.line[:0], len(refs)+1)
	for _, id := range refs {
		if l, ok := w.nodes.find(int64(id)); ok {
			line = append(line, l)
		}
	}
	if area && len(line) > 0 {
		line = append(line, line[0])
	}
	w.lines.line = line
	return len(line) >= minLine
}

// isArea reports whether the current way is a polygon: it is closed, and its tags say so.
func (w *worker) isArea() bool {
	refs := w.objects.refs
	return len(refs) >= minLine && refs[0] == refs[len(refs)-1] && w.layer.isArea(&w.texts, w.objects.tags)
}

// tooLarge returns the error for a row of n positions that exceeds the limit, or nil.
func (w *worker) tooLarge(f frame, n int) error {
	if int64(n) <= w.limits.MaxFeatureBytes/positionBytes {
		return nil
	}
	e := errorAt(w.src, f.at, &fault{})
	e.Row = 0 // the number comes later
	return &readers.LimitError{
		What: fmt.Sprintf("a feature of %d or more positions", n), Flag: "--max-feature-bytes",
		Limit: w.limits.MaxFeatureBytes, Err: e,
	}
}

// eachWay calls visit with each way of a blob, and ends the builder.
func (b *builder) eachWay(f blob, visit func(s span) error) error {
	w := b.w
	var failed error
	_, bad := w.block.each(func(field int, s span) *fault {
		if field != groupWays {
			return nil
		}
		if bad := w.objects.way(&w.block, s); bad != nil {
			return bad
		}
		if failed = visit(s); failed != nil {
			return &fault{err: failed}
		}
		return nil
	})
	if bad != nil && failed == nil {
		failed = blockError(w.src, f.frame, bad)
	}
	return b.end(failed)
}

// lineRows reads the ways of a blob that are lines.
func (w *worker) lineRows(f blob, put func(part) error) error {
	if err := w.open(f.frame); err != nil {
		return err
	}
	b := w.builder(f.frame, put)
	return b.eachWay(f, func(s span) error {
		o := &w.objects
		if len(o.tags) == 0 || len(o.refs) < minLine || w.isArea() {
			return nil
		}
		if !w.find(false) {
			return nil
		}
		if err := w.tooLarge(f.frame, len(w.lines.line)); err != nil {
			return err
		}
		if bad := b.sink.attributes(&w.texts, s.from, o.id, false, o.tags); bad != nil {
			return b.skip(bad)
		}
		b.line(w.lines.line)
		b.sink.Geom.End(geoarrow.LineString)
		return b.next()
	})
}

// line adds the positions of a line.
func (b *builder) line(line []location) {
	g := &b.sink.Geom
	n := len(g.X)
	g.Extend(len(line), geoarrow.XY)
	x, y := g.X[n:], g.Y[n:]
	for i, l := range line {
		x[i], y[i] = l.degrees()
	}
	b.sink.size += positionBytes * int64(len(line))
}

// areaRows reads the closed ways of a blob that are polygons, and no rings of relations.
func (w *worker) areaRows(f blob, put func(part) error) error {
	if err := w.open(f.frame); err != nil {
		return err
	}
	b := w.builder(f.frame, put)
	return b.eachWay(f, func(s span) error {
		o := &w.objects
		if !w.isArea() || !w.tagged() {
			return nil
		}
		if _, dropped := slices.BinarySearch(w.dropped, o.id); dropped {
			return nil
		}
		if !w.find(true) {
			return nil
		}
		if err := w.tooLarge(f.frame, len(w.lines.line)); err != nil {
			return err
		}
		if bad := b.sink.attributes(&w.texts, s.from, o.id, true, o.tags); bad != nil {
			return b.skip(bad)
		}
		b.line(w.lines.line)
		b.sink.Geom.EndRing()
		b.sink.Geom.EndPart()
		b.sink.Geom.End(geoarrow.MultiPolygon)
		return b.next()
	})
}

// tagged reports whether the current way has a tag that says what the polygon is.
func (w *worker) tagged() bool {
	return slices.ContainsFunc(w.objects.tags, func(g tag) bool { return w.layer.class(&w.texts, g.key)&keyEarly == 0 })
}

// store stores the ways that the layer's relations have.
func (r *run) store() error {
	r.ways = &wayStore{spill: r.spill()}
	if len(r.members) == 0 {
		return nil
	}
	if err := each(r, r.known(hasWays), (*worker).storeWays, func(_ blob, s *wayRun) error {
		return r.ways.add(s)
	}); err != nil {
		return err
	}
	return r.ways.end()
}

// storeWays encodes the ways of a blob that relations have.
func (w *worker) storeWays(f blob, put func(*wayRun) error) error {
	if err := w.open(f.frame); err != nil {
		return err
	}
	found := &wayRun{}
	var failed error
	_, bad := w.block.each(func(field int, s span) *fault {
		if field != groupWays {
			return nil
		}
		if bad := w.objects.way(&w.block, s); bad != nil {
			return bad
		}
		if w.storeWay(found); len(found.bytes) <= partBytes {
			return nil
		}
		if failed, found = put(found), (&wayRun{}); failed != nil {
			return &fault{err: failed}
		}
		return nil
	})
	switch {
	case failed != nil:
		return failed
	case bad != nil:
		return blockError(w.src, f.frame, bad)
	}
	return put(found)
}

// storeWay adds the current way, if a relation has it.
func (w *worker) storeWay(found *wayRun) {
	o := &w.objects
	if _, member := slices.BinarySearch(w.run.members, o.id); !member || len(o.refs) < minLine {
		return
	}
	area := w.isArea()
	if !w.find(area) {
		return
	}
	var tags []tag
	if area && w.layer.number == multipolygons {
		for _, g := range o.tags {
			if w.layer.class(&w.texts, g.key)&keyEarly == 0 {
				tags = append(tags, g)
			}
		}
	}
	found.ids = append(found.ids, o.id)
	found.starts = append(found.starts, int64(len(found.bytes)))
	found.bytes = appendWay(found.bytes, &w.texts, area, tags, w.lines.line)
}
