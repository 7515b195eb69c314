package export

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// geometry is a column of WKB with a reference system.
func geometry(crs string) arrow.Field {
	return arrow.Field{Name: "geometry", Type: arrow.BinaryTypes.Binary, Nullable: true, Metadata: arrow.NewMetadata(
		[]string{extensionName, extensionMetadata}, []string{"geoarrow.wkb", crs})}
}

var crs84 = geometry(geoarrow.CRS84.Metadata())

// exported writes one record to a file of a name, and gives the path.
func exported(t *testing.T, name string, rec arrow.Record) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	f, err := ForPath(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := f.Create(rec.Schema(), ticket.NoCompression, out, siblings(t, f, path)...)
	if err != nil {
		return path, err
	}
	if err := w.Write(rec); err != nil {
		return path, err
	}
	return path, w.Close()
}

// siblings creates the other files of a format next to a path.
func siblings(t *testing.T, f Format, path string) (files []*os.File) {
	t.Helper()
	for _, extension := range f.Siblings {
		file, err := os.Create(strings.TrimSuffix(path, filepath.Ext(path)) + extension)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		files = append(files, file)
	}
	return files
}

func recordOf(t *testing.T, schema *arrow.Schema, fill func(*array.RecordBuilder)) arrow.Record {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	fill(b)
	rec := b.NewRecord()
	t.Cleanup(rec.Release)
	return rec
}

// features has a row for each geometry, an id and one property of each kind that JSON text needs
// care for.
func features(t *testing.T, field arrow.Field, wkbs ...[]byte) arrow.Record {
	jsonText := arrow.Field{
		Name: "tags", Type: arrow.BinaryTypes.String, Nullable: true,
		Metadata: arrow.NewMetadata([]string{extensionName}, []string{"arrow.json"}),
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: `na"me`, Type: arrow.BinaryTypes.String, Nullable: true},
		jsonText, field,
	}, nil)
	return recordOf(t, schema, func(b *array.RecordBuilder) {
		for i, wkb := range wkbs {
			b.Field(0).(*array.Int64Builder).Append(int64(i))
			b.Field(1).(*array.StringBuilder).Append("a<\n")
			b.Field(2).(*array.StringBuilder).Append(`{"k":[1,null]}`)
			if wkb == nil {
				b.Field(3).AppendNull()
				continue
			}
			b.Field(3).(*array.BinaryBuilder).Append(wkb)
		}
	})
}

