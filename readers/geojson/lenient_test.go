package geojson_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// modes are how the cases of malformed rows are read.
var (
	nulling   = readCase{file: "a.geojson", options: map[string]any{"on_error": "null"}}
	repairing = readCase{file: "a.geojson", options: map[string]any{"on_error": "repair"}}
	nullLines = readCase{file: "a.geojsonl", options: map[string]any{"on_error": "null"}}
)

// passedCase is a text whose deviations are at the marks ¦, with the columns that it becomes and
// what each deviation says but for its byte.
type passedCase struct {
	name, input, columns string
	deviations           []string
}

func checkPassed(t *testing.T, how readCase, cases []passedCase) {
	t.Helper()
	var all []textCase
	for _, c := range cases {
		var places []int
		text := c.input
		for at := strings.Index(text, "¦"); at >= 0; at = strings.Index(text, "¦") {
			places = append(places, at)
			text = text[:at] + text[at+len("¦"):]
		}
		count, order := map[string]int{}, []string{}
		var lines []string
		if c.columns != "" {
			lines = append(lines, c.columns)
		}
		var each []string
		for i, d := range c.deviations {
			rule := strings.Fields(d[strings.Index(d, `":`)+2:])[0]
			if count[rule]++; count[rule] == 1 {
				order = append(order, rule)
			}
			each = append(each, "deviation: byte "+strconv.Itoa(places[i])+", row "+d)
		}
		slices.Sort(order)
		for _, rule := range order {
			lines = append(lines, "deviations: "+strings.TrimSuffix(rule, ":")+" "+strconv.Itoa(count[rule]))
		}
		all = append(all, textCase{c.name, text, strings.Join(append(lines, each...), "\n")})
	}
	check(t, how, all)
}

func TestNullErrors(t *testing.T) {
	isNull := `"a": bad-value: value is null`
	checkPassed(t, nulling, []passedCase{
		{"NaN", values("1", "¦NaN"), "a: int32: 1 | null", []string{"1, " + isNull}},
		{"Infinity", values("-¦Infinity", `"x"`), `a: string: null | "x"`, []string{"0, " + isNull}},
		{"beyond float64", values("1.5", "¦1e400"), "a: float64: 1.5 | null", []string{"1, " + isNull}},
		{"a control character", values("\"a¦\tb\""), "a: string: null", []string{"0, " + isNull}},
		{"no UTF-8", values("\"a¦\xff\"", `"b"`), `a: string: null | "b"`, []string{"0, " + isNull}},
		{"a bad escape", values(`"a\¦x"`), "a: string: null", []string{"0, " + isNull}},
		{"in a list", values("[1,2]", "[1,¦NaN]"), "a: list<int32>: [1 2] | null", []string{"1, " + isNull}},
		{"in an object", values(`{"b":[n¦an]}`), "a: string: null", []string{"0, " + isNull}},
		{"a word", values("¦undefined", "true"), "a: bool: null | true", []string{"0, " + isNull}},
		{
			"two in a row", props(`{"a":¦NaN,"b":1,"c":-¦}`), "a: string: null\nb: int32: 1\nc: string: null",
			[]string{"0, " + isNull, `0, "c": bad-value: value is null`},
		},
		{
			"the last of a name counts", props(`{"a":¦NaN,"a":2}`), "a: int32: 2",
			[]string{`0, "": bad-member: left out`},
		},
		{
			"an id", fc(`{"type":"Feature","id":¦true,"geometry":null,"properties":{"a":1}}`), "a: int32: 1",
			[]string{`0, "id": bad-value: value is null`},
		},
		{
			"properties that are none", fc(f(shape("Point", "[1,2]"), "¦[1]")), point12,
			[]string{`0, "properties": bad-properties: properties are null`},
		},
		{
			"a kind of no geometry", fc(f(`{"type":¦"Polyline","coordinates":[[1,2]]}`, `{"a":1}`),
				f(shape("Point", "[1,2]"), "{}")),
			"a: int32: 1 | null\ngeometry: geoarrow.point xy: null | POINT (1 2)",
			[]string{`0, "geometry": bad-geometry: geometry is null`},
		},
		{
			"nesting", geom(shape("Point", "[1,2]"), shape("LineString", "[¦1,2]")),
			"geometry: geoarrow.point xy: POINT (1 2) | null",
			[]string{`1, "geometry": bad-geometry: geometry is null`},
		},
		{
			"one ordinate", geom(shape("Point", "[1,2]"), shape("Point", "[1¦]")),
			"geometry: geoarrow.point xy: POINT (1 2) | null",
			[]string{`1, "geometry": bad-geometry: geometry is null`},
		},
		{
			"NaN in coordinates", geom(shape("Point", "[1,2]"), shape("Point", "[¦NaN,2]")),
			"geometry: geoarrow.point xy: POINT (1 2) | null",
			[]string{`1, "geometry": bad-geometry: geometry is null`},
		},
		{
			"a member of a collection", geom(shape("Point", "[1,2]"), `{"type":"GeometryCollection","geometries":[`+
				shape("Point", "[1,2]")+`,¦null]}`), "geometry: geoarrow.point xy: POINT (1 2) | null",
			[]string{`1, "geometry": bad-geometry: geometry is null`},
		},
		{"no geometry object", geom(`¦"POINT (1 2)"`), "", []string{`0, "geometry": bad-geometry: geometry is null`}},
		{
			"no Feature", fc(f("null", `{"a":1}`), `¦{"type":"feature","geometry":null,"properties":{"b":1}}`, "¦5"),
			"a: int32: 1 | null | null",
			[]string{`1, "": no-feature: row is null`, `2, "": no-feature: row is null`},
		},
		{
			"NaN in a bbox", fc(`{"type":"Feature","bbox":[¦NaN,NaN],"geometry":null,"properties":{"a":1}}`),
			"a: int32: 1",
			[]string{`0, "": bad-member: left out`},
		},
	})
	checkPassed(t, nullLines, []passedCase{
		{
			"a line that is no Feature", f("null", `{"a":1}`) + "\n¦{\"b\":1}\n" + shape("Point", "[1,2]"),
			"a: int32: 1 | null | null\ngeometry: geoarrow.point xy: null | null | POINT (1 2)",
			[]string{`1, "": no-feature: row is null`},
		},
		{"NaN", f("null", `{"a":¦NaN}`) + "\n" + f("null", `{"a":1}`), "a: int32: null | 1", []string{"0, " + isNull}},
	})
	check(t, nulling, []textCase{
		{"a trailing comma", values("1,¦"), "a key in quotes"},
		{"a quote that is not closed", values(`"a`) + "¦", "the closing quote"},
	})
}

