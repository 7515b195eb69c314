// Package nesting finds which rings of a polygon are outer rings, and which holes are in which of
// them, by containment.
package nesting

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Nesting finds the outer rings of a polygon, and the outer ring of each hole.
//
// In the standard outer rings are clockwise and holes counterclockwise, but files are often wrong,
// so containment counts first:
//
//	The parent of a ring is the smallest ring that contains it. A ring without parent is an outer ring, a ring
//	whose parent is an outer ring is
//	a hole of it, a ring whose parent is a hole is an outer ring again, an island.
//
//	Ring a contains ring b if the box of a contains that of b, a has the larger area (of equal ones, the one
//	that comes first), and the whole of b lies
//	inside of a; see contains.
//
// Signs of areas are exact, so nothing depends on rounding. Boxes of rings, and of runs of edges in
// large rings, are tested first, so n positions take about n log n steps. Rings with very many
// crossings can take more, up to a limit.
type Nesting struct {
	X, Y   []float64 // positions of all rings, set after Begin
	rings  []nestedRings
	byLeft []int32 // rings by the left side of their boxes
	bySize []int32 // rings by area, the largest first
	tree   boxTree // of byLeft, if they are many
	found  []int32 // rings that may contain the current one
	steps  int     // that are left

	Order  []int32 // outer rings, each with its holes after it
	Outers int
}

// nestedRings is a ring and its place in the nesting.
type nestedRings struct {
	box      box
	area     float64  // doubled, positive if counterclockwise
	edges    *boxTree // of a large ring, made at the first request
	from, to int32    // positions
	rank     int32    // in bySize
	parent   int32    // -1: none
	depth    int32    // number of rings around it
	holes    int32    // of an outer ring
	next     int32    // place of its next hole in order
}

func (r *nestedRings) outer() bool { return r.depth&1 == 0 }

// IsOuter reports whether ring i is an outer ring.
func (n *Nesting) IsOuter(i int32) bool { return n.rings[i].outer() }

// Bounds returns the positions [from, to) of ring i.
func (n *Nesting) Bounds(i int32) (from, to int32) { return n.rings[i].from, n.rings[i].to }

// stepsPerPosition limits the work for rings; real ones take a hundredth of it.
const stepsPerPosition = 1024

// Begin drops all rings and allocates memory for positions.
func (n *Nesting) Begin(points int) {
	n.X, n.Y = slices.Grow(n.X[:0], points)[:points], slices.Grow(n.Y[:0], points)[:points]
	n.rings, n.byLeft, n.bySize, n.Order = n.rings[:0], n.byLeft[:0], n.bySize[:0], n.Order[:0]
	n.tree, n.Outers = boxTree{}, 0
	n.steps = stepsPerPosition * (points + blockItems)
}

// Add adds the ring of the positions [from, to), at least one.
func (n *Nesting) Add(from, to int) {
	r := nestedRings{from: int32(from), to: int32(to), box: nowhere}
	x, y := n.X[from:to], n.Y[from:to]
	last := spot{}
	for i := range x {
		r.box.add(x[i], y[i])
		// Relative to the first position, so that small rings far from the origin have areas too.
		// Conversions keep products from being fused.
		at := spot{x[i] - x[0], y[i] - y[0]}
		r.area += float64(last.x*at.y) - float64(last.y*at.x)
		last = at
	}
	if r.area != r.area {
		r.area = 0
	}
	n.byLeft = append(n.byLeft, int32(len(n.rings)))
	n.bySize = append(n.bySize, int32(len(n.rings)))
	n.rings = append(n.rings, r)
}

