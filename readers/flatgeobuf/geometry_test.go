package flatgeobuf_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/gogama/flatgeobuf/flatgeobuf/flat"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/vibeflight/vibeflight/readers"
)

const (
	unknown         = flat.GeometryTypeUnknown
	point           = flat.GeometryTypePoint
	lineString      = flat.GeometryTypeLineString
	polygon         = flat.GeometryTypePolygon
	multiPoint      = flat.GeometryTypeMultiPoint
	multiLineString = flat.GeometryTypeMultiLineString
	multiPolygon    = flat.GeometryTypeMultiPolygon
	collection      = flat.GeometryTypeGeometryCollection
)

// file returns one of geometries, of the kind that the header says.
func file(kind flat.GeometryType, shapes ...*shape) []byte {
	f := fgbFile{kind: kind}
	for _, s := range shapes {
		f.features = append(f.features, feature(s))
	}
	return f.bytes()
}

// ring returns a square from an offset on.
func ring(at float64) []float64 {
	return []float64{at, at, at + 1, at, at + 1, at + 1, at, at}
}

func TestGeometries(t *testing.T) {
	two := append(ring(0), ring(5)...)
	check(t, with{}, []fgbCase{
		{
			"point", file(point, &shape{xy: []float64{1, 2}}, nil, &shape{}, &shape{xy: []float64{nan, nan}}),
			"geometry: geoarrow.point xy: POINT (1 2) | null | POINT EMPTY | POINT EMPTY",
		},
		{
			"line", file(lineString, &shape{xy: []float64{1, 2, 3, 4}}, &shape{xy: []float64{}}),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4) | LINESTRING EMPTY",
		},
		{
			"polygon", file(polygon, &shape{xy: ring(0)}, &shape{xy: two, ends: []uint32{4, 8}}, &shape{}),
			"geometry: geoarrow.polygon xy: POLYGON ((0 0, 1 0, 1 1, 0 0)) | POLYGON ((0 0, 1 0, 1 1, 0 0), (5 5, 6 " +
				"5, 6 6, 5 5)) | POLYGON EMPTY",
		},
		{
			"multipoint", file(multiPoint, &shape{xy: []float64{1, 2, 3, 4}}),
			"geometry: geoarrow.multipoint xy: MULTIPOINT ((1 2), (3 4))",
		},
		{
			"multilinestring", file(multiLineString, &shape{xy: []float64{1, 2, 3, 4}},
				&shape{xy: []float64{1, 2, 3, 4, 5, 6, 7, 8}, ends: []uint32{2, 4}}),
			"geometry: geoarrow.multilinestring xy: MULTILINESTRING ((1 2, 3 4)) | MULTILINESTRING ((1 2, 3 4), (5 " +
				"6, 7 8))",
		},
		{
			"multipolygon", file(multiPolygon,
				&shape{parts: []shape{{xy: ring(0)}, {kind: polygon, xy: two, ends: []uint32{4, 8}}}}, &shape{}),
			"geometry: geoarrow.multipolygon xy: MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((0 0, 1 0, 1 1, 0 0), (5 5, " +
				"6 5, 6 6, 5 5))) | MULTIPOLYGON EMPTY",
		},
		{
			"each its own kind", file(unknown, &shape{kind: point, xy: []float64{1, 2}},
				&shape{kind: lineString, xy: []float64{1, 2, 3, 4}}),
			"geometry: geoarrow.wkb xy: POINT (1 2) | LINESTRING (1 2, 3 4)",
		},
		{
			"a kind and its Multi kind", file(unknown, &shape{kind: polygon, xy: ring(0)},
				&shape{kind: multiPolygon, parts: []shape{{xy: ring(1)}}}),
			"geometry: geoarrow.multipolygon xy: POLYGON ((0 0, 1 0, 1 1, 0 0)) | MULTIPOLYGON (((1 1, 2 1, 2 2, 1 1)))",
		},
		{
			"collections", file(collection, &shape{parts: []shape{
				{kind: point, xy: []float64{1, 2}},
				{kind: collection, parts: []shape{{kind: multiPolygon, parts: []shape{{xy: ring(0)}}}}},
				{kind: collection},
			}}),
			"geometry: geoarrow.wkb xy: GEOMETRYCOLLECTION (POINT (1 2), GEOMETRYCOLLECTION (MULTIPOLYGON (((0 0, 1 " +
				"0, 1 1, 0 0)))), GEOMETRYCOLLECTION EMPTY)",
		},
		{
			"z", file(point, &shape{xy: []float64{1, 2}, z: []float64{3}}, &shape{xy: []float64{1, 2}}),
			"geometry: geoarrow.point xyz: POINT Z (1 2 3) | POINT (1 2)",
		},
		{
			"m", file(lineString, &shape{xy: []float64{1, 2, 3, 4}, m: []float64{5, nan}}),
			"geometry: geoarrow.linestring xym: LINESTRING M (1 2 5, 3 4 nan)",
		},
		{
			"z and m", file(multiPoint, &shape{xy: []float64{1, 2}, z: []float64{3}, m: []float64{4}}),
			"geometry: geoarrow.multipoint xyzm: MULTIPOINT ZM ((1 2 3 4))",
		},
		{
			"z that is none", file(point, &shape{xy: []float64{1, 2}, z: []float64{nan}}),
			"geometry: geoarrow.point xy: POINT (1 2)",
		},
		{
			"z of one part", file(multiPolygon,
				&shape{parts: []shape{{xy: ring(0)}, {xy: ring(1), z: []float64{1, 2, 3, 4}}}}),
			"geometry: geoarrow.multipolygon xyz: MULTIPOLYGON Z (((0 0 nan, 1 0 nan, 1 1 nan, 0 0 nan)), ((1 1 1, " +
				"2 1 2, 2 2 3, 1 1 4)))",
		},
		{
			"times", file(lineString, &shape{xy: []float64{1, 2, 3, 4}, t: []float64{7, 8}, tm: []uint64{7, 8}}),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)\ncrs: none\nignored ordinates: 4",
		},
		{
			"odd rings and lines", file(unknown, &shape{kind: polygon, xy: []float64{0, 0, 1, 1}},
				&shape{kind: lineString, xy: []float64{1, 2}}, &shape{kind: multiLineString, xy: []float64{1, 2}}),
			"geometry: geoarrow.wkb xy: POLYGON ((0 0, 1 1)) | LINESTRING (1 2) | MULTILINESTRING ((1 2))\ncrs: " +
				"none\nunclosed rings: 1\nshort rings: 1\nshort lines: 2",
		},
		{
			"a line without positions", file(multiLineString, &shape{xy: []float64{1, 2, 3, 4}, ends: []uint32{0, 2}}),
			"geometry: geoarrow.multilinestring xy: MULTILINESTRING (EMPTY, (1 2, 3 4))",
		},
		{
			"one end of one line", file(lineString, &shape{xy: []float64{1, 2, 3, 4}, ends: []uint32{2}}),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)",
		},
	})
}

