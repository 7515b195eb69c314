package cql2

import (
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

var types = map[string]Type{
	"name": StringType, "other": StringType, "value": NumberType, "ok": BooleanType, "day": DateType,
	"at": TimestampType, "instant": InstantType, "geometry": GeometryType, "list": OtherType, "none": NullType,
	`a"b`: StringType, "it's": StringType, "Straße": StringType,
}

// schema has shapes in the system of the features. Boxes that cross the antimeridian are two.
func schema(spatial bool) Schema {
	return Schema{
		Spatial: spatial,
		TypeOf:  func(name string) (Type, bool) { t, ok := types[name]; return t, ok },
		Place: func(s Shape) ([]Shape, error) {
			if s.Box != nil && s.Box[0] > s.Box[2] {
				east, west := *s.Box, *s.Box
				east[2], west[0] = math.Inf(1), math.Inf(-1)
				return []Shape{{Box: &east}, {Box: &west}}, nil
			}
			return []Shape{s}, nil
		},
	}
}

func TestTextCompiles(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"equal", "name = 'a'", "(c0 = 'a')"},
		{"any case of keywords", "name = 'a' aNd NOT value > 1", "(c0 = 'a') AND (NOT (c1 > (1)))"},
		{"precedence", "value = 1 OR value = 2 AND ok", "((c0 = (1)) OR ((c0 = (2)) AND c1))"},
		{"parentheses", "(value = 1 OR value = 2) AND ok = TRUE", "((c0 = (1)) OR (c0 = (2))) AND (c1 = true)"},
		{"quotes", "name = 'it''s' OR name = 'it\\'s'", "((c0 = 'it''s') OR (c0 = 'it''s'))"},
		{"quoted property", `"a""b" = 'x' AND "it's" = "Straße"`, "(c0 = 'x') AND (c1 = c2)"},
		{"unquoted property", "Straße <> 'x'", "(c0 <> 'x')"},
		{"numbers", "value >= -1.5e3 AND value < .5", "(c0 >= '-1500'::DOUBLE) AND (c0 < '0.5'::DOUBLE)"},
		{"no space", "value>=-1", "(c0 >= (-1))"},
		{"large integer", "value = 9223372036854775808", "(c0 = '9.223372036854776e+18'::DOUBLE)"},
		{"arithmetic", "value + 2 * 3 = 7 - value", "((CAST(c0 AS DOUBLE) + CAST((CAST((2) AS DOUBLE) * " +
			"CAST((3) AS DOUBLE)) AS DOUBLE)) = (CAST((7) AS DOUBLE) - CAST(c0 AS DOUBLE)))"},
		{"like", `name LIKE 'a\%_%'`, `(c0 LIKE 'a\%_%' ESCAPE '\')`},
		{"not like", "name NOT LIKE 'a'", `(NOT (c0 LIKE 'a' ESCAPE '\'))`},
		{"ilike", "name ILIKE 'A'", `(lower(c0) LIKE lower('A') ESCAPE '\')`},
		{"between", "value BETWEEN 1 AND 2 AND ok", "(c0 BETWEEN (1) AND (2)) AND c1"},
		{"in", "name NOT IN ('a','b')", "(NOT (c0 IN ('a', 'b')))"},
		{"null", "name IS NULL OR value IS NOT NULL", "((c0 IS NULL) OR (NOT (c1 IS NULL)))"},
		{"null geometry", "geometry IS NULL", "(geometry IS NULL)"},
		{"casei", "CASEI(name) = casei('A')", "(lower(c0) = lower('A'))"},
		{
			"accenti", "ACCENTI(CASEI(name)) LIKE ACCENTI(CASEI('é%'))",
			`(strip_accents(lower(c0)) LIKE strip_accents(lower('é%')) ESCAPE '\')`,
		},
		{"date", "day = DATE('2026-05-01')", "(c0 = DATE '2026-05-01')"},
		{"timestamp", "at < TIMESTAMP('2026-05-01T06:30:00.5Z')", "(c0 < TIMESTAMP '2026-05-01 06:30:00.5')"},
		{"zone", "instant < TIMESTAMP('2026-05-01T06:30:00Z')", "(c0 < TIMESTAMPTZ '2026-05-01 06:30:00+00')"},
		{"date of a timestamp", "instant >= DATE('2026-05-01')", "(c0 >= TIMESTAMPTZ '2026-05-01 00:00:00+00')"},
		{"text of a time", "at >= '2026-05-01T01:02:03Z'", "(c0 >= TIMESTAMP '2026-05-01 01:02:03')"},
		{"property without values", "none = 'x'", "(NULL = 'x')"},
		{"literal", "TRUE", "true"},
		{"box in OR", "ok OR S_INTERSECTS(geometry, BBOX(1,2,3,4))", "(c0 OR b0)"},
		{
			"function", "S_WITHIN(geometry, POLYGON((0 0,1 0,1 1,0 0)))",
			"(ST_Within(geometry, ST_GeomFromText('POLYGON ((0 0,1 0,1 1,0 0))')))",
		},
		{
			"literal first", "s_contains(POLYGON Z((0 0 9,1 0 9,1 1 9,0 0 9)), geometry)",
			"(ST_Contains(ST_GeomFromText('POLYGON ((0 0,1 0,1 1,0 0))'), geometry))",
		},
		{
			"multipoint", "S_INTERSECTS(geometry, MULTIPOINT(1 2, 3 4))",
			"(ST_Intersects(geometry, ST_GeomFromText('MULTIPOINT ((1 2),(3 4))')))",
		},
		{
			"collection", "S_CROSSES(geometry, GEOMETRYCOLLECTION(POINT(1 2), LINESTRING(-1 2, 3 4)))",
			"(ST_Crosses(geometry, ST_GeomFromText('GEOMETRYCOLLECTION (POINT (1 2),LINESTRING (-1 2,3 4))')))",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := ParseText(c.in)
			if err != nil {
				t.Fatalf("%s: %v", c.in, err)
			}
			p, err := Compile(n, schema(true))
			if err != nil {
				t.Fatalf("%s: %v", c.in, err)
			}
			if p.SQL != c.want {
				t.Errorf("%s:\ngot  %s\nwant %s", c.in, p.SQL, c.want)
			}
		})
	}
}