// Resolve sets Order and Outers.
func (n *Nesting) Resolve() error {
	rings := n.rings
	slices.SortFunc(n.byLeft, func(a, b int32) int {
		return cmp.Or(cmp.Compare(rings[a].box[0], rings[b].box[0]), cmp.Compare(a, b))
	})
	slices.SortFunc(n.bySize, func(a, b int32) int {
		return cmp.Or(cmp.Compare(math.Abs(rings[b].area), math.Abs(rings[a].area)), cmp.Compare(a, b))
	})
	if len(rings) > blockItems {
		n.tree = newBoxTree(len(rings), func(i int) box { return rings[n.byLeft[i]].box })
	}
	for rank, i := range n.bySize {
		rings[i].rank = int32(rank)
	}
	for _, i := range n.bySize {
		r := &rings[i]
		r.parent = n.parent(r)
		if r.parent >= 0 {
			r.depth = rings[r.parent].depth + 1
		}
		if n.steps < 0 {
			return fmt.Errorf("the %d rings cross or touch so often that it takes too long to find which is in which",
				len(rings))
		}
	}
	n.arrange()
	return nil
}

// parent returns the smallest of the larger rings that contains r, or -1.
func (n *Nesting) parent(r *nestedRings) int32 {
	n.found = n.found[:0]
	collect := func(from, to int) {
		n.steps -= to - from
		for _, i := range n.byLeft[from:to] {
			if a := &n.rings[i]; a.rank < r.rank && a.box.contains(r.box) {
				n.found = append(n.found, i)
			}
		}
	}
	if n.tree.items == 0 {
		collect(0, len(n.byLeft))
	} else {
		n.tree.visit(func(b box) bool { n.steps--; return b.contains(r.box) }, collect)
	}
	slices.SortFunc(n.found, func(a, b int32) int { return cmp.Compare(n.rings[b].rank, n.rings[a].rank) })
	for _, i := range n.found {
		if n.contains(&n.rings[i], r) {
			return i
		}
	}
	return -1
}

// side returns 1 for a position inside of a ring, -1 outside, 0 on its line: the ray to the right
// of a position inside crosses the line an odd number of times.
func (n *Nesting) side(r *nestedRings, p spot) int {
	inside, on := false, false
	cross := func(from, to int) {
		n.steps -= to - from
		for i := from; i < to && !on; i++ {
			i, k := r.edge(i)
			a, b := spot{n.X[i], n.Y[i]}, spot{n.X[k], n.Y[k]}
			switch {
			case a == p || a.y == p.y && b.y == p.y && (a.x < p.x) != (b.x < p.x):
				on = true
			case (a.y > p.y) == (b.y > p.y) || a.x < p.x && b.x < p.x:
			default:
				sign := n.turn(a, b, p)
				on = sign == 0
				inside = inside != ((sign > 0) == (b.y > a.y))
			}
		}
	}
	n.edgesOf(r, func(b box) bool { return !on && b.meetsRay(p) }, cross)
	switch {
	case on:
		return 0
	case inside:
		return 1
	}
	return -1
}

// exactSteps is how many steps an exact sign counts as.
const exactSteps = 128

// edge returns the positions of edge i of a ring. The last one leads back to the first position.
func (r *nestedRings) edge(i int) (from, to int) {
	from, to = int(r.from)+i, int(r.from)+i+1
	if to == int(r.to) {
		to = int(r.from)
	}
	return from, to
}

// edgeTree returns the tree of the edges of a ring.
func (n *Nesting) edgeTree(r *nestedRings) *boxTree {
	t := newBoxTree(int(r.to-r.from), func(i int) box {
		b := nowhere
		from, to := r.edge(i)
		b.add(n.X[from], n.Y[from])
		b.add(n.X[to], n.Y[to])
		return b
	})
	return &t
}

// arrange orders the outer rings as in the file, each followed by its holes in that order.
func (n *Nesting) arrange() {
	for i := range n.rings {
		if r := &n.rings[i]; !r.outer() {
			n.rings[r.parent].holes++
		}
	}
	n.Order = slices.Grow(n.Order, len(n.rings))[:len(n.rings)]
	next := int32(0)
	for i := range n.rings {
		if r := &n.rings[i]; r.outer() {
			n.Order[next] = int32(i)
			r.next = next + 1
			next += 1 + r.holes
			n.Outers++
		}
	}
	for i := range n.rings {
		if r := &n.rings[i]; !r.outer() {
			outer := &n.rings[r.parent]
			n.Order[outer.next] = int32(i)
			outer.next++
		}
	}
}
