package curve

import (
	"math"
	"testing"
)

var nan = math.NaN()

func xy(x, y float64) Position { return Position{x, y, nan, nan} }

// positions returns the positions that a call adds.
func positions(t *testing.T, add func(l *Line) bool) []Position {
	t.Helper()
	var all []Position
	if !add(&Line{Add: func(p Position) { all = append(all, p) }}) {
		t.Fatal("too many positions")
	}
	return all
}

func TestThrough(t *testing.T) {
	for _, c := range []struct {
		name    string
		a, b, c Position
		n       int
	}{
		{"half", xy(0, 0), xy(1, 1), xy(2, 0), 46},
		{"in a line", xy(0, 0), xy(1, 1), xy(2, 2), 2},
		{"circle", xy(0, 0), xy(2, 0), xy(0, 0), 90},
		{"all equal", xy(1, 1), xy(1, 1), xy(1, 1), 2},
		{"infinite", xy(0, 0), xy(1, math.Inf(1)), xy(2, 0), 2},
	} {
		got := positions(t, func(l *Line) bool { return l.Through(c.a, c.b, c.c) })
		if len(got) != c.n || got[c.n-1].X != c.c.X || got[c.n-1].Y != c.c.Y {
			t.Errorf("%s: %d positions, want %d: %v", c.name, len(got), c.n, got)
		}
		if c.n > 2 {
			for _, p := range got {
				if r := math.Hypot(p.X-1, p.Y); math.Abs(r-1) > 1e-14 {
					t.Errorf("%s: %v is at %v of the center", c.name, p, r)
				}
			}
		}
	}
}

// TestArc holds the numbers of positions against those of GDAL.
func TestArc(t *testing.T) {
	for degrees, want := range map[float64]int{
		10: 7, 33: 9, 61: 15, 62: 17, 90: 23, 93: 23, 95: 25, 180: 45, 182: 47, 200: 51, 225.24: 57,
	} {
		at := degrees / 180 * math.Pi
		a, b := Position{1, 0, 0, nan}, xy(math.Cos(at/2), math.Sin(at/2))
		c := Position{math.Cos(at), math.Sin(at), 9, nan}
		got := positions(t, func(l *Line) bool { return l.Arc(a, b, c) })
		if len(got) != want || got[want-1] != got[want-1] && got[want-1].Z != 9 {
			t.Errorf("%v degrees: %d steps, want %d", degrees, len(got), want)
		}
		if z := got[0].Z; math.Abs(z-9/float64(want)) > 1e-14 {
			t.Errorf("%v degrees: the first z is %v", degrees, z)
		}
	}
	if got := positions(t, func(l *Line) bool { return l.Arc(xy(1, 0), xy(-1, 0), xy(1, 0)) }); len(got) != 91 {
		t.Errorf("a circle has %d steps, want 91", len(got))
	}
	if got := positions(t, func(l *Line) bool { return l.Arc(xy(0, 0), xy(1, 0), xy(2, 0)) }); len(got) != 2 {
		t.Errorf("a line has %d positions after the first, want 2", len(got))
	}
}

func TestHeightsAreInterpolated(t *testing.T) {
	a, b, c := Position{0, 0, 0, 10}, Position{1, 1, 9, 11}, Position{2, 0, 18, 12}
	got := positions(t, func(l *Line) bool { return l.Through(a, b, c) })
	for i := 1; i < len(got); i++ {
		if got[i].Z <= got[i-1].Z || got[i].M <= got[i-1].M {
			t.Errorf("position %d: %v after %v", i, got[i], got[i-1])
		}
	}
}

func TestBezier(t *testing.T) {
	got := positions(t, func(l *Line) bool { return l.Bezier(xy(0, 0), xy(0, 1), xy(3, 1), xy(3, 0)) })
	// tangents turn by half a circle, and their lengths are 1 of 3: ceil(45 * max(1, 10/9))
	if want := 50; len(got) != want {
		t.Errorf("%d positions, want %d", len(got), want)
	}
	if middle := got[24]; math.Abs(middle.X-1.5) > 1e-14 || math.Abs(middle.Y-0.75) > 1e-14 {
		t.Errorf("the middle is %v", middle)
	}
	closed := positions(t, func(l *Line) bool { return l.Bezier(xy(0, 0), xy(0, 1), xy(3, 1), xy(0, 0)) })
	if len(closed) != 1 {
		t.Errorf("%d positions of a closed curve, want its end", len(closed))
	}
	huge := positions(t, func(l *Line) bool { return l.Bezier(xy(0, 0), xy(0, 1e9), xy(3, nan), xy(3, 0)) })
	if len(huge) != maxBezierSteps {
		t.Errorf("%d positions, want %d", len(huge), maxBezierSteps)
	}
}

func TestEllipse(t *testing.T) {
	e := Ellipse{X: 1, Y: 2, Major: 4, Minor: 2, Rotation: math.Pi / 2}
	a, b := xy(1, 6), xy(-1, 2) // the end of the major axis, and of the minor one
	for _, c := range []struct {
		extent Extent
		to     Position
		n      int
	}{{MinorArc, b, 23}, {MajorArc, b, 68}, {WholeTurn, a, 90}} {
		got := positions(t, func(l *Line) bool { return l.Ellipse(e, a, c.to, c.extent) })
		if len(got) != c.n || got[c.n-1] != got[c.n-1] && got[c.n-1].X != c.to.X {
			t.Errorf("extent %d: %d positions, want %d", c.extent, len(got), c.n)
		}
		for _, p := range got {
			if d := (p.Y-2)*(p.Y-2)/16 + (p.X-1)*(p.X-1)/4; math.Abs(d-1) > 1e-14 {
				t.Errorf("extent %d: %v is not on the ellipse", c.extent, p)
			}
		}
	}
}

func TestComputedPositionsAreLimited(t *testing.T) {
	l := &Line{Add: func(Position) {}}
	for range MaxComputed / 90 {
		if !l.Through(xy(0, 0), xy(2, 0), xy(0, 0)) {
			t.Fatal("too early")
		}
	}
	if l.Through(xy(0, 0), xy(2, 0), xy(0, 0)) {
		t.Error("too many positions are accepted")
	}
	for _, angle := range []float64{math.Inf(1), nan, 1e300} {
		if l := (&Line{}); l.Count(Steps(angle)) {
			t.Errorf("an angle of %v is accepted", angle)
		}
	}
}