func TestBoxesAreNotInSQL(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []Rect
	}{
		{"S_INTERSECTS(geometry, BBOX(1, 2, 3, 4))", []Rect{{1, 2, 3, 4}}},
		{"S_INTERSECTS(BBOX(1,2,0,3,4,9), geometry)", []Rect{{1, 2, 3, 4}}},
		{"(TRUE AND (S_INTERSECTS(geometry, BBOX(1, 2, 3, 4)) AND ok))", []Rect{{1, 2, 3, 4}}},
		{"S_INTERSECTS(geometry, POINT(1 2))", []Rect{{1, 2, 1, 2}}},
		{"S_INTERSECTS(geometry, BBOX(170,-1,-170,1))", []Rect{
			{170, -1, math.Inf(1), 1}, {math.Inf(-1), -1, -170, 1},
		}},
	} {
		n, err := ParseText(c.in)
		if err != nil {
			t.Fatalf("%s: %v", c.in, err)
		}
		p, err := Compile(n, schema(false))
		if err != nil {
			t.Fatalf("%s: %v", c.in, err)
		}
		if strings.Contains(p.SQL, "b0") || len(p.Boxes) != 1 || len(p.Boxes[0]) != len(c.want) ||
			p.Boxes[0][0] != c.want[0] {
			t.Errorf("%s: got %+v, want %v", c.in, p, c.want)
		}
	}
}

