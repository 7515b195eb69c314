package wkt

import (
	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	ktext "github.com/vibeflight/vibeflight/kernels/text"
)

// TagDims is what a WKT tag says next to the type.
type TagDims uint8

const (
	DimsZ     TagDims = 1 << iota // Z or ZM
	DimsM                         // M or ZM
	DimsEmpty                     // EMPTY stands where the coordinates would
)

// WKTTypes reports which type each tag is, in any case: one of the seven geometries, then Z, M or ZM
// if there is one, attached or after blanks, then a bracket or EMPTY. Whatever else stands there
// makes it unknown, "POINT 1 2" and "POLYGONX (" as well.
//
//	text       n bytes
//	positions  m byte offsets: of the tag's first letter
//	ends       1 to 8 bytes that end the geometry if they follow EMPTY, as blanks and the end of the
//	           text do: ",);" and the end of a row. Blanks that
//	           are named here don't stand within a tag
//	kinds      m elements, overwritten
//	dims       m elements, overwritten; 0 where the kind is unknown or undecided
//
//	POINT (1 2)  point z(1 2 3)  PolygonZM ((…))  MULTIPOINT M EMPTY
//
// One launch that reads 24 bytes of text a tag and some more.
func WKTTypes(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], positions gpu.Buffer[int64], ends string,
	kinds gpu.Buffer[kgeom.TypeKind], dims gpu.Buffer[TagDims],
) error {
	w := k.Begin(s, "WKT types")
	n, m := kgeom.CheckNames(w, text, positions, ends, kinds)
	w.Need(int64(dims.Len()) == m, "%d dims for %d positions", dims.Len(), m)
	w.Launch("kind_wkt", kernels.Blocks(m, kernels.Block), kernels.Block, text.Arg(), gpu.Int(n),
		positions.Arg(), gpu.Int(m),
		gpu.Int(ktext.PackBytes(ends)), gpu.Int(len(ends)), kinds.Arg(), dims.Arg())
	return w.Done()
}
