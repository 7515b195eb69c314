package geom_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
)

// geometry is one of any kind: parts of rings of positions, of x, y, z and m, or members.
type geometry struct {
	kind    kgeom.GeometryKind
	parts   [][][][4]float64
	members []geometry
}

// wkb writes it, value by value.
func (g geometry) wkb(b []byte) []byte {
	kind, z, m := g.kind&7, uint32(g.kind>>3&1), uint32(g.kind>>4)
	header := func(kind kgeom.GeometryKind) {
		b = binary.LittleEndian.AppendUint32(append(b, 1), uint32(kind)+1000*z+2000*m)
	}
	count := func(n int) { b = binary.LittleEndian.AppendUint32(b, uint32(n)) }
	position := func(p [4]float64) {
		for k, has := range [4]uint32{1, 1, z, m} {
			if has == 1 {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p[k]))
			}
		}
	}
	positions := func(all [][4]float64) {
		count(len(all))
		for _, p := range all {
			position(p)
		}
	}
	polygon := func(rings [][][4]float64) {
		count(len(rings))
		for _, r := range rings {
			positions(r)
		}
	}
	if kind == 0 {
		return b
	}
	header(kind)
	switch kgeom.TypeKind(kind) {
	case kgeom.KindPoint:
		position(g.parts[0][0][0])
	case kgeom.KindLineString:
		positions(g.parts[0][0])
	case kgeom.KindPolygon:
		polygon(g.parts[0])
	case kgeom.KindMultiPoint:
		count(len(g.parts[0][0]))
		for _, p := range g.parts[0][0] {
			header(1)
			position(p)
		}
	case kgeom.KindMultiLineString:
		count(len(g.parts[0]))
		for _, line := range g.parts[0] {
			header(2)
			positions(line)
		}
	case kgeom.KindMultiPolygon:
		count(len(g.parts))
		for _, p := range g.parts {
			header(3)
			polygon(p)
		}
	case kgeom.KindGeometryCollection:
		count(len(g.members))
		for _, m := range g.members {
			b = m.wkb(b)
		}
	}
	return b
}

// shapesOf takes geometries to the device, without the members of collections.
func shapesOf(r *kerneltest.Rig, all []geometry) kgeom.WKBShapes {
	r.Helper()
	kinds := make([]kgeom.GeometryKind, len(all))
	spans, parts, rings := []int64{0}, []int64{0}, []int64{0}
	var xyz [4][]float64
	for i, g := range all {
		kinds[i] = g.kind
		for _, part := range g.parts {
			for _, ring := range part {
				for _, p := range ring {
					for k := range xyz {
						xyz[k] = append(xyz[k], p[k])
					}
				}
				rings = append(rings, int64(len(xyz[0])))
			}
			parts = append(parts, int64(len(rings)-1))
		}
		spans = append(spans, int64(len(parts)-1))
	}
	return kgeom.WKBShapes{
		Kinds: kerneltest.Upload(r, kinds), At: kgeom.RingOffsets{
			Spans: kerneltest.Upload(r, spans), Parts: kerneltest.Upload(r, parts),
			Rings: kerneltest.Upload(r, rings),
		},
		X: kerneltest.Upload(r, xyz[0]), Y: kerneltest.Upload(r, xyz[1]), Z: kerneltest.Upload(r, xyz[2]),
		M: kerneltest.Upload(r, xyz[3]),
	}
}

// writeWKB measures and writes geometries, and compares with wkb. short: bytes of the output that
// there is no room for.
func writeWKB(r *kerneltest.Rig, what string, all []geometry, shapes kgeom.WKBShapes, short int) (offsets []int64,
	out gpu.Buffer[byte],
) {
	r.Helper()
	var want []byte
	wantOffsets := []int64{0}
	for _, g := range all {
		want = g.wkb(want)
		wantOffsets = append(wantOffsets, int64(len(want)))
	}
	at, narrow := kerneltest.Poisoned[int64](r, len(all)+1), kerneltest.Poisoned[int32](r, len(all)+1)
	x, err := kgeom.MeasureWKB(r.Set, r.Stream, shapes, at, narrow)
	r.OK(err)
	if offsets = kerneltest.Read(r, at); !slices.Equal(offsets, wantOffsets) {
		r.Fatalf("%s: offsets %d, want %d", what, offsets, wantOffsets)
	}
	for i, got := range kerneltest.Read(r, narrow) {
		if int64(got) != offsets[i] {
			r.Fatalf("%s: offset %d is %d in 32 bits, want %d", what, i, got, offsets[i])
		}
	}
	room := max(0, len(want)-short)
	out = kerneltest.Poisoned[byte](r, room)
	facts := kerneltest.Poisoned[kgeom.RingFact](r, 1)
	r.OK(kgeom.WriteWKB(r.Set, r.Stream, x, out, facts))
	if got := kerneltest.Read(r, out); !bytes.Equal(got, want[:room]) {
		i := 0
		for got[i] == want[i] {
			i++
		}
		r.Fatalf("%s: byte %d of %d is %x, want %x", what, i, len(want), got[i:min(i+40, room)],
			want[i:min(i+40, room)])
	}
	if got, want := kerneltest.Read(r, facts)[0], oddOf(all); short == 0 && got != want {
		r.Fatalf("%s: odd rings %+v, want %+v", what, got, want)
	}
	r.OK(x.Free(r.Stream))
	return offsets, out
}

