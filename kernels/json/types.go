package json

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// GeoJSONTypes reports which type each name is: one of the nine of RFC 7946 section 1.4, letter by
// letter, with an end after it. Whatever only begins with one ("Polyx", "PointZ"), a name in
// another case, and one that the text cuts off, is unknown.
//
//	text       n bytes
//	positions  m byte offsets: of the first letter, behind the quote
//	ends       1 to 8 bytes, of which one ends a name: `"`
//	kinds      m elements, overwritten
//
// One launch that reads 24 bytes of text a name.
func GeoJSONTypes(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], positions gpu.Buffer[int64], ends string,
	kinds gpu.Buffer[kgeom.TypeKind],
) error {
	w := k.Begin(s, "GeoJSON types")
	n, m := kgeom.CheckNames(w, text, positions, ends, kinds)
	w.Launch("types_names", kernels.Blocks(m, kernels.Block), kernels.Block, text.Arg(), gpu.Int(n),
		positions.Arg(), gpu.Int(m),
		gpu.Int(ktext.PackBytes(ends)), gpu.Int(len(ends)), kinds.Arg())
	return w.Done()
}

// GeoJSONTypesFound reports which types the strings name that are values of a member, as GeoJSONTypes
// does: whether all rows are of one, say.
//
//	text        n bytes
//	slots       of each row: the member, or -1
//	valueStart  m members' values, quotes and brackets included
//	kind        m elements
//	found       one element, overwritten: bit 1<<kind for each TypeKind there is, KindUnknown of rows without
//	            a string, and bit 31 for KindUndecided
//
// One launch that reads 9 bytes a row and 24 of text.
func GeoJSONTypesFound(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], slots gpu.Buffer[int32],
	valueStart gpu.Buffer[uint32], kind gpu.Buffer[ValueKind], found gpu.Buffer[uint32],
) error {
	w := k.Begin(s, "GeoJSON types found")
	n, rows, members := w.CheckText(text), int64(slots.Len()), int64(valueStart.Len())
	w.Need(int64(kind.Len()) == members, "%d kinds for %d members", kind.Len(), members)
	w.Need(found.Len() == 1, "%d elements for what is found", found.Len())
	if w.Err == nil {
		w.Err = gpu.Fill(s, found, 0)
	}
	w.Launch("types_found", kernels.Blocks(rows, kernels.Block), kernels.Block, text.Arg(), gpu.Int(n),
		slots.Arg(), gpu.Int(rows),
		valueStart.Arg(), kind.Arg(), gpu.Int(members), found.Arg())
	return w.Done()
}
