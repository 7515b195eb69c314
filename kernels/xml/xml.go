// Package xml has the kernels for tags, rows and values of XML.
package xml

import (
	"errors"
	"math"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// XML is the tags of a text. Free gives its memory back.
type XML struct {
	Tags         int
	Fault        int64             // the lowest byte that is not accepted; -1: none so far
	Coded        bool              // there is a "&" or a carriage return: text does not mean its bytes
	Starts, Ends gpu.Buffer[int64] // the "<" of each tag, and its ">"
	Sections     kernels.Mask      // a bit for each tag: the text after it has a CDATA section, and no second one

	// Found has one element, or none where there is no text: what all that the device was given for
	// the text has found.
	Found gpu.Buffer[XMLFound]

	n                           int64
	masks                       gpu.Buffer[uint64]
	less, greater, open, within kernels.Mask // where tags begin and end, CDATA sections begin, and the bytes of these
	sections                    bool         // there is a section
	before                      gpu.Buffer[int64]
	kinds                       gpu.Buffer[uint8] // of each tag, once MatchXML was asked
	rows                        kernels.Mask      // tags that begin rows
}

// XMLFound is what there is to know of a text.
type XMLFound struct {
	Fault   int64     // the lowest byte that is not accepted, or -1
	Used    [8]uint32 // bit i: tag i of the dictionary occurs in a row
	Outer   [8]uint32 // bit i: it does so as the outermost shape of a row
	Deepest uint32    // most elements of a row that are open at a time, the row among them

	coded, sections, _ uint32
}

// AllocXML lists the tags of a text that begins and ends outside of them, and checks that all of it
// is UTF-8 and characters of XML 1.0. It waits for the device.
//
//	text  n bytes, fewer than 2^31
//
//	text    <a b="1">x &amp; y</a> <c/>
//	Starts  0                 18   23
//	Ends    8                 21   26
//
// A fault is also a ">" outside of tags, a second CDATA section in a text between two tags, or one
// before the first of them, a text that ends beyond ASCII, and a reference that is not one of the five
// that XML predefines. What stands in tags is for MatchXML to know; to that comments are tags, and
// processing instructions. CDATA sections are text.
//
// Three launches and two scans, then one launch; reads the text and 13/8 of it, and writes 9/8 of
// it and 16 bytes a tag.
func AllocXML(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte]) (*XML, error) {
	w := k.Begin(s, "list XML tags")
	x := &XML{Fault: -1, n: w.CheckText(text)}
	w.Need(x.n < math.MaxInt32, "%d bytes of text", x.n)
	if w.Err == nil && x.n > 0 {
		x.find(w, text)
	}
	if err := w.Done(); err != nil {
		return nil, errors.Join(err, x.Free(s))
	}
	return x, nil
}

// find lists the tags of n > 0 bytes of text.
func (x *XML) find(w *kernels.Call, text gpu.Buffer[byte]) {
	words, tiles := kernels.Words(text.Len()), kernels.Blocks(x.n, kernels.TileBytes)
	x.masks, x.before, x.Found = kernels.Result[uint64](w, int64(4*words)), kernels.Result[int64](w, 2*tiles),
		kernels.Result[XMLFound](w, 1)
	amp, state, count, total := kernels.Scratch[uint64](w, words), kernels.Scratch[uint32](w, int(tiles)),
		kernels.Scratch[uint32](w, int(2*tiles)),
		kernels.Scratch[int64](w, 2)
	if w.Err != nil {
		return
	}
	of := func(i int) kernels.Mask { return x.masks.Slice(i*words, (i+1)*words) }
	x.less, x.greater, x.open, x.within = of(0), of(1), of(2), of(3)
	masks := []gpu.Arg{x.less.Arg(), x.greater.Arg(), amp.Arg(), x.open.Arg(), x.within.Arg(), state.Arg()}
	w.Launch("xml_begin", 1, 32, x.Found.Arg())
	w.Launch("xml_masks", tiles, kernels.Block, kernels.JoinArgs([]gpu.Arg{text.Arg(), gpu.Int(x.n)},
		append(masks, x.Found.Arg())...)...)
	w.Launch("xml_join", 1, kernels.ScanBlock, state.Arg(), gpu.Int(tiles), gpu.Int(x.n), x.Found.Arg())
	w.Launch("xml_counts", tiles, kernels.Block, kernels.JoinArgs([]gpu.Arg{text.Arg(), gpu.Int(x.n)},
		append(masks, count.Arg(), gpu.Int(tiles), x.Found.Arg())...)...)
	for i := range 2 {
		from, to := i*int(tiles), (i+1)*int(tiles)
		if w.Err == nil {
			kernels.Scan(w, count.Slice(from, to), x.before.Slice(from, to), total.Slice(i, i+1))
		}
	}
	if w.Err != nil {
		return
	}
	x.list(w, total, words, tiles)
}

// list waits for the counts of tags and their ends, and lists them unless there is a fault.
func (x *XML) list(w *kernels.Call, total gpu.Buffer[int64], words int, tiles int64) {
	var counts [2]int64
	found := make([]XMLFound, 1)
	w.Fail(gpu.Download(w.Stream, counts[:], total))
	w.Fail(gpu.Download(w.Stream, found, x.Found))
	if w.Fail(w.Stream.Synchronize()); w.Err != nil {
		return
	}
	x.Fault, x.Coded, x.sections = found[0].Fault, found[0].coded != 0, found[0].sections != 0
	if x.Fault < 0 && counts[0] != counts[1] {
		x.Fault = x.n
	}
	if x.Fault >= 0 {
		return
	}
	x.Tags = int(counts[0])
	x.Starts, x.Ends, x.Sections = kernels.Result[int64](w, counts[0]), kernels.Result[int64](w, counts[0]),
		kernels.Result[uint64](w, int64(kernels.Words(x.Tags)))
	if w.Err == nil {
		w.Err = gpu.Fill(w.Stream, x.Sections, 0)
	}
	w.Launch("xml_list", tiles, kernels.Block, x.less.Arg(), x.greater.Arg(), x.open.Arg(), gpu.Int(words),
		x.before.Arg(), gpu.Int(tiles), x.Starts.Arg(), x.Ends.Arg(), x.Sections.Arg(), x.Found.Arg())
}

// Free gives the memory back once the work that s was given before is done.
func (x *XML) Free(s *gpu.Stream) error {
	return errors.Join(x.masks.Free(s), x.before.Free(s), x.Found.Free(s), x.Starts.Free(s), x.Ends.Free(s),
		x.Sections.Free(s), x.kinds.Free(s), x.rows.Free(s))
}