// TestJSONIsText compares expressions in the two encodings.
func TestJSONIsText(t *testing.T) {
	for json, text := range map[string]string{
		`{"op":"=","args":[{"property":"name"},"it's"]}`:                                                  `name = 'it''s'`,
		`{"op":"and","args":[{"op":">","args":[{"property":"value"},1.5]},{"property":"ok"}]}`:            `value > 1.5 AND ok`,
		`{"op":"not","args":[{"op":"isNull","args":[{"property":"name"}]}]}`:                              `name IS NOT NULL`,
		`{"op":"between","args":[{"property":"value"},1,2]}`:                                              `value BETWEEN 1 AND 2`,
		`{"op":"in","args":[{"property":"name"},["a","b"]]}`:                                              `name IN ('a','b')`,
		`{"op":"like","args":[{"op":"casei","args":[{"property":"name"}]},{"op":"casei","args":["a%"]}]}`: `CASEI(name) LIKE CASEI('a%')`,
		`{"op":"<=","args":[{"property":"day"},{"date":"2026-05-01"}]}`:                                   `day <= DATE('2026-05-01')`,
		`{"op":"<=","args":[{"property":"at"},{"timestamp":"2026-05-01T00:00:00Z"}]}`:                     `at <= TIMESTAMP('2026-05-01T00:00:00Z')`,
		`{"op":"=","args":[{"op":"-","args":[{"property":"value"}]},1]}`:                                  `-value = 1`,
		`{"op":"or","args":[true,{"op":"s_intersects","args":[{"property":"geometry"},{"bbox":[1,2,3,4]}]}]}`: `TRUE OR ` +
			`S_INTERSECTS(geometry,BBOX(1,2,3,4))`,
		`{"op":"s_within","args":[{"property":"geometry"},{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}]}`: `` +
			`S_WITHIN(geometry,POLYGON((0 0,1 0,1 1,0 0)))`,
		`{"op":"s_touches","args":[{"property":"geometry"},{"type":"MultiLineString","coordinates":[[[0,0],[1,0]]]}]}`: `` +
			`S_TOUCHES(geometry,MULTILINESTRING((0 0,1 0)))`,
	} {
		a, err := ParseJSON(json)
		if err != nil {
			t.Errorf("%s: %v", json, err)
			continue
		}
		b, err := ParseText(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		p, err := Compile(a, schema(true))
		if err != nil {
			t.Errorf("%s: %v", json, err)
			continue
		}
		q, err := Compile(b, schema(true))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if p.SQL != q.SQL {
			t.Errorf("%s: got %s, want %s", json, p.SQL, q.SQL)
		}
	}
}

// TestErrorsHavePlaces marks the place of the error with ¦.
func TestErrorsHavePlaces(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"¦", "the filter ends"},
		{"name = ¦", "the filter ends"},
		{"name = 'a' ¦x", "AND, OR or the end"},
		{"name = ¦'a", "closing '"},
		{"(value = 1¦", "where ) is expected"},
		{"value = 1 AND ¦OR ok", "a property"},
		{"¦missing = 1", `no property "missing"`},
		{"name = ¦1", "it is a number, and is compared with a text"},
		{"value IN (1, ¦'a')", "it is a text, and is compared with a number"},
		{"ok AND ¦name", "it is a text, where a condition is expected"},
		{"¦name", "a condition is expected"},
		{"value ¦LIKE_ 'a'", "AND, OR or the end"},
		{"¦value LIKE 'a'", "it is a number, where a text is expected"},
		{"name LIKE ¦other", "has to be a literal"},
		{"name LIKE ¦'a\\'", ""},
		{"day = ¦DATE('2026-13-01')", "is not a date"},
		{"at = ¦TIMESTAMP('2026-05-01')", "is not a timestamp"},
		{"day = ¦'yesterday'", "is compared with a date"},
		{"¦ok < TRUE", ""},
		{"¦sleep(1)", `no function or operator "sleep"`},
		{"¦read_csv('/etc/passwd')", "no function"},
		{"¦list = 1", "a value that filters can't compare"},
		{"geometry ¦= 'a'", ""},
		{"S_INTERSECTS(¦name, BBOX(1,2,3,4))", "where a geometry is expected"},
		{"¦S_INTERSECTS(geometry, geometry)", "with a literal"},
		{"S_INTERSECTS(geometry, BBOX¦(1,2,3))", "four or six numbers"},
		{"S_INTERSECTS(geometry, ¦POLYGON((0 0,1 1,2 2)))", "four positions"},
		{"S_INTERSECTS(geometry, POINT(1 2 3 4))", ""},
		{"value = ¦1e999", "out of the range"},
		{"name = ¦$1", "is not a part"},
		{"name = 'a'¦; DROP TABLE x", "is not a part"},
		{"name = 'a' ¦-- x", ""},
	} {
		in := strings.Replace(c.in, "¦", "", 1)
		n, err := ParseText(in)
		if err == nil {
			_, err = Compile(n, schema(true))
		}
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.What, c.want) {
			t.Errorf("%s: got %v, want %q", in, err, c.want)
			continue
		}
		if at := strings.Index(c.in, "¦"); at >= 0 && c.want != "" && e.At.Byte != at {
			t.Errorf("%s: got %v, want byte %d", in, err, at)
		}
	}
}

