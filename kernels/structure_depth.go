package kernels

import "github.com/vibeflight/vibeflight/gpu"

// StructureBrackets are the brackets of a Structure: what AllocDepth takes for StructureDepth.
func StructureBrackets() Brackets { return Brackets{Open: "[{", Close: "]}"} }

// StructureDepth fills d in as BracketDepth would for the text that x was parsed from, its strings left out and its depth carried. Of an empty text the
// depth at the end counts as 0.
//
//	d  overwritten; allocated for as much text at least, and for StructureBrackets
//
// Reads 3/8 byte and writes 1/2 byte for each byte of text, where BracketDepth reads the text as well.
func (k *Set) StructureDepth(s *gpu.Stream, x *Structure, d *Depth) error {
	w := k.begin(s, "structure depth")
	w.need(d.brackets == StructureBrackets(), "the depth of %s %s instead of [{ ]}", d.brackets.Open, d.brackets.Close)
	w.need(Words(int(x.n)) <= d.base.Len(), "%d bytes of text for the depth of %d words", x.n, d.base.Len())
	if w.err != nil {
		return w.done()
	}
	d.cut(x.n)
	if x.n == 0 {
		w.err = gpu.Fill(s, d.span, 0)
	}
	w.launch("structure_depth", blocks(x.n, tileBytes), block, x.planes.Arg(), gpu.Int(x.n), x.tile.Arg(),
		d.Open.Arg(), d.Close.Arg(), d.types.Arg(), d.span.Arg(), d.Base.Arg(), d.low.Arg(), d.some.Arg())
	w.depthLevels(d)
	return w.done()
}
