package wkt

import (
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// tagged reads a geometry with its name at p, and leaves it open. outer is the dimension of the
// enclosing collection, which counts for a member without a tag and with that number of ordinates.
func (t *text) tagged(p int, outer geoarrow.Dim) (k geoarrow.Kind, end int) {
	h, p := t.head(p)
	if p < 0 {
		return geoarrow.NoKind, -1
	}
	if h.kind == geoarrow.GeometryCollection {
		return h.kind, t.collection(p, h)
	}
	t.size, t.dim, t.outer, t.hasTag = 0, 0, outer, h.tagged
	if h.tagged {
		t.size, t.dim = h.dim.Size(), h.dim
	}
	before := len(t.geom.X)
	if p = t.body(p, h.kind); p >= 0 && len(t.geom.X) == before {
		t.geom.Extend(0, h.dim) // an empty one has a dimension too
	}
	return h.kind, p
}

// body reads the text after the head of a geometry that is not a collection.
func (t *text) body(p int, k geoarrow.Kind) int {
	switch k {
	case geoarrow.Point:
		return t.point(p)
	case geoarrow.LineString:
		return t.line(p)
	case geoarrow.Polygon:
		return t.rings(p)
	case geoarrow.MultiPoint:
		return t.list(p, (*text).pointOfMulti)
	case geoarrow.MultiLineString:
		return t.list(p, (*text).lineOfMulti)
	}
	return t.list(p, (*text).polygonOfMulti)
}

// collection reads a GeometryCollection from its bracket on. Its dimension is the union of its
// members', which may differ, and of its tag.
func (t *text) collection(p int, h tag) int {
	t.geom.BeginCollection()
	t.geom.Extend(0, h.dim)
	if t.at(p) != '(' {
		return t.nothing(p)
	}
	if t.depth++; t.depth > t.maxDepth {
		t.fault = fault{pos: p, seen: p, want: "the nesting", bare: true, depth: true}
		return -1
	}
	outer := h.dim
	p = t.list(p, func(t *text, p int) int {
		k, end := t.tagged(p, outer)
		if end >= 0 {
			End(t.geom, k)
		}
		return end
	})
	t.depth--
	return p
}

// list reads EMPTY, or a bracket with elements; element reads each of them.
func (t *text) list(p int, element func(*text, int) int) int {
	if t.at(p) != '(' {
		return t.nothing(p)
	}
	for {
		p++
		if isBlank(t.at(p)) {
			p = t.space(p)
		}
		if t.loose != nil && t.missing(p) {
			return p + 1
		}
		if p = element(t, p); p < 0 {
			return -1
		}
		if isBlank(t.at(p)) {
			p = t.space(p)
		}
		switch t.at(p) {
		case ')':
			return p + 1
		case ',':
		default:
			return t.fail(p, `"," or ")"`)
		}
	}
}

// nothing reads EMPTY in the place of a bracket.
func (t *text) nothing(p int) int {
	end, ok := t.empty(p)
	if !ok {
		return t.failWord(p, end, `"(" or EMPTY`)
	}
	return end
}

// point reads a Point. One that is NaN in every ordinate is empty, as in WKB.
func (t *text) point(p int) int {
	if t.at(p) != '(' {
		return t.nothing(p)
	}
	if t.loose != nil {
		if end := t.space(p + 1); t.missing(end) {
			return end + 1
		}
	}
	if p = t.single(p); p < 0 {
		return -1
	}
	g := t.geom
	if n := len(g.X) - 1; g.X[n] != g.X[n] && g.Y[n] != g.Y[n] &&
		(t.dim&geoarrow.HasZ == 0 || g.Z[n] != g.Z[n]) && (t.dim&geoarrow.HasM == 0 || g.M[n] != g.M[n]) {
		t.cutTo(n)
	}
	return p
}

// single reads one position in brackets.
func (t *text) single(p int) int {
	start := t.space(p + 1)
	if p = t.usual(start); p < 0 && t.loose != nil {
		p = t.commas(start)
	}
	if p < 0 {
		return -1
	}
	if t.at(p) != ')' {
		return t.fail(p, `")" behind one position`)
	}
	return p + 1
}

// pointOfMulti reads a member of a MultiPoint: a position with or without brackets, or EMPTY, which
// is NaN.
func (t *text) pointOfMulti(p int) int {
	if t.at(p) == '(' {
		return t.single(p)
	}
	end, ok := t.empty(p)
	if !ok {
		return t.usual(p)
	}
	t.add([4]float64{nan, nan, nan, nan})
	return end
}

// line reads the positions of a LineString.
func (t *text) line(p int) int {
	before := len(t.geom.X)
	p = t.positions(p)
	if len(t.geom.X)-before == 1 {
		t.shapes.ShortLines++
	}
	return p
}

func (t *text) lineOfMulti(p int) int {
	p = t.line(p)
	t.geom.EndRing()
	return p
}

// rings reads the rings of a polygon. Rings that break the rules of OGC 06-103r4 section 6.1.11 are
// kept, and counted.
func (t *text) rings(p int) int { return t.list(p, (*text).ring) }

func (t *text) ring(p int) int {
	g := t.geom
	first := len(g.X)
	if p = t.positions(p); p < 0 {
		return -1
	}
	last := len(g.X) - 1
	if last < first+3 {
		t.shapes.ShortRings++
	}
	if last >= first && (g.X[first] != g.X[last] || g.Y[first] != g.Y[last]) {
		t.shapes.UnclosedRings++
	}
	g.EndRing()
	return p
}

func (t *text) polygonOfMulti(p int) int {
	p = t.rings(p)
	t.geom.EndPart()
	return p
}

// cutTo drops positions after the first n, but keeps the dimension that they gave the row.
func (t *text) cutTo(n int) {
	g := t.geom
	g.X, g.Y, g.Z, g.M = g.X[:n], g.Y[:n], g.Z[:min(n, len(g.Z))], g.M[:min(n, len(g.M))]
}
