package geom_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
)

// geometryKinds runs both, and gives the kinds and what each reports.
func geometryKinds(r *kerneltest.Rig, rows []kerneltest.RowGeometry, collections,
	withZ bool) (kinds []kgeom.GeometryKind,
	first, second kgeom.GeometryReport,
) {
	r.Helper()
	n := len(rows)
	m := kerneltest.GeometryMembers(rows, collections)
	var x, z []float64
	starts := []int64{0}
	for _, row := range rows {
		x, z = append(x, row.X...), append(z, row.Z...)
		starts = append(starts, int64(len(x)))
	}
	if !withZ {
		z = nil
	}
	out, report := kerneltest.Poisoned[kgeom.GeometryKind](r, n), kerneltest.Poisoned[kgeom.GeometryReport](r, 1)
	to := kgeom.Coordinates{
		Starts: kerneltest.Poisoned[int64](r, n), Ends: kerneltest.Poisoned[int64](r, n),
		Kinds: kerneltest.Poisoned[kgeom.TypeKind](r, n),
	}
	valid := kerneltest.Poisoned[uint64](r, kernels.Words(n))
	of := kjson.GeometryMembers{
		Type: kerneltest.Upload(r, m.Slots[0]), Coordinates: kerneltest.Upload(r, m.Slots[1]),
		Geometries: kerneltest.Upload(r, m.Slots[2]), Base: kerneltest.Upload(r, m.Base),
	}
	if slices.ContainsFunc(rows, func(row kerneltest.RowGeometry) bool { return !row.Valid }) {
		of.Geometry = kerneltest.Upload(r, m.Slots[3])
	}
	if n%2 == 0 {
		of.Record = of.Type // whose names are as good as others
	}
	values := kjson.MemberValues{
		Start: kerneltest.UploadShort(r, m.Starts), End: kerneltest.UploadShort(r, m.Ends),
		Kind: kerneltest.Upload(r, m.Kinds),
	}
	_, err := kjson.ReadMembers(r.Set, r.Stream, kerneltest.Upload(r, m.Text), values, kjson.ScalarColumns{},
		&kjson.GeometryRows{GeometryMembers: of, To: to, Kinds: out, Valid: valid, Report: report})
	r.OK(err)
	first = kerneltest.Read(r, report)[0]
	m.CheckNamed(r, of, first.Named)
	first.Named = 0
	m.Check(r, rows, kerneltest.Read(r, to.Starts), kerneltest.Read(r, to.Ends), kerneltest.Read(r, to.Kinds),
		kerneltest.Read(r, valid))
	r.OK(kgeom.GeometryDims(r.Set, r.Stream, kerneltest.Upload(r, x), kerneltest.Upload(r, z),
		kerneltest.Upload(r, starts), out, report))
	return kerneltest.Read(r, out), first, kerneltest.Read(r, report)[0]
}

