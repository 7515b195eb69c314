package flatgeobuf

import (
	"encoding/binary"
	"math"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// body is the positions of a geometry.
type body struct {
	n        int
	dim      geoarrow.Dim
	xy, z, m []byte // z and m are read only if dim has them
}

// body finds the positions of a geometry. z and m that are NaN everywhere don't count: a geometry
// without them is written like that in a file that has them. Times are counted.
func (d *decoder) body(t *table) (b body, f *fault) {
	xy, at, f := t.vector(geometryXY, 8)
	if f != nil {
		return b, f
	}
	if f := d.take(at, len(xy)); f != nil {
		return b, f
	}
	if len(xy)%16 != 0 {
		return b, faultf(at, "%d ordinates x and y, expected an even number", len(xy)/8)
	}
	b.n, b.xy = len(xy)/16, xy
	var more [4][]byte
	for i := range more {
		if !t.has(geometryZ + i) {
			continue
		}
		if more[i], f = d.ordinates(t, geometryZ+i, b.n); f != nil {
			return b, f
		}
	}
	d.odd.IgnoredOrdinates += int64(len(more[2])+len(more[3])) / 8
	b.z, b.m = more[0], more[1]
	if anyNumber(b.z) {
		b.dim |= geoarrow.HasZ
	}
	if anyNumber(b.m) {
		b.dim |= geoarrow.HasM
	}
	return b, nil
}

// positions adds the positions [from, to).
func (d *decoder) positions(b *body, from, to int) {
	g := d.geom
	g.Extend(to-from, b.dim)
	at := len(g.X) - (to - from)
	geoarrow.FillXY(g.X[at:], g.Y[at:], b.xy[16*from:16*to])
	if b.dim&geoarrow.HasZ != 0 {
		geoarrow.Fill(g.Z[at:], b.z[8*from:8*to])
	}
	if b.dim&geoarrow.HasM != 0 {
		geoarrow.Fill(g.M[at:], b.m[8*from:8*to])
	}
}

// ordinates returns an array of one ordinate a position, or of none.
func (d *decoder) ordinates(t *table, field, n int) ([]byte, *fault) {
	v, at, f := t.vector(field, 8)
	if f != nil {
		return nil, f
	}
	if len(v) != 0 && len(v) != 8*n {
		return nil, faultf(at, "%d ordinates %s for %d positions", len(v)/8, [...]string{
			geometryZ: "z",
			geometryM: "m", geometryT: "t", geometryTM: "tm",
		}[field], n)
	}
	return v, d.take(at, len(v))
}

func anyNumber(doubles []byte) bool {
	for i := 0; i < len(doubles); i += 8 {
		if v := math.Float64frombits(binary.LittleEndian.Uint64(doubles[i:])); v == v {
			return true
		}
	}
	return false
}
