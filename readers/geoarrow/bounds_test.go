package geoarrow

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBoundsOfRandomColumns(t *testing.T) {
	eachColumn(t, func(t *testing.T, _ *rand.Rand, rows []model, g *Geometry) {
		w, err := g.ToWKB()
		if err != nil {
			t.Fatal(err)
		}
		promoted := g.Promote(g.Kind.Multi(), XYZM)
		total, positions, types := emptyBox, 0, map[RowKind]struct{}{}
		for i, m := range rows {
			want := emptyBox
			for _, p := range m.positions() {
				want.add(p[0:1], p[1:2])
				total.add(p[0:1], p[1:2])
				positions++
			}
			if m.kind != NoKind {
				types[MakeRowKind(m.kind, m.dim)] = struct{}{}
			}
			for _, g := range []*Geometry{g, w, promoted} {
				var got box
				var ok bool
				got.xmin, got.ymin, got.xmax, got.ymax, ok = g.Bounds(i)
				if ok != (len(m.positions()) > 0) || ok && got != want {
					t.Fatalf("%s %s: got %v, %t, want %v", g.Kind, m.wkt(), got, ok, want)
				}
			}
		}
		for _, g := range []*Geometry{g, w, promoted} {
			got, ok := g.TotalBounds()
			if ok != (positions > 0) || ok && got != [4]float64{total.xmin, total.ymin, total.xmax, total.ymax} {
				t.Fatalf("%s: got %v, %t, want %v", g.Kind, got, ok, total)
			}
			if n := g.Positions(); n != int64(positions) {
				t.Fatalf("%s: %d positions, want %d", g.Kind, n, positions)
			}
			set := map[RowKind]struct{}{}
			if g.AppendTypes(set); !maps.Equal(set, types) {
				t.Fatalf("%s: types %v, want %v", g.Kind, set, types)
			}
		}
	})
}

func TestBoundsNaN(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name string
		x, y []float64
		want string
	}{
		{"none", nil, nil, "[0 0 0 0] false"},
		{"only nan", []float64{nan, nan}, []float64{nan, 1}, "[0 0 0 0] false"},
		{"one nan", []float64{1, nan, 3}, []float64{4, 5, nan}, "[1 4 1 4] true"},
		{"infinite", []float64{inf, 1}, []float64{-inf, 2}, "[1 -Inf +Inf 2] true"},
		{"all infinite", []float64{inf}, []float64{inf}, "[+Inf +Inf +Inf +Inf] true"},
	} {
		g := &Geometry{Rows: 1, Kind: LineString, Geoms: []int32{0, int32(len(c.x))}, X: c.x, Y: c.y}
		w, err := g.ToWKB()
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []*Geometry{g, w} {
			total, ok := g.TotalBounds()
			if got := fmt.Sprint(total, ok); got != c.want {
				t.Errorf("%s: total %s, want %s", c.name, got, c.want)
			}
			xmin, ymin, xmax, ymax, ok := g.Bounds(0)
			if got := fmt.Sprint([]float64{xmin, ymin, xmax, ymax}, ok); got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
		}
	}
}

func TestRowKindString(t *testing.T) {
	var got []string
	for _, k := range []RowKind{
		0, MakeRowKind(Polygon, XY), MakeRowKind(Point, XYZ), MakeRowKind(Point, XYM),
		MakeRowKind(GeometryCollection, XYZM),
	} {
		got = append(got, k.String())
	}
	if want := []string{"null", "Polygon", "Point Z", "Point M", "GeometryCollection ZM"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
