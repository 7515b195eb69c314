package shape_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kshape "github.com/vibeflight/vibeflight/kernels/shape"
)

// shapeTypes are those that kernels know.
var shapeTypes = []kshape.ShapeType{1, 3, 5, 8, 11, 13, 15, 18, 21, 23, 25, 28}

func TestShapes(t *testing.T) {
	for _, kind := range shapeTypes {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			r := kerneltest.Open(t)
			for _, n := range []int{1, 2, 31, 64, 65, 255, 257, 900} {
				rng := rand.New(rand.NewPCG(uint64(n), uint64(kind)))
				f := kerneltest.Shapefile{Kind: kind, First: rng.Int64N(1 << 32), Base: 2 * rng.Int64N(1<<31)}
				if f.First+int64(n) > 1<<32 {
					f.First -= int64(n)
				}
				f.Base = min(f.Base, 1<<33-8<<20)
				var live []int64
				for i := range n {
					if rng.IntN(4) > 0 {
						live = append(live, int64(i))
					}
					f.Shape(rng, []int{4, 12, 400}[min(2, rng.IntN(20))])
				}
				f.Check(r, nil)
				f.Check(r, live)
			}
		})
	}
}

// One shape of most of the positions does not have the others look for their rows for long.
func TestShapesLong(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(1, 2))
	f := kerneltest.Shapefile{Kind: 15, First: 7, Base: 100}
	for range 20 {
		f.Shape(rng, 10)
	}
	for f.Rows[len(f.Rows)-1].Kind == 0 || len(f.Rows[len(f.Rows)-1].X) < 3000 {
		f.Shape(rng, 9000)
	}
	f.Check(r, nil)
}

// TestShapesOdd has invalid records, and whatever an index may say.
func TestShapesOdd(t *testing.T) {
	r := kerneltest.Open(t)
	good := func() *kerneltest.Shapefile {
		f := &kerneltest.Shapefile{Kind: 15, First: 3, Base: 1000}
		rng := rand.New(rand.NewPCG(4, 4))
		for range 300 {
			f.Shape(rng, 20)
		}
		return f
	}
	whole := good()
	at := 0 // a record with two parts and with measures
	for i, row := range whole.Rows {
		if len(row.Parts) > 1 && len(row.M) > 2 {
			at = i
		}
	}
	start := int(whole.Starts[at])
	for _, c := range []struct {
		name string
		odd  kshape.ShapeOddity
		set  func(f *kerneltest.Shapefile)
	}{
		{"nothing", 0, func(*kerneltest.Shapefile) {}},
		{"another number", kshape.ShapeRecords, func(f *kerneltest.Shapefile) { f.Text[start+3] ^= 1 }},
		{"another length", kshape.ShapeRecords | kshape.ShapeUnlike, func(f *kerneltest.Shapefile) {
			f.Text[start+7] ^= 4
		}},
		{"another place", kshape.ShapeRecords | kshape.ShapeUnlike, func(f *kerneltest.Shapefile) {
			f.Index[8*at+3] ^= 2
		}},
		{"a first record that is not the text's first", kshape.ShapeRecords, func(f *kerneltest.Shapefile) {
			f.Base -= 2
		}},
		{"a text that ends early", kshape.ShapeRecords, func(f *kerneltest.Shapefile) {
			f.Text = f.Text[:len(f.Text)-2]
		}},
		{"a text that ends late", kshape.ShapeRecords, func(f *kerneltest.Shapefile) { f.Text = append(f.Text, 0, 0) }},
		{"another type", kshape.ShapeUnlike, func(f *kerneltest.Shapefile) { f.Text[start+8] = 5 }},
		{"no shape in a record with more", kshape.ShapeUnlike, func(f *kerneltest.Shapefile) { f.Text[start+8] = 0 }},
		{"more points", kshape.ShapeUnlike, func(f *kerneltest.Shapefile) { f.Text[start+8+40]++ }},
		{"4 billion points", kshape.ShapeUnlike, func(f *kerneltest.Shapefile) { f.Text[start+8+43] = 255 }},
		{"more parts", kshape.ShapeUnlike, func(f *kerneltest.Shapefile) { f.Text[start+8+36]++ }},
		{"a first part that begins late", kshape.ShapeBadParts, func(f *kerneltest.Shapefile) { f.Text[start+8+44]++ }},
		{"a part behind the points", kshape.ShapeBadParts, func(f *kerneltest.Shapefile) {
			f.Text[start+8+48+3] = 127
		}},
		{"a part without points", kshape.ShapeBadParts, func(f *kerneltest.Shapefile) { f.Text[start+8+48] = 0 }},
	} {
		f := good()
		c.set(f)
		x, text := f.Found(r, nil), kerneltest.Upload(r, f.Text)
		r.OK(kshape.FindShapes(r.Set, r.Stream, text, x))
		if c.odd&^kshape.ShapeBadParts == 0 {
			points, parts := kerneltest.Read(r, x.Points), kerneltest.Read(r, x.Parts)
			rings := kerneltest.Poisoned[int64](r, int(parts[len(parts)-1])+1)
			r.OK(kshape.ShapeParts(r.Set, r.Stream, text, x, rings))
			if got := kerneltest.Read(r, rings); got[len(got)-1] != points[len(points)-1] {
				t.Errorf("%s: rings end at %d of %d", c.name, got[len(got)-1], points[len(points)-1])
			}
		}
		if got := kerneltest.Read(r, x.Report)[0].Odd; got != c.odd {
			t.Errorf("%s: %b, want %b", c.name, got, c.odd)
		}
	}
	long := good().Found(r, nil)
	long.Longest = 100
	r.OK(kshape.FindShapes(r.Set, r.Stream, kerneltest.Upload(r, whole.Text), long))
	if got := kerneltest.Read(r, long.Report)[0].Odd; got != kshape.ShapeTooLong {
		t.Errorf("long records: %b", got)
	}
	for seed := range uint64(40) { // nothing outside of the buffers is touched
		f, rng := good(), rand.New(rand.NewPCG(seed, 6))
		f.Kind = shapeTypes[rng.IntN(len(shapeTypes))]
		for range 1 + rng.IntN(20) {
			f.Text[rng.IntN(len(f.Text))] = byte(rng.Uint32())
			f.Index[rng.IntN(len(f.Index))] = byte(rng.Uint32())
		}
		f.Text = f.Text[:len(f.Text)-rng.IntN(30)]
		r.OK(kshape.FindShapes(r.Set, r.Stream, kerneltest.Upload(r, f.Text), f.Found(r, nil)))
	}
}

