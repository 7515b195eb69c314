package kernels_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/kernels"
)

// geometries are what CountRings and ListRings give, read one after the other.
type geometries struct {
	spans, parts, rings, positions []int64
}

func (g *geometries) part() { g.parts = append(g.parts, int64(len(g.rings))) }

func (g *geometries) ring() { g.rings = append(g.rings, int64(len(g.positions))) }

func (g *geometries) at(i int) { g.positions = append(g.positions, int64(i)) }

func (g *geometries) geometry() { g.spans = append(g.spans, int64(len(g.parts))) }

// end adds what stands behind the last offset of each list.
func (g *geometries) end() {
	g.geometry()
	g.part()
	g.ring()
}

// empty reports whether EMPTY of WKT stands at i.
func empty(text []byte, i int) bool { return text[i]|0x20 == 'e' }

// members are where the members of the brackets at i begin, and what lies behind the brackets.
func members(text []byte, i int) (begins []int, behind int) {
	if empty(text, i) {
		return nil, i + 5
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
				return begins, i + 1
			}
		case ',':
			if depth == 1 {
				begins = append(begins, i+1)
			}
		}
	}
}

// read adds the geometry of a kind whose coordinates begin with the bracket at i.
func (g *geometries) read(text []byte, i int, kind kernels.TypeKind) {
	wkt := text[i] == '(' || empty(text, i)
	line := func(i int) {
		g.ring()
		if empty(text, i) && kind == kernels.KindPoint {
			g.at(i)
		}
		begins, _ := members(text, i)
		for _, at := range begins {
			if kind == kernels.KindMultiPoint && text[at] == '(' {
				at++
				at += len(text[at:]) - len(bytes.TrimLeft(text[at:], " \n\t\r"))
			}
			g.at(at)
		}
	}
	lines := func(i int) {
		g.part()
		begins, _ := members(text, i)
		for _, at := range begins {
			line(at)
		}
	}
	switch kind {
	case kernels.KindPoint:
		g.part()
		if wkt {
			line(i)
		} else {
			g.ring()
			g.at(i)
		}
	case kernels.KindLineString, kernels.KindMultiPoint:
		g.part()
		line(i)
	case kernels.KindPolygon, kernels.KindMultiLineString:
		lines(i)
	case kernels.KindMultiPolygon:
		begins, _ := members(text, i)
		for _, at := range begins {
			lines(at)
		}
	}
}

// shape is one geometry of a random text.
type shape struct {
	kind  kernels.TypeKind
	coord string
}

// randomShapes gives geometries with blanks here and there.
func randomShapes(seed uint64, count, most int, wkt bool) []shape {
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
	shapes := make([]shape, count)
	for i := range shapes {
		kind := kernels.TypeKind(1 + rng.IntN(6))
		var coord string
		switch kind {
		case kernels.KindPoint:
			coord = position()
			switch {
			case wkt && rng.IntN(9) == 0:
				coord = "EMPTY"
			case wkt:
				coord = open + blank() + coord + closing
			}
		case kernels.KindLineString:
			coord = line()
		case kernels.KindMultiPoint:
			coord = line()
			if wkt && rng.IntN(2) == 0 {
				coord = list(1, func() string {
					if rng.IntN(9) == 0 {
						return "EMPTY"
					}
					return "(" + blank() + position() + ")"
				})
			}
		case kernels.KindPolygon, kernels.KindMultiLineString:
			coord = lines()
		case kernels.KindMultiPolygon:
			coord = list(least, lines)
		}
		shapes[i] = shape{kind, coord}
	}
	return shapes
}

// coordinatesText lays geometries out in a text, with other brackets around them, and reads them.
func coordinatesText(seed uint64, shapes []shape) (text []byte, starts, ends []int64, kinds []kernels.TypeKind,
	want geometries,
) {
	rng := rand.New(rand.NewPCG(seed, 22))
	for _, g := range shapes {
		text = append(text, strings.Repeat("[(x)],", rng.IntN(3))...)
		text = append(text, strings.Repeat("_", rng.IntN(100)*rng.IntN(2))...)
		starts = append(starts, int64(len(text)))
		text = append(text, strings.Repeat(" ", rng.IntN(3))...)
		want.geometry()
		first := len(want.positions)
		want.read([]byte(g.coord), 0, g.kind)
		for i := range want.positions[first:] {
			want.positions[first+i] += int64(len(text))
		}
		text = append(text, g.coord...)
		ends, kinds = append(ends, int64(len(text))), append(kinds, g.kind)
	}
	want.end()
	return append(text, "]])"...), starts, ends, kinds, want
}

