package export

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/gogama/flatgeobuf/flatgeobuf"
	"github.com/gogama/flatgeobuf/flatgeobuf/flat"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// streamShapes are the WKB of geometries.
var streamShapes = map[string][]byte{
	"POINT (1 2)":     pointWKB(1, 2),
	"POINT (3 4)":     pointWKB(3, 4),
	"POINT Z (1 2 3)": pointWKB(1, 2, 3),
	"MULTIPOINT (3 4)": append(
		geoarrow.AppendWKBHeader(nil, geoarrow.MultiPoint, geoarrow.XY, 1), pointWKB(3, 4)...),
	"LINESTRING (3 4, 5 6)": slices.Concat(
		geoarrow.AppendWKBHeader(nil, geoarrow.LineString, geoarrow.XY, 2), pointWKB(3, 4)[5:], pointWKB(5, 6)[5:]),
}

// shapesOf makes a record of geometries and their numbers.
func shapesOf(t *testing.T, texts ...string) arrow.Record {
	t.Helper()
	meta := arrow.NewMetadata([]string{extensionName, extensionMetadata}, []string{"geoarrow.wkb", "{}"})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int32},
		{Name: "geometry", Type: arrow.BinaryTypes.Binary, Nullable: true, Metadata: meta},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i, text := range texts {
		b.Field(0).(*array.Int32Builder).Append(int32(i))
		if text == "" {
			b.Field(1).AppendNull()
			continue
		}
		b.Field(1).(*array.BinaryBuilder).Append(streamShapes[text])
	}
	return b.NewRecord()
}

func TestFlatGeobufStream(t *testing.T) {
	const unknown = flat.GeometryTypeUnknown
	for _, c := range []struct {
		name    string
		types   []string
		records [][]string
		want    flat.GeometryType
		z       bool
		err     string
	}{
		{"points", []string{"Point"}, [][]string{{"POINT (1 2)"}, {""}}, flat.GeometryTypePoint, false, ""},
		{
			"single and Multi",
			[]string{"MultiPoint", "Point"},
			[][]string{{"POINT (1 2)"}, {"MULTIPOINT (3 4)"}},
			flat.GeometryTypeMultiPoint, false, "",
		},
		{"no rows", []string{}, nil, unknown, false, ""},
		{"unknown", nil, [][]string{{"POINT (1 2)"}, {"LINESTRING (3 4, 5 6)"}}, unknown, false, ""},
		{"unknown with Z", nil, [][]string{{"POINT Z (1 2 3)"}, {"POINT (1 2)"}}, unknown, true, ""},
		{"Z too late", nil, [][]string{{"POINT (1 2)"}, {"POINT Z (1 2 3)"}}, unknown, false, "row 1: a Point Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			w, err := NewFlatGeobufStream(&out, shapesOf(t).Schema(), "name", c.types)
			rows := 0
			for _, texts := range c.records {
				if err == nil {
					err = w.Write(shapesOf(t, texts...))
					rows += len(texts)
				}
			}
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want %s", err, c.err)
				}
				return
			}
			if err == nil {
				err = w.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			r := flatgeobuf.NewFileReader(bytes.NewReader(out.Bytes()))
			h, err := r.Header()
			if err != nil {
				t.Fatal(err)
			}
			if h.GeometryType() != c.want || h.HasZ() != c.z || h.FeaturesCount() != 0 || h.IndexNodeSize() != 0 {
				t.Errorf("header: %v, Z %v, %d features, node size %d", h.GeometryType(), h.HasZ(), h.FeaturesCount(),
					h.IndexNodeSize())
			}
			features, err := r.DataRem()
			if err != nil || len(features) != rows {
				t.Errorf("%d features, want %d, %v", len(features), rows, err)
			}
		})
	}
}
