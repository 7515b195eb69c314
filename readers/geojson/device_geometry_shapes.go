package geojson

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// deviceShapes are the geometries with coordinates of the rows of a text. A row without coordinates
// has no parts.
type deviceShapes struct {
	rows    int
	read    kjson.GeometryRows // members, and the reports of readMembers
	valid   []uint64           // bit per row: it has a geometry
	reports []kgeom.GeometryReport
	kinds   gpu.Buffer[kgeom.GeometryKind]
	report  kgeom.GeometryReport // the element of reports after an await: kinds without GeometryZ
	at      kgeom.RingOffsets
	x, y, z gpu.Buffer[float64] // z has no element if no position has a third ordinate
	found   kgeom.PositionsFound
	dims    []kgeom.GeometryReport // of kinds with GeometryZ, after the next await; no element if report is complete
	wkb     *deviceWKB             // measured with the positions; nil: not measured
}

// featureShapes prepares to find the geometries of features, whose members are in top; nil: no
// feature has a geometry.
func (d *deviceRows) featureShapes(top *placedMembers) *deviceShapes {
	if d.Stopped() || top.kinds(fieldGeometry)&kindBit(kjson.ValueObject) == 0 {
		return nil
	}
	members := d.shapes
	d.Accept(members.odd.Unknown < 0 && members.kinds(fieldGeometry)|members.kinds(fieldProperties)|
		members.kinds(fieldID) == 0, "a member of a geometry that no column holds")
	return d.shapesOf(members, top)
}

// shapesOf prepares to find the geometries of rows whose members are placed. With top, the rows are
// features, which must have the type Feature; without it the geometries are rows themselves.
// readMembers must read their kinds first.
func (d *deviceRows) shapesOf(members, top *placedMembers) *deviceShapes {
	n := members.rows
	d.Accept(members.kinds(fieldType) == kindBit(kjson.ValueString), "a geometry without a type")
	array := kindBit(kjson.ValueArray)
	d.Accept(members.kinds(fieldCoordinates)&^array == 0 && members.kinds(fieldGeometries)&^array == 0,
		"coordinates that are no array")
	sh := &deviceShapes{rows: n, kinds: device.Alloc[kgeom.GeometryKind](d.Work, n)}
	sh.read = kjson.GeometryRows{
		GeometryMembers: kjson.GeometryMembers{
			Type: members.of(fieldType), Coordinates: members.of(fieldCoordinates),
			Geometries: members.of(fieldGeometries), Base: d.records.Open,
		},
		To: kgeom.Coordinates{
			Starts: device.Alloc[int64](d.Work, n), Ends: device.Alloc[int64](d.Work, n),
			Kinds: device.Alloc[kgeom.TypeKind](d.Work, n),
		},
		Kinds: sh.kinds, Valid: device.Alloc[uint64](d.Work, kernels.Words(n)),
		Report: device.Alloc[kgeom.GeometryReport](d.Work, 1),
	}
	if top != nil {
		sh.read.Record, sh.read.Geometry = top.of(fieldType), top.of(fieldGeometry)
	}
	return sh
}

// find finds the geometries whose kinds were read, of features if top is set. Brackets of
// coordinates are at depth deep. It waits for the device, and does not read positions.
func (d *deviceRows) find(sh *deviceShapes, top *placedMembers, deep int) {
	if d.Stopped() {
		return
	}
	rings := d.rings(sh.read.To, deep)
	if d.Stopped() {
		return
	}
	sh.report = sh.reports[0]
	if top != nil {
		d.acceptTypes(sh.report.Named)
	}
	d.Accept(sh.report.Odd == 0, "a geometry without a type, or not with what its type has")
	d.list(sh, rings, top != nil && d.asked.Geometry())
}

// rings counts the parts, rings and positions of coordinates, and checks the text between them.
// It waits for the device.
func (d *deviceRows) rings(c kgeom.Coordinates, deep int) *kgeom.Rings {
	if d.Stopped() {
		return nil
	}
	rings, err := kjson.QueueCoordinates(d.K, d.S, d.dev, d.x, deep, c, d.records)
	if err != nil {
		d.Try(err)
		return nil
	}
	d.Later(func() error { return rings.Free(d.S) })
	found := ask(d, rings.Found)
	if d.Stopped() {
		return nil
	}
	d.Try(rings.Counted(found[0]))
	d.Accept(rings.Offset < 0, "coordinates that do not fit the kind of geometry")
	return rings
}

