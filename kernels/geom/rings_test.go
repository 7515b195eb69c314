package geom_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// openEmpties has each EMPTY be a pair of brackets, as ParseWKT does.
func openEmpties(r *kerneltest.Rig, text []byte, d *ktext.Depth) {
	r.Helper()
	x := kerneltest.ReadWKT(text, false)
	depth, base := int32(4), make([]int32, kernels.Words(len(text)))
	for i, c := range text {
		x.Open[i], x.Close[i] = x.Open[i] || c == '[', x.Close[i] || c == ']'
		if i%64 == 0 {
			base[i/64] = depth
		}
		if x.Open[i] {
			depth++
		}
		if x.Close[i] {
			depth--
		}
	}
	r.OK(gpu.Upload(r.Stream, d.Open, kerneltest.Bitmap(len(text), func(i int) bool { return x.Open[i] })))
	r.OK(gpu.Upload(r.Stream, d.Close, kerneltest.Bitmap(len(text), func(i int) bool { return x.Close[i] })))
	r.OK(gpu.Upload(r.Stream, d.Base, base))
}

// countRings runs CountRings; the counts are freed at the end of the test.
func countRings(r *kerneltest.Rig, text []byte, wkt bool, starts, ends []int64,
	kinds []kgeom.TypeKind,
) (*kgeom.Rings, error) {
	r.Helper()
	d := kerneltest.DepthOf(r, text, nil, ktext.Brackets{Open: "[(", Close: "])"},
		kerneltest.Upload(r, []ktext.DepthCarry{{Depth: 4}}))
	var commas kernels.Mask
	if wkt {
		commas = kerneltest.Upload(r, kerneltest.CommasOf(text))
		openEmpties(r, text, d)
	}
	rings, err := kgeom.CountRings(r.Set, r.Stream, kerneltest.Upload(r, text), d, commas, kgeom.Coordinates{
		Starts: kerneltest.Upload(r, starts),
		Ends:   kerneltest.Upload(r, ends), Kinds: kerneltest.Upload(r, kinds),
	})
	if err == nil {
		r.Cleanup(func() { r.OK(rings.Free(r.Stream)) })
	}
	return rings, err
}

// checkRings compares what CountRings and ListRings give, and CountCoordinates likewise.
func checkRings(r *kerneltest.Rig, name string, text []byte, wkt bool, starts, ends []int64, kinds []kgeom.TypeKind,
	want kerneltest.Geometries,
) {
	r.Helper()
	rings, err := countRings(r, text, wkt, starts, ends, kinds)
	r.OK(err)
	kerneltest.CheckListed(r, name, text, rings, len(starts), want)
	if !wkt {
		rings, err = kerneltest.CountCoordinates(r, text, starts, ends, kinds)
		r.OK(err)
		kerneltest.CheckListed(r, name+", coordinates", text, rings, len(starts), want)
	}
}

