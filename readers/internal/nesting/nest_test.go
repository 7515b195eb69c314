package nesting

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// nest gives rings to a nesting, and resolves it.
func nest(n *Nesting, rings [][]spot) error {
	points := 0
	for _, r := range rings {
		points += len(r)
	}
	n.Begin(points)
	at := 0
	for _, r := range rings {
		for i, p := range r {
			n.X[at+i], n.Y[at+i] = p.x, p.y
		}
		n.Add(at, at+len(r))
		at += len(r)
	}
	return n.Resolve()
}

// polygons writes rings as parts: (shell, hole, …).
func (n *Nesting) polygons() string {
	s := ""
	for _, i := range n.Order {
		if n.rings[i].outer() {
			s += fmt.Sprintf(" | %d", i)
		} else {
			s += fmt.Sprintf(" %d", i)
		}
	}
	return s[min(len(s), 3):]
}

// square returns clockwise, closed.
func square(x, y, size float64) []spot {
	return []spot{{x, y}, {x, y + size}, {x + size, y + size}, {x + size, y}, {x, y}}
}

func back(ring []spot) []spot {
	ring = slices.Clone(ring)
	slices.Reverse(ring)
	return ring
}

// circle has many positions.
func circle(x, y, radius float64, points int) []spot {
	var r []spot
	for i := range points {
		at := 2 * math.Pi * float64(i) / float64(points)
		r = append(r, spot{x + radius*math.Sin(at), y + radius*math.Cos(at)})
	}
	return append(r, r[0])
}

func TestNesting(t *testing.T) {
	u := []spot{{0, 0}, {0, 6}, {6, 6}, {6, 0}, {4, 0}, {4, 4}, {2, 4}, {2, 0}, {0, 0}}
	notch := []spot{{0, 0}, {0, 10}, {10, 10}, {10, 0}, {7, 0}, {7, 7}, {3, 7}, {3, 0}, {0, 0}}
	large := append(circle(0, 0, 10, 1000), []spot{{1, 5}, {0, -5}, {-1, 5}}...)
	for _, c := range []struct {
		name  string
		rings [][]spot
		want  string
	}{
		{"S2: two outer rings", [][]spot{square(0, 0, 1), square(5, 5, 1)}, "0 | 1"},
		{"a hole", [][]spot{square(0, 0, 5), back(square(1, 1, 1))}, "0 1"},
		{"the hole comes first", [][]spot{back(square(1, 1, 1)), square(0, 0, 5)}, "1 0"},
		{"a hole that turns like its shell", [][]spot{square(0, 0, 5), square(1, 1, 1)}, "0 1"},
		{
			"everything counterclockwise",
			[][]spot{back(square(0, 0, 5)), back(square(1, 1, 1)), back(square(9, 9, 1))},
			"0 1 | 2",
		},
		{"a hole without shell", [][]spot{square(0, 0, 5), back(square(7, 7, 1))}, "0 | 1"},
		{"an island in a hole", [][]spot{square(0, 0, 9), back(square(1, 1, 7)), square(2, 2, 5)}, "0 1 | 2"},
		{
			"the smallest shell",
			[][]spot{square(0, 0, 9), back(square(1, 1, 7)), square(2, 2, 5), back(square(3, 3, 1))},
			"0 1 | 2 3",
		},
		{"holes of two shells, mixed", [][]spot{
			square(0, 0, 5), square(10, 0, 5), back(square(11, 1, 1)),
			back(square(1, 1, 1)), back(square(13, 3, 1)),
		}, "0 3 | 1 2 4"},
		{"a box in a box that does not contain it", [][]spot{u, square(2.5, 1, 1)}, "0 | 1"},
		{"in the arm of it", [][]spot{u, back(square(0.5, 1, 1))}, "0 1"},
		{"touching outside, all positions on the line", [][]spot{u, {{2, 0}, {2, 4}, {4, 4}, {4, 0}, {2, 0}}}, "0 | 1"},
		{"touching inside, all positions on the line", [][]spot{square(0, 0, 4), {
			{2, 0},
			{4, 2},
			{2, 4},
			{0, 2},
			{2, 0},
		}}, "0 1"},
		{"touching inside at a position", [][]spot{square(0, 0, 4), {{0, 0}, {2, 1}, {1, 2}, {0, 0}}}, "0 1"},
		{"the same ring twice", [][]spot{square(0, 0, 1), square(0, 0, 1)}, "0 | 1"},
		{"there and back", [][]spot{square(0, 0, 1), back(square(0, 0, 1))}, "0 1"},
		{"open rings", [][]spot{square(0, 0, 5)[:4], back(square(1, 1, 1))[:4]}, "0 1"},
		{"a position", [][]spot{square(0, 0, 5), {{1, 1}}}, "0 1"},
		{"no number", [][]spot{square(0, 0, 5), {{math.NaN(), 1}, {1, 2}, {2, 1}}, square(7, 7, 1)}, "0 1 | 2"},
		{"crosses the shell by a billionth, turns like it", [][]spot{notch, square(3-1e-9, 1, 4)}, "0 | 1"},
		{
			"the same, its first position inside",
			[][]spot{notch, {{4, 1}, {3 - 1e-9, 1}, {3 - 1e-9, 5}, {4, 5}, {4, 1}}},
			"0 | 1",
		},
		{"crosses the shell by a billionth, turns like a hole", [][]spot{notch, back(square(3-1e-9, 1, 4))}, "0 1"},
		{"a hole that sticks out, its first position inside", [][]spot{u, back(square(1, 1, 1.5))}, "0 1"},
		{
			"a hole that sticks out, its first position outside",
			[][]spot{u, {{2.5, 1}, {2.5, 2}, {1, 2}, {1, 1}, {2.5, 1}}},
			"0 1",
		},
		{"everything counterclockwise, and one crosses", [][]spot{back(u), back(square(1, 1, 1.5))}, "0 | 1"},
		{"two holes that overlap", [][]spot{square(0, 0, 9), back(u), back(square(1, 1, 1.5))}, "0 1 2"},
		{
			"all positions inside, edges across the notch",
			[][]spot{u, {{1, 1}, {1, 2}, {5, 2}, {5, 1}, {1, 1}}},
			"0 | 1",
		},
		{"the same as a hole", [][]spot{u, {{1, 1}, {5, 1}, {5, 2}, {1, 2}, {1, 1}}}, "0 1"},
		{
			"edges across the notch of a large ring",
			[][]spot{large, {{-5, 0}, {-5, 1}, {5, 1}, {5, 0}, {-5, 0}}},
			"0 | 1",
		},
		{"large ring", [][]spot{circle(0, 0, 10, 1000), circle(5, 0, 4, 100), circle(-8, -8, 1, 10)}, "0 1 | 2"},
		{"by the width of a bit", [][]spot{
			{{0, 0}, {0, 1}, {1, 1}, {0, 0}},
			{{0x1p-60, 0.5 + 0x1p-53}, {0.25, 0.5}, {0.25, 0.75}, {0x1p-60, 0.5 + 0x1p-53}},
		}, "0 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n Nesting
			if err := nest(&n, c.rings); err != nil {
				t.Fatal(err)
			}
			if got := n.polygons(); got != c.want {
				t.Errorf("%v\ngot  %s\nwant %s", c.rings, got, c.want)
			}
		})
	}
}

