package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// rowGeometry is a row as GeometryKinds and GeometryDims see it.
type rowGeometry struct {
	kind                           kernels.TypeKind
	valid, coordinates, geometries bool
	x, z                           []float64
}

// geometryKinds runs both, and gives the kinds and what each reports.
func geometryKinds(r *rig, rows []rowGeometry, collections, withZ bool) (kinds []kernels.GeometryKind, first, second kernels.GeometryReport) {
	r.Helper()
	n := len(rows)
	types := make([]kernels.TypeKind, n)
	var x, z []float64
	starts := []int64{0}
	for i, row := range rows {
		types[i] = row.kind
		x, z = append(x, row.x...), append(z, row.z...)
		starts = append(starts, int64(len(x)))
	}
	mask := func(set func(rowGeometry) bool) kernels.Mask {
		return upload(r, bitmap(n, func(i int) bool { return set(rows[i]) }))
	}
	var geometries kernels.Mask
	if collections {
		geometries = mask(func(row rowGeometry) bool { return row.geometries })
	}
	if !withZ {
		z = nil
	}
	out, report := poisoned[kernels.GeometryKind](r, n), poisoned[kernels.GeometryReport](r, 1)
	r.ok(r.k.GeometryKinds(r.s, upload(r, types), mask(func(row rowGeometry) bool { return row.valid }), mask(func(row rowGeometry) bool { return row.coordinates }), geometries, out, report))
	first = read(r, report)[0]
	r.ok(r.k.GeometryDims(r.s, upload(r, x), upload(r, z), upload(r, starts), out, report))
	return read(r, out), first, read(r, report)[0]
}

// checkGeometryKinds compares them with a row at a time.
func checkGeometryKinds(r *rig, what string, rows []rowGeometry, collections, withZ bool) {
	r.Helper()
	var first, second kernels.GeometryReport
	want := make([]kernels.GeometryKind, len(rows))
	for i, row := range rows {
		if row.valid {
			known := row.kind >= kernels.KindPoint && row.kind <= kernels.KindGeometryCollection
			collection := row.kind == kernels.KindGeometryCollection
			if !known || row.coordinates == collection || (row.geometries && collections) != collection {
				first.Odd |= kernels.GeometryUnlike
			}
			if known {
				want[i] = kernels.GeometryKind(row.kind)
				first.Kinds |= 1 << want[i]
			}
		}
		for k, x := range row.x {
			if math.IsNaN(x) && want[i]&7 != kernels.GeometryKind(kernels.KindPoint) {
				second.Odd |= kernels.GeometryHollow
			}
			if withZ && !math.IsNaN(row.z[k]) {
				want[i] |= kernels.GeometryZ
			}
		}
		if want[i] != 0 {
			second.Kinds |= 1 << want[i]
		}
	}
	kinds, gotFirst, gotSecond := geometryKinds(r, rows, collections, withZ)
	if !slices.Equal(kinds, want) || gotFirst != first || gotSecond != second {
		r.Fatalf("%s: kinds %d, reports %+v and %+v; want %d, %+v and %+v, of %+v", what, kinds, gotFirst, gotSecond, want, first, second, rows)
	}
}

func TestGeometryKinds(t *testing.T) {
	r := open(t)
	nan := math.NaN()
	point, line, collection := kernels.KindPoint, kernels.KindLineString, kernels.KindGeometryCollection
	tests := []struct {
		name string
		rows []rowGeometry
	}{
		{"none", nil},
		{"a point", []rowGeometry{{point, true, true, false, []float64{1}, []float64{nan}}}},
		{"a point with z", []rowGeometry{{point, true, true, false, []float64{1}, []float64{2}}}},
		{"an empty point", []rowGeometry{{point, true, true, false, []float64{nan}, []float64{nan}}}},
		{"a hollow line", []rowGeometry{{line, true, true, false, []float64{1, nan}, []float64{nan, nan}}}},
		{"a hollow line with z", []rowGeometry{{line, true, true, false, []float64{1, nan, 3}, []float64{5, nan, 5}}}},
		{"a null", []rowGeometry{{line, false, false, false, nil, nil}}},
		{"no type", []rowGeometry{{0, true, true, false, nil, nil}}},
		{"a feature", []rowGeometry{{kernels.KindFeature, true, true, false, nil, nil}}},
		{"undecided", []rowGeometry{{kernels.KindUndecided, true, true, false, nil, nil}}},
		{"no coordinates", []rowGeometry{{line, true, false, false, nil, nil}}},
		{"a collection", []rowGeometry{{collection, true, false, true, nil, nil}}},
		{"a collection with coordinates", []rowGeometry{{collection, true, true, true, nil, nil}}},
		{"a collection without members", []rowGeometry{{collection, true, false, false, nil, nil}}},
		{"a line with geometries", []rowGeometry{{line, true, true, true, nil, nil}}},
	}
	for _, tt := range tests {
		for _, with := range []bool{false, true} {
			checkGeometryKinds(r, tt.name, tt.rows, with, with)
		}
	}
	for _, n := range []int{1, 31, 64, 65, 255, 256, 257, 3000} {
		rng := rand.New(rand.NewPCG(uint64(n), 4))
		rows := make([]rowGeometry, n)
		for i := range rows {
			row := rowGeometry{kind: kernels.TypeKind(1 + rng.IntN(6)), valid: rng.IntN(5) > 0}
			row.coordinates = row.valid
			positions := rng.IntN(5)
			if i == n/2 {
				positions = 2000 // one that several blocks share
			}
			for range positions {
				z := nan
				if row.valid && rng.IntN(1+i%7) == 0 && positions < 2000 {
					z = 1
				}
				row.x, row.z = append(row.x, rng.Float64()), append(row.z, z)
			}
			if i == n/2 {
				row.z[1777] = 9
			}
			if !row.valid {
				row.x, row.z = nil, nil
			}
			rows[i] = row
		}
		checkGeometryKinds(r, "random", rows, false, true)
		checkGeometryKinds(r, "random, no z", rows, false, false)
	}
}

func TestGeometryKindsArguments(t *testing.T) {
	r := open(t)
	types, kinds, report := poisoned[kernels.TypeKind](r, 65), poisoned[kernels.GeometryKind](r, 65), poisoned[kernels.GeometryReport](r, 1)
	mask, short := poisoned[uint64](r, 2), poisoned[uint64](r, 1)
	x, first := poisoned[float64](r, 9), poisoned[int64](r, 66)
	var none kernels.Mask
	for name, err := range map[string]error{
		"kinds":       r.k.GeometryKinds(r.s, types, mask, mask, none, kinds.Slice(0, 64), report),
		"valid":       r.k.GeometryKinds(r.s, types, short, mask, none, kinds, report),
		"coordinates": r.k.GeometryKinds(r.s, types, mask, none, none, kinds, report),
		"geometries":  r.k.GeometryKinds(r.s, types, mask, mask, short, kinds, report),
		"no report":   r.k.GeometryKinds(r.s, types, mask, mask, none, kinds, report.Slice(0, 0)),
		"offsets":     r.k.GeometryDims(r.s, x, x, first.Slice(0, 65), kinds, report),
		"z":           r.k.GeometryDims(r.s, x, x.Slice(0, 8), first, kinds, report),
		"no reports":  r.k.GeometryDims(r.s, x, gpu.Buffer[float64]{}, first, kinds, report.Slice(0, 0)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
