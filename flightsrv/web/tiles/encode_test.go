package tiles

import (
	"math/rand/v2"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/mvt"
	"github.com/paulmach/orb/geojson"
)

// BenchmarkEncode encodes 10,000 polygons of five vertices with three attributes by our encoder and
// by that of orb. Both begin with vertices in units, and with attributes as they come: ours in
// columns, orb's in a map for each feature.
func BenchmarkEncode(b *testing.B) {
	const n = 10_000
	rng := rand.New(rand.NewPCG(1, 2))
	rings := make([][]vertex, n)
	names := []string{"Oak", "Elm St", "7th Ave", "Barn", "Shed", "Villa"}
	for i := range rings {
		x, y := rng.Int64N(4000), rng.Int64N(4000)
		rings[i] = []vertex{{x, y}, {x + 20, y + 1}, {x + 22, y + 15}, {x + 10, y + 30}, {x - 1, y + 20}}
	}
	b.Run("ours", func(b *testing.B) {
		for range b.N {
			l := newLayer("buildings", []string{"id", "h", "name"}, 4096, 10<<20)
			var c commands
			var values []byte
			for i, r := range rings {
				c.reset()
				c.ring(r, area(r) < 0)
				values = appendInt(values[:0], int64(i))
				first := len(values)
				values = appendDouble(values, float64(i%300)/10)
				second := len(values)
				values = appendBytes(values, valueString, []byte(names[i%len(names)]))
				all := [][]byte{values[:first], values[first:second], values[second:]}
				if !l.add(int64(i), polygonType, c.bytes, all) {
					b.Fatal("the layer is full")
				}
			}
			b.SetBytes(int64(len(l.tile())))
		}
	})
	b.Run("orb", func(b *testing.B) {
		for range b.N {
			layer := &mvt.Layer{Name: "buildings", Version: 2, Extent: 4096}
			for i, r := range rings {
				ring := make(orb.Ring, 0, len(r)+1)
				for _, v := range r {
					ring = append(ring, orb.Point{float64(v.x), float64(v.y)})
				}
				f := geojson.NewFeature(orb.Polygon{append(ring, ring[0])})
				f.ID = uint64(i)
				f.Properties = geojson.Properties{"id": int64(i), "h": float64(i%300) / 10, "name": names[i%len(names)]}
				layer.Features = append(layer.Features, f)
			}
			tile, err := mvt.Marshal(mvt.Layers{layer})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(tile)))
		}
	})
}
