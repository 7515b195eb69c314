package geojson

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// deviceWKB are geometries as WKB on the device.
type deviceWKB struct {
	measured *kgeom.WKB
	offsets  gpu.Buffer[int64]
	narrow   gpu.Buffer[int32] // the offsets
	size     []int64           // one element, after the next await: bytes of all
	bytes    gpu.Buffer[byte]
	facts    gpu.Buffer[kgeom.RingFact]
}

// measureWKB computes the places of geometries in their WKB, including those of collections, and
// requests its size. Positions are in x, y and z, now or later.
func (d *deviceRows) measureWKB(sh *deviceShapes, x, y, z gpu.Buffer[float64],
	collections kgeom.WKBCollections,
) *deviceWKB {
	to := &deviceWKB{offsets: device.Alloc[int64](d.Work, sh.rows+1), narrow: device.Alloc[int32](d.Work, sh.rows+1)}
	if d.Stopped() {
		return to
	}
	var err error
	if to.measured, err = kgeom.MeasureWKB(d.K, d.S, kgeom.WKBShapes{
		Kinds: sh.kinds, At: sh.at, X: x, Y: y,
		Z: z, Collections: collections,
	}, to.offsets, to.narrow); err != nil {
		d.Try(err)
		return to
	}
	d.Later(func() error { return to.measured.Free(d.S) })
	to.size = device.Result(d.Work, to.offsets.Slice(sh.rows, sh.rows+1))
	return to
}

// writeWKB writes geometries, including those of collections. It waits for the size from the
// device, unless that was requested with the positions or the memory may be larger than needed.
func (d *deviceRows) writeWKB(sh *deviceShapes, collections kgeom.WKBCollections, roomy bool) *deviceWKB {
	to := sh.wkb
	if to == nil {
		to = d.measureWKB(sh, sh.x, sh.y, sh.z, collections)
		if !roomy {
			d.Await()
		}
	}
	if d.Stopped() {
		return to
	}
	size := sh.maxWKB()
	if !roomy {
		size = to.size[0]
	}
	d.Accept(size <= math.MaxInt32, "geometries of more than 2 GiB")
	to.bytes, to.facts = device.Alloc[byte](d.Work, int(size)), device.Alloc[kgeom.RingFact](d.Work, 1)
	if !d.Stopped() {
		d.Try(kgeom.WriteWKB(d.K, d.S, to.measured, to.bytes, to.facts))
	}
	return to
}

// maxWKB returns the maximum size of the geometries as WKB, without collections: nine bytes for
// each header, and eight for each ordinate.
func (sh *deviceShapes) maxWKB() int64 {
	headers, position := sh.rows+sh.at.Parts.Len()+sh.at.Rings.Len(), 2*8
	if sh.z.Len() > 0 {
		position += 8
	}
	if sh.some(geoarrow.Point, geoarrow.MultiPoint) {
		position += 5 // each header has no count
	}
	return int64(9*headers + position*sh.at.Positions.Len())
}

// wkb fills a column of WKB.
func (d *deviceRows) wkb(g *geoarrow.Geometry, sh *deviceShapes, w *deviceWKB) {
	g.Offsets, g.WKB = device.Final(d.Work, w.narrow), device.Final(d.Work, w.bytes)
	kinds := device.Result(d.Work, sh.kinds)
	if !d.Stopped() {
		g.Kinds = device.RowKinds(kinds)
	}
}