func TestGeoJSON(t *testing.T) {
	path, err := exported(t, "x.geojson", features(t, crs84, wkbPoint, nil))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"FeatureCollection","features":[
{"type":"Feature","id":0,"properties":{"na\"me":"a<\n","tags":{"k":[1,null]}},"geometry":{"type":"Point","coordinates":[1,-2]}},
{"type":"Feature","id":1,"properties":{"na\"me":"a<\n","tags":{"k":[1,null]}},"geometry":null}
]}
`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestGeoJSONSeq(t *testing.T) {
	path, err := exported(t, "x.geojsonl", features(t, crs84, wkbPoint, nil))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSuffix(string(got), "\n"), "\n")
	if len(lines) != 2 || !json.Valid([]byte(lines[0])) || !json.Valid([]byte(lines[1])) {
		t.Errorf("got %q, want two lines of JSON", got)
	}
}

func TestGeoJSONShapes(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		tree geoarrow.Tree
		want string // "": an error
	}{
		{geoarrow.Tree{Kind: geoarrow.Point}, `{"type":"Point","coordinates":[]}`},
		{
			geoarrow.Tree{Kind: geoarrow.Point, Dim: geoarrow.XYZ, Runs: [][]float64{{1, 2, nan}}},
			`{"type":"Point","coordinates":[1,2]}`,
		},
		{
			geoarrow.Tree{Kind: geoarrow.LineString, Dim: geoarrow.XYZ, Runs: [][]float64{{1, 2, 3, 4, 5, 6}}},
			`{"type":"LineString","coordinates":[[1,2,3],[4,5,6]]}`,
		},
		{geoarrow.Tree{Kind: geoarrow.LineString, Runs: [][]float64{{}}}, `{"type":"LineString","coordinates":[]}`},
		{geoarrow.Tree{Kind: geoarrow.Polygon}, `{"type":"Polygon","coordinates":[]}`},
		{
			geoarrow.Tree{Kind: geoarrow.Polygon, Runs: [][]float64{{0, 0, 1, 0, 0, 0}, {5, 5}}},
			`{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,0]],[[5,5]]]}`,
		},
		{geoarrow.Tree{Kind: geoarrow.MultiPoint, Members: []geoarrow.Tree{{
			Kind: geoarrow.Point,
			Runs: [][]float64{{1, 2}},
		}}}, `{"type":"MultiPoint","coordinates":[[1,2]]}`},
		{
			geoarrow.Tree{Kind: geoarrow.MultiPolygon, Members: []geoarrow.Tree{{
				Kind: geoarrow.Polygon,
				Runs: [][]float64{{1, 2}},
			}, {Kind: geoarrow.Polygon}}},
			`{"type":"MultiPolygon","coordinates":[[[[1,2]]],[]]}`,
		},
		{
			geoarrow.Tree{
				Kind: geoarrow.GeometryCollection,
				Members: []geoarrow.Tree{{Kind: geoarrow.GeometryCollection}, {
					Kind: geoarrow.Point,
					Runs: [][]float64{{1e21, -0.5}},
				}},
			},
			`{"type":"GeometryCollection","geometries":[{"type":"GeometryCollection","geometries":[]},{"type":"Point","coordinates":[1e+21,-0.5]}]}`,
		},
		{geoarrow.Tree{Kind: geoarrow.MultiPoint, Members: []geoarrow.Tree{{Kind: geoarrow.Point}}}, ""},
		{geoarrow.Tree{Kind: geoarrow.Point, Dim: geoarrow.XYM, Runs: [][]float64{{1, 2, 3}}}, ""},
		{geoarrow.Tree{Kind: geoarrow.Point, Runs: [][]float64{{1, nan}}}, ""},
		{geoarrow.Tree{Kind: geoarrow.Point, Runs: [][]float64{{1, math.Inf(1)}}}, ""},
	} {
		got, err := appendGeoJSON(nil, &test.tree)
		if test.want == "" && err == nil || test.want != "" && (err != nil || string(got) != test.want) {
			t.Errorf("%v: got %s, %v, want %s", test.tree, got, err, test.want)
		}
	}
}

// The 2008 member crs says what RFC 7946 has no word for; what has no name at all is refused.
func TestGeoJSONReferenceSystems(t *testing.T) {
	for _, test := range []struct {
		crs        geoarrow.CRS
		want, line string // "": refused
	}{
		{geoarrow.CRS84, `"FeatureCollection","features"`, "ok"},
		{geoarrow.CRS{}, `"FeatureCollection","crs":null,`, "ok"},
		{
			geoarrow.CRS{Authority: "EPSG", Code: "4326"},
			`"crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::4326"}},`, "ok",
		},
		{geoarrow.CRS{Authority: "EPSG", Code: "31370"}, `"urn:ogc:def:crs:EPSG::31370"`, ""},
		{geoarrow.CRS{Text: `LOCAL_CS["site"]`}, "", ""},
	} {
		rec := features(t, geometry(test.crs.Metadata()), wkbPoint)
		path, err := exported(t, "x.geojson", rec)
		text, _ := os.ReadFile(path)
		if test.want == "" && err == nil || test.want != "" &&
			(err != nil || !strings.Contains(string(text), test.want)) {
			t.Errorf("%v: got %.120s, %v, want %s", test.crs, text, err, test.want)
		}
		if _, err := exported(t, "x.geojsonl", rec); (err == nil) != (test.line != "") {
			t.Errorf("%v, a line each: got %v, want %q", test.crs, err, test.line)
		}
	}
}

// JSON has no NaN: the error says where it is.
func TestGeoJSONRefusesNaN(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "v", Type: arrow.ListOf(arrow.PrimitiveTypes.Float64)}}, nil)
	rec := recordOf(t, schema, func(b *array.RecordBuilder) {
		l := b.Field(0).(*array.ListBuilder)
		l.Append(true)
		l.ValueBuilder().(*array.Float64Builder).Append(1)
		l.Append(true)
		l.ValueBuilder().(*array.Float64Builder).Append(math.NaN())
	})
	_, err := exported(t, "x.geojson", rec)
	if err == nil || err.Error() != `row 1: column "v": JSON has no NaN and no infinity` {
		t.Errorf("got %v", err)
	}
}
