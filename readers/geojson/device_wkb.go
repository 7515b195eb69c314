package geojson

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

// deviceWKB are geometries as WKB on the device.
type deviceWKB struct {
	offsets   gpu.Buffer[int64]
	narrow    gpu.Buffer[int32] // the offsets
	bytes     gpu.Buffer[byte]
	ringKinds gpu.Buffer[kernels.GeometryKind]
}

// writeWKB writes geometries, those of collections too. It waits for the device, which says how long they are; unless there may be room for more behind them.
func (d *deviceRows) writeWKB(sh *deviceShapes, collections kernels.WKBCollections, roomy bool) deviceWKB {
	to := deviceWKB{offsets: device.Alloc[int64](d.Work, sh.rows+1), narrow: device.Alloc[int32](d.Work, sh.rows+1)}
	if d.Stopped() {
		return to
	}
	x, err := d.K.MeasureWKB(d.S, kernels.WKBShapes{Kinds: sh.kinds, At: sh.at, X: sh.x, Y: sh.y, Z: sh.z, Collections: collections}, to.offsets, to.narrow)
	if err != nil {
		d.Try(err)
		return to
	}
	d.Later(func() error { return x.Free(d.S) })
	to.ringKinds = x.RingKinds
	size := sh.mostWKB()
	if !roomy {
		sizes := ask(d, to.offsets.Slice(sh.rows, sh.rows+1))
		if d.Stopped() {
			return to
		}
		size = sizes[0]
	}
	d.Accept(size <= math.MaxInt32, "geometries of more than 2 GiB")
	to.bytes = device.Alloc[byte](d.Work, int(size))
	if !d.Stopped() {
		d.Try(d.K.WriteWKB(d.S, x, to.bytes))
	}
	return to
}

// mostWKB is how many bytes the geometries have as WKB at most, without collections: nine for each header, and an ordinate's eight.
func (sh *deviceShapes) mostWKB() int64 {
	headers, position := sh.rows+sh.at.Parts.Len()+sh.at.Rings.Len(), 2*8
	if sh.z.Len() > 0 {
		position += 8
	}
	if sh.some(geoarrow.Point, geoarrow.MultiPoint) {
		position += 5 // each has a header without a count
	}
	return int64(9*headers + position*sh.at.Positions.Len())
}

// wkb fills a column of WKB.
func (d *deviceRows) wkb(g *geoarrow.Geometry, sh *deviceShapes, w deviceWKB) {
	g.Offsets, g.WKB = device.Result(d.Work, w.narrow), device.Result(d.Work, w.bytes)
	kinds := device.Result(d.Work, sh.kinds)
	if !d.Stopped() {
		g.Kinds = device.RowKinds(kinds)
	}
}
