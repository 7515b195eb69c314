package kerneltest

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	kshape "github.com/vibeflight/vibeflight/kernels/shape"
)

// ShapeRow is what a record becomes.
type ShapeRow struct {
	Kind       kgeom.GeometryKind
	X, y, z, M []float64
	Parts      []int64 // first positions
}

// Shapefile is records, and where they lie.
type Shapefile struct {
	Kind        kshape.ShapeType
	First, Base int64
	Text        []byte
	Index       []byte
	Starts      []int64
	Rows        []ShapeRow
}

// Add adds a record with a content.
func (f *Shapefile) Add(content []byte, row ShapeRow) {
	at := int64(len(f.Text))
	f.Starts, f.Rows = append(f.Starts, at), append(f.Rows, row)
	f.Index = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(f.Index, uint32((f.Base+at)/2)),
		uint32(len(content)/2))
	f.Text = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(f.Text, uint32(f.First+int64(len(f.Rows))-1)),
		uint32(len(content)/2))
	f.Text = append(f.Text, content...)
}

// Shape adds a random shape of some positions at most.
func (f *Shapefile) Shape(rng *rand.Rand, most int) {
	little := binary.LittleEndian
	row := ShapeRow{Kind: map[kshape.ShapeType]kgeom.GeometryKind{1: 1, 3: 2, 5: 3, 8: 4}[f.Kind%10]}
	if rng.IntN(8) == 0 {
		f.Add([]byte{0, 0, 0, 0}, ShapeRow{})
		return
	}
	n := 1
	content := little.AppendUint32(nil, uint32(f.Kind))
	if f.Kind%10 != 1 {
		n = rng.IntN(most)
		content = append(content, make([]byte, 32)...)
		if f.Kind.HasParts() {
			for at := int64(0); at < int64(n); at += 1 + int64(rng.IntN(most)) {
				row.Parts = append(row.Parts, at)
			}
			content = little.AppendUint32(content, uint32(len(row.Parts)))
		}
		content = little.AppendUint32(content, uint32(n))
		for _, at := range row.Parts {
			content = little.AppendUint32(content, uint32(at))
		}
		if len(row.Parts) > 1 && f.Kind%10 == 3 {
			row.Kind = 5
		}
	}
	ordinate := func() float64 {
		switch rng.IntN(20) {
		case 0:
			return math.NaN()
		case 1:
			return math.Float64frombits(0xfff0000000000001) // signals
		case 2:
			return math.Copysign(0, -1)
		case 3:
			return math.Inf(-1)
		}
		return rng.NormFloat64()
	}
	pair := func() {
		row.X, row.y = append(row.X, ordinate()), append(row.y, ordinate())
		content = little.AppendUint64(little.AppendUint64(content, math.Float64bits(row.X[len(row.X)-1])),
			math.Float64bits(row.y[len(row.y)-1]))
	}
	several := func(of func() float64) (out []float64) {
		if f.Kind%10 != 1 {
			content = append(content, make([]byte, 16)...)
		}
		for range n {
			out = append(out, of())
			content = little.AppendUint64(content, math.Float64bits(out[len(out)-1]))
		}
		return out
	}
	for range n {
		pair()
	}
	if f.Kind.HasZ() {
		row.z, row.Kind = several(ordinate), row.Kind|kgeom.GeometryZ
	}
	if f.Kind > 10 && rng.IntN(3) > 0 {
		none := rng.IntN(3) == 0
		row.M = several(func() float64 {
			if v := ordinate(); !none {
				return v
			}
			return []float64{-1e39, math.NaN(), math.Inf(-1), -1e38}[rng.IntN(4)]
		})
		if rng.IntN(4) == 0 && n > 0 && !none {
			row.M[0] = math.Nextafter(-1e38, 0) // is one
			little.PutUint64(content[len(content)-8*n:], math.Float64bits(row.M[0]))
		}
	}
	for i, v := range row.M {
		if v > -1e38 {
			row.Kind |= kgeom.GeometryM
		} else {
			row.M[i] = math.Float64frombits(canonical)
		}
	}
	f.Add(content, row)
}

// Found is Shapes with memory for n records of f, of which live are rows if there are some.
func (f *Shapefile) Found(r *Rig, live []int64) *kshape.Shapes {
	n := len(f.Index) / 8
	x := &kshape.Shapes{
		Type: f.Kind, Records: n, First: f.First, Base: f.Base, Longest: 1 << 20, Index: Upload(r, f.Index),
		Starts: Poisoned[int64](r, n), Flags: Poisoned[byte](r, n),
		Valid: Poisoned[uint64](r, kernels.Words(n)), Report: Poisoned[kshape.ShapeReport](r, 1),
	}
	if f.Kind%10 != 1 {
		x.Points = Poisoned[int64](r, n+1)
	}
	if f.Kind.HasParts() {
		x.Parts = Poisoned[int64](r, n+1)
	}
	if live != nil {
		x.Rows, x.Live = Poisoned[int64](r, n), Upload(r, []int64{int64(len(live))})
		r.OK(gpu.Upload(r.Stream, x.Rows, live))
	}
	return x
}

