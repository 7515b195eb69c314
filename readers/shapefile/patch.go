package shapefile

import (
	"encoding/binary"
	"fmt"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Kinds of the parts of a MultiPatch.
const (
	triangleStrip uint32 = iota // each point from the third one on makes a triangle with the two before it
	triangleFan                 // each point from the third one on makes a triangle with the one before it and the first one
	outerRing                   // begins a polygon
	innerRing                   // a hole of the polygon at hand
	firstRing                   // begins a polygon of which no one knows which ring is the outer one
	ring                        // a further ring of it
	triangles                   // every three points are a triangle; from ESRI's extended records of 2006
)

// patches adds a MultiPatch as a MultiPolygon: a polygon of each triangle, and one of each outer or first ring and the rings behind it. What is a hole is
// what the file calls one.
func (d *decoder) patches(b *body) (at int, err error) {
	n := len(b.kinds) / 4
	for i := range n {
		from, to := b.part(i)
		if err := checkPatch(binary.LittleEndian.Uint32(b.kinds[4*i:]), to-from); err != nil {
			return 44 + 4*n + 4*i, fmt.Errorf("part %d %w", i, err)
		}
	}
	open := false // a polygon that takes rings
	endPart := func() {
		if open {
			d.geom.EndPart()
		}
		open = false
	}
	d.positions(b, 0, 0)
	for i := range n {
		from, to := b.part(i)
		switch kind := binary.LittleEndian.Uint32(b.kinds[4*i:]); kind {
		case triangleStrip, triangleFan, triangles:
			endPart()
			d.triangles(b, kind, from, to)
		default:
			if kind == outerRing || kind == firstRing {
				endPart()
			}
			d.positions(b, from, to)
			d.endRing(to - from)
			open = true
		}
	}
	endPart()
	d.geom.End(geoarrow.MultiPolygon)
	return 0, nil
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
