package kerneltest

import (
	"bytes"
	"slices"
	"strings"

	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
)

// TypeNames are the names of RFC 7946, in the order of their kinds.
var TypeNames = strings.Fields("Point LineString Polygon MultiPoint MultiLineString MultiPolygon GeometryCollection " +
	"Feature FeatureCollection")

// GeojsonType is GeoJSONTypes for the name that begins text.
func GeojsonType(text []byte) kgeom.TypeKind {
	name, _, ended := bytes.Cut(text, []byte{'"'})
	if i := slices.Index(TypeNames, string(name)); ended && i >= 0 {
		return kgeom.TypeKind(i + 1)
	}
	if bytes.IndexByte(name[:min(len(name), 18)], '\\') >= 0 {
		return kgeom.KindUndecided
	}
	return kgeom.KindUnknown
}

// LikeTypeNames are the names of types, and others that begin or end like them.
func LikeTypeNames() []string {
	return append([]string{
		"", "P", "Poin", "Polyx", "Polyline", "Line", "Linestring", "POINT", "point", "PointZ", "MultiPolygons",
		"GeometryCollectio", "FeatureCollections",
		`Pol\u0079gon`, `GeometryCollectio\u006e`, `\u0050oint`, `Point\`, "Point\x00", "\xffoint",
		"GeometryCollectionGeometryCollection", `x"\u0050`,
	}, TypeNames...)
}

// RowGeometry is a row as ReadMembers and GeometryDims see it.
type RowGeometry struct {
	Kind                           kgeom.TypeKind
	Valid, Coordinates, Geometries bool
	X, Z                           []float64
}

// CheckNamed compares the types that the records' own type members name.
func (m *rowMembers) CheckNamed(r *Rig, of kjson.GeometryMembers, got uint32) {
	r.Helper()
	want := uint32(0)
	if of.Record.Len() > 0 {
		found := Poisoned[uint32](r, 1)
		r.OK(kjson.GeoJSONTypesFound(r.Set, r.Stream, Upload(r, m.Text), of.Record, UploadShort(r, m.Starts),
			Upload(r, m.Kinds), found))
		want = Read(r, found)[0]
	}
	if got != want {
		r.Fatalf("records name the types %#x, want %#x", got, want)
	}
}

// rowMembers are the members of rows of geometries. A member that is there but null is no value.
type rowMembers struct {
	Text         []byte
	Starts, Ends []int64
	Kinds        []kjson.ValueKind
	Slots        [4][]int32 // type, coordinates, geometries, geometry
	Base         []int64
}

// geometryNames are the names of types as text; KindUndecided is written with an escape.
var geometryNames = map[kgeom.TypeKind]string{
	kgeom.KindPoint: "Point", kgeom.KindLineString: "LineString", kgeom.KindPolygon: "Polygon",
	kgeom.KindMultiPoint: "MultiPoint", kgeom.KindMultiLineString: "MultiLineString",
	kgeom.KindMultiPolygon: "MultiPolygon", kgeom.KindGeometryCollection: "GeometryCollection",
	kgeom.KindFeature: "Feature", kgeom.KindUndecided: `P\u006fint`,
}

// GeometryMembers writes the members of rows, those that a row does not have as null or not at all.
func GeometryMembers(rows []RowGeometry, collections bool) (m rowMembers) {
	add := func(slot int, has bool, text string, kind kjson.ValueKind, odd bool) {
		member := int32(-1)
		if !has && odd {
			text, kind, has = "null", kjson.ValueNull, true
		}
		if has {
			member = int32(len(m.Kinds))
			start := int64(len(m.Text))
			m.Text = append(append(m.Text, text...), ',')
			m.Starts, m.Ends, m.Kinds = append(m.Starts, start), append(m.Ends, start+int64(len(text))),
				append(m.Kinds, kind)
		}
		m.Slots[slot] = append(m.Slots[slot], member)
	}
	for i, row := range rows {
		m.Base = append(m.Base, int64(len(m.Text)))
		name, known := geometryNames[row.Kind]
		add(0, known, `"`+name+`"`, kjson.ValueString, i%2 == 0)
		add(1, row.Coordinates, "[1,2]", kjson.ValueArray, i%3 == 0)
		add(2, row.Geometries && collections, "[]", kjson.ValueArray, i%3 == 1)
		add(3, row.Valid, "{}", kjson.ValueObject, i%2 == 1)
	}
	return m
}

// Check compares what ReadMembers says of members.
func (m rowMembers) Check(r *Rig, rows []RowGeometry, starts, ends []int64, types []kgeom.TypeKind, valid []uint64) {
	r.Helper()
	for i, row := range rows {
		start, end := m.Base[i], m.Base[i]
		if row.Coordinates {
			start, end = m.Starts[m.Slots[1][i]], m.Ends[m.Slots[1][i]]
		}
		if starts[i] != start || ends[i] != end || types[i] != row.Kind || Bit(valid, i) != row.Valid {
			r.Fatalf("row %d: coordinates [%d, %d), type %d, valid %v; want [%d, %d) of %+v", i, starts[i],
				ends[i], types[i], Bit(valid, i), start, end, row)
		}
	}
	for i := len(rows); i < 64*len(valid); i++ {
		if Bit(valid, i) {
			r.Fatalf("bit %d is set behind %d rows", i, len(rows))
		}
	}
}
