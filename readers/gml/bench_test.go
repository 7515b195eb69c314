package gml

import (
	"context"
	"os"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// BenchmarkParcels reads parcels.gml of the comparison with other readers.
func BenchmarkParcels(b *testing.B) {
	path := "/tmp/peers/data/parcels.gml"
	if _, err := os.Stat(path); err != nil {
		b.Skip(err)
	}
	src, err := source.Open("parcels.gml", path)
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	b.SetBytes(src.Size)
	for b.Loop() {
		_, err := readers.Read(context.Background(), Format(), cpu{}, src, readers.Limits{Workers: 1}, nil)
		if err != nil {
			b.Fatal(err)
		}
	}
}