func TestShapesRefuse(t *testing.T) {
	r := kerneltest.Open(t)
	f := kerneltest.Shapefile{Kind: 5}
	f.Shape(rand.New(rand.NewPCG(1, 1)), 20)
	text, floats := kerneltest.Upload(r, f.Text), kerneltest.Poisoned[float64](r, 3)
	with := func(change func(x *kshape.Shapes)) *kshape.Shapes {
		x := f.Found(r, nil)
		change(x)
		return x
	}
	right := with(func(*kshape.Shapes) {})
	kinds, all := kerneltest.Poisoned[kgeom.GeometryKind](r, 1), kerneltest.Poisoned[uint32](r, 1)
	for name, err := range map[string]error{
		"an invalid type": kshape.FindShapes(r.Set, r.Stream, text, with(func(x *kshape.Shapes) { x.Type = 31 })),
		"index": kshape.FindShapes(r.Set, r.Stream, text, with(func(x *kshape.Shapes) {
			x.Index = x.Index.Slice(0, 4)
		})),
		"starts": kshape.FindShapes(r.Set, r.Stream, text, with(func(x *kshape.Shapes) {
			x.Starts = x.Starts.Slice(0, 0)
		})),
		"no points": kshape.FindShapes(r.Set, r.Stream, text, with(func(x *kshape.Shapes) {
			x.Points = x.Points.Slice(0, 0)
		})),
		"no parts": kshape.FindShapes(r.Set, r.Stream, text, with(func(x *kshape.Shapes) {
			x.Parts = gpu.Buffer[int64]{}
		})),
		"parts of points": kshape.FindShapes(r.Set, r.Stream, text, with(func(x *kshape.Shapes) { x.Type = 8 })),
		"no report": kshape.FindShapes(r.Set, r.Stream, text, with(func(x *kshape.Shapes) {
			x.Report = x.Report.Slice(0, 0)
		})),
		"no number of rows": kshape.FindShapes(r.Set, r.Stream, text, with(func(x *kshape.Shapes) {
			x.Rows = x.Starts
		})),
		"no ring": kshape.ShapeParts(r.Set, r.Stream, text, right, gpu.Buffer[int64]{}),
		"ordinates": kshape.ReadShapes(r.Set, r.Stream, text, right, kshape.ShapePositions{
			X: floats,
			Y: floats.Slice(0, 2),
		}),
		"a z": kshape.ReadShapes(r.Set, r.Stream, text, right, kshape.ShapePositions{
			X: floats, Y: floats,
			Z: floats,
		}),
		"no measured": kshape.ReadShapes(r.Set, r.Stream, text, right, kshape.ShapePositions{
			X: floats, Y: floats,
			M: floats,
		}),
		"kinds": kshape.ShapeKinds(r.Set, r.Stream, right, gpu.Buffer[byte]{},
			kerneltest.Poisoned[kgeom.GeometryKind](r, 2), all),
		"no kinds": kshape.ShapeKinds(r.Set, r.Stream, right, gpu.Buffer[byte]{}, kinds, all.Slice(0, 0)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
