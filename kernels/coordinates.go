package kernels

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
)

// CountCoordinates counts the parts, rings and positions of GeoJSON coordinates as CountRings does, in the structure of the text instead of its depth, and says
// whether all that is in a span is brackets as its kind has them, with one comma between two of them. It waits for the device.
//
//	text  n bytes
//	x     of the text
//	deep  the depth of each span's outermost bracket, which counts itself: 3 for {"geometry":{"coordinates":[
//
//	text   [ [ 1 , 2 ] , [ ] ]
//	       a a           a        a  in a bracket that has brackets inside: next comes a bracket; inside a position stands what ParsePositions is to read
//	                 b     b      b  next comes a closing bracket, or a comma and then an opening one
//
// RingsStray is at fault with what follows a bracket, and for a curly bracket; RingsUndecided are more than 4 KiB of blanks at one of these places. RingsDeep are too many
// opening or closing brackets, and a span whose first bracket is not as deep as it should be. Where there is a fault the counts say nothing.
//
// Two launches, and ListRings needs a third one; each of two reads 3/8 byte for each byte of text, and the text where blanks stand behind brackets. The time is linear
// in the bytes, whatever a geometry's size.
func (k *Set) CountCoordinates(s *gpu.Stream, text gpu.Buffer[byte], x *Structure, deep int, c Coordinates) (*Rings, error) {
	w := k.begin(s, "count coordinates")
	n := w.text(text)
	w.need(n == x.n, "%d bytes of text, and the structure of %d", n, x.n)
	r := newRings(w, n, c, "coordinates_emit")
	if w.err != nil {
		return nil, errors.Join(w.done(), r.Free(s))
	}
	first, counts := r.tile.Slice(0, int(r.tiles)+1), r.tile.Slice(int(r.tiles)+1, int(5*r.tiles)+1)
	r.args = []gpu.Arg{
		text.Arg(), x.planes.Arg(), gpu.Int(n), x.tile.Arg(), gpu.Int(deep), c.Starts.Arg(), c.Ends.Arg(), c.Kinds.Arg(), gpu.Int(r.coordinates),
		first.Arg(), counts.Arg(), r.result.Arg(),
	}
	w.launch("coordinates_count", r.tiles, block, r.args...)
	w.launch("coordinates_join", 1, scanBlock, counts.Arg(), gpu.Int(r.tiles), r.result.Arg())
	return r.counted(w)
}
