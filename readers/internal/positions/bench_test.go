//go:build amd64 || arm64

package positions

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// BenchmarkJSON reads rings of 4 to 12 positions, as writers have them.
func BenchmarkJSON(b *testing.B) {
	for _, style := range layouts[:3] {
		r := rand.New(rand.NewPCG(1, 2))
		var text strings.Builder
		var starts []int
		count := 0
		for range 20_000 {
			starts = append(starts, text.Len())
			n := 4 + r.IntN(9)
			count += n
			for i := range n {
				if i > 0 {
					text.WriteString(style.end)
				}
				x, y := -80-8*r.Float64(), 24+6*r.Float64()
				text.WriteString(style.opening + trimmed(x) + style.comma + trimmed(y) + style.closing)
			}
			text.WriteString("]]}},\n")
		}
		all := append([]byte(text.String()), make([]byte, 64)...)
		for _, by := range kernels() {
			b.Run(fmt.Sprintf("%s/%d", style.name, by), func(b *testing.B) {
				var g geoarrow.GeometryBuilder
				for b.Loop() {
					g.X, g.Y = g.X[:0], g.Y[:0]
					for _, p := range starts {
						readJSON(by, &g, unsafe.Pointer(unsafe.SliceData(all)), p, Most)
					}
				}
				if len(g.X) != count {
					b.Fatalf("%d of %d positions", len(g.X), count)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/position")
			})
		}
	}
}

// trimmed writes 7 decimals without zeros at the end.
func trimmed(v float64) string { return strings.TrimRight(fmt.Sprintf("%.7f", v), "0") }