// oddOf is what is odd about the rings of polygons and the lines of geometries.
func oddOf(all []geometry) (f kgeom.RingFact) {
	for _, g := range all {
		kind := kgeom.TypeKind(g.kind & 7)
		polygon, line := kind == kgeom.KindPolygon || kind == kgeom.KindMultiPolygon,
			kind == kgeom.KindLineString || kind == kgeom.KindMultiLineString
		for _, part := range g.parts {
			for _, ring := range part {
				n := len(ring)
				if polygon && n < 4 {
					f.Few++
				}
				if polygon && n > 0 && (ring[0][0] != ring[n-1][0] || ring[0][1] != ring[n-1][1]) {
					f.Unclosed++
				}
				if line && n == 1 {
					f.Single++
				}
			}
		}
	}
	return f
}

// randomGeometry gives one of a kind, of at most n parts, rings and positions each.
func randomGeometry(rng *rand.Rand, kind kgeom.GeometryKind, most int) geometry {
	g := geometry{kind: kind}
	line := func(n int) [][4]float64 {
		all := make([][4]float64, n)
		for i := range all {
			all[i] = [4]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		}
		return all
	}
	polygon := func() [][][4]float64 {
		rings := make([][][4]float64, rng.IntN(most))
		for i := range rings {
			rings[i] = line(rng.IntN(most))
			if n := len(rings[i]); n > 0 && rng.IntN(2) == 0 { // closed, whatever its z and m
				rings[i][n-1][0], rings[i][n-1][1] = rings[i][0][0], rings[i][0][1]
			}
		}
		return rings
	}
	switch kgeom.TypeKind(kind & 7) {
	case kgeom.KindPoint:
		g.parts = [][][][4]float64{{line(1)}}
	case kgeom.KindLineString, kgeom.KindMultiPoint:
		g.parts = [][][][4]float64{{line(rng.IntN(most))}}
	case kgeom.KindPolygon, kgeom.KindMultiLineString:
		g.parts = [][][][4]float64{polygon()}
	case kgeom.KindMultiPolygon:
		for range rng.IntN(most) {
			g.parts = append(g.parts, polygon())
		}
	}
	return g
}

func TestWriteWKB(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(3, 1))
	writeWKB(r, "none", nil, shapesOf(r, nil), 0)
	writeWKB(r, "nulls", make([]geometry, 1000), shapesOf(r, make([]geometry, 1000)), 0)
	for kind := kgeom.GeometryKind(1); kind < 7; kind++ {
		for _, z := range []kgeom.GeometryKind{0, kgeom.GeometryZ, kgeom.GeometryM, kgeom.GeometryZ |
			kgeom.GeometryM} {
			for _, n := range []int{1, 2, 255, 257, 700} {
				var all []geometry
				for range n {
					all = append(all, randomGeometry(rng, kind|z, 5))
				}
				writeWKB(r, fmt.Sprintf("%d of kind %d", n, kind|z), all, shapesOf(r, all), 0)
			}
			all := []geometry{
				randomGeometry(rng, kind|z, 2), randomGeometry(rng, kind|z, 40),
				{},
				randomGeometry(rng, kind|z, 2),
			}
			writeWKB(r, fmt.Sprintf("large ones of kind %d", kind|z), all, shapesOf(r, all), 7)
		}
	}
	for i := range 30 {
		var all []geometry
		for range rng.IntN(1 + 40*i) {
			all = append(all, randomGeometry(rng, kgeom.GeometryKind(rng.IntN(7)+8*rng.IntN(4)), 1+rng.IntN(7)))
			if last := &all[len(all)-1]; last.kind&7 == 0 {
				last.kind = 0
			}
		}
		writeWKB(r, "of any kind", all, shapesOf(r, all), rng.IntN(20))
	}
}

