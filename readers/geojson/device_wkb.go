package geojson

import (
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// deviceWKB are geometries as WKB on the device.
type deviceWKB struct {
	offsets   gpu.Buffer[int64]
	bytes     gpu.Buffer[byte]
	ringKinds gpu.Buffer[kernels.GeometryKind]
}

// writeWKB writes geometries, those of collections too. It waits for the device, which says how long they are.
func (d *deviceRows) writeWKB(sh *deviceShapes, collections kernels.WKBCollections) deviceWKB {
	to := deviceWKB{offsets: deviceAlloc[int64](d, sh.rows+1)}
	if d.stopped() {
		return to
	}
	x, err := d.k.MeasureWKB(d.s, kernels.WKBShapes{Kinds: sh.kinds, At: sh.at, X: sh.x, Y: sh.y, Z: sh.z, Collections: collections}, to.offsets)
	if err != nil {
		d.try(err)
		return to
	}
	d.later(func() error { return x.Free(d.s) })
	to.ringKinds = x.RingKinds
	size := deviceRead(d, to.offsets.Slice(sh.rows, sh.rows+1))
	if d.stopped() {
		return to
	}
	d.accept(size[0] <= math.MaxInt32, "geometries of more than 2 GiB")
	to.bytes = deviceAlloc[byte](d, int(size[0]))
	if !d.stopped() {
		d.try(d.k.WriteWKB(d.s, x, to.bytes))
	}
	return to
}

// wkb fills a column of WKB.
func (d *deviceRows) wkb(g *geoarrow.Geometry, sh *deviceShapes, w deviceWKB) {
	g.Offsets, g.WKB = d.narrow(w.offsets), deviceResult(d, w.bytes)
	kinds := deviceResult(d, sh.kinds)
	if !d.stopped() {
		g.Kinds = rowKinds(kinds)
	}
}