func TestRings(t *testing.T) {
	r := kerneltest.Open(t)
	smallWKT := []kerneltest.Shape{
		{Kind: kgeom.KindPoint, Coord: "EMPTY"},
		{Kind: kgeom.KindLineString, Coord: "EMPTY"},
		{Kind: kgeom.KindMultiPoint, Coord: "Empty"},
		{Kind: kgeom.KindPolygon, Coord: "empty"},
		{Kind: kgeom.KindMultiLineString, Coord: "EMPTY"},
		{Kind: kgeom.KindMultiPolygon, Coord: "EMPTY"},
		{Kind: kgeom.KindMultiPoint, Coord: "(EMPTY, 1 2,(3 4), EMPTY)"},
		{Kind: kgeom.KindPolygon, Coord: "(EMPTY,(1 2,3 4) , EMPTY )"},
		{Kind: kgeom.KindMultiPolygon, Coord: "(EMPTY,((1 2),EMPTY),(EMPTY))"},
	}
	text, starts, ends, kinds, want := kerneltest.CoordinatesText(4, smallWKT)
	checkRings(r, "small WKT", text, true, starts, ends, kinds, want)
	small := []kerneltest.Shape{
		{Kind: kgeom.KindPoint, Coord: "[1,2]"},
		{Kind: kgeom.KindPoint, Coord: "[]"},
		{Kind: kgeom.KindLineString, Coord: "[]"},
		{Kind: kgeom.KindMultiPolygon, Coord: "[]"},
		{Kind: kgeom.KindPolygon, Coord: "[]"},
		{Kind: kgeom.KindMultiPolygon, Coord: "[[],[[]],[[[]]]]"},
		{Kind: kgeom.KindMultiPolygon, Coord: "[[[[1,2],[3,4]],[[5,6]]],[[[7,8]]]]"},
		{Kind: kgeom.KindGeometryCollection, Coord: "[[1,2]]"},
		{Kind: kgeom.KindUnknown, Coord: "[[[[[[1]]]]]]"},
		{Kind: kgeom.KindMultiPoint, Coord: "[[1,2],[3,4]]"},
	}
	text, starts, ends, kinds, want = kerneltest.CoordinatesText(1, small)
	checkRings(r, "small", text, false, starts, ends, kinds, want)
	for _, wkt := range []bool{false, true} {
		name := "GeoJSON"
		if wkt {
			name = "WKT"
		}
		text, starts, ends, kinds, want := kerneltest.CoordinatesText(2, nil)
		checkRings(r, name+", none", text, wkt, starts, ends, kinds, want)
		checkRings(r, name+", no text", nil, wkt, nil, nil, nil, want)
		for seed := range uint64(6) {
			text, starts, ends, kinds, want = kerneltest.CoordinatesText(seed,
				kerneltest.RandomShapes(seed, 1+int(seed)*60,
					3+int(seed%4)*2, wkt))
			checkRings(r, name+", random", text, wkt, starts, ends, kinds, want)
		}
		text, starts, ends, kinds, want = kerneltest.CoordinatesText(9, kerneltest.RandomShapes(12, 2, 600, wkt))
		checkRings(r, name+", large", text, wkt, starts, ends, kinds, want)
		point := kerneltest.Shape{Kind: kgeom.KindPoint, Coord: "[1,2]"}
		if wkt {
			point.Coord = "(1 2)"
		}
		// more spans in a tile than threads
		text, starts, ends, kinds, want = kerneltest.CoordinatesText(10, slices.Repeat([]kerneltest.Shape{point}, 1000))
		checkRings(r, name+", points", text, wkt, starts, ends, kinds, want)
		if !wkt { // more positions in a tile than coordinates have
			text, starts, ends, kinds, want = kerneltest.CoordinatesText(11,
				[]kerneltest.Shape{{Kind: kgeom.KindLineString, Coord: "[" + strings.Repeat("[],", 9000) + "[]]"}})
			checkRings(r, name+", crowded", text, wkt, starts, ends, kinds, want)
		}
		for n := 16384 - 4; n < 16384+4; n++ { // over a tile's bound
			pad := bytes.Repeat([]byte{' '}, n)
			text, starts, ends, kinds, want = kerneltest.CoordinatesText(3, kerneltest.RandomShapes(5, 9, 4, wkt))
			for _, list := range [][]int64{starts, ends, want.Positions} {
				for i := range list {
					list[i] += int64(n)
				}
			}
			checkRings(r, name+", over a bound", append(pad, text...), wkt, starts, ends, kinds, want)
		}
	}
}

// Spans that hold nothing, also at the end of the text and of a tile.
func TestRingsOfEmptySpans(t *testing.T) {
	r := kerneltest.Open(t)
	for _, n := range []int{1, 64, 100, 16384, 16385, 32768} {
		text := bytes.Repeat([]byte{'['}, n)
		starts := []int64{0, int64(n) / 2, int64(n)}
		if n == 1 {
			starts = []int64{0, 1}
		}
		kinds := slices.Repeat([]kgeom.TypeKind{kgeom.KindPoint}, len(starts))
		checkRings(r, "empty", text, false, starts, starts, kinds, kerneltest.NoParts(len(starts)))
	}
}

