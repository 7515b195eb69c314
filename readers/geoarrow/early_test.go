package geoarrow

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestEarlyWKB collects the same rows in a builder that writes WKB at its end and in one that
// writes it every few positions.
func TestEarlyWKB(t *testing.T) {
	for seed := range uint64(300) {
		step := 1 + int(seed%9)
		t.Run(fmt.Sprintf("seed %d, every %d", seed, step), func(t *testing.T) {
			var late, early GeometryBuilder
			late.early.step, early.early.step = 1<<30, step
			for chunk := range uint64(2) { // the second one in the memory of the first
				late.Reset()
				early.Reset()
				for _, b := range []*GeometryBuilder{&late, &early} {
					r := rand.New(rand.NewPCG(seed, chunk))
					kinds := 1 + r.IntN(8)
					for range r.IntN(60) {
						addRow(b, r, Kind(r.IntN(kinds)), 0)
						if r.IntN(10) == 0 { // a row that is taken back
							b.X, b.Y = append(b.X, 1), append(b.Y, 2)
							b.AddZ(3)
							b.EndRing()
							b.Undo()
						}
						if r.IntN(20) == 0 {
							b.Reserve(2)
						}
					}
				}
				want, err := late.Finish()
				if err != nil {
					t.Fatal(err)
				}
				got, err := early.Finish()
				if err != nil {
					t.Fatal(err)
				}
				if g, w := fmt.Sprintf("%+v", *got), fmt.Sprintf("%+v", *want); g != w { // in words NaN equals NaN
					t.Fatalf("chunk %d: got %s\nwant %s", chunk, g, w)
				}
			}
		})
	}
}

// addRow adds a random geometry, as a row or as a member of a collection.
func addRow(b *GeometryBuilder, r *rand.Rand, k Kind, depth int) {
	line := func() {
		for range r.IntN(4) {
			b.X, b.Y = append(b.X, r.Float64()), append(b.Y, r.Float64())
			if r.IntN(6) == 0 {
				b.AddZ(r.Float64())
			}
		}
	}
	polygon := func() {
		for range r.IntN(3) {
			line()
			b.EndRing()
		}
	}
	switch k {
	case NoKind:
		if depth == 0 {
			b.Null()
			return
		}
		k = LineString
		line()
	case Point:
		if r.IntN(5) > 0 {
			b.X, b.Y = append(b.X, r.Float64()), append(b.Y, r.Float64())
		}
	case LineString, MultiPoint:
		line()
	case Polygon, MultiLineString:
		polygon()
	case MultiPolygon:
		for range r.IntN(3) {
			polygon()
			b.EndPart()
		}
	case GeometryCollection:
		b.BeginCollection()
		for range r.IntN(3) {
			addRow(b, r, Kind(r.IntN(8-depth)), depth+1)
		}
		b.EndCollection()
		return
	}
	b.End(k)
}
