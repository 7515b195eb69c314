package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// rowGeometry is a row as ReadMembers and GeometryDims see it.
type rowGeometry struct {
	kind                           kernels.TypeKind
	valid, coordinates, geometries bool
	x, z                           []float64
}

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

// checkNamed compares the types that the records' own type members name.
func (m *rowMembers) checkNamed(r *rig, of kernels.GeometryMembers, got uint32) {
	r.Helper()
	want := uint32(0)
	if of.Record.Len() > 0 {
		found := poisoned[uint32](r, 1)
		r.ok(r.k.GeoJSONTypesFound(r.s, upload(r, m.text), of.Record, uploadShort(r, m.starts),
			upload(r, m.kinds), found))
		want = read(r, found)[0]
	}
	if got != want {
		r.Fatalf("records name the types %#x, want %#x", got, want)
	}
}

// rowMembers are the members of rows of geometries. A member that is there but null is no value.
type rowMembers struct {
	text         []byte
	starts, ends []int64
	kinds        []kernels.ValueKind
	slots        [4][]int32 // type, coordinates, geometries, geometry
	base         []int64
}

// geometryNames are the names of types as text; KindUndecided is written with an escape.
var geometryNames = map[kernels.TypeKind]string{
	kernels.KindPoint: "Point", kernels.KindLineString: "LineString", kernels.KindPolygon: "Polygon",
	kernels.KindMultiPoint: "MultiPoint", kernels.KindMultiLineString: "MultiLineString",
	kernels.KindMultiPolygon: "MultiPolygon", kernels.KindGeometryCollection: "GeometryCollection",
	kernels.KindFeature: "Feature", kernels.KindUndecided: `P\u006fint`,
}

// geometryMembers writes the members of rows, those that a row does not have as null or not at all.
func geometryMembers(rows []rowGeometry, collections bool) (m rowMembers) {
	add := func(slot int, has bool, text string, kind kernels.ValueKind, odd bool) {
		member := int32(-1)
		if !has && odd {
			text, kind, has = "null", kernels.ValueNull, true
		}
		if has {
			member = int32(len(m.kinds))
			start := int64(len(m.text))
			m.text = append(append(m.text, text...), ',')
			m.starts, m.ends, m.kinds = append(m.starts, start), append(m.ends, start+int64(len(text))),
				append(m.kinds, kind)
		}
		m.slots[slot] = append(m.slots[slot], member)
	}
	for i, row := range rows {
		m.base = append(m.base, int64(len(m.text)))
		name, known := geometryNames[row.kind]
		add(0, known, `"`+name+`"`, kernels.ValueString, i%2 == 0)
		add(1, row.coordinates, "[1,2]", kernels.ValueArray, i%3 == 0)
		add(2, row.geometries && collections, "[]", kernels.ValueArray, i%3 == 1)
		add(3, row.valid, "{}", kernels.ValueObject, i%2 == 1)
	}
	return m
}

// check compares what ReadMembers says of members.
func (m rowMembers) check(r *rig, rows []rowGeometry, starts, ends []int64, types []kernels.TypeKind, valid []uint64) {
	r.Helper()
	for i, row := range rows {
		start, end := m.base[i], m.base[i]
		if row.coordinates {
			start, end = m.starts[m.slots[1][i]], m.ends[m.slots[1][i]]
		}
		if starts[i] != start || ends[i] != end || types[i] != row.kind || bit(valid, i) != row.valid {
			r.Fatalf("row %d: coordinates [%d, %d), type %d, valid %v; want [%d, %d) of %+v", i, starts[i],
				ends[i], types[i], bit(valid, i), start, end, row)
		}
	}
	for i := len(rows); i < 64*len(valid); i++ {
		if bit(valid, i) {
			r.Fatalf("bit %d is set behind %d rows", i, len(rows))
		}
	}
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
