package flatgeobuf_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/gogama/flatgeobuf/flatgeobuf/flat"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/flatgeobuf"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/source"
)

// TestSweep reads random files of every kind and type, many of them with mistakes and flipped bits,
// in windows, parts and batches of random sizes, some of their columns, and their chunks again:
// tables, counts and errors must be the same.
func TestSweep(t *testing.T) {
	readertest.Sweep(t, 600, func(seed uint64) bool { return sweepOne(t, rand.New(rand.NewPCG(seed, 9)), seed) })
}

// sweepOne reads a file in every way, and reports whether it is a table.
func sweepOne(t *testing.T, r *rand.Rand, seed uint64) bool {
	t.Helper()
	in := readertest.Input{Name: "a.fgb", Text: sweepFile(r)}
	in.Options = map[string]any{"on_error": []string{"fail", "skip", "null", "repair"}[r.IntN(4)]}
	sizes := []int{1 + r.IntN(60), 1 + r.IntN(600), 1 + r.IntN(64<<10)}
	table, err := readertest.Check(t, flatgeobuf.Format(), in)
	readertest.Same(t, flatgeobuf.Format(), in, sizes, windows, parallel)
	readertest.Projected(t, flatgeobuf.Format(), in, readertest.Some(seed), windows, parallel)
	small := in
	small.Limits.BatchRows = 1 + r.IntN(5)
	if err == nil {
		again, err := readertest.Check(t, flatgeobuf.Format(), small)
		if err != nil || readertest.Rows(again) != readertest.Rows(table) {
			t.Errorf("%q\nbatches of %d rows, error %v", in.Text, small.Limits.BatchRows, err)
		}
		checkSpans(t, small)
	}
	readertest.Same(t, flatgeobuf.Format(), small, sizes, windows, parallel)
	return err == nil
}

// checkSpans reads each chunk again by its span: it has as many rows as the first time, and the
// same ones, as far as their geometries tell.
func checkSpans(t *testing.T, in readertest.Input) {
	t.Helper()
	src, layout := openFile(t, in)
	defer func() { _ = src.Close() }()
	parser := flatgeobuf.Parallel(layout, 50)
	read := func(span readers.Span) (chunks []readers.Chunk) {
		_, err := parser.Parse(t.Context(), src, readers.Request{Span: span, Limits: in.Limits},
			func(c readers.Chunk) error {
				chunks = append(chunks, c)
				return nil
			})
		if err != nil {
			t.Errorf("%+v: %v", span, err)
		}
		return chunks
	}
	for _, c := range read(readers.Span{To: -1}) {
		if c.Columns.Rows == 0 {
			continue
		}
		again := read(c.Span)
		if len(again) != 1 || again[0].Columns.Rows != c.Columns.Rows {
			t.Errorf("%q\n%+v again, got %d chunks", in.Text, c.Span, len(again))
			return
		}
		_, got, gotErr := again[0].Columns.Geometry.ToWKT()
		_, want, wantErr := c.Columns.Geometry.ToWKT()
		if !bytes.Equal(got, want) || gotErr != nil || wantErr != nil {
			t.Errorf("%q\n%+v again, got\n%s\nwant:\n%s", in.Text, c.Span, got, want)
			return
		}
	}
}

