package kernels_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// commasOf is the mask of commas.
func commasOf(text []byte) []uint64 {
	return bitmap(len(text), func(i int) bool { return text[i] == ',' })
}

// openEmpties has each EMPTY be a pair of brackets, as ParseWKT does.
func openEmpties(r *rig, text []byte, d *kernels.Depth) {
	r.Helper()
	x := readWKT(text, false)
	depth, base := int32(4), make([]int32, kernels.Words(len(text)))
	for i, c := range text {
		x.open[i], x.close[i] = x.open[i] || c == '[', x.close[i] || c == ']'
		if i%64 == 0 {
			base[i/64] = depth
		}
		if x.open[i] {
			depth++
		}
		if x.close[i] {
			depth--
		}
	}
	r.ok(gpu.Upload(r.s, d.Open, bitmap(len(text), func(i int) bool { return x.open[i] })))
	r.ok(gpu.Upload(r.s, d.Close, bitmap(len(text), func(i int) bool { return x.close[i] })))
	r.ok(gpu.Upload(r.s, d.Base, base))
}

// countRings runs CountRings; the counts are freed at the end of the test.
func countRings(r *rig, text []byte, wkt bool, starts, ends []int64, kinds []kernels.TypeKind) (*kernels.Rings, error) {
	r.Helper()
	d := depthOf(r, text, nil, kernels.Brackets{Open: "[(", Close: "])"}, upload(r, []kernels.DepthCarry{{Depth: 4}}))
	var commas kernels.Mask
	if wkt {
		commas = upload(r, commasOf(text))
		openEmpties(r, text, d)
	}
	rings, err := r.k.CountRings(r.s, upload(r, text), d, commas, kernels.Coordinates{
		Starts: upload(r, starts),
		Ends:   upload(r, ends), Kinds: upload(r, kinds),
	})
	if err == nil {
		r.Cleanup(func() { r.ok(rings.Free(r.s)) })
	}
	return rings, err
}

// checkRings compares what CountRings and ListRings give, and CountCoordinates likewise.
func checkRings(r *rig, name string, text []byte, wkt bool, starts, ends []int64, kinds []kernels.TypeKind,
	want geometries,
) {
	r.Helper()
	rings, err := countRings(r, text, wkt, starts, ends, kinds)
	r.ok(err)
	checkListed(r, name, text, rings, len(starts), want)
	if !wkt {
		rings, err = countCoordinates(r, text, starts, ends, kinds)
		r.ok(err)
		checkListed(r, name+", coordinates", text, rings, len(starts), want)
	}
}

