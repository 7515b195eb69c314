package wkt

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	klist "github.com/vibeflight/vibeflight/kernels/list"
	kwkt "github.com/vibeflight/vibeflight/kernels/wkt"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// deviceWKB are geometries as WKB on the device.
type deviceWKB struct {
	offsets gpu.Buffer[int64]
	narrow  gpu.Buffer[int32] // the offsets
	bytes   gpu.Buffer[byte]
	facts   gpu.Buffer[kgeom.RingFact]
}

// writeWKB writes geometries, including those of collections. It waits for the device to report the
// size.
func (d *deviceRows) writeWKB(sh *deviceShapes, collections kgeom.WKBCollections) deviceWKB {
	if d.Stopped() {
		return deviceWKB{}
	}
	to := deviceWKB{offsets: device.Alloc[int64](d.Work, sh.rows+1), narrow: device.Alloc[int32](d.Work, sh.rows+1)}
	if d.Stopped() {
		return to
	}
	x, err := kgeom.MeasureWKB(d.K, d.S, kgeom.WKBShapes{
		Kinds: sh.kinds, At: sh.at, X: sh.x, Y: sh.y, Z: sh.z,
		M: sh.m, Collections: collections,
	}, to.offsets, to.narrow)
	if err != nil {
		d.Try(err)
		return to
	}
	d.Later(func() error { return x.Free(d.S) })
	size := device.Read(d.Work, to.offsets.Slice(sh.rows, sh.rows+1))
	if d.Stopped() {
		return to
	}
	d.Accept(size[0] <= math.MaxInt32, "geometries of more than 2 GiB")
	to.bytes, to.facts = device.Alloc[byte](d.Work, int(size[0])), device.Alloc[kgeom.RingFact](d.Work, 1)
	if !d.Stopped() {
		d.Try(kgeom.WriteWKB(d.K, d.S, x, to.bytes, to.facts))
	}
	return to
}

// wkb fills a column of WKB.
func (d *deviceRows) wkb(g *geoarrow.Geometry, sh *deviceShapes, w deviceWKB) {
	g.Offsets, g.WKB = device.Final(d.Work, w.narrow), device.Final(d.Work, w.bytes)
	g.Kinds = device.RowKinds(device.Result(d.Work, sh.kinds))
}

// collections reads the members of GeometryCollections: rows like others, of a text of its own.
//
//	text      … COLLECTION( m1 , m2 ) … COLLECTION EMPTY … COLLECTION( m3 ) …
//	members   m1 , m2 , m3 ,
//	first     0 2 2 3                                                                 the first member of each
//	          collection
//
// Members are written as separate WKB, whose pieces are then copied to the rows' WKB. dim is the
// union of their dimensions.
func (d *deviceRows) collections(sh *deviceShapes, sum *readers.Summary) (c kgeom.WKBCollections, dim geoarrow.Dim) {
	if d.Stopped() || !sh.some(geoarrow.GeometryCollection) {
		return c, dim
	}
	d.Accept(sh.all>>geoarrow.MakeRowKind(geoarrow.GeometryCollection, geoarrow.XYM)&1 == 0,
		"a collection with a tag M")
	rows, err := d.K.AllocPositions(d.S, sh.collects, 0)
	if err != nil {
		d.Try(err)
		return c, dim
	}
	d.Later(func() error { return rows.Free(d.S) })
	n := rows.Len()
	from, to := device.Alloc[int64](d.Work, n), device.Alloc[int64](d.Work, n)
	firsts, offsets := device.Alloc[int64](d.Work, n), device.Alloc[int64](d.Work, n+1)
	c = kgeom.WKBCollections{
		Rows: rows, First: device.Alloc[int64](d.Work, n+1),
		Starts: device.Alloc[int64](d.Work, n+1),
	}
	if d.Stopped() {
		return c, dim
	}
	d.Try(klist.Gather(d.K, d.S, d.x.From, rows, from))
	d.Try(klist.Gather(d.K, d.S, d.x.To, rows, to))
	d.Try(klist.MeasureArrays(d.K, d.S, d.text, from, to, firsts, offsets))
	size := device.Read(d.Work, offsets.Slice(n, n+1))
	if d.Stopped() {
		return c, dim
	}
	if size[0] == 0 { // no member at all
		d.Try(gpu.Fill(d.S, c.First, 0))
		d.Try(gpu.Fill(d.S, c.Starts, 0))
		return c, dim
	}
	members := deviceText{text: device.Alloc[byte](d.Work, int(size[0]))}
	if d.Stopped() {
		return c, dim
	}
	d.Try(klist.JoinArrays(d.K, d.S, d.text, firsts, offsets, members.text))
	d.parse(&members, kwkt.WKTMembers)
	c.WKB, dim = d.members(members, c, offsets, sh, sum)
	return c, dim
}

// members reads the members of collections, which begin at offsets of their text, and gives their
// WKB. of are the rows that the collections are among.
func (d *deviceRows) members(t deviceText, c kgeom.WKBCollections, offsets gpu.Buffer[int64],
	of *deviceShapes, sum *readers.Summary,
) (wkb gpu.Buffer[byte], dim geoarrow.Dim) {
	sh := d.shapes(t, of.dim() != geoarrow.XY || of.deep)
	if d.Stopped() {
		return wkb, dim
	}
	d.Accept(!sh.some(geoarrow.GeometryCollection), "a collection in a collection")
	found := device.Result(d.Work, t.x.Found)
	d.After(func() { d.Accept(found[0].Fault < 0, unlike) })
	d.Try(klist.LowerBounds(d.K, d.S, t.x.Starts, offsets, c.First))
	d.Try(kgeom.WKBCollectionDims(d.K, d.S, c.Rows, c.First, of.kinds, sh.kinds))
	w := d.writeWKB(sh, kgeom.WKBCollections{})
	sh.odd().Count(d.Work, w.facts, sum)
	if !d.Stopped() {
		d.Try(klist.Gather(d.K, d.S, w.offsets, c.First, c.Starts))
	}
	return w.bytes, sh.dim()
}