// A tile that holds nothing but the inside of one geometry, and tiles that its headers are cut by.
func TestWriteWKBOverTiles(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(3, 2))
	for before := range 24 {
		all := make([]geometry, 0, 20)
		// 16384 bytes are 1023 positions and a rest
		line := geometry{kind: 2, parts: [][][][4]float64{{make([][4]float64, 1020+before)}}}
		for i := range line.parts[0][0] {
			line.parts[0][0][i] = [4]float64{float64(i), float64(-i)}
		}
		for range before {
			all = append(all, geometry{kind: 5, parts: [][][][4]float64{{}}}) // 9 bytes
		}
		all = append(all, line, geometry{}, geometry{kind: 6},
			geometry{kind: 6, parts: [][][][4]float64{{}, {nil, nil}}}, line, randomGeometry(rng, 6, 9),
			line, randomGeometry(rng, 4, 2000))
		writeWKB(r, "over tiles", all, shapesOf(r, all), 0)
	}
}

// Tiles of more rings than a block has threads, and geometries of many kinds of positions that
// reach over several tiles.
func TestWriteWKBOfManyRings(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(3, 5))
	for _, dims := range []kgeom.GeometryKind{0, kgeom.GeometryZ, kgeom.GeometryM, kgeom.GeometryZ |
		kgeom.GeometryM} {
		for _, kind := range []kgeom.GeometryKind{3, 5, 6} {
			short := geometry{kind: kind | dims}
			for range 1 + 40*int(kind/6) {
				var part [][][4]float64
				for range 6000 / (1 + 40*int(kind/6)) {
					ring := make([][4]float64, rng.IntN(40)/39*rng.IntN(9))
					for i := range ring {
						ring[i] = [4]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
					}
					part = append(part, ring)
				}
				short.parts = append(short.parts, part)
			}
			all := []geometry{
				randomGeometry(rng, 4|dims, 3000), short, randomGeometry(rng, 2|dims, 3000),
				{},
				randomGeometry(rng, 1|dims, 2), short,
			}
			writeWKB(r, fmt.Sprintf("many rings of kind %d", kind|dims), all, shapesOf(r, all), rng.IntN(40))
		}
	}
}

// More rows than blocks add up by themselves.
func TestWriteWKBOfAMillionRows(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(3, 4))
	all := make([]geometry, 1<<20+1000)
	for range 300 {
		all[rng.IntN(len(all))] = randomGeometry(rng, kgeom.GeometryKind(1+rng.IntN(6)), 9)
	}
	writeWKB(r, "a million rows", all, shapesOf(r, all), 0)
}

// Two lines of 2^27 positions, whose numbers nobody reads.
func TestMeasureWKBBeyondNarrowOffsets(t *testing.T) {
	r := kerneltest.Open(t)
	each, offsets, narrow := kerneltest.Upload(r, []int64{0, 1, 2}), kerneltest.Poisoned[int64](r, 3),
		kerneltest.Poisoned[int32](r, 3)
	x, err := kgeom.MeasureWKB(r.Set, r.Stream, kgeom.WKBShapes{
		Kinds: kerneltest.Upload(r, []kgeom.GeometryKind{2, 2}), At: kgeom.RingOffsets{
			Spans: each, Parts: each,
			Rings: kerneltest.Upload(r, []int64{0, 1<<27 - 1, 1 << 28}),
		},
	}, offsets, narrow)
	r.OK(err)
	if got, want := kerneltest.Read(r, offsets), []int64{0, 1<<31 - 7, 1<<32 + 18}; !slices.Equal(got, want) {
		t.Errorf("offsets %d, want %d", got, want)
	}
	if got, want := kerneltest.Read(r, narrow), []int32{0, 1<<31 - 7, math.MaxInt32}; !slices.Equal(got, want) {
		t.Errorf("in 32 bits %d, want %d", got, want)
	}
	r.OK(x.Free(r.Stream))
}

