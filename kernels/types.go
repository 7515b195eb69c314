package kernels

import "github.com/vibeflight/vibeflight/gpu"

// GeoJSONTypes says which type each name is: one of the nine of RFC 7946 section 1.4, letter by
// letter, with an end behind it. Whatever only begins with one ("Polyx", "PointZ"), a name in
// another case, and one that the text cuts off, is unknown.
//
//	text       n bytes
//	positions  m byte offsets: of the first letter, behind the quote
//	ends       1 to 8 bytes, of which one ends a name: `"`
//	kinds      m elements, overwritten
//
// One launch that reads 24 bytes of text a name.
func (k *Set) GeoJSONTypes(s *gpu.Stream, text gpu.Buffer[byte], positions gpu.Buffer[int64], ends string,
	kinds gpu.Buffer[TypeKind],
) error {
	w := k.begin(s, "GeoJSON types")
	n, m := w.names(text, positions, ends, kinds)
	w.launch("types_names", blocks(m, block), block, text.Arg(), gpu.Int(n), positions.Arg(), gpu.Int(m),
		gpu.Int(packed(ends)), gpu.Int(len(ends)), kinds.Arg())
	return w.done()
}

// GeoJSONTypesFound says which types the strings name that are values of a member, as GeoJSONTypes
// does: whether all rows are of one, say.
//
//	text        n bytes
//	slots       of each row: the member, or -1
//	valueStart  m members' values, quotes and brackets included
//	kind        m elements
//	found       one element, overwritten: bit 1<<kind for each TypeKind there is, KindUnknown of rows without a string, and bit 31 for KindUndecided
//
// One launch that reads 9 bytes a row and 24 of text.
func (k *Set) GeoJSONTypesFound(s *gpu.Stream, text gpu.Buffer[byte], slots gpu.Buffer[int32],
	valueStart gpu.Buffer[uint32], kind gpu.Buffer[ValueKind], found gpu.Buffer[uint32],
) error {
	w := k.begin(s, "GeoJSON types found")
	n, rows, members := w.text(text), int64(slots.Len()), int64(valueStart.Len())
	w.need(int64(kind.Len()) == members, "%d kinds for %d members", kind.Len(), members)
	w.need(found.Len() == 1, "%d elements for what is found", found.Len())
	if w.err == nil {
		w.err = gpu.Fill(s, found, 0)
	}
	w.launch("types_found", blocks(rows, block), block, text.Arg(), gpu.Int(n), slots.Arg(), gpu.Int(rows),
		valueStart.Arg(), kind.Arg(), gpu.Int(members), found.Arg())
	return w.done()
}
