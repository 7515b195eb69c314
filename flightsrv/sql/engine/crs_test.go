//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/catalog"
)

// crsWorld serves testdata/crs.
func crsWorld(t *testing.T, change ...func(*catalog.Config, *Config)) *world {
	t.Helper()
	files := map[string]string{}
	found, err := filepath.Glob("testdata/crs/*.*")
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	for _, path := range found {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = string(content)
	}
	return newWorld(t, files, change...)
}

// wgs84Files are WGS 84 with x as longitude, each in the words of its format.
func wgs84Files(t *testing.T, w *world) []string {
	t.Helper()
	files := []string{"wgs84.geojson", "wgs84.fgb", "wgs84.parquet", "w.fgb"}
	held, err := w.catalog.Table(t.Context(), catalog.Request{Name: "wgs84.shp"})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	if held.Table.CRS.Authority == "" { // without a code, ESRI's text is a system of its own
		return files
	}
	return append(files, "wgs84.shp")
}

func TestOneWGS84(t *testing.T) {
	for _, c := range []struct {
		name, crs string
		change    []func(*catalog.Config, *Config)
	}{
		{"core", "OGC:CRS84", nil},
		{"spatial", "EPSG:4326", []func(*catalog.Config, *Config){func(_ *catalog.Config,
			c *Config,
		) {
			c.Extensions = spatialDir()
		}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := crsWorld(t, c.change...)
			if c.change != nil && !w.engine.Info().Spatial {
				t.Skip("there is no .duckdb/spatial.duckdb_extension; make spatial fetches it")
			}
			var all []string
			files := wgs84Files(t, w)
			for _, a := range files {
				all = append(all, `SELECT geometry FROM "`+a+`"`)
				w.want(`SELECT ST_CRS(geometry) FROM "`+a+`"`, c.crs)
				for _, b := range files {
					w.want(`SELECT geometry FROM "`+a+`" UNION ALL SELECT geometry FROM "`+b+`"`,
						"POINT (10 50)", "POINT (10 50)")
					w.want(`SELECT count(*) FROM "`+a+`" a JOIN "`+b+`" b ON a.geometry && b.geometry`, "1")
					if c.change != nil {
						w.want(`SELECT ST_Intersects(a.geometry, b.geometry) FROM "`+a+`" a, "`+b+`" b`, "true")
					}
				}
				if c.change != nil {
					w.want(`SELECT ST_AsText(ST_Transform(geometry, 'EPSG:3857')) FROM "`+a+`"`,
						"POINT (1113194.9079327357 6446275.841017161)")
					w.want(`SELECT ST_Distance(a.geometry, ST_Transform(b.geometry, 'EPSG:4326')) < 1.1 FROM "`+
						a+`" a, "utm.parquet" b`, "true")
				}
			}
			w.want("SELECT count(*) FROM ("+strings.Join(all, " UNION ALL ")+")", strconv.Itoa(len(files)))
		})
	}
}

// The reference system of a result is the table's own in its own words, and the common one where
// tables say it differently.
func TestCRSOfResults(t *testing.T) {
	w := crsWorld(t, withSpatial(t))
	for _, c := range []struct{ query, want string }{
		{`SELECT geometry FROM "wgs84.geojson"`, crsMetadata("OGC:CRS84")},
		{`SELECT geometry FROM "wgs84.fgb"`, crsMetadata("EPSG:4326")},
		{`SELECT geometry FROM "wgs84.fgb" UNION ALL SELECT geometry FROM "wgs84.geojson"`, crsMetadata("EPSG:4326")},
		{`SELECT geometry FROM "wgs84.geojson" UNION ALL SELECT geometry FROM "wgs84.fgb"`, crsMetadata("EPSG:4326")},
		{`SELECT ST_Transform(geometry, 'EPSG:4326') FROM "utm.parquet"`, crsMetadata("EPSG:4326")},
		{`SELECT ST_Transform(geometry, 'EPSG:3857') FROM "wgs84.geojson"`, crsMetadata("EPSG:3857")},
	} {
		if got := crsOf(t, w, c.query); got != c.want {
			t.Errorf("%s: %.200s, want %.200s", c.query, got, c.want)
		}
	}
	w.want(`SELECT ST_AsText(ST_Transform(geometry, 'EPSG:4326')) FROM "utm.parquet"`, "POINT (9 49.65254292355683)")
	w.want(`SELECT ST_AsText(ST_Transform(geometry, 'EPSG:3857')) FROM w`,
		"POINT (1113194.9079327357 6446275.841017161)")
	w.want(`SELECT ST_CRS(geometry) FROM "utm.parquet"`, "EPSG:25832")
	if got, err := w.ask(`SELECT ST_CRS(geometry) FROM "utm32.shp"`); err != nil || len(got) != 1 ||
		strings.HasPrefix(got[0], "{") {
		t.Errorf("ST_CRS of a shapefile: %q, %v", got, err)
	}
}
