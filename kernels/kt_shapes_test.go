package kernels_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// shapeRow is what a record becomes.
type shapeRow struct {
	kind       kernels.GeometryKind
	x, y, z, m []float64
	parts      []int64 // first positions
}

// shapefile is records, and where they lie.
type shapefile struct {
	kind        kernels.ShapeType
	first, base int64
	text        []byte
	index       []byte
	starts      []int64
	rows        []shapeRow
}

// add adds a record with a content.
func (f *shapefile) add(content []byte, row shapeRow) {
	at := int64(len(f.text))
	f.starts, f.rows = append(f.starts, at), append(f.rows, row)
	f.index = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(f.index, uint32((f.base+at)/2)),
		uint32(len(content)/2))
	f.text = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(f.text, uint32(f.first+int64(len(f.rows))-1)),
		uint32(len(content)/2))
	f.text = append(f.text, content...)
}

// shape adds a random shape of some positions at most.
func (f *shapefile) shape(rng *rand.Rand, most int) {
	little := binary.LittleEndian
	row := shapeRow{kind: map[kernels.ShapeType]kernels.GeometryKind{1: 1, 3: 2, 5: 3, 8: 4}[f.kind%10]}
	if rng.IntN(8) == 0 {
		f.add([]byte{0, 0, 0, 0}, shapeRow{})
		return
	}
	n := 1
	content := little.AppendUint32(nil, uint32(f.kind))
	if f.kind%10 != 1 {
		n = rng.IntN(most)
		content = append(content, make([]byte, 32)...)
		if f.kind.HasParts() {
			for at := int64(0); at < int64(n); at += 1 + int64(rng.IntN(most)) {
				row.parts = append(row.parts, at)
			}
			content = little.AppendUint32(content, uint32(len(row.parts)))
		}
		content = little.AppendUint32(content, uint32(n))
		for _, at := range row.parts {
			content = little.AppendUint32(content, uint32(at))
		}
		if len(row.parts) > 1 && f.kind%10 == 3 {
			row.kind = 5
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
		row.x, row.y = append(row.x, ordinate()), append(row.y, ordinate())
		content = little.AppendUint64(little.AppendUint64(content, math.Float64bits(row.x[len(row.x)-1])),
			math.Float64bits(row.y[len(row.y)-1]))
	}
	several := func(of func() float64) (out []float64) {
		if f.kind%10 != 1 {
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
	if f.kind.HasZ() {
		row.z, row.kind = several(ordinate), row.kind|kernels.GeometryZ
	}
	if f.kind > 10 && rng.IntN(3) > 0 {
		none := rng.IntN(3) == 0
		row.m = several(func() float64 {
			if v := ordinate(); !none {
				return v
			}
			return []float64{-1e39, math.NaN(), math.Inf(-1), -1e38}[rng.IntN(4)]
		})
		if rng.IntN(4) == 0 && n > 0 && !none {
			row.m[0] = math.Nextafter(-1e38, 0) // is one
			little.PutUint64(content[len(content)-8*n:], math.Float64bits(row.m[0]))
		}
	}
	for i, v := range row.m {
		if v > -1e38 {
			row.kind |= kernels.GeometryM
		} else {
			row.m[i] = math.Float64frombits(canonical)
		}
	}
	f.add(content, row)
}

// found is Shapes with memory for so many records of f, of which live are rows if there are some.
func (f *shapefile) found(r *rig, live []int64) *kernels.Shapes {
	n := len(f.index) / 8
	x := &kernels.Shapes{
		Type: f.kind, Records: n, First: f.first, Base: f.base, Longest: 1 << 20, Index: upload(r, f.index),
		Starts: poisoned[int64](r, n), Flags: poisoned[byte](r, n),
		Valid: poisoned[uint64](r, kernels.Words(n)), Report: poisoned[kernels.ShapeReport](r, 1),
	}
	if f.kind%10 != 1 {
		x.Points = poisoned[int64](r, n+1)
	}
	if f.kind.HasParts() {
		x.Parts = poisoned[int64](r, n+1)
	}
	if live != nil {
		x.Rows, x.Live = poisoned[int64](r, n), upload(r, []int64{int64(len(live))})
		r.ok(gpu.Upload(r.s, x.Rows, live))
	}
	return x
}

// check reads the shapes of the rows and compares.
func (f *shapefile) check(r *rig, live []int64) {
	r.Helper()
	x, text := f.found(r, live), upload(r, f.text)
	r.ok(r.k.FindShapes(r.s, text, x))
	if live == nil {
		for i := range f.rows {
			live = append(live, int64(i))
		}
	}
	var want shapeRow
	var starts, points, parts []int64
	var kinds []kernels.GeometryKind
	has, all, least := uint32(0), uint32(0), 0
	if f.kind%10 == 1 { // a row without shape has a point of zeros
		least = 1
	}
	for _, i := range live {
		row := f.rows[i]
		starts, points, parts, kinds = append(starts, f.starts[i]), append(points, int64(len(want.x))),
			append(parts, int64(len(want.parts))), append(kinds, row.kind)
		for _, at := range row.parts {
			want.parts = append(want.parts, int64(len(want.x))+at)
		}
		if len(row.parts) > 1 {
			has |= kernels.ShapeHasParts
		}
		nan := uint64(0) // of what has no measure
		if row.kind != 0 {
			all |= 1 << row.kind
			nan = canonical
		}
		fill := func(v []float64, with uint64) []float64 {
			for len(v) < max(least, len(row.x)) {
				v = append(v, math.Float64frombits(with))
			}
			return v
		}
		content := 2 * int64(binary.BigEndian.Uint32(f.index[8*i+4:]))
		if f.kind > 10 && row.kind != 0 && content > contentWithout(f.kind, len(row.x), len(row.parts)) {
			has |= kernels.ShapeHasMeasures
		}
		want.x, want.y = append(want.x, fill(row.x, 0)...), append(want.y, fill(row.y, 0)...)
		want.z, want.m = append(want.z, fill(row.z, 0)...), append(want.m, fill(row.m, nan)...)
	}
	n := len(live)
	if got := read(r, x.Report)[0]; got != (kernels.ShapeReport{Has: has}) {
		r.Fatalf("type %d: %+v, want %d", f.kind, got, has)
	}
	same(r, "starts", read(r, x.Starts)[:n], starts)
	sameMask(r, "valid", nil, read(r, x.Valid), bitmap(x.Records, func(i int) bool { return i < n && kinds[i] != 0 }))
	count := len(want.x)
	if x.Points.Len() > 0 {
		same(r, "points", read(r, x.Points), append(points, slices.Repeat([]int64{int64(count)}, x.Records+1-n)...))
	}
	to := kernels.ShapePositions{X: poisoned[float64](r, count), Y: poisoned[float64](r, count)}
	if f.kind.HasZ() {
		to.Z = poisoned[float64](r, count)
	}
	if has&kernels.ShapeHasMeasures != 0 {
		to.M, to.Measured = poisoned[float64](r, count), upload(r, make([]byte, x.Records))
	}
	r.ok(r.k.ReadShapes(r.s, text, x, to))
	sameBits(r, "x", read(r, to.X), want.x)
	sameBits(r, "y", read(r, to.Y), want.y)
	if to.Z.Len() > 0 {
		sameBits(r, "z", read(r, to.Z), want.z)
	}
	if to.M.Len() > 0 {
		sameBits(r, "m", read(r, to.M), want.m)
	}
	if x.Parts.Len() > 0 {
		same(r, "parts", read(r, x.Parts), append(parts, slices.Repeat([]int64{int64(len(want.parts))},
			x.Records+1-n)...))
		rings := poisoned[int64](r, len(want.parts)+1)
		r.ok(r.k.ShapeParts(r.s, text, x, rings))
		same(r, "rings", read(r, rings), append(want.parts, int64(count)))
	}
	got, bits := poisoned[kernels.GeometryKind](r, n), poisoned[uint32](r, 1)
	r.ok(r.k.ShapeKinds(r.s, x, to.Measured, got, bits))
	same(r, "kinds", read(r, got), kinds)
	if found := read(r, bits)[0]; found != all {
		r.Errorf("kinds %b, want %b", found, all)
	}
	if got := read(r, x.Report)[0]; got.Odd != 0 {
		r.Errorf("odd: %d", got.Odd)
	}
}

const canonical = 0x7ff8000000000000

// contentWithout is how long a content without measures is.
func contentWithout(kind kernels.ShapeType, points, parts int) int64 {
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

func same[T comparable](r *rig, what string, got, want []T) {
	r.Helper()
	if !slices.Equal(got, want) {
		r.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// sameBits compares ordinates, of which every NaN is the same one.
func sameBits(r *rig, what string, got, want []float64) {
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
