package engines

import (
	"testing"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/gen"
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/gpu/gputest"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// TestArenasSuffice reads files of every kind: the work on a chunk allocates nothing outside of its
// arena but what formats keep in a slot, which does not grow with chunks.
func TestArenasSuffice(t *testing.T) {
	const memory, kept = 10 << 20, 100 << 10 // chunks of 1 MiB
	device := gputest.OpenWith(t, gpu.Options{MemoryBytes: 2 * memory, CacheDir: gputest.CacheDir()})
	k, err := kernels.Load(device)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := slots.Open([]*kernels.Set{k}, slots.Config{Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	taken, _, _ := device.MemoryBytes()
	e := &Engines{cfg: Config{CacheDir: t.TempDir(), Limits: readers.Limits{Workers: 2}}}
	for _, tt := range []struct{ kind, format string }{
		{gen.Buildings, "geojson"},
		{gen.Mixed, "geojson"},
		{gen.Points, "geojson"},
		{gen.PointsCSV, "csv"},
		{gen.WKTCSV, "csv"},
		{gen.WKT, "wkt"},
		{gen.DBF, "dbf"},
		{gen.Shapefile, "shapefile"},
		{gen.KML, "kml"},
		{gen.GML, "gml"},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			f, ok := all.Formats().ByName(tt.format)
			if !ok {
				t.Fatal("no such format")
			}
			src, err := e.sample(t.Context(), f, tt.kind, 5<<19)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			engine := f.GPU(pool)
			if _, err := e.parse(t.Context(), f, src, engine.Parser); err != nil {
				t.Fatal(err)
			}
			if c := engine.Counts(); c.Chunks < 2 || c.Refused > 0 {
				t.Errorf("%d chunks, %d refused: %s", c.Chunks, c.Refused, c.Reason)
			}
			if _, peak, _ := device.MemoryBytes(); peak > taken+kept {
				t.Errorf("%d bytes next to the arenas", peak-taken)
			}
		})
	}
}
