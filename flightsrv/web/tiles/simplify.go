package tiles

import (
	"math"
	"math/bits"
)

// nodes knows at which vertices of a tile simplification must stop, so that neighbours keep the
// borders that they share. A node is a vertex whose neighbours are not the same two vertices in
// every path that has it: an end of a shared border. All vertices of short paths, which are not
// simplified, are nodes too.
//
// It is a hash table of vertices. A slot has the hash of a vertex, and a number of its two
// neighbours that does not depend on their order, or 0 for a node.
type nodes struct {
	keys, neighbours []uint64
	shift            int
}

// newNodes returns a table with room for n vertices.
func newNodes(n int) *nodes {
	size := 1 << bits.Len(uint(2*n))
	return &nodes{make([]uint64, size), make([]uint64, size), 64 - bits.TrailingZeros(uint(size))}
}

// slot returns the slot of a vertex by its hash, or the free one where it belongs.
func (t *nodes) slot(hash uint64) uint64 {
	mask := uint64(len(t.keys) - 1)
	i := hash >> t.shift & mask
	for t.keys[i] != hash && t.keys[i] != 0 {
		i = (i + 1) & mask
	}
	return i
}

// add adds the vertices of a path.
func (t *nodes) add(s *sketch, p path) {
	if p.kind == pointPath {
		return
	}
	v := s.vertices[p.from:p.to]
	n := len(v)
	for i := range v {
		pair := uint64(0)
		if n > shortPath && (p.isRing() || i > 0 && i < n-1) {
			pair = v[(i+n-1)%n].hash() + v[(i+1)%n].hash()
		}
		hash := v[i].hash()
		k := t.slot(hash)
		switch {
		case t.keys[k] == 0:
			t.keys[k], t.neighbours[k] = hash, pair
		case t.neighbours[k] != pair:
			t.neighbours[k] = 0
		}
	}
}

// has reports whether a vertex is a node.
func (t *nodes) has(v vertex) bool { return t.neighbours[t.slot(v.hash())] == 0 }

// simplifier simplifies paths. It is for one goroutine.
type simplifier struct {
	nodes     *nodes
	tolerance float64 // in units
	lo, hi    int64   // vertices with an ordinate outside of these stay

	chain, next []link
}

// link is a vertex of a path that is being simplified.
type link struct {
	vertex
	fixed bool
	error float64 // a bound of the distance of the original path from the edge to the next vertex
	cost  float64 // that bound for the edge that replaces the vertex; +Inf: the vertex stays
}

// maxRounds bounds the repetitions of simplify.
const maxRounds = 16

// simplify removes vertices of a path, so that no original vertex is further from it than the
// tolerance. The result is written over the path, and its new end is returned.
//
// It works in rounds. Each round removes the vertices that cost less than both of their neighbours.
// The cost depends on the vertex and its two neighbours, not on the direction of the path. Nodes
// stay. Between two nodes, the two paths of a shared border therefore lose the same vertices.
func (s *simplifier) simplify(k *sketch, p path) (end int32) {
	v := k.vertices[p.from:p.to]
	if p.kind == pointPath || len(v) <= shortPath {
		return p.to
	}
	s.chain = s.chain[:0]
	for i, w := range v {
		fixed := !p.isRing() && (i == 0 || i == len(v)-1) || w.x < s.lo || w.x > s.hi || w.y < s.lo || w.y > s.hi ||
			s.nodes.has(w)
		s.chain = append(s.chain, link{vertex: w, fixed: fixed})
	}
	for range maxRounds {
		if !s.round() {
			break
		}
	}
	for i := range s.chain {
		v[i] = s.chain[i].vertex
	}
	return p.from + int32(len(s.chain))
}

// round removes vertices and reports whether it did.
func (s *simplifier) round() bool {
	c := s.chain
	n := len(c)
	if n < 3 {
		return false
	}
	for i := range c {
		c[i].cost = math.Inf(1)
		if c[i].fixed {
			continue
		}
		a, b := &c[(i+n-1)%n], &c[(i+1)%n]
		if cost := max(a.error, c[i].error) + distance(c[i].vertex, a.vertex, b.vertex); cost <= s.tolerance {
			c[i].cost = cost
		}
	}
	s.next = s.next[:0]
	for i := range c {
		if !math.IsInf(c[i].cost, 1) && c[i].before(&c[(i+n-1)%n]) && c[i].before(&c[(i+1)%n]) {
			continue
		}
		l := c[i]
		if after := &c[(i+1)%n]; !math.IsInf(after.cost, 1) && after.before(&c[i]) && after.before(&c[(i+2)%n]) {
			l.error = after.cost
		}
		s.next = append(s.next, l)
	}
	s.chain, s.next = s.next, s.chain
	return len(s.chain) < n
}

// before orders links by what their removal costs. Equal costs are ordered by place.
func (l *link) before(m *link) bool {
	return l.cost < m.cost || l.cost == m.cost && l.less(m.vertex)
}

// distance returns the distance of v from the segment between a and b. The order of a and b does
// not change the result.
func distance(v, a, b vertex) float64 {
	if b.less(a) {
		a, b = b, a
	}
	dx, dy := float64(b.x-a.x), float64(b.y-a.y)
	px, py := float64(v.x-a.x), float64(v.y-a.y)
	if length := dx*dx + dy*dy; length > 0 {
		t := min(max((px*dx+py*dy)/length, 0), 1)
		px, py = px-t*dx, py-t*dy
	}
	return math.Sqrt(px*px + py*py)
}
