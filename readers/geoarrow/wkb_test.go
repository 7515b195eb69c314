package geoarrow

import (
	"encoding/hex"
	"strings"
	"testing"
)

// Bytes as OGC 06-103r4, section 8.2, prescribes them; random geometries are compared with a slow
// encoder in convert_test.go.
func TestAppendWKB(t *testing.T) {
	const zero, one, two, none = "0000000000000000", "000000000000f03f", "0000000000000040", "000000000000f87f"
	x, y, z, m := []float64{0, 1, 2, nan}, []float64{1, 2, 0, nan}, []float64{2, nan, 0, nan}, []float64{1, 1, 1, nan}
	for _, c := range []struct {
		name  string
		shape Shape
		want  string
	}{
		{"point", Shape{Kind: Point, C1: 1}, "01 01000000" + zero + one},
		{"empty point", Shape{Kind: Point, Dim: XYM}, "01 d1070000" + none + none + none},
		{"point zm", Shape{Kind: Point, Dim: XYZM, C0: 1, C1: 2}, "01 b90b0000" + one + two + none + one},
		{"line z", Shape{Kind: LineString, Dim: XYZ, C1: 2}, "01 ea030000 02000000" + zero + one + two +
			one + two + none},
		{"line m", Shape{Kind: LineString, Dim: XYM, C0: 2, C1: 3}, "01 d2070000 01000000" + two + zero + one},
		{"empty polygon", Shape{Kind: Polygon, R0: 1, R1: 1}, "01 03000000 00000000"},
		{
			"polygon after a gap",
			Shape{Kind: Polygon, Rings: []int32{0, 1, 3, 3}, C0: 2, C1: 3, R0: 1, R1: 3},
			"01 03000000 02000000 01000000" + two + zero + "00000000",
		},
		{"multipoint", Shape{Kind: MultiPoint, C0: 2, C1: 4}, "01 04000000 02000000 01 01000000" + two +
			zero + "01 01000000" + none + none},
		{
			"multiline",
			Shape{Kind: MultiLineString, Rings: []int32{0, 0, 1}, C1: 1, R1: 2},
			"01 05000000 02000000 01 02000000 00000000 01 02000000 01000000" + zero + one,
		},
		{
			"multipolygon",
			Shape{Kind: MultiPolygon, Rings: []int32{0, 1}, Parts: []int32{0, 0, 1}, C1: 1, R1: 1, P1: 2},
			"01 06000000 02000000 01 03000000 00000000 01 03000000 01000000 01000000" + zero + one,
		},
	} {
		c.shape.X, c.shape.Y, c.shape.Z, c.shape.M = x, y, z, m
		got := hex.EncodeToString(AppendWKB([]byte{0xff}, c.shape))
		if want := "ff" + strings.ReplaceAll(c.want, " ", ""); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
		}
	}
	if got := hex.EncodeToString(AppendWKBHeader(nil, GeometryCollection, XYZM, 3)); got != "01bf0b000003000000" {
		t.Errorf("header of a collection: %s", got)
	}
}
