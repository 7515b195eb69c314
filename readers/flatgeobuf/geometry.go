package flatgeobuf

import (
	"encoding/binary"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// Fields of a geometry's table.
const (
	geometryEnds  = 0
	geometryXY    = 1
	geometryZ     = 2
	geometryM     = 3
	geometryT     = 4
	geometryTM    = 5
	geometryType  = 6
	geometryParts = 7
)

// typeNames are the names of the geometry types that tables do not have.
var typeNames = [...]string{
	8: "CircularString", 9: "CompoundCurve", 10: "CurvePolygon", 11: "MultiCurve", 12: "MultiSurface",
	13: "Curve", 14: "Surface", 15: "PolyhedralSurface",
	16: "TIN", 17: "Triangle",
}

// kindOf returns the kind of a geometry type, which are numbered as in WKB; NoKind for Unknown.
func kindOf(at int, number uint64) (geoarrow.Kind, *fault) {
	switch {
	case number <= uint64(geoarrow.GeometryCollection):
		return geoarrow.Kind(number), nil
	case number < uint64(len(typeNames)):
		return 0, faultf(at, "geometries of type %s are not read: convert curves to lines and surfaces to "+
			"polygons first", typeNames[number])
	}
	return 0, faultf(at, "the geometry type is %d, which is none", number)
}

// decoder decodes the geometries of features to rows.
type decoder struct {
	geom     *geoarrow.GeometryBuilder
	odd      *rows.Shapes
	maxDepth int
	// bytes that the arrays of the current feature may have, all together: a flatbuffer may use the
	// same ones for several geometries
	left int
}

// feature adds the geometry of a feature, which has the header's kind, or its own if the header has
// none.
func (d *decoder) feature(t *table, of geoarrow.Kind) *fault {
	d.left = len(t.buf)
	if f := d.geometry(t, of, false, 1); f != nil {
		return f.in("geometry")
	}
	return nil
}

// kind returns the kind of a geometry, which must be of, unless that is NoKind.
func (d *decoder) kind(t *table, of geoarrow.Kind) (geoarrow.Kind, *fault) {
	at, f := t.place(geometryType, 1)
	if f != nil {
		return 0, f
	}
	number := uint64(0)
	if at > 0 {
		number = uint64(t.buf[at])
	}
	at = max(at, t.at)
	own, f := kindOf(at, number)
	switch {
	case f != nil:
		return 0, f
	case own == geoarrow.NoKind && of == geoarrow.NoKind:
		return 0, faultf(at, "the geometry has no type, and neither the header nor the geometry around it says one")
	case own == geoarrow.NoKind:
		return of, nil
	case of != geoarrow.NoKind && own != of:
		return 0, faultf(at, "a %s, expected a %s", own, of)
	}
	return own, nil
}

// geometry adds a geometry: a row, a member of a collection, or, as part, a polygon of a
// MultiPolygon.
func (d *decoder) geometry(t *table, of geoarrow.Kind, part bool, depth int) *fault {
	k, f := d.kind(t, of)
	if f != nil {
		return f
	}
	if k == geoarrow.MultiPolygon || k == geoarrow.GeometryCollection {
		return d.parts(t, k, depth)
	}
	if t.has(geometryParts) {
		if v, at, f := t.vector(geometryParts, 4); f != nil {
			return f
		} else if len(v) > 0 {
			return faultf(at, "a %s has %d parts, expected none", k, len(v)/4)
		}
	}
	b, f := d.body(t)
	if f != nil {
		return f
	}
	switch k {
	case geoarrow.Polygon, geoarrow.MultiLineString:
		f = d.rings(t, k, &b)
	default:
		f = d.run(t, k, &b)
	}
	if f == nil && !part {
		d.geom.End(k)
	}
	return f
}

// parts adds a MultiPolygon or a GeometryCollection.
func (d *decoder) parts(t *table, k geoarrow.Kind, depth int) *fault {
	if depth > d.maxDepth {
		return &fault{at: t.at, err: &readers.LimitError{
			What: "the nesting of collections", Flag: "--max-depth",
			Limit: int64(d.maxDepth),
		}}
	}
	if v, at, f := t.vector(geometryXY, 8); f != nil {
		return f
	} else if len(v) > 0 {
		return faultf(at, "a %s has positions of its own, expected parts", k)
	}
	v, at, f := t.vector(geometryParts, 4)
	if f != nil {
		return f
	}
	// A part is a table, whose minimum size is that of its offset and of the one to its vtable.
	const minPart = 8
	if f := d.take(at, minPart/4*len(v)); f != nil {
		return f
	}
	of := geoarrow.Polygon
	if k == geoarrow.GeometryCollection {
		of = geoarrow.NoKind
		d.geom.BeginCollection()
	}
	for i := range len(v) / 4 {
		part, f := t.element(at, i)
		if f == nil {
			f = d.geometry(&part, of, k == geoarrow.MultiPolygon, depth+1)
		}
		if f != nil {
			return f
		}
		if k == geoarrow.MultiPolygon {
			d.geom.EndPart()
		}
	}
	if k == geoarrow.GeometryCollection {
		d.geom.EndCollection()
		return nil
	}
	d.geom.End(k)
	return nil
}

// take counts the bytes of an array.
func (d *decoder) take(at, bytes int) *fault {
	if d.left -= bytes; d.left < 0 {
		return faultf(at, "the arrays of the geometry have more bytes than the feature: "+
			"several of its parts share them")
	}
	return nil
}

// run adds a geometry of one sequence of positions.
func (d *decoder) run(t *table, k geoarrow.Kind, b *body) *fault {
	ends, at, f := t.vector(geometryEnds, 4)
	switch {
	case f != nil:
		return f
	case len(ends) > 4 || len(ends) == 4 && int64(binary.LittleEndian.Uint32(ends)) != int64(b.n):
		return faultf(at, "the positions of a %s are divided", k)
	case k == geoarrow.Point && b.n > 1:
		return faultf(t.at, "a Point has %d positions, expected 1", b.n)
	case k == geoarrow.LineString && b.n == 1:
		d.odd.ShortLines++
	}
	d.positions(b, 0, b.n)
	return nil
}

// rings adds the rings of a polygon or the lines of a MultiLineString. Without ends all positions
// are one.
func (d *decoder) rings(t *table, k geoarrow.Kind, b *body) *fault {
	ends, at, f := t.vector(geometryEnds, 4)
	if f != nil {
		return f
	}
	if f := d.take(at, len(ends)); f != nil {
		return f
	}
	if len(ends) == 0 {
		d.ring(k, b, 0, b.n)
		if b.n > 0 {
			d.geom.EndRing()
		}
		return nil
	}
	from := 0
	for i := 0; i < len(ends); i += 4 {
		to := int64(binary.LittleEndian.Uint32(ends[i:]))
		if to < int64(from) || to > int64(b.n) {
			return faultf(at+i, "part %d ends after position %d, expected %d to %d", i/4, to, from, b.n)
		}
		d.ring(k, b, from, int(to))
		d.geom.EndRing()
		from = int(to)
	}
	if from != b.n {
		return faultf(at+len(ends)-4, "the last part ends after position %d of %d", from, b.n)
	}
	return nil
}

// ring adds the positions of a ring or a line, as they are: an open or a short one is counted.
func (d *decoder) ring(k geoarrow.Kind, b *body, from, to int) {
	d.positions(b, from, to)
	n, g := to-from, d.geom
	switch {
	case n == 0:
	case k == geoarrow.MultiLineString:
		if n == 1 {
			d.odd.ShortLines++
		}
	default:
		if n < 4 {
			d.odd.ShortRings++
		}
		if first, last := len(g.X)-n, len(g.X)-1; g.X[first] != g.X[last] || g.Y[first] != g.Y[last] {
			d.odd.UnclosedRings++
		}
	}
}
