package export

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

func TestGeoMetadata(t *testing.T) {
	field := func(crs string) arrow.Field {
		return arrow.Field{
			Name: "g", Type: arrow.BinaryTypes.Binary,
			Metadata: arrow.NewMetadata([]string{extensionName, extensionMetadata}, []string{"geoarrow.wkb", crs}),
		}
	}
	for _, test := range []struct {
		name  string
		field arrow.Field
		want  string // of "crs"; "none": no metadata at all
	}{
		{"PROJJSON", field(`{"crs":{"type":"GeographicCRS","name":"x"}}`), `{"type":"GeographicCRS","name":"x"}`},
		{"none said", field(`{}`), "null"},
		{"no JSON", field(""), "null"},
		{"WKT", field(`{"crs":"LOCAL_CS[\"x\"]"}`), "null"},
		{"plain bytes", arrow.Field{Name: "g", Type: arrow.BinaryTypes.Binary}, "none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, err := geoMetadata(arrow.NewSchema([]arrow.Field{
				{Name: "n", Type: arrow.PrimitiveTypes.Int32},
				test.field,
			}, nil), make([]geometryFacts, 2))
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			if test.want != "none" {
				want = `{"columns":{"g":{"encoding":"WKB","geometry_types":[],"crs":` + test.want +
					`}},"primary_column":"g","version":"1.1.0"}`
			}
			if text != want {
				t.Errorf("geo of %v:\ngot  %s\nwant %s", test.field, text, want)
			}
		})
	}
	// A registered system by name becomes its definition.
	if _, got := crsOf(field(`{"crs":"EPSG:4326"}`)); !bytes.Contains(got, []byte(`"code":4326`)) &&
		!bytes.Contains(got, []byte(`"code": 4326`)) {
		t.Errorf("crsOf EPSG:4326: got %.200s, want its definition", got)
	}
}

// The metadata also describes the rows: their types, and a box unless it would need Z.
func TestGeoMetadataOfRows(t *testing.T) {
	tree := func(k geoarrow.Kind, d geoarrow.Dim, position ...float64) geoarrow.Tree {
		return geoarrow.Tree{Kind: k, Dim: d, Runs: [][]float64{position}}
	}
	for _, test := range []struct {
		rows []geoarrow.Tree
		want string
	}{
		{
			[]geoarrow.Tree{
				tree(geoarrow.LineString, geoarrow.XY, 3, 4, 1, 9),
				tree(geoarrow.Point, geoarrow.XY, 2, 2),
			},
			`"geometry_types":["Point","LineString"],"crs":null,"bbox":[1,2,3,9]}`,
		},
		{[]geoarrow.Tree{tree(geoarrow.Point, geoarrow.XYZ, 1, 2, 3)}, `"geometry_types":["Point Z"],"crs":null}`},
		{[]geoarrow.Tree{tree(geoarrow.Point, geoarrow.XYM, 1, 2, 3)}, `"geometry_types":[],"crs":null}`},
		{[]geoarrow.Tree{{Kind: geoarrow.Point}}, `"geometry_types":["Point"],"crs":null}`},
	} {
		var f geometryFacts
		for i := range test.rows {
			f.add(&test.rows[i])
		}
		plain := wkbField
		plain.Metadata = arrow.NewMetadata([]string{extensionName}, []string{"geoarrow.wkb"})
		text, err := geoMetadata(arrow.NewSchema([]arrow.Field{plain}, nil), []geometryFacts{f})
		if err != nil || !strings.Contains(text, test.want) {
			t.Errorf("%v: got %s, %v, want %s", test.rows, text, err, test.want)
		}
	}
}
