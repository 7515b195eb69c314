package device_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
)

func TestValidity(t *testing.T) {
	for _, c := range []struct {
		name  string
		mask  []uint64
		n     int
		nulls int
		valid []byte
	}{
		{"all", []uint64{0b111}, 3, 0, nil},
		{"some", []uint64{0b101}, 3, 1, []byte{0b101}},
		{"none", []uint64{0, 0}, 70, 70, make([]byte, 9)},
		{"no rows", nil, 0, 0, nil},
		{"words", []uint64{math.MaxUint64, 1}, 66, 1, []byte{255, 255, 255, 255, 255, 255, 255, 255, 1}},
	} {
		if nulls, valid := device.Validity(c.mask, c.n); nulls != c.nulls || !reflect.DeepEqual(valid, c.valid) {
			t.Errorf("%s: %d nulls, %v; want %d, %v", c.name, nulls, valid, c.nulls, c.valid)
		}
	}
}

func TestSpread(t *testing.T) {
	g := &geoarrow.Geometry{
		Kind: geoarrow.Point, Rows: 3, Nulls: 1, Valid: []byte{0b101}, X: []float64{1, 2},
		Y: []float64{3, 4}, M: []float64{5, 6},
	}
	device.Spread(g)
	if x, y, m := []float64{1, 0, 2}, []float64{3, 0, 4}, []float64{5, 0, 6}; !reflect.DeepEqual(g.X, x) ||
		!reflect.DeepEqual(g.Y, y) || g.Z != nil || !reflect.DeepEqual(g.M, m) {
		t.Errorf("%v %v %v %v", g.X, g.Y, g.Z, g.M)
	}
}

// TestDropEmpty has a row of a Multi kind with an empty member, one of the single kind that is
// empty, and one of each that has something.
func TestDropEmpty(t *testing.T) {
	nan := math.NaN()
	kinds := func(single, multi geoarrow.Kind) []geoarrow.RowKind {
		return []geoarrow.RowKind{
			geoarrow.RowKind(multi), geoarrow.RowKind(single), geoarrow.RowKind(single),
			geoarrow.RowKind(multi),
		}
	}
	lines := &geoarrow.Geometry{
		Kind: geoarrow.MultiLineString, Rows: 4, Kinds: kinds(geoarrow.LineString, geoarrow.MultiLineString),
		Geoms: []int32{0, 2, 3, 4, 5}, Rings: []int32{0, 2, 2, 2, 4, 6},
	}
	device.DropEmpty(lines, false)
	if geoms, rings := []int32{0, 2, 2, 3, 4}, []int32{0, 2, 2, 4, 6}; !reflect.DeepEqual(lines.Geoms, geoms) ||
		!reflect.DeepEqual(lines.Rings, rings) {
		t.Errorf("lines: %v %v, want %v %v", lines.Geoms, lines.Rings, geoms, rings)
	}
	polygons := &geoarrow.Geometry{
		Kind: geoarrow.MultiPolygon, Rows: 4, Kinds: kinds(geoarrow.Polygon, geoarrow.MultiPolygon),
		Geoms: []int32{0, 2, 3, 4, 5}, Parts: []int32{0, 1, 1, 1, 2, 3}, Rings: []int32{0, 4, 8, 12},
	}
	device.DropEmpty(polygons, false)
	if geoms, parts := []int32{0, 2, 2, 3, 4}, []int32{0, 1, 1, 2, 3}; !reflect.DeepEqual(polygons.Geoms, geoms) ||
		!reflect.DeepEqual(polygons.Parts, parts) {
		t.Errorf("polygons: %v %v, want %v %v", polygons.Geoms, polygons.Parts, geoms, parts)
	}
	points := func() *geoarrow.Geometry {
		return &geoarrow.Geometry{
			Kind: geoarrow.MultiPoint, Rows: 4, Kinds: kinds(geoarrow.Point, geoarrow.MultiPoint),
			Geoms: []int32{0, 2, 3, 4, 5}, X: []float64{1, nan, nan, 4, 5}, Y: []float64{1, nan, nan, 4, 5},
			Z: []float64{0, nan, nan, 6, 7},
		}
	}
	some := points()
	device.DropEmpty(some, true)
	if geoms := []int32{0, 2, 2, 3, 4}; !reflect.DeepEqual(some.Geoms, geoms) || len(some.X) != 4 ||
		some.X[2] != 4 || some.Y[3] != 5 || some.Z[2] != 6 || !math.IsNaN(some.X[1]) {
		t.Errorf("points: %v %v %v %v", some.Geoms, some.X, some.Y, some.Z)
	}
	none := points()
	device.DropEmpty(none, false)
	if !reflect.DeepEqual(none.Geoms, points().Geoms) || len(none.X) != 5 {
		t.Errorf("points of which none is empty: %v %v", none.Geoms, none.X)
	}
}
