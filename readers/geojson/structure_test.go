package geojson_test

import (
	"strings"
	"testing"
)

const point12 = "geometry: geoarrow.point xy: POINT (1 2)"

// TestStructure has the rows J of the list of traps, but for those of size.
func TestStructure(t *testing.T) {
	p12 := shape("Point", "[1,2]")
	p34 := shape("Point", "[3,4]")
	check(t, plain, []textCase{
		{
			"J1 blank before colon", `{"type" : "FeatureCollection", "features" : [{"type" : "Feature","geometry" : {"type" : "Point","coordinates" : [1,2]},"properties" : {"a" : 1}}]}`,
			"a: int32: 1\n" + point12,
		},
		{
			"J1 blank before one colon of two features",
			fc(f(p12, "{}"), `{"type":"Feature","geometry" : {"type" : "Point","coordinates":[3,4]},"properties":{}}`),
			"geometry: geoarrow.point xy: POINT (1 2) | POINT (3 4)",
		},
		{
			"J2 links before features", `{"type":"FeatureCollection","links":[{"rel":"self"},{"rel":"n","type":"Feature","features":[1]}],"features":[` + f(p12, "{}") + `]}`,
			point12 + "\nforeign: \"links\" 1",
		},
		{
			"J3 properties that look like a geometry", fc(f(p12, `{"type":"Point","coordinates":[9,9]}`)),
			"type: string: \"Point\"\ncoordinates: list<int32>: [9 9]\n" + point12,
		},
		{"J4 property type", fc(f(p12, `{"type":"shop"}`)), "type: string: \"shop\"\n" + point12},
		{"J5 property coordinates", fc(f(p12, `{"coordinates":[9,9]}`)), "coordinates: list<int32>: [9 9]\n" + point12},
		{"J6 foreign member with a type", fc(`{"type":"Feature","meta":{"type":"x"},"geometry":` + p12 +
			`,"properties":{}}`), point12 + "\nforeign: \"meta\" 1"},
		{
			"J7 property geometry before the geometry",
			fc(`{"type":"Feature","properties":{"geometry":{"type":"Point","coordinates":[9,9]}},"geometry":` +
				p12 + `}`),
			"geometry_1: string json: '{\"type\":\"Point\",\"coordinates\":[9,9]}'\n" + point12,
		},
		{"J8 coordinates twice", geom(`{"type":"Point","coordinates":[3,4],"coordinates":[1,2]}`), point12},
		{
			"J9 escaped key", `{"t\u0079pe":"FeatureCollection","f\u0065atures":[{"\u0074ype":"F\u0065ature","geom\u0065try":{"typ\u0065":"P\u006fint","coordin\u0061tes":[1,2]},"properti\u0065s":{"\u0061":1},"\u0069d":7}]}`,
			"id: int64: 7\na: int32: 1\n" + point12,
		},
		{"J10 coordinates before type", geom(`{"coordinates":[1,2],"type":"Point"}`), point12},
		{
			"J10 coordinates before type, line after point",
			geom(p34, `{"coordinates":[[1,2],[3,4]],"type":"LineString"}`),
			"geometry: geoarrow.wkb xy: POINT (3 4) | LINESTRING (1 2, 3 4)",
		},
		{"J10 newline and tab after colon", geom("{\"type\":\n\"Point\",\"coordinates\":\t[1,2]}"), point12},
		{"J10 tabs in arrays", geom("{\"type\":\"Point\",\"coordinates\":[\t1\t,\t2\t]}"), point12},
		{"J10 bbox in geometry", geom(`{"type":"Point","bbox":[1,2,1,2],"coordinates":[1,2]}`), point12},
		{"J10 type last", `{"features":[{"properties":{"a":1},"geometry":` + p12 +
			`,"type":"Feature"}],"type":"FeatureCollection"}`, "a: int32: 1\n" + point12},
		{"J11 Polyline", geom(`{"type":¦"Polyline","coordinates":[[1,2]]}`), `found "Polyline"`},
		{"J11 Line", geom(`{"type":¦"Line","coordinates":[[1,2]]}`), "RFC 7946 section 1.4"},
		{"J11 Polyx", geom(`{"type":¦"Polyx","coordinates":[]}`), "geometry"},
		{"J11 point", geom(`{"type":¦"point","coordinates":[1,2]}`), "geometry"},
		{"J11 null", geom(`{"type":¦null,"coordinates":[1,2]}`), "geometry"},
		{"J11 type of Feature", fc(`{"type":¦"feature","geometry":null,"properties":{}}`), `"Feature"`},
		{"J12 Feature", f(p12, `{"a":1}`), "a: int32: 1\n" + point12},
		{"J12 geometry", p12, point12},
		{
			"J12 array of features", "[" + f(p12, `{"a":1}`) + "," + f(p34, "{}") + "]",
			"a: int32: 1 | null\ngeometry: geoarrow.point xy: POINT (1 2) | POINT (3 4)",
		},
		{
			"J12 GeometryCollection", `{"type":"GeometryCollection","geometries":[` + p12 + `]}`,
			"geometry: geoarrow.wkb xy: GEOMETRYCOLLECTION (POINT (1 2))",
		},
		{"J13 wrapped", `{"data":` + fc() + `¦}`, `without "type"`},
		{"J13 array of FeatureCollection", `[{"type":¦"FeatureCollection","features":[]}]`, `"Feature"`},
		{
			"J13 ESRI", `{"displayFieldName":"","features":[{"attributes":{},"geometry":{"x":1,"y":2¦}}]}`,
			`without "type"`,
		},
		{"J14 byte order mark", "\xEF\xBB\xBF" + p12, point12},
		{"J15 UTF-16 with mark", "¦\xFF\xFE{\x00}\x00", "UTF-16"},
		{"J15 UTF-16, big endian with mark", "¦\xFE\xFF\x00{\x00}", "UTF-16"},
		{"J15 UTF-16 without mark", "¦{\x00}\x00", "UTF-16"},
		{"J16 garbage", "¦garbage", "a GeoJSON object"},
		{"J16 empty file", "¦", "the end of the file"},
		{"J16 blank file", " \n¦", "the end of the file"},
		{"J16 empty object", "{¦}", `without "type"`},
		{"J16 empty array", "[¦]", "without a Feature"},
		{"J16 no features", `{"type":"FeatureCollection"¦}`, `"features"`},
		{"J16 features null", `{"type":"FeatureCollection","features":¦null}`, "an array"},
		{"J16 empty collection", fc(), ""},
		{"J16 number", "¦1", "a GeoJSON object"},
		{"J17 cut", `{"type":"FeatureCollection","features":[` + f(p12, "{}") +
			`,{"type":"Feature","geometry":{"type":"Point","coordinates":[3,4¦`, "feature 1"},
		{
			"J17 cut between features", `{"type":"FeatureCollection","features":[` + f(p12, "{}") + "¦",
			"the end of the file",
		},
		{
			"J17 cut in a string", `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":"b¦`,
			"the end of the file",
		},
		{
			"J17 cut in an escape", `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":"b\u00¦`,
			"the end of the file",
		},
		{"J17 cut in a character", `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":"` +
			"\xC3¦", "the end of the file"},
		{
			"J17 cut in a literal", `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":nul¦`,
			"the end of the file",
		},
		{"J18 brace for bracket", geom(`{"type":"Point","coordinates":[1,2¦}`), `"]"`},
		{"J18 bracket for brace", fc(f("null", `{"a":1¦]`)), `"}"`},
		{"J18 no bracket of features", `{"type":"FeatureCollection","features":[` + f(p12, "{}") + "¦}", `"]"`},
		{"J18 extra brace", fc(f(p12, "{}")) + "¦}", "after"},
		{"J18 extra brace of the feature", fc(f(p12, "{}") + "¦}"), `"]"`},
		{"J18 mismatch in JSON text", values(`{"b":[1¦}}`), `"]"`},
		{"J18 feature in a feature", fc(f(p12, "{}"), `{"type":"Feature"¦{"type":"Feature","geometry":`+
			p12+`,"properties":{}}`), `","`},
		{"J18 feature after an id", fc(f(p12, "{}"), `{"id":1¦{"type":"Feature","geometry":`+p12+
			`,"properties":{}}`), `","`},
		{
			"J19 unterminated string", fc(f(p12, `{"a":"x}`), `{"¦type":"Feature","geometry":null,"properties":{}}`),
			"feature 0",
		},
		{"J20 escaped quotes", values(`"\"coordinates\":[9,9]"`), `a: string: '"coordinates":[9,9]'`},
		{"J20 brackets", values(`"]}{["`), `a: string: "]}{["`},
		{"J20 backslash", values(`"c:\\"`), `a: string: "c:\\"`},
		{"J24 raw tab", values("\"a¦\tb\""), "control character"},
		{"J24 raw newline in a key", props("{\"a¦\nb\":1}"), "control character"},
		{"J24 raw NUL", values("\"a¦\x00b\""), "control character"},
		{"J24 NUL between values", values("1¦\x00"), ""},
		{"J24 DEL is no control character", values("\"\x7f\""), `a: string: "\x7f"`},
		{"J24 invalid UTF-8", values("\"a¦\xFFb\""), "UTF-8"},
		{"J24 cut UTF-8", values("\"a¦\xE2\x82\""), "UTF-8"},
		{"J24 overlong UTF-8", values("\"a¦\xC0\x80\""), "UTF-8"},
		{"J24 surrogate in UTF-8", values("\"a¦\xED\xA0\x80\""), "UTF-8"},
		{"J24 beyond Unicode", values("\"a¦\xF4\x90\x80\x80\""), "UTF-8"},
		{"J24 invalid UTF-8 in a key", props("{\"a¦\xFF\":1}"), "UTF-8"},
		{"J24 invalid UTF-8 after an escape", values("\"\\n¦\xFF\""), "UTF-8"},
		{"J24 invalid UTF-8 before a bad escape", values("\"¦\xFF\\x\""), "UTF-8"},
		{"J24 invalid UTF-8 in JSON text", values("{\"b\":\"¦\xFF\"}"), "UTF-8"},
		{"J24 invalid UTF-8 in a foreign member", `{"type":"FeatureCollection","x":"` + "¦\xFF" +
			`","features":[]}`, "UTF-8"},
		{
			"J24 lone surrogates", values(`"a\ud800b\udc00\ud800\ud800"`, `"\uD83D\uDE00"`),
			"a: string: \"a\ufffdb\ufffd\ufffd\ufffd\" | \"😀\"\nreplaced characters: 4",
		},
		{"J24 escapes", values(`"\"\\\/\b\f\n\r\t\u0041\u0000é"`), `a: string: "\"\\/\b\f\n\r\tA\x00é"`},
		{"J24 unknown escape", values(`"\¦x"`), "after a backslash"},
		{"J24 escape of three digits", values(`"\u12¦"`), "hexadecimal"},
		{"J27 CRLF", strings.ReplaceAll("{\r\"type\":\r\"FeatureCollection\",\r\"features\":[\r"+
			f(p12, "{\r\"a\":1\r}")+"\r]\r}\r", "\r", "\r\n"), "a: int32: 1\n" + point12},
		{"J27 line separator", values("\"a\u2028b\\u2028\""), `a: string: "a\u2028b\u2028"`},
		{
			"J28 crs of 2008", `{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::3857"}},"features":[` + f(p12, "{}") + `]}`,
			point12 + "\ncrs: EPSG:3857",
		},
	})
}

