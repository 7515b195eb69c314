package kerneltest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
)

// Geometries are what CountRings and ListRings give, read one after the other.
type Geometries struct {
	spans, parts, rings, Positions []int64
}

// NoParts are spans without parts.
func NoParts(spans int) Geometries {
	return Geometries{spans: make([]int64, spans+1), parts: []int64{0}, rings: []int64{0}}
}

func (g *Geometries) part() { g.parts = append(g.parts, int64(len(g.rings))) }

func (g *Geometries) ring() { g.rings = append(g.rings, int64(len(g.Positions))) }

func (g *Geometries) at(i int) { g.Positions = append(g.Positions, int64(i)) }

// Geometry ends a geometry.
func (g *Geometries) Geometry() { g.spans = append(g.spans, int64(len(g.parts))) }

// End adds what follows the last offset of each list.
func (g *Geometries) End() {
	g.Geometry()
	g.part()
	g.ring()
}

// empty reports whether EMPTY of WKT stands at i.
func empty(text []byte, i int) bool { return text[i]|0x20 == 'e' }

// members returns where the members of the brackets at i begin.
func members(text []byte, i int) (begins []int) {
	if empty(text, i) {
		return nil
	}
	depth := 0
	for ; ; i++ {
		switch text[i] {
		case '[', '(':
			if depth++; depth == 1 {
				begins = append(begins, i+1)
			}
		case ']', ')':
			if depth--; depth == 0 {
				if len(bytes.TrimSpace(text[begins[0]:i])) == 0 {
					begins = nil
				}
				for j, at := range begins {
					begins[j] = at + len(text[at:]) - len(bytes.TrimLeft(text[at:], " \n\t\r"))
				}
				return begins
			}
		case ',':
			if depth == 1 {
				begins = append(begins, i+1)
			}
		}
	}
}

// Read adds the geometry of a kind whose coordinates begin with the bracket at i.
func (g *Geometries) Read(text []byte, i int, kind kgeom.TypeKind) {
	wkt := text[i] == '(' || empty(text, i)
	line := func(i int) {
		g.ring()
		if empty(text, i) && kind == kgeom.KindPoint {
			g.at(i)
		}
		begins := members(text, i)
		for _, at := range begins {
			if kind == kgeom.KindMultiPoint && text[at] == '(' {
				at++
				at += len(text[at:]) - len(bytes.TrimLeft(text[at:], " \n\t\r"))
			}
			g.at(at)
		}
	}
	lines := func(i int) {
		g.part()
		begins := members(text, i)
		for _, at := range begins {
			line(at)
		}
	}
	switch kind {
	case kgeom.KindPoint:
		g.part()
		if wkt {
			line(i)
		} else {
			g.ring()
			g.at(i)
		}
	case kgeom.KindLineString, kgeom.KindMultiPoint:
		g.part()
		line(i)
	case kgeom.KindPolygon, kgeom.KindMultiLineString:
		lines(i)
	case kgeom.KindMultiPolygon:
		begins := members(text, i)
		for _, at := range begins {
			lines(at)
		}
	}
}

// Shape is one geometry of a random text.
type Shape struct {
	Kind  kgeom.TypeKind
	Coord string
}

// RandomShapes returns geometries with blanks here and there.
func RandomShapes(seed uint64, count, most int, wkt bool) []Shape {
	rng := rand.New(rand.NewPCG(seed, 21))
	blank := func() string { return strings.Repeat(" ", rng.IntN(3)*rng.IntN(2)) + strings.Repeat("\n", rng.IntN(2)) }
	open, closing := "[", "]"
	if wkt {
		open, closing = "(", ")"
	}
	list := func(least int, member func() string) string {
		var all []string
		if wkt && rng.IntN(9) == 0 {
			return []string{"EMPTY", "empty"}[rng.IntN(2)]
		}
		for range least + rng.IntN(1+rng.IntN(most)) {
			all = append(all, member())
		}
		return open + blank() + strings.Join(all, blank()+","+blank()) + blank() + closing
	}
	number := func() string { return fmt.Sprint(rng.IntN(1 << (1 + rng.IntN(20)))) }
	position := func() string {
		if wkt {
			return number() + " " + number()
		}
		return open + number() + blank() + "," + blank() + number() + closing
	}
	least := 0
	if wkt {
		least = 1 // WKT writes EMPTY instead
	}
	line := func() string { return list(least, position) }
	lines := func() string { return list(least, line) }
	shapes := make([]Shape, count)
	for i := range shapes {
		kind := kgeom.TypeKind(1 + rng.IntN(6))
		var coord string
		switch kind {
		case kgeom.KindPoint:
			coord = position()
			switch {
			case wkt && rng.IntN(9) == 0:
				coord = "EMPTY"
			case wkt:
				coord = open + blank() + coord + closing
			}
		case kgeom.KindLineString:
			coord = line()
		case kgeom.KindMultiPoint:
			coord = line()
			if wkt && rng.IntN(2) == 0 {
				coord = list(1, func() string {
					if rng.IntN(9) == 0 {
						return "EMPTY"
					}
					return "(" + blank() + position() + ")"
				})
			}
		case kgeom.KindPolygon, kgeom.KindMultiLineString:
			coord = lines()
		case kgeom.KindMultiPolygon:
			coord = list(least, lines)
		}
		shapes[i] = Shape{kind, coord}
	}
	return shapes
}

