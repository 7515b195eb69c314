package gml_test

import (
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/gml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// windows is the CPU engine with windows of any size.
var windows = readertest.Variant{Name: "windows", Parser: gml.Windowed}

// parallel is the CPU engine with 2 to 4 workers and parts of any size.
var parallel = readertest.Variant{Name: "parallel", Parser: gml.Parallel}

func TestFormat(t *testing.T) { readertest.Run(t, gml.Format(), windows, parallel) }

func FuzzFormat(f *testing.F) { readertest.Fuzz(f, gml.Format(), windows, parallel) }

// textCase is a text and the table that it becomes, as readertest.Columns writes it; or, where the
// input has the mark ¦, a part of the error that is there.
type textCase struct{ name, input, want string }

// readCase is how the cases of a table are read.
type readCase struct {
	layer   string
	xsd     string
	options map[string]any
	limits  readers.Limits
}

var skipping = readCase{options: map[string]any{"on_error": "skip"}}

// check reads each case whole, in windows of every size, in parts of every size, and in small
// batches.
func check(t *testing.T, how readCase, cases []textCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text, offset := readertest.Mark(c.input)
			in := readertest.Input{
				Name: "dir/a.gml", Text: []byte(text), Options: how.options, Layer: how.layer, Limits: how.limits,
			}
			if how.xsd != "" {
				in.Siblings = map[string][]byte{".xsd": []byte(how.xsd)}
			}
			table, err := readertest.Check(t, gml.Format(), in)
			if offset >= 0 {
				readertest.Fault(t, text, err, offset, c.want)
			} else if err != nil {
				t.Fatalf("%s\ngot error: %v\nwant:\n%s", text, err, c.want)
			} else if got := columns(table); got != c.want {
				t.Fatalf("%s\ngot:\n%s\nwant:\n%s", text, got, c.want)
			}
			sizes := sizesOf(text)
			readertest.Same(t, gml.Format(), in, sizes, windows)
			readertest.Same(t, gml.Format(), in, sizes[:(len(sizes)+1)/2], parallel)
			in.Limits.BatchRows = 1
			again, err := readertest.Check(t, gml.Format(), in)
			if (err == nil) != (offset < 0) || err == nil && columns(again) != c.want {
				t.Errorf("%s\nbatches of a row\ngot:\n%s\n%v\nwant:\n%s", text, columns(again), err, c.want)
			}
			readertest.Same(t, gml.Format(), in, []int{1, 7, 50}, windows, parallel)
		})
	}
}

// sizesOf returns about sixty sizes of windows, a third of them under -short.
func sizesOf(text string) []int {
	step := 1 + len(text)/60
	if testing.Short() {
		step *= 3
	}
	var sizes []int
	for size := 1; size <= len(text); size += step {
		sizes = append(sizes, size)
	}
	return sizes
}

// columns writes a table in lines, without a geometry column of nulls only and without the places
// of deviations.
func columns(table *readers.Table) string {
	if table == nil {
		return ""
	}
	var kept []string
	for _, line := range strings.Split(strings.TrimSpace(readertest.Columns(table)), "\n") {
		rest, isGeometry := strings.CutPrefix(line, "geometry: geoarrow.wkb xy:")
		if line != "crs: none" && !strings.HasPrefix(line, "deviation: ") &&
			(!isGeometry || strings.Trim(rest, "nul |") != "") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// fc returns a collection whose members hold one feature each.
func fc(features ...string) string {
	var b strings.Builder
	b.WriteString("<FeatureCollection>")
	for _, f := range features {
		b.WriteString("<featureMember>" + f + "</featureMember>")
	}
	return b.String() + "</FeatureCollection>"
}

// values returns a collection of features with such contents, each.
func values(contents ...string) string {
	for i, c := range contents {
		contents[i] = "<f>" + c + "</f>"
	}
	return fc(contents...)
}

// geom returns a collection of features with such geometries, each.
func geom(geometries ...string) string {
	for i, g := range geometries {
		geometries[i] = "<g>" + g + "</g>"
	}
	return values(geometries...)
}

// point returns a Point in a system.
func point(srs, pos string) string {
	return `<Point srsName="` + srs + `"><pos>` + pos + `</pos></Point>`
}
