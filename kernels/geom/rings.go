package geom

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// Coordinates are the coordinates of geometries in a text: m spans [Starts[i], Ends[i]) in
// ascending order that don't overlap, each from where the first bracket stands, or from before it,
// to after the last one, with the kind of its geometry. Spans of other kinds than KindPoint to
// KindMultiPolygon have no parts.
type Coordinates struct {
	Starts, Ends gpu.Buffer[int64]
	Kinds        gpu.Buffer[TypeKind]
}

// RingFault is how brackets of coordinates don't fit their geometry.
type RingFault uint8

// As RINGS_* of rings.cu.
const (
	RingsSound     RingFault = iota
	RingsDeep                // a bracket deeper than the kind of geometry has
	RingsStray               // after a bracket or comma that has brackets inside stands something else
	RingsUndecided           // more than 256 blanks stand where one is expected
)

// Rings are counted parts, rings and positions, and what is needed to list them. Free gives its
// memory back.
//
// Every geometry consists of parts, a part of rings, a ring of positions, whatever its kind:
//
//	Point                     a part of a ring of a position
//	LineString, MultiPoint    a part of a ring
//	Polygon, MultiLineString  a part, its rings or lines
//	MultiPolygon              a part for each polygon
//
// Empty brackets have no members, and EMPTY stands for such: LineString [] is a part of a ring of
// none, MultiPolygon [] has no part, Point [] is a position without numbers.
type Rings struct {
	Parts, Rings, Positions int64
	Offset                  int64     // the byte of the first fault, or -1; what is at fault begins nothing
	Fault                   RingFault //

	coordinates int       // spans
	emit        string    // the kernel that lists them
	args        []gpu.Arg // of that kernel, without the lists
	span        gpu.Buffer[ringSpan]
	tiles       int64
	tile        gpu.Buffer[int64] // the first span of each tile, then counts
	// bytes at which parts, rings and positions begin, where they are known before they are listed
	begins gpu.Buffer[uint64]
	found  gpu.Buffer[RingsFound] // Found, and after it sums of groups of tiles

	Found gpu.Buffer[RingsFound] // one element: the counts and the fault, on the device
}

// RingOffsets list what Rings counted. All offsets are exclusive sums, so that the members of i are
// those from offset i to offset i+1.
//
//	Spans      m+1            the first part of each span
//	Parts      Parts+1        the first ring of each part
//	Rings      Rings+1        the first position of each ring
//	Positions  Positions      bytes of the text: of the bracket around a position, or, where commas stand
//	                          between positions, of what stands first in it
//
// Two of them are had in 32 bits as well, each if it has elements. What these do not hold becomes
// 2^31-1:
//
//	SpanRings   m+1        the first ring of each span
//	ShortRings  Rings+1    as Rings
//
// Found is one element or none: what ParsePositions is to find of them, Begun.
type RingOffsets struct {
	Spans, Parts, Rings, Positions gpu.Buffer[int64]
	SpanRings, ShortRings          gpu.Buffer[int32]
	Found                          gpu.Buffer[PositionsFound]
}

// ringSpan is RingSpan of rings.cu.
type ringSpan struct {
	end         int64
	depth, kind int32
}

// RingsFound is RingsFound of rings_result.cuh: what the device has found of coordinates, for
// Counted.
type RingsFound struct {
	First, Disorder uint64
	Sum             [3]int64 // parts, rings and positions, each one less than there are
}

// ringLists is RingLists of rings_result.cuh.
type ringLists struct {
	spans                                int64
	spanPart, partRing, ringPlace, place gpu.Pointer[int64]
	spanRing, shortPlace                 gpu.Pointer[int32]
	positions                            gpu.Pointer[PositionsFound]
}

// CountRings counts the parts, rings and positions of coordinates. It waits for the device.
//
//	text    n bytes
//	d       of the text: [ and ] for GeoJSON, ( and ) for WKT, other pairs next to them or not. In WKT the
//	        first letter of EMPTY may be an opener and its last one a
//	        closer, as ParseWKT has them; if not, EMPTY is stray inside of brackets
//	commas  none where every position has a bracket of its own, as in GeoJSON. Words(n) words where commas
//	        stand between them, as in WKT: the commas
//	        outside of strings
//
// The text is read only after brackets and commas that have brackets inside. The time is linear in
// the bytes, whatever a geometry's size. An error says that the spans are not as Coordinates wants
// them, too.
func CountRings(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], d *ktext.Depth, commas kernels.Mask,
	c Coordinates,
) (*Rings, error) {
	w := k.Begin(s, "count rings")
	n, m := w.CheckText(text), c.Starts.Len()
	w.Need(n == d.N, "%d bytes of text, and the depth of %d", n, d.N)
	if commas.Len() > 0 {
		w.CheckMask("commas", commas, n)
	}
	r := NewRings(w, TilesWithEnd(n), 0, c, "rings_emit")
	r.span = kernels.Result[ringSpan](w, int64(m))
	if w.Err != nil {
		return nil, errors.Join(w.Done(), r.Free(s))
	}
	tiles := r.tiles
	first, counts := r.FirstSpans(), r.TileCounts()
	w.Launch("rings_spans", kernels.Blocks(max(int64(m), 32*(tiles+1)), kernels.Block), kernels.Block,
		d.Open.Arg(), d.Close.Arg(),
		d.Base.Arg(), gpu.Int(n), c.Starts.Arg(), c.Ends.Arg(), c.Kinds.Arg(),
		gpu.Int(m), r.span.Arg(), first.Arg(), r.Found.Arg())
	r.args = []gpu.Arg{
		text.Arg(), d.Open.Arg(), d.Close.Arg(), commas.Arg(), d.Base.Arg(), gpu.Int(n), c.Starts.Arg(),
		r.span.Arg(), first.Arg(), counts.Arg(), r.Found.Arg(),
	}
	w.Launch("rings_count", tiles, kernels.Block, r.args...)
	w.Launch("rings_join", 1, kernels.ScanBlock, counts.Arg(), gpu.Int(tiles), r.Found.Arg())
	return r.Await(w)
}

