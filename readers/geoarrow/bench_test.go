package geoarrow

import (
	"math/rand/v2"
	"testing"
)

// benchColumn returns rows of the kind whose rings have n positions: 5 is a building of
// gen_buildings.c.
func benchColumn(k Kind, d Dim, rows, n int) *Geometry {
	r := rand.New(rand.NewPCG(1, 1))
	var b GeometryBuilder
	b.Reset()
	for range rows {
		for range n {
			b.X, b.Y = append(b.X, r.Float64()*360-180), append(b.Y, r.Float64()*180-90)
			if d&HasZ != 0 {
				b.AddZ(r.Float64() * 100)
			}
		}
		if k == Polygon {
			b.EndRing()
		}
		b.End(k)
	}
	g, _ := b.Finish()
	return g
}

var benchColumns = []struct {
	name string
	kind Kind
	dim  Dim
	rows int
	n    int
}{
	{"point", Point, XY, 65536, 1},
	{"point z", Point, XYZ, 65536, 1},
	{"polygon of 5", Polygon, XY, 65536, 5},
	{"line of 100", LineString, XY, 8192, 100},
	{"line z of 100", LineString, XYZ, 8192, 100},
}

func BenchmarkAppendWKB(b *testing.B) {
	for _, c := range benchColumns {
		b.Run(c.name, func(b *testing.B) {
			g := benchColumn(c.kind, c.dim, c.rows, c.n)
			var out []byte
			for b.Loop() {
				out = out[:0]
				for i := range g.Rows {
					s, _ := g.Shape(i)
					out = AppendWKB(out, s)
				}
			}
			b.SetBytes(int64(len(out)))
		})
	}
}

func BenchmarkToWKB(b *testing.B) {
	g := benchColumn(Polygon, XY, 65536, 5)
	for b.Loop() {
		w, err := g.ToWKB()
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(w.WKB)))
	}
}

func BenchmarkToWKT(b *testing.B) {
	g := benchColumn(Polygon, XY, 65536, 5)
	for b.Loop() {
		_, text, err := g.ToWKT()
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(text)))
	}
}

func BenchmarkTotalBounds(b *testing.B) {
	for _, c := range benchColumns[2:3] {
		g := benchColumn(c.kind, c.dim, c.rows, c.n)
		b.Run("native "+c.name, func(b *testing.B) {
			b.SetBytes(16 * int64(len(g.X)))
			for b.Loop() {
				g.TotalBounds()
			}
		})
		w, err := g.ToWKB()
		if err != nil {
			b.Fatal(err)
		}
		b.Run("wkb "+c.name, func(b *testing.B) {
			b.SetBytes(int64(len(w.WKB)))
			for b.Loop() {
				w.TotalBounds()
			}
		})
	}
}

func BenchmarkInterleave(b *testing.B) {
	g := benchColumn(Polygon, XY, 65536, 5)
	b.SetBytes(16 * int64(len(g.X)))
	for b.Loop() {
		g.interleave()
	}
}