// countCoordinates runs CountCoordinates on GeoJSON; the counts are freed at the end of the test.
func countCoordinates(r *rig, text []byte, starts, ends []int64, kinds []kernels.TypeKind) (*kernels.Rings, error) {
	r.Helper()
	b := upload(r, text)
	x, err := kernels.AllocStructure(r.s, len(text))
	r.ok(err)
	r.Cleanup(func() { r.ok(x.Free(r.s)) })
	r.ok(r.k.ParseStructure(r.s, b, x, upload(r, []kernels.StructureCarry{{Depth: 4}})))
	rings, err := r.k.CountCoordinates(r.s, b, x, 5, kernels.Coordinates{
		Starts: upload(r, starts),
		Ends:   upload(r, ends), Kinds: upload(r, kinds),
	}, nil)
	if err == nil {
		r.Cleanup(func() { r.ok(rings.Free(r.s)) })
	}
	return rings, err
}

// checkListed compares what was counted, and what ListRings gives.
func checkListed(r *rig, name string, text []byte, rings *kernels.Rings, spans int, want geometries) {
	r.Helper()
	if rings.Offset >= 0 {
		r.Fatalf("%s: fault %d at byte %d: %s", name, rings.Fault, rings.Offset, around(text, int(rings.Offset)))
	}
	if rings.Parts != int64(len(want.parts)-1) || rings.Rings != int64(len(want.rings)-1) ||
		rings.Positions != int64(len(want.positions)) {
		r.Fatalf("%s: %d parts, %d rings, %d positions; want %d, %d, %d", name,
			rings.Parts, rings.Rings, rings.Positions, len(want.parts)-1, len(want.rings)-1, len(want.positions))
	}
	out := kernels.RingOffsets{
		Spans: poisoned[int64](r, spans+1), Parts: poisoned[int64](r, int(rings.Parts)+1),
		Rings: poisoned[int64](r, int(rings.Rings)+1), Positions: poisoned[int64](r, int(rings.Positions)),
	}
	if len(want.positions)%2 == 0 { // they may be left out
		out.SpanRings, out.ShortRings, out.Found = poisoned[int32](r, spans+1), poisoned[int32](r, int(rings.Rings)+1),
			poisoned[kernels.PositionsFound](r, 1)
	}
	r.ok(r.k.ListRings(r.s, rings, out))
	for _, found := range read(r, out.Found) {
		if want := (kernels.PositionsFound{Malformed: -1}); found != want {
			r.Fatalf("%s: %+v is found of positions before they are read, want %+v", name, found, want)
		}
	}
	for i, ring := range read(r, out.SpanRings) {
		if int64(ring) != want.parts[want.spans[i]] {
			r.Fatalf("%s: the first ring of span %d is %d, want %d in %.300q", name, i, ring,
				want.parts[want.spans[i]], text)
		}
	}
	for i, position := range read(r, out.ShortRings) {
		if int64(position) != want.rings[i] {
			r.Fatalf("%s: the first position of ring %d is %d in 32 bits, want %d in %.300q", name, i,
				position, want.rings[i], text)
		}
	}
	for _, list := range []struct {
		what      string
		got, want []int64
	}{
		{"spans", read(r, out.Spans), want.spans},
		{"parts", read(r, out.Parts), want.parts},
		{"rings", read(r, out.Rings), want.rings},
		{"positions", read(r, out.Positions), want.positions},
	} {
		if !slices.Equal(list.got, list.want) {
			r.Fatalf("%s: %s\n%v, want\n%v in %.300q", name, list.what, list.got, list.want, text)
		}
	}
}
