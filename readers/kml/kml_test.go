package kml_test

import (
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/kml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// windows is the CPU engine with windows of any size.
var windows = readertest.Variant{Name: "windows", Parser: kml.Windowed}

// parallel is the CPU engine with 2 to 4 workers and parts of any size.
var parallel = readertest.Variant{Name: "parallel", Parser: kml.Parallel}

func TestFormat(t *testing.T) { readertest.Run(t, kml.Format(), windows, parallel) }

func FuzzFormat(f *testing.F) { readertest.Fuzz(f, kml.Format(), windows, parallel) }

// textCase is a text and the table that it becomes, as readertest.Columns writes it, without
// leading columns of nulls only; or, where the input has the mark ¦, a part of the error that
// is there.
type textCase struct{ name, input, want string }

// readCase is how the cases of a table are read.
type readCase struct {
	layer   string
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
				Name: "dir/a.kml", Text: []byte(text), Options: how.options, Layer: how.layer, Limits: how.limits,
			}
			table, err := readertest.Check(t, kml.Format(), in)
			if offset >= 0 {
				readertest.Fault(t, text, err, offset, c.want)
			} else if err != nil {
				t.Fatalf("%s\ngot error: %v\nwant:\n%s", text, err, c.want)
			} else if got := columns(table); got != c.want {
				t.Fatalf("%s\ngot:\n%s\nwant:\n%s", text, got, c.want)
			}
			step := 1 + len(text)/20
			var sizes []int
			for size := 1; size <= len(text); size += step {
				sizes = append(sizes, size)
			}
			readertest.Same(t, kml.Format(), in, sizes, windows)
			readertest.Same(t, kml.Format(), in, sizes[:(len(sizes)+1)/2], parallel)
			in.Limits.BatchRows = 1
			again, err := readertest.Check(t, kml.Format(), in)
			if (err == nil) != (offset < 0) || err == nil && columns(again) != c.want {
				t.Errorf("%s\nbatches of a row\ngot:\n%s\n%v\nwant:\n%s", text, columns(again), err, c.want)
			}
			readertest.Same(t, kml.Format(), in, []int{1, 7, 50}, windows, parallel)
		})
	}
}

// columns writes a table in lines, without columns that say nothing.
func columns(table *readers.Table) string {
	if table == nil {
		return ""
	}
	var kept []string
	for _, line := range strings.Split(strings.TrimSpace(readertest.Columns(table)), "\n") {
		_, values, _ := strings.Cut(line, ": ")
		if _, values, isColumn := strings.Cut(values, ":"); !isColumn || strings.Trim(values, "nul |") != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// doc returns a file whose only layer, called d, holds these placemarks.
func doc(features ...string) string {
	return `<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2"><Document><name>d</name>` +
		strings.Join(features, "") + `</Document></kml>`
}

// pm returns a Placemark.
func pm(members ...string) string { return "<Placemark>" + strings.Join(members, "") + "</Placemark>" }

// point returns a Point.
func point(tuple string) string { return "<Point><coordinates>" + tuple + "</coordinates></Point>" }

// line returns a LineString.
func line(tuples string) string {
	return "<LineString><coordinates>" + tuples + "</coordinates></LineString>"
}

// ring returns a LinearRing.
func ring(tuples string) string {
	return "<LinearRing><coordinates>" + tuples + "</coordinates></LinearRing>"
}