func TestMalformedGeometries(t *testing.T) {
	for _, c := range []struct {
		name string
		kind flat.GeometryType
		bad  shape
		want string
	}{
		{
			"no type", unknown,
			shape{xy: []float64{1, 2}},
			"the geometry has no type, and neither the header nor the geometry around it says one",
		},
		{"another type", point, shape{kind: polygon, xy: ring(0)}, "a Polygon, expected a Point"},
		{
			"a curve", unknown,
			shape{kind: flat.GeometryTypeCircularString, xy: ring(0)},
			"geometries of type CircularString are not read: convert curves to lines",
		},
		{
			"a triangle", unknown,
			shape{kind: flat.GeometryTypeTriangle, xy: ring(0)},
			"geometries of type Triangle are not read",
		},
		{"no such type", unknown, shape{kind: 18}, "the geometry type is 18, which is none"},
		{"an odd ordinate", lineString, shape{xy: []float64{1, 2, 3}}, "3 ordinates x and y, expected an even number"},
		{"two positions in a point", point, shape{xy: []float64{1, 2, 3, 4}}, "a Point has 2 positions, expected 1"},
		{"fewer z", lineString, shape{xy: []float64{1, 2, 3, 4}, z: []float64{1}}, "1 ordinates z for 2 positions"},
		{
			"more m", lineString,
			shape{xy: []float64{1, 2, 3, 4}, m: []float64{1, 2, 3}},
			"3 ordinates m for 2 positions",
		},
		{"fewer t", lineString, shape{xy: []float64{1, 2, 3, 4}, t: []float64{1}}, "1 ordinates t for 2 positions"},
		{"fewer tm", lineString, shape{xy: []float64{1, 2, 3, 4}, tm: []uint64{1}}, "1 ordinates tm for 2 positions"},
		{
			"ends of a line", lineString,
			shape{xy: []float64{1, 2, 3, 4}, ends: []uint32{1, 2}},
			"the positions of a LineString are divided",
		},
		{
			"ends that go back", polygon,
			shape{xy: append(ring(0), ring(5)...), ends: []uint32{5, 4, 8}},
			"part 1 ends after position 4, expected 5 to 8",
		},
		{
			"an end after all positions", polygon,
			shape{xy: ring(0), ends: []uint32{5}},
			"part 0 ends after position 5, expected 0 to 4",
		},
		{
			"positions after the last end", polygon,
			shape{xy: ring(0), ends: []uint32{3}},
			"the last part ends after position 3 of 4",
		},
		{"parts of a polygon", polygon, shape{parts: []shape{{xy: ring(0)}}}, "a Polygon has 1 parts, expected none"},
		{
			"positions of a multipolygon", multiPolygon,
			shape{xy: ring(0)},
			"a MultiPolygon has positions of its own, expected parts",
		},
		{
			"a line in a multipolygon", multiPolygon,
			shape{parts: []shape{{kind: lineString, xy: ring(0)}}},
			"a LineString, expected a Polygon",
		},
		{"a member without type", collection, shape{parts: []shape{{xy: ring(0)}}}, "the geometry has no type"},
		{
			"a malformed member after a good one", collection,
			shape{parts: []shape{{kind: collection, parts: []shape{
				{kind: point, xy: []float64{1, 2}},
				{kind: point, xy: ring(0)},
			}}}},
			"a Point has 4 positions",
		},
	} {
		bad := file(c.kind, nil, &c.bad, nil)
		check(t, with{}, []fgbCase{
			{c.name, bad, "a.fgb: flatgeobuf: byte "},
			{c.name, bad, ", feature 1, geometry: " + c.want},
		})
		first := len(file(c.kind))
		want := fmt.Sprintf("geometry: geoarrow.wkb xy: null | null\ncrs: none\nskipped: 1 at [%d]",
			first+len(feature(nil)))
		check(t, with{options: map[string]any{"on_error": "skip"}}, []fgbCase{{c.name + ", skipped", bad, want}})
	}
}

