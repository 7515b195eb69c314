package osmpbf

import (
	"slices"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// shapes makes the geometries of relations, for one goroutine.
type shapes struct {
	lines    []location   // of all members, one after the other
	ends     []int        // of each line in lines
	areas    []bool       // whether each line is a polygon by its tags
	each     [][]location // the lines
	assembly assembly
	outer    texts // tags of the outer way of a relation without own ones
	tags     []tag
}

// kindOfRelation returns the layer of the current relation, and whether it has a tag other than its
// type and the program that made it.
func (w *worker) kindOfRelation() (number int, tagged bool) {
	number = otherRelations
	for _, g := range w.objects.tags {
		switch c := w.layer.class(&w.texts, g.key); {
		case c&keyType != 0:
			switch string(w.texts.bytes(g.value)) {
			case "multipolygon", "boundary":
				number = multipolygons
			case "multilinestring", "route":
				if number != multipolygons {
					number = multilinestrings
				}
			}
		case c&keyCreatedBy == 0:
			tagged = true
		}
	}
	return number, tagged
}

// ofLayer reports whether the current relation is one of the layer's.
func (w *worker) ofLayer() bool {
	number, _ := w.kindOfRelation()
	return number == w.layer.number
}

// isLine reports whether member i of the current relation is a way of its geometry.
func (w *worker) isLine(i int) bool {
	o := &w.objects
	return o.types[i] == memberWay && string(w.texts.bytes(uint32(o.roles[i]))) != "subarea"
}

func (w *worker) isOuter(i int) bool {
	return string(w.texts.bytes(uint32(w.objects.roles[i]))) == "outer"
}

// appendWays appends the ways of the current relation.
func (w *worker) appendWays(ids []int64) []int64 {
	for i, id := range w.objects.members {
		if w.isLine(i) {
			ids = append(ids, int64(id))
		}
	}
	return ids
}

// relationPart is the rows of relations, and the closed ways that are their rings.
type relationPart struct {
	part
	rings []int64
}

// relations reads the layer's relations.
func (r *run) relations() error {
	err := each(r, r.known(hasRelations), (*worker).relationRows, func(_ blob, v relationPart) error {
		r.dropped = append(r.dropped, v.rings...)
		return r.out.add(v.part)
	})
	slices.Sort(r.dropped)
	return err
}

// relationRows reads the relations of a blob.
func (w *worker) relationRows(f blob, put func(relationPart) error) error {
	if err := w.open(f.frame); err != nil {
		return err
	}
	var rings []int64
	b := w.builder(f.frame, func(p part) error {
		r := relationPart{p, rings}
		rings = nil
		return put(r)
	})
	var failed error
	_, bad := w.block.each(func(field int, s span) *fault {
		if field != groupRelations {
			return nil
		}
		if bad := w.objects.relation(&w.block, s); bad != nil {
			return bad
		}
		number, tagged := w.kindOfRelation()
		if number != w.layer.number {
			return nil
		}
		if number == multipolygons {
			failed = b.multipolygon(s, tagged, &rings)
		} else {
			failed = b.collection(s)
		}
		if failed != nil {
			return &fault{err: failed}
		}
		return nil
	})
	if bad != nil && failed == nil {
		failed = blockError(w.src, f.frame, bad)
	}
	return b.end(failed)
}

// collection adds the current relation as its lines, and in the layer of other relations its nodes
// and polygons. It is left out if the file has none of them.
func (b *builder) collection(s span) error {
	w := b.w
	o := &w.objects
	g := &b.sink.Geom
	multi := w.layer.number == multilinestrings
	if !multi {
		g.BeginCollection()
	}
	members, positions := 0, 0
	for i, id := range o.members {
		switch {
		case o.types[i] == memberNode && !multi:
			l, ok := w.nodes.find(int64(id))
			if !ok {
				continue
			}
			b.line([]location{l})
			g.End(geoarrow.Point)
			positions++
		case w.isLine(i):
			way, ok := w.lines.ways.read(int64(id), w.lines.line[:0])
			if !ok {
				continue
			}
			w.lines.line = way.line
			if positions += len(way.line); w.tooLarge(b.f, positions) != nil {
				return w.tooLarge(b.f, positions)
			}
			b.line(way.line)
			switch {
			case multi:
				g.EndRing()
			case way.area:
				g.EndRing()
				g.End(geoarrow.Polygon)
			default:
				g.End(geoarrow.LineString)
			}
		default:
			continue
		}
		members++
	}
	if members == 0 {
		b.sink.rollback()
		return nil
	}
	if bad := b.sink.attributes(&w.texts, s.from, o.id, false, o.tags); bad != nil {
		return b.skip(bad)
	}
	if multi {
		g.End(geoarrow.MultiLineString)
	} else {
		g.EndCollection()
	}
	return b.next()
}

// multipolygon adds the current relation as the polygons of its ways. It is left out if the file
// lacks one of them, or if they have no ring. rings gets the closed ways that are outer rings. A
// relation without tags has those of its first outer way that has some.
func (b *builder) multipolygon(s span, tagged bool, rings *[]int64) error {
	w := b.w
	o, m := &w.objects, &w.shapes
	for i, id := range o.members { // most of the relations that cross the border of an extract lack ways
		if w.isLine(i) {
			if _, ok := slices.BinarySearch(w.run.ways.ids, int64(id)); !ok {
				return nil
			}
		}
	}
	m.lines, m.ends, m.tags = m.lines[:0], m.ends[:0], m.tags[:0]
	m.outer.reset(m.outer.raw[:0])
	for i, id := range o.members {
		if !w.isLine(i) {
			continue
		}
		from := len(m.lines)
		way, _ := w.lines.ways.read(int64(id), m.lines)
		m.lines = way.line
		m.ends = append(m.ends, len(m.lines))
		if err := w.tooLarge(b.f, len(m.lines)); err != nil {
			return err
		}
		if !w.isOuter(i) {
			continue
		}
		if m.lines[from] == m.lines[len(m.lines)-1] {
			*rings = append(*rings, int64(id))
		}
		if !tagged && len(m.tags) == 0 {
			way.eachTag(func(key, value []byte) {
				m.tags = append(m.tags, tag{m.outer.add(key), m.outer.add(value)})
			})
		}
	}
	m.each = m.each[:0]
	from := 0
	for _, to := range m.ends {
		m.each = append(m.each, m.lines[from:to])
		from = to
	}
	if err := m.assembly.build(m.each); err != nil {
		e := blockError(w.src, b.f, &fault{at: s.from, field: "geometry", err: err})
		e.Row = 0 // the number comes later
		return e
	}
	if len(m.assembly.rings) == 0 {
		return nil
	}
	if bad := b.relationAttributes(s, tagged); bad != nil {
		return b.skip(bad)
	}
	b.polygons(m.assembly.rings)
	return b.next()
}

// relationAttributes adds the attributes of a relation: without own tags, those of its outer way,
// and its type.
func (b *builder) relationAttributes(s span, tagged bool) *fault {
	w := b.w
	o, m := &w.objects, &w.shapes
	if tagged {
		return b.sink.attributes(&w.texts, s.from, o.id, false, o.tags)
	}
	for _, g := range slices.Backward(o.tags) {
		if w.layer.class(&w.texts, g.key)&keyType != 0 {
			m.tags = append(m.tags, tag{m.outer.add(w.texts.bytes(g.key)), m.outer.add(w.texts.bytes(g.value))})
			break
		}
	}
	return b.sink.attributes(&m.outer, s.from, o.id, false, m.tags)
}

// polygons adds the polygons of nested rings, in the order of their outer rings.
func (b *builder) polygons(rings []ring) {
	g := &b.sink.Geom
	holes := map[int][]int{}
	for i := range rings {
		if r := &rings[i]; !r.outer {
			holes[r.parent] = append(holes[r.parent], i)
		}
	}
	for i := range rings {
		if !rings[i].outer {
			continue
		}
		b.line(rings[i].line)
		g.EndRing()
		for _, h := range holes[i] {
			b.line(rings[h].line)
			g.EndRing()
		}
		g.EndPart()
	}
	g.End(geoarrow.MultiPolygon)
}
