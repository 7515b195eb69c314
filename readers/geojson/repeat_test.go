package geojson_test

import "testing"

// TestRepeated has members given twice: the last one wins, and the others leave no trace.
func TestRepeated(t *testing.T) {
	feature := func(members string) string { return fc(`{"type":"Feature",` + members + `}`) }
	p12, p34 := shape("Point", "[1,2]"), shape("Point", "[3,4]")
	check(t, plain, []textCase{
		{"property", props(`{"a":1,"a":2}`), "a: int32: 2"},
		{"property, escaped", props(`{"a":1,"\u0061":2}`), "a: int32: 2"},
		{"property, three times", props(`{"a":1,"b":0,"a":"x","a":2}`), "a: int32: 2\nb: int32: 0"},
		{
			"property, type of the first leaves no trace", props(`{"a":1}`, `{"a":"x","a":2}`, `{"a":3}`),
			"a: int32: 1 | 2 | 3",
		},
		{"property, type of a list leaves no trace", props(`{"a":1}`, `{"a":[1],"a":2}`), "a: int32: 1 | 2"},
		{"property, type of an object leaves no trace", props(`{"a":{},"a":2}`), "a: int32: 2"},
		{"property, wide int leaves no trace", props(`{"a":99999999999999999999,"a":2}`), "a: int32: 2"},
		{"property, then null", props(`{"a":"x","a":null}`, `{"a":2}`), "a: int32: null | 2"},
		{"property, null first", props(`{"a":null,"a":2}`), "a: int32: 2"},
		{"property, only null left", props(`{"a":1,"a":null}`), "a: string: null"},
		{"property, replaced characters of the first do not count", props(`{"a":"\ud800","a":"x"}`), `a: string: "x"`},
		{"property, first beyond float64", props(`{"a":1e400,"a":2}`), "a: int32: 2"},
		{"property, order is of the first appearance", props(`{"a":1,"b":2,"a":3}`), "a: int32: 3\nb: int32: 2"},
		{"property of a later feature", props(`{"a":1}`, `{"a":1,"a":2}`, `{"a":3,"a":4}`), "a: int32: 1 | 2 | 4"},
		{
			"property, and needs text", props(`{"a":1.0}`, `{"a":2,"a":"x"}`, `{"a":3,"a":4.0}`),
			`a: string mixed: "1.0" | "x" | "4.0"`,
		},
		{"property, broken JSON in the first", props(`{"a":[¦},"a":2}`), ""},
		{"property nested in JSON text", values(`{"b":1,"b":2}`), `a: string json: '{"b":1,"b":2}'`},
		{"properties", feature(`"properties":{"a":1,"b":"x"},"geometry":null,"properties":{"b":2}`), "b: int32: 2"},
		{"properties, then null", feature(`"properties":{"a":1},"geometry":null,"properties":null`), ""},
		{
			"properties, first of another type", feature(`"properties":[],"geometry":null,"properties":{"a":1}`),
			"a: int32: 1",
		},
		{"properties, last of another type", feature(`"properties":{},"geometry":null,"properties":¦[]`), "properties"},
		{"properties, each with repeats", feature(
			`"properties":{"a":1,"a":2},"geometry":null,"properties":{"a":3,"a":4}`,
		), "a: int32: 4"},
		{"geometry", feature(`"geometry":` + p34 + `,"properties":{},"geometry":` + p12), point12},
		{"geometry, kind and z of the first leave no trace", feature(`"geometry":` + shape("LineString", "[[1,2,3]]") +
			`,"geometry":` + p12), point12},
		{"geometry, then null", feature(`"geometry":` + p34 + `,"geometry":null,"properties":{"a":1}`), "a: int32: 1"},
		{"geometry, null first", feature(`"geometry":null,"geometry":` + p12), point12},
		{"geometry, counts of the first do not count", feature(`"geometry":` + shape("Point", "[1,2,3,4]") +
			`,"geometry":` + p12), point12},
		{
			"geometry, foreign members of the first do not count",
			feature(`"geometry":{"type":"Point","coordinates":[1,2],"x":1},"geometry":` + p12), point12,
		},
		{
			"geometry, first malformed", feature(`"geometry":` + shape("Point", `["1",2]`) + `,"geometry":` + p12),
			point12,
		},
		{"geometry, first of unknown type", feature(`"geometry":{"type":"Punkt"},"geometry":` + p12), point12},
		{
			"geometry, last malformed", feature(`"geometry":` + p12 + `,"geometry":` + shape("Point", `[¦"1",2]`)),
			"geometry",
		},
		{"id", feature(`"id":"x","geometry":null,"id":7`), "id: int64: 7"},
		{"id, then null", feature(`"id":"x","geometry":null,"properties":{"a":1},"id":null`), "a: int32: 1"},
		{"id, first of a wrong type", feature(`"id":true,"geometry":null,"id":7`), "id: int64: 7"},
		{
			"type of a Feature", fc(`{"type":"Point","geometry":null,"properties":{"a":1},"type":"Feature"}`),
			"a: int32: 1",
		},
		{
			"type of a Feature, last wrong",
			fc(`{"type":"Feature","geometry":null,"properties":{"a":1},"type":¦"Point"}`),
			`"Feature"`,
		},
		{
			"type of a Feature, last wrong in the second",
			fc(f(p12, "{}"), `{"type":"Feature","geometry":null,"properties":{},"type":¦"Point"}`), `"Feature"`,
		},
		{"type of the collection", `{"type":"Features","features":[` + f(p12, "{}") +
			`],"type":"FeatureCollection"}`, point12},
		{"type of a geometry", geom(`{"type":"LineString","coordinates":[1,2],"type":"Point"}`), point12},
		{
			"type of a geometry, same coordinates",
			geom(`{"type":"LineString","coordinates":[[1,2],[3,4]],"type":"MultiPoint"}`),
			"geometry: geoarrow.multipoint xy: MULTIPOINT ((1 2), (3 4))",
		},
		{
			"type of a geometry, counts", geom(`{"type":"LineString","coordinates":[[1,2,3,4]],"type":"MultiPoint"}`),
			"geometry: geoarrow.multipoint xyz: MULTIPOINT Z ((1 2 3))\nignored ordinates: 1",
		},
		{"type of a geometry, last unknown", geom(`{"type":"Point","coordinates":[1,2],"type":¦"Punkt"}`), "geometry"},
		{"coordinates", geom(`{"type":"Point","coordinates":[3,4,5,6],"coordinates":[1,2]}`), point12},
		{"coordinates, first malformed", geom(`{"type":"Point","coordinates":[[3,"4"]],"coordinates":[1,2]}`), point12},
		{
			"coordinates, last malformed", geom(`{"type":"Point","coordinates":[1,2],"coordinates":[1,¦"2"]}`),
			"geometry",
		},
		{"coordinates, last null", geom(`{"type":"Point","coordinates":[1,2],"coordinates":¦null}`), "geometry"},
		{
			"geometries", geom(`{"type":"GeometryCollection","geometries":[` + p34 + `],"geometries":[` + p12 + `]}`),
			"geometry: geoarrow.wkb xy: GEOMETRYCOLLECTION (POINT (1 2))",
		},
		{
			"geometries, foreign members of the first do not count",
			geom(`{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[3,4],"x":1}],"geometries":[` + p12 + `]}`),
			"geometry: geoarrow.wkb xy: GEOMETRYCOLLECTION (POINT (1 2))",
		},
		{"geometries, first malformed", geom(`{"type":"GeometryCollection","geometries":[1],"geometries":[` +
			p12 + `]}`), "geometry: geoarrow.wkb xy: GEOMETRYCOLLECTION (POINT (1 2))"},
		{"collection and coordinates", geom(`{"type":"GeometryCollection","geometries":[` + p34 +
			`],"coordinates":[1,2],"type":"Point"}`), point12},
		{"features", `{"type":"FeatureCollection","features":[],"features":¦[]}`, "second features"},
	})
	check(t, lines, []textCase{
		{
			"type in a sequence", `{"type":"Feature","geometry":null,"properties":{"a":1}}` + "\n" +
				`{"type":"Feature","geometry":null,"properties":{"a":2},"type":"Point","coordinates":[1,2]}`,
			"a: int32: 1 | null\ngeometry: geoarrow.point xy: null | POINT (1 2)\nforeign: \"geometry\" 1," +
				" \"properties\" 1",
		},
		{
			"type in a sequence, first line",
			`{"type":"Feature","geometry":null,"properties":{"a":2},"type":"Point","coordinates":[1,2]}`,
			point12 + "\nforeign: \"geometry\" 1, \"properties\" 1",
		},
	})
}