func TestErrorsInJSONHavePaths(t *testing.T) {
	for in, want := range map[string]string{
		`{"op":"=","args":[{"property":"missing"},1]}`:                         "args[0]: there is no property",
		`{"op":"and","args":[true,{"op":"=","args":[{"property":"name"},1]}]}`: "args[1].args[1]: it is a number",
		`{"op":"in","args":[{"property":"name"},["a",1]]}`:                     "args[1][1]: it is a number",
		`{"op":"=","args":[1]}`:                                                "args: \"=\" has 2 operands, not 1",
		`{"op":"between","args":[1,2]}`:                                        "3 operands",
		`[1]`:                                                                  "the whole expression: a list",
		`{`:                                                                    "not JSON",
		`true false`:                                                           "more than one",
		`{"op":"s_intersects","args":[{"property":"geometry"},{"type":"Point","coordinates":["x",1]}]}`: "args[1].coordinates[0]",
	} {
		n, err := ParseJSON(in)
		if err == nil {
			_, err = Compile(n, schema(true))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", in, err, want)
		}
	}
}

func TestSpatialFunctionsNeedTheExtension(t *testing.T) {
	for in, unsupported := range map[string]bool{
		"S_WITHIN(geometry, BBOX(1,2,3,4))":               true,
		"S_INTERSECTS(geometry, LINESTRING(0 0, 1 1))":    true,
		"NOT S_INTERSECTS(geometry, BBOX(1,2,3,4)) OR ok": false,
		"S_DISJOINT(geometry, POINT(1 2))":                false,
	} {
		n, err := ParseText(in)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Compile(n, schema(false))
		var e *Error
		if errors.As(err, &e) != unsupported || unsupported && !e.Unsupported {
			t.Errorf("%s: got %v, want unsupported %t", in, err, unsupported)
		}
	}
}

