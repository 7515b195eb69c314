package gml

import (
	"context"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// BenchmarkParcels reads parcels.gml of the comparison with other readers.
func BenchmarkParcels(b *testing.B) {
	src := readertest.BenchFile(b, "parcels.gml")
	b.SetBytes(src.Size)
	for b.Loop() {
		_, err := readers.Read(context.Background(), Format(), parser{}, src, readers.Limits{Workers: 1}, nil)
		if err != nil {
			b.Fatal(err)
		}
	}
}
