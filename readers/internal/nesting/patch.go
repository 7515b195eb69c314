package nesting

import "fmt"

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

// Patches are the parts of a MultiPatch.
type Patches struct {
	Kinds []uint32
	Part  func(i int) (from, to int)         // positions of a part
	Fill  func(x, y []float64, from, to int) // sets x and y of positions [from, to)
}

// PatchGroup is a polygon of rings, the outer one first, or a part of triangles.
type PatchGroup struct {
	Rings bool
	Order []int // parts
}

// CheckPatch returns what is wrong with a part of a kind and a number of positions.
func CheckPatch(kind uint32, points int) error {
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

// Triangles calls each with the positions of every triangle of a part: the first one, and the one
// before the last.
func Triangles(kind uint32, from, to int, each func(first, second int)) {
	step := 1
	if kind == triangles {
		step = 3
	}
	for p := from; p+2 < to; p += step {
		first := p
		if kind == triangleFan {
			first = from
		}
		each(first, p+1)
	}
}

// Groups returns the polygons and the parts of triangles, in the order of the file. A ring that the
// file calls an inner one is a hole, unless it is outside of the outer one; nesting determines which
// ring contains a further one.
func (n *Nesting) Groups(p *Patches) (groups []PatchGroup, err error) {
	all := len(p.Kinds)
	for i := 0; i < all; {
		if kind := p.Kinds[i]; kind == triangleStrip || kind == triangleFan || kind == triangles {
			groups = append(groups, PatchGroup{Order: []int{i}})
			i++
			continue
		}
		end := i + 1
		for end < all && (p.Kinds[end] == innerRing || p.Kinds[end] == ring) {
			end++
		}
		if groups, err = n.nestPatch(groups, p, i, end); err != nil {
			return nil, err
		}
		i = end
	}
	return groups, nil
}

// nestPatch appends the polygons of the rings [from, to), of which the first one begins a polygon.
func (n *Nesting) nestPatch(groups []PatchGroup, p *Patches, from, to int) ([]PatchGroup, error) {
	all := PatchGroup{Rings: true}
	for i := from; i < to; i++ {
		all.Order = append(all.Order, i)
	}
	if to-from == 1 {
		return append(groups, all), nil
	}
	first, _ := p.Part(from)
	_, end := p.Part(to - 1)
	n.Begin(end - first) // only those of these rings: there may be very many polygons
	p.Fill(n.X, n.Y, first, end)
	for _, i := range all.Order {
		a, b := p.Part(i)
		n.Add(a-first, b-first)
	}
	if n.upright() { // its rings are nested as in the file, since x and y do not show it
		return append(groups, all), nil
	}
	if kind := p.Kinds[from]; kind == firstRing || kind == ring {
		if err := n.Resolve(); err != nil {
			return nil, err
		}
		for _, i := range n.Order {
			if n.rings[i].outer() {
				groups = append(groups, PatchGroup{Rings: true})
			}
			last := &groups[len(groups)-1]
			last.Order = append(last.Order, from+int(i))
		}
		return groups, nil
	}
	outer := len(groups)
	groups = append(groups, PatchGroup{Rings: true, Order: []int{from}})
	for k := 1; k < to-from; k++ {
		if n.steps > 0 && n.apart(&n.rings[0], &n.rings[k]) {
			groups = append(groups, PatchGroup{Rings: true, Order: []int{from + k}})
		} else {
			groups[outer].Order = append(groups[outer].Order, from+k)
		}
	}
	return groups, nil
}
