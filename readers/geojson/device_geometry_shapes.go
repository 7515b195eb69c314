package geojson

import (
	"bytes"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// deviceShapes are the geometries of the rows of a text: those that have coordinates, read. A row without has no parts.
type deviceShapes struct {
	rows    int
	kinds   gpu.Buffer[kernels.GeometryKind]
	report  kernels.GeometryReport // of kinds without GeometryZ
	at      kernels.RingOffsets
	x, y, z gpu.Buffer[float64] // z has no element where no position has a third ordinate
	found   kernels.PositionsFound
	dims    []kernels.GeometryReport // of kinds with GeometryZ, behind the next await; none where all is as report says
}

// readShapes reads the coordinates of rows that have a geometry, whose members are placed. Brackets of coordinates stand at depth deep. z guesses, behind
// an await: does a position have a third ordinate?
func (d *deviceRows) readShapes(members *placed, valid kernels.Mask, deep int, z func() bool) *deviceShapes {
	if d.stopped() {
		return nil
	}
	sh := &deviceShapes{rows: members.rows, kinds: deviceAlloc[kernels.GeometryKind](d, members.rows)}
	d.accept(members.kinds(fieldType) == kindBit(kernels.ValueString), "a geometry without a type")
	array := kindBit(kernels.ValueArray)
	d.accept(members.kinds(fieldCoordinates)&^array == 0 && members.kinds(fieldGeometries)&^array == 0, "coordinates that are no array")
	names, _, _ := d.tokens(members.of(fieldType), false)
	types, report := deviceAlloc[kernels.TypeKind](d, sh.rows), deviceAlloc[kernels.GeometryReport](d, 1)
	var c kernels.Coordinates
	var has, collects kernels.Mask
	c.Starts, c.Ends, has = d.tokens(members.of(fieldCoordinates), true)
	if members.kinds(fieldGeometries) != 0 {
		_, _, collects = d.tokens(members.of(fieldGeometries), false)
	}
	if d.stopped() {
		return nil
	}
	c.Kinds = types
	d.try(d.k.GeoJSONTypes(d.s, d.dev, names, `"`, types))
	d.try(d.k.GeometryKinds(d.s, types, valid, has, collects, sh.kinds, report))
	reports := deviceResult(d, report)
	if d.rings(sh, c, deep); d.stopped() {
		return nil
	}
	sh.report = reports[0]
	d.accept(sh.report.Odd == 0, "a geometry without a type, or not with what its type has")
	d.ordinates(sh, z())
	d.dims(sh)
	return sh
}

// rings finds the parts, rings and positions of coordinates, and checks what stands between them. It waits for the device.
func (d *deviceRows) rings(sh *deviceShapes, c kernels.Coordinates, deep int) {
	if d.stopped() {
		return
	}
	rings, err := d.k.CountCoordinates(d.s, d.dev, d.x, deep, c)
	if err != nil {
		d.try(err)
		return
	}
	d.later(func() error { return rings.Free(d.s) })
	d.accept(rings.Offset < 0, "coordinates that do not fit the kind of geometry")
	sh.at = kernels.RingOffsets{
		Spans: deviceAlloc[int64](d, sh.rows+1), Parts: deviceAlloc[int64](d, int(rings.Parts)+1),
		Rings: deviceAlloc[int64](d, int(rings.Rings)+1), Positions: deviceAlloc[int64](d, int(rings.Positions)),
	}
	if !d.stopped() {
		d.try(d.k.ListRings(d.s, rings, sh.at))
	}
}

// ordinates reads the positions. Where they turn out to have a third ordinate that was not expected, all are read again.
func (d *deviceRows) ordinates(sh *deviceShapes, z bool) {
	n := sh.at.Positions.Len()
	to := kernels.Ordinates{
		X: deviceAlloc[float64](d, n), Y: deviceAlloc[float64](d, n),
		Undecided: deviceAlloc[uint64](d, kernels.Words(n)), Found: deviceAlloc[kernels.PositionsFound](d, 1),
	}
	if d.stopped() {
		return
	}
	for {
		if z {
			to.Z = deviceAlloc[float64](d, n)
		}
		if d.stopped() {
			return
		}
		d.try(d.k.ParsePositions(d.s, d.dev, nil, sh.at.Positions, kernels.PositionJSON, to))
		if d.stopped() {
			return
		}
		found, _, err := d.k.SettlePositions(d.s, d.dev, sh.at.Positions, kernels.PositionJSON, to)
		d.try(err)
		sh.found = found
		d.accept(sh.found.Malformed < 0, "a position that is not as GeoJSON has it")
		if third := sh.found.Dims>>3 != 0; z || !third {
			sh.x, sh.y = to.X, to.Y
			if third {
				sh.z = to.Z
			}
			return
		}
		z = true
	}
}

// dims finds out which rows have a third ordinate, and whether only Points are empty.
func (d *deviceRows) dims(sh *deviceShapes) {
	if d.stopped() {
		return
	}
	if sh.z.Len() == 0 && sh.found.Empty == 0 {
		return
	}
	first, report := d.first(sh), deviceAlloc[kernels.GeometryReport](d, 1)
	if d.stopped() {
		return
	}
	d.try(d.k.GeometryDims(d.s, sh.x, sh.z, first, sh.kinds, report))
	sh.dims = deviceResult(d, report)
	d.after = append(d.after, func() { d.accept(sh.dims[0].Odd == 0, "a position without numbers") })
}

// some reports whether there are geometries of one of these kinds.
func (sh *deviceShapes) some(kinds ...geoarrow.Kind) bool {
	for _, k := range kinds {
		if sh.report.Kinds>>k&1 != 0 {
			return true
		}
	}
	return false
}

// dim is the union of the rows' dimensions.
func (sh *deviceShapes) dim() geoarrow.Dim {
	if sh.z.Len() > 0 {
		return geoarrow.XYZ
	}
	return geoarrow.XY
}

// uniform reports whether all geometries are of one kind and one dimension, behind the next await.
func (sh *deviceShapes) uniform() bool {
	kinds := sh.report.Kinds
	if len(sh.dims) > 0 {
		kinds = sh.dims[0].Kinds
	}
	return kinds&(kinds-1) == 0
}

// first gives the first position of each row, and where the last row's end.
func (d *deviceRows) first(sh *deviceShapes) gpu.Buffer[int64] {
	return d.through(d.through(sh.at.Spans, sh.at.Parts), sh.at.Rings)
}

// through gives the offsets of members' members.
func (d *deviceRows) through(outer, inner gpu.Buffer[int64]) gpu.Buffer[int64] {
	to := deviceAlloc[int64](d, outer.Len())
	if !d.stopped() {
		d.try(kernels.Gather(d.k, d.s, inner, outer, to))
	}
	return to
}

// peekBytes are as much of a text as tells what its first position is like.
const peekBytes = 4 << 10

// hasThird reports whether the first position of a text seems to have a third ordinate.
func hasThird(text []byte) bool {
	_, text, _ = bytes.Cut(text, []byte(`"coordinates"`))
	at := bytes.IndexAny(text, "-0123456789")
	if at < 0 {
		return false
	}
	position, _, _ := bytes.Cut(text[at:], []byte{']'})
	return bytes.Count(position, []byte{','}) == 2
}
