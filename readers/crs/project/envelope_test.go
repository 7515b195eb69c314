package project

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// boundsOf returns the box of positions; ok is false if one of them is infinite.
func boundsOf(x, y []float64) (b Box, ok bool) {
	b = Box{slices.Min(x), slices.Min(y), slices.Max(x), slices.Max(y)}
	return b, !math.IsInf(b[2], 0) && !math.IsInf(b[3], 0)
}

func meets(a, b Box) bool { return a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3] }

// No set of positions is lost: if the box of the images meets the target, the box of the positions
// meets what Before gives. Large sets count as much as small ones, also where no position is near the
// target.
func TestBeforeLosesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	areas := map[string]Box{
		"4326": {-20, -60, 40, 80}, "4258": {-10, 30, 30, 72}, "3857": {-1e6, -9e6, 4e6, 1.5e7},
		"32632": {-3e5, -2e6, 1.5e6, 9.5e6}, "25832": {1e5, 3e6, 9e5, 8e6}, "32733": {1e5, 1e6, 9e5, 1.1e7},
	}
	narrowed, lost := map[[2]string]bool{}, 0
	for _, pair := range [][2]string{
		{"4326", "3857"},
		{"3857", "4326"},
		{"4326", "32632"},
		{"32632", "4326"},
		{"3857", "32632"},
		{"32632", "3857"},
		{"25832", "32632"},
		{"4258", "25832"},
		{"4326", "32733"},
		{"32733", "4326"},
		{"4326", "32601"},
	} {
		p, area := between(t, pair[0], pair[1]), areas[pair[0]]
		for range 400 {
			n := 1 + rng.IntN(4)
			x, y := make([]float64, n), make([]float64, n)
			width := math.Pow(2, -float64(rng.IntN(12)))
			cx, cy := rng.Float64()*(1-width), rng.Float64()*(1-width)
			for i := range x {
				x[i] = area[0] + (area[2]-area[0])*(cx+width*rng.Float64())
				y[i] = area[1] + (area[3]-area[1])*(cy+width*rng.Float64())
			}
			toX, toY := make([]float64, n), make([]float64, n)
			p.Apply(x, y, toX, toY)
			images, ok := boundsOf(toX, toY)
			if !ok {
				continue
			}
			// A target at an edge of the box of the images, inside or just touching.
			size := (images[2] - images[0] + 1e-3*math.Abs(images[0])) * rng.Float64()
			target := Box{images[2], images[3], images[2] + size, images[3] + size}
			switch rng.IntN(4) {
			case 0:
				target = Box{images[0] - size, images[1] - size, images[0], images[1]}
			case 1:
				mx := images[0] + (images[2]-images[0])*rng.Float64()
				target = Box{mx, images[3], mx, images[3] + size}
			case 2:
				my := images[1] + (images[3]-images[1])*rng.Float64()
				target = Box{images[0] - size, my, images[0], my}
			}
			positions, _ := boundsOf(x, y)
			before := p.Before(target, area)
			if meets(target, images) && !meets(before, positions) {
				lost++
				t.Errorf("%s: %v %v: the images' box %v meets %v, the box of positions %v does not meet %v", pair, x, y,
					images, target, positions, before)
			}
			narrowed[pair] = narrowed[pair] || before != everywhere && (before[0] > area[0] || before[2] < area[2])
		}
		if pair[1] != "32601" && !narrowed[pair] {
			t.Errorf("%s: every box is everywhere", pair)
		}
		if lost > 5 {
			t.FailNow()
		}
	}
	if !narrowed[[2]string{"4326", "3857"}] {
		t.Error("no box was narrowed")
	}
}

// The candidates of a small box are few.
func TestBeforeIsNarrow(t *testing.T) {
	p := between(t, "4326", "32632")
	box := p.Before(Box{500000, 5500000, 510000, 5510000}, Box{5, 47, 15, 55})
	if box[2]-box[0] > 0.4 || box[3]-box[1] > 0.3 {
		t.Errorf("the candidates of 10 km x 10 km are in %v", box)
	}
	if got := p.Before(Box{0, 0, 1e6, 1e7}, Box{-180, -90, 180, 90}); got != everywhere {
		t.Errorf("a world's candidates are in %v", got)
	}
}
