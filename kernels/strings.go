package kernels

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
)

// StringMode says how the raw text of a string is read.
type StringMode uint32

const (
	// StringsRaw takes every byte as it is.
	StringsRaw StringMode = iota
	// StringsJSON reads the escapes of RFC 8259 section 7. Half a surrogate pair becomes U+FFFD.
	StringsJSON
	// StringsDoubled reads two quotes as one, as in a quoted field of RFC 4180.
	StringsDoubled
)

// StringFlags say what is special about a string.
type StringFlags uint32

const (
	// StringEscaped is a string with an escape: its text is not its bytes.
	StringEscaped StringFlags = 1 << iota
	// StringControl is a string with a byte below 0x20 that is not escaped, which JSON forbids.
	StringControl
	// StringNotUTF8 is a string that is not UTF-8 as RFC 3629 has it: an overlong form, a surrogate, more than U+10FFFF, a part of a character.
	StringNotUTF8
	// StringMalformed is a string with a backslash that starts no escape, a quote that is not doubled, or a span that does not lie in the text.
	StringMalformed
	// StringReplaced is a string with half a surrogate pair, now U+FFFD.
	StringReplaced

	stringFlags = 5
)

// StringSummary is what a column of strings is like.
type StringSummary struct {
	Replaced int64       // halves of surrogate pairs that became U+FFFD
	Flags    StringFlags // of all strings together
	_        uint32
}

// pieceBytes is PIECE of strings.cu: what one thread reads of a string.
const pieceBytes = 256

// stringPiece is StringPiece of strings.cu.
type stringPiece struct {
	String          int64
	Before, Escaped uint32
}

// Strings is what MeasureStrings learned of a column of strings. Bit i of a mask is set if string i has that flag.
type Strings struct {
	Escaped, Control, NotUTF8, Malformed, Replaced Mask
	Summary                                        gpu.Buffer[StringSummary] // one element

	text          gpu.Buffer[byte]
	starts, ends  gpu.Buffer[int64]
	offsets       gpu.Buffer[int64]
	mode          StringMode
	flags         Mask
	before, first gpu.Buffer[int64]
	piece         gpu.Buffer[stringPiece]
	group         gpu.Buffer[uint32]
	bytes         gpu.Buffer[int64]
}

// MeasureStrings reads a column of strings once: how many bytes each has with its escapes read, and what is wrong with it.
//
//	text     n bytes
//	starts   of the raw text of each string, quotes left out
//	ends     likewise; a null is an empty span. Spans do not overlap
//	offsets  a string more, overwritten: bytes of the strings before each string, and of all
//
//	text     { " a " : " x \ n y " , " b " : " " }
//	starts               6                     17
//	ends                         10            17
//	offsets  0 3 3
//
// GatherStrings then writes the bytes, which are never more than the raw text. Several columns cost less in one call, one behind the other, than in
// one call each. A malformed string still has the bytes that a plain reading gives it: what starts no escape stands for itself, less the backslash.
//
// The caller frees the result; text, starts, ends and offsets must live until GatherStrings. The time depends on the bytes of the strings and on
// their number, not on the length of one: strings of more than 256 bytes are read in pieces. Where long spans overlap so much that their pieces
// are more than text has, all long strings are empty and malformed.
//
// About a dozen launches, half of which find nothing to do where no string is long. Reads the strings' bytes and 16 bytes each, writes and scans 8 bytes
// and writes 5 bits each.
func (k *Set) MeasureStrings(s *gpu.Stream, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64], mode StringMode, offsets gpu.Buffer[int64]) (*Strings, error) {
	w := k.begin(s, "measure strings")
	n, strings := w.text(text), starts.Len()
	w.need(ends.Len() == strings && offsets.Len() == strings+1, "%d starts, %d ends and %d offsets", strings, ends.Len(), offsets.Len())
	w.need(mode <= StringsDoubled, "string mode %d", mode)
	x := &Strings{text: text, starts: starts, ends: ends, mode: mode, offsets: offsets}
	x.alloc(w, strings, n)
	room, groups := int64(x.piece.Len()), int64(x.group.Len())
	grid := blocks(int64(strings), block)
	spans := []gpu.Arg{starts.Arg(), ends.Arg(), gpu.Int(strings)}
	source := join([]gpu.Arg{text.Arg(), gpu.Int(n), gpu.Int(mode)}, spans...)
	pieces := []gpu.Arg{x.before.Arg(), x.first.Arg(), gpu.Int(room)}
	w.launch("strings_measure", grid, block, join(source, offsets.Arg(), x.flags.Arg(), x.before.Arg(), x.first.Arg(), x.Summary.Arg())...)
	if w.err == nil {
		scan(w, x.first.Slice(0, int(grid)), x.first, gpu.Buffer[int64]{})
	}
	w.launch("strings_tails", groups, block, join(join(source, pieces...), x.piece.Arg(), x.group.Arg())...)
	w.launch("strings_states", 1, scanBlock, x.group.Arg(), x.first.Arg(), gpu.Int(strings), gpu.Int(room))
	w.launch("strings_pieces", groups, block, join(join(source, pieces...), x.piece.Arg(), x.group.Arg(), x.bytes.Arg(), x.flags.Arg(), x.Summary.Arg())...)
	if w.err == nil {
		scan(w, x.bytes.Slice(0, int(groups)), x.bytes, gpu.Buffer[int64]{})
	}
	w.launch("strings_long_sizes", grid, block, join(join(join([]gpu.Arg{gpu.Int(n)}, spans...), pieces...), x.piece.Arg(), x.bytes.Arg(), offsets.Arg(), x.flags.Arg(), x.Summary.Arg())...)
	if w.err == nil {
		scan(w, offsets.Slice(0, strings), offsets, gpu.Buffer[int64]{})
	}
	if err := w.done(); err != nil {
		return nil, errors.Join(err, x.Free(s))
	}
	return x, nil
}

