package wkt_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kwkt "github.com/vibeflight/vibeflight/kernels/wkt"
)

// taggedRow is a geometry with the numbers of ordinates of its positions, 0 for one without
// numbers.
type taggedRow struct {
	kind  kgeom.GeometryKind
	tag   kwkt.TagDims
	sizes []int
}

// dims is what TaggedDims says of it: its kind with its dimension, or not ok.
func (r taggedRow) dims() (kind kgeom.GeometryKind, ok bool) {
	if r.kind == 0 {
		return 0, true
	}
	tag, size := r.tag&3, 0
	for _, n := range r.sizes {
		if n > 0 && size > 0 && n != size {
			return 0, false
		}
		size = max(size, n)
	}
	if tag == 0 && size > 2 {
		tag = kwkt.TagDims(2*size - 5) // z, or z and m
	}
	if size > 0 && size != 2+int(tag&1)+int(tag>>1) {
		return 0, false
	}
	return r.kind | kgeom.GeometryKind(tag)<<3, true
}

// checkTagged compares TaggedDims with the plain reading, with columns for n ordinates.
func checkTagged(r *kerneltest.Rig, name string, rows []taggedRow, columns int) {
	r.Helper()
	nan := math.Float64frombits(0x7ff8000000000000)
	var at, want [4][]float64
	first, kinds, wantKinds, tags := []int64{0}, []kgeom.GeometryKind{}, []kgeom.GeometryKind{}, []kwkt.TagDims{}
	all, bits := true, uint32(0)
	for _, row := range rows {
		kind, ok := row.dims()
		all = all && ok
		if kind != 0 {
			bits |= 1 << kind
		}
		kinds, wantKinds, tags = append(kinds, row.kind), append(wantKinds, kind), append(tags, row.tag)
		for _, n := range row.sizes {
			for k := range at {
				v := nan
				if k < n {
					v = float64(len(at[0])*4 + k)
				}
				at[k], want[k] = append(at[k], v), append(want[k], v)
			}
			if last := len(at[0]) - 1; kind>>3 == 2 {
				want[2][last], want[3][last] = nan, at[2][last]
			}
		}
		first = append(first, int64(len(at[0])))
	}
	var device [4]gpu.Buffer[float64]
	for k := range columns {
		device[k] = kerneltest.Upload(r, at[k])
	}
	kindsDev, report := kerneltest.Upload(r, kinds), kerneltest.Poisoned[kgeom.GeometryReport](r, 1)
	r.OK(kwkt.TaggedDims(r.Set, r.Stream, device[0], device[2], device[3], kerneltest.Upload(r, first),
		kerneltest.Upload(r, tags), kindsDev, report))
	got := kerneltest.Read(r, report)[0]
	if (got.Odd == 0) != all || got.Odd&^kgeom.GeometryRagged != 0 {
		r.Fatalf("%s: odd is %d, want none: %v", name, got.Odd, all)
	}
	if !all {
		return
	}
	if got.Kinds != bits {
		r.Fatalf("%s: kinds %b, want %b", name, got.Kinds, bits)
	}
	for i, kind := range kerneltest.Read(r, kindsDev) {
		if kind != wantKinds[i] {
			r.Fatalf("%s: row %d of %+v has the kind %d, want %d", name, i, rows[i], kind, wantKinds[i])
		}
	}
	for k := 2; k < columns; k++ {
		for i, v := range kerneltest.Read(r, device[k]) {
			if math.Float64bits(v) != math.Float64bits(want[k][i]) {
				r.Fatalf("%s: ordinate %d of position %d is %v, want %v", name, k, i, v, want[k][i])
			}
		}
	}
}

