package geojson_test

import (
	"strings"
	"testing"
)

// TestTypes has the types of values.
func TestTypes(t *testing.T) {
	check(t, plain, []textCase{
		{"integers", values("1", "-2147483648", "2147483647"), "a: int32: 1 | -2147483648 | 2147483647"},
		{"integers, wider", values("1", "2147483648"), "a: int64: 1 | 2147483648"},
		{"integers, wider below", values("-2147483649", "1"), "a: int64: -2147483649 | 1"},
		{
			"integers, range of int64", values("-9223372036854775808", "9223372036854775807"),
			"a: int64: -9223372036854775808 | 9223372036854775807",
		},
		{
			"integers, uint64", values("1", "18446744073709551615", "4294967296"),
			"a: uint64: 1 | 18446744073709551615 | 4294967296",
		},
		{
			"integers, uint64 with negative", values("-1", "18446744073709551615"),
			"a: float64: -1 | 1.8446744073709552e+19\nrounded integers: 1",
		},
		{
			"integers, negative after uint64", values("9223372036854775808", "-1"),
			"a: float64: 9.223372036854776e+18 | -1",
		},
		{
			"integers, beyond int64 below", values("-9223372036854775809", "1"),
			"a: float64: -9.223372036854776e+18 | 1\nrounded integers: 1",
		},
		{"integers, minus zero", values("-0", "18446744073709551615"), "a: uint64: 0 | 18446744073709551615"},
		{
			"integers, beyond 2^53 with float", values("9007199254740993", "0.5", "9007199254740992"),
			"a: float64: 9.007199254740992e+15 | 0.5 | 9.007199254740992e+15\nrounded integers: 1",
		},
		{"1.0", values("1.0"), "a: float64: 1"},
		{"1e3", values("1e3", "1E+3", "1e-3"), "a: float64: 1000 | 1000 | 0.001"},
		{"int with float", values("1", "1.5", "-0"), "a: float64: 1 | 1.5 | 0"},
		{"number beyond float64", values("1", "¦1e400"), "feature 1, a"},
		{"number beyond float64, negative", values("¦-1e400"), "float64"},
		{"number beyond float64, among texts", values(`"x"`, "¦1e400"), "float64"},
		{"number beyond float64, in a list", values("[1,¦1e400]"), "float64"},
		{
			"number beyond float64, inside nested JSON text", values(`{"b":1e400}`, `[[1e400]]`, `[1e400,"a"]`),
			`a: string json: '{"b":1e400}' | "[[1e400]]" | '[1e400,"a"]'`,
		},
		{"number below float64", values("1e-400", "-1e-400"), "a: float64: 0 | -0"},
		{"booleans", values("true", "false", "null"), "a: bool: true | false | null"},
		{"booleans with ints", values("true", "2", "false"), "a: int32: 1 | 2 | 0"},
		{"booleans with floats", values("true", "2.5", "false"), "a: float64: 1 | 2.5 | 0"},
		{"booleans with uint64", values("true", "18446744073709551615"), "a: uint64: 1 | 18446744073709551615"},
		{"all null", values("null", "null"), "a: string: null | null"},
		{"mixed, number and string", values("1.0", `"00501"`, "501"), `a: string mixed: "1.0" | "00501" | "501"`},
		{"mixed, bool and string", values("true", `"true"`, "null"), `a: string mixed: "true" | "true" | null`},
		{"mixed, date and int", values(`"2020-01-01"`, "1"), `a: string mixed: "2020-01-01" | "1"`},
		{
			"mixed, scalar and object", values("1e2", `{"b": [ 1 , "x y" ]}`),
			`a: string mixed: "1e2" | '{"b":[1,"x y"]}'`,
		},
		{"mixed, bool and object", values("{}", "false"), `a: string mixed: "{}" | "false"`},
		{"mixed, string and object", values(`"x"`, `{ }`), `a: string mixed: "x" | "{}"`},
		{"mixed, escapes", values(`"\u0041\"\n"`, "1"), `a: string mixed: "A\"\n" | "1"`},
		{"mixed, int and list of string", values("1", `["x"]`), `a: string mixed: "1" | '["x"]'`},
		{"mixed, list of string and int", values(`[ "x" ]`, "1"), `a: string mixed: '["x"]' | "1"`},
		{"mixed, bool and list of int", values("true", "[1]"), `a: string mixed: "true" | "[1]"`},
		{"mixed, date and [] and int", values(`"2020-01-01"`, "[]", "1"), `a: string mixed: "2020-01-01" | "[]" | "1"`},
		{
			"object", values(`{"b" : 1.50, "c":"\u0041 \n" }`, "null", "{}"),
			`a: string json: "{\"b\":1.50,\"c\":\"\\u0041 \\n\"}" | null | "{}"`,
		},
		{"nested array", values("[[1, 2],[3]]"), `a: string json: "[[1,2],[3]]"`},
		{"mixed array", values(`[1,"a"]`), `a: string json: '[1,"a"]'`},
		{"array of bool and int", values(`[1,true]`), `a: string json: "[1,true]"`},
		{"[] alone", values("[]", "[ ]", "null"), `a: string json: "[]" | "[]" | null`},
		{"list of ints", values("[1,2]", "[]", "null", "[ 3 ]"), "a: list<int32>: [1 2] | [] | null | [3]"},
		{"list of wide ints", values("[1,2]", "[2147483648]"), "a: list<int64>: [1 2] | [2147483648]"},
		{
			"list of uint64", values("[1,2]", "[18446744073709551615]"),
			"a: list<uint64>: [1 2] | [18446744073709551615]",
		},
		{
			"list beyond uint64", values("[-1,2]", "[18446744073709551615]"),
			"a: list<float64>: [-1 2] | [1.8446744073709552e+19]\nrounded integers: 1",
		},
		{"list of int with float", values("[1,2.5]", "[3]"), "a: list<float64>: [1 2.5] | [3]"},
		{
			"list of ints, then of floats", values("[9007199254740993]", "[0.5]"),
			"a: list<float64>: [9.007199254740992e+15] | [0.5]\nrounded integers: 1",
		},
		{"list of bools", values("[true,false]", "[]"), "a: list<bool>: [true false] | []"},
		{
			"list of strings", values(`["a","\u0062","2020-01-01"]`, `[""]`),
			`a: list<string>: ["a" "b" "2020-01-01"] | [""]`,
		},
		{"[] first, then list", values("[]", "null", `["a"]`), `a: list<string>: [] | null | ["a"]`},
		{"[] first, then list of bools", values("[]", "", `[true]`), `a: list<bool>: [] | null | [true]`},
		{"null in a list", values("[1,null]", "[2]"), `a: string json: "[1,null]" | "[2]"`},
		{"lists of different kinds", values("[1]", `["a"]`, "[true]"), `a: string json: "[1]" | '["a"]' | "[true]"`},
		{"list and object", values("[ 1 ]", `{}`), `a: string json: "[1]" | "{}"`},
		{"scalar with list", values("1", "[2,3]", "null"), "a: list<int32>: [1] | [2 3] | null"},
		{"scalar with list, list first", values("[2,3]", "", "1.5"), "a: list<float64>: [2 3] | null | [1.5]"},
		{"scalar with list of strings", values(`"x"`, `["y"]`), `a: list<string>: ["x"] | ["y"]`},
		{"scalar with list of bools", values(`[true]`, "null", `false`), `a: list<bool>: [true] | null | [false]`},
		{
			"scalar bools with list of bools", values("true", "null", `false`, `[true]`),
			`a: list<bool>: [true] | null | [false] | [true]`,
		},
		{"scalar with []", values("1", "[]"), "a: list<int32>: [1] | []"},
		{"[] with scalar", values("[]", `"x"`), `a: list<string>: [] | ["x"]`},
		{
			"date with list of strings", values(`"2020-01-01"`, "null", `["y"]`),
			`a: list<string>: ["2020-01-01"] | null | ["y"]`,
		},
		{"missing member", props(`{"b":1}`, `{"a":2}`, `{}`), "b: int32: 1 | null | null\na: int32: null | 2 | null"},
		{"NUL in a string", values(`"a\u0000b"`), `a: string: "a\x00b"`},
		{
			"foreign members", `{"type":"FeatureCollection","name":"x","features":[{"type":"Feature","title":1,"geometry":null,"properties":{},"bbox":[1,2,3,4]},{"type":"Feature","title":2,"geometry":null,"properties":{}}],"name":"y","bbox":[]}`,
			"foreign: \"name\" 2, \"title\" 2",
		},
	})
}

