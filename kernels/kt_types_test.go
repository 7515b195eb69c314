package kernels_test

import (
	"bytes"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/kernels"
)

// typeNames are the names of RFC 7946, in the order of their kinds.
var typeNames = strings.Fields("Point LineString Polygon MultiPoint MultiLineString MultiPolygon GeometryCollection " +
	"Feature FeatureCollection")

// geojsonType is GeoJSONTypes for the name that begins text.
func geojsonType(text []byte) kernels.TypeKind {
	name, _, ended := bytes.Cut(text, []byte{'"'})
	if i := slices.Index(typeNames, string(name)); ended && i >= 0 {
		return kernels.TypeKind(i + 1)
	}
	if bytes.IndexByte(name[:min(len(name), 18)], '\\') >= 0 {
		return kernels.KindUndecided
	}
	return kernels.KindUnknown
}

// likeTypeNames are the names of types, and others that begin or end like them.
func likeTypeNames() []string {
	return append([]string{
		"", "P", "Poin", "Polyx", "Polyline", "Line", "Linestring", "POINT", "point", "PointZ", "MultiPolygons",
		"GeometryCollectio", "FeatureCollections",
		`Pol\u0079gon`, `GeometryCollectio\u006e`, `\u0050oint`, `Point\`, "Point\x00", "\xffoint",
		"GeometryCollectionGeometryCollection", `x"\u0050`,
	}, typeNames...)
}

// rowGeometry is a row as ReadMembers and GeometryDims see it.
type rowGeometry struct {
	kind                           kernels.TypeKind
	valid, coordinates, geometries bool
	x, z                           []float64
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
