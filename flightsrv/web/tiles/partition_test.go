package tiles

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/mvt"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// partition is a division of a square of the earth into polygons without gaps. It is made of small
// squares that random borders separate; squares of equal labels are one polygon.
type partition struct {
	n      int           // squares to a side
	labels []int         // of the squares, by row
	lines  map[edge][]xy // the border between two corners, from the first one to the second
}

type xy struct{ x, y float64 }

// edge is a border: from a corner to the next one to the east or the south.
type edge struct {
	column, row int
	south       bool
}

// newPartition returns a partition of n*n squares in [0, size] degrees around a place, whose
// borders have steps vertices each.
func newPartition(rng *rand.Rand, n, steps int, west, south, size float64, rough float64) *partition {
	p := &partition{n: n, labels: make([]int, n*n), lines: map[edge][]xy{}}
	for i := range p.labels {
		p.labels[i] = i
		if k := i - 1; i%n > 0 && rng.IntN(3) == 0 {
			p.labels[i] = p.labels[k]
		} else if k := i - n; k >= 0 && rng.IntN(3) == 0 {
			p.labels[i] = p.labels[k]
		}
	}
	side := size / float64(n)
	corners := map[[2]int]xy{}
	for c := range n + 1 {
		for r := range n + 1 {
			at := xy{west + float64(c)*side, south + float64(r)*side}
			if c > 0 && c < n {
				at.x += (rng.Float64() - 0.5) * side / 3
			}
			if r > 0 && r < n {
				at.y += (rng.Float64() - 0.5) * side / 3
			}
			corners[[2]int{c, r}] = at
		}
	}
	for c := range n + 1 {
		for r := range n + 1 {
			for _, south := range []bool{false, true} {
				to, outer := [2]int{c + 1, r}, r == 0 || r == n
				if south {
					to, outer = [2]int{c, r + 1}, c == 0 || c == n
				}
				a, ok := corners[[2]int{c, r}]
				b, ok2 := corners[to]
				if ok && ok2 {
					p.lines[edge{c, r, south}] = roughLine(rng, a, b, steps, rough*side, outer)
				}
			}
		}
	}
	return p
}

// roughLine returns a random line between two places, by midpoint displacement.
func roughLine(rng *rand.Rand, a, b xy, steps int, rough float64, straight bool) []xy {
	if steps < 2 {
		return []xy{a, b}
	}
	m := xy{(a.x + b.x) / 2, (a.y + b.y) / 2}
	if !straight {
		m.x += (rng.Float64() - 0.5) * rough
		m.y += (rng.Float64() - 0.5) * rough
	}
	left := roughLine(rng, a, m, steps/2, rough/2, straight)
	return append(left[:len(left)-1], roughLine(rng, m, b, steps/2, rough/2, straight)...)
}

// rings returns the rings of each label, with the interior on the left.
func (p *partition) rings() map[int][][]xy {
	type step struct {
		to   [2]int
		line []xy
	}
	all := map[int]map[[2]int][]step{}
	label := func(c, r int) int {
		if c < 0 || r < 0 || c >= p.n || r >= p.n {
			return -1
		}
		return p.labels[r*p.n+c]
	}
	add := func(l int, from, to [2]int, line []xy) {
		if all[l] == nil {
			all[l] = map[[2]int][]step{}
		}
		all[l][from] = append(all[l][from], step{to, line})
	}
	for _, e := range p.edges() {
		line := p.lines[e]
		back := make([]xy, len(line))
		for i, v := range line {
			back[len(line)-1-i] = v
		}
		a, b := [2]int{e.column, e.row}, [2]int{e.column + 1, e.row}
		left, right := label(e.column, e.row), label(e.column, e.row-1) // to the east: the square of higher y is left
		if e.south {
			b = [2]int{e.column, e.row + 1}
			left, right = label(e.column-1, e.row), label(e.column, e.row)
		}
		if left == right {
			continue
		}
		if left >= 0 {
			add(left, a, b, line)
		}
		if right >= 0 {
			add(right, b, a, back)
		}
	}
	out := map[int][][]xy{}
	for l, steps := range all {
		for len(steps) > 0 {
			var ring []xy
			start := slices.SortedFunc(maps.Keys(steps), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })[0]
			for at := start; ; {
				s := steps[at][0]
				if steps[at] = steps[at][1:]; len(steps[at]) == 0 {
					delete(steps, at)
				}
				ring = append(ring, s.line[:len(s.line)-1]...)
				if at = s.to; at == start {
					break
				}
			}
			out[l] = append(out[l], ring)
		}
	}
	return out
}

