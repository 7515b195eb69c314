package tiles

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb/encoding/wkt"

	"github.com/vibeflight/vibeflight/catalog"
)

var update = flag.Bool("update", false, "write testdata/*.want again")

// goldenFiles are files of the readers, below the root of the repository.
var goldenFiles = []string{
	"flightsrv/web/tiles/testdata/attributes.geojson",
	"readers/arrowipc/testdata/polygons.arrow",
	"readers/flatgeobuf/testdata/indexed.fgb",
	"readers/flatgeobuf/testdata/mixed.fgb",
	"readers/geojson/testdata/collections.geojson",
	"readers/geojson/testdata/crs.geojson",
	"readers/geojson/testdata/polygons.geojson",
	"readers/geojson/testdata/rfc7946.geojson",
	"readers/gml/testdata/gdal_gml32.gml",
	"readers/kml/testdata/geometries.kml",
	"readers/kml/testdata/places.kml",
	"readers/parquet/testdata/native.geoparquet",
	"readers/shapefile/testdata/lines.shp",
}

// TestGolden compares tiles with testdata/*.want. Each file has the smallest tile that has the
// whole table, and the tile of zoom 0, one line for a feature.
func TestGolden(t *testing.T) {
	for _, path := range goldenFiles {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			dir := filepath.Dir(filepath.Join("../../..", path))
			ref := open(t.Context(), t, openCatalog(t, catalog.Config{Roots: []catalog.Root{{Dir: dir}}}), name)
			got := golden(t, ref)
			file := filepath.Join("testdata", name+".want")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs (go test -update writes it again); got:\n%s", file, got)
			}
		})
	}
}

// golden describes a table and its tiles as text.
func golden(t *testing.T, ref *catalog.TableRef) string {
	var b strings.Builder
	info, err := InfoOf(ref, nil)
	if err != nil {
		return err.Error() + "\n"
	}
	text, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "%s\n", text)
	s := New(Config{})
	defer s.Close()
	names := []string{}
	for _, f := range info.Fields {
		names = append(names, f.Name)
	}
	z, x, y := coveringTile(info)
	for _, a := range []address{{0, 0, 0}, {z, x, y}} {
		fmt.Fprintf(&b, "\n%d/%d/%d\n", a.z, a.x, a.y)
		for _, f := range tileOf(t, s, ref, a.z, a.x, a.y, names...) {
			fmt.Fprintf(&b, "%v %s", f.ID, wkt.MarshalString(f.Geometry))
			for _, k := range slices.Sorted(maps.Keys(f.Properties)) {
				fmt.Fprintf(&b, " %s=%#v", k, f.Properties[k])
			}
			b.WriteByte('\n')
		}
		if z == 0 {
			break
		}
	}
	return b.String()
}

// coveringTile returns the smallest tile that has the bounds.
func coveringTile(info Info) (z, x, y uint32) {
	if info.Bounds == nil {
		return 0, 0, 0
	}
	b := info.Bounds
	x0, y0 := fixed(degrees.x(b[0])), fixed(degrees.y(b[3]))
	x1, y1 := fixed(degrees.x(b[2])), fixed(degrees.y(b[1]))
	for z = DefaultMaxZoom; z > 0; z-- {
		shift := worldBits - z
		if x0>>shift == x1>>shift && y0>>shift == y1>>shift {
			return z, x0 >> shift, y0 >> shift
		}
	}
	return 0, 0, 0
}
