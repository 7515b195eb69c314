package json_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
)

// bracketsAround is how many brackets stand around the positions of a kind.
var bracketsAround = map[kgeom.TypeKind]int{
	kgeom.KindPoint: 0, kgeom.KindLineString: 1, kgeom.KindPolygon: 2, kgeom.KindMultiPoint: 1,
	kgeom.KindMultiLineString: 2, kgeom.KindMultiPolygon: 3,
}

// areCoordinates says whether text is brackets as a kind has them; what is in a position does not
// matter.
func areCoordinates(text string, kind kgeom.TypeKind) bool {
	trim := func(s string) string { return strings.TrimLeft(s, " \t\r\n") }
	var array func(s string, outer int) (rest string, ok bool)
	array = func(s string, outer int) (string, bool) {
		if !strings.HasPrefix(s, "[") {
			return s, false
		}
		if outer == 0 {
			i := 1 + strings.IndexAny(s[1:], "[]{}")
			return s[i+min(1, len(s)-i):], i > 0 && s[i] == ']'
		}
		if s = trim(s[1:]); strings.HasPrefix(s, "]") {
			return s[1:], true
		}
		for {
			rest, ok := array(s, outer-1)
			if rest = trim(rest); !ok || rest == "" {
				return rest, false
			}
			s = trim(rest[1:])
			if rest[0] != ',' {
				return rest[1:], rest[0] == ']'
			}
		}
	}
	rest, ok := array(text, bracketsAround[kind])
	return ok && rest == ""
}

func TestCoordinatesFaults(t *testing.T) {
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
			"blanks without end", "¦[" + strings.Repeat(" ", 4097) + "[1,2]]", kgeom.KindLineString,
			kgeom.RingsUndecided,
		},
		{
			"blanks without end behind a comma", "[[1,2¦]," + strings.Repeat(" ", 4097) + "[1,2]]",
			kgeom.KindLineString, kgeom.RingsUndecided,
		},
		{"the text ends", "¦[", kgeom.KindLineString, kgeom.RingsDeep},
		{"the text ends in a point", "¦[", kgeom.KindPoint, kgeom.RingsDeep},
		{
			"the first fault counts", "[[1,2¦];" + strings.Repeat("[1,2];[[", 3000) + "]", kgeom.KindLineString,
			kgeom.RingsStray,
		},
		{"a closing bracket too many", "[1,2¦]]", kgeom.KindPoint, kgeom.RingsDeep},
		{"two points", "[1,2¦],[1,2]", kgeom.KindPoint, kgeom.RingsDeep},
		{"one too few", "[[1,2¦]", kgeom.KindLineString, kgeom.RingsDeep},
		{"an object", "[[1,2],¦{}]", kgeom.KindLineString, kgeom.RingsStray},
		{"an object in a point", "[1,¦{}]", kgeom.KindPoint, kgeom.RingsStray},
		{"closed by a curly bracket", "[[1,2],[3,4¦}]", kgeom.KindLineString, kgeom.RingsStray},
		{"a string in a line", `[[1,2¦],"[3,4]"]`, kgeom.KindLineString, kgeom.RingsStray},
		{"a number in a line", "[[1,2¦],3]", kgeom.KindLineString, kgeom.RingsStray},
		{"a form feed", "[[1,2¦]\f]", kgeom.KindLineString, kgeom.RingsStray},
		{"comma last", "[[1,2¦],]", kgeom.KindLineString, kgeom.RingsStray},
		{"comma last, blanks", "[[1,2¦] , ]", kgeom.KindLineString, kgeom.RingsStray},
		{"two commas", "[[1,2¦],,[3,4]]", kgeom.KindLineString, kgeom.RingsStray},
		{"no comma", "[[1,2¦][3,4]]", kgeom.KindLineString, kgeom.RingsStray},
		{"a colon", "[[1,2¦]:[3,4]]", kgeom.KindLineString, kgeom.RingsStray},
		{
			"eight levels", "[" + "¦[" + strings.Repeat("[", 7) + strings.Repeat("]", 9), kgeom.KindPoint,
			kgeom.RingsDeep,
		},
	} {
		before, after, _ := strings.Cut(tt.text, "¦")
		text := before + after
		// at places of a word, and over the end of a tile
		for _, pad := range []int{0, 58, 59, 60, 61, 62, 63, 64, 16381, 16382, 16384} {
			padded := strings.Repeat(" ", pad) + text
			rings, err := kerneltest.CountCoordinates(r, []byte(padded), []int64{int64(pad)},
				[]int64{int64(len(padded))},
				[]kgeom.TypeKind{tt.kind})
			r.OK(err)
			if want := int64(pad + len(before)); rings.Fault != tt.fault || rings.Offset != want {
				t.Fatalf("%s: fault %d at byte %d, want %d at byte %d", tt.name, rings.Fault, rings.Offset,
					tt.fault, want)
			}
		}
	}
}