// edges returns the borders in a fixed order.
func (p *partition) edges() (all []edge) {
	for c := range p.n + 1 {
		for r := range p.n + 1 {
			for _, e := range []edge{{c, r, false}, {c, r, true}} {
				if p.lines[e] != nil {
					all = append(all, e)
				}
			}
		}
	}
	return all
}

// geometry returns the polygons as a column.
func (p *partition) geometry() *geoarrow.Geometry {
	g := &geoarrow.Geometry{Kind: geoarrow.Polygon, Geoms: []int32{0}, Rings: []int32{0}}
	rings := p.rings()
	for l := range p.n * p.n {
		slices.SortStableFunc(rings[l], func(a, b []xy) int { return cmp.Compare(ringArea(b), ringArea(a)) })
		for _, r := range rings[l] { // the exterior ring has the largest area
			for _, v := range append(r, r[0]) {
				g.X, g.Y = append(g.X, v.x), append(g.Y, v.y)
			}
			g.Rings = append(g.Rings, int32(len(g.X)))
		}
		if len(rings[l]) > 0 {
			g.Geoms = append(g.Geoms, int32(len(g.Rings)-1))
			g.Rows++
		}
	}
	return g
}

func ringArea(r []xy) (sum float64) {
	for i, v := range r {
		w := r[(i+1)%len(r)]
		sum += v.x*w.y - w.x*v.y
	}
	return sum
}

// segment is an edge in a tile.
type segment [2]orb.Point

// TestNoGaps draws random partitions and wants each edge of a tile twice: once in either direction,
// with the same vertices. The areas of all polygons add up to the area of the tile.
func TestNoGaps(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 7))
		n, steps := 2+rng.IntN(9), 1<<rng.IntN(9)
		size := math.Ldexp(40, -rng.IntN(12))
		west, south := rng.Float64()*200-150, rng.Float64()*60-50
		p := newPartition(rng, n, steps, west, south, size, 0.3*rng.Float64())
		g := p.geometry()
		first := uint32(math.Log2(360 / size))
		for z := first; z < first+6; z++ {
			side := math.Ldexp(1, int(z))
			lon, lat := west+size*(0.4+0.2*rng.Float64()), south+size*(0.4+0.2*rng.Float64())
			f := newFrame(degrees, z, uint32(degrees.x(lon)*side), uint32(degrees.y(lat)*side), 4096, 64)
			checkPartition(t, f, g, seed)
		}
	}
}

// checkPartition draws all polygons with their shapes, however small they are.
func checkPartition(t *testing.T, f *frame, g *geoarrow.Geometry, seed uint64) {
	t.Helper()
	all := make([]candidate, g.Rows)
	for i := range all {
		all[i] = candidate{row: int64(i), at: int32(i)}
	}
	layers, err := mvt.Unmarshal(painted(t, f, g, all))
	if err != nil || len(layers) != 1 {
		t.Errorf("seed %d, tile %d/%d/%d: %d layers, error %v", seed, f.z, f.x, f.y, len(layers), err)
		return
	}
	edges := map[segment]int{}
	sum, vertices := 0.0, 0
	lo, hi := -64.0, 4160.0
	add := func(r orb.Ring) {
		vertices += len(r)
		for i := 1; i < len(r); i++ {
			a, b := r[i-1], r[i]
			sum += (a[0]*b[1] - b[0]*a[1]) / 2
			onLine := a[0] == b[0] && (a[0] == lo || a[0] == hi) || a[1] == b[1] && (a[1] == lo || a[1] == hi)
			if !onLine {
				edges[segment{a, b}]++
				edges[segment{b, a}]--
			}
		}
	}
	for _, feature := range layers[0].Features {
		switch g := feature.Geometry.(type) {
		case orb.Polygon:
			for _, r := range g {
				add(r)
			}
		case orb.MultiPolygon:
			for _, p := range g {
				for _, r := range p {
					add(r)
				}
			}
		}
	}
	for s, n := range edges {
		if n > 0 {
			if !onOuterBorder(f, g, s) {
				t.Errorf("seed %d, tile %d/%d/%d: edge %v is %d times more often in one direction", seed, f.z, f.x, f.y, s, n)
			}
		}
	}
	if box := f.box(f.buffer + 1); inBounds(g, box) && sum != (hi-lo)*(hi-lo) {
		t.Errorf("seed %d, tile %d/%d/%d: the areas add up to %v, not %v", seed, f.z, f.x, f.y, sum, (hi-lo)*(hi-lo))
	}
	t.Logf("seed %d, zoom %d: %d polygons, %d vertices", seed, f.z, len(layers[0].Features), vertices)
}

