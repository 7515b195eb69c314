package geoarrow

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestWKBToWKT(t *testing.T) {
	const one, two, none = "000000000000f03f", "0000000000000040", "000000000000f87f"
	for _, c := range []struct{ name, wkb, want string }{
		{"point", "0101000000" + one + two, "POINT (1 2)"},
		{"empty point", "0101000000" + none + none, "POINT EMPTY"},
		{"half a point", "0101000000" + one + none, "POINT (1 nan)"},
		{
			"big-endian point z", "00000003e9" + "3ff0000000000000" + "4000000000000000" + "3ff0000000000000",
			"POINT Z (1 2 1)",
		},
		{"point m", "01d1070000" + one + two + two, "POINT M (1 2 2)"},
		{"point zm", "01b90b0000" + one + two + two + one, "POINT ZM (1 2 2 1)"},
		{"empty line", "010200000000000000", "LINESTRING EMPTY"},
		{"empty polygon", "010300000000000000", "POLYGON EMPTY"},
		{"polygon of an empty ring", "01030000000100000000000000", "POLYGON (EMPTY)"},
		{"multipoint with an empty point", "010400000002000000" + "0101000000" + none + none + "0101000000" +
			one + two, "MULTIPOINT (EMPTY, (1 2))"},
		{
			"members of both byte orders", "000000000700000001" + "0101000000" + one + two,
			"GEOMETRYCOLLECTION (POINT (1 2))",
		},
		{"collections in collections", "010700000001000000" + "010700000002000000" + "010700000000000000" +
			"010200000000000000", "GEOMETRYCOLLECTION (GEOMETRYCOLLECTION (GEOMETRYCOLLECTION EMPTY, LINESTRING EMPTY))"},
	} {
		wkb, err := hex.DecodeString(c.wkb)
		if err != nil {
			t.Fatal(err)
		}
		got, err := WKBToWKT([]byte("> "), wkb)
		if err != nil || string(got) != "> "+c.want {
			t.Errorf("%s: %s\n got %s, %v\nwant > %s", c.name, c.wkb, got, err, c.want)
		}
	}
}

// ¦ is before the byte that the error names.
func TestWKBToWKTErrors(t *testing.T) {
	const one, two = "000000000000f03f", "0000000000000040"
	for _, c := range []struct{ name, wkb, want string }{
		{"nothing", "¦", "ends within its header"},
		{"header only in part", "¦01010000", "ends within its header"},
		{"byte order", "¦0201000000" + one + two, "byte order 2"},
		{"type 0", "¦0100000000", "type 0"},
		{"curve", "¦0108000000", "type 8"},
		{"EWKB", "¦0101000020e6100000" + one + two, "type 536870913"},
		{"dimension 4", "¦01a10f0000", "type 4001"},
		{"point cut", "0101000000¦" + one, "ends within its positions"},
		{"no count", "0102000000¦0100", "within a count"},
		{"count of positions", "0102000000¦02000000" + one + two, "count 2 needs more than the 16 bytes left"},
		{"count of all", "0102000000¦ffffffff" + one + two, "count 4294967295"},
		{"count of rings", "0103000000¦ffffffff", "count 4294967295"},
		{"count of members", "0107000000¦ffffffff" + one + two, "count 4294967295"},
		{"wrong member", "010400000001000000¦010200000000000000", "a MultiPoint has a member LineString"},
		{"multi in multi", "010400000001000000¦010400000000000000", "a MultiPoint has a member MultiPoint"},
		{"other dimension", "010700000001000000¦01ea03000000000000", "a GeometryCollection has a member LineString Z"},
		{"bytes after", "010200000000000000¦00", "1 bytes after"},
	} {
		before, after, _ := strings.Cut(c.wkb, "¦")
		wkb, err := hex.DecodeString(before + after)
		if err != nil {
			t.Fatal(err)
		}
		got, err := WKBToWKT([]byte(">"), wkb)
		var e *WKBError
		if !errors.As(err, &e) || e.Offset != len(before)/2 || !strings.Contains(err.Error(), c.want) ||
			string(got) != ">" {
			t.Errorf("%s: %s\n got %q, %v\nwant %s", c.name, c.wkb, got, err, c.want)
		}
	}
}

func TestWKBToWKTDepth(t *testing.T) {
	nested := func(depth int) []byte {
		b := bytes.Repeat(AppendWKBHeader(nil, GeometryCollection, XY, 1), depth)
		return append(b, AppendWKBHeader(nil, LineString, XY, 0)...)
	}
	if _, err := WKBToWKT(nil, nested(maxWKBDepth)); err != nil {
		t.Errorf("depth %d: %v", maxWKBDepth, err)
	}
	var e *WKBError
	if _, err := WKBToWKT(nil, nested(maxWKBDepth+1)); !errors.As(err, &e) {
		t.Errorf("depth %d: no error", maxWKBDepth+1)
	}
}

func TestAppendNumber(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0"},
		{math.Copysign(0, -1), "-0"},
		{-82.123456789012345, "-82.12345678901235"},
		{1e20, "100000000000000000000"},
		{1e21, "1e+21"},
		{1e-6, "0.000001"},
		{9.5e-7, "9.5e-07"},
		{-1e-300, "-1e-300"},
		{math.MaxFloat64, "1.7976931348623157e+308"},
		{nan, "nan"},
		{math.Inf(1), "inf"},
		{math.Inf(-1), "-inf"},
	} {
		if got := string(appendNumber(nil, c.v)); got != c.want {
			t.Errorf("%x: got %s, want %s", c.v, got, c.want)
		}
	}
}

// What WKBToWKT accepts, the walk over runs accepts too.
func FuzzWKBToWKT(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for k := Point; k <= GeometryCollection; k++ {
		for d := XY; d <= XYZM; d++ {
			f.Add(randomModel(r, k, d, 0).wkb())
		}
	}
	f.Add([]byte{0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, wkb []byte) {
		text, err := WKBToWKT(nil, wkb)
		if err != nil {
			var e *WKBError
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(wkb) {
				t.Fatalf("%x: %v", wkb, err)
			}
			return
		}
		if len(text) == 0 {
			t.Fatalf("%x: no text", wkb)
		}
		read := 0
		if err := wkbRuns(wkb, func(_ wkbHead, p []byte) { read += len(p) }); err != nil || read > len(wkb) {
			t.Fatalf("%x: %d bytes of positions, %v", wkb, read, err)
		}
	})
}
