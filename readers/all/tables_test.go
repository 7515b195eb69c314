package all_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/source"
)

// extract-free.shp.zip has the layout of an extract of Geofabrik: three shapefiles at the top
// (issue 28).
func TestTablesOfAnArchive(t *testing.T) {
	const path = "testdata/extract-free.shp.zip"
	open := func() (*source.File, error) { return source.Open("extract-free.shp.zip", path) }
	formats := all.Formats()
	format, tables, ok, err := formats.Inspect(path, open)
	if err != nil || !ok || format.Name != "shapefile" || len(tables) != 3 {
		t.Fatalf("got format %q with %d tables, %v, %v", format.Name, len(tables), ok, err)
	}
	want := []string{"gis_buildings_free_1", "gis_places_free_1", "gis_roads_free_1"}
	for layer, member := range map[string]string{"": want[0], want[0]: want[0], want[1]: want[1], want[2]: want[2]} {
		src, err := open()
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		content, err := formats.UnpackLayer(t.Context(), format, src, layer, source.UnpackOptions{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer content.Close()
		if name := "extract-free.shp.zip/" + member + ".shp"; content.Name != name {
			t.Errorf("layer %q: got %s, want %s", layer, content.Name, name)
		}
		opts, err := format.ParseOptions(nil)
		if err != nil {
			t.Fatal(err)
		}
		layout, err := format.Open(t.Context(), content, opts)
		if err != nil {
			t.Fatal(err)
		}
		table, err := readers.Read(t.Context(), format, format.CPU(layout), content, readers.Limits{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if table.Rows != 1 || table.IDs[0].Name != "a" || !slices.Equal(table.Summary.Layers, want) {
			t.Errorf("layer %q: %d rows, columns %v, layers %q", layer, table.Rows, table.IDs, table.Summary.Layers)
		}
	}
	src, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var none *readers.NoLayerError
	if _, err := formats.UnpackLayer(t.Context(), format, src, "roads", source.UnpackOptions{}); !errors.As(err,
		&none) ||
		!slices.Equal(none.Layers, want) {
		t.Errorf("a layer that is not there: got %v", err)
	}
}
