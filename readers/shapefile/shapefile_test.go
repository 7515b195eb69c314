package shapefile_test

import (
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/shapefile"
)

// windows is the CPU engine with windows of any size.
var windows = readertest.Variant{Name: "windows", Parser: shapefile.Windowed}

// parallel is the CPU engine with 1 to 4 workers and parts of any size.
var parallel = readertest.Variant{Name: "parallel", Parser: shapefile.Parallel}

func TestFormat(t *testing.T) { readertest.Run(t, shapefile.Format(), windows, parallel) }

func FuzzFormat(f *testing.F) { readertest.Fuzz(f, shapefile.Format(), windows, parallel) }

// shpCase is a file and the table that it becomes, as readertest.Columns writes it, or a part of
// the error that is at an offset.
type shpCase struct {
	name   string
	file   []byte
	want   string
	offset int64 // of the error; 0: there is none
}

// siblingFiles are the siblings and the options that cases are read with.
type siblingFiles struct {
	siblings map[string][]byte
	options  map[string]any
	limits   readers.Limits
}

var alone = siblingFiles{}

// check reads each case whole, in windows and parts of every size, and in small batches.
func check(t *testing.T, with siblingFiles, cases []shpCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			in := readertest.Input{
				Name: "a.shp", Text: c.file, Siblings: with.siblings, Options: with.options,
				Limits: with.limits,
			}
			table, err := readertest.Check(t, shapefile.Format(), in)
			switch {
			case c.offset > 0:
				checkFault(t, err, c.offset, c.want)
			case err != nil:
				t.Fatalf("%x\ngot error: %v\nwant:\n%s", c.file, err, c.want)
			default:
				if got := columns(table); got != c.want {
					t.Fatalf("%x\ngot:\n%s\nwant:\n%s", c.file, got, c.want)
				}
			}
			readertest.Same(t, shapefile.Format(), in, sizes(len(c.file)), windows, parallel)
			for _, rows := range []int{1, 2} {
				in.Limits.BatchRows = rows
				again, err := readertest.Check(t, shapefile.Format(), in)
				if (err == nil) != (c.offset == 0) || err == nil && columns(again) != c.want {
					t.Errorf("%x\nbatches of %d rows\ngot:\n%s\n%v\nwant:\n%s", c.file, rows, columns(again),
						err, c.want)
				}
				readertest.Same(t, shapefile.Format(), in, []int{1, 50, 150}, windows, parallel)
			}
		})
	}
}

// sizes are those of windows and of parts; under -short few of them.
func sizes(n int) []int {
	step := 1
	if testing.Short() {
		step = 17
	}
	var all []int
	for size := 1; size <= n; size += step * (1 + size/100) {
		all = append(all, size)
	}
	return all
}

func checkFault(t *testing.T, err error, offset int64, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want %q at byte %d", want, offset)
	}
	at, wrong := readertest.Place(err)
	if wrong != nil {
		t.Fatal(wrong)
	}
	if at == nil || at.Offset != offset || !strings.Contains(err.Error(), want) {
		t.Fatalf("got error: %v\nwant %q at byte %d", err, want, offset)
	}
}

func columns(table *readers.Table) string {
	if table == nil {
		return ""
	}
	text := strings.TrimSpace(strings.ReplaceAll(readertest.Columns(table), ": \n", ":\n"))
	return strings.TrimSuffix(strings.TrimSuffix(text, "crs: none"), "\n")
}
