package shapefile

import (
	"encoding/binary"
	"fmt"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Kinds of the parts of a MultiPatch.
const (
	triangleStrip uint32 = iota // each point from the third on forms a triangle with the two before it
	// each point from the third on forms a triangle with the one before it and the first
	triangleFan
	outerRing // begins a polygon
	innerRing // a hole of the current polygon
	firstRing // begins a polygon whose outer ring is unknown
	ring      // a further ring of it
	triangles // every three points are a triangle; from ESRI's extended records of 2006
)

// patches adds a MultiPatch as a MultiPolygon: a polygon of each triangle, and one of each outer or
// first ring and the rings after it. A ring that the file calls an inner one is a hole, unless it
// is outside of the outer one; nesting determines which ring contains a further one.
func (d *decoder) patches(b *body) (at int, err error) {
	n := len(b.kinds) / 4
	for i := range n {
		from, to := b.part(i)
		if err := checkPatch(binary.LittleEndian.Uint32(b.kinds[4*i:]), to-from); err != nil {
			return 44 + 4*n + 4*i, fmt.Errorf("part %d %w", i, err)
		}
	}
	groups, err := d.groups(b)
	if err != nil {
		return 36, err
	}
	d.positions(b, 0, 0)
	for _, g := range groups {
		if !g.rings {
			from, to := b.part(g.order[0])
			d.triangles(b, b.patchKind(g.order[0]), from, to)
			continue
		}
		for _, i := range g.order {
			from, to := b.part(i)
			d.positions(b, from, to)
			d.endRing(to - from)
		}
		d.geom.EndPart()
	}
	d.geom.End(geoarrow.MultiPolygon)
	return 0, nil
}

func (b *body) patchKind(part int) uint32 { return binary.LittleEndian.Uint32(b.kinds[4*part:]) }

// patchGroup is a polygon of rings, the outer one first, or a part of triangles.
type patchGroup struct {
	rings bool
	order []int // parts
}

// groups returns the polygons and parts of triangles of a MultiPatch, in the order of the file.
func (d *decoder) groups(b *body) (groups []patchGroup, err error) {
	n := len(b.kinds) / 4
	for i := 0; i < n; {
		if kind := b.patchKind(i); kind == triangleStrip || kind == triangleFan || kind == triangles {
			groups = append(groups, patchGroup{order: []int{i}})
			i++
			continue
		}
		end := i + 1
		for end < n && (b.patchKind(end) == innerRing || b.patchKind(end) == ring) {
			end++
		}
		if groups, err = d.nestPatch(groups, b, i, end); err != nil {
			return nil, err
		}
		i = end
	}
	return groups, nil
}

// nestPatch appends the polygons of the rings [from, to), of which the first one begins a polygon.
func (d *decoder) nestPatch(groups []patchGroup, b *body, from, to int) ([]patchGroup, error) {
	all := patchGroup{rings: true}
	for i := from; i < to; i++ {
		all.order = append(all.order, i)
	}
	if to-from == 1 {
		return append(groups, all), nil
	}
	n := &d.nest
	first, _ := b.part(from)
	_, end := b.part(to - 1)
	n.Begin(end - first) // only those of these rings: there may be very many polygons
	geoarrow.FillXY(n.X, n.Y, b.xy[16*first:16*end])
	for _, i := range all.order {
		p, q := b.part(i)
		n.Add(p-first, q-first)
	}
	if n.Upright() { // its rings are nested as in the file, since x and y do not show it
		return append(groups, all), nil
	}
	if kind := b.patchKind(from); kind == firstRing || kind == ring {
		if err := n.Resolve(); err != nil {
			return nil, err
		}
		for _, i := range n.Order {
			if n.IsOuter(i) {
				groups = append(groups, patchGroup{rings: true})
			}
			last := &groups[len(groups)-1]
			last.order = append(last.order, from+int(i))
		}
		return groups, nil
	}
	outer := len(groups)
	groups = append(groups, patchGroup{rings: true, order: []int{from}})
	for k := 1; k < to-from; k++ {
		if n.Apart(0, k) {
			groups = append(groups, patchGroup{rings: true, order: []int{from + k}})
		} else {
			groups[outer].order = append(groups[outer].order, from+k)
		}
	}
	return groups, nil
}

func checkPatch(kind uint32, points int) error {
	switch {
	case kind > triangles:
		return fmt.Errorf("is of kind %d, which is none", kind)
	case (kind == triangleStrip || kind == triangleFan) && points < 3:
		return fmt.Errorf("is a strip or fan of %d points, expected 3 at least", points)
	case kind == triangles && points%3 != 0:
		return fmt.Errorf("is triangles of %d points, expected 3 for each", points)
	}
	return nil
}

// triangles adds the triangles of a part, each a polygon of its own.
func (d *decoder) triangles(b *body, kind uint32, from, to int) {
	step := 1
	if kind == triangles {
		step = 3
	}
	for p := from; p+2 < to; p += step {
		first := p
		if kind == triangleFan {
			first = from
		}
		d.positions(b, first, first+1)
		d.positions(b, p+1, p+3)
		d.positions(b, first, first+1)
		d.endRing(4)
		d.geom.EndPart()
	}
}