// TestJSON has the strictness of RFC 8259.
func TestJSON(t *testing.T) {
	check(t, plain, []textCase{
		{"trailing comma of properties", props(`{"a":1,¦}`), "a key"},
		{"trailing comma of features", fc(f("null", "{}"), "¦"), "a Feature"},
		{"trailing comma of a position", geom(shape("Point", "[1,2,¦]")), "geometry"},
		{"trailing comma of positions", geom(shape("LineString", "[[1,2],¦]")), "geometry"},
		{"trailing comma of a list", values("[1,¦]"), "a value"},
		{"trailing comma of the Feature", fc(`{"type":"Feature","geometry":null,¦}`), "a key"},
		{"trailing comma of the geometry", geom(`{"type":"Point","coordinates":[1,2],¦}`), "a key"},
		{"trailing comma of the root", `{"type":"FeatureCollection","features":[],¦}`, "a key"},
		{"leading comma", props(`{¦,"a":1}`), "a key"},
		{"two commas", props(`{"a":1,¦,"b":1}`), "a key"},
		{"no comma", props(`{"a":1 ¦"b":1}`), `","`},
		{"comment", fc("¦/* x */" + f("null", "{}")), "a Feature"},
		{"single quotes", props(`{¦'a':1}`), "a key"},
		{"no quotes", props(`{¦a:1}`), "a key"},
		{"no colon", props(`{"a" ¦1}`), `":"`},
		{"literal in capitals", values("¦True"), "a value"},
		{"literal goes on", values("true¦r"), ""},
		{"literal is short", values("tru¦"), "true"},
		{"other blanks", values("¦\f1"), "a value"},
		{"no-break space", values("¦\u00a01"), "a value"},
		{"two roots", fc() + "¦" + fc(), "after"},
		{"trailing bytes", fc() + "\n¦x", "after"},
		{"trailing blanks", fc() + " \t\r\n", ""},
		{"byte order mark inside", fc() + "¦\xEF\xBB\xBF", "after"},
		{"number at the end of a member", props(`{"a":1 ,"b":2 }`), "a: int32: 1\nb: int32: 2"},
		{"key with every escape", props(`{"\"\\\/\b\f\n\r\t\u0041":1}`), "\"\\/\b\f\n\r\tA: int32: 1"},
		{"empty key", props(`{"":1}`), ": int32: 1"},
	})
}
