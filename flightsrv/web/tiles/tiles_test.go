package tiles

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/mvt"
	"github.com/paulmach/orb/geojson"
	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers/all"
)

// openFile serves one file, copied to a folder of its own, and returns its table.
func openFile(t testing.TB, path string, onDisk bool) *catalog.TableRef {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return openText(t, filepath.Base(path), text, onDisk)
}

// openText returns the table of a file with some contents.
func openText(t testing.TB, name string, text []byte, onDisk bool) *catalog.TableRef {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := catalog.Config{Roots: []catalog.Root{{Dir: dir}}}
	if onDisk {
		cfg.CacheDir = t.TempDir()
	}
	c := openCatalog(t, cfg)
	ref := open(t.Context(), t, c, name)
	if !onDisk {
		return ref
	}
	c.Saved(t.Context())
	ref.Release()
	return open(t.Context(), t, c, name) // it has spatial indices
}

// openCatalog opens a catalog of all formats.
func openCatalog(t testing.TB, cfg catalog.Config) *catalog.Catalog {
	t.Helper()
	cfg.Formats, cfg.Log = all.Formats(), zerolog.Nop()
	c, err := catalog.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// open returns the table of an entry.
func open(ctx context.Context, t testing.TB, c *catalog.Catalog, name string) *catalog.TableRef {
	t.Helper()
	ref, err := Open(ctx, c, catalog.Request{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ref.Release)
	return ref
}

// tileOf decodes a tile with another package, after a check of its limits and rings.
func tileOf(t testing.TB, s *Set, ref *catalog.TableRef, z, x, y uint32, columns ...string) []*geojson.Feature {
	t.Helper()
	at := fmt.Sprintf("%s %d/%d/%d", ref.Entry.Name, z, x, y)
	if columns == nil {
		columns = []string{}
	}
	b, err := s.Tile(t.Context(), ref, z, x, y, columns)
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	if b == nil {
		return nil
	}
	found := decoded(t, b)
	if len(b) > s.cfg.MaxBytes || len(found) > s.cfg.MaxFeatures || len(found) == 0 {
		t.Errorf("%s: %d features in %d bytes", at, len(found), len(b))
	}
	for _, f := range found {
		checkShape(t, at, s, f.Geometry)
	}
	return found
}

// decoded returns the features of a tile.
func decoded(t testing.TB, b []byte) []*geojson.Feature {
	t.Helper()
	layers, err := mvt.Unmarshal(b)
	if err != nil {
		t.Fatal(err)
	}
	if len(layers) != 1 || layers[0].Version != 2 || layers[0].Extent != DefaultExtent {
		t.Fatalf("%d layers", len(layers))
	}
	return layers[0].Features
}

// checkShape checks a geometry of a tile against the specification.
func checkShape(t testing.TB, at string, s *Set, g orb.Geometry) {
	t.Helper()
	bound, lo, hi := g.Bound(), float64(-s.cfg.Buffer), float64(s.cfg.Extent+s.cfg.Buffer)
	if bound.Min[0] < lo || bound.Min[1] < lo || bound.Max[0] > hi || bound.Max[1] > hi {
		t.Errorf("%s: box %v is outside of the buffer", at, bound)
	}
	switch g := g.(type) {
	case orb.MultiPolygon:
		for _, p := range g {
			checkPolygon(t, at, p)
		}
	case orb.Polygon:
		checkPolygon(t, at, g)
	case orb.MultiLineString:
		for _, l := range g {
			checkLine(t, at, l)
		}
	case orb.LineString:
		checkLine(t, at, g)
	case orb.Point, orb.MultiPoint:
	default:
		t.Errorf("%s: a %T", at, g)
	}
}

func checkPolygon(t testing.TB, at string, p orb.Polygon) {
	t.Helper()
	for i, r := range p {
		sum := 0.0
		for k := 1; k < len(r); k++ {
			if r[k] == r[k-1] {
				t.Errorf("%s: two equal vertices of %v", at, r)
			}
			sum += r[k-1][0]*r[k][1] - r[k][0]*r[k-1][1]
		}
		if len(r) < 4 || r[0] != r[len(r)-1] || sum == 0 || (sum > 0) != (i == 0) {
			t.Errorf("%s: ring %d of %d has area %v: %v", at, i, len(p), sum/2, r)
		}
	}
}

func checkLine(t testing.TB, at string, l orb.LineString) {
	t.Helper()
	for k := 1; k < len(l); k++ {
		if l[k] == l[k-1] {
			t.Errorf("%s: two equal vertices of %v", at, l)
		}
	}
	if len(l) < 2 {
		t.Errorf("%s: a line of %d vertices", at, len(l))
	}
}

// TestTilesOfCountries draws each country at each zoom, though some are smaller than a pixel.
func TestTilesOfCountries(t *testing.T) {
	const path = "../../../data/world/countries.geojson"
	if _, err := os.Stat(path); err != nil {
		t.Skip("make sample has not been called: ", err)
	}
	for _, onDisk := range []bool{false, true} {
		ref := openFile(t, path, onDisk)
		s := New(Config{})
		for z := range uint32(5) {
			seen := map[float64]bool{}
			for x := range uint32(1) << z {
				for y := range uint32(1) << z {
					for _, f := range tileOf(t, s, ref, z, x, y) {
						seen[f.ID.(float64)] = true
					}
				}
			}
			if int64(len(seen)) != ref.Table.Rows {
				t.Errorf("zoom %d: %d rows of %d", z, len(seen), ref.Table.Rows)
			}
		}
	}
}

// TestThreePoints draws three rows at every zoom.
func TestThreePoints(t *testing.T) {
	ref := openText(t, "three.geojsonl", []byte(`
{"type":"Feature","properties":{"name":"a"},"geometry":{"type":"Point","coordinates":[13.4,52.5]}}
{"type":"Feature","properties":{"name":"b"},"geometry":{"type":"Point","coordinates":[-70.25,-33.5]}}
{"type":"Feature","properties":{"name":"c"},"geometry":{"type":"Point","coordinates":[179.9,89]}}
`), false)
	s := New(Config{})
	for z := range uint32(MaxZoom + 1) {
		n := math.Ldexp(1, int(z))
		for i, p := range [][2]float64{{13.4, 52.5}, {-70.25, -33.5}, {179.9, 89}} {
			x, y := degrees.x(p[0])*n, degrees.y(p[1])*n
			found := tileOf(t, s, ref, z, uint32(x), uint32(min(y, n-1)), "name")
			ok := false
			for _, f := range found {
				at := f.Geometry.(orb.Point)
				near := math.Abs(at[0]-(x-math.Floor(x))*4096) <= 0.5 && math.Abs(at[1]-(y-math.Floor(y))*4096) <= 0.5
				ok = ok || near && f.Properties["name"] == string(rune('a'+i)) && f.ID.(float64) == float64(i)
			}
			if !ok {
				t.Errorf("zoom %d, point %v: %v", z, p, found)
			}
		}
	}
}
