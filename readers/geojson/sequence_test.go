package geojson_test

import (
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

const (
	rowA = `{"type":"Feature","geometry":null,"properties":{"a":1}}`
	rowB = `{"type":"Feature","geometry":null,"properties":{"a":2}}`
	ab   = "a: int32: 1 | 2"
)

// TestSequence is about GeoJSONSeq.
func TestSequence(t *testing.T) {
	crs := func(a, name string) string {
		return `{"type":"Feature","crs":{"type":"name","properties":{"name":"` + name +
			`"}},"geometry":null,"properties":{"a":` + a + `}}`
	}
	check(t, lines, []textCase{
		{"a line each", rowA + "\n" + rowB + "\n", ab},
		{"no newline at the end", rowA + "\n" + rowB, ab},
		{"CRLF", rowA + "\r\n" + rowB + "\r\n", ab},
		{"blank lines", "\n \n" + rowA + "\n\n\t\n" + rowB + "\n\n", ab},
		{"record separators", "\x1e" + rowA + "\n\x1e" + rowB + "\n", ab},
		{"record separators without newline", "\x1e" + rowA + "\x1e" + rowB, ab},
		{"record separators after blanks", " \n\x1e\x1e" + rowA + "\n\x1e \x1e" + rowB + "\x1e", ab},
		{"byte order mark", "\xEF\xBB\xBF" + rowA + "\n" + rowB, ab},
		{"byte order mark and separator", "\xEF\xBB\xBF\x1e" + rowA + "\n\x1e" + rowB, ab},
		{
			"bare geometries", shape("Point", "[1,2]") + "\n" + shape("Point", "[3,4]") + "\n",
			"geometry: geoarrow.point xy: POINT (1 2) | POINT (3 4)",
		},
		{
			"geometries among features", shape("Point", "[1,2]") + "\n" + rowA + "\n" +
				`{"type":"GeometryCollection","geometries":[]}`,
			"a: int32: null | 1 | null\ngeometry: geoarrow.wkb xy: POINT (1 2) | null | GEOMETRYCOLLECTION EMPTY",
		},
		{"many on a line", rowA + rowB + " " + rowA, "a: int32: 1 | 2 | 1"},
		{"features over several lines", strings.ReplaceAll(rowA+"\n"+rowB, ",", ",\n"), ab},
		{"empty file", "¦", "the end of the file"},
		{"separators only", "\x1e\n\x1e\n¦", "the end of the file"},
		{"one FeatureCollection", fc(rowA, rowB), ab},
		{"bad line", rowA + "\n" + `{"type":"Feature","geometry":¦x}` + "\n" + rowB, "line 2, feature 1"},
		{"bad line, number", rowA + "\n¦1\n" + rowB, "line 2, feature 1"},
		{"bad line, type", rowA + "\n{\"type\":¦\"FeatureCollection\",\"features\":[]}\n", "line 2, feature 1"},
		{"bad line, empty object", rowA + "\n{¦}\n", "line 2, feature 1"},
		{"bad line, array", rowA + "\n¦[" + rowB + "]\n", "line 2, feature 1"},
		{"bad line, comma", rowA + "¦,\n" + rowB, "feature 1"},
		{"cut", rowA + "\n" + `{"type":"Feature","geometry":null,"properties":{"a":2¦`, "the end of the file"},
		{"missing type is found before a later line", rowA + "\n{\"geometry\":null¦}\n{", "line 2"},
		{"semantic fault before bad JSON", rowA + "\n" + `{"type":"Feature","geometry":¦5,"x":}`, "feature 1"},
		{"bad JSON before a semantic fault", rowA + "\n" + `{"type":"Feature","x":¦,"geometry":5}`, "feature 1"},
		{"crs in each", crs("1", "EPSG:25832") + "\n" + crs("2", "EPSG:25832"), ab + "\ncrs: EPSG:25832"},
		{"crs in each, types differ", crs("1.0", "EPSG:25832") + "\n" + crs("2", "EPSG:25832") + "\n" +
			crs(`"x"`, "EPSG:25832"), "a: string mixed: \"1.0\" | \"2\" | \"x\"\ncrs: EPSG:25832"},
		{"crs in the first", crs("1", "EPSG:25832") + "\n" + rowB, ab + "\ncrs: EPSG:25832"},
	})
	check(t, plain, []textCase{
		{"in .geojson, a line each", rowA + "\n" + rowB, ab},
		{"in .geojson, CR", rowA + "\r" + rowB, ab},
		{"in .geojson, separators", "\x1e" + rowA + "\x1e" + rowB, ab},
		{"in .geojson, second root on the line", rowA + "¦" + rowB, "second root"},
		{"in .geojson, second root after a blank", rowA + " ¦" + rowB, "second root"},
		{"in .geojson, third root on the line of the second", rowA + "\n" + rowB + rowA, "a: int32: 1 | 2 | 1"},
		{"in .geojson, bytes after the root", rowA + " ¦x", ""},
		{"in .geojson, bytes on a line after the root", rowA + "\n¦x", ""},
		{"in .geojson, FeatureCollection and a line", fc(rowA) + "\n¦" + rowB, "after"},
	})
}

// TestSequenceBlanks has roots that are far apart: the newline between them may be anywhere.
func TestSequenceBlanks(t *testing.T) {
	blank := strings.Repeat(" ", 1<<20+100)
	table, err := readertest.Check(t, geojson.Format(), readertest.Input{
		Name: "a.geojson",
		Text: []byte(rowA + blank + "\n" + rowB),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := columns(table); got != ab {
		t.Errorf("got %s, want %s", got, ab)
	}
}

// TestSkip has on_error: skip.
func TestSkip(t *testing.T) {
	bad := f("5", `{"b":"x","c":1e400}`)
	badPoint := f(shape("Point", `["1",2]`), `{"b":1}`)
	skips := func(what string, offsets ...string) string {
		return what + "\nskipped: " + string('0'+rune(len(offsets))) + " at [" + strings.Join(offsets, " ") + "]"
	}
	check(t, skipping, []textCase{
		{"none malformed", fc(rowA, rowB), ab},
		{"middle", fc(rowA, bad, rowB), skips(ab, "96")},
		{"first and last", fc(bad, rowA, rowB, badPoint), skips(ab, "40", "217")},
		{"all", fc(bad), "skipped: 1 at [40]"},
		{"leaves no column and no type", fc(rowA, f("5", `{"z":1}`),
			`{"type":"Feature","properties":{"a":"x","id":1},"id":"i","geometry":5}`, rowB), skips(ab, "96", "149")},
		{
			"leaves no geometry", fc(f(shape("Point", "[1,2]"), "{}"), f(shape("LineString", `[[1,2,3,4],[5]]`), "{}"),
				f(shape("Point", "[3,4]"), "{}")),
			skips("geometry: geoarrow.point xy: POINT (1 2) | POINT (3 4)", "123"),
		},
		{"leaves no counts", fc(rowA, `{"type":"Feature","x":1,"properties":{"a":"\ud800"},"geometry":`+
			shape("Polygon", "[[[0,0,0,0]],5]")+`}`, rowB), skips(ab, "96")},
		{
			"no Feature", fc(rowA, "1", "null", "[]", `{"type":"Point","coordinates":[1,2]}`, rowB),
			skips(ab, "96", "98", "103", "106"),
		},
		{"number beyond float64", fc(rowA, f("null", `{"a":1e400}`), rowB), skips(ab, "96")},
		{"id", fc(rowA, `{"type":"Feature","id":{},"geometry":null,"properties":{"a":1}}`, rowB), skips(ab, "96")},
		{"broken structure", fc(rowA, `{"type":"Feature","geometry":null,"properties":{"a":¦}}`, rowB), "feature 1"},
		{
			"broken structure after a fault", fc(rowA, `{"type":"Feature","geometry":¦5,"properties":{"a":}}`, rowB),
			"feature 1",
		},
		{
			"cut", `{"type":"FeatureCollection","features":[` + rowA + `,{"type":"Feature","geometry":null¦`,
			"the end of the file",
		},
		{"repeated", fc(rowA, `{"type":"Feature","geometry":5,"geometry":null,"properties":{"a":1,"a":2}}`), ab},
	})
	seq := readCase{file: "a.geojsonl", options: skipping.options}
	check(t, seq, []textCase{
		{"line", rowA + "\n{\"type\":\n" + rowB, skips(ab, "56")},
		{"line of text", rowA + "\nhello\n" + rowB, skips(ab, "56")},
		{"malformed feature", rowA + "\n" + bad + "\n" + rowB, skips(ab, "56")},
		{"last line cut", rowA + "\n" + rowB + "\n{\"type\":\"Feature\",\"geo", skips(ab, "112")},
		{"malformed feature over several lines", rowA + "\n" + strings.ReplaceAll(badPoint, ",", ",\n") +
			"\n" + rowB, skips(ab, "56")},
		{"malformed feature with another on its line", rowA + "\n" + bad + rowB, skips(ab, "56")},
		{"record separators", "\x1e" + rowA + "\n\x1e{\"type\x1e" + rowB, skips(ab, "58")},
		{"another crs is no fault of the feature", rowA + "\n" + `{"type":"Feature","crs":¦null,"geometry":5}` +
			"\n" + rowB, "a second CRS"},
		{
			"another crs after coordinates that are not as those of the line before", rowA + "\n" +
				shape("Point", "[1,2]") + "\n" + `{"coordinates":[[1,2],[3,4]],"type":"LineString","crs":¦"x"}`,
			"a second CRS",
		},
		{"another crs after wrong coordinates", rowA + "\n" +
			`{"coordinates":[[1,2],[3]],"type":"LineString","crs":"x"}` + "\n" + rowB, skips(ab, "56")},
		{"crs of a skipped first feature", `{"type":"Feature","crs":null,"geometry":5}` + "\n" + rowA +
			"\n" + rowB, skips(ab, "0")},
	})
}

// TestSkipOffsets keeps the first offsets of many.
func TestSkipOffsets(t *testing.T) {
	many := make([]string, 250)
	for i := range many {
		many[i] = "1"
	}
	table, err := readertest.Check(t, geojson.Format(), readertest.Input{
		Name: "a.geojson",
		Text: []byte(fc(many...)), Options: skipping.options,
	})
	if err != nil {
		t.Fatal(err)
	}
	s := table.Summary.Skipped
	if s.Count != 250 || len(s.First) != readers.MaxSkippedOffsets || s.First[0] != 40 || s.First[99] != 238 {
		t.Errorf("got %+v", s)
	}
}
