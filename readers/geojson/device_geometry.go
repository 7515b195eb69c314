package geojson

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// coordinatesDepth is how deep the bracket of coordinates stands in a Feature: { "geometry": { "coordinates": [
const coordinatesDepth = 3

// geometry makes the column of geometries, of one kind and in two dimensions.
func (d *deviceRows) geometry(top *placed, sum *readers.Summary) *geoarrow.Geometry {
	if d.stopped() {
		return nil
	}
	n := d.records.Count
	members := d.place(fieldGeometry, d.member, len(structuralNames))
	if d.stopped() {
		return nil
	}
	_, _, objects := d.tokens(top.of(fieldGeometry), false)
	mask := deviceRead(d, objects)
	g := &geoarrow.Geometry{Rows: n, Nulls: n - countBits(mask)}
	if d.stopped() {
		return nil
	}
	if g.Nulls > 0 {
		g.Valid = maskBytes(mask, n)
	}
	d.accept(g.Nulls < n, "no geometry")
	d.accept(members.odd.Unknown < 0 && members.kinds(fieldGeometry)|members.kinds(fieldProperties)|members.kinds(fieldID) == 0, "a member of a geometry that no column holds")
	d.accept(members.kinds(fieldType) == kindBit(kernels.ValueString), "a geometry without a type")
	d.accept(members.kinds(fieldCoordinates) == kindBit(kernels.ValueArray), "a geometry without coordinates")
	kinds := d.kinds(members.of(fieldType), mask, g)
	coordinates := kernels.Coordinates{Kinds: kinds}
	var has kernels.Mask
	coordinates.Starts, coordinates.Ends, has = d.tokens(members.of(fieldCoordinates), true)
	d.accept(countBits(deviceRead(d, has)) == n-g.Nulls, "a geometry without coordinates")
	d.positions(g, coordinates, sum)
	if d.stopped() {
		return nil
	}
	return g
}

// kinds are the types of the geometries, which must be one.
func (d *deviceRows) kinds(slots gpu.Buffer[int32], present []uint64, g *geoarrow.Geometry) gpu.Buffer[kernels.TypeKind] {
	names, _, _ := d.tokens(slots, false)
	kinds := deviceAlloc[kernels.TypeKind](d, d.records.Count)
	if d.stopped() {
		return kinds
	}
	d.try(d.k.GeoJSONTypes(d.s, d.dev, names, `"`, kinds))
	for i, k := range deviceRead(d, kinds) {
		if present[i/64]>>(i%64)&1 == 0 {
			continue
		}
		d.accept(k >= kernels.KindPoint && k <= kernels.KindMultiPolygon, "a type that is none of a geometry with coordinates")
		if g.Kind == geoarrow.NoKind {
			g.Kind = geoarrow.Kind(k)
		}
		d.accept(g.Kind == geoarrow.Kind(k), "geometries of several kinds")
	}
	return kinds
}

// positions reads coordinates.
func (d *deviceRows) positions(g *geoarrow.Geometry, c kernels.Coordinates, sum *readers.Summary) {
	if d.stopped() {
		return
	}
	depth, err := kernels.AllocDepth(d.s, len(d.text), kernels.StructureBrackets())
	if err != nil {
		d.try(err)
		return
	}
	d.later(func() error { return depth.Free(d.s) })
	d.try(d.k.StructureDepth(d.s, d.x, depth))
	fault := deviceAlloc[int64](d, 1)
	if d.stopped() {
		return
	}
	d.try(d.k.CheckArrays(d.s, d.dev, depth, coordinatesDepth, fault))
	rings, err := d.k.CountRings(d.s, d.dev, depth, kernels.Mask{}, c)
	if err != nil {
		d.try(err)
		return
	}
	d.later(func() error { return rings.Free(d.s) })
	d.accept(rings.Offset < 0, "coordinates that do not fit the kind of geometry")
	if found := deviceRead(d, fault); !d.stopped() {
		d.accept(found[0] < 0, "coordinates that are no arrays of numbers, or a value with brackets in it")
	}
	out := kernels.RingOffsets{
		Spans: deviceAlloc[int64](d, c.Starts.Len()+1), Parts: deviceAlloc[int64](d, int(rings.Parts)+1),
		Rings: deviceAlloc[int64](d, int(rings.Rings)+1), Positions: deviceAlloc[int64](d, int(rings.Positions)),
	}
	if d.stopped() {
		return
	}
	d.try(d.k.ListRings(d.s, rings, out))
	x, y := d.ordinates(out.Positions)
	d.oddities(g, x, y, out.Rings, sum)
	d.offsets(g, out)
	g.X, g.Y = deviceResult(d, x), deviceResult(d, y)
	if g.Kind == geoarrow.Point && g.Nulls > 0 {
		d.after = append(d.after, func() { g.X, g.Y = spread(g.X, g.Valid, g.Rows), spread(g.Y, g.Valid, g.Rows) })
	}
}