// TestTimes is about dates and times.
func TestTimes(t *testing.T) {
	texts := func(texts ...string) string {
		for i, s := range texts {
			if s != "null" {
				texts[i] = `"` + s + `"`
			}
		}
		return values(texts...)
	}
	check(t, plain, []textCase{
		{"date", texts("2020-02-29", "null", "1969-12-31"), "a: date32: 2020-02-29 | null | 1969-12-31"},
		{"date with slashes", texts("2020/02/29", "2020-03-01"), "a: date32: 2020-02-29 | 2020-03-01"},
		{"date, impossible", texts("2020-02-30", "2020-03-01"), `a: string: "2020-02-30" | "2020-03-01"`},
		{"date, month of one digit", texts("2020-2-03"), `a: string: "2020-2-03"`},
		{"date with escapes", texts(`2020\u002d02-29`), "a: date32: 2020-02-29"},
		{
			"naive", texts("2020-02-29T12:34:56", "2020-02-29 12:34"),
			"a: timestamp[ms]: 2020-02-29T12:34:56 | 2020-02-29T12:34:00",
		},
		{
			"3 digits", texts("2020-02-29T12:34:56.7", "2020-02-29T12:34:56.789"),
			"a: timestamp[ms]: 2020-02-29T12:34:56.7 | 2020-02-29T12:34:56.789",
		},
		{
			"4 digits", texts("2020-02-29T12:34:56.7891", "2020-02-29T12:34:56"),
			"a: timestamp[us]: 2020-02-29T12:34:56.7891 | 2020-02-29T12:34:56",
		},
		{"9 digits", texts("2020-02-29T12:34:56.123456789"), "a: timestamp[ns]: 2020-02-29T12:34:56.123456789"},
		{"10 digits", texts("2020-02-29T12:34:56.1234567890"), `a: string: "2020-02-29T12:34:56.1234567890"`},
		{
			"outside of the unit's range", texts("1600-01-01T00:00:00.123456789"),
			`a: string: "1600-01-01T00:00:00.123456789"`,
		},
		{"before 1970", texts("1969-12-31T23:59:59.5"), "a: timestamp[ms]: 1969-12-31T23:59:59.5"},
		{
			"all Z", texts("2020-02-29T12:34:56Z", "2020-02-29T12:34Z"),
			"a: timestamp[ms, tz=UTC]: 2020-02-29T12:34:56 | 2020-02-29T12:34:00",
		},
		{
			"one offset", texts("2020-02-29T12:34:56+02:00", "2020-02-29T12:34:56+0200"),
			"a: timestamp[ms, tz=+02:00]: 2020-02-29T10:34:56 | 2020-02-29T10:34:56",
		},
		{"one offset below", texts("2020-02-29T12:34:56-03:30"), "a: timestamp[ms, tz=-03:30]: 2020-02-29T16:04:56"},
		{
			"several offsets", texts("2020-02-29T12:34:56+02:00", "2020-02-29T12:34:56Z"),
			"a: timestamp[ms, tz=UTC]: 2020-02-29T10:34:56 | 2020-02-29T12:34:56",
		},
		{
			"zoned with naive", texts("2020-02-29T12:34:56Z", "2020-02-29T12:34:56"),
			`a: string: "2020-02-29T12:34:56Z" | "2020-02-29T12:34:56"`,
		},
		{
			"zoned with date", texts("2020-02-29T12:34:56Z", "2020-02-29"),
			`a: string: "2020-02-29T12:34:56Z" | "2020-02-29"`,
		},
		{"time", texts("12:34", "12:34:56.789"), "a: time32[ms]: 12:34:00 | 12:34:56.789"},
		{"time, finer", texts("12:34:56.7891", "01:02"), "a: time64[us]: 12:34:56.7891 | 01:02:00"},
		{"time, ns", texts("12:34:56.123456789"), "a: time64[ns]: 12:34:56.123456789"},
		{"time, 24:00", texts("24:00"), `a: string: "24:00"`},
		{"time with date", texts("12:34", "2020-02-29"), `a: string: "12:34" | "2020-02-29"`},
		{
			"date with naive", texts("2020-02-29", "2020-02-29T01:02:03.4"),
			"a: timestamp[ms]: 2020-02-29T00:00:00 | 2020-02-29T01:02:03.4",
		},
		{"date with other text", texts("2020-02-29", "x"), `a: string: "2020-02-29" | "x"`},
		{"date with empty text", texts("2020-02-29", ""), `a: string: "2020-02-29" | ""`},
		{"date with blanks", texts(" 2020-02-29"), `a: string: " 2020-02-29"`},
		{"leap second", texts("2016-12-31T23:59:60Z"), `a: string: "2016-12-31T23:59:60Z"`},
	})
}

