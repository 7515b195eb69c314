package json

import (
	"errors"
	"math/bits"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
)

// CountCoordinates counts the parts, rings and positions of GeoJSON coordinates as CountRings does,
// in the structure of the text instead of its depth, and says whether all that is in a span is
// brackets as its kind has them, with one comma between two of them. It waits for the device.
//
//	text     n bytes
//	x        of the text
//	records  those of the text, where span i is in record i, or nil: they say where to look for a tile's spans first
//	deep     the depth of each span's outermost bracket, which counts itself: 3 for {"geometry":{"coordinates":[
//
//	text   [ [ 1 , 2 ] , [ ] ]
//	       a a           a        a  in a bracket that has brackets inside: next comes a bracket; inside a
//	                                 position stands what ParsePositions is to read
//	                 b     b      b  next comes a closing bracket, or a comma and then an opening one
//
// RingsStray is at fault with what follows a bracket, and for a curly bracket; RingsUndecided are
// more than 4 KiB of blanks at one of these places. RingsDeep are too many opening or closing
// brackets, and a span whose first bracket is not as deep as it should be. Where there is a fault
// the counts say nothing.
//
// One launch, and ListRings needs a second one. The first reads 3/8 byte for each byte of text, and
// the text where blanks follow brackets, and writes 3/8 byte, which the second one reads. The
// time is linear in the bytes, whatever a geometry's size, but for the sums that a tile of 16 KiB
// reads of those before it: twice the root of their number, 32 at a time.
func CountCoordinates(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *Structure, deep int,
	c kgeom.Coordinates, records *Records,
) (*kgeom.Rings, error) {
	r, err := QueueCoordinates(k, s, text, x, deep, c, records)
	if err != nil {
		return nil, err
	}
	return r.Await(k.Begin(s, "count coordinates"))
}

// coordinatesCountArgs is CoordinatesCountArgs of coordinates.cu.
type coordinatesCountArgs struct {
	n, tiles, deep, count, group int64
	begins                       gpu.Pointer[uint64]
	first, counts                gpu.Pointer[int64]
	result                       gpu.Pointer[kgeom.RingsFound]
}

// QueueCoordinates is CountCoordinates that does not wait: the caller is to read Found, with what
// else it waits for, and to tell Counted.
func QueueCoordinates(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], x *Structure, deep int,
	c kgeom.Coordinates, records *Records,
) (*kgeom.Rings, error) {
	w := k.Begin(s, "count coordinates")
	n := w.CheckText(text)
	w.Need(n == x.n, "%d bytes of text, and the structure of %d", n, x.n)
	tiles := kgeom.TilesWithEnd(n)
	// 2^group tiles are a group, near the root of their number: a block sums up about as many
	// groups as tiles
	group := bits.Len64(uint64(tiles)) / 2
	r := kgeom.NewRings(w, tiles, (tiles-1)>>group+1, c, "coordinates_emit")
	if w.Err != nil {
		return nil, errors.Join(w.Done(), r.Free(s))
	}
	var before gpu.Buffer[int64]
	if records != nil {
		before = records.recordsBefore(w, n)
	}
	first, counts := r.FirstSpans(), r.TileCounts()
	begins := r.AllocBegins(w, 3*kernels.Block*tiles)
	args := coordinatesCountArgs{
		n: n, tiles: kernels.Blocks(n, kernels.TileBytes), deep: int64(deep), count: int64(c.Starts.Len()),
		group: int64(group), begins: begins.Pointer(), first: first.Pointer(), counts: counts.Pointer(),
		result: r.Sums().Pointer(),
	}
	w.Launch("coordinates_count", tiles, kernels.Block, text.Arg(), x.planes.Arg(), x.tile.Arg(), c.Starts.Arg(),
		c.Ends.Arg(), c.Kinds.Arg(), before.Arg(), gpu.Struct(&args))
	r.ListWith(begins.Arg(), c.Starts.Arg(), first.Arg(), counts.Arg(), gpu.Int(group), r.Sums().Arg())
	if err := w.Done(); err != nil {
		return nil, errors.Join(err, r.Free(s))
	}
	return r, nil
}
