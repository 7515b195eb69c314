package geojson_test

import (
	"fmt"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
)

// TestGeometry has the geometries that break parsers, and what docs/formats/geojson.md says about
// coordinates.
func TestGeometry(t *testing.T) {
	col := func(s string) string { return "geometry: geoarrow." + s }
	square := "[[0,0],[4,0],[4,4],[0,0]]"
	hole := "[[1,1],[2,1],[2,2],[1,1]]"
	check(t, plain, []textCase{
		{
			"G1 line of 3D", geom(shape("LineString", "[[1,2,100],[3,4,200]]")),
			col("linestring xyz: LINESTRING Z (1 2 100, 3 4 200)"),
		},
		{
			"G2 3D polygon then 2D polygon", geom(shape("Polygon", "[[[0,0,1],[4,0,2],[4,4,3],[0,0,1]]]"),
				shape("Polygon", "["+square+"]")),
			col("polygon xyz: POLYGON Z ((0 0 1, 4 0 2, 4 4 3, 0 0 1)) | POLYGON ((0 0, 4 0, 4 4, 0 0))"),
		},
		{
			"G3 point Z and line", geom(shape("Point", "[1,2,9]"), shape("LineString", "[[1,2],[3,4]]")),
			col("wkb xyz: POINT Z (1 2 9) | LINESTRING (1 2, 3 4)"),
		},
		{
			"G4 points Z", geom(shape("Point", "[1,2,3]"), shape("Point", "[4,5,6]")),
			col("point xyz: POINT Z (1 2 3) | POINT Z (4 5 6)"),
		},
		{
			"G5 empty point first", geom(shape("Point", "[]"), shape("Point", "[1,2]")),
			col("point xy: POINT EMPTY | POINT (1 2)"),
		},
		{
			"G6 empty point, then line", geom(shape("Point", "[]"), shape("LineString", "[[1,2],[3,4]]")),
			col("wkb xy: POINT EMPTY | LINESTRING (1 2, 3 4)"),
		},
		{
			"G7 empty line first", geom(shape("LineString", "[]"), shape("LineString", "[[1,2],[3,4]]")),
			col("linestring xy: LINESTRING EMPTY | LINESTRING (1 2, 3 4)"),
		},
		{
			"G8 empty MultiPoint first", geom(shape("MultiPoint", "[]"), shape("MultiPoint", "[[1,2]]")),
			col("multipoint xy: MULTIPOINT EMPTY | MULTIPOINT ((1 2))"),
		},
		{"G9 null first", fc(f("null", "{}"), f(shape("Point", "[1,2]"), "{}")), col("point xy: null | POINT (1 2)")},
		{
			"G10 null and empty, points", geom("null", shape("Point", "[]"), shape("Point", "[ ]")),
			col("point xy: null | POINT EMPTY | POINT EMPTY"),
		},
		{
			"G10 null and empty, lines", geom("null", shape("LineString", "[]")),
			col("linestring xy: null | LINESTRING EMPTY"),
		},
		{
			"G10 null and empty, mixed", geom("null", shape("Point", "[]"), shape("Polygon", "[]")),
			col("wkb xy: null | POINT EMPTY | POLYGON EMPTY"),
		},
		{"G11 null ordinate", geom(shape("LineString", "[[1,¦null],[3,4]]")), "geometry"},
		{"G11 NaN ordinate", geom(shape("LineString", "[[1,¦NaN],[3,4]]")), "geometry"},
		{"G11 text ordinate", geom(shape("LineString", `[[1,¦"1"],[3,4]]`)), "feature 0, geometry"},
		{"G11 z is no number", geom(shape("Point", "[1,2,¦null]")), "geometry"},
		{"G11 fourth ordinate is no number", geom(shape("Point", "[1,2,3,¦null]")), "geometry"},
		{
			"G12 four ordinates", geom(shape("LineString", "[[1,2,3,4],[5,6,7,8,9]]")),
			col("linestring xyz: LINESTRING Z (1 2 3, 5 6 7)") + "\nignored ordinates: 3",
		},
		{"G12 one ordinate", geom(shape("Point", "[1¦]")), "a second ordinate"},
		{"G12 one ordinate in a line", geom(shape("LineString", "[[1,2],[3¦]]")), "a second ordinate"},
		{"G12 no ordinate in a line", geom(shape("LineString", "[[1,2],[¦]]")), "an ordinate"},
		{
			"G13 one collection", geom(shape("Point", "[1,2]"), `{"type":"GeometryCollection","geometries":[`+
				shape("Point", "[3,4]")+`,`+shape("LineString", "[[5,6],[7,8]]")+`]}`, shape("Point", "[9,9]")),
			col("wkb xy: POINT (1 2) | GEOMETRYCOLLECTION (POINT (3 4), LINESTRING (5 6, 7 8)) | POINT (9 9)"),
		},
		{
			"G13 empty and nested collections", geom(`{"type":"GeometryCollection","geometries":[]}`,
				`{"type":"GeometryCollection","geometries":[{"type":"GeometryCollection","geometries":[`+
					shape("MultiPolygon", "[["+square+","+hole+"],[]]")+`]},`+shape("Point", "[]")+`]}`),
			col("wkb xy: GEOMETRYCOLLECTION EMPTY | GEOMETRYCOLLECTION (GEOMETRYCOLLECTION (MULTIPOLYGON (((0 0, 4 " +
				"0, 4 4, 0 0), (1 1, 2 1, 2 2, 1 1)), EMPTY)), POINT EMPTY)"),
		},
		{"G13 geometries before type", geom(`{"geometries":[` + shape("Point", "[3,4]") +
			`],"type":"GeometryCollection"}`), col("wkb xy: GEOMETRYCOLLECTION (POINT (3 4))")},
		{
			"G13 2D and 3D in a collection", geom(`{"type":"GeometryCollection","geometries":[` +
				shape("Point", "[1,2]") + `,` + shape("Point", "[3,4,5]") + `]}`),
			col("wkb xyz: GEOMETRYCOLLECTION Z (POINT Z (1 2 nan), POINT Z (3 4 5))"),
		},
		{"G13 null in a collection", geom(`{"type":"GeometryCollection","geometries":[¦null]}`), "a geometry object"},
		{"G13 no geometries", geom(`{"type":"GeometryCollection"¦}`), `"geometries"`},
		{"G13 geometries null", geom(`{"type":"GeometryCollection","geometries":¦null}`), "an array"},
		{"G14 point and MultiPoint", geom(shape("Point", "[1,2]"), shape("MultiPoint", "[[3,4],[5,6]]"),
			"null", shape("Point", "[]")), col(
			"multipoint xy: POINT (1 2) | MULTIPOINT ((3 4), (5 6)) | null | POINT EMPTY",
		)},
		{
			"G14 line and MultiLineString", geom(shape("MultiLineString", "[[[1,2],[3,4]],[]]"),
				shape("LineString", "[[5,6],[7,8]]")),
			col("multilinestring xy: MULTILINESTRING ((1 2, 3 4), EMPTY) | LINESTRING (5 6, 7 8)"),
		},
		{
			"G14 polygon and MultiPolygon, holes", geom(shape("Polygon", "["+square+","+hole+"]"),
				shape("MultiPolygon", "[["+square+"],["+hole+"]]"), shape("Polygon", "[]")),
			col("multipolygon xy: POLYGON ((0 0, 4 0, 4 4, 0 0), (1 1, 2 1, 2 2, 1 1)) | MULTIPOLYGON (((0 0, 4 0, " +
				"4 4, 0 0)), ((1 1, 2 1, 2 2, 1 1))) | POLYGON EMPTY"),
		},
		{
			"G14 ring without positions", geom(shape("Polygon", "[[],"+square+"]")),
			col("polygon xy: POLYGON (EMPTY, (0 0, 4 0, 4 4, 0 0))") + "\nshort rings: 1",
		},
		{
			"G15 unclosed and short rings", geom(shape("Polygon", "[[[0,0],[4,0],[4,4],[0,4]],[[1,1],[2,2],[1,1]]]")),
			col("polygon xy: POLYGON ((0 0, 4 0, 4 4, 0 4), (1 1, 2 2, 1 1))") + "\nunclosed rings: 1\nshort rings: 1",
		},
		{"G15 lines of one position", geom(shape("LineString", "[[1,2]]"), shape("MultiLineString",
			"[[[1,2]],[[1,2],[3,4]]]")), col(
			"multilinestring xy: LINESTRING (1 2) | MULTILINESTRING ((1 2), (1 2, 3 4))",
		) + "\nshort lines: 2"},
		{"minus zero", geom(shape("Point", "[-0,-0.0]")), col("point xy: POINT (-0 -0)")},
		{
			"2D and 3D in one geometry", geom(shape("LineString", "[[1,2],[3,4,5],[6,7]]")),
			col("linestring xyz: LINESTRING Z (1 2 nan, 3 4 5, 6 7 nan)"),
		},
		{"2D and 3D in one column", geom(shape("Point", "[1,2]"), shape("Point", "[3,4,5]"), "null",
			shape("Point", "[]")), col("point xyz: POINT (1 2) | POINT Z (3 4 5) | null | POINT EMPTY")},
		{"unknown type, coordinates first", geom(`{"coordinates":[1,2],"type":¦"Punkt"}`), `"Punkt"`},
		{"no type", geom(`{"coordinates":[1,2]¦}`), `"type"`},
		{"no coordinates", geom(`{"type":"Point"¦}`), `"coordinates"`},
		{"coordinates null", geom(shape("Point", "¦null")), "geometry"},
		{"coordinates object", geom(shape("Point", "¦{}")), "geometry"},
		{"nested too deep", geom(shape("Point", "[¦[1,2]]")), "geometry"},
		{"nested not deep enough", geom(shape("Polygon", "[[¦1,2],[3,4]]")), "geometry"},
		{"line as a point", geom(shape("LineString", "[¦1,2]")), "geometry"},
		{"nested unevenly", geom(shape("MultiLineString", "[[[1,2]],[¦1,2]]")), "geometry"},
		{"geometry is no object", fc(f("¦[1,2]", "{}")), "a geometry object"},
		{"geometry is false", fc(f("¦false", "{}")), "a geometry object"},
		{"Feature as a geometry", geom(`{"type":¦"Feature","geometry":null,"properties":null}`), "geometry"},
		{"foreign member of a geometry", geom(`{"type":"Point","coordinates":[1,2],"x":1}`,
			`{"x":[],"type":"Point","coordinates":[1,2]}`), col("point xy: POINT (1 2) | POINT (1 2)") +
			"\nforeign: \"x\" 2"},
		{
			"collection among points, foreign",
			geom(`{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2],"x":1}]}`),
			col("wkb xy: GEOMETRYCOLLECTION (POINT (1 2))") + "\nforeign: \"x\" 1",
		},
		{"wrong nesting before bad JSON, type last", geom(shape("Point", "[1,2]"),
			`{"coordinates":[¦[1,2]],"type":"Point","x":}`), "an ordinate"},
		{"wrong nesting for the kind before, and bad JSON", geom(shape("Point", "[1,2]"),
			`{"coordinates":[[1,2]],"type":"LineString","x":¦}`), "a value"},
		{"wrong nesting before bad JSON, kind not known before", geom(shape("Point", "[1,2]"),
			`{"coordinates":[¦1,2],"type":"LineString","x":}`), "a position"},
		{"wrong nesting before bad JSON", geom(`{"type":"Point","coordinates":[¦"1",2],"x":}`), "an ordinate"},
	})
}

// TestBoundsOfZeros has zeros of both signs: the bounding box does not say which came first.
func TestBoundsOfZeros(t *testing.T) {
	check(t, plain, []textCase{
		{
			"0 first", geom(shape("Point", "[0,0]"), shape("Point", "[-0,-0]")),
			"geometry: geoarrow.point xy: POINT (0 0) | POINT (-0 -0)",
		},
		{
			"-0 first", geom(shape("Point", "[-0,-0]"), shape("Point", "[0,0]")),
			"geometry: geoarrow.point xy: POINT (-0 -0) | POINT (0 0)",
		},
	})
	for _, rows := range []int{0, 1} {
		table := read(t, geom(shape("Point", "[0,0]"), shape("Point", "[-0,-0]")), readers.Limits{BatchRows: rows})
		if got := fmt.Sprint(*table.BBox); got != "[0 0 0 0]" {
			t.Errorf("batches of %d rows: got %s", rows, got)
		}
	}
}
