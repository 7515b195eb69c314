//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// withSpatial opens the engine with the spatial extension, or skips the test where that is not
// there.
func withSpatial(t *testing.T) func(*catalog.Config, *Config) {
	dir := spatialDir()
	if dir == "" {
		t.Skip("there is no .duckdb/spatial.duckdb_extension; make spatial fetches it")
	}
	return func(_ *catalog.Config, c *Config) { c.Extensions = dir }
}

// squares is a GeoJSON of n squares along a line; square i has its lower left corner at (i, i) and
// the side 0.5.
func squares(n int) string {
	var b strings.Builder
	b.WriteString(`{"type":"FeatureCollection","features":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		x, y := float64(i), float64(i)
		fmt.Fprintf(&b, `{"type":"Feature","properties":{"i":%d},"geometry":{"type":"Polygon","coordinates":[[[%[2]g,%[3]g],[%[4]g,%[3]g],[%[4]g,%[5]g],[%[2]g,%[5]g],[%[2]g,%[3]g]]]}}`,
			i, x, y, x+0.5, y+0.5)
	}
	b.WriteString("]}")
	return b.String()
}

func TestSpatial(t *testing.T) {
	w := newWorld(t, map[string]string{"squares.geojson": squares(320)}, withSpatial(t)) // 20 batches of 16 rows
	if !w.engine.Info().Spatial {
		t.Fatal("the extension was not loaded")
	}
	w.want("SELECT sum(ST_Area(geometry)) FROM squares", "80")
	for _, c := range []struct {
		name, where string
		args        []any
		want        int // rows
		read        int64
	}{
		{"intersects a box", "ST_Intersects(geometry, ST_MakeEnvelope(100, 100, 101, 101))", nil, 2, 1},
		{"a box intersects", "ST_Intersects(ST_MakeEnvelope(15, 15, 16, 16), geometry)", nil, 2, 2},
		{"touches at a corner", "ST_Intersects(geometry, ST_Point(15.5, 15.5))", nil, 1, 1},
		{"next to it", "ST_Intersects(geometry, ST_Point(15.6, 15.6))", nil, 0, 0},
		{"contains", "ST_Contains(geometry, ST_Point(33.1, 33.1))", nil, 1, 1},
		{"within", "ST_Within(geometry, ST_MakeEnvelope(9, 9, 11, 11))", nil, 2, 1},
		{"a text", "ST_Intersects(geometry, ST_GeomFromText('LINESTRING(40 40, 41 41)'))", nil, 2, 1},
		{"with height", "ST_Intersects(geometry, ST_GeomFromText('POINT Z (40.2 40.2 7)'))", nil, 1, 1},
		{
			"parameters of a box", "ST_Intersects(geometry, ST_MakeEnvelope(?, ?, ?, ?))",
			[]any{100.0, 100.0, 101.0, 101.0},
			2, 1,
		},
		{"not", "NOT ST_Intersects(geometry, ST_MakeEnvelope(100, 100, 101, 101))", nil, 318, 20},
		{"apart", "ST_Disjoint(geometry, ST_MakeEnvelope(100, 100, 101, 101))", nil, 318, 20},
		{"of something made of it", "ST_Intersects(ST_Buffer(geometry, 100), ST_Point(0, 0))", nil, 71, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := w.engine.Stats().BatchesRead
			got, err := w.ask("SELECT i FROM squares WHERE "+c.where, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			if read := w.engine.Stats().BatchesRead - before; len(got) != c.want || read != c.read {
				t.Errorf("%s: %d rows of %d batches, want %d of %d", c.where, len(got), read, c.want, c.read)
			}
		})
	}
}

// crsOf is the metadata of a result's geometry.
func crsOf(t *testing.T, w *world, query string) string {
	t.Helper()
	s, err := w.engine.Prepare(t.Context(), query, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f := s.Schema().Field(0)
	name, _ := f.Metadata.GetValue("ARROW:extension:name")
	metadata, _ := f.Metadata.GetValue("ARROW:extension:metadata")
	if name != "geoarrow.wkb" {
		t.Fatalf("%s: the result is %v", query, f)
	}
	return metadata
}

func TestCRS(t *testing.T) {
	w := newWorld(t, map[string]string{
		"a.geojson": squares(3), "b.wkt": "POINT (1 2)\n",
		"c.geojson": strings.Replace(squares(3), `"features"`,
			`"crs":{"type":"name","properties":{"name":"EPSG:25832"}},"features"`, 1),
	})
	held, err := w.catalog.Table(t.Context(), catalog.Request{Name: "a.geojson"})
	if err != nil {
		t.Fatal(err)
	}
	crs84 := held.Table.CRS.Metadata()
	held.Release()
	for _, c := range []struct{ name, query, want string }{
		{"as in the file", "SELECT geometry FROM a", crs84},
		{"of a join", "SELECT x.geometry FROM c y, a x, b z", crs84},
		{"none", "SELECT geometry FROM b", "{}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := crsOf(t, w, c.query); got != c.want {
				t.Errorf("%s: %s, want %s", c.query, got, c.want)
			}
		})
	}
	if got := crsOf(t, w, "SELECT geometry FROM c"); !strings.Contains(got, "25832") {
		t.Errorf("EPSG:25832 became %s", got)
	}
}

// Positions that are no numbers count for DuckDB's boxes, and not for the catalog's.
func TestNotANumberInGeometries(t *testing.T) {
	lines := slices.Repeat([]string{"LINESTRING (50 50, 51 51)", "POINT EMPTY", "POINT (50 51)"}, 6)
	lines = append(lines, "LINESTRING (0 1, nan nan)", "LINESTRING (nan 0, 0 1)", "POINT (nan 1)",
		"LINESTRING (0 0, 1 nan)", "MULTIPOINT ((nan nan), (3 3))")
	points := append(slices.Repeat([]string{"POINT (50 51)", "POINT EMPTY"}, 9), "POINT (nan 1)", "POINT (1 nan)")
	w := newWorld(t, map[string]string{
		"mixed.wkt":  strings.Join(lines, "\n"),
		"points.wkt": strings.Join(points, "\n"),
	})
	for _, table := range []string{"mixed", "points"} {
		for _, box := range []string{
			"POLYGON((0 0,1 0,1 1,0 0))", "POLYGON((10 10,11 10,11 11,10 10))",
			"POLYGON((50 50,60 50,60 60,50 50))",
		} {
			query := "SELECT count(*) FROM " + table + " WHERE geometry && '" + box + "'::GEOMETRY"
			got, err := w.ask(query)
			if err != nil {
				t.Fatal(err)
			}
			want, err := w.askWhole(query)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q, %v", query, got, want, err)
			}
		}
	}
}

func TestFindSpatial(t *testing.T) {
	version := duck.LibraryVersion()
	for _, below := range []string{"", "extensions/" + version, "duckdb_extension_spatial/extensions/" + version} {
		dir := t.TempDir()
		if got := FindSpatial(dir); got != "" {
			t.Errorf("in an empty folder: %q", got)
		}
		path := filepath.Join(dir, filepath.FromSlash(below), spatialFile)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("none"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := FindSpatial(dir); got != path {
			t.Errorf("%q: found %q", below, got)
		}
		if below != "" {
			continue
		}
		var log strings.Builder
		w := newWorld(t, map[string]string{"t.csv": "a\n1\n"}, func(_ *catalog.Config, c *Config) {
			c.Extensions, c.Log = dir, zerolog.New(&log)
		})
		w.want("SELECT a FROM t", "1")
		if w.engine.Info().Spatial || !strings.Contains(log.String(), "core functions only") {
			t.Errorf("a file that is no extension: %+v, log %s", w.engine.Info().Spatial, log.String())
		}
	}
}

func TestStoredBox(t *testing.T) {
	for _, c := range []struct{ name, printed, want string }{
		{"no text", `7`, "none"},
		{"too short", `"\\x00\\x00"`, "none"},
		{"no such escape", `"\\y00aaaaaaaa"`, "none"},
		{
			"more points than bytes", `"\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01\\x00\\x00\\x00\\xFF\\xFF\\xFF\\xFF"`,
			"none",
		},
		{"unknown kind", `"\\x09\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x09\\x00\\x00\\x00\\x00\\x00\\x00\\x00"`, "none"},
		{
			"unknown property", `"\\x00\\x10\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00"`,
			"none",
		},
		{"empty point", `"\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00"`, "none"},
		{"point", `"\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\xF0?\\x00\\x00\\x00\\x00\\x00\\x00\\x00@"`, "[1 2 1 2]"},
		{"and a byte more", `"\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\xF0?\\x00\\x00\\x00\\x00\\x00\\x00\\x00@a"`, "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := "none"
			if b := storedBox([]byte(c.printed)); b != nil {
				got = fmt.Sprint(*b)
			}
			if got != c.want {
				t.Errorf("storedBox(%s) = %s, want %s", c.printed, got, c.want)
			}
		})
	}
	if b := boxAround([]float64{1, math.NaN()}, []float64{2, 2}); b != nil {
		t.Errorf("a box around a position that is no number: %v", *b)
	}
}