func openFile(t *testing.T, in readertest.Input) (*source.File, readers.Layout) {
	t.Helper()
	path := filepath.Join(t.TempDir(), in.Name)
	if err := os.WriteFile(path, in.Text, 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open(in.Name, path)
	if err != nil {
		t.Fatal(err)
	}
	opts, err := flatgeobuf.Format().ParseOptions(in.Options)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := flatgeobuf.Format().Open(t.Context(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	return src, layout
}

// sweepFile returns a random file. Of three, one has flipped bits or is cut.
func sweepFile(r *rand.Rand) []byte {
	kinds := []flat.GeometryType{
		unknown, point, lineString, polygon, multiPoint, multiLineString,
		multiPolygon, collection,
	}
	f := fgbFile{kind: kinds[r.IntN(len(kinds))]}
	for i := range r.IntN(6) {
		f.columns = append(f.columns, fgbColumn{fmt.Sprint("c", i%4), flat.ColumnType(r.IntN(15))})
	}
	careless := r.IntN(3) == 0
	for range r.IntN(40) {
		var s *shape
		if r.IntN(8) > 0 {
			kind := f.kind
			if kind == unknown || careless && r.IntN(10) == 0 {
				kind = kinds[r.IntN(len(kinds))]
			}
			one := sweepShape(r, kind, 3)
			s = &one
		}
		f.features = append(f.features, feature(s, sweepValues(r, f.columns, careless)...))
	}
	if r.IntN(2) == 0 {
		f.count, f.nodes = uint64(len(f.features)), uint16(2*r.IntN(3))
		if r.IntN(20) == 0 {
			f.count++
		}
	}
	text := f.bytes()
	if r.IntN(3) == 0 {
		for range 1 + r.IntN(3) {
			text[r.IntN(len(text))] ^= 1 << r.IntN(8)
		}
	}
	if r.IntN(10) == 0 {
		text = text[:r.IntN(len(text))]
	}
	return text
}

func sweepShape(r *rand.Rand, kind flat.GeometryType, depth int) shape {
	s := shape{kind: kind}
	switch {
	case kind == multiPolygon || kind == collection:
		for range r.IntN(4) {
			member := polygon
			if kind == collection {
				member = flat.GeometryType(1 + r.IntN(6+min(1, depth)))
			}
			s.parts = append(s.parts, sweepShape(r, member, depth-1))
		}
		return s
	case r.IntN(8) == 0:
		return s
	}
	n := 1
	if kind != point {
		n = r.IntN(9)
	}
	s.xy = sweepOrdinates(r, 2*n)
	if r.IntN(3) == 0 {
		s.z = sweepOrdinates(r, n)
	}
	if r.IntN(5) == 0 {
		s.m = sweepOrdinates(r, n)
	}
	if r.IntN(20) == 0 {
		s.t = sweepOrdinates(r, n)
	}
	if (kind == polygon || kind == multiLineString) && r.IntN(2) == 0 {
		s.ends = []uint32{uint32(r.IntN(n + 1)), uint32(n)}
	}
	return s
}

func sweepOrdinates(r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		switch r.IntN(6) {
		case 0:
			v[i] = nan
		case 1:
			v[i] = math.Float64frombits(r.Uint64())
		default:
			v[i] = float64(r.IntN(20) - 10)
		}
	}
	return v
}

func sweepValues(r *rand.Rand, columns []fgbColumn, careless bool) (values [][]byte) {
	times := []string{
		"2020-01-31", "2020-01-31T10:11:12", "2020-01-31T10:11:12.123456", "2020-01-31T10:11:12Z",
		"2020-01-31T10:11:12+02:00", "10:11", "never",
	}
	some := times[r.IntN(len(times))]
	widths := []int{1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8}
	for i, c := range columns {
		if r.IntN(5) == 0 {
			continue
		}
		var v any
		switch k := int(c.kind); {
		case c.kind == flat.ColumnTypeBool:
			v = r.IntN(2) == 0
		case k < len(widths):
			b := make([]byte, widths[k])
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			v = b
		case c.kind == flat.ColumnTypeJson:
			v = []string{"[1, 2]", `{"a":null}`, `"é"`, "7"}[r.IntN(4)]
		case c.kind == flat.ColumnTypeDateTime && r.IntN(8) > 0:
			v = some
		default:
			v = []string{"", "a", "é", "2020-01-01", times[r.IntN(len(times))]}[r.IntN(5)]
		}
		if careless && r.IntN(30) == 0 {
			v = "\xff"
		}
		values = append(values, value(uint16(i), v))
	}
	r.Shuffle(len(values), func(i, k int) { values[i], values[k] = values[k], values[i] })
	return values
}
