package records

import (
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	shapes "github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// encoding is the encoding of a column of geometries.
type encoding struct {
	kind geoarrow.Kind // native, of GeoArrow; NoKind: WKB, or WKT
	dim  geoarrow.Dim  // of native ones
	text bool          // WKT
}

// nativeKinds are the native encodings by the last part of their extension names, which are also
// their names in GeoParquet 1.1.
var nativeKinds = map[string]geoarrow.Kind{
	"point": geoarrow.Point, "linestring": geoarrow.LineString, "polygon": geoarrow.Polygon,
	"multipoint": geoarrow.MultiPoint, "multilinestring": geoarrow.MultiLineString,
	"multipolygon": geoarrow.MultiPolygon,
}

// encodingOf returns the encoding of a name: "wkb", "wkt", "point".
func encodingOf(name string, t arrow.DataType) (encoding, error) {
	if ext, ok := t.(arrow.ExtensionType); ok {
		t = ext.StorageType()
	}
	name = strings.ToLower(name)
	if name == "wkb" || name == "wkt" {
		to, err := target(t, 0)
		if err == nil && to != nil && (to.ID() == arrow.BINARY || to.ID() == arrow.FIXED_SIZE_BINARY) && name == "wkb" {
			return encoding{}, nil
		}
		if err == nil && to != nil && to.ID() == arrow.STRING && name == "wkt" {
			return encoding{text: true}, nil
		}
		return encoding{}, fmt.Errorf("the storage of %s is %s", name, t)
	}
	kind, ok := nativeKinds[name]
	if !ok {
		return encoding{}, fmt.Errorf("geometries encoded as %q: want WKB, WKT, or one of the native encodings of "+
			"one kind", name)
	}
	e := encoding{kind: kind}
	storage := t
	for range levels[kind] {
		list, ok := t.(arrow.ListLikeType)
		if !ok || t.ID() == arrow.MAP {
			return e, fmt.Errorf("the storage of %s is %s", name, storage)
		}
		t = list.Elem()
	}
	if e.dim, ok = dimOf(t); !ok {
		return e, fmt.Errorf("the coordinates of %s are %s: want float64 as struct<x, y[, z][, m]>, or as "+
			"fixed_size_list of xy, xyz, xym or xyzm", name, t)
	}
	return e, nil
}

// levels is the number of lists around the coordinates of a kind.
var levels = [...]int{
	geoarrow.Point: 0, geoarrow.LineString: 1, geoarrow.MultiPoint: 1, geoarrow.Polygon: 2,
	geoarrow.MultiLineString: 2, geoarrow.MultiPolygon: 3,
}

var dims = map[string]geoarrow.Dim{"xy": geoarrow.XY, "xyz": geoarrow.XYZ, "xym": geoarrow.XYM, "xyzm": geoarrow.XYZM}

// dimOf returns the dimension of coordinates, separated or interleaved.
func dimOf(t arrow.DataType) (d geoarrow.Dim, ok bool) {
	switch t := t.(type) {
	case *arrow.StructType:
		names := ""
		for _, f := range t.Fields() {
			if f.Type.ID() != arrow.FLOAT64 {
				return d, false
			}
			names += f.Name
		}
		d, ok = dims[names]
	case *arrow.FixedSizeListType:
		if d, ok = dims[t.ElemField().Name]; !ok {
			d, ok = map[int32]geoarrow.Dim{2: geoarrow.XY, 3: geoarrow.XYZ, 4: geoarrow.XYZM}[t.Len()]
		}
		ok = ok && t.Elem().ID() == arrow.FLOAT64 && int(t.Len()) == d.Size()
	}
	return d, ok
}

// reader reads geometries into a builder.
type reader struct {
	encoding
	b    geoarrow.GeometryBuilder
	wkb  geoarrow.WKBDecoder
	text wkt.Cell
	odd  shapes.Shapes // of WKT and native geometries

	pass func(row int, err error) bool // called with the error of a row, which becomes null; nil: errors are returned
}

// read adds the geometries of the rows.
func (g *reader) read(r rows) error {
	if g.kind != geoarrow.NoKind {
		return g.native(r)
	}
	return g.encoded(r)
}

// count counts unclosed and short rings and lines.
func (g *reader) count(sum *readers.Summary) {
	sum.UnclosedRings += g.odd.UnclosedRings + g.wkb.UnclosedRings
	sum.ShortRings += g.odd.ShortRings + g.wkb.ShortRings
	sum.ShortLines += g.odd.ShortLines + g.wkb.ShortLines
	sum.IgnoredOrdinates += g.odd.IgnoredOrdinates
}

// positionBytes is the maximum size of a position in WKB.
const positionBytes = 16

// encoded reads WKB or WKT.
func (g *reader) encoded(r rows) error {
	c, err := r.read()
	if err != nil {
		return err
	}
	if !g.encoding.text && len(g.b.X) == 0 {
		most := len(c.Values) / positionBytes
		g.b.X, g.b.Y = geoarrow.Alloc[float64](g.b.Memory, most), geoarrow.Alloc[float64](g.b.Memory, most)
	}
	for i := range r.len() {
		if !has(c.Valid, i) {
			g.b.Null()
			continue
		}
		var b []byte
		if t, ok := c.Type.(*arrow.FixedSizeBinaryType); ok {
			b = c.Values[i*t.ByteWidth : (i+1)*t.ByteWidth]
		} else {
			b = c.Values[c.Offsets[i]:c.Offsets[i+1]:c.Offsets[i+1]]
		}
		mark, before := g.mark()
		if err := g.one(b); err != nil {
			if g.pass == nil || !g.pass(i, err) {
				return &rowError{i, err}
			}
			g.b.Rewind(mark)
			g.odd, g.wkb = before.odd, before.wkb
			g.b.Null()
		}
	}
	return nil
}

// counts has the counts up to a row.
type counts struct {
	odd shapes.Shapes
	wkb geoarrow.WKBDecoder
}

// mark returns a place to return to, if errors are accepted.
func (g *reader) mark() (geoarrow.Mark, counts) {
	if g.pass == nil {
		return geoarrow.Mark{}, counts{}
	}
	return g.b.Mark(), counts{g.odd, g.wkb}
}

// one reads a geometry and ends its row.
func (g *reader) one(b []byte) error {
	if g.encoding.text {
		got, err := g.text.Read(&g.b, &g.odd, b)
		if err != nil {
			return err
		}
		wkt.End(&g.b, got.Kind)
		return nil
	}
	kind, _, err := g.wkb.Read(&g.b, b)
	if err != nil {
		return err
	}
	wkt.End(&g.b, kind)
	return nil
}

// native reads one of the six native encodings of GeoArrow.
func (g *reader) native(r rows) error {
	valid, _, err := r.validity()
	if err != nil {
		return err
	}
	var ends [3][]int64
	below := r
	for k := range levels[g.kind] {
		if k > 0 {
			if _, nulls, err := below.validity(); err != nil || nulls > 0 {
				return errors.Join(err, nullsWithin(nulls))
			}
		}
		if below, ends[k], err = below.elements(); err != nil {
			return err
		}
		for i := len(ends[k]) - 1; i >= 0; i-- {
			ends[k][i] -= ends[k][0]
		}
	}
	xyzm, err := g.coordinates(below)
	if err != nil {
		return err
	}
	for i := range r.len() {
		if !has(valid, i) {
			g.b.Null()
			continue
		}
		g.shape(i, ends, xyzm)
		g.b.End(g.kind)
	}
	return nil
}

func nullsWithin(n int) error {
	if n == 0 {
		return nil
	}
	return errors.New("a null within a geometry: GeoArrow has nulls at the outermost level only")
}

// coordinates returns the ordinates of all positions, x first. The ordinates of a null Point are
// null.
func (g *reader) coordinates(r rows) (xyzm [][]float64, err error) {
	valid, nulls, err := r.validity()
	if err != nil {
		return nil, err
	}
	if g.kind != geoarrow.Point && nulls > 0 {
		return nil, nullsWithin(nulls)
	}
	size := g.dim.Size()
	if r.data.DataType().ID() == arrow.STRUCT {
		for _, child := range r.data.Children()[:size] {
			c, err := rows{child, r.at(0), r.at(r.len())}.read()
			if err != nil {
				return nil, err
			}
			if n := nullOrdinates(valid, c.Valid, r.len(), 1); n > 0 {
				return nil, nullsWithin(n)
			}
			xyzm = append(xyzm, geoarrow.View[float64](c.Values))
		}
		return xyzm, nil
	}
	child, _, err := r.elements()
	if err != nil {
		return nil, err
	}
	c, err := child.read()
	if err != nil {
		return nil, err
	}
	if n := nullOrdinates(valid, c.Valid, r.len(), size); n > 0 {
		return nil, nullsWithin(n)
	}
	flat := geoarrow.View[float64](c.Values)
	for k := range size {
		v := make([]float64, r.len())
		for i := range v {
			v[i] = flat[i*size+k]
		}
		xyzm = append(xyzm, v)
	}
	return xyzm, nil
}

// nullOrdinates counts null ordinates of non-null positions. Each of n positions has the same
// number of ordinates; a nil mask has no null.
func nullOrdinates(positions, ordinates []byte, n, each int) int {
	if ordinates == nil {
		return 0
	}
	found := 0
	for i := range n * each {
		if !has(ordinates, i) && has(positions, i/each) {
			found++
		}
	}
	return found
}

// shape adds geometry i.
func (g *reader) shape(i int, ends [3][]int64, xyzm [][]float64) {
	span := func(level int, k int64) (from, to int64) { return ends[level][k], ends[level][k+1] }
	switch g.kind {
	case geoarrow.Point:
		if !empty(xyzm, i) {
			g.positions(xyzm, int64(i), int64(i)+1)
		} else {
			g.b.Extend(0, g.dim)
		}
	case geoarrow.LineString, geoarrow.MultiPoint:
		from, to := span(0, int64(i))
		g.positions(xyzm, from, to)
		if g.kind == geoarrow.LineString && to-from == 1 {
			g.odd.ShortLines++
		}
	case geoarrow.Polygon, geoarrow.MultiLineString:
		g.b.Extend(0, g.dim)
		from, to := span(0, int64(i))
		g.rings(ends[1], xyzm, from, to)
	case geoarrow.MultiPolygon:
		g.b.Extend(0, g.dim)
		from, to := span(0, int64(i))
		for k := from; k < to; k++ {
			first, last := span(1, k)
			g.rings(ends[2], xyzm, first, last)
			g.b.EndPart()
		}
	}
}

// rings adds rings of a polygon, or lines.
func (g *reader) rings(ends []int64, xyzm [][]float64, from, to int64) {
	for k := from; k < to; k++ {
		first, last := ends[k], ends[k+1]
		g.positions(xyzm, first, last)
		g.b.EndRing()
		if g.kind == geoarrow.MultiLineString {
			continue
		}
		if last-first < 4 {
			g.odd.ShortRings++
		}
		if last > first && (xyzm[0][first] != xyzm[0][last-1] || xyzm[1][first] != xyzm[1][last-1]) {
			g.odd.UnclosedRings++
		}
	}
}

func (g *reader) positions(xyzm [][]float64, from, to int64) {
	n := int(to - from)
	g.b.Extend(n, g.dim)
	into := [][]float64{g.b.X, g.b.Y}
	if g.dim&geoarrow.HasZ != 0 {
		into = append(into, g.b.Z)
	}
	if g.dim&geoarrow.HasM != 0 {
		into = append(into, g.b.M)
	}
	for k, v := range into {
		copy(v[len(v)-n:], xyzm[k][from:to])
	}
}

// empty reports whether a Point is empty: NaN in every ordinate.
func empty(xyzm [][]float64, i int) bool {
	for _, v := range xyzm {
		if v[i] == v[i] {
			return false
		}
	}
	return true
}
