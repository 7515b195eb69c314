package csv_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/source"
)

// TestSkippedHasNoSay: under on_error: skip a record that is left out does not decide what the
// geometry is.
func TestSkippedHasNoSay(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"too few fields", "wkt,v\nfoo\nPOINT(1 2),1\n", "v: int32, geometry: geoarrow.point xy"},
		{"too many fields", "lat,lon\nx,y,z\n1,2\n", "geometry: geoarrow.point xy"},
		{"after a quote", "lat,lon\n1,\"x\"y\n1,2\n", "geometry: geoarrow.point xy"},
		{"after a quote and on", "lat,lon\n\"x\"y,\"a\nb\"\n1,2\n", "geometry: geoarrow.point xy"},
		{"not in the encoding", "lat,lon,v\nx,y,\xff\n1,2,3\n", "v: int32, geometry: geoarrow.point xy"},
		{"nothing else", "lat,lon\n1\n", "lat: string, lon: string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := parse(t, "a.csv", c.text, options{"on_error": "skip"})
			if err != nil {
				t.Fatalf("%q: %v", c.text, err)
			}
			if got := header(table); got != c.want {
				t.Errorf("%q\ngot  %s\nwant %s", c.text, got, c.want)
			}
		})
	}
}

// TestPaddedCell: a geometry that a short record does not have is null, whatever the record before
// had.
func TestPaddedCell(t *testing.T) {
	for _, cell := range []string{"POINT(1 2)", "SRID=4326;LINESTRING(1 2,3 4)", "GEOMETRYCOLLECTION(POINT(1 2))", ""} {
		text := "a,wkt\n0,POINT(0 0)\n1,\"" + cell + "\"\n2\n3,\n4\n"
		table, err := parse(t, "a.csv", text, options{"ragged": "pad"})
		if err != nil {
			t.Fatal(err)
		}
		g := table.Batches[0].Geometry
		if nulls := g.Nulls; nulls != 3 && cell != "" || g.Valid[0]&0b11100 != 0 {
			t.Errorf("%q: %d nulls, validity %b", text, nulls, g.Valid)
		}
	}
}

// TestTooLongAndMalformed: which of the two a record is does not depend on windows. A field is read
// as a whole before it is found wrong.
func TestTooLongAndMalformed(t *testing.T) {
	for _, text := range []string{
		"v,geom\n1,POINT(1 2)\n1,POINT(x" + strings.Repeat(" ", 100) + ")\n",
		"v,geom\n1,POINT(1 2)\n\"\xff" + strings.Repeat(" ", 100) + "\",\n",
		"lat,lon\n1,2\n1,x" + strings.Repeat(" ", 100) + "\n",
		"geom,v\nSRID=1;POINT(1 2),1\nSRID=2;POINT(1 2)," + strings.Repeat("x", 100) + "\n",
	} {
		in := readertest.Input{Name: "a.csv", Text: []byte(text), Limits: readers.Limits{MaxFeatureBytes: 40}}
		readertest.Same(t, csv.Format(), in, []int{1, 7, 39, 40, 41, 50, 65, 90, 200}, variants...)
		_, err := readertest.Parse(t, csv.Format(), in)
		if e := (*readers.LimitError)(nil); !errors.As(err, &e) || e.Flag != "--max-feature-bytes" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestNegativeZero: the sign is a part of the value, so what is written as -0 is no integer.
func TestNegativeZero(t *testing.T) {
	for _, c := range []struct {
		text string
		want []float64
	}{
		{"a\n-0\n1.5\n", []float64{math.Copysign(0, -1), 1.5}},
		{"a\n1.5\n-0\n", []float64{1.5, math.Copysign(0, -1)}},
		{"a\n7\n-0\n0\n", []float64{7, math.Copysign(0, -1), 0}},
		{"a\n7\n\" -0\"\n-0.0\n", []float64{7, math.Copysign(0, -1), math.Copysign(0, -1)}},
		{"a\n0\n2.5\n0\n", []float64{0, 2.5, 0}},
		{"a\n+0\n2.5\n-1e-400\n", []float64{0, 2.5, math.Copysign(0, -1)}},
	} {
		for _, rows := range []int{1, 2, 10} {
			in := readertest.Input{Name: "a.csv", Text: []byte(c.text), Limits: readers.Limits{BatchRows: rows}}
			readertest.Same(t, csv.Format(), in, []int{1, 2, 3, 5, 9}, variants...)
			table, err := readertest.Parse(t, csv.Format(), in)
			if err != nil {
				t.Fatalf("%q: %v", c.text, err)
			}
			var got []float64
			for _, b := range table.Batches {
				if a := b.Attributes[0]; a.Type.String() == "float64" {
					got = append(got, geoarrow.View[float64](a.Values)...)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) { // which prints the sign
				t.Errorf("%q in batches of %d: %v, want %v", c.text, rows, got, c.want)
			}
		}
	}
	table, err := readertest.Parse(t, csv.Format(), readertest.Input{Name: "a.csv", Text: []byte("a,x,y\n1,-0, -00\n")})
	if err != nil || math.Signbit(table.Batches[0].Geometry.X[0]) != true ||
		math.Signbit(table.Batches[0].Geometry.Y[0]) != true {
		t.Errorf("%v: ordinates lost their sign", err)
	}
}

// TestManyColumns reads what takes the square of the number of columns, unless care is taken.
func TestManyColumns(t *testing.T) {
	const n = 1 << 14
	text := strings.Repeat("a,", n-1) + "a\n" + strings.Repeat("1,", n-1) + "1\n" + strings.Repeat("2,", n-1) + "2\n"
	for _, opts := range []options{{}, {"types": "string"}, {"types": "string", "on_error": "skip"}} {
		table, err := readertest.Parse(t, csv.Format(), readertest.Input{
			Name: "a.csv", Text: []byte(text),
			Options: opts,
		})
		if err != nil || table.Rows != 2 || len(table.Batches[0].Attributes) != n ||
			table.Batches[0].Attributes[n-1].Name != "a_16383" {
			t.Fatalf("%v: %v", opts, err)
		}
	}
}

// TestGrownDialect: a quote that is open under another delimiter may be closed after the end of
// the file, and show that one to be right.
func TestGrownDialect(t *testing.T) {
	before := "a;b;c,d\n1;2;\"x,2\n"
	old, _, err := readOn(t, before, nil, readers.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if old.Summary.Appendable {
		t.Errorf("%q is appendable, with %s", before, header(old))
	}
	grown, _, err := readOn(t, before+"\"\n", nil, readers.Limits{})
	if err != nil || header(grown) == header(old) {
		t.Errorf("got %s, %v: the test has lost its point", header(grown), err)
	}
}

// TestCutInBlankLines: a file that loses its end while it is read is no malformed file.
func TestCutInBlankLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	text := "a\n1\n" + strings.Repeat("\n", 1<<20) + "2\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open("a.csv", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	opts, err := csv.Format().ParseOptions(nil)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := csv.Format().Open(t.Context(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, window.Bytes+100); err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 2} {
		req := readers.Request{Span: readers.Span{From: 4, To: -1}, Limits: readers.Limits{
			Workers:   workers,
			PartBytes: 1000,
		}}
		_, err = csv.Format().CPU(layout).Parse(t.Context(), src, req, func(readers.Chunk) error { return nil })
		if !errors.Is(err, source.ErrChanged) {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}