func TestRepair(t *testing.T) {
	checkPassed(t, repairing, []passedCase{
		{
			"NaN", values("1", "¦NaN", "¦-Infinity"), "a: float64: 1 | NaN 0x7ff8000000000000 | -Inf",
			[]string{`1, "a": nan: read as NaN`, `2, "a": nan: read as -Infinity`},
		},
		{
			"NaN in a column of texts", values(`"x"`, "¦NaN"), `a: string mixed: "x" | "NaN"`,
			[]string{`1, "a": nan: read as NaN`},
		},
		{
			"NaN in a list", values("[1.5,¦NaN]"), "a: list<float64>: [1.5 NaN 0x7ff8000000000000]",
			[]string{`0, "a": nan: read as a list of numbers`},
		},
		{
			"NaN in an object", values(`{"b":¦NaN}`), `a: string json: '{"b":null}'`,
			[]string{`0, "a": spelling: read as null`},
		},
		{"True", values("¦True", "¦FALSE"), "a: bool: true | false", []string{
			`0, "a": spelling: read as true`,
			`1, "a": spelling: read as false`,
		}},
		{
			"numbers", values("¦+1", "¦.5", "0¦1", "1.¦"), "a: float64: 1 | 0.5 | 1 | 1",
			[]string{
				`0, "a": spelling: read as 1`, `1, "a": spelling: read as 0.5`, `2, "a": spelling: read as 1`,
				`3, "a": spelling: read as 1.0`,
			},
		},
		{
			"a control character", values("\"a¦\tb\""), `a: string: "a\tb"`,
			[]string{`0, "a": spelling: read with control characters`},
		},
		{
			"trailing commas", fc(f("null", `{"a":[1,¦],"b":2¦,}`)), "a: list<int32>: [1]\nb: int32: 2",
			[]string{`0, "a": spelling: read without the last comma`, `0, "": trailing-comma: left out`},
		},
		{
			"a trailing comma of the features", fc(f("null", `{"a":1}`) + ",¦"), "a: int32: 1",
			[]string{`1, "": trailing-comma: left out`},
		},
		{
			"the case of a kind", geom(`{"type":¦"POINT","coordinates":[1,2]}`), point12,
			[]string{`0, "geometry": geometry-spelling: read as a Point`},
		},
		{
			"coordinates as texts", geom(shape("Point", `[¦"1","2"]`)), point12,
			[]string{`0, "geometry": geometry-spelling: read as a Point`},
		},
		{
			"a trailing comma in coordinates", geom(shape("Point", `[1,2,¦]`)), point12,
			[]string{`0, "geometry": geometry-spelling: read as a Point`},
		},
		{
			"the case of Feature", fc(`¦{"type":"feature","geometry":null,"properties":{"a":1}}`), "a: int32: 1",
			[]string{`0, "": feature-type: read as a Feature`},
		},
		{
			"a Feature without type", fc(`¦{"geometry":null,"properties":{"a":1}}`), "a: int32: 1",
			[]string{`0, "": feature-type: read as a Feature`},
		},
		{
			"a geometry among Features", fc("¦" + shape("Point", "[1,2]")), point12,
			[]string{`0, "": feature-type: read as the geometry of a Feature`},
		},
		{
			"without a reading", values("¦1e400", "¦None", "1"), "a: int32: null | null | 1",
			[]string{`0, "a": bad-value: value is null`, `1, "a": bad-value: value is null`},
		},
	})
}