func TestRings(t *testing.T) {
	r := open(t)
	smallWKT := []shape{
		{kernels.KindPoint, "EMPTY"},
		{kernels.KindLineString, "EMPTY"},
		{kernels.KindMultiPoint, "Empty"},
		{kernels.KindPolygon, "empty"},
		{kernels.KindMultiLineString, "EMPTY"},
		{kernels.KindMultiPolygon, "EMPTY"},
		{kernels.KindMultiPoint, "(EMPTY, 1 2,(3 4), EMPTY)"},
		{kernels.KindPolygon, "(EMPTY,(1 2,3 4) , EMPTY )"},
		{kernels.KindMultiPolygon, "(EMPTY,((1 2),EMPTY),(EMPTY))"},
	}
	text, starts, ends, kinds, want := coordinatesText(4, smallWKT)
	checkRings(r, "small WKT", text, true, starts, ends, kinds, want)
	small := []shape{
		{kernels.KindPoint, "[1,2]"},
		{kernels.KindPoint, "[]"},
		{kernels.KindLineString, "[]"},
		{kernels.KindMultiPolygon, "[]"},
		{kernels.KindPolygon, "[]"},
		{kernels.KindMultiPolygon, "[[],[[]],[[[]]]]"},
		{kernels.KindMultiPolygon, "[[[[1,2],[3,4]],[[5,6]]],[[[7,8]]]]"},
		{kernels.KindGeometryCollection, "[[1,2]]"},
		{kernels.KindUnknown, "[[[[[[1]]]]]]"},
		{kernels.KindMultiPoint, "[[1,2],[3,4]]"},
	}
	text, starts, ends, kinds, want = coordinatesText(1, small)
	checkRings(r, "small", text, false, starts, ends, kinds, want)
	for _, wkt := range []bool{false, true} {
		name := "GeoJSON"
		if wkt {
			name = "WKT"
		}
		text, starts, ends, kinds, want := coordinatesText(2, nil)
		checkRings(r, name+", none", text, wkt, starts, ends, kinds, want)
		checkRings(r, name+", no text", nil, wkt, nil, nil, nil, want)
		for seed := range uint64(6) {
			text, starts, ends, kinds, want = coordinatesText(seed, randomShapes(seed, 1+int(seed)*60,
				3+int(seed%4)*2, wkt))
			checkRings(r, name+", random", text, wkt, starts, ends, kinds, want)
		}
		text, starts, ends, kinds, want = coordinatesText(9, randomShapes(12, 2, 600, wkt))
		checkRings(r, name+", large", text, wkt, starts, ends, kinds, want)
		point := shape{kernels.KindPoint, "[1,2]"}
		if wkt {
			point.coord = "(1 2)"
		}
		// more spans in a tile than threads
		text, starts, ends, kinds, want = coordinatesText(10, slices.Repeat([]shape{point}, 1000))
		checkRings(r, name+", points", text, wkt, starts, ends, kinds, want)
		if !wkt { // more positions in a tile than coordinates have
			text, starts, ends, kinds, want = coordinatesText(11,
				[]shape{{kernels.KindLineString, "[" + strings.Repeat("[],", 9000) + "[]]"}})
			checkRings(r, name+", crowded", text, wkt, starts, ends, kinds, want)
		}
		for n := 16384 - 4; n < 16384+4; n++ { // over a tile's bound
			pad := bytes.Repeat([]byte{' '}, n)
			text, starts, ends, kinds, want = coordinatesText(3, randomShapes(5, 9, 4, wkt))
			for _, list := range [][]int64{starts, ends, want.positions} {
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
	r := open(t)
	for _, n := range []int{1, 64, 100, 16384, 16385, 32768} {
		text := bytes.Repeat([]byte{'['}, n)
		starts := []int64{0, int64(n) / 2, int64(n)}
		if n == 1 {
			starts = []int64{0, 1}
		}
		kinds := slices.Repeat([]kernels.TypeKind{kernels.KindPoint}, len(starts))
		checkRings(r, "empty", text, false, starts, starts, kinds, geometries{
			make([]int64, len(starts)+1),
			[]int64{0},
			[]int64{0},
			nil,
		})
	}
}

func TestRingFaults(t *testing.T) {
	r := open(t)
	for _, tt := range []struct {
		name, text string // ¦ is where the fault is
		kind       kernels.TypeKind
		fault      kernels.RingFault
	}{
		{"a position in a point", "[¦[1,2]]", kernels.KindPoint, kernels.RingsDeep},
		{"a ring in a line", "[[1,2],[¦[3,4]]]", kernels.KindLineString, kernels.RingsDeep},
		{"a number in a polygon", "[[[1,2]],[[1,2]],¦[3,4]]", kernels.KindPolygon, kernels.RingsStray},
		{"null in a line", "¦[null,[1,2]]", kernels.KindLineString, kernels.RingsStray},
		{
			"blanks without end", "¦[" + strings.Repeat(" ", 257) + "[1,2]]", kernels.KindLineString,
			kernels.RingsUndecided,
		},
		{"the text ends", "¦[", kernels.KindLineString, kernels.RingsStray},
		{
			"the first fault counts", strings.Repeat("[1,2],", 100) + "[¦[" + strings.Repeat("[1,2],", 10000),
			kernels.KindPoint, kernels.RingsDeep,
		},
		{"a word in a polygon", "((1 2)¦,EMPTYX)", kernels.KindPolygon, kernels.RingsStray},
		{"a word in a multipolygon", "¦(X, ((1 2)))", kernels.KindMultiPolygon, kernels.RingsStray},
		{"EMPTY in a point", "(¦EMPTY)", kernels.KindPoint, kernels.RingsDeep},
		{"EMPTY in a line", "(1 2, ¦EMPTY)", kernels.KindLineString, kernels.RingsDeep},
		{"EMPTY in a ring", "((1 2, ¦EMPTY))", kernels.KindPolygon, kernels.RingsDeep},
		{"EMPTY in a position", "((¦EMPTY))", kernels.KindMultiPoint, kernels.RingsDeep},
		{"positions in a point", "(1 2¦, 3 4)", kernels.KindPoint, kernels.RingsStray},
		{"brackets in a line", "(1 2, ¦(3 4))", kernels.KindLineString, kernels.RingsDeep},
		{"no rings in a polygon", "¦(1 2, 3 4)", kernels.KindPolygon, kernels.RingsStray},
		{"two positions in brackets of a multipoint", "((1 2¦, 3 4))", kernels.KindMultiPoint, kernels.RingsStray},
		{"a tuple of commas", "((1 2)¦,,(3 4))", kernels.KindPolygon, kernels.RingsStray},
	} {
		before, after, _ := strings.Cut(tt.text, "¦")
		text := []byte(before + after)
		rings, err := countRings(r, text, text[0] == '(', []int64{0}, []int64{int64(len(text))},
			[]kernels.TypeKind{tt.kind})
		r.ok(err)
		if rings.Fault != tt.fault || rings.Offset != int64(len(before)) {
			t.Errorf("%s: fault %d at byte %d, want %d at byte %d", tt.name, rings.Fault, rings.Offset,
				tt.fault, len(before))
		}
	}
}

func TestRingsRefused(t *testing.T) {
	r := open(t)
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
			slices.Repeat([]kernels.TypeKind{kernels.KindPoint}, len(tt.starts))); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
	rings, err := countRings(r, text, false, []int64{0, 6}, []int64{5, 11},
		[]kernels.TypeKind{kernels.KindPoint, kernels.KindPoint})
	r.ok(err)
	three, two := poisoned[int64](r, 3), poisoned[int64](r, 2)
	for _, out := range []kernels.RingOffsets{
		{Spans: two, Parts: three, Rings: three, Positions: two},
		{Spans: three, Parts: two, Rings: three, Positions: two},
		{Spans: three, Parts: three, Rings: two, Positions: two},
		{Spans: three, Parts: three, Rings: three, Positions: three},
		{Spans: three, Parts: three, Rings: three, Positions: two, Found: poisoned[kernels.PositionsFound](r, 2)},
	} {
		if r.k.ListRings(r.s, rings, out) == nil {
			t.Error("buffers of other lengths: no error")
		}
	}
}
