package geoarrow

import (
	"fmt"
	"math"
	"testing"
)

func TestParseWKB(t *testing.T) {
	nan := math.Float64bits(math.NaN())
	one, two, three := math.Float64bits(1), math.Float64bits(2), math.Float64bits(3)
	point := little(1).at(one, two)
	for _, test := range []struct {
		wkb  *wkbOf
		want string
		box  string
	}{
		{point, "{Point 0 [[1 2]] []}", "[1 2 1 2] true"},
		{wide(1001).at(one, two, three), "{Point 1 [[1 2 3]] []}", "[1 2 1 2] true"},
		{little(1).at(nan, nan), "{Point 0 [] []}", "[+Inf +Inf -Inf -Inf] false"},
		{little(2).n(0), "{LineString 0 [[]] []}", "[+Inf +Inf -Inf -Inf] false"},
		{little(2).n(2).at(one, two, three, nan), "{LineString 0 [[1 2 3 NaN]] []}", "[1 2 1 2] true"},
		{little(3).n(2).n(1).at(one, two).n(1).at(two, three), "{Polygon 0 [[1 2] [2 3]] []}", "[1 2 2 3] true"},
		{little(3).n(0), "{Polygon 0 [] []}", "[+Inf +Inf -Inf -Inf] false"},
		{
			little(4).n(2).and(point).and(little(1).at(three, one)),
			"{MultiPoint 0 [] [{Point 0 [[1 2]] []} {Point 0 [[3 1]] []}]}", "[1 1 3 2] true",
		},
		{
			little(7).n(2).and(little(7).n(0)).and(point),
			"{GeometryCollection 0 [] [{GeometryCollection 0 [] []} {Point 0 [[1 2]] []}]}", "[1 2 1 2] true",
		},
	} {
		got, err := ParseWKB(test.wkb.b)
		if text := fmt.Sprint(got); err != nil || text != test.want {
			t.Errorf("%x: got %v, %v, want %v", test.wkb.b, text, err, test.want)
		}
		box, ok := got.Bounds()
		if text := fmt.Sprint(box, ok); text != test.box {
			t.Errorf("bounds of %s: got %s, want %s", test.want, text, test.box)
		}
		for n := range test.wkb.b {
			if _, err := ParseWKB(test.wkb.b[:n]); err == nil {
				t.Errorf("%x: no error", test.wkb.b[:n])
			}
		}
		if _, err := ParseWKB(append(test.wkb.b[:len(test.wkb.b):len(test.wkb.b)], 0)); err == nil {
			t.Errorf("%x and a byte: no error", test.wkb.b)
		}
	}
}

func TestParseWKBDepth(t *testing.T) {
	nested := func(n int) []byte {
		w := &wkbOf{}
		for range n {
			w = w.and(little(7).n(1))
		}
		return w.and(little(7).n(0)).b
	}
	if _, err := ParseWKB(nested(maxWKBDepth - 1)); err != nil {
		t.Error(err)
	}
	if _, err := ParseWKB(nested(maxWKBDepth)); err == nil {
		t.Error("no error for collections that are too deep")
	}
}