// inBounds reports whether the column's box has all of another box.
func inBounds(g *geoarrow.Geometry, box [4]float64) bool {
	b, _ := g.TotalBounds()
	return b[0] <= box[0] && b[1] <= box[1] && b[2] >= box[2] && b[3] >= box[3]
}

// onOuterBorder reports whether a segment is on the border of the partition.
func onOuterBorder(f *frame, g *geoarrow.Geometry, s segment) bool {
	b, _ := g.TotalBounds()
	near := func(v float64, w int64) bool { return math.Abs(v-float64(w)) <= 2 }
	x0, x1, y0, y1 := f.unitX(b[0]), f.unitX(b[2]), f.unitY(b[3]), f.unitY(b[1])
	return near(s[0][0], x0) && near(s[1][0], x0) || near(s[0][0], x1) && near(s[1][0], x1) ||
		near(s[0][1], y0) && near(s[1][1], y0) || near(s[0][1], y1) && near(s[1][1], y1)
}

// TestTilesMeet compares where borders cross the line between two tiles. They are simplified in each
// tile by itself, so they may differ by the tolerance of either.
func TestTilesMeet(t *testing.T) {
	crossings, differ := 0, 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 8))
		size := math.Ldexp(40, -rng.IntN(8))
		west, south := rng.Float64()*200-150, rng.Float64()*60-50
		p := newPartition(rng, 2+rng.IntN(6), 256, west, south, size, 0.3*rng.Float64())
		g := p.geometry()
		z := uint32(math.Log2(360/size)) + 2
		side := math.Ldexp(1, int(z))
		x := uint32(degrees.x(west+size*0.4) * side)
		y := uint32(degrees.y(south+size*0.5) * side)
		left := crossingsOf(t, newFrame(degrees, z, x, y, 4096, 64), g, 4096)
		right := crossingsOf(t, newFrame(degrees, z, x+1, y, 4096, 64), g, 0)
		for row, a := range left {
			b := right[row]
			if len(a) != len(b) {
				continue // a border that touches the line
			}
			for i := range a {
				crossings++
				if a[i] != b[i] {
					differ++
				}
				if math.Abs(a[i]-b[i]) > 6 {
					t.Errorf("seed %d, row %v: %v units on one side, %v on the other", seed, row, a[i], b[i])
				}
			}
		}
	}
	if crossings < 50 {
		t.Errorf("%d crossings", crossings)
	}
	t.Logf("%d of %d crossings differ", differ, crossings)
}

// crossingsOf returns where the rings of each row cross a column of the tile, in order.
func crossingsOf(t *testing.T, f *frame, g *geoarrow.Geometry, x float64) map[any][]float64 {
	t.Helper()
	all := make([]candidate, g.Rows)
	for i := range all {
		all[i] = candidate{row: int64(i), at: int32(i)}
	}
	found := map[any][]float64{}
	for _, feature := range decoded(t, painted(t, f, g, all)) {
		polygons, ok := feature.Geometry.(orb.MultiPolygon)
		if !ok {
			polygons = orb.MultiPolygon{feature.Geometry.(orb.Polygon)}
		}
		var ys []float64
		for _, p := range polygons {
			for _, r := range p {
				for i := 1; i < len(r); i++ {
					if a, b := r[i-1], r[i]; (a[0] < x) != (b[0] < x) {
						ys = append(ys, a[1]+(x-a[0])/(b[0]-a[0])*(b[1]-a[1]))
					}
				}
			}
		}
		slices.Sort(ys)
		found[feature.ID] = slices.DeleteFunc(ys, func(y float64) bool { return y < 0 || y > 4096 })
	}
	return found
}