func TestTaggedDims(t *testing.T) {
	r := kerneltest.Open(t)
	for _, tt := range []struct {
		name    string
		rows    []taggedRow
		columns int
	}{
		{"none", nil, 2},
		{"two ordinates", []taggedRow{{1, 0, []int{2}}, {2, 0, []int{2, 2}}, {}, {3, 0, nil}}, 2},
		{"tags without positions", []taggedRow{
			{1, kwkt.DimsZ, []int{0}},
			{2, kwkt.DimsM, nil},
			{6, kwkt.DimsZ | kwkt.DimsM, nil},
		}, 2},
		{
			"EMPTY",
			[]taggedRow{{1, kwkt.DimsZ | kwkt.DimsEmpty, []int{0}}, {4, kwkt.DimsEmpty, []int{0, 3}}},
			4,
		},
		{"Z without positions of three", []taggedRow{{2, kwkt.DimsZ, []int{2, 2}}}, 2},
		{"three", []taggedRow{
			{2, 0, []int{3, 3}},
			{2, kwkt.DimsZ, []int{3}},
			{2, kwkt.DimsM, []int{3, 3}},
			{1, 0, []int{2}},
		}, 4},
		{"three alone", []taggedRow{{2, 0, []int{3, 3}}, {2, kwkt.DimsZ, []int{3}}}, 3},
		{"four", []taggedRow{
			{2, 0, []int{4, 4}},
			{2, kwkt.DimsZ | kwkt.DimsM, []int{4}},
			{2, kwkt.DimsM, []int{3}},
		}, 4},
		{"ragged", []taggedRow{{2, 0, []int{2, 3}}}, 4},
		{"fewer than the tag", []taggedRow{{2, kwkt.DimsZ | kwkt.DimsM, []int{3}}}, 4},
		{"more than the tag", []taggedRow{{2, kwkt.DimsZ, []int{4}}}, 4},
	} {
		checkTagged(r, tt.name, tt.rows, tt.columns)
	}
	rng := rand.New(rand.NewPCG(8, 1))
	for run := range 60 {
		var rows []taggedRow
		for range rng.IntN(400) {
			row := taggedRow{
				kgeom.GeometryKind(rng.IntN(7)), kwkt.TagDims(rng.IntN(4)),
				make([]int, rng.IntN(3)*rng.IntN(1+run*4)),
			}
			if row.kind == 0 {
				row.sizes = nil
			}
			size := 2 + int(row.tag&1) + int(row.tag>>1)
			if row.tag == 0 {
				size = 2 + rng.IntN(3)
			}
			for i := range row.sizes {
				row.sizes[i] = size * min(1, rng.IntN(7))
			}
			rows = append(rows, row)
		}
		if len(rows) > 0 && run%5 == 0 {
			last := &rows[len(rows)-1]
			last.kind, last.sizes = 2, append(last.sizes, 2, 4)
		}
		checkTagged(r, fmt.Sprintf("run %d", run), rows, 4)
	}
}

func TestTaggedKinds(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(8, 2))
	for _, n := range []int{0, 1, 31, 32, 33, 64, 65, 255, 256, 257, 5000} {
		for _, odd := range []bool{false, true} {
			types, kinds := make([]kgeom.TypeKind, n), make([]kgeom.GeometryKind, n)
			valid := kerneltest.Bitmap(n, func(int) bool { return rng.IntN(5) > 0 })
			want := kgeom.GeometryReport{}
			for i := range types {
				types[i] = kgeom.TypeKind(1 + rng.IntN(7))
				if rng.IntN(9) == 0 && (odd || !kerneltest.Bit(valid, i)) {
					types[i] = []kgeom.TypeKind{
						kgeom.KindUnknown, kgeom.KindFeature,
						kgeom.KindUndecided,
					}[rng.IntN(3)]
				}
				switch {
				case !kerneltest.Bit(valid, i):
				case types[i] < 1 || types[i] > 7:
					want.Odd = kgeom.GeometryUnlike
				default:
					kinds[i] = kgeom.GeometryKind(types[i])
					want.Kinds |= 1 << types[i]
				}
			}
			got, collects, report := kerneltest.Poisoned[kgeom.GeometryKind](r, n),
				kerneltest.Poisoned[uint64](r, kernels.Words(n)),
				kerneltest.Poisoned[kgeom.GeometryReport](r, 1)
			r.OK(kwkt.TaggedKinds(r.Set, r.Stream, kerneltest.Upload(r, types), kerneltest.Upload(r, valid),
				got, collects, report))
			if all := kerneltest.Read(r, got); !slices.Equal(all, kinds) {
				t.Fatalf("%d types %d: kinds %d, want %d", n, types, all, kinds)
			}
			if mask, want := kerneltest.Read(r, collects), kerneltest.Bitmap(n, func(i int) bool {
				return kinds[i] == 7
			}); !slices.Equal(mask, want) {
				t.Fatalf("%d types: collections %x, want %x", n, mask, want)
			}
			if report := kerneltest.Read(r, report)[0]; report != want {
				t.Fatalf("%d types: report %+v, want %+v", n, report, want)
			}
		}
	}
}
