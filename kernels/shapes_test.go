package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// shapeTypes are those that kernels know.
var shapeTypes = []kernels.ShapeType{1, 3, 5, 8, 11, 13, 15, 18, 21, 23, 25, 28}

func TestShapes(t *testing.T) {
	for _, kind := range shapeTypes {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			r := open(t)
			for _, n := range []int{1, 2, 31, 64, 65, 255, 257, 900} {
				rng := rand.New(rand.NewPCG(uint64(n), uint64(kind)))
				f := shapefile{kind: kind, first: rng.Int64N(1 << 32), base: 2 * rng.Int64N(1<<31)}
				if f.first+int64(n) > 1<<32 {
					f.first -= int64(n)
				}
				f.base = min(f.base, 1<<33-8<<20)
				var live []int64
				for i := range n {
					if rng.IntN(4) > 0 {
						live = append(live, int64(i))
					}
					f.shape(rng, []int{4, 12, 400}[min(2, rng.IntN(20))])
				}
				f.check(r, nil)
				f.check(r, live)
			}
		})
	}
}

// One shape of most of the positions does not have the others look for their rows for long.
func TestShapesLong(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(1, 2))
	f := shapefile{kind: 15, first: 7, base: 100}
	for range 20 {
		f.shape(rng, 10)
	}
	for f.rows[len(f.rows)-1].kind == 0 || len(f.rows[len(f.rows)-1].x) < 3000 {
		f.shape(rng, 9000)
	}
	f.check(r, nil)
}

// TestShapesOdd has records that are none, and whatever an index may say.
func TestShapesOdd(t *testing.T) {
	r := open(t)
	good := func() *shapefile {
		f := &shapefile{kind: 15, first: 3, base: 1000}
		rng := rand.New(rand.NewPCG(4, 4))
		for range 300 {
			f.shape(rng, 20)
		}
		return f
	}
	whole := good()
	at := 0 // a record with two parts and with measures
	for i, row := range whole.rows {
		if len(row.parts) > 1 && len(row.m) > 2 {
			at = i
		}
	}
	start := int(whole.starts[at])
	for _, c := range []struct {
		name string
		odd  kernels.ShapeOddity
		set  func(f *shapefile)
	}{
		{"nothing", 0, func(*shapefile) {}},
		{"another number", kernels.ShapeRecords, func(f *shapefile) { f.text[start+3] ^= 1 }},
		{"another length", kernels.ShapeRecords | kernels.ShapeUnlike, func(f *shapefile) { f.text[start+7] ^= 4 }},
		{"another place", kernels.ShapeRecords | kernels.ShapeUnlike, func(f *shapefile) { f.index[8*at+3] ^= 2 }},
		{"a first record that is not the text's first", kernels.ShapeRecords, func(f *shapefile) { f.base -= 2 }},
		{"a text that ends early", kernels.ShapeRecords, func(f *shapefile) { f.text = f.text[:len(f.text)-2] }},
		{"a text that ends late", kernels.ShapeRecords, func(f *shapefile) { f.text = append(f.text, 0, 0) }},
		{"another type", kernels.ShapeUnlike, func(f *shapefile) { f.text[start+8] = 5 }},
		{"no shape in a record with more", kernels.ShapeUnlike, func(f *shapefile) { f.text[start+8] = 0 }},
		{"more points", kernels.ShapeUnlike, func(f *shapefile) { f.text[start+8+40]++ }},
		{"4 billion points", kernels.ShapeUnlike, func(f *shapefile) { f.text[start+8+43] = 255 }},
		{"more parts", kernels.ShapeUnlike, func(f *shapefile) { f.text[start+8+36]++ }},
		{"a first part that begins late", kernels.ShapeBadParts, func(f *shapefile) { f.text[start+8+44]++ }},
		{"a part behind the points", kernels.ShapeBadParts, func(f *shapefile) { f.text[start+8+48+3] = 127 }},
		{"a part without points", kernels.ShapeBadParts, func(f *shapefile) { f.text[start+8+48] = 0 }},
	} {
		f := good()
		c.set(f)
		x, text := f.found(r, nil), upload(r, f.text)
		r.ok(r.k.FindShapes(r.s, text, x))
		if c.odd&^kernels.ShapeBadParts == 0 {
			points, parts := read(r, x.Points), read(r, x.Parts)
			rings := poisoned[int64](r, int(parts[len(parts)-1])+1)
			r.ok(r.k.ShapeParts(r.s, text, x, rings))
			if got := read(r, rings); got[len(got)-1] != points[len(points)-1] {
				t.Errorf("%s: rings end at %d of %d", c.name, got[len(got)-1], points[len(points)-1])
			}
		}
		if got := read(r, x.Report)[0].Odd; got != c.odd {
			t.Errorf("%s: %b, want %b", c.name, got, c.odd)
		}
	}
	long := good().found(r, nil)
	long.Longest = 100
	r.ok(r.k.FindShapes(r.s, upload(r, whole.text), long))
	if got := read(r, long.Report)[0].Odd; got != kernels.ShapeTooLong {
		t.Errorf("long records: %b", got)
	}
	for seed := range uint64(40) { // nothing outside of the buffers is touched
		f, rng := good(), rand.New(rand.NewPCG(seed, 6))
		f.kind = shapeTypes[rng.IntN(len(shapeTypes))]
		for range 1 + rng.IntN(20) {
			f.text[rng.IntN(len(f.text))] = byte(rng.Uint32())
			f.index[rng.IntN(len(f.index))] = byte(rng.Uint32())
		}
		f.text = f.text[:len(f.text)-rng.IntN(30)]
		r.ok(r.k.FindShapes(r.s, upload(r, f.text), f.found(r, nil)))
	}
}

