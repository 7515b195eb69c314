package kernels

import (
	"errors"
	"math"

	"github.com/vibeflight/vibeflight/gpu"
)

// XML is the tags of a text. Free gives its memory back.
type XML struct {
	Tags         int
	Fault        int64             // the lowest byte that is not accepted; -1: none so far
	Coded        bool              // there is a "&" or a carriage return: text does not mean its bytes
	Starts, Ends gpu.Buffer[int64] // the "<" of each tag, and its ">"
	Sections     Mask              // a bit for each tag: the text behind it has a CDATA section, and no second one

	// Found has one element, or none where there is no text: what all that the device was given for
	// the text has found.
	Found gpu.Buffer[XMLFound]

	n                           int64
	masks                       gpu.Buffer[uint64]
	less, greater, open, within Mask // where tags begin and end, CDATA sections begin, and the bytes of these
	sections                    bool // there is a section
	before                      gpu.Buffer[int64]
	kinds                       gpu.Buffer[uint8] // of each tag, once MatchXML was asked
	rows                        Mask              // tags that begin rows
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
// before the first of them, a text that ends beyond ASCII, and a reference that is none of the five
// that XML predefines. What stands in tags is for MatchXML to know; to that comments are tags, and
// processing instructions. CDATA sections are text.
//
// Three launches and two scans, then one launch; reads the text and 13/8 of it, and writes 9/8 of
// it and 16 bytes a tag.
func (k *Set) AllocXML(s *gpu.Stream, text gpu.Buffer[byte]) (*XML, error) {
	w := k.begin(s, "list XML tags")
	x := &XML{Fault: -1, n: w.text(text)}
	w.need(x.n < math.MaxInt32, "%d bytes of text", x.n)
	if w.err == nil && x.n > 0 {
		x.find(w, text)
	}
	if err := w.done(); err != nil {
		return nil, errors.Join(err, x.Free(s))
	}
	return x, nil
}

// find lists the tags of n > 0 bytes of text.
func (x *XML) find(w *work, text gpu.Buffer[byte]) {
	words, tiles := Words(text.Len()), blocks(x.n, tileBytes)
	x.masks, x.before, x.Found = give[uint64](w, int64(4*words)), give[int64](w, 2*tiles), give[XMLFound](w, 1)
	amp, state, count, total := take[uint64](w, words), take[uint32](w, int(tiles)), take[uint32](w, int(2*tiles)),
		take[int64](w, 2)
	if w.err != nil {
		return
	}
	of := func(i int) Mask { return x.masks.Slice(i*words, (i+1)*words) }
	x.less, x.greater, x.open, x.within = of(0), of(1), of(2), of(3)
	masks := []gpu.Arg{x.less.Arg(), x.greater.Arg(), amp.Arg(), x.open.Arg(), x.within.Arg(), state.Arg()}
	w.launch("xml_begin", 1, 32, x.Found.Arg())
	w.launch("xml_masks", tiles, block, join([]gpu.Arg{text.Arg(), gpu.Int(x.n)}, append(masks, x.Found.Arg())...)...)
	w.launch("xml_settle", 1, scanBlock, state.Arg(), gpu.Int(tiles), gpu.Int(x.n), x.Found.Arg())
	w.launch("xml_counts", tiles, block, join([]gpu.Arg{text.Arg(), gpu.Int(x.n)},
		append(masks, count.Arg(), gpu.Int(tiles), x.Found.Arg())...)...)
	for i := range 2 {
		from, to := i*int(tiles), (i+1)*int(tiles)
		if w.err == nil {
			scan(w, count.Slice(from, to), x.before.Slice(from, to), total.Slice(i, i+1))
		}
	}
	if w.err != nil {
		return
	}
	x.list(w, total, words, tiles)
}

// list waits for the counts of tags and their ends, and lists them unless there is a fault.
func (x *XML) list(w *work, total gpu.Buffer[int64], words int, tiles int64) {
	var counts [2]int64
	found := make([]XMLFound, 1)
	w.fail(gpu.Download(w.s, counts[:], total))
	w.fail(gpu.Download(w.s, found, x.Found))
	if w.fail(w.s.Synchronize()); w.err != nil {
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
	x.Starts, x.Ends, x.Sections = give[int64](w, counts[0]), give[int64](w, counts[0]),
		give[uint64](w, int64(Words(x.Tags)))
	if w.err == nil {
		w.err = gpu.Fill(w.s, x.Sections, 0)
	}
	w.launch("xml_list", tiles, block, x.less.Arg(), x.greater.Arg(), x.open.Arg(), gpu.Int(words),
		x.before.Arg(), gpu.Int(tiles), x.Starts.Arg(), x.Ends.Arg(), x.Sections.Arg(), x.Found.Arg())
}

// Free gives the memory back once the work that s was given before is done.
func (x *XML) Free(s *gpu.Stream) error {
	return errors.Join(x.masks.Free(s), x.before.Free(s), x.Found.Free(s), x.Starts.Free(s), x.Ends.Free(s),
		x.Sections.Free(s), x.kinds.Free(s), x.rows.Free(s))
}
