package kernels

import "github.com/vibeflight/vibeflight/gpu"

// TypeKind is a type that a name says. Geometries are numbered as in WKB (OGC 06-103r4, table 2).
type TypeKind uint8

// As names of kind.cu.
const (
	KindUnknown TypeKind = iota
	KindPoint
	KindLineString
	KindPolygon
	KindMultiPoint
	KindMultiLineString
	KindMultiPolygon
	KindGeometryCollection
	KindFeature
	KindFeatureCollection

	// KindUndecided is a JSON name with an escape, or a WKT tag with 64 blanks and more between two
	// words: a parser that reads byte by byte is to say.
	KindUndecided TypeKind = 255
)

// TagDims is what a WKT tag says beside the type.
type TagDims uint8

const (
	DimsZ     TagDims = 1 << iota // Z or ZM
	DimsM                         // M or ZM
	DimsEmpty                     // EMPTY stands where the coordinates would
)

// WKTTypes says which type each tag is, in any case: one of the seven geometries, then Z, M or ZM
// if there is one, attached or behind blanks, then a bracket or EMPTY. Whatever else stands there
// makes it unknown, "POINT 1 2" and "POLYGONX (" as well.
//
//	text       n bytes
//	positions  m byte offsets: of the tag's first letter
//	ends       1 to 8 bytes that end the geometry if they stand behind EMPTY, as blanks and the end of the text do: ",);" and the end of a row. Blanks that
//	           are named here don't stand within a tag
//	kinds      m elements, overwritten
//	dims       m elements, overwritten; 0 where the kind is unknown or undecided
//
//	POINT (1 2)  point z(1 2 3)  PolygonZM ((…))  MULTIPOINT M EMPTY
//
// One launch that reads 24 bytes of text a tag and some more.
func (k *Set) WKTTypes(s *gpu.Stream, text gpu.Buffer[byte], positions gpu.Buffer[int64], ends string,
	kinds gpu.Buffer[TypeKind], dims gpu.Buffer[TagDims],
) error {
	w := k.begin(s, "WKT types")
	n, m := w.names(text, positions, ends, kinds)
	w.need(int64(dims.Len()) == m, "%d dims for %d positions", dims.Len(), m)
	w.launch("kind_wkt", blocks(m, block), block, text.Arg(), gpu.Int(n), positions.Arg(), gpu.Int(m),
		gpu.Int(packed(ends)), gpu.Int(len(ends)), kinds.Arg(), dims.Arg())
	return w.done()
}

// names checks what both take, and gives the lengths of text and positions.
func (w *work) names(text gpu.Buffer[byte], positions gpu.Buffer[int64], ends string,
	kinds gpu.Buffer[TypeKind],
) (n, m int64) {
	n, m = w.text(text), int64(positions.Len())
	w.need(int64(kinds.Len()) == m, "%d kinds for %d positions", kinds.Len(), m)
	w.need(len(ends) >= 1 && len(ends) <= 8, "%d bytes that end a name, 1 to 8", len(ends))
	return n, m
}