// slowSide is nesting.side, edge by edge in fractions.
func slowSide(ring []spot, p spot) int {
	inside := false
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		sign := slowTurn(a, b, p)
		if sign == 0 && min(a.x, b.x) <= p.x && p.x <= max(a.x, b.x) && min(a.y, b.y) <= p.y && p.y <= max(a.y, b.y) {
			return 0
		}
		if (a.y > p.y) != (b.y > p.y) && (sign > 0) == (b.y > a.y) {
			inside = !inside
		}
	}
	if inside {
		return 1
	}
	return -1
}

func slowArea(ring []spot) float64 {
	area := 0.0
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		area += a.x*b.y - b.x*a.y // small integers: exact
	}
	return area
}

// slowContains is the comment of nesting.contains, word for word.
func slowContains(a, b []spot) bool {
	inside, outside := 0, 0
	for _, p := range b {
		switch slowSide(a, p) {
		case 1:
			inside++
		case -1:
			outside++
		}
	}
	switch {
	case inside > 0 && outside == 0 && !slowCross(a, b):
		return true
	case outside > 0 && inside == 0:
		return false
	}
	return slowArea(a) > 0 != (slowArea(b) > 0)
}

// slowCross reports whether an edge of one ring crosses one of the other between the ends of both.
func slowCross(a, b []spot) bool {
	for i, p := range a {
		q := a[(i+1)%len(a)]
		for k, r := range b {
			s := b[(k+1)%len(b)]
			if slowTurn(p, q, r)*slowTurn(p, q, s) < 0 && slowTurn(r, s, p)*slowTurn(r, s, q) < 0 {
				return true
			}
		}
	}
	return false
}