// TestID is about the id member and about names.
func TestID(t *testing.T) {
	ids := func(texts ...string) string {
		var features []string
		for _, id := range texts {
			if id != "" {
				id = `"id":` + id + ","
			}
			features = append(features, `{"type":"Feature",`+id+`"properties":{"a":1},"geometry":null}`)
		}
		return fc(features...)
	}
	ones := func(n int) string { return "\na: int32: " + strings.TrimSuffix(strings.Repeat("1 | ", n), " | ") }
	check(t, plain, []textCase{
		{"integers", ids("1", "-2", ""), "id: int64: 1 | -2 | null" + ones(3)},
		{"uint64", ids("1", "18446744073709551615"), "id: uint64: 1 | 18446744073709551615" + ones(2)},
		{"uint64 and negative", ids("-1", "18446744073709551615"), `id: string: "-1" | "18446744073709551615"` +
			ones(2)},
		{"beyond uint64", ids("18446744073709551616"), `id: string: "18446744073709551616"` + ones(1)},
		{"float as written", ids("1", "1.50"), `id: string: "1" | "1.50"` + ones(2)},
		{"texts", ids(`"a"`, `"\u0062"`), `id: string: "a" | "b"` + ones(2)},
		{"dates stay text", ids(`"2020-01-01"`), `id: string: "2020-01-01"` + ones(1)},
		{"text and integer", ids("7", `"a"`, "null"), `id: string: "7" | "a" | null` + ones(3)},
		{"null counts as absent", ids("null", "5"), "id: int64: null | 5" + ones(2)},
		{"only null", ids("null", "null"), "a: int32: 1 | 1"},
		{"boolean", ids("1", "¦true"), "id"},
		{"object", ids("¦{}"), "id"},
		{"array", ids("¦[1]"), "id"},
		{"first column, whenever it comes", ids("", "5"), "id: int64: null | 5" + ones(2)},
		{"property id alone", props(`{"id":5}`), "id: int32: 5"},
		{
			"property id and member", fc(`{"type":"Feature","id":1,"geometry":null,"properties":{"id":5}}`),
			"feature_id: int64: 1\nid: int32: 5",
		},
		{"property feature_id too", fc(`{"type":"Feature","id":1,"geometry":null,"properties":{"id":5,"feature_id":6}}`), "feature_id_1: int64: 1\nid: int32: 5\nfeature_id: int32: 6"},
		{"property feature_id_1 too", fc(`{"type":"Feature","id":1,"geometry":null,"properties":{"id":5,"feature_id":6,"feature_id_1":7}}`), "feature_id_2: int64: 1\nid: int32: 5\nfeature_id: int32: 6\nfeature_id_1: int32: 7"},
		{
			"property feature_id, no property id",
			fc(`{"type":"Feature","id":1,"geometry":null,"properties":{"feature_id":6}}`),
			"id: int64: 1\nfeature_id: int32: 6",
		},
		{"property geometry", props(`{"geometry":5}`), "geometry_1: int32: 5"},
		{
			"property geometry_1 too", props(`{"geometry":5,"geometry_1":6}`),
			"geometry_2: int32: 5\ngeometry_1: int32: 6",
		},
		{
			"property geometry_1 in another feature", props(`{"geometry":5}`, `{"geometry_1":6}`),
			"geometry_2: int32: 5 | null\ngeometry_1: int32: null | 6",
		},
	})
}

