package export

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/gogama/flatgeobuf/flatgeobuf"
	"github.com/gogama/flatgeobuf/flatgeobuf/flat"
	"github.com/gogama/flatgeobuf/packedrtree"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// pointWKB is a Point of two or three ordinates.
func pointWKB(ordinates ...float64) []byte {
	wkb := geoarrow.AppendWKBHeader(nil, geoarrow.Point, geoarrow.Dim(len(ordinates)-2), 0)[:5]
	for _, v := range ordinates {
		wkb = binary.LittleEndian.AppendUint64(wkb, math.Float64bits(v))
	}
	return wkb
}

// readBack returns the ids of all features in their order, and of those in a box, by a reader that
// is not ours.
func readBack(t *testing.T, path string, box packedrtree.Box) (header *flat.Header, all, found []int64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := flatgeobuf.NewFileReader(bytes.NewReader(text))
	if header, err = r.Header(); err != nil {
		t.Fatal(err)
	}
	ids := func(features []flat.Feature) (ids []int64) {
		for i := range features {
			p := features[i].PropertiesBytes()
			ids = append(ids, int64(binary.LittleEndian.Uint64(p[2:])))
		}
		return ids
	}
	features, err := r.DataRem()
	if err != nil {
		t.Fatal(err)
	}
	all = ids(features)
	if header.IndexNodeSize() == 0 {
		return header, all, nil
	}
	r = flatgeobuf.NewFileReader(bytes.NewReader(text))
	if _, err = r.Header(); err != nil {
		t.Fatal(err)
	}
	if features, err = r.IndexSearch(box); err != nil {
		t.Fatal(err)
	}
	return header, all, ids(features)
}

// A file with an index is in the order of its index, and a search finds what is in the box.
func TestFlatGeobufIndex(t *testing.T) {
	const rows = 1000
	var wkbs [][]byte
	for i := range rows {
		wkbs = append(wkbs, pointWKB(float64(i*7919%rows), float64(i*104729%rows)))
	}
	path, err := exported(t, "x.fgb", features(t, crs84, wkbs...))
	if err != nil {
		t.Fatal(err)
	}
	box := packedrtree.Box{XMin: 100, YMin: 200, XMax: 300, YMax: 500}
	header, all, found := readBack(t, path, box)
	if header.FeaturesCount() != rows || header.GeometryType() != flat.GeometryTypePoint ||
		string(header.Name()) != "x" {
		t.Errorf("header: %d features of type %v, name %q", header.FeaturesCount(), header.GeometryType(),
			header.Name())
	}
	seen := map[int64]bool{}
	for _, id := range all {
		seen[id] = true
	}
	if len(all) != rows || len(seen) != rows {
		t.Errorf("%d features, %d different ones, want %d", len(all), len(seen), rows)
	}
	want := map[int64]bool{}
	for i := range rows {
		if x, y := float64(i*7919%rows), float64(i*104729%rows); x >= box.XMin && x <= box.XMax &&
			y >= box.YMin && y <= box.YMax {
			want[int64(i)] = true
		}
	}
	for _, id := range found {
		if !want[id] {
			t.Errorf("feature %d is not in the box", id)
		}
		delete(want, id)
	}
	if len(want) != 0 || len(found) == 0 {
		t.Errorf("not found in the box: %v of %d", want, len(found))
	}
}

// A null geometry has no place in an index: the file has none, and the order of the table.
func TestFlatGeobufNulls(t *testing.T) {
	path, err := exported(t, "x.fgb", features(t, crs84, pointWKB(9, 9), nil, pointWKB(1, 2, 3)))
	if err != nil {
		t.Fatal(err)
	}
	header, all, _ := readBack(t, path, packedrtree.Box{})
	if header.IndexNodeSize() != 0 || fmt.Sprint(all) != "[0 1 2]" || !header.HasZ() {
		t.Errorf("index of %d, rows %v, z %v", header.IndexNodeSize(), all, header.HasZ())
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".rows*")); len(left) > 0 {
		t.Errorf("files left behind: %v", left)
	}
}

func TestFlatGeobufReferenceSystems(t *testing.T) {
	for _, test := range []struct {
		crs  geoarrow.CRS
		want string
	}{
		{geoarrow.CRS84, "OGC 0 CRS84 " + crs84WKT},
		{geoarrow.CRS{Authority: "EPSG", Code: "25832"}, "EPSG 25832  "},
		{geoarrow.CRS{Text: `LOCAL_CS["site"]`}, ` 0  LOCAL_CS["site"]`},
	} {
		path, err := exported(t, "x.fgb", features(t, geometry(test.crs.Metadata()), wkbPoint))
		if err != nil {
			t.Fatal(err)
		}
		header, _, _ := readBack(t, path, packedrtree.Box{XMin: 0, YMin: 0, XMax: 1, YMax: 1})
		crs := header.Crs(nil)
		if got := fmt.Sprintf("%s %d %s %s", crs.Org(), crs.Code(), crs.CodeString(), crs.Wkt()); got != test.want {
			t.Errorf("%v: got %q, want %q", test.crs, got, test.want)
		}
	}
}

// Every type that a table can have has one in FlatGeobuf, and its value is there.
func TestFlatGeobufValues(t *testing.T) {
	fields := []arrow.Field{
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "i", Type: arrow.PrimitiveTypes.Int32},
		{Name: "u", Type: arrow.PrimitiveTypes.Uint64},
		{Name: "f", Type: arrow.PrimitiveTypes.Float64},
		{Name: "d", Type: arrow.FixedWidthTypes.Date32},
		{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32)},
		{Name: "x", Type: arrow.BinaryTypes.Binary},
		{Name: "n", Type: arrow.BinaryTypes.String},
	}
	rec := recordOf(t, arrow.NewSchema(fields, nil), func(b *array.RecordBuilder) {
		b.Field(0).(*array.BooleanBuilder).Append(true)
		b.Field(1).(*array.Int32Builder).Append(-5)
		b.Field(2).(*array.Uint64Builder).Append(math.MaxUint64)
		b.Field(3).(*array.Float64Builder).Append(math.Copysign(0, -1))
		b.Field(4).(*array.Date32Builder).Append(-1)
		l := b.Field(5).(*array.ListBuilder)
		l.Append(true)
		l.ValueBuilder().(*array.Int32Builder).Append(7)
		b.Field(6).(*array.BinaryBuilder).Append([]byte{0, 255})
		b.Field(7).(*array.StringBuilder).Append("é")
	})
	path, err := exported(t, "x.fgb", rec)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := flatgeobuf.NewFileReader(bytes.NewReader(text))
	header, err := r.Header()
	if err != nil {
		t.Fatal(err)
	}
	features, err := r.DataRem()
	if err != nil || len(features) != 1 {
		t.Fatal(features, err)
	}
	values, err := flatgeobuf.NewPropReader(bytes.NewReader(features[0].PropertiesBytes())).ReadSchema(header)
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for _, v := range values {
		var c flat.Column
		header.Columns(&c, int(v.ColIndex))
		got += fmt.Sprintf("%s %s %v\n", c.Name(), c.Type(), v.Value)
	}
	const want = `b Bool true
i Int -5
u ULong 18446744073709551615
f Double -0
d DateTime 1969-12-31
l Json [91 55 93]
x Binary [0 255]
n String é
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
