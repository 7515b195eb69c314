package scan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/crs"
	"github.com/vibeflight/vibeflight/readers/crs/project"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// images returns what package project makes of the rows' lines. A line that is beyond is nil.
func images(t *testing.T, rows []row, to string) [][][2]float64 {
	t.Helper()
	p, ok := project.Between(crs.ID{Authority: "OGC", Code: "CRS84"}, crs.ID{Authority: "EPSG", Code: to})
	if !ok {
		t.Fatal(to)
	}
	out := make([][][2]float64, len(rows))
	for i, r := range rows {
		for _, v := range r.line {
			x, y := []float64{v[0]}, []float64{v[1]}
			if p.Apply(x, y, x, y) >= 0 {
				out[i] = nil
				break
			}
			out[i] = append(out[i], [2]float64{x[0], y[0]})
		}
	}
	return out
}

// onEarth returns rows with positions in a part of the earth around UTM zone 32.
func onEarth(n int) []row {
	rows := rowsOf(n)
	for i := range rows {
		for k := range rows[i].line {
			v := &rows[i].line[k]
			v[0], v[1] = v[0]/4-5, 30+v[1]/3
		}
	}
	return rows
}

func TestReprojectedScanAgainstFilter(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for i := range 400 {
		rows := onEarth([]int{1, 10, 37, 100}[rng.IntN(4)])
		to := []string{"3857", "32632"}[i%2]
		moved := images(t, rows, to)
		sel := Selection{CRS: "EPSG:" + to, Columns: [][]string{nil, {"number"}, {"geometry", "number"}}[rng.IntN(3)]}
		if rng.IntN(3) > 0 {
			x, y := moved[0][0][0]+1e6*(rng.Float64()-0.5), moved[0][0][1]+1e6*(rng.Float64()-0.5)
			side := rng.Float64() * 2e6
			sel.BBox = &[4]float64{x, y, x + side, y + side}
		}
		if rng.IntN(3) == 0 {
			limit := rng.Int64N(20)
			sel.Limit = &limit
		}
		table := tableOf(rows, 10)
		if rng.IntN(2) == 0 {
			table = mixed(t, table)
		}
		want := slices.Clone(rows)
		for k := range want {
			want[k].line = moved[k]
		}
		expected := filter(want, Selection{Columns: sel.Columns, BBox: sel.BBox, Limit: sel.Limit})
		s, err := New(table, sel)
		if err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			if n, err := s.Rows(t.Context()); n != int64(len(expected)) || err != nil {
				t.Errorf("%s: Rows gives %d, %v, want %d", show(sel), n, err, len(expected))
			}
		}
		if got := scannedOf(t, s, table); !slices.Equal(got, expected) {
			t.Fatalf("%s to %s of %d rows:\n got %q\nwant %q", show(sel), to, len(rows), got, expected)
		}
	}
}

// mixed returns the table with its geometries as WKB.
func mixed(t *testing.T, table *readers.Table) *readers.Table {
	for _, b := range table.Batches {
		wkb, err := b.Geometry.ToWKB()
		if err != nil {
			t.Fatal(err)
		}
		b.Geometry = wkb
	}
	_ = table.Measure(t.Context())
	return table
}

// scannedOf is scanned, also of a table whose geometries are WKB.
func scannedOf(t *testing.T, s *Scan, table *readers.Table) []string {
	if table.Batches[0].Geometry.Kind != geoarrow.NoKind {
		return scanned(t, s)
	}
	var out []string
	for {
		rec, err := s.Next(t.Context())
		if err != nil {
			return out
		}
		for i := range int(rec.NumRows()) {
			text := ""
			for k, col := range rec.Columns() {
				if k > 0 {
					text += "|"
				}
				wkb, ok := col.(*array.Binary)
				if !ok || wkb.IsNull(i) {
					text += arrowCell(col, i)
					continue
				}
				tree, err := geoarrow.ParseWKB(wkb.Value(i))
				if err != nil {
					t.Fatal(err)
				}
				var line [][2]float64
				for p := range slices.Chunk(tree.Runs[0], 2) {
					line = append(line, [2]float64{p[0], p[1]})
				}
				text += fmt.Sprint(line)
			}
			out = append(out, text)
		}
		rec.Release()
	}
}

