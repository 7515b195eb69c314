package shapefile_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/shapefile"
	"github.com/vibeflight/vibeflight/readers/source"
)

// BenchmarkParcels reads polygons of 5 to 16 positions with and without four attributes, with one
// worker.
func BenchmarkParcels(b *testing.B) {
	const n = 100_000
	dir := b.TempDir()
	var contents [][]byte
	var records []string
	for i := range n {
		var ring xy
		corners := 4 + i%12
		for k := range corners + 1 {
			at := 2 * math.Pi * float64(k%corners) / float64(corners)
			ring = append(ring, -80+float64(i%1000)*1e-3+1e-4*math.Sin(at), 25+float64(i/1000)*1e-3+1e-4*math.Cos(at))
		}
		contents = append(contents, parts(polygon, []xy{ring}))
		records = append(records, fmt.Sprintf(" %-20s%12.3f%-100s%4d", fmt.Sprint("P-", i), float64(i)*0.37,
			"Main Street", 1950+i%75))
	}
	table := dbf([]field{{"PARCEL_ID", 'C', 20, 0}, {"AREA", 'N', 12, 3}, {"OWNER", 'C', 100, 0}, {"YEAR", 'N', 4, 0}},
		records...)
	for _, f := range []struct {
		name string
		text []byte
	}{{"with.shp", shp(polygon, contents...)}, {"with.dbf", table}, {"alone.shp", shp(polygon, contents...)}} {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for _, name := range []string{"with", "alone"} {
		b.Run(name, func(b *testing.B) { benchmark(b, filepath.Join(dir, name+".shp")) })
	}
}

func benchmark(b *testing.B, path string) {
	src, err := source.Open("parcels.shp", path)
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	f := shapefile.Format()
	opts, err := f.ParseOptions(nil)
	if err != nil {
		b.Fatal(err)
	}
	table, err := src.Sibling(".dbf")
	if err != nil {
		b.Fatal(err)
	}
	size := src.Size
	if table != nil {
		size += table.Size
	}
	b.SetBytes(size)
	for b.Loop() {
		layout, err := f.Open(context.Background(), src, opts)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := readers.Read(context.Background(), f, f.CPU(layout), src, readers.Limits{Workers: 1},
			nil); err != nil {
			b.Fatal(err)
		}
	}
}
