package wkt

import (
	"bytes"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	kwkt "github.com/vibeflight/vibeflight/kernels/wkt"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// deviceShapes are the geometries of rows on a device. A row without one has no parts.
type deviceShapes struct {
	rows       int
	kinds      gpu.Buffer[kgeom.GeometryKind] // with their dimensions
	all        uint32                         // a bit for each of these kinds
	collects   kernels.Mask                   // which rows are collections
	at         kgeom.RingOffsets
	lines      gpu.Buffer[int64] // the first ring or line of each row
	first      gpu.Buffer[int64] // the first position of each row
	x, y, z, m gpu.Buffer[float64]
	deep       bool // z and m exist
	empty      bool // some positions have no numbers
}

// geometry makes the column of geometries with GeometryBuilder's rules: native if all have one kind
// or a kind and its Multi kind, otherwise WKB. deep is a guess whether positions have a third
// ordinate.
func (d *deviceRows) geometry(deep bool, sum *readers.Summary) *geoarrow.Geometry {
	if d.Stopped() {
		return nil
	}
	valid := device.Result(d.Work, d.x.Valid)
	sh := d.shapes(d.deviceText, deep)
	c, dim := d.collections(sh, sum)
	if d.Stopped() {
		return nil
	}
	n := sh.rows
	g := &geoarrow.Geometry{Rows: n, Kind: sh.kind(), Dim: sh.dim() | dim}
	g.Nulls, g.Valid = device.Validity(valid, n)
	switch {
	case g.Nulls == n:
		return geoarrow.NullGeometry(n, geoarrow.NoKind, geoarrow.XY)
	case g.Kind == geoarrow.NoKind:
		w := d.writeWKB(sh, c)
		d.wkb(g, sh, w)
		sh.odd().Count(d.Work, w.facts, sum)
	default:
		d.native(g, sh)
		sh.odd().Count(d.Work, sh.odd().Look(d.Work, sh.x, sh.y, sh.at.Rings), sum)
	}
	return g
}

// shapes reads the geometries of a text, except those in collections. It waits for the device,
// including earlier work.
func (d *deviceRows) shapes(t deviceText, deep bool) *deviceShapes {
	if d.Stopped() {
		return nil
	}
	n := t.x.Rows
	sh := &deviceShapes{
		rows: n, kinds: device.Alloc[kgeom.GeometryKind](d.Work, n),
		collects: device.Alloc[uint64](d.Work, kernels.Words(n)), deep: deep,
	}
	types, tags := device.Alloc[kgeom.TypeKind](d.Work, n), device.Alloc[kwkt.TagDims](d.Work, n)
	report := device.Alloc[kgeom.GeometryReport](d.Work, 1)
	if d.Stopped() {
		return nil
	}
	d.Try(kwkt.WKTTypes(d.K, d.S, t.text, t.x.Tags, ",;", types, tags))
	d.Try(kwkt.TaggedKinds(d.K, d.S, types, t.x.Valid, sh.kinds, sh.collects, report))
	kinds := device.Result(d.Work, report)
	if d.rings(sh, t, types); d.Stopped() {
		return nil
	}
	d.Accept(kinds[0].Odd == 0, "a geometry of a kind that is not known")
	d.ordinates(sh, t.text)
	sh.lines = d.through(sh.at.Spans, sh.at.Parts)
	sh.first = d.through(sh.lines, sh.at.Rings)
	if d.Stopped() {
		return nil
	}
	d.Try(kwkt.TaggedDims(d.K, d.S, sh.x, sh.z, sh.m, sh.first, tags, sh.kinds, report))
	dims := device.Read(d.Work, report)
	if d.Stopped() {
		return nil
	}
	d.Accept(dims[0].Odd == 0, "positions of several lengths in a geometry, or of others than its tag says")
	if sh.all = dims[0].Kinds; sh.dim() != geoarrow.XY && !sh.deep { // of geometries that are EMPTY
		sh.deep = true
		d.ordinates(sh, t.text)
	}
	return sh
}

// rings finds the parts, rings and positions of rows, and checks the text between them. It waits
// for the device.
func (d *deviceRows) rings(sh *deviceShapes, t deviceText, types gpu.Buffer[kgeom.TypeKind]) {
	if d.Stopped() {
		return
	}
	rings, err := kgeom.CountRings(d.K, d.S, t.text, &t.x.Brackets, t.x.Commas, kgeom.Coordinates{
		Starts: t.x.From,
		Ends:   t.x.To, Kinds: types,
	})
	if err != nil {
		d.Try(err)
		return
	}
	defer func() { d.Try(rings.Free(d.S)) }() // after all work that was queued
	d.Accept(rings.Offset < 0, "brackets that do not fit the kind of geometry")
	sh.at = kgeom.RingOffsets{
		Spans: device.Alloc[int64](d.Work, sh.rows+1), Parts: device.Alloc[int64](d.Work, int(rings.Parts)+1),
		Rings: device.Alloc[int64](d.Work, int(rings.Rings)+1), Positions: device.Alloc[int64](d.Work,
			int(rings.Positions)),
		Found: device.Alloc[kgeom.PositionsFound](d.Work, 1),
	}
	if !d.Stopped() {
		d.Try(kgeom.ListRings(d.K, d.S, rings, sh.at))
	}
}

// ordinates reads the positions. If they have an unexpected third ordinate, all are read again. It
// waits for the device.
func (d *deviceRows) ordinates(sh *deviceShapes, text gpu.Buffer[byte]) {
	n := sh.at.Positions.Len()
	to := kgeom.Ordinates{
		X: device.Alloc[float64](d.Work, n), Y: device.Alloc[float64](d.Work, n),
		Undecided: device.Alloc[uint64](d.Work, kernels.Words(n)), Found: sh.at.Found, Begun: true,
	}
	for {
		if sh.deep {
			to.Z, to.M = device.Alloc[float64](d.Work, n), device.Alloc[float64](d.Work, n)
		}
		if d.Stopped() {
			return
		}
		d.Try(kgeom.ParsePositions(d.K, d.S, text, nil, sh.at.Positions, kgeom.PositionWKT, to))
		if d.Stopped() {
			return
		}
		found, resolved, err := kgeom.ResolvePositions(d.K, d.S, text, sh.at.Positions, kgeom.PositionWKT, to)
		d.Try(err)
		d.Accept(found.Malformed < 0, "a position that is not as WKT has it, or with NaN or an infinity")
		d.Accept(resolved == 0 || found.Dims>>4 == 0, "a position of more than four ordinates, perhaps")
		sh.x, sh.y, sh.z, sh.m, sh.empty = to.X, to.Y, to.Z, to.M, found.Empty > 0
		if sh.deep || found.Dims>>3 == 0 {
			return
		}
		sh.deep, to.Begun = true, false
	}
}

// through returns the offsets of members' members.
func (d *deviceRows) through(outer, inner gpu.Buffer[int64]) gpu.Buffer[int64] {
	to := device.Alloc[int64](d.Work, outer.Len())
	if !d.Stopped() {
		d.Try(klist.Gather(d.K, d.S, inner, outer, to))
	}
	return to
}

// some reports whether there are geometries of one of these kinds.
func (sh *deviceShapes) some(kinds ...geoarrow.Kind) bool {
	for _, k := range kinds {
		if sh.all&(0x01010101<<k) != 0 { // of any dimension
			return true
		}
	}
	return false
}

// kind returns the kind of a column of these geometries, or NoKind if no native encoding holds
// them.
func (sh *deviceShapes) kind() (kind geoarrow.Kind) {
	if sh.some(geoarrow.GeometryCollection) {
		return geoarrow.NoKind
	}
	for k := geoarrow.Point; k <= geoarrow.MultiPolygon; k++ {
		switch {
		case !sh.some(k):
		case kind == geoarrow.NoKind || kind.Multi() == k:
			kind = k
		default:
			return geoarrow.NoKind
		}
	}
	return kind
}

// dim returns the union of the rows' dimensions.
func (sh *deviceShapes) dim() (dim geoarrow.Dim) {
	for d := geoarrow.XYZ; d <= geoarrow.XYZM; d++ {
		if sh.all>>(8*d)&0xff != 0 {
			dim |= d
		}
	}
	return dim
}

// odd returns which geometries may be unusual.
func (sh *deviceShapes) odd() device.RingCheck {
	return device.RingCheck{
		Polygons: sh.some(geoarrow.Polygon, geoarrow.MultiPolygon),
		Lines:    sh.some(geoarrow.LineString, geoarrow.MultiLineString),
	}
}

// peekBytes is how much of a text is read to find the number of ordinates of its first position.
const peekBytes = 4 << 10

// hasThird reports whether the first position of a text seems to have a third ordinate.
func hasThird(text []byte) bool {
	_, text, _ = bytes.Cut(text, []byte{'('})
	text = bytes.TrimLeft(text, "( \t\r\n")
	end := max(0, bytes.IndexAny(text, ",)"))
	return len(bytes.Fields(text[:end])) > 2
}