// ordinates reads the positions that begin at these bytes.
func (d *deviceRows) ordinates(at gpu.Buffer[int64]) (x, y gpu.Buffer[float64]) {
	n := at.Len()
	to := kernels.Ordinates{
		X: deviceAlloc[float64](d, n), Y: deviceAlloc[float64](d, n),
		Undecided: deviceAlloc[uint64](d, kernels.Words(n)), Found: deviceAlloc[kernels.PositionsFound](d, 1),
	}
	if d.stopped() {
		return to.X, to.Y
	}
	blanks, err := kernels.AllocBlanks(d.s, len(d.text))
	if err != nil {
		d.try(err)
		return to.X, to.Y
	}
	d.later(func() error { return blanks.Free(d.s) })
	d.try(d.k.FindBlanks(d.s, d.dev, blanks))
	d.try(d.k.ParsePositions(d.s, d.dev, blanks, at, kernels.PositionJSON, to))
	if d.stopped() {
		return to.X, to.Y
	}
	found, _, err := d.k.SettlePositions(d.s, d.dev, at, kernels.PositionJSON, to)
	d.try(err)
	d.accept(found.Malformed < 0, "a position that is not as GeoJSON has it")
	d.accept(found.Empty == 0, "a position without numbers")
	d.accept(n == 0 || found.Dims == 1<<2, "positions of more than two numbers")
	return to.X, to.Y
}

// oddities counts what is kept although it is odd.
func (d *deviceRows) oddities(g *geoarrow.Geometry, x, y gpu.Buffer[float64], rings gpu.Buffer[int64], sum *readers.Summary) {
	facts := deviceAlloc[kernels.RingFact](d, 1)
	if d.stopped() {
		return
	}
	d.try(d.k.RingFacts(d.s, x, y, rings, facts))
	found := deviceRead(d, facts)
	if d.stopped() {
		return
	}
	switch g.Kind {
	case geoarrow.Polygon, geoarrow.MultiPolygon:
		sum.UnclosedRings, sum.ShortRings = found[0].Unclosed, found[0].Short
	case geoarrow.LineString, geoarrow.MultiLineString:
		sum.ShortLines = found[0].Single
	}
}

// offsets makes the offsets of a geometry's kind of those of spans, parts and rings: rows have their own number of levels, but each span has parts, a part
// rings and a ring positions.
func (d *deviceRows) offsets(g *geoarrow.Geometry, out kernels.RingOffsets) {
	switch g.Kind {
	case geoarrow.Point:
		d.accept(out.Positions.Len() == g.Rows-g.Nulls, "points without a position")
	case geoarrow.LineString, geoarrow.MultiPoint:
		g.Geoms = d.narrow(d.through(d.through(out.Spans, out.Parts), out.Rings))
	case geoarrow.Polygon, geoarrow.MultiLineString:
		g.Geoms, g.Rings = d.narrow(d.through(out.Spans, out.Parts)), d.narrow(out.Rings)
	case geoarrow.MultiPolygon:
		g.Geoms, g.Parts, g.Rings = d.narrow(out.Spans), d.narrow(out.Parts), d.narrow(out.Rings)
	}
}

// through gives the offsets of members' members.
func (d *deviceRows) through(outer, inner gpu.Buffer[int64]) gpu.Buffer[int64] {
	to := deviceAlloc[int64](d, outer.Len())
	if !d.stopped() {
		d.try(kernels.Gather(d.k, d.s, inner, outer, to))
	}
	return to
}

// narrow gives offsets of 32 bits: a chunk is far below what these hold.
func (d *deviceRows) narrow(wide gpu.Buffer[int64]) []int32 {
	d.accept(len(d.text) < math.MaxInt32, "a chunk beyond 2 GiB")
	to := deviceAlloc[int32](d, wide.Len())
	if d.stopped() {
		return nil
	}
	d.try(d.k.NarrowInt32(d.s, wide, to))
	return deviceResult(d, to)
}

// spread gives every row its element: the rows that are not null have one each, others 0.
func spread(v []float64, valid []byte, rows int) []float64 {
	out := make([]float64, rows)
	next := 0
	for i := range out {
		if valid[i>>3]>>(i&7)&1 != 0 {
			out[i] = v[next]
			next++
		}
	}
	return out
}