// CoordinatesText lays geometries out in a text, with other brackets around them, and reads them.
func CoordinatesText(seed uint64, shapes []Shape) (text []byte, starts, ends []int64, kinds []kgeom.TypeKind,
	want Geometries,
) {
	rng := rand.New(rand.NewPCG(seed, 22))
	for _, g := range shapes {
		text = append(text, strings.Repeat("[(x)],", rng.IntN(3))...)
		text = append(text, strings.Repeat("_", rng.IntN(100)*rng.IntN(2))...)
		starts = append(starts, int64(len(text)))
		text = append(text, strings.Repeat(" ", rng.IntN(3))...)
		want.Geometry()
		first := len(want.Positions)
		want.Read([]byte(g.Coord), 0, g.Kind)
		for i := range want.Positions[first:] {
			want.Positions[first+i] += int64(len(text))
		}
		text = append(text, g.Coord...)
		ends, kinds = append(ends, int64(len(text))), append(kinds, g.Kind)
	}
	want.End()
	return append(text, "]])"...), starts, ends, kinds, want
}

// CountCoordinates runs CountCoordinates on GeoJSON; the counts are freed at the end of the test.
func CountCoordinates(r *Rig, text []byte, starts, ends []int64, kinds []kgeom.TypeKind) (*kgeom.Rings, error) {
	r.Helper()
	b := Upload(r, text)
	x, err := kjson.AllocStructure(r.Stream, len(text))
	r.OK(err)
	r.Cleanup(func() { r.OK(x.Free(r.Stream)) })
	r.OK(kjson.ParseStructure(r.Set, r.Stream, b, x, Upload(r, []kjson.StructureCarry{{Depth: 4}})))
	rings, err := kjson.CountCoordinates(r.Set, r.Stream, b, x, 5, kgeom.Coordinates{
		Starts: Upload(r, starts),
		Ends:   Upload(r, ends), Kinds: Upload(r, kinds),
	}, nil)
	if err == nil {
		r.Cleanup(func() { r.OK(rings.Free(r.Stream)) })
	}
	return rings, err
}

// CheckListed compares what was counted, and what ListRings gives.
func CheckListed(r *Rig, name string, text []byte, rings *kgeom.Rings, spans int, want Geometries) {
	r.Helper()
	if rings.Offset >= 0 {
		r.Fatalf("%s: fault %d at byte %d: %s", name, rings.Fault, rings.Offset, Around(text, int(rings.Offset)))
	}
	if rings.Parts != int64(len(want.parts)-1) || rings.Rings != int64(len(want.rings)-1) ||
		rings.Positions != int64(len(want.Positions)) {
		r.Fatalf("%s: %d parts, %d rings, %d positions; want %d, %d, %d", name,
			rings.Parts, rings.Rings, rings.Positions, len(want.parts)-1, len(want.rings)-1, len(want.Positions))
	}
	out := kgeom.RingOffsets{
		Spans: Poisoned[int64](r, spans+1), Parts: Poisoned[int64](r, int(rings.Parts)+1),
		Rings: Poisoned[int64](r, int(rings.Rings)+1), Positions: Poisoned[int64](r, int(rings.Positions)),
	}
	if len(want.Positions)%2 == 0 { // they may be left out
		out.SpanRings, out.ShortRings, out.Found = Poisoned[int32](r, spans+1), Poisoned[int32](r, int(rings.Rings)+1),
			Poisoned[kgeom.PositionsFound](r, 1)
	}
	r.OK(kgeom.ListRings(r.Set, r.Stream, rings, out))
	for _, found := range Read(r, out.Found) {
		if want := (kgeom.PositionsFound{Malformed: -1}); found != want {
			r.Fatalf("%s: %+v is found of positions before they are read, want %+v", name, found, want)
		}
	}
	for i, ring := range Read(r, out.SpanRings) {
		if int64(ring) != want.parts[want.spans[i]] {
			r.Fatalf("%s: the first ring of span %d is %d, want %d in %.300q", name, i, ring,
				want.parts[want.spans[i]], text)
		}
	}
	for i, position := range Read(r, out.ShortRings) {
		if int64(position) != want.rings[i] {
			r.Fatalf("%s: the first position of ring %d is %d in 32 bits, want %d in %.300q", name, i,
				position, want.rings[i], text)
		}
	}
	for _, list := range []struct {
		what      string
		got, want []int64
	}{
		{"spans", Read(r, out.Spans), want.spans},
		{"parts", Read(r, out.Parts), want.parts},
		{"rings", Read(r, out.Rings), want.rings},
		{"positions", Read(r, out.Positions), want.Positions},
	} {
		if !slices.Equal(list.got, list.want) {
			r.Fatalf("%s: %s\n%v, want\n%v in %.300q", name, list.what, list.got, list.want, text)
		}
	}
}
