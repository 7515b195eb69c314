package flatgeobuf_test

import (
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/flatgeobuf"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// windows is the CPU engine with windows of any size.
var windows = readertest.Variant{Name: "windows", Parser: flatgeobuf.Windowed}

// parallel is the CPU engine with 1 to 4 workers and parts of any size.
var parallel = readertest.Variant{Name: "parallel", Parser: flatgeobuf.Parallel}

func TestFormat(t *testing.T) { readertest.Run(t, flatgeobuf.Format(), windows, parallel) }

func FuzzFormat(f *testing.F) { readertest.Fuzz(f, flatgeobuf.Format(), windows, parallel) }

// fgbCase is a file and the table that it becomes, as readertest.Columns writes it, or a part of
// the error.
type fgbCase struct {
	name string
	file []byte
	want string
}

// with is how cases are read.
type with struct {
	options map[string]any
	limits  readers.Limits
}

// check reads each case whole, in windows and parts of every size, in small batches and by some
// columns. One that wants no geometry is an error.
func check(t *testing.T, with with, cases []fgbCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			in := readertest.Input{Name: "a.fgb", Text: c.file, Options: with.options, Limits: with.limits}
			table, err := readertest.Check(t, flatgeobuf.Format(), in)
			fails := !strings.Contains(c.want, "geoarrow.")
			switch {
			case fails && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("%q\ngot error: %v\nwant: %s", c.file, err, c.want)
			case !fails && err != nil:
				t.Fatalf("%q\ngot error: %v\nwant:\n%s", c.file, err, c.want)
			case !fails && columns(table) != c.want:
				t.Fatalf("%q\ngot:\n%s\nwant:\n%s", c.file, columns(table), c.want)
			}
			readertest.Same(t, flatgeobuf.Format(), in, sizes(len(c.file)), windows, parallel)
			for _, rows := range []int{1, 2} {
				in.Limits.BatchRows = rows
				again, err := readertest.Check(t, flatgeobuf.Format(), in)
				if (err != nil) != fails || err == nil && columns(again) != c.want {
					t.Errorf("%q\nbatches of %d rows\ngot:\n%s\n%v\nwant:\n%s", c.file, rows, columns(again),
						err, c.want)
				}
				readertest.Same(t, flatgeobuf.Format(), in, []int{1, 50, 150}, windows, parallel)
				readertest.Projected(t, flatgeobuf.Format(), in, readertest.Some(uint64(rows)), windows, parallel)
			}
		})
	}
}

// sizes are those of windows and of parts; under -short few of them.
func sizes(n int) []int {
	step := 1
	if testing.Short() {
		step = 29
	}
	var all []int
	for size := 1; size <= n; size += step * (1 + size/100) {
		all = append(all, size)
	}
	return all
}

func columns(table *readers.Table) string {
	if table == nil {
		return ""
	}
	text := strings.TrimSpace(strings.ReplaceAll(readertest.Columns(table), ": \n", ":\n"))
	return strings.TrimSuffix(strings.TrimSuffix(text, "crs: none"), "\n")
}
