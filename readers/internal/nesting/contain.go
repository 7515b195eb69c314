package nesting

import "math"

// contains reports whether a, whose box contains that of b, contains b:
//
//	positions of b that are not on the line of a    a contains b
//	all inside, and no edges cross                  yes
//	all outside                                     no
//	none, or some inside and some outside, or       if the two turn in opposite directions, as a shell and
//	edges cross                                     its hole do
//
// If the orientations agree with the result of the first position, the others are not tested.
func (n *Nesting) contains(a, b *nestedRings) bool {
	opposite := (a.area > 0) != (b.area > 0)
	for i := b.from; i < b.to && n.steps >= 0; i++ {
		side := n.side(a, n.spot(i))
		switch {
		case side == 0:
			continue
		case opposite:
			return side > 0 || n.anyInside(a, b, i+1)
		}
		return side > 0 && n.wholeInside(a, b, i+1)
	}
	return opposite
}

func (n *Nesting) spot(i int32) spot { return spot{n.X[i], n.Y[i]} }

// anyInside reports whether a position of b, starting with number from, is inside of a.
func (n *Nesting) anyInside(a, b *nestedRings, from int32) bool {
	for i := from; i < b.to && n.steps >= 0; i++ {
		if n.side(a, n.spot(i)) > 0 {
			return true
		}
	}
	return false
}

// wholeInside reports whether no position of b, starting with number from, is outside of a, and no
// edge of b crosses one of a.
func (n *Nesting) wholeInside(a, b *nestedRings, from int32) bool {
	for i := from; i < b.to && n.steps >= 0; i++ {
		if n.side(a, n.spot(i)) < 0 {
			return false
		}
	}
	for i := range int(b.to - b.from) {
		from, to := b.edge(i)
		if n.steps < 0 || n.crossed(a, n.spot(int32(from)), n.spot(int32(to))) {
			return false
		}
	}
	return true
}

// crossed reports whether the line from p to q properly crosses an edge of r: the ends of each are
// on different sides of the other.
func (n *Nesting) crossed(r *nestedRings, p, q spot) bool {
	around := nowhere
	around.add(p.x, p.y)
	around.add(q.x, q.y)
	found := false
	cross := func(from, to int) {
		n.steps -= to - from
		for i := from; i < to && !found; i++ {
			i, k := r.edge(i)
			a, b := spot{n.X[i], n.Y[i]}, spot{n.X[k], n.Y[k]}
			edge := nowhere
			edge.add(a.x, a.y)
			edge.add(b.x, b.y)
			found = edge.meets(around) && n.turn(a, b, p)*n.turn(a, b, q) < 0 && n.turn(p, q, a)*n.turn(p, q, b) < 0
		}
	}
	n.edgesOf(r, func(b box) bool { return !found && b.meets(around) }, cross)
	return found
}

// turn is the function turn; an exact result counts as many steps.
func (n *Nesting) turn(a, b, p spot) int {
	sign, exact := turn(a, b, p)
	if exact {
		n.steps -= exactSteps
	}
	return sign
}

// edgesOf calls each with the edges of a ring, in runs; of a large ring only with those whose box
// passes.
func (n *Nesting) edgesOf(r *nestedRings, passes func(b box) bool, each func(from, to int)) {
	edges := int(r.to - r.from)
	if edges <= 4*blockItems {
		each(0, edges)
		return
	}
	if r.edges == nil {
		r.edges = n.edgeTree(r)
	}
	r.edges.visit(func(b box) bool { n.steps--; return passes(b) }, each)
}

// upright reports whether a ring has almost no area seen from above, like a wall, so that x and y
// do not determine what is inside.
func (n *Nesting) upright() bool {
	const least = 1e-9 // of the square of its box's larger side
	for i := range n.rings {
		r := &n.rings[i]
		side := max(r.box[2]-r.box[0], r.box[3]-r.box[1])
		if !(math.Abs(r.area) > least*side*side) {
			return true
		}
	}
	return false
}

// apart reports whether no position of b is inside of a, and one is outside.
func (n *Nesting) apart(a, b *nestedRings) bool {
	if !a.box.meets(b.box) {
		return true
	}
	outside := false
	for i := b.from; i < b.to; i++ {
		switch n.side(a, n.spot(i)) {
		case 1:
			return false
		case -1:
			outside = true
		}
	}
	return outside
}
