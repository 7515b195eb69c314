package geojson_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/source"
)

// readOn reads a text as a sequence, or extends old. ok is false if that is impossible.
func readOn(t *testing.T, text string, old *readers.Table, limits readers.Limits) (table *readers.Table,
	ok bool, err error,
) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.geojsonl")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open("a.geojsonl", path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	f := geojson.Format()
	opts, err := f.ParseOptions(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	layout, err := f.Open(ctx, src, opts)
	if err != nil {
		t.Fatal(err)
	}
	ok = true
	if old == nil {
		table, err = readers.Read(ctx, f, f.CPU(layout), src, limits, nil)
	} else {
		table, ok, err = readers.Extend(ctx, f, f.CPU(layout), src, limits, old, nil)
	}
	if table != nil {
		_ = table.Measure(context.Background())
	}
	return table, ok, err
}

// TestExtend lets files grow, at the end of a line or with more to the last line's blanks: the
// table must be that of the whole file, and so must the error.
func TestExtend(t *testing.T) {
	values := []string{
		`1`, `2`, `2.5`, `"00501"`, `true`, `"2024-02-29"`, `[1,2]`, `{"a":1}`, `null`,
		`9007199254740993`, `"\ud800"`,
	}
	shapes := []string{
		`null`, `{"type":"Point","coordinates":[1,2]}`,
		`{"type":"MultiPoint","coordinates":[[1,2,3,4]]}`, `{"type":"LineString","coordinates":[[0,0]]}`,
		`{"type":"Polygon","coordinates":[[[0,0],[1,1]]]}`,
	}
	r := rand.New(rand.NewPCG(4, 4))
	extended := 0
	for range 400 {
		limits := readers.Limits{BatchRows: 1 + r.IntN(9), Workers: 1 + r.IntN(3), PartBytes: 50 + r.Int64N(300)}
		few, kinds, names := 1+r.IntN(3), 1+r.IntN(len(shapes)), 1
		rows := func(n int) string {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, `{"type":"Feature","properties":{"c%d":%s},"geometry":%s`, r.IntN(names),
					values[r.IntN(few)], shapes[r.IntN(kinds)])
				if r.IntN(5) == 0 {
					fmt.Fprintf(&b, `,"id":%d,"note":1`, i)
				}
				b.WriteString("}\n")
			}
			return b.String()
		}
		before := rows(1 + r.IntN(30))
		if r.IntN(2) == 0 {
			before = strings.TrimSuffix(before, "\n")
		}
		old, _, err := readOn(t, before, nil, limits)
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(2) == 0 { // other types and names come later
			few, kinds, names = len(values), len(shapes), 3
		}
		after := before + "\n" + rows(r.IntN(30))
		if r.IntN(6) == 0 {
			after += `{"type":"Feature","geometry":nil}`
		}
		want, _, wantErr := readOn(t, after, nil, limits)
		got, ok, gotErr := readOn(t, after, old, limits)
		if !ok {
			continue
		}
		extended++
		if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
			t.Fatalf("%s\nafter\n%s\ngot error %v, want %v", after, before, gotErr, wantErr)
		}
		if wantErr != nil {
			continue
		}
		if got, want := readertest.Rows(got), readertest.Rows(want); got != want {
			t.Fatalf("%s\nafter\n%s\ngot\n%s\nwant\n%s", after, before, got, want)
		}
		if err := readertest.Canonical(got); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got.Starts, got.Spans, got.Bytes) != fmt.Sprint(want.Starts, want.Spans, want.Bytes) {
			t.Fatalf("%s\nafter\n%s\ngot\n%v %v\nwant\n%v %v", after, before, got.Starts, got.Spans,
				want.Starts, want.Spans)
		}
	}
	if extended < 300 {
		t.Errorf("only %d files were read on", extended)
	}
}
