//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// grid is a CSV of n points along a line, with columns that rise with them, some of them null.
func grid(n int) string {
	var b strings.Builder
	b.WriteString("i,x,s,d,t,b,lon,lat\n")
	for i := range n {
		x, s := fmt.Sprintf("%.2f", float64(i)/4), fmt.Sprintf("s%04d", i)
		switch {
		case i%7 == 3:
			x = ""
		case i%11 == 5:
			s = ""
		case i == 200:
			x = "nan"
		}
		fmt.Fprintf(&b, "%d,%s,%s,2020-%02d-%02d,2020-01-01T00:%02d:%02d,%t,%d,%d\n", i, x, s, 1+i/28%12,
			1+i%28, i/60%60, i%60, i > n/2, i%180, i%90)
	}
	return b.String()
}

func TestPruning(t *testing.T) {
	w := newWorld(t, map[string]string{"grid.csv": grid(320)}) // 20 batches of 16 rows
	for _, c := range []struct {
		name, where string
		args        []any
		read        int64 // batches
	}{
		{"all", "true", nil, 20},
		{"equal", "i = 100", nil, 1},
		{"less", "i < 33", nil, 3},
		{"at most, at a bound", "i <= 16", nil, 2},
		{"greater", "i > 303", nil, 1},
		{"between", "i BETWEEN 40 AND 70", nil, 3},
		{"in", "i IN (1, 100, 101, 319)", nil, 3},
		{"or", "i = 1 OR i = 319", nil, 2},
		{"or with something else", "i = 1 OR random() < 2", nil, 20},
		{"and with something else", "i = 1 AND random() < 2", nil, 1},
		{"cast to double", "i::DOUBLE > 300.5", nil, 2},
		{"cast to decimal", "i > 300.5", nil, 2},
		{"mirrored", "300 < i", nil, 2},
		{"not a number is greatest", "x > 70", nil, 4},
		{"double", "x < 4", nil, 1},
		{"text", "s < 's0016'", nil, 1},
		{"date", "d <= '2020-01-16'", nil, 1},
		{"timestamp", "t < '2020-01-01 00:00:16'", nil, 1},
		{"null", "x IS NULL AND i < 16", nil, 1},
		{"parameter", "i = $1", []any{100}, 1},
		{"parameters", "i >= ? AND x < ?", []any{16, 8.5}, 2},
		{"text parameter", "s = ?", []any{"s0100"}, 1},
		{"null parameter", "i = ?", []any{nil}, 0},
		{"parameter that has to be cast", "i > ?", []any{300.5}, 20},
		{"box", "geometry && 'POLYGON((10 10,11 10,11 11,10 11,10 10))'::GEOMETRY", nil, 2},
		{"box, mirrored", "ST_Intersects_Extent('POINT(10 10)'::GEOMETRY, geometry)", nil, 2},
		{"a line", "geometry && 'LINESTRING(10 10,20 20)'::GEOMETRY", nil, 4},
		{"nowhere", "geometry && 'POINT(-1 -1)'::GEOMETRY", nil, 0},
		{
			"a collection", "geometry && 'GEOMETRYCOLLECTION(POINT(1 1),MULTIPOLYGON(((2 2,3 2,3 3,2 2))))'::GEOMETRY",
			nil, 2,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			query := "SELECT i FROM grid WHERE " + c.where + " ORDER BY i"
			got, err := w.ask(query, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			before := w.engine.count.read.Load()
			want, err := w.askWhole(query, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s:\ngot  %q\nwant %q", query, got, want)
			}
			if all := w.engine.count.read.Load() - before; all != 20 && len(want) > 0 {
				t.Errorf("%s: without pruning %d batches were read", query, all)
			}
			before = w.engine.count.read.Load()
			if _, err := w.ask(query, c.args...); err != nil {
				t.Fatal(err)
			}
			if read := w.engine.count.read.Load() - before; read != c.read {
				t.Errorf("%s: %d batches were read, want %d", query, read, c.read)
			}
		})
	}
}
