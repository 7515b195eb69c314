package tiles

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/internal/system/process"
)

// benchFile names a file, alone in its folder, that integration/bench/gen_buildings.c made, and
// benchCache a folder that keeps its table from run to run.
const (
	benchFile  = "VIBEFLIGHT_TILES"
	benchCache = "VIBEFLIGHT_TILES_CACHE"
)

// BenchmarkTile draws tiles at random places of a table, without a tile cache, and reports the
// median and the 99th percentile of their times in milliseconds.
//
//	mkdir /tmp/b; gcc -O2 -pthread integration/bench/gen_buildings.c -o /tmp/gen -lm
//	/tmp/gen 1000000 1 /tmp/b/b.geojson
//	VIBEFLIGHT_TILES=/tmp/b/b.geojson go test -bench Tile -benchtime 1x ./flightsrv/web/tiles
func BenchmarkTile(b *testing.B) {
	path := os.Getenv(benchFile)
	if path == "" {
		b.Skip("no " + benchFile)
	}
	cache := os.Getenv(benchCache)
	if cache == "" {
		cache = b.TempDir()
	}
	c := openCatalog(b, catalog.Config{Roots: []catalog.Root{{Dir: filepath.Dir(path)}}, CacheDir: cache})
	open(b.Context(), b, c, filepath.Base(path)).Release()
	c.Saved(b.Context())
	ref := open(b.Context(), b, c, filepath.Base(path))
	s := New(Config{CacheBytes: -1})
	defer s.Close()
	columns := []string{"id", "h", "name"}
	began := time.Now()
	if _, err := s.Tile(b.Context(), ref, 0, 0, 0, columns); err != nil {
		b.Fatal(err)
	}
	fmt.Fprintf(os.Stderr, "the first tile: %v\n", time.Since(began))
	for _, c := range s.overviews.tables {
		fmt.Fprintf(os.Stderr, "overview: %d lists, %d MB\n", len(c.overview.lists), c.overview.bytes>>20)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	box := *ref.Table.BBox
	for range b.N {
		var all []float64
		var largest int
		for z := range uint32(17) {
			var times, cpu []float64
			bytes := 0
			for range 200 {
				lon := box[0] + rng.Float64()*(box[2]-box[0])
				lat := box[1] + rng.Float64()*(box[3]-box[1])
				n := math.Ldexp(1, int(z))
				x, y := uint32(degrees.x(lon)*n), uint32(degrees.y(lat)*n)
				began, used := time.Now(), processor(b)
				tile, err := s.Tile(b.Context(), ref, z, x, y, columns)
				if err != nil {
					b.Fatal(err)
				}
				times = append(times, float64(time.Since(began))/1e6)
				cpu = append(cpu, float64(processor(b)-used)/1e6)
				bytes, largest = bytes+len(tile), max(largest, len(tile))
			}
			slices.Sort(times)
			slices.Sort(cpu)
			all = append(all, times...)
			fmt.Fprintf(os.Stderr, "zoom %2d: p50 %6.2f ms, p99 %6.2f ms, of the processors p50 %6.2f ms, p99 %6.2f ms, "+
				"%7d bytes\n", z, times[len(times)/2], times[len(times)*99/100], cpu[len(cpu)/2], cpu[len(cpu)*99/100],
				bytes/len(times))
		}
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], "p50-ms")
		b.ReportMetric(all[len(all)*99/100], "p99-ms")
		b.ReportMetric(all[len(all)-1], "max-ms")
		b.ReportMetric(float64(largest), "max-bytes")
	}
}

// processor returns the time that the process has used its processors for.
func processor(b *testing.B) time.Duration {
	used, err := process.CPUTime()
	if err != nil {
		b.Fatal(err)
	}
	return used
}