// TestFeature is about the members of a Feature, and about the root.
func TestFeature(t *testing.T) {
	check(t, plain, []textCase{
		{"no geometry", fc(`{"type":"Feature","properties":{"a":1}}`), "a: int32: 1"},
		{"no properties", fc(`{"type":"Feature","geometry":null}`, f("null", `{"a":1}`)), "a: int32: null | 1"},
		{"null properties", props("null", `{"a":1}`), "a: int32: null | 1"},
		{"properties of another type", props("¦[]"), "properties"},
		{"properties a text", props(`{"a":1}`, `¦"a"`), "feature 1, properties"},
		{"no Feature but a geometry", fc("{\"type\":¦\"Point\",\"coordinates\":[1,2]}"), `"Feature"`},
		{"no Feature but null", fc(f("null", "{}"), "¦null"), "a Feature object"},
		{"no Feature but a number", fc("¦1"), "a Feature object"},
		{"no type", fc(`{"geometry":null,"properties":{}¦}`), `without "type"`},
		{"only a type", fc(`{"type":"Feature"}`), ""},
		{"array of no Features", "[¦1]", "a Feature object"},
		{"wrong type before a wrong geometry", fc(`{"type":¦"Feat","geometry":5}`), `"Feature"`},
		{"wrong type of the collection before a wrong feature", `{"type":¦"Features","features":[5]}`, ""},
		{"wrong type of the collection", `{"type":¦"Features","features":[]}`, "the type of a GeoJSON object"},
		{"features before the wrong type", `{"features":[],"type":¦"Features"}`, "the type of a GeoJSON object"},
		{"Feature with features", `{"features":[` + f("null", "{}") + `],"type":¦"Feature"}`, "features"},
		{"crs, name", crs(`{"type":"name","properties":{"name":"EPSG:25832"}}`), "crs: EPSG:25832"},
		{"crs, urn", crs(`{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::25832"}}`), "crs: EPSG:25832"},
		{"crs, CRS84", crs(`{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}}`), ""},
		{"crs, EPSG code", crs(`{"type":"EPSG","properties":{"code":3857}}`), "crs: EPSG:3857"},
		{"crs, EPSG code as a text", crs(`{"type":"EPSG","properties":{"code":"3857"}}`), "crs: EPSG:3857"},
		{"crs null", crs("null"), "crs: none"},
		{"crs after the features", `{"type":"FeatureCollection","features":[],"crs":{"type":"name","properties":{"name":"EPSG:25832"}}}`, "crs: EPSG:25832"},
		{"crs twice", `{"type":"FeatureCollection","crs":null,"features":[],"crs":{"type":"name","properties":{"name":"EPSG:25832"}}}`, "crs: EPSG:25832"},
		{"crs of a Feature at the root", `{"type":"Feature","crs":{"type":"name","properties":{"name":"EPSG:25832"}},"geometry":null,"properties":{"a":1}}`, "a: int32: 1\ncrs: EPSG:25832"},
		{"crs of a geometry at the root", `{"type":"Point","coordinates":[1,2],"crs":{"type":"name","properties":{"name":"EPSG:25832"}}}`, point12 + "\ncrs: EPSG:25832"},
		{
			"crs before the type of a Feature",
			`{"crs":{"type":"name","properties":{"name":"EPSG:25832"}},"type":"Feature","geometry":null,"properties":{"a":1}}`, "a: int32: 1\ncrs: EPSG:25832",
		},
		{
			"crs of a feature in a collection",
			fc(`{"type":"Feature","crs":null,"geometry":null,"properties":{"a":1}}`),
			"a: int32: 1\nforeign: \"crs\" 1",
		},
	})
}

// crs returns a FeatureCollection without features that has a crs member.
func crs(member string) string {
	return `{"type":"FeatureCollection","crs":` + member + `,"features":[]}`
}