// TilesWithEnd is how many tiles n bytes of text have with the byte after them, where a span may
// begin.
func TilesWithEnd(n int64) int64 { return n/kernels.TileBytes + 1 }

// NewRings takes the memory for what counts coordinates in tiles of text, with sums of groups of
// tiles, and lists them with a kernel.
func NewRings(w *kernels.Call, tiles, groups int64, c Coordinates, emit string) *Rings {
	m := c.Starts.Len()
	w.Need(c.Ends.Len() == m && c.Kinds.Len() == m, "%d starts, %d ends and %d kinds", m, c.Ends.Len(), c.Kinds.Len())
	r := &Rings{
		coordinates: m, emit: emit, tiles: tiles, tile: kernels.Result[int64](w, 4*tiles+1),
		found: kernels.Result[RingsFound](w, 1+groups),
	}
	if w.Err == nil {
		r.Found, w.Err = r.found.Slice(0, 1), gpu.Fill(w.Stream, r.found, 0xff)
	}
	return r
}

// FirstSpans has the first span of each tile.
func (r *Rings) FirstSpans() gpu.Buffer[int64] { return r.tile.Slice(0, int(r.tiles)+1) }

// TileCounts has the parts, rings and positions of each tile.
func (r *Rings) TileCounts() gpu.Buffer[int64] {
	return r.tile.Slice(int(r.tiles)+1, int(4*r.tiles)+1)
}

// Sums has the counts of all tiles, followed by those of each group of tiles.
func (r *Rings) Sums() gpu.Buffer[RingsFound] { return r.found }

// AllocBegins allocates the bytes at which parts, rings and positions begin.
func (r *Rings) AllocBegins(w *kernels.Call, words int64) gpu.Buffer[uint64] {
	r.begins = kernels.Result[uint64](w, words)
	return r.begins
}

// ListWith sets the arguments of the kernel that lists the counted coordinates, without the lists.
func (r *Rings) ListWith(args ...gpu.Arg) { r.args = args }

// Await waits for the counts.
func (r *Rings) Await(w *kernels.Call) (*Rings, error) {
	found := kernels.ReadOne(w, r.Found)
	w.Fail(r.Counted(found))
	if err := w.Done(); err != nil {
		return nil, errors.Join(err, r.Free(w.Stream))
	}
	return r, nil
}

// Counted takes what Found holds.
func (r *Rings) Counted(found RingsFound) error {
	if found.Disorder != math.MaxUint64 {
		return fmt.Errorf("span %d lies outside of the text, ends before it starts, or overlaps the next",
			found.Disorder)
	}
	r.Parts, r.Rings, r.Positions, r.Offset = found.Sum[0]+1, found.Sum[1]+1, found.Sum[2]+1, -1
	if found.First != math.MaxUint64 {
		r.Offset, r.Fault = int64(found.First>>2), RingFault(found.First&3)
	}
	return nil
}

// Free gives the memory back once the work that s was given before is done.
func (r *Rings) Free(s *gpu.Stream) error {
	return errors.Join(r.span.Free(s), r.tile.Free(s), r.begins.Free(s), r.found.Free(s))
}

// ListRings writes what r counted. The buffers that CountRings or CountCoordinates was given must
// hold what they held then.
//
//	out  overwritten, of the lengths that RingOffsets says
func ListRings(k *kernels.Set, s *gpu.Stream, r *Rings, out RingOffsets) error {
	w := k.Begin(s, "list rings")
	for _, b := range []struct {
		what string
		got  int
		want int64
	}{
		{"spans", out.Spans.Len(), int64(r.coordinates) + 1},
		{"parts", out.Parts.Len(), r.Parts + 1},
		{"rings", out.Rings.Len(), r.Rings + 1},
		{"positions", out.Positions.Len(), r.Positions},
	} {
		w.Need(int64(b.got) == b.want, "a buffer of %d for %s, want %d", b.got, b.what, b.want)
	}
	w.Need(out.SpanRings.Len() == 0 || out.SpanRings.Len() == out.Spans.Len(), "%d short offsets of %d spans",
		out.SpanRings.Len(), r.coordinates)
	w.Need(out.ShortRings.Len() == 0 || out.ShortRings.Len() == out.Rings.Len(), "%d short offsets of %d rings",
		out.ShortRings.Len(), r.Rings)
	w.Need(out.Found.Len() <= 1, "%d elements for what is found of positions", out.Found.Len())
	lists := ringLists{
		spans: int64(r.coordinates), spanPart: out.Spans.Pointer(), partRing: out.Parts.Pointer(),
		ringPlace: out.Rings.Pointer(), place: out.Positions.Pointer(), spanRing: out.SpanRings.Pointer(),
		shortPlace: out.ShortRings.Pointer(), positions: out.Found.Pointer(),
	}
	w.Launch(r.emit, r.tiles, kernels.Block, append(slices.Clone(r.args), gpu.Struct(&lists))...)
	return w.Done()
}