func TestLimits(t *testing.T) {
	for name, in := range map[string]string{
		"parentheses": strings.Repeat("(", 10_000) + "ok" + strings.Repeat(")", 10_000),
		"not":         strings.Repeat("NOT ", 8000) + "ok",
		"minus":       strings.Repeat("- ", 10_000) + "value = 1",
		"sum":         "value" + strings.Repeat("+1", 10_000) + " = 1",
		"bytes":       "name = '" + strings.Repeat("x", MaxBytes) + "'",
		"collections": "S_INTERSECTS(geometry, " + strings.Repeat("GEOMETRYCOLLECTION(", 1000) + "POINT(1 2)" +
			strings.Repeat(")", 1001),
	} {
		if _, err := ParseText(in); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, in := range map[string]string{
		"not": strings.Repeat(`{"op":"not","args":[`, 1000) + "true" + strings.Repeat("]}", 1000),
		"collections": `{"op":"s_intersects","args":[{"property":"geometry"},` + strings.Repeat(
			`{"type":"GeometryCollection","geometries":[`, 300) + `{}` + strings.Repeat("]}", 300) + "]}",
	} {
		if _, err := ParseJSON(in); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// sqlToken matches the tokens that a predicate may consist of.
var sqlToken = regexp.MustCompile(`^(?:'(?:[^']|'')*'|\(|\)|,|::|[<>=+*/%-]+|[0-9]+|\s+|c[0-9]+|b[0-9]+|geometry|true|` +
	`false|AND|OR|NOT|NULL|IS|IN|LIKE|ESCAPE|BETWEEN|CAST|AS|DOUBLE|BOOLEAN|VARCHAR|DATE|TIMESTAMP|TIMESTAMPTZ|lower|` +
	`strip_accents|trunc|pow|ST_[A-Za-z]+)`)

// checkSQL fails unless a text consists of these tokens, whatever the filter was.
func checkSQL(t *testing.T, in, sql string) {
	t.Helper()
	for rest := sql; rest != ""; {
		m := sqlToken.FindString(rest)
		if m == "" {
			t.Fatalf("%q: %q has %q", in, sql, rest)
		}
		rest = rest[len(m):]
	}
}

func TestNothingOfAFilterIsSQL(t *testing.T) {
	for _, hostile := range []string{
		`'; DROP TABLE x; --`, `' OR '1'='1`, `\'; --`, `''`, `"`, `$$`, `/*`, `*/`, "\n", `x') OR (TRUE`, `\`, `❤'`, "a\x00b",
	} {
		quoted, _ := json.Marshal(hostile)
		for _, in := range []string{
			"name = '" + strings.ReplaceAll(hostile, "'", "''") + "'",
			"name LIKE '" + strings.ReplaceAll(hostile, "'", "''") + "%'",
			`"` + strings.ReplaceAll(hostile, `"`, `""`) + `" = 'a'`,
			hostile,
			`{"op":"=","args":[{"property":"name"},` + string(quoted) + `]}`,
			`{"op":` + string(quoted) + `,"args":[{"property":"name"},"x"]}`,
			`{"op":"=","args":[{"property":` + string(quoted) + `},"x"]}`,
		} {
			parse := ParseText
			if strings.HasPrefix(in, "{") {
				parse = ParseJSON
			}
			n, err := parse(in)
			if err != nil {
				continue
			}
			all := schema(true)
			all.TypeOf = func(string) (Type, bool) { return StringType, true }
			if p, err := Compile(n, all); err == nil {
				checkSQL(t, in, p.SQL)
			}
		}
	}
}

func FuzzFilter(f *testing.F) {
	for _, in := range []string{
		"name = 'a' AND value > 1", "S_INTERSECTS(geometry, POLYGON((0 0,1 0,1 1,0 0)))", `name LIKE 'a\'`,
		"NOT (value BETWEEN 1 AND 2) OR name IN ('a')", `{"op":"=","args":[{"property":"name"},"x"]}`,
		`{"op":"s_within","args":[{"property":"geometry"},{"bbox":[1,2,3,4]}]}`, "at >= '2026-05-01'", "-value ^ 2 DIV 3 = 1",
	} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, parse := range []func(string) (*Node, error){ParseText, ParseJSON} {
			n, err := parse(in)
			if err == nil {
				var p *Predicate
				if p, err = Compile(n, schema(true)); err == nil {
					checkSQL(t, in, p.SQL)
				}
			}
			var e *Error
			if err != nil && (!errors.As(err, &e) || !utf8.ValidString(err.Error()) && utf8.ValidString(in)) {
				t.Errorf("%q: %v", in, err)
			}
		}
	})
}