// placedText lays geometries out in n bytes of blanks, each where it is said, and reads them.
func placedText(n int, at []int, shapes []kerneltest.Shape) (text []byte, starts, ends []int64, kinds []kgeom.TypeKind,
	want kerneltest.Geometries,
) {
	text = bytes.Repeat([]byte{' '}, n)
	for i, g := range shapes {
		copy(text[at[i]:], g.Coord)
		starts, ends, kinds = append(starts, int64(at[i])), append(ends, int64(at[i]+len(g.Coord))),
			append(kinds, g.Kind)
		want.Geometry()
		want.Read(text[:at[i]+len(g.Coord)], at[i], g.Kind)
	}
	want.End()
	return text, starts, ends, kinds, want
}

// Tiles are summed up in groups: of one, of 2 from 2 tiles on, of 4 from 8 tiles on, of 8 from 32
// on.
func TestCoordinatesTiles(t *testing.T) {
	const tile = 16384
	r := kerneltest.Open(t)
	check := func(name string, n int, at []int, shapes []kerneltest.Shape) {
		t.Helper()
		text, starts, ends, kinds, want := placedText(n, at, shapes)
		rings, err := kerneltest.CountCoordinates(r, text, starts, ends, kinds)
		r.OK(err)
		kerneltest.CheckListed(r, name, text, rings, len(starts), want)
	}
	line := kerneltest.Shape{Kind: kgeom.KindMultiPolygon, Coord: "[[[[1,2],[3,4]],[[5,6]]],[],[[[7,8]]]]"}
	for _, n := range []int{1, tile - 1, tile, tile + 1} {
		check("nothing", n, nil, nil)
	}
	for _, tiles := range []int{1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 41} {
		n := tiles*tile - 1 // and the byte after the text lies in the last tile
		check("nothing in many tiles", n, nil, nil)
		check("something in the last tile", n, []int{n - len(line.Coord)}, []kerneltest.Shape{line})
		check("something in the first tile", n, []int{0}, []kerneltest.Shape{line})
		var at []int
		for i := range tiles { // over each bound, and three more in every third tile
			if i > 0 {
				at = append(at, i*tile-1-i%len(line.Coord))
			}
			if i%3 == 0 {
				at = append(at, i*tile+100, i*tile+200, i*tile+15000)
			}
		}
		check("something in each tile", n, at, slices.Repeat([]kerneltest.Shape{line}, len(at)))
	}
	for _, tiles := range []int{33*32 + 2, 64*64 + 1} { // 34 groups of 32, 65 of 64: more than a warp has lanes
		if tiles > 2000 && testing.Short() {
			continue
		}
		var at []int
		for i := 0; i < tiles-1; i += 1 + i%5 {
			at = append(at, i*tile+i)
		}
		check("many groups", tiles*tile-1, at, slices.Repeat([]kerneltest.Shape{line}, len(at)))
	}
}

// One byte of coordinates is another one, or left out.
func TestCoordinatesMutated(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(7, 31))
	var sound, faults int
	for seed := range uint64(60) {
		text, starts, ends, kinds, _ := kerneltest.CoordinatesText(seed, kerneltest.RandomShapes(seed, 3,
			3+int(seed%3)*20, false))
		pad := rng.IntN(2) * (16384 - rng.IntN(len(text)+1))
		text = append([]byte(strings.Repeat(" ", max(pad, 0))), text...)
		i := rng.IntN(len(starts))
		for j := range starts {
			starts[j], ends[j] = starts[j]+int64(max(pad, 0)), ends[j]+int64(max(pad, 0))
		}
		for range 6 {
			changed := []byte(string(text))
			span := changed[starts[i]:ends[i]]
			span[rng.IntN(len(span))] = "[[]],,{} 1"[rng.IntN(10)]
			first := max(0, strings.IndexAny(string(span), "[]{}")) // what stands before it does not matter
			want := areCoordinates(string(span[first:]), kinds[i])
			rings, err := kerneltest.CountCoordinates(r, changed, starts[i:i+1], ends[i:i+1], kinds[i:i+1])
			r.OK(err)
			if (rings.Offset < 0) != want {
				// What stands around a span changes no depth before it.
				t.Fatalf("fault %d at byte %d of %q, a %d; want a fault: %v", rings.Fault, rings.Offset-starts[i],
					span, kinds[i], !want)
			}
			if want {
				sound++
			} else {
				faults++
			}
		}
	}
	if sound < 20 || faults < 20 {
		t.Errorf("%d sound and %d faults", sound, faults)
	}
}

func TestCoordinatesRefused(t *testing.T) {
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
		kinds := make([]kgeom.TypeKind, len(tt.starts))
		for i := range kinds {
			kinds[i] = kgeom.KindPoint
		}
		if _, err := kerneltest.CountCoordinates(r, text, tt.starts, tt.ends, kinds); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
	x, err := kjson.AllocStructure(r.Stream, 100)
	r.OK(err)
	defer func() { r.OK(x.Free(r.Stream)) }()
	r.OK(kjson.ParseStructure(r.Set, r.Stream, kerneltest.Upload(r, make([]byte, 100)), x,
		gpu.Buffer[kjson.StructureCarry]{}))
	if _, err := kjson.CountCoordinates(r.Set, r.Stream, kerneltest.Upload(r, text), x, 1, kgeom.Coordinates{},
		nil); err == nil {
		t.Error("the structure of another text: no error")
	}
}