func TestWriteWKBOfCollections(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range 24 {
		var all, members []geometry
		var rows []int64
		var tags []kgeom.GeometryKind // of these
		first := []int64{0}
		for range 1 + rng.IntN(20*i+1) {
			kind := kgeom.GeometryKind(rng.IntN(8))
			g := randomGeometry(rng, kind, 4)
			if kind == 7 {
				own := kgeom.GeometryKind(8 * (i % 4) * rng.IntN(2) * rng.IntN(2)) // of its tag
				dims := own
				for range rng.IntN(5) {
					m := randomGeometry(rng, kgeom.GeometryKind(1+rng.IntN(6)+8*rng.IntN(1+i%4)),
						1+rng.IntN(200/(i+1)+3))
					dims |= m.kind &^ 7
					g.members = append(g.members, m)
				}
				members, rows = append(members, g.members...), append(rows, int64(len(all)))
				first = append(first, int64(len(members)))
				tags, g.kind = append(tags, 7|own), 7|dims
				g.members = slices.Clone(g.members)
				for k := range g.members {
					g.members[k].kind |= dims
				}
			}
			all = append(all, g)
		}
		tagged, want := slices.Clone(all), []geometry{}
		for k, row := range rows {
			tagged[row].kind = tags[k]
		}
		for k := range all {
			want = append(want, all[k].members...)
		}
		shapes, inner := shapesOf(r, tagged), shapesOf(r, members)
		c := kgeom.WKBCollections{Rows: kerneltest.Upload(r, rows), First: kerneltest.Upload(r, first)}
		r.OK(kgeom.WKBCollectionDims(r.Set, r.Stream, c.Rows, c.First, shapes.Kinds, inner.Kinds))
		offsets, written := writeWKB(r, "members", want, inner, 0)
		c.WKB = written
		starts := make([]int64, len(first))
		for k, m := range first {
			starts[k] = offsets[m]
		}
		if c.Starts = kerneltest.Upload(r, starts); len(rows) > 0 {
			shapes.Collections = c
		}
		writeWKB(r, "collections", all, shapes, rng.IntN(3))
	}
}

func TestWKBArguments(t *testing.T) {
	r := kerneltest.Open(t)
	shapes, offsets, narrow := shapesOf(r, []geometry{{}, {}}), kerneltest.Poisoned[int64](r, 3),
		kerneltest.Poisoned[int32](r, 3)
	change := func(f func(*kgeom.WKBShapes)) kgeom.WKBShapes {
		x := shapes
		f(&x)
		return x
	}
	for name, tt := range map[string]struct {
		shapes  kgeom.WKBShapes
		offsets gpu.Buffer[int64]
	}{
		"offsets":   {shapes, offsets.Slice(0, 2)},
		"spans":     {change(func(x *kgeom.WKBShapes) { x.At.Spans = offsets.Slice(0, 2) }), offsets},
		"no part":   {change(func(x *kgeom.WKBShapes) { x.At.Parts = gpu.Buffer[int64]{} }), offsets},
		"no ring":   {change(func(x *kgeom.WKBShapes) { x.At.Rings = gpu.Buffer[int64]{} }), offsets},
		"ordinates": {change(func(x *kgeom.WKBShapes) { x.Y = kerneltest.Poisoned[float64](r, 1) }), offsets},
		"z":         {change(func(x *kgeom.WKBShapes) { x.Z = kerneltest.Poisoned[float64](r, 1) }), offsets},
		"collections": {change(func(x *kgeom.WKBShapes) {
			x.Collections.Rows = kerneltest.Poisoned[int64](r, 1)
		}), offsets},
	} {
		if x, err := kgeom.MeasureWKB(r.Set, r.Stream, tt.shapes, tt.offsets, narrow); err == nil {
			t.Errorf("%s: no error", name)
			r.OK(x.Free(r.Stream))
		}
	}
	if _, err := kgeom.MeasureWKB(r.Set, r.Stream, shapes, offsets, narrow.Slice(0, 2)); err == nil {
		t.Error("2 narrow offsets of 2 rows: no error")
	}
	x, err := kgeom.MeasureWKB(r.Set, r.Stream, shapes, offsets, narrow)
	r.OK(err)
	facts := kerneltest.Poisoned[kgeom.RingFact](r, 2)
	if kgeom.WriteWKB(r.Set, r.Stream, x, kerneltest.Poisoned[byte](r, 64).Slice(1, 60), facts.Slice(0, 1)) == nil {
		t.Error("an output at an odd address: no error")
	}
	if kgeom.WriteWKB(r.Set, r.Stream, x, kerneltest.Poisoned[byte](r, 64), facts) == nil {
		t.Error("2 elements for the facts: no error")
	}
	r.OK(x.Free(r.Stream))
	if kgeom.WKBCollectionDims(r.Set, r.Stream, offsets, offsets, shapes.Kinds, shapes.Kinds) == nil {
		t.Error("3 collections with 3 offsets: no error")
	}
}