func TestShapesRefuse(t *testing.T) {
	r := open(t)
	f := shapefile{kind: 5}
	f.shape(rand.New(rand.NewPCG(1, 1)), 20)
	text, floats := upload(r, f.text), poisoned[float64](r, 3)
	with := func(change func(x *kernels.Shapes)) *kernels.Shapes {
		x := f.found(r, nil)
		change(x)
		return x
	}
	right := with(func(*kernels.Shapes) {})
	kinds, all := poisoned[kernels.GeometryKind](r, 1), poisoned[uint32](r, 1)
	for name, err := range map[string]error{
		"a type that is none": r.k.FindShapes(r.s, text, with(func(x *kernels.Shapes) { x.Type = 31 })),
		"index": r.k.FindShapes(r.s, text, with(func(x *kernels.Shapes) {
			x.Index = x.Index.Slice(0, 4)
		})),
		"starts": r.k.FindShapes(r.s, text, with(func(x *kernels.Shapes) {
			x.Starts = x.Starts.Slice(0, 0)
		})),
		"no points": r.k.FindShapes(r.s, text, with(func(x *kernels.Shapes) {
			x.Points = x.Points.Slice(0, 0)
		})),
		"no parts": r.k.FindShapes(r.s, text, with(func(x *kernels.Shapes) {
			x.Parts = gpu.Buffer[int64]{}
		})),
		"parts of points": r.k.FindShapes(r.s, text, with(func(x *kernels.Shapes) { x.Type = 8 })),
		"no report": r.k.FindShapes(r.s, text, with(func(x *kernels.Shapes) {
			x.Report = x.Report.Slice(0, 0)
		})),
		"no number of rows": r.k.FindShapes(r.s, text, with(func(x *kernels.Shapes) { x.Rows = x.Starts })),
		"no ring":           r.k.ShapeParts(r.s, text, right, gpu.Buffer[int64]{}),
		"ordinates": r.k.ReadShapes(r.s, text, right, kernels.ShapePositions{
			X: floats,
			Y: floats.Slice(0, 2),
		}),
		"a z": r.k.ReadShapes(r.s, text, right, kernels.ShapePositions{
			X: floats, Y: floats,
			Z: floats,
		}),
		"no measured": r.k.ReadShapes(r.s, text, right, kernels.ShapePositions{
			X: floats, Y: floats,
			M: floats,
		}),
		"kinds": r.k.ShapeKinds(r.s, right, gpu.Buffer[byte]{},
			poisoned[kernels.GeometryKind](r, 2), all),
		"no kinds": r.k.ShapeKinds(r.s, right, gpu.Buffer[byte]{}, kinds, all.Slice(0, 0)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
