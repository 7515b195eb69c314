package project

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/crs"
)

// sample is a position, and what PROJ makes of it.
type sample struct {
	from, to string
	v        [4]float64 // x, y, and PROJ's x and y
}

// samples reads testdata/proj.csv, which golden.py writes.
func samples(t *testing.T) (all []sample) {
	text, err := os.ReadFile("testdata/proj.csv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSpace(line), ",")
		s := sample{from: fields[0], to: fields[1]}
		for i := range s.v {
			if s.v[i], err = strconv.ParseFloat(fields[2+i], 64); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, s)
	}
	return all
}

func between(t testing.TB, from, to string) *Transformation {
	p, ok := Between(crs.ID{Authority: "EPSG", Code: from}, crs.ID{Authority: "EPSG", Code: to})
	if !ok {
		t.Fatalf("no transformation from %s to %s", from, to)
	}
	return p
}

// tolerance is the largest difference from PROJ: 4e-9 m, or the angle of 3e-14 degrees; on the other
// side of the earth, where UTM is not used, and next to the poles of Mercator, 1e-7 m.
func tolerance(s sample) float64 {
	zone := systemOf(crs.ID{Authority: "EPSG", Code: s.to}).zone
	switch {
	case zone == 0:
		return 3e-14
	case zone > 0 && math.Abs(s.v[2]-5e5) > 1e6, zone == webMercator && math.Abs(s.v[3]) > 2.1e7:
		return 1e-7
	}
	return 4e-9
}

func TestResultsAreThoseOfPROJ(t *testing.T) {
	type count struct{ equal, all int }
	counts := map[string]*count{}
	for _, s := range samples(t) {
		x, y := []float64{s.v[0]}, []float64{s.v[1]}
		between(t, s.from, s.to).Apply(x, y, x, y)
		pair := s.from + " to " + s.to
		if counts[pair] == nil {
			counts[pair] = &count{}
		}
		c := counts[pair]
		for i, got := range []float64{x[0], y[0]} {
			want := s.v[2+i]
			c.all++
			if same(got, want) {
				c.equal++
			} else if math.IsInf(got, 0) || math.IsInf(want, 0) || !(math.Abs(got-want) <= tolerance(s)) {
				t.Errorf("%s: %v %v: got %v %v, want %v %v", pair, s.v[0], s.v[1], x[0], y[0], s.v[2], s.v[3])
				break
			}
		}
	}
	for pair, c := range counts {
		if c.equal*100 < 90*c.all {
			t.Errorf("%s: only %d of %d ordinates have PROJ's bits", pair, c.equal, c.all)
		}
	}
	if len(counts) < 17 {
		t.Errorf("%d pairs", len(counts))
	}
}

func TestBetween(t *testing.T) {
	for _, test := range []struct {
		name, from, to string
		steps          int // -1: PROJ's
	}{
		{"another name", "EPSG:4326", "OGC:CRS84", 0},
		{"PROJ's null transformation", "EPSG:4258", "EPSG:4326", 0},
		{"the same", "EPSG:32632", "EPSG:32632", 0},
		{"Web Mercator", "OGC:CRS84", "EPSG:3857", 1},
		{"heights", "EPSG:4979", "EPSG:3857", 1},
		{"UTM", "EPSG:32760", "EPSG:4326", 1},
		{"zones", "EPSG:25832", "EPSG:25833", 2},
		{"one zone, two datums", "EPSG:25832", "EPSG:32632", 2},
		{"hemispheres", "EPSG:32601", "EPSG:32701", 2},
		{"another datum", "EPSG:4269", "EPSG:4326", -1},
		{"no such zone", "EPSG:25839", "EPSG:4258", -1},
		{"ESRI's", "ESRI:102100", "EPSG:4326", -1},
		{"another projection", "EPSG:4326", "EPSG:27700", -1},
		{"none", "", "EPSG:4326", -1},
	} {
		id := func(name string) crs.ID {
			authority, code, _ := strings.Cut(name, ":")
			return crs.ID{Authority: authority, Code: code}
		}
		p, ok := Between(id(test.from), id(test.to))
		if ok != (test.steps >= 0) || ok && len(p.steps) != test.steps {
			t.Errorf("%s: %s to %s: got %v, %v, want %d steps", test.name, test.from, test.to, p, ok, test.steps)
		}
	}
}

// positionsIn returns random longitudes and latitudes in UTM zone 32.
func positionsIn(n int, seed uint64) (x, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, y = make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = 6+6*rng.Float64(), 84*rng.Float64()
	}
	return x, y
}

func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// anyPosition returns a random position, often in the area of use, and sometimes of any bits.
func anyPosition(rng *rand.Rand) (x, y float64) {
	pick := func(d float64) float64 {
		switch rng.IntN(20) {
		case 0:
			return math.Float64frombits(rng.Uint64())
		case 1:
			return []float64{
				0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), d, -d, d / 2, 5e5, 1e7,
			}[rng.IntN(10)]
		}
		return d * (2*rng.Float64() - 1) * math.Pow(2, -float64(rng.IntN(20)*rng.IntN(2)))
	}
	if rng.IntN(2) == 0 {
		return pick(180), pick(90)
	}
	return pick(2.1e7), pick(2.1e7)
}

