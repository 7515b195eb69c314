package export

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// wkbOf returns the WKB of a WKT.
func wkbOf(t *testing.T, text string) []byte {
	t.Helper()
	if text == "" {
		return nil
	}
	wkb, ok := wkbs[text]
	if !ok {
		t.Fatalf("no WKB of %s", text)
	}
	return wkb
}

// wkbs are geometries that tests need, by their WKT.
var wkbs = map[string][]byte{
	"POINT (1 2)":                      pointWKB(1, 2),
	"POINT Z (1 2 3)":                  pointWKB(1, 2, 3),
	"POINT (NaN 2)":                    pointWKB(math.NaN(), 2),
	"POINT EMPTY":                      pointWKB(math.NaN(), math.NaN()),
	"MULTIPOINT (1 2)":                 multi(geoarrow.MultiPoint, pointWKB(1, 2)),
	"LINESTRING (1 2)":                 line(1, 2),
	"LINESTRING (0 0, 1 1)":            line(0, 0, 1, 1),
	"GEOMETRYCOLLECTION (POINT (1 2))": multi(geoarrow.GeometryCollection, pointWKB(1, 2)),
	"MULTIPOINT (1 2, EMPTY)":          multi(geoarrow.MultiPoint, pointWKB(1, 2), pointWKB(math.NaN(), math.NaN())),
}

func multi(k geoarrow.Kind, members ...[]byte) []byte {
	b := geoarrow.AppendWKBHeader(nil, k, geoarrow.XY, uint32(len(members)))
	return append(b, slices.Concat(members...)...)
}

func line(ordinates ...float64) []byte {
	b := geoarrow.AppendWKBHeader(nil, geoarrow.LineString, geoarrow.XY, uint32(len(ordinates)/2))
	return appendDoubles(b, ordinates...)
}

// What a shapefile can't hold is an error with the row.
func TestShapefileRefuses(t *testing.T) {
	for _, test := range []struct {
		rows []string
		want string // "": no error
	}{
		{[]string{"POINT (1 2)", "MULTIPOINT (1 2)", "", "POINT EMPTY"}, ""},
		{[]string{"POINT (1 2)", "LINESTRING (0 0, 1 1)"}, "row 1: the geometry is a LineString, and that of row 0 is not"},
		{[]string{"", "POINT (1 2)", "POINT Z (1 2 3)"}, "row 2: the geometry is Point Z, and that of row 1 is Point"},
		{[]string{"POINT (NaN 2)"}, "row 0: a shapefile can't hold NaN"},
		{[]string{"LINESTRING (1 2)"}, "row 0: a line of 1 positions"},
		{[]string{"MULTIPOINT (1 2, EMPTY)"}, "row 0: member 1 of the MultiPoint is empty"},
		{[]string{"GEOMETRYCOLLECTION (POINT (1 2))"}, "row 0: a shapefile can't hold a GeometryCollection"},
	} {
		var rows [][]byte
		for _, text := range test.rows {
			rows = append(rows, wkbOf(t, text))
		}
		_, err := exported(t, "x.shp", features(t, crs84, rows...))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %q", test.rows, err, test.want)
		}
	}
}

// Names are cut to 10 bytes, at characters, and differ without regard to case.
func TestShortNames(t *testing.T) {
	used := map[string]bool{}
	var got []string
	for _, name := range []string{
		"population_density", "population_size", "POPULATION", "ééééééé", "", " ", "a\nb", "field",
	} {
		got = append(got, shortName(name, used))
	}
	want := []string{"population", "populati_1", "POPULATI_2", "ééééé", "FIELD", "FIELD_1", "a_b", "field_2"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// Floats have the digits that give the same bits again, in the narrowest field for all of them.
func TestShapefileFloats(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   string // of the records
	}{
		{[]float64{1, -2.5, 0.125}, " 1.000|-2.500| 0.125|"},
		{[]float64{math.Copysign(0, -1), 100}, "  -0.0| 100.0|"},
		{[]float64{5e-324, -math.MaxFloat64}, "                  5e-324|-1.7976931348623157e+308|"},
		{[]float64{1e15, 0.1}, "1000000000000000.0|               0.1|"},
		{[]float64{1.0 / 3, 1e-9}, "   3.333333333333333e-01|                   1e-09|"},
	} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "f", Type: arrow.PrimitiveTypes.Float64}, crs84}, nil)
		path, err := exported(t, "x.shp", recordOf(t, schema, func(b *array.RecordBuilder) {
			for _, v := range test.values {
				b.Field(0).(*array.Float64Builder).Append(v)
				b.Field(1).(*array.BinaryBuilder).Append(pointWKB(1, 2))
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(strings.TrimSuffix(path, "shp") + "dbf")
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for i, width := 65, int(text[32+16]); i+width+1 < len(text); i += width + 1 {
			got += string(text[i+1:i+1+width]) + "|"
		}
		if got != test.want {
			t.Errorf("%v:\ngot  %q\nwant %q", test.values, got, test.want)
		}
	}
}
