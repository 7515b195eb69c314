package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// geometryKinds runs both, and gives the kinds and what each reports.
func geometryKinds(r *rig, rows []rowGeometry, collections, withZ bool) (kinds []kernels.GeometryKind,
	first, second kernels.GeometryReport,
) {
	r.Helper()
	n := len(rows)
	m := geometryMembers(rows, collections)
	var x, z []float64
	starts := []int64{0}
	for _, row := range rows {
		x, z = append(x, row.x...), append(z, row.z...)
		starts = append(starts, int64(len(x)))
	}
	if !withZ {
		z = nil
	}
	out, report := poisoned[kernels.GeometryKind](r, n), poisoned[kernels.GeometryReport](r, 1)
	to := kernels.Coordinates{
		Starts: poisoned[int64](r, n), Ends: poisoned[int64](r, n),
		Kinds: poisoned[kernels.TypeKind](r, n),
	}
	valid := poisoned[uint64](r, kernels.Words(n))
	of := kernels.GeometryMembers{
		Type: upload(r, m.slots[0]), Coordinates: upload(r, m.slots[1]),
		Geometries: upload(r, m.slots[2]), Base: upload(r, m.base),
	}
	if slices.ContainsFunc(rows, func(row rowGeometry) bool { return !row.valid }) {
		of.Geometry = upload(r, m.slots[3])
	}
	if n%2 == 0 {
		of.Record = of.Type // whose names are as good as others
	}
	values := kernels.MemberValues{
		Start: uploadShort(r, m.starts), End: uploadShort(r, m.ends),
		Kind: upload(r, m.kinds),
	}
	_, err := r.k.ReadMembers(r.s, upload(r, m.text), values, kernels.ScalarColumns{},
		&kernels.GeometryRows{GeometryMembers: of, To: to, Kinds: out, Valid: valid, Report: report})
	r.ok(err)
	first = read(r, report)[0]
	m.checkNamed(r, of, first.Named)
	first.Named = 0
	m.check(r, rows, read(r, to.Starts), read(r, to.Ends), read(r, to.Kinds), read(r, valid))
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
		r.Fatalf("%s: kinds %d, reports %+v and %+v; want %d, %+v and %+v, of %+v", what, kinds, gotFirst,
			gotSecond, want, first, second, rows)
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
	text, kinds, report := poisoned[byte](r, 100), poisoned[kernels.GeometryKind](r, 65),
		poisoned[kernels.GeometryReport](r, 1)
	valid, x, first := poisoned[uint64](r, 2), poisoned[float64](r, 9), poisoned[int64](r, 66)
	slots, base, values, of := poisoned[int32](r, 65), poisoned[int64](r, 65), poisoned[uint32](r, 9),
		poisoned[kernels.ValueKind](r, 9)
	rows := kernels.GeometryMembers{Type: slots, Coordinates: slots, Geometries: slots, Base: base}
	to := kernels.Coordinates{Starts: base, Ends: base, Kinds: poisoned[kernels.TypeKind](r, 65)}
	readGeometries := func(m kernels.GeometryMembers, of gpu.Buffer[kernels.ValueKind], to kernels.Coordinates,
		valid kernels.Mask, report gpu.Buffer[kernels.GeometryReport],
	) error {
		_, err := r.k.ReadMembers(r.s, text, kernels.MemberValues{Start: values, End: values, Kind: of},
			kernels.ScalarColumns{}, &kernels.GeometryRows{
				GeometryMembers: m, To: to, Kinds: kinds,
				Valid: valid, Report: report,
			})
		return err
	}
	call := func(change func(m *kernels.GeometryMembers, to *kernels.Coordinates)) error {
		m, c := rows, to
		change(&m, &c)
		return readGeometries(m, of, c, valid, report)
	}
	same := func(*kernels.GeometryMembers, *kernels.Coordinates) {}
	for name, err := range map[string]error{
		"types": call(func(m *kernels.GeometryMembers, _ *kernels.Coordinates) { m.Type = slots.Slice(0, 64) }),
		"geometry": call(func(m *kernels.GeometryMembers, _ *kernels.Coordinates) {
			m.Geometry = slots.Slice(0, 64)
		}),
		"coordinates": call(func(m *kernels.GeometryMembers, _ *kernels.Coordinates) {
			m.Coordinates = slots.Slice(0, 0)
		}),
		"geometries": call(func(m *kernels.GeometryMembers, _ *kernels.Coordinates) {
			m.Geometries = slots.Slice(0, 1)
		}),
		"base": call(func(m *kernels.GeometryMembers, _ *kernels.Coordinates) { m.Base = base.Slice(0, 64) }),
		"ends": call(func(_ *kernels.GeometryMembers, to *kernels.Coordinates) { to.Ends = base.Slice(0, 64) }),
		"names": call(func(_ *kernels.GeometryMembers, to *kernels.Coordinates) {
			to.Kinds = to.Kinds.Slice(0, 64)
		}),
		"members":    readGeometries(rows, of.Slice(0, 8), to, valid, report),
		"valid":      readGeometries(rows, of, to, valid.Slice(0, 1), report),
		"no report":  readGeometries(rows, of, to, valid, report.Slice(0, 0)),
		"offsets":    r.k.GeometryDims(r.s, x, x, first.Slice(0, 65), kinds, report),
		"z":          r.k.GeometryDims(r.s, x, x.Slice(0, 8), first, kinds, report),
		"no reports": r.k.GeometryDims(r.s, x, gpu.Buffer[float64]{}, first, kinds, report.Slice(0, 0)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	r.ok(call(same))
}