// list lists the parts that rings counted, with the offsets of a native column if they become one.
func (d *deviceRows) list(sh *deviceShapes, rings *kgeom.Rings, native bool) {
	if d.Stopped() {
		return
	}
	sh.at = kgeom.RingOffsets{
		Spans: device.Alloc[int64](d.Work, sh.rows+1), Parts: device.Alloc[int64](d.Work, int(rings.Parts)+1),
		Rings: device.Alloc[int64](d.Work, int(rings.Rings)+1), Positions: device.Alloc[int64](d.Work,
			int(rings.Positions)),
		Found: device.Alloc[kgeom.PositionsFound](d.Work, 1),
	}
	if kind := nativeKind(sh.report.Kinds); native && (kind == geoarrow.Polygon || kind == geoarrow.MultiLineString) {
		d.Accept(d.dev.Len() < math.MaxInt32, device.BeyondOffsets)
		sh.at.SpanRings, sh.at.ShortRings = device.Alloc[int32](d.Work, sh.rows+1),
			device.Alloc[int32](d.Work, int(rings.Rings)+1)
	}
	if !d.Stopped() {
		d.Try(kgeom.ListRings(d.K, d.S, rings, sh.at))
	}
}

// ordinates reads the positions. z is a guess whether one has a third ordinate; if it is wrongly
// false, all are read again.
func (d *deviceRows) ordinates(sh *deviceShapes, z bool) {
	n := sh.at.Positions.Len()
	to := kgeom.Ordinates{
		X: device.Alloc[float64](d.Work, n), Y: device.Alloc[float64](d.Work, n),
		Undecided: device.Alloc[uint64](d.Work, kernels.Words(n)), Found: sh.at.Found, Begun: true,
	}
	if d.Stopped() {
		return
	}
	for {
		if z {
			to.Z = device.Alloc[float64](d.Work, n)
		}
		if d.Stopped() {
			return
		}
		d.Try(kgeom.ParsePositions(d.K, d.S, d.dev, nil, sh.at.Positions, kgeom.PositionJSON, to))
		if sh.wkb = nil; !z && sh.becomesWKB() {
			sh.wkb = d.measureWKB(sh, to.X, to.Y, to.Z, kgeom.WKBCollections{})
		}
		found := ask(d, to.Found)
		if d.Stopped() {
			return
		}
		sh.found = found[0]
		if sh.found.Undecided > 0 {
			var err error
			sh.found, _, err = kgeom.ResolvePositions(d.K, d.S, d.dev, sh.at.Positions, kgeom.PositionJSON, to)
			d.Try(err)
		}
		d.Accept(sh.found.Malformed < 0, "a position that is not as GeoJSON has it")
		if third := sh.found.Dims>>3 != 0; z || !third {
			sh.x, sh.y = to.X, to.Y
			if third {
				sh.z, d.third = to.Z, true
			}
			d.dims(sh)
			return
		}
		z, to.Begun = true, false
	}
}

// dims finds which rows have a third ordinate, and whether only Points are empty.
func (d *deviceRows) dims(sh *deviceShapes) {
	if d.Stopped() {
		return
	}
	if sh.z.Len() == 0 && sh.found.Empty == 0 {
		return
	}
	first, report := d.first(sh), device.Alloc[kgeom.GeometryReport](d.Work, 1)
	if d.Stopped() {
		return
	}
	d.Try(kgeom.GeometryDims(d.K, d.S, sh.x, sh.z, first, sh.kinds, report))
	sh.dims = device.Result(d.Work, report)
	d.After(func() { d.Accept(sh.dims[0].Odd == 0, "a position without numbers") })
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

// odd returns which geometries may be unusual.
func (sh *deviceShapes) odd() device.RingCheck {
	return device.RingCheck{
		Polygons: sh.some(geoarrow.Polygon, geoarrow.MultiPolygon),
		Lines:    sh.some(geoarrow.LineString, geoarrow.MultiLineString),
	}
}

// becomesWKB reports whether the geometries, which include no collections, become a column of WKB.
func (sh *deviceShapes) becomesWKB() bool {
	return sh.report.Kinds != 0 && nativeKind(sh.report.Kinds) == geoarrow.NoKind &&
		!sh.some(geoarrow.GeometryCollection)
}

// dim returns the union of the rows' dimensions.
func (sh *deviceShapes) dim() geoarrow.Dim {
	if sh.z.Len() > 0 {
		return geoarrow.XYZ
	}
	return geoarrow.XY
}

// uniform reports whether all geometries are of one kind and one dimension, after the next await.
func (sh *deviceShapes) uniform() bool {
	kinds := sh.report.Kinds
	if len(sh.dims) > 0 {
		kinds = sh.dims[0].Kinds
	}
	return kinds&(kinds-1) == 0
}

// first returns the first position of each row, and where the last row's end.
func (d *deviceRows) first(sh *deviceShapes) gpu.Buffer[int64] {
	return d.through(d.through(sh.at.Spans, sh.at.Parts), sh.at.Rings)
}

// through returns the offsets of members' members.
func (d *deviceRows) through(outer, inner gpu.Buffer[int64]) gpu.Buffer[int64] {
	to := device.Alloc[int64](d.Work, outer.Len())
	if !d.Stopped() {
		d.Try(klist.Gather(d.K, d.S, inner, outer, to))
	}
	return to
}
