package geojson_test

import (
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// portable is the CPU engine without assembly.
var portable = readertest.Variant{
	Name:   "portable",
	Parser: geojson.Portable,
}

// windows is the CPU engine with windows of any size.
var windows = readertest.Variant{
	Name:   "windows",
	Parser: geojson.Windowed,
}

// parallel is the CPU engine with 2 to 16 workers and parts of any size.
var parallel = readertest.Variant{
	Name:   "parallel",
	Parser: geojson.Parallel,
}

func TestFormat(t *testing.T) { readertest.Run(t, geojson.Format(), windows, portable, parallel) }

func FuzzFormat(f *testing.F) {
	readertest.Fuzz(f, geojson.Format(), windows, portable, parallel)
}

// textCase is a text and the table that it becomes, as readertest.Columns writes it, without a
// geometry column of nulls only; or, where the input has the mark ¦, a part of the error that
// is there.
type textCase struct{ name, input, want string }

// readCase is how the cases of a table are read.
type readCase struct {
	file    string
	options map[string]any
	limits  readers.Limits
}

var (
	plain    = readCase{file: "a.geojson"}
	lines    = readCase{file: "a.geojsonl"}
	skipping = readCase{file: "a.geojson", options: map[string]any{"on_error": "skip"}}
)

// check reads each case whole, in windows of every size, and in small batches.
func check(t *testing.T, how readCase, cases []textCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text, offset := readertest.Mark(c.input)
			in := readertest.Input{Name: how.file, Text: []byte(text), Options: how.options, Limits: how.limits}
			table, err := readertest.Check(t, geojson.Format(), in)
			if offset >= 0 {
				readertest.Fault(t, text, err, offset, c.want)
			} else if err != nil {
				t.Fatalf("%s\ngot error: %v\nwant:\n%s", text, err, c.want)
			} else if got := columns(table); got != c.want {
				t.Fatalf("%s\ngot:\n%s\nwant:\n%s", text, got, c.want)
			}
			readertest.Same(t, geojson.Format(), in, sizes(len(text)), windows)
			readertest.Same(t, geojson.Format(), in, partSizes(len(text)), parallel)
			for _, rows := range []int{1, 2} {
				in.Limits.BatchRows = rows
				again, err := readertest.Check(t, geojson.Format(), in)
				if (err == nil) != (offset < 0) || err == nil && columns(again) != c.want {
					t.Errorf("%s\nbatches of %d rows\ngot:\n%s\n%v\nwant:\n%s", text, rows, columns(again), err, c.want)
				}
				readertest.Same(t, geojson.Format(), in, []int{1, 7, 50}, windows, parallel)
			}
		})
	}
}

// sizes returns windows from 1 byte to n, every one of a short text.
func sizes(n int) []int {
	var all []int
	for size := 1; size <= n; size += 1 + size/200 {
		all = append(all, size)
	}
	return all
}

// partSizes returns parts of 1 byte to half of n, beyond which one worker reads it all; under
// -short every third one.
func partSizes(n int) []int {
	all := sizes(n / 2)
	if !testing.Short() {
		return all
	}
	var some []int
	for i := 0; i < len(all); i += 3 {
		some = append(some, all[i])
	}
	return some
}

// columns writes a table in lines, without a geometry column that says nothing.
func columns(table *readers.Table) string {
	if table == nil {
		return ""
	}
	var kept []string
	for _, line := range strings.Split(strings.TrimSpace(readertest.Columns(table)), "\n") {
		rest, isGeometry := strings.CutPrefix(line, "geometry: geoarrow.wkb xy:")
		if isGeometry && strings.Trim(rest, "nul |") == "" {
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// fc returns a FeatureCollection.
func fc(features ...string) string {
	return `{"type":"FeatureCollection","features":[` + strings.Join(features, ",") + `]}`
}

// f returns a Feature.
func f(geometry, properties string) string {
	return `{"type":"Feature","geometry":` + geometry + `,"properties":` + properties + `}`
}

// props returns a FeatureCollection of features without geometry.
func props(properties ...string) string {
	var features []string
	for _, p := range properties {
		features = append(features, f("null", p))
	}
	return fc(features...)
}

// values returns a FeatureCollection whose features have a property a with these values, each; ""
// leaves it out.
func values(texts ...string) string {
	var rows []string
	for _, v := range texts {
		if v != "" {
			v = `"a":` + v
		}
		rows = append(rows, "{"+v+"}")
	}
	return props(rows...)
}

// geom returns a FeatureCollection of geometries.
func geom(geometries ...string) string {
	var features []string
	for _, g := range geometries {
		features = append(features, f(g, "{}"))
	}
	return fc(features...)
}

// shape returns a geometry.
func shape(kind, coordinates string) string {
	return `{"type":"` + kind + `","coordinates":` + coordinates + `}`
}
