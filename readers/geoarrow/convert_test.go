package geoarrow

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// checkRows compares a column with what its rows are, in WKB, WKT and views.
func checkRows(t *testing.T, what string, rows []model, g *Geometry) {
	t.Helper()
	checkGeometry(t, g)
	w, err := g.ToWKB()
	if err != nil {
		t.Fatal(err)
	}
	checkGeometry(t, w)
	offsets, text, err := g.ToWKT()
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range rows {
		if got := w.WKB[w.Offsets[i]:w.Offsets[i+1]]; !bytes.Equal(got, m.wkb()) {
			t.Fatalf("%s, row %d %s: WKB\n got %x\nwant %x", what, i, m.wkt(), got, m.wkb())
		}
		if got := string(text[offsets[i]:offsets[i+1]]); got != m.wkt() {
			t.Fatalf("%s, row %d: WKT\n got %s\nwant %s", what, i, got, m.wkt())
		}
		if m.kind == NoKind {
			continue
		}
		got, err := WKBToWKT(nil, m.wkb())
		if err != nil || string(got) != m.wkt() {
			t.Fatalf("%s, row %d: WKBToWKT %s, %v\nwant %s", what, i, got, err, m.wkt())
		}
		if k := w.Kinds[i]; k != MakeRowKind(m.kind, m.dim) {
			t.Fatalf("%s, row %d is %s, want %s", what, i, k, MakeRowKind(m.kind, m.dim))
		}
	}
}

func TestRowsSurviveEveryEncoding(t *testing.T) {
	eachColumn(t, func(t *testing.T, _ *rand.Rand, rows []model, g *Geometry) {
		checkRows(t, "as built", rows, g)
		kinds := []Kind{g.Kind, g.Kind.Multi()}
		if g.Nulls == g.Rows {
			kinds = []Kind{NoKind, Point, LineString, Polygon, MultiPoint, MultiLineString, MultiPolygon}
		}
		for _, k := range kinds {
			for d := g.Dim; d <= XYZM; d++ {
				if g.Dim&^d == 0 {
					p := g.Promote(k, d)
					checkRows(t, fmt.Sprint("promoted to ", k, d), rows, p)
					if p.Kind != k || p.Dim != d {
						t.Fatalf("Promote to %s %d gave %s %d", k, d, p.Kind, p.Dim)
					}
				}
			}
		}
	})
}

// A chunk of single geometries that is promoted is what a chunk with a Multi geometry in it would
// have given.
func TestPromoteIsWhatTheBuilderGives(t *testing.T) {
	for k := Point; k <= Polygon; k++ {
		for n := range 40 {
			r := rand.New(rand.NewPCG(uint64(k), uint64(n)))
			rows, g := mix{kinds: []Kind{k}, dims: []Dim{XY, XYZ}}.column(t, r, n, 0.2)
			multi := model{kind: k.Multi(), dim: XYZM}
			var b GeometryBuilder
			b.Reset()
			for _, m := range append(slices.Clone(rows), multi) {
				m.feed(&b)
			}
			want, err := b.Finish()
			if err != nil {
				t.Fatal(err)
			}
			got := dump(g.Promote(k.Multi(), XYZM))
			if want := dump(want.Slice(0, n)); got != want {
				t.Fatalf("%s, %d rows:\n got %s\nwant %s", k, n, got, want)
			}
		}
	}
}

func TestPromoteToItself(t *testing.T) {
	g := &Geometry{Kind: Point}
	if g.Promote(Point, XY) != g {
		t.Error("not the column itself")
	}
}

func TestPromoteImpossible(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a LineString became a MultiPolygon")
		}
	}()
	(&Geometry{Rows: 1, Kind: LineString, Geoms: []int32{0, 0}}).Promote(MultiPolygon, XY)
}

// TestWKBOverflow is J26: what would not fit the offsets of 32 bits is an error before it is made.
func TestWKBOverflow(t *testing.T) {
	// 64 lines of 2^22 positions would be 4 GiB; sizes are summed before a position is read.
	const rows, n = 64, 1 << 22
	geoms := make([]int32, rows+1)
	for i := range int32(rows) {
		geoms[i+1] = (i + 1) * n
	}
	g := &Geometry{Rows: rows, Kind: LineString, Geoms: geoms}
	if _, err := g.ToWKB(); !errors.Is(err, ErrBatchTooLarge) {
		t.Errorf("got %v, want %v", err, ErrBatchTooLarge)
	}
	line := &Columns{Rows: 1, Geometry: &Geometry{
		Rows: 1, Kind: LineString, Geoms: []int32{0, 2},
		X: make([]float64, 2), Y: make([]float64, 2),
	}}
	j := Concatenation{Memory: &Arena{}, c: &Columns{Rows: 1, Geometry: &Geometry{
		Rows: 1, Kind: LineString,
		Geoms: []int32{0, math.MaxInt32 - 1},
	}}}
	if err := j.Append(line, 0, 1); !errors.Is(err, ErrBatchTooLarge) {
		t.Errorf("Append: got %v, want %v", err, ErrBatchTooLarge)
	}
}

// A collection of three members of 1 GB, none of which has to be there to be counted.
func TestCollectionTooLarge(t *testing.T) {
	var b GeometryBuilder
	for _, members := range []int{1, 3} {
		b.Reset()
		b.X, b.Y = append(b.X, 1), append(b.Y, 2)
		b.End(Point)
		b.BeginCollection()
		for range members {
			b.End(LineString)
		}
		if members > 1 {
			for i := range b.nodes[1:] {
				b.nodes[1+i].shape.C0, b.nodes[1+i].shape.C1 = 0, 1<<26
			}
		}
		b.EndCollection()
		if _, err := b.Finish(); errors.Is(err, ErrBatchTooLarge) != (members > 1) {
			t.Errorf("%d members: got %v", members, err)
		}
	}
}