// A geometry whose members are all the same table says more than it is long.
func TestSharedParts(t *testing.T) {
	b := flatbuffers.NewBuilder(0)
	member := shape{kind: point, xy: []float64{1, 2}}.write(b)
	for range 30 {
		flat.GeometryStartPartsVector(b, 2)
		vector := tables(b, []flatbuffers.UOffsetT{member, member})
		flat.GeometryStart(b)
		flat.GeometryAddType(b, collection)
		flat.GeometryAddParts(b, vector)
		member = flat.GeometryEnd(b)
	}
	flat.FeatureStart(b)
	flat.FeatureAddGeometry(b, member)
	b.FinishSizePrefixed(flat.FeatureEnd(b))
	text := fgbFile{kind: collection, features: [][]byte{b.FinishedBytes()}}.bytes()
	check(t, with{}, []fgbCase{{"2^30 members", text, "byte "}, {
		"2^30 members", text,
		"several of its parts share them",
	}})
}

func TestDepth(t *testing.T) {
	deep := shape{kind: point, xy: []float64{1, 2}}
	for range 4 {
		deep = shape{kind: collection, parts: []shape{deep}}
	}
	text := file(unknown, &deep)
	check(t, with{limits: readers.Limits{MaxDepth: 4}}, []fgbCase{
		{"as deep as may be", text, "geometry: geoarrow.wkb xy: GEOMETRYCOLLECTION (GEOMETRYCOLLECTION " +
			"(GEOMETRYCOLLECTION (GEOMETRYCOLLECTION (POINT (1 2)))))"},
	})
	for _, options := range []map[string]any{nil, {"on_error": "skip"}} {
		check(t, with{options: options, limits: readers.Limits{MaxDepth: 3}}, []fgbCase{
			{"deeper", text, "feature 0, geometry: the nesting of collections is beyond the limit 3 of --max-depth"},
		})
	}
}

// put returns a file with another number at an offset.
func put(file []byte, offset int, v uint32) []byte {
	file = bytes.Clone(file)
	binary.LittleEndian.PutUint32(file[offset:], v)
	return file
}
