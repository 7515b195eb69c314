package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// taggedRow is a geometry with the numbers of ordinates of its positions, 0 for one without
// numbers.
type taggedRow struct {
	kind  kernels.GeometryKind
	tag   kernels.TagDims
	sizes []int
}

// dims is what TaggedDims says of it: its kind with its dimension, or not ok.
func (r taggedRow) dims() (kind kernels.GeometryKind, ok bool) {
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
		tag = kernels.TagDims(2*size - 5) // z, or z and m
	}
	if size > 0 && size != 2+int(tag&1)+int(tag>>1) {
		return 0, false
	}
	return r.kind | kernels.GeometryKind(tag)<<3, true
}

// checkTagged compares TaggedDims with the plain reading, with columns for so many ordinates.
func checkTagged(r *rig, name string, rows []taggedRow, columns int) {
	r.Helper()
	nan := math.Float64frombits(0x7ff8000000000000)
	var at, want [4][]float64
	first, kinds, wantKinds, tags := []int64{0}, []kernels.GeometryKind{}, []kernels.GeometryKind{}, []kernels.TagDims{}
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
		device[k] = upload(r, at[k])
	}
	kindsDev, report := upload(r, kinds), poisoned[kernels.GeometryReport](r, 1)
	r.ok(r.k.TaggedDims(r.s, device[0], device[2], device[3], upload(r, first), upload(r, tags), kindsDev, report))
	got := read(r, report)[0]
	if (got.Odd == 0) != all || got.Odd&^kernels.GeometryRagged != 0 {
		r.Fatalf("%s: odd is %d, want none: %v", name, got.Odd, all)
	}
	if !all {
		return
	}
	if got.Kinds != bits {
		r.Fatalf("%s: kinds %b, want %b", name, got.Kinds, bits)
	}
	for i, kind := range read(r, kindsDev) {
		if kind != wantKinds[i] {
			r.Fatalf("%s: row %d of %+v has the kind %d, want %d", name, i, rows[i], kind, wantKinds[i])
		}
	}
	for k := 2; k < columns; k++ {
		for i, v := range read(r, device[k]) {
			if math.Float64bits(v) != math.Float64bits(want[k][i]) {
				r.Fatalf("%s: ordinate %d of position %d is %v, want %v", name, k, i, v, want[k][i])
			}
		}
	}
}

func TestTaggedDims(t *testing.T) {
	r := open(t)
	for _, tt := range []struct {
		name    string
		rows    []taggedRow
		columns int
	}{
		{"none", nil, 2},
		{"two ordinates", []taggedRow{{1, 0, []int{2}}, {2, 0, []int{2, 2}}, {}, {3, 0, nil}}, 2},
		{"tags without positions", []taggedRow{
			{1, kernels.DimsZ, []int{0}},
			{2, kernels.DimsM, nil},
			{6, kernels.DimsZ | kernels.DimsM, nil},
		}, 2},
		{
			"EMPTY",
			[]taggedRow{{1, kernels.DimsZ | kernels.DimsEmpty, []int{0}}, {4, kernels.DimsEmpty, []int{0, 3}}},
			4,
		},
		{"Z without positions of three", []taggedRow{{2, kernels.DimsZ, []int{2, 2}}}, 2},
		{"three", []taggedRow{
			{2, 0, []int{3, 3}},
			{2, kernels.DimsZ, []int{3}},
			{2, kernels.DimsM, []int{3, 3}},
			{1, 0, []int{2}},
		}, 4},
		{"three alone", []taggedRow{{2, 0, []int{3, 3}}, {2, kernels.DimsZ, []int{3}}}, 3},
		{"four", []taggedRow{
			{2, 0, []int{4, 4}},
			{2, kernels.DimsZ | kernels.DimsM, []int{4}},
			{2, kernels.DimsM, []int{3}},
		}, 4},
		{"ragged", []taggedRow{{2, 0, []int{2, 3}}}, 4},
		{"fewer than the tag", []taggedRow{{2, kernels.DimsZ | kernels.DimsM, []int{3}}}, 4},
		{"more than the tag", []taggedRow{{2, kernels.DimsZ, []int{4}}}, 4},
	} {
		checkTagged(r, tt.name, tt.rows, tt.columns)
	}
	rng := rand.New(rand.NewPCG(8, 1))
	for run := range 60 {
		var rows []taggedRow
		for range rng.IntN(400) {
			row := taggedRow{
				kernels.GeometryKind(rng.IntN(7)), kernels.TagDims(rng.IntN(4)),
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
	r := open(t)
	rng := rand.New(rand.NewPCG(8, 2))
	for _, n := range []int{0, 1, 31, 32, 33, 64, 65, 255, 256, 257, 5000} {
		for _, odd := range []bool{false, true} {
			types, kinds := make([]kernels.TypeKind, n), make([]kernels.GeometryKind, n)
			valid := bitmap(n, func(int) bool { return rng.IntN(5) > 0 })
			want := kernels.GeometryReport{}
			for i := range types {
				types[i] = kernels.TypeKind(1 + rng.IntN(7))
				if rng.IntN(9) == 0 && (odd || !bit(valid, i)) {
					types[i] = []kernels.TypeKind{
						kernels.KindUnknown, kernels.KindFeature,
						kernels.KindUndecided,
					}[rng.IntN(3)]
				}
				switch {
				case !bit(valid, i):
				case types[i] < 1 || types[i] > 7:
					want.Odd = kernels.GeometryUnlike
				default:
					kinds[i] = kernels.GeometryKind(types[i])
					want.Kinds |= 1 << types[i]
				}
			}
			got, collects, report := poisoned[kernels.GeometryKind](r, n), poisoned[uint64](r, kernels.Words(n)),
				poisoned[kernels.GeometryReport](r, 1)
			r.ok(r.k.TaggedKinds(r.s, upload(r, types), upload(r, valid), got, collects, report))
			if all := read(r, got); !slices.Equal(all, kinds) {
				t.Fatalf("%d types %d: kinds %d, want %d", n, types, all, kinds)
			}
			if mask, want := read(r, collects), bitmap(n, func(i int) bool {
				return kinds[i] == 7
			}); !slices.Equal(mask, want) {
				t.Fatalf("%d types: collections %x, want %x", n, mask, want)
			}
			if report := read(r, report)[0]; report != want {
				t.Fatalf("%d types: report %+v, want %+v", n, report, want)
			}
		}
	}
}