func TestRingFaults(t *testing.T) {
	r := kerneltest.Open(t)
	for _, tt := range []struct {
		name, text string // ¦ is where the fault is
		kind       kgeom.TypeKind
		fault      kgeom.RingFault
	}{
		{"a position in a point", "[¦[1,2]]", kgeom.KindPoint, kgeom.RingsDeep},
		{"a ring in a line", "[[1,2],[¦[3,4]]]", kgeom.KindLineString, kgeom.RingsDeep},
		{"a number in a polygon", "[[[1,2]],[[1,2]],¦[3,4]]", kgeom.KindPolygon, kgeom.RingsStray},
		{"null in a line", "¦[null,[1,2]]", kgeom.KindLineString, kgeom.RingsStray},
		{
			"blanks without end", "¦[" + strings.Repeat(" ", 257) + "[1,2]]", kgeom.KindLineString,
			kgeom.RingsUndecided,
		},
		{"the text ends", "¦[", kgeom.KindLineString, kgeom.RingsStray},
		{
			"the first fault counts", strings.Repeat("[1,2],", 100) + "[¦[" + strings.Repeat("[1,2],", 10000),
			kgeom.KindPoint, kgeom.RingsDeep,
		},
		{"a word in a polygon", "((1 2)¦,EMPTYX)", kgeom.KindPolygon, kgeom.RingsStray},
		{"a word in a multipolygon", "¦(X, ((1 2)))", kgeom.KindMultiPolygon, kgeom.RingsStray},
		{"EMPTY in a point", "(¦EMPTY)", kgeom.KindPoint, kgeom.RingsDeep},
		{"EMPTY in a line", "(1 2, ¦EMPTY)", kgeom.KindLineString, kgeom.RingsDeep},
		{"EMPTY in a ring", "((1 2, ¦EMPTY))", kgeom.KindPolygon, kgeom.RingsDeep},
		{"EMPTY in a position", "((¦EMPTY))", kgeom.KindMultiPoint, kgeom.RingsDeep},
		{"positions in a point", "(1 2¦, 3 4)", kgeom.KindPoint, kgeom.RingsStray},
		{"brackets in a line", "(1 2, ¦(3 4))", kgeom.KindLineString, kgeom.RingsDeep},
		{"no rings in a polygon", "¦(1 2, 3 4)", kgeom.KindPolygon, kgeom.RingsStray},
		{"two positions in brackets of a multipoint", "((1 2¦, 3 4))", kgeom.KindMultiPoint, kgeom.RingsStray},
		{"a tuple of commas", "((1 2)¦,,(3 4))", kgeom.KindPolygon, kgeom.RingsStray},
	} {
		before, after, _ := strings.Cut(tt.text, "¦")
		text := []byte(before + after)
		rings, err := countRings(r, text, text[0] == '(', []int64{0}, []int64{int64(len(text))},
			[]kgeom.TypeKind{tt.kind})
		r.OK(err)
		if rings.Fault != tt.fault || rings.Offset != int64(len(before)) {
			t.Errorf("%s: fault %d at byte %d, want %d at byte %d", tt.name, rings.Fault, rings.Offset,
				tt.fault, len(before))
		}
	}
}

func TestRingsRefused(t *testing.T) {
	r := kerneltest.Open(t)
	text := []byte("[1,2] [3,4]")
	for _, tt := range []struct {
		name         string
		starts, ends []int64
	}{
		{"out of order", []int64{6, 0}, []int64{11, 5}},
		{"overlapping", []int64{0, 4}, []int64{5, 11}},
		{"twice", []int64{3, 3}, []int64{3, 3}},
		{"an end before its start", []int64{6}, []int64{5}},
		{"a start before the text", []int64{-1 << 62}, []int64{5}},
		{"an end behind the text", []int64{0}, []int64{12}},
		{"fewer ends", []int64{0, 6}, []int64{5}},
	} {
		if _, err := countRings(r, text, false, tt.starts, tt.ends,
			slices.Repeat([]kgeom.TypeKind{kgeom.KindPoint}, len(tt.starts))); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
	rings, err := countRings(r, text, false, []int64{0, 6}, []int64{5, 11},
		[]kgeom.TypeKind{kgeom.KindPoint, kgeom.KindPoint})
	r.OK(err)
	three, two := kerneltest.Poisoned[int64](r, 3), kerneltest.Poisoned[int64](r, 2)
	for _, out := range []kgeom.RingOffsets{
		{Spans: two, Parts: three, Rings: three, Positions: two},
		{Spans: three, Parts: two, Rings: three, Positions: two},
		{Spans: three, Parts: three, Rings: two, Positions: two},
		{Spans: three, Parts: three, Rings: three, Positions: three},
		{
			Spans: three, Parts: three, Rings: three, Positions: two,
			Found: kerneltest.Poisoned[kgeom.PositionsFound](r, 2),
		},
	} {
		if kgeom.ListRings(r.Set, r.Stream, rings, out) == nil {
			t.Error("buffers of other lengths: no error")
		}
	}
}
