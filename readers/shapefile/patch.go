package shapefile

import (
	"encoding/binary"
	"fmt"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/nesting"
)

// patches adds a MultiPatch as a MultiPolygon: a polygon of each triangle, and one of each outer or
// first ring and the rings after it.
func (d *decoder) patches(b *body) (at int, err error) {
	n := len(b.kinds) / 4
	p := nesting.Patches{
		Kinds: make([]uint32, n), Part: b.part,
		Fill: func(x, y []float64, from, to int) { geoarrow.FillXY(x, y, b.xy[16*from:16*to]) },
	}
	for i := range n {
		from, to := b.part(i)
		p.Kinds[i] = binary.LittleEndian.Uint32(b.kinds[4*i:])
		if err := nesting.CheckPatch(p.Kinds[i], to-from); err != nil {
			return 44 + 4*n + 4*i, fmt.Errorf("part %d %w", i, err)
		}
	}
	groups, err := d.nest.Groups(&p)
	if err != nil {
		return 36, err
	}
	d.positions(b, 0, 0)
	for _, g := range groups {
		if !g.Rings {
			from, to := b.part(g.Order[0])
			nesting.Triangles(p.Kinds[g.Order[0]], from, to, func(first, second int) {
				d.positions(b, first, first+1)
				d.positions(b, second, second+2)
				d.positions(b, first, first+1)
				d.endRing(4)
				d.geom.EndPart()
			})
			continue
		}
		for _, i := range g.Order {
			from, to := b.part(i)
			d.positions(b, from, to)
			d.endRing(to - from)
		}
		d.geom.EndPart()
	}
	d.geom.End(geoarrow.MultiPolygon)
	return 0, nil
}
