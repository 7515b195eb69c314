package kernels_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// bracketsAround is how many brackets stand around the positions of a kind.
var bracketsAround = map[kernels.TypeKind]int{
	kernels.KindPoint: 0, kernels.KindLineString: 1, kernels.KindPolygon: 2, kernels.KindMultiPoint: 1,
	kernels.KindMultiLineString: 2, kernels.KindMultiPolygon: 3,
}

// areCoordinates says whether text is brackets as a kind has them; what is in a position does not
// matter.
func areCoordinates(text string, kind kernels.TypeKind) bool {
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
			"blanks without end", "¦[" + strings.Repeat(" ", 4097) + "[1,2]]", kernels.KindLineString,
			kernels.RingsUndecided,
		},
		{
			"blanks without end behind a comma", "[[1,2¦]," + strings.Repeat(" ", 4097) + "[1,2]]",
			kernels.KindLineString, kernels.RingsUndecided,
		},
		{"the text ends", "¦[", kernels.KindLineString, kernels.RingsDeep},
		{"the text ends in a point", "¦[", kernels.KindPoint, kernels.RingsDeep},
		{
			"the first fault counts", "[[1,2¦];" + strings.Repeat("[1,2];[[", 3000) + "]", kernels.KindLineString,
			kernels.RingsStray,
		},
		{"a closing bracket too many", "[1,2¦]]", kernels.KindPoint, kernels.RingsDeep},
		{"two points", "[1,2¦],[1,2]", kernels.KindPoint, kernels.RingsDeep},
		{"one too few", "[[1,2¦]", kernels.KindLineString, kernels.RingsDeep},
		{"an object", "[[1,2],¦{}]", kernels.KindLineString, kernels.RingsStray},
		{"an object in a point", "[1,¦{}]", kernels.KindPoint, kernels.RingsStray},
		{"closed by a curly bracket", "[[1,2],[3,4¦}]", kernels.KindLineString, kernels.RingsStray},
		{"a string in a line", `[[1,2¦],"[3,4]"]`, kernels.KindLineString, kernels.RingsStray},
		{"a number in a line", "[[1,2¦],3]", kernels.KindLineString, kernels.RingsStray},
		{"a form feed", "[[1,2¦]\f]", kernels.KindLineString, kernels.RingsStray},
		{"comma last", "[[1,2¦],]", kernels.KindLineString, kernels.RingsStray},
		{"comma last, blanks", "[[1,2¦] , ]", kernels.KindLineString, kernels.RingsStray},
		{"two commas", "[[1,2¦],,[3,4]]", kernels.KindLineString, kernels.RingsStray},
		{"no comma", "[[1,2¦][3,4]]", kernels.KindLineString, kernels.RingsStray},
		{"a colon", "[[1,2¦]:[3,4]]", kernels.KindLineString, kernels.RingsStray},
		{
			"eight levels", "[" + "¦[" + strings.Repeat("[", 7) + strings.Repeat("]", 9), kernels.KindPoint,
			kernels.RingsDeep,
		},
	} {
		before, after, _ := strings.Cut(tt.text, "¦")
		text := before + after
		// at places of a word, and over the end of a tile
		for _, pad := range []int{0, 58, 59, 60, 61, 62, 63, 64, 16381, 16382, 16384} {
			padded := strings.Repeat(" ", pad) + text
			rings, err := countCoordinates(r, []byte(padded), []int64{int64(pad)}, []int64{int64(len(padded))},
				[]kernels.TypeKind{tt.kind})
			r.ok(err)
			if want := int64(pad + len(before)); rings.Fault != tt.fault || rings.Offset != want {
				t.Fatalf("%s: fault %d at byte %d, want %d at byte %d", tt.name, rings.Fault, rings.Offset,
					tt.fault, want)
			}
		}
	}
}

// placedText lays geometries out in n bytes of blanks, each where it is said, and reads them.
func placedText(n int, at []int, shapes []shape) (text []byte, starts, ends []int64, kinds []kernels.TypeKind,
	want geometries,
) {
	text = bytes.Repeat([]byte{' '}, n)
	for i, g := range shapes {
		copy(text[at[i]:], g.coord)
		starts, ends, kinds = append(starts, int64(at[i])), append(ends, int64(at[i]+len(g.coord))),
			append(kinds, g.kind)
		want.geometry()
		want.read(text[:at[i]+len(g.coord)], at[i], g.kind)
	}
	want.end()
	return text, starts, ends, kinds, want
}

// Tiles are summed up in groups: of one, of 2 from 2 tiles on, of 4 from 8 tiles on, of 8 from 32
// on.
func TestCoordinatesTiles(t *testing.T) {
	const tile = 16384
	r := open(t)
	check := func(name string, n int, at []int, shapes []shape) {
		t.Helper()
		text, starts, ends, kinds, want := placedText(n, at, shapes)
		rings, err := countCoordinates(r, text, starts, ends, kinds)
		r.ok(err)
		checkListed(r, name, text, rings, len(starts), want)
	}
	line := shape{kernels.KindMultiPolygon, "[[[[1,2],[3,4]],[[5,6]]],[],[[[7,8]]]]"}
	for _, n := range []int{1, tile - 1, tile, tile + 1} {
		check("nothing", n, nil, nil)
	}
	for _, tiles := range []int{1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 41} {
		n := tiles*tile - 1 // and the byte behind the text lies in the last tile
		check("nothing in many tiles", n, nil, nil)
		check("something in the last tile", n, []int{n - len(line.coord)}, []shape{line})
		check("something in the first tile", n, []int{0}, []shape{line})
		var at []int
		for i := range tiles { // over each bound, and three more in every third tile
			if i > 0 {
				at = append(at, i*tile-1-i%len(line.coord))
			}
			if i%3 == 0 {
				at = append(at, i*tile+100, i*tile+200, i*tile+15000)
			}
		}
		check("something in each tile", n, at, slices.Repeat([]shape{line}, len(at)))
	}
	for _, tiles := range []int{33*32 + 2, 64*64 + 1} { // 34 groups of 32, 65 of 64: more than a warp has lanes
		if tiles > 2000 && testing.Short() {
			continue
		}
		var at []int
		for i := 0; i < tiles-1; i += 1 + i%5 {
			at = append(at, i*tile+i)
		}
		check("many groups", tiles*tile-1, at, slices.Repeat([]shape{line}, len(at)))
	}
}

// One byte of coordinates is another one, or left out.
func TestCoordinatesMutated(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(7, 31))
	var sound, faults int
	for seed := range uint64(60) {
		text, starts, ends, kinds, _ := coordinatesText(seed, randomShapes(seed, 3, 3+int(seed%3)*20, false))
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
			rings, err := countCoordinates(r, changed, starts[i:i+1], ends[i:i+1], kinds[i:i+1])
			r.ok(err)
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
		kinds := make([]kernels.TypeKind, len(tt.starts))
		for i := range kinds {
			kinds[i] = kernels.KindPoint
		}
		if _, err := countCoordinates(r, text, tt.starts, tt.ends, kinds); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
	x, err := kernels.AllocStructure(r.s, 100)
	r.ok(err)
	defer func() { r.ok(x.Free(r.s)) }()
	r.ok(r.k.ParseStructure(r.s, upload(r, make([]byte, 100)), x, gpu.Buffer[kernels.StructureCarry]{}))
	if _, err := r.k.CountCoordinates(r.s, upload(r, text), x, 1, kernels.Coordinates{}, nil); err == nil {
		t.Error("the structure of another text: no error")
	}
}