func boxOf(ring []spot) box {
	b := nowhere
	for _, p := range ring {
		b.add(p.x, p.y)
	}
	return b
}

// slowParents returns the comment of nesting, word for word.
func slowParents(rings [][]spot) []int32 {
	parents := make([]int32, len(rings))
	size := func(i int) float64 { return math.Abs(slowArea(rings[i])) }
	larger := func(a, b int) bool { return size(a) > size(b) || size(a) == size(b) && a < b }
	for b := range rings {
		parents[b] = -1
		for a := range rings {
			if a == b || !larger(a, b) || !boxOf(rings[a]).contains(boxOf(rings[b])) ||
				!slowContains(rings[a], rings[b]) {
				continue
			}
			if p := parents[b]; p < 0 || larger(int(p), a) {
				parents[b] = int32(a)
			}
		}
	}
	return parents
}

func TestNestingOfRandomRings(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var n Nesting
	for round := range 150 {
		var rings [][]spot
		for range 1 + rng.IntN(40) {
			var r []spot
			if x, y := float64(rng.IntN(20)), float64(rng.IntN(20)); rng.IntN(4) > 0 {
				r = square(x, y, float64(1+rng.IntN(12)))
			} else {
				for range 1 + rng.IntN(6)*rng.IntN(40) {
					r = append(r, spot{x + float64(rng.IntN(8)), y + float64(rng.IntN(8))})
				}
			}
			if rng.IntN(2) == 0 {
				r = back(r)
			}
			rings = append(rings, r)
		}
		if err := nest(&n, rings); err != nil {
			t.Fatal(err)
		}
		want := slowParents(rings)
		for i := range rings {
			if got := n.rings[i].parent; got != want[i] {
				t.Fatalf("round %d: parent of ring %d of %v: got %d, want %d", round, i, rings, got, want[i])
			}
		}
		checkArranged(t, &n)
	}
}

// checkArranged checks that order has every ring once: outer rings ascending, and after each its
// holes, ascending.
func checkArranged(t *testing.T, n *Nesting) {
	t.Helper()
	outer, hole, outers := int32(-1), int32(-1), 0
	for _, i := range n.Order {
		switch r := &n.rings[i]; {
		case r.outer() && i > outer:
			outer, hole = i, -1
			outers++
		case !r.outer() && r.parent == outer && i > hole:
			hole = i
		default:
			t.Fatalf("ring %d stands wrong in %d", i, n.Order)
		}
	}
	sorted := slices.Clone(n.Order)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != len(n.rings) || outers != n.Outers {
		t.Fatalf("order %d of %d rings, %d outer ones, want %d", n.Order, len(n.rings), n.Outers, outers)
	}
}

// Honest rings take far less work than they may, however many there are.
func TestNestingIsFast(t *testing.T) {
	islands := func(n int) (rings [][]spot) {
		for i := range n * n {
			rings = append(rings, square(float64(i%n)*3, float64(i/n)*3, 2))
		}
		return rings
	}
	for _, c := range []struct {
		name  string
		rings [][]spot
	}{
		{"islands", islands(100)},
		{"holes", append([][]spot{circle(150, 150, 300, 100_000)}, islands(100)...)},
		{"rings in rings", func() (rings [][]spot) {
			for i := range 100 {
				rings = append(rings, circle(0, 0, float64(1000-i), 100))
			}
			return rings
		}()},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n Nesting
			if err := nest(&n, c.rings); err != nil {
				t.Fatal(err)
			}
			all := stepsPerPosition * (len(n.X) + blockItems)
			if used := all - n.steps; used > all/8 {
				t.Errorf("%d of %d steps", used, all)
			}
		})
	}
}

// Rings that take too long are an error.
func TestNestingGivesUp(t *testing.T) {
	var comb []spot
	for i := range 1000 {
		comb = append(comb, spot{float64(i), float64(i % 2 * 100)})
	}
	rings := [][]spot{append(comb, spot{1000, -100}, spot{0, -100})}
	for i := range 200 {
		rings = append(rings, square(0.5, 20+float64(i)/10, 0.01))
	}
	var n Nesting
	if err := nest(&n, rings); err != nil {
		t.Fatal(err)
	}
	const least = 200 * 1000 // each ray crosses each tooth of the comb
	if used := stepsPerPosition*(len(n.X)+blockItems) - n.steps; used < least {
		t.Errorf("%d steps were counted, want %d at least", used, least)
	}
	n.steps = least - 1
	if err := n.Resolve(); err == nil {
		t.Error("got no error, want one of rings that take too long")
	}
}