// A position without an image is an error with the row, and meets no box.
func TestPositionsBeyond(t *testing.T) {
	rows := onEarth(40)
	rows[23].line, rows[23].null = [][2]float64{{9, 50}, {9, 90.5}}, false
	for _, of := range []func(*testing.T, *readers.Table) *readers.Table{
		func(_ *testing.T, table *readers.Table) *readers.Table { return table }, mixed,
	} {
		s, err := New(of(t, tableOf(rows, 10)), Selection{CRS: "EPSG:32632"})
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = s.Next(t.Context())
		}
		var beyond *OtherCRSError
		if !errors.As(err, &beyond) || !beyond.Beyond || beyond.Row != 23 {
			t.Errorf("error %v, want one of row 23", err)
		}
		s, err = New(of(t, tableOf(rows, 10)), Selection{CRS: "EPSG:32632", BBox: &[4]float64{-1e7, -1e7, 1e7, 1e7}})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, r := range rows {
			if len(r.line) > 0 {
				n++
			}
		}
		if got := len(scannedOf(t, s, tableOf(rows, 10))); got != n-1 {
			t.Errorf("%d rows meet a box of everything, want %d", got, n-1)
		}
	}
}

func TestPointsThatAreNullOrEmpty(t *testing.T) {
	nan := math.Float64frombits(0x7ff8000000000000)
	g := &geoarrow.Geometry{
		Rows: 3, Kind: geoarrow.Point, Dim: geoarrow.XYZ, Nulls: 1, Valid: []byte{0b101},
		X: []float64{9, 0, nan}, Y: []float64{50, 0, nan}, Z: []float64{7, 0, nan},
	}
	table := &readers.Table{
		CRS: geoarrow.CRS84, Rows: 3, Starts: []int64{0, 3}, Batches: []*geoarrow.Columns{{Rows: 3, Geometry: g}},
	}
	_ = table.Measure(t.Context())
	number := func(i int) int64 { return int64(i) }
	s, err := New(table, Selection{CRS: "EPSG:32646"}) // which has no coordinates for the zeros under nulls
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.view.moved(t.Context(), table.Batches[0], number); err != nil {
		t.Error(err)
	}
	if s, err = New(table, Selection{CRS: "EPSG:32632"}); err != nil {
		t.Fatal(err)
	}
	moved, err := s.view.moved(t.Context(), table.Batches[0], number)
	if err != nil {
		t.Fatal(err)
	}
	m := moved.Geometry
	empty := math.Float64bits(m.X[2]) == math.Float64bits(nan)
	if m.X[0] != 500000 || m.X[1] != 0 || m.Y[1] != 0 || !empty || m.Z[0] != 7 {
		t.Errorf("got %v %v %v", m.X, m.Y, m.Z)
	}
}

// double is a Transformer that doubles positions.
type double struct{ calls int }

func (d *double) Transform(_ context.Context, _, _ geoarrow.CRS, x, y, toX, toY []float64) error {
	d.calls++
	for i := range x {
		toX[i], toY[i] = 2*x[i], 2*y[i]
	}
	return nil
}

func TestSystemsOfOthers(t *testing.T) {
	rows := rowsOf(30)
	table := tableOf(rows, 10)
	var other *OtherCRSError
	if _, err := New(table, Selection{CRS: "EPSG:27700"}); !errors.As(err, &other) || other.Unknown {
		t.Errorf("error %v, want an *OtherCRSError", err)
	}
	if _, err := New(table, Selection{CRS: "EPSG:999999"}); !errors.As(err, &other) || !other.Unknown {
		t.Errorf("error %v, want an *OtherCRSError of an unknown system", err)
	}
	d := &double{}
	box := [4]float64{40, 40, 120, 120}
	s, err := New(table, Selection{CRS: "EPSG:27700", Transformer: d, BBox: &box})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		for k, v := range rows[i].line {
			rows[i].line[k] = [2]float64{2 * v[0], 2 * v[1]}
		}
	}
	if got, want := scanned(t, s), filter(rows, Selection{BBox: &box}); !slices.Equal(got, want) || d.calls == 0 {
		t.Errorf("got %q, want %q", got, want)
	}
	table.CRS = geoarrow.CRS{}
	if _, err := New(table, Selection{CRS: "EPSG:3857"}); !errors.As(err, &other) || other.CRS != (geoarrow.CRS{}) {
		t.Errorf("error %v for a table without a system", err)
	}
}