// Check reads the shapes of the rows and compares.
func (f *Shapefile) Check(r *Rig, live []int64) {
	r.Helper()
	x, text := f.Found(r, live), Upload(r, f.Text)
	r.OK(kshape.FindShapes(r.Set, r.Stream, text, x))
	if live == nil {
		for i := range f.Rows {
			live = append(live, int64(i))
		}
	}
	var want ShapeRow
	var starts, points, parts []int64
	var kinds []kgeom.GeometryKind
	has, all, least := uint32(0), uint32(0), 0
	if f.Kind%10 == 1 { // a row without shape has a point of zeros
		least = 1
	}
	for _, i := range live {
		row := f.Rows[i]
		starts, points, parts, kinds = append(starts, f.Starts[i]), append(points, int64(len(want.X))),
			append(parts, int64(len(want.Parts))), append(kinds, row.Kind)
		for _, at := range row.Parts {
			want.Parts = append(want.Parts, int64(len(want.X))+at)
		}
		if len(row.Parts) > 1 {
			has |= kshape.ShapeHasParts
		}
		nan := uint64(0) // of what has no measure
		if row.Kind != 0 {
			all |= 1 << row.Kind
			nan = canonical
		}
		fill := func(v []float64, with uint64) []float64 {
			for len(v) < max(least, len(row.X)) {
				v = append(v, math.Float64frombits(with))
			}
			return v
		}
		content := 2 * int64(binary.BigEndian.Uint32(f.Index[8*i+4:]))
		if f.Kind > 10 && row.Kind != 0 && content > contentWithout(f.Kind, len(row.X), len(row.Parts)) {
			has |= kshape.ShapeHasMeasures
		}
		want.X, want.y = append(want.X, fill(row.X, 0)...), append(want.y, fill(row.y, 0)...)
		want.z, want.M = append(want.z, fill(row.z, 0)...), append(want.M, fill(row.M, nan)...)
	}
	n := len(live)
	if got := Read(r, x.Report)[0]; got != (kshape.ShapeReport{Has: has}) {
		r.Fatalf("type %d: %+v, want %d", f.Kind, got, has)
	}
	same(r, "starts", Read(r, x.Starts)[:n], starts)
	SameMask(r, "valid", nil, Read(r, x.Valid), Bitmap(x.Records, func(i int) bool { return i < n && kinds[i] != 0 }))
	count := len(want.X)
	if x.Points.Len() > 0 {
		same(r, "points", Read(r, x.Points), append(points, slices.Repeat([]int64{int64(count)}, x.Records+1-n)...))
	}
	to := kshape.ShapePositions{X: Poisoned[float64](r, count), Y: Poisoned[float64](r, count)}
	if f.Kind.HasZ() {
		to.Z = Poisoned[float64](r, count)
	}
	if has&kshape.ShapeHasMeasures != 0 {
		to.M, to.Measured = Poisoned[float64](r, count), Upload(r, make([]byte, x.Records))
	}
	r.OK(kshape.ReadShapes(r.Set, r.Stream, text, x, to))
	sameBits(r, "x", Read(r, to.X), want.X)
	sameBits(r, "y", Read(r, to.Y), want.y)
	if to.Z.Len() > 0 {
		sameBits(r, "z", Read(r, to.Z), want.z)
	}
	if to.M.Len() > 0 {
		sameBits(r, "m", Read(r, to.M), want.M)
	}
	if x.Parts.Len() > 0 {
		same(r, "parts", Read(r, x.Parts), append(parts, slices.Repeat([]int64{int64(len(want.Parts))},
			x.Records+1-n)...))
		rings := Poisoned[int64](r, len(want.Parts)+1)
		r.OK(kshape.ShapeParts(r.Set, r.Stream, text, x, rings))
		same(r, "rings", Read(r, rings), append(want.Parts, int64(count)))
	}
	got, bits := Poisoned[kgeom.GeometryKind](r, n), Poisoned[uint32](r, 1)
	r.OK(kshape.ShapeKinds(r.Set, r.Stream, x, to.Measured, got, bits))
	same(r, "kinds", Read(r, got), kinds)
	if found := Read(r, bits)[0]; found != all {
		r.Errorf("kinds %b, want %b", found, all)
	}
	if got := Read(r, x.Report)[0]; got.Odd != 0 {
		r.Errorf("odd: %d", got.Odd)
	}
}

const canonical = 0x7ff8000000000000

// contentWithout is how long a content without measures is.
func contentWithout(kind kshape.ShapeType, points, parts int) int64 {
	size := 44 + 4*parts + 16*points
	switch kind % 10 {
	case 1:
		size = 20
	case 8:
		size = 40 + 16*points
	}
	switch {
	case kind.HasZ() && kind%10 == 1:
		size += 8
	case kind.HasZ():
		size += 16 + 8*points
	}
	return int64(size)
}

func same[T comparable](r *Rig, what string, got, want []T) {
	r.Helper()
	if !slices.Equal(got, want) {
		r.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// sameBits compares ordinates, of which every NaN is the same one.
func sameBits(r *Rig, what string, got, want []float64) {
	r.Helper()
	for i := range want {
		bits := math.Float64bits(want[i])
		if want[i] != want[i] {
			bits = canonical
		}
		if math.Float64bits(got[i]) != bits {
			r.Fatalf("%s %d of %d: %x, want %x", what, i, len(want), math.Float64bits(got[i]), bits)
		}
	}
}
