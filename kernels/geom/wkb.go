package geom

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// WKBShapes are n geometries in rows, as ListRings, ParsePositions and GeometryDims give them. Rows
// without a geometry and collections have no parts, a Point has one position, and rows of KindPoint
// to KindMultiPolygon have the parts that Rings says.
type WKBShapes struct {
	Kinds gpu.Buffer[GeometryKind]
	At    RingOffsets // without Positions
	// of all positions; Z may be left out if no row has GeometryZ, and M if none has GeometryM
	X, Y, Z, M  gpu.Buffer[float64]
	Collections WKBCollections
}

// WKBCollections are those of the rows that are collections, all of them, and their members: c
// collections of rows that are geometries without members themselves.
type WKBCollections struct {
	Rows   gpu.Buffer[int64] // c rows, ascending
	First  gpu.Buffer[int64] // c+1 elements: the members of collection i are those from First[i] to First[i+1]
	Starts gpu.Buffer[int64] // c+1 elements: their bytes are those from Starts[i] to Starts[i+1] of WKB
	WKB    gpu.Buffer[byte]  // of all members, one after the other
}

// WKB is what WriteWKB needs to know of geometries. Free gives its memory back; Shapes and Offsets
// must live until then.
type WKB struct {
	shapes  WKBShapes
	offsets gpu.Buffer[int64]
	heads   gpu.Buffer[uint64] // what the headers of rows say
	partAt  gpu.Buffer[int64]
	ringAt  gpu.Buffer[int64]
	parts   gpu.Buffer[GeometryKind] // kinds of the rows that they belong to
	rings   gpu.Buffer[GeometryKind] // likewise
}

// The structs of wkb.cu.
type (
	wkbSizesArgs struct {
		rows, collections int64
		rowRing           gpu.Pointer[int64]
		head              gpu.Pointer[uint64]
		offsets, sums     gpu.Pointer[int64]
	}
	wkbStartsArgs struct {
		rows, parts, rings int64
		partAt             gpu.Pointer[int64]
		partKind           gpu.Pointer[GeometryKind]
		ringAt             gpu.Pointer[int64]
		ringKind           gpu.Pointer[GeometryKind]
	}
	wkbMembers struct {
		collections int64
		row         gpu.Pointer[int64]
		bytes       gpu.Pointer[byte]
	}
	wkbBytesArgs struct {
		rows, parts, rings int64
		z, m               gpu.Pointer[float64]
		members            wkbMembers
		out                gpu.Pointer[byte]
		room               int64
		facts              gpu.Pointer[RingFact]
	}
)

// mostPlaces is how many positions WKB is written of at once: a block counts those between any two
// of them in 32 bits.
const mostPlaces = 1 << 30

// MeasureWKB reports how many bytes each geometry has as ISO WKB (OGC 06-103r4 section 8.2),
// little-endian, of its own kind and dimension. A row without a geometry has none, a Point of a
// position without numbers has its NaN.
//
//	offsets  n+1 elements, overwritten: bytes of the rows before each row, and of all
//	narrow   likewise; an offset beyond 2^31-1 becomes that
//
// Three launches, four beyond a million rows; reads 57 bytes a row and 24 a part or ring, and
// writes 36 bytes a row and 9 a part or ring.
func MeasureWKB(k *kernels.Set, s *gpu.Stream, shapes WKBShapes, offsets gpu.Buffer[int64],
	narrow gpu.Buffer[int32],
) (*WKB, error) {
	w := k.Begin(s, "measure WKB")
	n, at, c := int64(shapes.Kinds.Len()), shapes.At, shapes.Collections
	parts, rings := int64(at.Parts.Len())-1, int64(at.Rings.Len())-1
	w.Need(int64(offsets.Len()) == n+1 && narrow.Len() == offsets.Len() && int64(at.Spans.Len()) == n+1 &&
		parts >= 0 && rings >= 0, "%d and %d offsets for %d rows, with %d, %d and %d of parts, rings and positions",
		offsets.Len(), narrow.Len(), n, at.Spans.Len(), at.Parts.Len(), at.Rings.Len())
	positions := shapes.X.Len()
	for _, b := range []gpu.Buffer[float64]{shapes.Z, shapes.M} {
		w.Need(positions == shapes.Y.Len() && (b.Len() == 0 || b.Len() == positions), "%d, %d and %d ordinates",
			positions, shapes.Y.Len(), b.Len())
	}
	w.Need(positions <= mostPlaces, "%d positions", positions)
	c.check(w)
	x := &WKB{
		shapes: shapes, offsets: offsets, heads: kernels.Result[uint64](w, n), partAt: kernels.Result[int64](w, parts),
		parts: kernels.Result[GeometryKind](w, parts), ringAt: kernels.Result[int64](w, rings),
		rings: kernels.Result[GeometryKind](w, rings),
	}
	lists := []gpu.Arg{shapes.Kinds.Arg(), at.Spans.Arg(), at.Parts.Arg(), at.Rings.Arg()}
	grid := kernels.Blocks(n+1, kernels.Block)
	rowRing, sums := kernels.Scratch[int64](w, int(n)+1), kernels.Scratch[int64](w, int(grid))
	sizes := wkbSizesArgs{
		rows: n, collections: int64(c.Rows.Len()), rowRing: rowRing.Pointer(), head: x.heads.Pointer(),
		offsets: offsets.Pointer(), sums: sums.Pointer(),
	}
	w.Launch("wkb_sizes", grid, kernels.Block, kernels.JoinArgs(lists, c.Rows.Arg(), c.First.Arg(), c.Starts.Arg(),
		gpu.Struct(&sizes))...)
	scanned := 0
	if grid > ktext.OffsetBlocks && w.Err == nil {
		kernels.Scan(w, sums, sums, gpu.Buffer[int64]{})
		scanned = 1
	}
	w.Launch("wkb_offsets", grid, kernels.Block, sums.Arg(), gpu.Int(scanned), gpu.Int(n), offsets.Arg(), narrow.Arg())
	starts := wkbStartsArgs{
		rows: n, parts: parts, rings: rings, partAt: x.partAt.Pointer(), partKind: x.parts.Pointer(),
		ringAt: x.ringAt.Pointer(), ringKind: x.rings.Pointer(),
	}
	w.Launch("wkb_starts", kernels.Blocks(max(parts, rings), kernels.Block), kernels.Block,
		kernels.JoinArgs(lists, rowRing.Arg(), offsets.Arg(), gpu.Struct(&starts))...)
	if err := w.Done(); err != nil {
		return nil, errors.Join(err, x.Free(s))
	}
	return x, nil
}