// checkGeometryKinds compares them with a row at a time.
func checkGeometryKinds(r *kerneltest.Rig, what string, rows []kerneltest.RowGeometry, collections, withZ bool) {
	r.Helper()
	var first, second kgeom.GeometryReport
	want := make([]kgeom.GeometryKind, len(rows))
	for i, row := range rows {
		if row.Valid {
			known := row.Kind >= kgeom.KindPoint && row.Kind <= kgeom.KindGeometryCollection
			collection := row.Kind == kgeom.KindGeometryCollection
			if !known || row.Coordinates == collection || (row.Geometries && collections) != collection {
				first.Odd |= kgeom.GeometryUnlike
			}
			if known {
				want[i] = kgeom.GeometryKind(row.Kind)
				first.Kinds |= 1 << want[i]
			}
		}
		for k, x := range row.X {
			if math.IsNaN(x) && want[i]&7 != kgeom.GeometryKind(kgeom.KindPoint) {
				second.Odd |= kgeom.GeometryHollow
			}
			if withZ && !math.IsNaN(row.Z[k]) {
				want[i] |= kgeom.GeometryZ
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
	r := kerneltest.Open(t)
	nan := math.NaN()
	point, line, collection := kgeom.KindPoint, kgeom.KindLineString, kgeom.KindGeometryCollection
	tests := []struct {
		name string
		rows []kerneltest.RowGeometry
	}{
		{"none", nil},
		{"a point", []kerneltest.RowGeometry{{
			Kind: point, Valid: true, Coordinates: true, Geometries: false,
			X: []float64{1}, Z: []float64{nan},
		}}},
		{"a point with z", []kerneltest.RowGeometry{{
			Kind: point, Valid: true, Coordinates: true,
			Geometries: false, X: []float64{1}, Z: []float64{2},
		}}},
		{"an empty point", []kerneltest.RowGeometry{{
			Kind: point, Valid: true, Coordinates: true,
			Geometries: false, X: []float64{nan}, Z: []float64{nan},
		}}},
		{"a hollow line", []kerneltest.RowGeometry{{
			Kind: line, Valid: true, Coordinates: true,
			Geometries: false, X: []float64{1, nan}, Z: []float64{nan, nan},
		}}},
		{"a hollow line with z", []kerneltest.RowGeometry{{
			Kind: line, Valid: true, Coordinates: true,
			Geometries: false, X: []float64{1, nan, 3},
			Z: []float64{5, nan, 5},
		}}},
		{"a null", []kerneltest.RowGeometry{{
			Kind: line, Valid: false, Coordinates: false, Geometries: false,
			X: nil, Z: nil,
		}}},
		{"no type", []kerneltest.RowGeometry{{
			Kind: 0, Valid: true, Coordinates: true, Geometries: false,
			X: nil, Z: nil,
		}}},
		{"a feature", []kerneltest.RowGeometry{{
			Kind: kgeom.KindFeature, Valid: true, Coordinates: true,
			Geometries: false, X: nil, Z: nil,
		}}},
		{"undecided", []kerneltest.RowGeometry{{
			Kind: kgeom.KindUndecided, Valid: true, Coordinates: true,
			Geometries: false, X: nil, Z: nil,
		}}},
		{"no coordinates", []kerneltest.RowGeometry{{
			Kind: line, Valid: true, Coordinates: false,
			Geometries: false, X: nil, Z: nil,
		}}},
		{"a collection", []kerneltest.RowGeometry{{
			Kind: collection, Valid: true, Coordinates: false,
			Geometries: true, X: nil, Z: nil,
		}}},
		{"a collection with coordinates", []kerneltest.RowGeometry{{
			Kind: collection, Valid: true,
			Coordinates: true, Geometries: true, X: nil, Z: nil,
		}}},
		{"a collection without members", []kerneltest.RowGeometry{{
			Kind: collection, Valid: true,
			Coordinates: false, Geometries: false, X: nil, Z: nil,
		}}},
		{"a line with geometries", []kerneltest.RowGeometry{{
			Kind: line, Valid: true, Coordinates: true,
			Geometries: true, X: nil, Z: nil,
		}}},
	}
	for _, tt := range tests {
		for _, with := range []bool{false, true} {
			checkGeometryKinds(r, tt.name, tt.rows, with, with)
		}
	}
	for _, n := range []int{1, 31, 64, 65, 255, 256, 257, 3000} {
		rng := rand.New(rand.NewPCG(uint64(n), 4))
		rows := make([]kerneltest.RowGeometry, n)
		for i := range rows {
			row := kerneltest.RowGeometry{Kind: kgeom.TypeKind(1 + rng.IntN(6)), Valid: rng.IntN(5) > 0}
			row.Coordinates = row.Valid
			positions := rng.IntN(5)
			if i == n/2 {
				positions = 2000 // one that several blocks share
			}
			for range positions {
				z := nan
				if row.Valid && rng.IntN(1+i%7) == 0 && positions < 2000 {
					z = 1
				}
				row.X, row.Z = append(row.X, rng.Float64()), append(row.Z, z)
			}
			if i == n/2 {
				row.Z[1777] = 9
			}
			if !row.Valid {
				row.X, row.Z = nil, nil
			}
			rows[i] = row
		}
		checkGeometryKinds(r, "random", rows, false, true)
		checkGeometryKinds(r, "random, no z", rows, false, false)
	}
}

func TestGeometryKindsArguments(t *testing.T) {
	r := kerneltest.Open(t)
	text, kinds, report := kerneltest.Poisoned[byte](r, 100), kerneltest.Poisoned[kgeom.GeometryKind](r, 65),
		kerneltest.Poisoned[kgeom.GeometryReport](r, 1)
	valid, x, first := kerneltest.Poisoned[uint64](r, 2), kerneltest.Poisoned[float64](r, 9),
		kerneltest.Poisoned[int64](r, 66)
	slots, base, values, of := kerneltest.Poisoned[int32](r, 65), kerneltest.Poisoned[int64](r, 65),
		kerneltest.Poisoned[uint32](r, 9),
		kerneltest.Poisoned[kjson.ValueKind](r, 9)
	rows := kjson.GeometryMembers{Type: slots, Coordinates: slots, Geometries: slots, Base: base}
	to := kgeom.Coordinates{Starts: base, Ends: base, Kinds: kerneltest.Poisoned[kgeom.TypeKind](r, 65)}
	readGeometries := func(m kjson.GeometryMembers, of gpu.Buffer[kjson.ValueKind], to kgeom.Coordinates,
		valid kernels.Mask, report gpu.Buffer[kgeom.GeometryReport],
	) error {
		_, err := kjson.ReadMembers(r.Set, r.Stream, text, kjson.MemberValues{Start: values, End: values, Kind: of},
			kjson.ScalarColumns{}, &kjson.GeometryRows{
				GeometryMembers: m, To: to, Kinds: kinds,
				Valid: valid, Report: report,
			})
		return err
	}
	call := func(change func(m *kjson.GeometryMembers, to *kgeom.Coordinates)) error {
		m, c := rows, to
		change(&m, &c)
		return readGeometries(m, of, c, valid, report)
	}
	same := func(*kjson.GeometryMembers, *kgeom.Coordinates) {}
	for name, err := range map[string]error{
		"types": call(func(m *kjson.GeometryMembers, _ *kgeom.Coordinates) { m.Type = slots.Slice(0, 64) }),
		"geometry": call(func(m *kjson.GeometryMembers, _ *kgeom.Coordinates) {
			m.Geometry = slots.Slice(0, 64)
		}),
		"coordinates": call(func(m *kjson.GeometryMembers, _ *kgeom.Coordinates) {
			m.Coordinates = slots.Slice(0, 0)
		}),
		"geometries": call(func(m *kjson.GeometryMembers, _ *kgeom.Coordinates) {
			m.Geometries = slots.Slice(0, 1)
		}),
		"base": call(func(m *kjson.GeometryMembers, _ *kgeom.Coordinates) { m.Base = base.Slice(0, 64) }),
		"ends": call(func(_ *kjson.GeometryMembers, to *kgeom.Coordinates) { to.Ends = base.Slice(0, 64) }),
		"names": call(func(_ *kjson.GeometryMembers, to *kgeom.Coordinates) {
			to.Kinds = to.Kinds.Slice(0, 64)
		}),
		"members":    readGeometries(rows, of.Slice(0, 8), to, valid, report),
		"valid":      readGeometries(rows, of, to, valid.Slice(0, 1), report),
		"no report":  readGeometries(rows, of, to, valid, report.Slice(0, 0)),
		"offsets":    kgeom.GeometryDims(r.Set, r.Stream, x, x, first.Slice(0, 65), kinds, report),
		"z":          kgeom.GeometryDims(r.Set, r.Stream, x, x.Slice(0, 8), first, kinds, report),
		"no reports": kgeom.GeometryDims(r.Set, r.Stream, x, gpu.Buffer[float64]{}, first, kinds, report.Slice(0, 0)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	r.OK(call(same))
}