// Every target gives the bits of the plain code, in place too, for any number of positions.
func TestTargetsGiveTheSameBits(t *testing.T) {
	for _, pair := range [][2]string{{"4326", "3857"}, {"3857", "4326"}, {"4326", "32632"}, {"32632", "4326"}} {
		s := &between(t, pair[0], pair[1]).steps[0]
		rng := rand.New(rand.NewPCG(1, 2))
		for round := range 200 {
			n := rng.IntN(100)
			if round == 0 {
				n = 50_000
			}
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = anyPosition(rng)
			}
			wantX, wantY := make([]float64, n), make([]float64, n)
			s.scalar(x, y, wantX, wantY)
			for target, f := range stepsOfTargets() {
				gotX, gotY := append([]float64(nil), x...), append([]float64(nil), y...)
				f(s, gotX, gotY, gotX, gotY)
				for i := range x {
					if !same(gotX[i], wantX[i]) || !same(gotY[i], wantY[i]) {
						t.Fatalf("%s: %s to %s: %v %v: got %v %v, want %v %v", target, pair[0], pair[1], x[i], y[i],
							gotX[i], gotY[i], wantX[i], wantY[i])
					}
				}
			}
		}
	}
}

func TestThereAndBack(t *testing.T) {
	x, y := positionsIn(10_000, 3)
	for _, to := range []string{"3857", "32632", "25832"} {
		from := "4326"
		if to == "25832" {
			from = "4258"
		}
		thereX, thereY := make([]float64, len(x)), make([]float64, len(x))
		if found := between(t, from, to).Apply(x, y, thereX, thereY); found >= 0 {
			t.Fatalf("%s: no image of %v %v", to, x[found], y[found])
		}
		between(t, to, from).Apply(thereX, thereY, thereX, thereY)
		for i := range x {
			if math.Abs(thereX[i]-x[i]) > 1e-13 || math.Abs(thereY[i]-y[i]) > 1e-12 {
				t.Fatalf("%s: %v %v became %v %v", to, x[i], y[i], thereX[i], thereY[i])
			}
		}
	}
}

// Positions without an image are found, over all blocks, and in parallel the results are the same.
func TestApply(t *testing.T) {
	p := between(t, "4326", "32632")
	const n = 100_001
	x, y := positionsIn(n, 5)
	wantX, wantY := make([]float64, n), make([]float64, n)
	if found := p.Apply(x, y, wantX, wantY); found != -1 {
		t.Errorf("found %d, want -1", found)
	}
	gotX, gotY := make([]float64, n), make([]float64, n)
	p.ApplyAll(x, y, gotX, gotY)
	for i := range x {
		if gotX[i] != wantX[i] || gotY[i] != wantY[i] {
			t.Fatalf("position %d differs in parallel", i)
		}
	}
	p.ApplyAll(nil, nil, nil, nil)
	for _, at := range []int{0, 7, 1023, 1024, 99_999, n - 1} {
		x[at], y[at] = 9, 91
		if found := p.Apply(x, y, gotX, gotY); found != at {
			t.Errorf("found %d, want %d", found, at)
		}
		x[at], y[at] = 9, 50
	}
	x[3], y[3] = math.NaN(), 50
	p.Apply(x, y, gotX, gotY)
	if math.Float64bits(gotX[3]) != 0x7ff8000000000000 || math.Float64bits(gotY[3]) != 0x7ff8000000000000 {
		t.Errorf("NaN became %v %v", gotX[3], gotY[3])
	}
}

func FuzzApply(f *testing.F) {
	f.Add(9.0, 50.0, uint8(0))
	f.Add(500000.0, 5e6, uint8(1))
	pairs := [][2]string{{"4326", "3857"}, {"4326", "32632"}, {"3857", "4326"}, {"32632", "4326"}, {"32718", "3857"}}
	f.Fuzz(func(t *testing.T, x, y float64, which uint8) {
		pair := pairs[int(which)%len(pairs)]
		p := between(t, pair[0], pair[1])
		xs, ys := make([]float64, 17), make([]float64, 17)
		for i := range xs {
			xs[i], ys[i] = x, y
		}
		found := p.Apply(xs, ys, xs, ys)
		for i := range xs { // the vectors, and the plain code for the last one
			if !same(xs[i], xs[16]) || !same(ys[i], ys[16]) {
				t.Fatalf("%v %v: %v %v and %v %v", x, y, xs[i], ys[i], xs[16], ys[16])
			}
		}
		beyond := math.IsInf(xs[0], 1) && math.IsInf(ys[0], 1)
		nan := math.IsNaN(xs[0]) && math.IsNaN(ys[0])
		if nan != (math.IsNaN(x) || math.IsNaN(y)) || beyond != (found == 0) ||
			!nan && !beyond && (math.IsInf(xs[0]+ys[0], 0) || math.IsNaN(xs[0]+ys[0])) {
			t.Fatalf("%v %v became %v %v, found %d", x, y, xs[0], ys[0], found)
		}
	})
}

func TestNamesOfSystems(t *testing.T) {
	for _, id := range []string{"4326", "4258", "4269", "4979", "4937", "3857", "32601", "32760", "25828", "26923"} {
		s, ok := crs.Lookup("EPSG", id)
		known := systemOf(crs.ID{Authority: "EPSG", Code: id})
		if !ok || (s.Kind == crs.Projected) != (known.zone != 0) || known.datum == noDatum {
			t.Errorf("EPSG:%s: %s, %+v", id, s.Name, known)
		}
		if known.zone > 0 && !strings.Contains(s.Name, fmt.Sprintf("UTM zone %d", known.zone)) {
			t.Errorf("EPSG:%s: %s, zone %d", id, s.Name, known.zone)
		}
	}
	for code := 25828; code <= 25838; code++ {
		if _, ok := crs.Lookup("EPSG", fmt.Sprint(code)); !ok {
			t.Errorf("EPSG:%d is not a system", code)
		}
	}
}