// check refuses collections that do not fit each other.
func (c WKBCollections) check(w *kernels.Call) {
	n := c.Rows.Len()
	w.Need(n == 0 && c.First.Len() == 0 && c.Starts.Len() == 0 || c.First.Len() == n+1 && c.Starts.Len() == n+1,
		"%d members and %d starts for %d collections", c.First.Len(), c.Starts.Len(), n)
}

// Free gives the memory back once the work that s was given before is done.
func (x *WKB) Free(s *gpu.Stream) error {
	return errors.Join(x.heads.Free(s), x.partAt.Free(s), x.parts.Free(s), x.ringAt.Free(s), x.rings.Free(s))
}

// WriteWKB writes the bytes of the geometries that x was measured of, and counts the rings of
// polygons and the lines among them that are odd.
//
//	out    as many bytes as the last offset says, 16-byte aligned; what does not fit is left out
//	facts  one element, overwritten: Unclosed and Few of the rings of polygons, Single of lines; as
//	       RingFacts, which looks at all rings alike
//
//	row      01 03000000 01000000 │ 01 01000000 …
//	ring                           04000000
//	position                                │ 3ff0… 4000… │ …
//
// One launch; reads 16 to 32 bytes a position, 16 a row, 17 a part or ring, the ends of rings once
// more, and the members' bytes, and writes the output. The time is linear in its bytes and in the
// rows.
func WriteWKB(k *kernels.Set, s *gpu.Stream, x *WKB, out gpu.Buffer[byte], facts gpu.Buffer[RingFact]) error {
	w := k.Begin(s, "write WKB")
	room := w.CheckText(out)
	w.Need(facts.Len() == 1, "%d elements for the facts", facts.Len())
	if w.Err == nil {
		w.Err = gpu.Fill(s, facts, 0)
	}
	sh, c := x.shapes, x.shapes.Collections
	args := wkbBytesArgs{
		rows: int64(sh.Kinds.Len()), parts: int64(x.parts.Len()), rings: int64(x.rings.Len()),
		z: sh.Z.Pointer(), m: sh.M.Pointer(),
		members: wkbMembers{
			collections: int64(c.Rows.Len()), row: c.Rows.Pointer(), bytes: c.WKB.Pointer(),
		},
		out: out.Pointer(), room: room, facts: facts.Pointer(),
	}
	w.Launch("wkb_bytes", kernels.Blocks(room, kernels.TileBytes), kernels.Block, x.offsets.Arg(), x.heads.Arg(),
		sh.At.Parts.Arg(), x.partAt.Arg(), x.parts.Arg(), sh.At.Rings.Arg(), x.ringAt.Arg(), x.rings.Arg(),
		sh.X.Arg(), sh.Y.Arg(), c.Starts.Arg(), gpu.Struct(&args))
	return w.Done()
}

// WKBCollectionDims gives a collection the z and the m that it has itself or one of its members,
// and then all of its members.
//
//	rows     c rows that are collections
//	first    c+1 offsets: the members of collection i are those from first[i] to first[i+1]
//	kinds    of the rows, updated
//	members  of the members, updated
//
// Three launches; read two bytes a member and write one.
func WKBCollectionDims(k *kernels.Set, s *gpu.Stream, rows, first gpu.Buffer[int64], kinds,
	members gpu.Buffer[GeometryKind],
) error {
	w := k.Begin(s, "dims of collections")
	n, m := int64(rows.Len()), int64(members.Len())
	w.Need(int64(first.Len()) == n+1, "%d offsets for %d collections", first.Len(), n)
	if n > 0 {
		dims := kernels.ZeroScratch[uint32](w, int(n))
		w.Launch("wkb_dims_join", kernels.Blocks(m, kernels.Block), kernels.Block, first.Arg(), gpu.Int(n),
			members.Arg(),
			gpu.Int(m), dims.Arg())
		w.Launch("wkb_dims_rows", kernels.Blocks(n, kernels.Block), kernels.Block, rows.Arg(), gpu.Int(n),
			kinds.Arg(), dims.Arg())
		w.Launch("wkb_dims_members", kernels.Blocks(m, kernels.Block), kernels.Block, first.Arg(),
			gpu.Int(n), dims.Arg(),
			members.Arg(), gpu.Int(m))
	}
	return w.Done()
}