// alloc takes the memory for strings that are spans of n bytes of text.
func (x *Strings) alloc(w *work, strings int, n int64) {
	words := Words(strings)
	room := 2*n/(pieceBytes+1) + 1 // the shortest strings that have pieces have two
	groups := blocks(room, block)
	x.flags = give[uint64](w, int64(stringFlags*words))
	x.before = give[int64](w, int64(strings))
	x.first = give[int64](w, blocks(int64(strings), block)+1)
	x.piece = give[stringPiece](w, room)
	x.group = give[uint32](w, groups)
	x.bytes = give[int64](w, groups+1)
	x.Summary = give[StringSummary](w, 1)
	if w.err != nil {
		return
	}
	w.err = gpu.Fill(w.s, x.Summary, 0)
	for i, mask := range []*Mask{&x.Escaped, &x.Control, &x.NotUTF8, &x.Malformed, &x.Replaced} {
		*mask = x.flags.Slice(i*words, (i+1)*words)
	}
}

// join is a list with more behind it; the list keeps its elements.
func join(list []gpu.Arg, more ...gpu.Arg) []gpu.Arg {
	return append(list[:len(list):len(list)], more...)
}

// Free gives the memory back once the work that s was given before is done.
func (x *Strings) Free(s *gpu.Stream) error {
	return errors.Join(x.flags.Free(s), x.before.Free(s), x.first.Free(s), x.piece.Free(s), x.group.Free(s), x.bytes.Free(s), x.Summary.Free(s))
}

// At has GatherStrings write the strings to other places: offsets are as many as MeasureStrings took, and none of the strings has less room than it needs.
func (x *Strings) At(offsets gpu.Buffer[int64]) *Strings {
	moved := *x
	moved.offsets = offsets
	return &moved
}

// GatherStrings writes the bytes of the strings that x was measured of.
//
//	out  as many bytes as the last offset says; n, the bytes of the text, always suffice. A string that does not fit whole is left out
//
// One launch; reads the strings' bytes and 24 bytes each, writes the bytes they mean.
func (k *Set) GatherStrings(s *gpu.Stream, x *Strings, out gpu.Buffer[byte]) error {
	w := k.begin(s, "gather strings")
	strings := x.starts.Len()
	w.need(x.offsets.Len() == strings+1, "%d offsets for %d strings", x.offsets.Len(), strings)
	w.launch("strings_bytes", max(blocks(int64(strings), block), int64(x.group.Len())), block,
		x.text.Arg(), gpu.Int(x.text.Len()), gpu.Int(x.mode), x.starts.Arg(), x.ends.Arg(), gpu.Int(strings), x.offsets.Arg(),
		x.before.Arg(), x.first.Arg(), gpu.Int(x.piece.Len()), x.piece.Arg(), x.bytes.Arg(), out.Arg(), gpu.Int(out.Len()))
	return w.done()
}
