package geoarrow

import (
	"math"
	"testing"
)

// checkGeometry checks what the comment of Geometry promises.
func checkGeometry(t *testing.T, g *Geometry) {
	t.Helper()
	checkBits(t, g.Valid, g.Rows, g.Nulls)
	rowKinds := g.Kinds
	if g.Kind == NoKind && len(g.Kinds) != g.Rows {
		t.Fatalf("a WKB column has %d kinds for %d rows", len(g.Kinds), g.Rows)
	}
	if g.Kind != NoKind && g.Kinds != nil {
		uniform := true
		for _, k := range rowKinds {
			uniform = uniform && (k == 0 || k == MakeRowKind(g.Kind, g.Dim))
		}
		if uniform {
			t.Fatal("Kinds of a uniform column")
		}
	}
	positions := g.Rows
	switch g.Kind {
	case NoKind:
		checkOffsets(t, "Offsets", g.Offsets, g.Rows, len(g.WKB))
		return
	case LineString, MultiPoint:
		positions = checkOffsets(t, "Geoms", g.Geoms, g.Rows, -1)
	case Polygon, MultiLineString:
		positions = checkOffsets(t, "Rings", g.Rings, checkOffsets(t, "Geoms", g.Geoms, g.Rows, -1), -1)
	case MultiPolygon:
		parts := checkOffsets(t, "Geoms", g.Geoms, g.Rows, -1)
		positions = checkOffsets(t, "Rings", g.Rings, checkOffsets(t, "Parts", g.Parts, parts, -1), -1)
	}
	want := [4]int{positions, positions, positions * int(g.Dim&1), positions * int(g.Dim>>1)}
	if got := [4]int{len(g.X), len(g.Y), len(g.Z), len(g.M)}; got != want {
		t.Fatalf("lengths of ordinates %v, want %v", got, want)
	}
	for i := range g.Rows {
		switch {
		case g.valid(i):
		case g.Kind != Point && g.Geoms[i] != g.Geoms[i+1]:
			t.Fatalf("null row %d has positions", i)
		case g.Kind == Point && (math.Float64bits(g.X[i]) != 0 || math.Float64bits(g.Y[i]) != 0 ||
			g.Z != nil && g.Z[i] != 0 || g.M != nil && g.M[i] != 0):
			t.Fatalf("null row %d is not zero", i)
		}
	}
	for _, v := range g.ordinates() {
		for i := range v {
			if v[i] != v[i] && math.Float64bits(v[i]) != 0x7ff8000000000000 {
				t.Fatalf("NaN %x", math.Float64bits(v[i]))
			}
		}
	}
}

func checkOffsets(t *testing.T, name string, o []int32, n, end int) int {
	t.Helper()
	if len(o) != n+1 || o[0] != 0 || end >= 0 && int(o[n]) != end {
		t.Fatalf("%s %v, want %d of them from 0 to %d", name, o, n+1, end)
	}
	for i := range n {
		if o[i] > o[i+1] {
			t.Fatalf("%s fall: %v", name, o)
		}
	}
	return int(o[n])
}

func checkBits(t *testing.T, valid []byte, rows, nulls int) {
	t.Helper()
	switch {
	case (valid == nil) != (nulls == 0):
		t.Fatalf("validity %x with %d nulls", valid, nulls)
	case valid != nil && (len(valid) != (rows+7)/8 || rows-countBits(valid) != nulls || rows&7 != 0 &&
		valid[rows/8]>>(rows&7) != 0):
		t.Fatalf("validity %x of %d rows with %d nulls", valid, rows, nulls)
	}
}
