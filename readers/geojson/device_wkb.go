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
	bytes     gpu.Buffer[byte]
	ringKinds gpu.Buffer[kernels.GeometryKind]
}

// writeWKB writes geometries, those of collections too. It waits for the device, which says how long they are.
func (d *deviceRows) writeWKB(sh *deviceShapes, collections kernels.WKBCollections) deviceWKB {
	to := deviceWKB{offsets: device.Alloc[int64](d.Work, sh.rows+1)}
	if d.Stopped() {
		return to
	}
	x, err := d.K.MeasureWKB(d.S, kernels.WKBShapes{Kinds: sh.kinds, At: sh.at, X: sh.x, Y: sh.y, Z: sh.z, Collections: collections}, to.offsets)
	if err != nil {
		d.Try(err)
		return to
	}
	d.Later(func() error { return x.Free(d.S) })
	to.ringKinds = x.RingKinds
	size := device.Read(d.Work, to.offsets.Slice(sh.rows, sh.rows+1))
	if d.Stopped() {
		return to
	}
	d.Accept(size[0] <= math.MaxInt32, "geometries of more than 2 GiB")
	to.bytes = device.Alloc[byte](d.Work, int(size[0]))
	if !d.Stopped() {
		d.Try(d.K.WriteWKB(d.S, x, to.bytes))
	}
	return to
}

// wkb fills a column of WKB.
func (d *deviceRows) wkb(g *geoarrow.Geometry, sh *deviceShapes, w deviceWKB) {
	g.Offsets, g.WKB = d.narrow(w.offsets), device.Result(d.Work, w.bytes)
	kinds := device.Result(d.Work, sh.kinds)
	if !d.Stopped() {
		g.Kinds = rowKinds(kinds)
	}
}
