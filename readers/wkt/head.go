package wkt

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// head is the text before the bracket of a geometry: its name and the tag of its dimension, with
// all blanks.
type head struct {
	text [maxHead]byte
	n    int // bytes of text, 0 if there is none
	tag
}

// tag is the meaning of a head.
type tag struct {
	kind   geoarrow.Kind
	dim    geoarrow.Dim
	tagged bool // dim is written
}

// maxHead is the maximum length of a head that is compared with the previous one: that of
// "GEOMETRYCOLLECTION ZM ".
const maxHead = 24

// head reads the head of a geometry at p, up to its bracket or EMPTY. Most heads equal the previous
// geometry's.
func (t *text) head(p int) (h tag, end int) {
	if n := t.last.n; n > 0 && string(t.slice(p, p+n)) == unsafe.String(&t.last.text[0], n) && t.at(p+n) == '(' {
		return t.last.tag, p + n
	}
	h, end = t.anyHead(p)
	if n := end - p; end >= 0 && n <= maxHead && t.at(end) == '(' && t.loose == nil {
		t.last.tag, t.last.n = h, copy(t.last.text[:], t.slice(p, end))
	}
	return h, end
}

// anyHead is head for any spelling.
//
//	POINT   POINT Z   POINTZ   point zm   in any case; what follows is a bracket or EMPTY
func (t *text) anyHead(p int) (h tag, end int) {
	end = t.word(p)
	if end == p {
		return h, t.fail(p, wantName)
	}
	name := t.slice(p, end)
	if h.kind = kindOf(name); h.kind == geoarrow.NoKind {
		stem, dim := cutDim(name)
		h = tag{kind: kindOf(stem), dim: dim, tagged: dim != 0}
		switch {
		case isCurve(name) || isCurve(stem):
			return h, t.wrong(p, end, "a "+string(name)+
				": curves, triangles and surfaces have no place in a table of simple features")
		case t.loose != nil && (is(name, linearRing) || is(stem, linearRing)):
			h.kind = geoarrow.LineString
			t.loose(p, ruleRing, "read as LineString")
		case h.kind == geoarrow.NoKind:
			return h, t.failWord(p, end, wantName)
		}
	}
	p = t.space(end)
	if !h.tagged {
		end = t.word(p)
		if stem, dim := cutDim(t.slice(p, end)); dim != 0 && len(stem) == 0 {
			h.dim, h.tagged = dim, true
			p = t.space(end)
		}
	}
	return h, p
}

// linearRing is the name that GEOS and JTS write for a ring by itself.
const linearRing = "LINEARRING"

const wantName = "the name of a geometry"

var kindNames = [...]string{
	geoarrow.Point: "POINT", geoarrow.LineString: "LINESTRING", geoarrow.Polygon: "POLYGON",
	geoarrow.MultiPoint:      "MULTIPOINT",
	geoarrow.MultiLineString: "MULTILINESTRING", geoarrow.MultiPolygon: "MULTIPOLYGON",
	geoarrow.GeometryCollection: "GEOMETRYCOLLECTION",
}

func kindOf(name []byte) geoarrow.Kind {
	for k := geoarrow.Point; k <= geoarrow.GeometryCollection; k++ {
		if is(name, kindNames[k]) {
			return k
		}
	}
	return geoarrow.NoKind
}

// curveNames are the other geometries of SQL/MM and OGC 06-103r4.
var curveNames = [...]string{
	"CIRCULARSTRING", "COMPOUNDCURVE", "CURVEPOLYGON", "MULTICURVE", "MULTISURFACE", "CURVE", "SURFACE",
	"POLYHEDRALSURFACE", "TIN", "TRIANGLE",
}

func isCurve(name []byte) bool {
	for _, c := range curveNames {
		if is(name, c) {
			return true
		}
	}
	return false
}

// cutDim removes the letters of a dimension from the end of a name.
func cutDim(name []byte) (stem []byte, dim geoarrow.Dim) {
	stem = name
	if n := len(stem); n > 0 && stem[n-1]|0x20 == 'm' {
		stem, dim = stem[:n-1], geoarrow.HasM
	}
	if n := len(stem); n > 0 && stem[n-1]|0x20 == 'z' {
		stem, dim = stem[:n-1], dim|geoarrow.HasZ
	}
	return stem, dim
}

// empty skips EMPTY at p, if it is there.
func (t *text) empty(p int) (end int, ok bool) {
	end = t.word(p)
	return end, is(t.slice(p, end), "EMPTY")
}
