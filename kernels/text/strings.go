package text

import (
	"errors"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// StringMode is how the raw text of a string is read.
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
	// StringNotUTF8 is a string that is not UTF-8 as RFC 3629 has it: an overlong form, a
	// surrogate, more than U+10FFFF, a part of a character.
	StringNotUTF8
	// StringMalformed is a string with a backslash that starts no escape, a quote that is not
	// doubled, or a span that does not lie in the text.
	StringMalformed
	// StringReplaced is a string with half a surrogate pair, now U+FFFD.
	StringReplaced

	stringFlags = 5
)

// StringSummary is what a column of strings is like.
type StringSummary struct {
	Replaced int64       // halves of surrogate pairs that became U+FFFD
	Bytes    int64       // of the strings of up to 256 bytes of raw text
	Flags    StringFlags // of all strings together
	HasLong  uint32      // not 0 if there are strings of more than 256 bytes of raw text
}

// pieceBytes is PIECE of strings.cu: what one thread reads of a string.
const pieceBytes = 256

// stringPiece is StringPiece of strings.cu.
type stringPiece struct {
	string          int64
	before, escaped uint32
}

// StringColumn is StringColumn of strings_measure.cuh: where a kernel writes what MeasureStrings
// finds out.
type StringColumn struct {
	offsets, blockSums gpu.Pointer[int64]
	flags              gpu.Pointer[uint32]
	before, first      gpu.Pointer[int64]
	summary            gpu.Pointer[StringSummary]
}

// stringsPiecesArgs is StringsPiecesArgs of strings.cu.
type stringsPiecesArgs struct {
	n, mode, strings int64
	room             int64
	piece            gpu.Pointer[stringPiece]
	bytes            gpu.Pointer[int64]
	flags            gpu.Pointer[uint32]
	summary          gpu.Pointer[StringSummary]
}

// stringsBytesArgs is StringsBytesArgs of strings.cu.
type stringsBytesArgs struct {
	n, mode, strings int64
	room             int64
	out              gpu.Pointer[byte]
	outRoom          int64
	narrow           gpu.Pointer[int32]
}

// Strings is what MeasureStrings learned of a column of strings. Bit i of a mask is set if string i
// has that flag.
type Strings struct {
	Escaped, Control, NotUTF8, Malformed, Replaced kernels.Mask
	stringLists

	text         gpu.Buffer[byte]
	starts, ends gpu.Buffer[int64]
	offsets      gpu.Buffer[int64]
	// where offsets count from the first string of each block on: bytes of each block's strings,
	// and one element more
	sums gpu.Buffer[int64]
	mode StringMode

	// Of long strings; none until they were measured.
	piece gpu.Buffer[stringPiece]
	group gpu.Buffer[uint32]
	bytes gpu.Buffer[int64]
}

// stringLists are what is learned of short strings: see strings.cu. Those of several columns lie
// one after the other.
type stringLists struct {
	Summary gpu.Buffer[StringSummary] // one element

	flags         kernels.Mask
	before, first gpu.Buffer[int64]
}

// allocStrings takes the memory for columns of as many strings each.
func allocStrings(w *kernels.Call, columns, strings int) stringLists {
	count, grid := int64(columns), kernels.Blocks(int64(strings), kernels.Block)
	l := stringLists{
		Summary: kernels.Result[StringSummary](w, count), flags: kernels.Result[uint64](w,
			count*int64(stringFlags*kernels.Words(strings))),
		before: kernels.Result[int64](w, count*int64(strings)), first: kernels.Result[int64](w, count*(grid+1)),
	}
	if w.Err == nil {
		w.Err = gpu.Fill(w.Stream, l.Summary, 0)
	}
	return l
}

// part is a view of those of column i of all.
func (l *stringLists) part(i, all int) stringLists {
	return stringLists{part(l.Summary, i, all), part(l.flags, i, all), part(l.before, i, all), part(l.first, i, all)}
}

// part is a view of part i of all equal parts of b.
func part[T any](b gpu.Buffer[T], i, all int) gpu.Buffer[T] {
	n := b.Len() / all
	return b.Slice(i*n, (i+1)*n)
}

func (l *stringLists) free(s *gpu.Stream) error {
	return errors.Join(l.Summary.Free(s), l.flags.Free(s), l.before.Free(s), l.first.Free(s))
}

// MeasureStrings reads a column of strings once: how many bytes each has with its escapes read, and
// what is wrong with it.
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
// GatherStrings then writes the bytes, which are never more than the raw text. Several columns cost
// less in one call, one after the other, than in one call each. A malformed string still has the
// bytes that a plain reading gives it: what starts no escape stands for itself, less the backslash.
//
// The caller frees the result; text, starts, ends and offsets must live until GatherStrings. The
// time depends on the bytes of the strings and on their number, not on the length of one: strings
// of more than 256 bytes are read in pieces. Where long spans overlap so much that their pieces are
// more than text has, all long strings are empty and malformed.
//
// About a dozen launches; reads the strings' bytes and 16 bytes each, writes and scans 8 bytes and
// writes 5 bits each. MeasureShortStrings does with two of them.
func MeasureStrings(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64],
	mode StringMode, offsets gpu.Buffer[int64],
) (*Strings, error) {
	x, err := MeasureShortStrings(k, s, text, starts, ends, mode, offsets)
	if err != nil {
		return nil, err
	}
	if err := MeasureLongStrings(k, s, x, offsets); err != nil {
		return nil, errors.Join(err, x.Free(s))
	}
	return x, nil
}

// OffsetBlocks is how many blocks of strings or rows each block adds up by itself.
const OffsetBlocks = 4096

// MeasureShortStrings is MeasureStrings where no string has more than 256 bytes of raw text. Where
// one has, the summary says so: all of these are empty, and nothing is known of them, until
// MeasureLongStrings adds them. A caller that looks at the summary anyway so spares their launches
// when there are none.
//
// Two launches, three beyond a million strings.
func MeasureShortStrings(k *kernels.Set, s *gpu.Stream, text gpu.Buffer[byte], starts, ends gpu.Buffer[int64],
	mode StringMode, offsets gpu.Buffer[int64],
) (*Strings, error) {
	w := k.Begin(s, "measure strings")
	w.CheckText(text)
	strings := starts.Len()
	w.Need(ends.Len() == strings && offsets.Len() == strings+1, "%d starts, %d ends and %d offsets",
		strings, ends.Len(), offsets.Len())
	w.Need(mode <= StringsDoubled, "string mode %d", mode)
	x := &Strings{text: text, starts: starts, ends: ends, mode: mode, offsets: offsets}
	x.stringLists = allocStrings(w, 1, strings)
	x.split(w)
	grid := kernels.Blocks(int64(strings), kernels.Block)
	sums := kernels.Scratch[int64](w, int(grid)+1)
	column := x.column(sums)
	w.Launch("strings_measure", grid, kernels.Block, kernels.JoinArgs(x.source(), gpu.Struct(&column))...)
	offsetStrings(w, sums, offsets)
	if err := w.Done(); err != nil {
		return nil, errors.Join(err, x.Free(s))
	}
	return x, nil
}

// offsetStrings adds the bytes of the blocks before to offsets that count from the first string of
// each block on. sums are those of the blocks, and one element more.
func offsetStrings(w *kernels.Call, sums, offsets gpu.Buffer[int64]) {
	grid, scanned := sums.Len()-1, 0
	if grid > OffsetBlocks && w.Err == nil {
		kernels.Scan(w, sums.Slice(0, grid), sums, gpu.Buffer[int64]{})
		scanned = 1
	}
	w.Launch("strings_offsets", kernels.Blocks(int64(offsets.Len()), kernels.Block), kernels.Block,
		sums.Arg(), gpu.Int(scanned),
		gpu.Int(offsets.Len()-1), offsets.Arg())
}

// rebaseOffsets has offsets count from the first of all strings on, if they do not.
func (x *Strings) rebaseOffsets(w *kernels.Call) {
	if x.sums.Len() > 0 {
		offsetStrings(w, x.sums, x.offsets)
		x.sums = gpu.Buffer[int64]{}
	}
}

// MeasureLongStrings measures the strings that MeasureShortStrings left out, if there are any, and
// adds their bytes to offsets, once.
//
//	offsets  as many as MeasureShortStrings took: those, or the sums of AddOffsets that they are part of
//
// Ten launches; reads the strings' bytes, and 40 bytes each.
func MeasureLongStrings(k *kernels.Set, s *gpu.Stream, x *Strings, offsets gpu.Buffer[int64]) error {
	w := k.Begin(s, "measure long strings")
	n, strings := int64(x.text.Len()), x.starts.Len()
	w.Need(offsets.Len() == strings+1, "%d offsets for %d strings", offsets.Len(), strings)
	w.Need(x.piece.Len() == 0, "strings that were measured before")
	w.Need(x.sums.Len() == 0 || offsets.Address() == x.offsets.Address(), "other offsets than those that were measured")
	if w.Err != nil {
		return w.Done()
	}
	x.rebaseOffsets(w)
	room := 2*n/(pieceBytes+1) + 1 // the shortest strings that have pieces have two
	grid, groups := kernels.Blocks(int64(strings), kernels.Block), kernels.Blocks(room, kernels.Block)
	x.piece, x.group, x.bytes = kernels.Result[stringPiece](w, room), kernels.Result[uint32](w, groups),
		kernels.Result[int64](w, groups+1)
	sizes := kernels.Scratch[int64](w, strings+1)
	pieces := []gpu.Arg{x.before.Arg(), x.first.Arg(), gpu.Int(room)}
	if w.Err == nil {
		kernels.Scan(w, x.first.Slice(0, int(grid)), x.first, gpu.Buffer[int64]{})
	}
	w.Launch("strings_tails", groups, kernels.Block, kernels.JoinArgs(kernels.JoinArgs(x.source(), pieces...),
		x.piece.Arg(), x.group.Arg())...)
	w.Launch("strings_states", 1, kernels.ScanBlock, x.group.Arg(), x.first.Arg(), gpu.Int(strings), gpu.Int(room))
	args := stringsPiecesArgs{
		n: n, mode: int64(x.mode), strings: int64(strings), room: room,
		piece: x.piece.Pointer(), bytes: x.bytes.Pointer(), flags: gpu.Cast[uint32](x.flags.Pointer()),
		summary: x.Summary.Pointer(),
	}
	w.Launch("strings_pieces", groups, kernels.Block, x.text.Arg(), x.starts.Arg(), x.ends.Arg(), x.before.Arg(),
		x.first.Arg(), x.group.Arg(), gpu.Struct(&args))
	if w.Err == nil {
		kernels.Scan(w, x.bytes.Slice(0, int(groups)), x.bytes, gpu.Buffer[int64]{})
	}
	spans := []gpu.Arg{gpu.Int(n), x.starts.Arg(), x.ends.Arg(), gpu.Int(strings)}
	w.Launch("strings_long_sizes", grid, kernels.Block, kernels.JoinArgs(kernels.JoinArgs(spans, pieces...),
		x.piece.Arg(), x.bytes.Arg(), sizes.Arg(), x.flags.Arg(), x.Summary.Arg())...)
	if w.Err == nil {
		kernels.Scan(w, sizes.Slice(0, strings), sizes, gpu.Buffer[int64]{})
	}
	if w.Err == nil {
		w.Err = AddOffsets(k, s, offsets, sizes)
	}
	return w.Done()
}

// split gives each mask its part of the flags.
func (x *Strings) split(w *kernels.Call) {
	if w.Err != nil {
		return
	}
	for i, mask := range []*kernels.Mask{&x.Escaped, &x.Control, &x.NotUTF8, &x.Malformed, &x.Replaced} {
		*mask = part(x.flags, i, stringFlags)
	}
}

// source is what kernels know the strings by.
func (x *Strings) source() []gpu.Arg {
	return []gpu.Arg{
		x.text.Arg(), gpu.Int(x.text.Len()), gpu.Int(x.mode), x.starts.Arg(), x.ends.Arg(),
		gpu.Int(x.starts.Len()),
	}
}

// column is the results as kernels take them, with the sums of blocks.
func (x *Strings) column(sums gpu.Buffer[int64]) StringColumn {
	return StringColumn{
		offsets: x.offsets.Pointer(), blockSums: sums.Pointer(),
		flags: gpu.Cast[uint32](x.flags.Pointer()), before: x.before.Pointer(), first: x.first.Pointer(),
		summary: x.Summary.Pointer(),
	}
}

// Free gives the memory back once the work that s was given before is done.
func (x *Strings) Free(s *gpu.Stream) error {
	return errors.Join(x.free(s), x.piece.Free(s), x.group.Free(s), x.bytes.Free(s))
}

// At has GatherStrings write the strings to other places: offsets are as many as MeasureStrings
// took, and none of the strings has less room than it needs.
func (x *Strings) At(offsets gpu.Buffer[int64]) *Strings {
	moved := *x
	moved.offsets, moved.sums = offsets, gpu.Buffer[int64]{}
	return &moved
}

// GatherStrings writes the bytes of the strings that x was measured of.
//
//	out     as many bytes as the last offset says; n, the bytes of the text, always suffice. A string that
//	        does not fit whole is left out
//	narrow  a string more, overwritten: the offsets, of which one beyond 2^31-1 becomes that; or none
//
// One launch; reads the strings' bytes and 24 bytes each, writes the bytes they mean.
func GatherStrings(k *kernels.Set, s *gpu.Stream, x *Strings, out gpu.Buffer[byte], narrow gpu.Buffer[int32]) error {
	w := k.Begin(s, "gather strings")
	strings := x.starts.Len()
	w.Need(x.offsets.Len() == strings+1, "%d offsets for %d strings", x.offsets.Len(), strings)
	w.Need(narrow.Len() == 0 || narrow.Len() == strings+1, "%d narrow offsets for %d strings", narrow.Len(), strings)
	args := stringsBytesArgs{
		n: int64(x.text.Len()), mode: int64(x.mode), strings: int64(strings), room: int64(x.piece.Len()),
		out: out.Pointer(), outRoom: int64(out.Len()), narrow: narrow.Pointer(),
	}
	w.Launch("strings_bytes", max(kernels.Blocks(int64(strings)+1, kernels.Block), int64(x.group.Len())), kernels.Block,
		x.text.Arg(), x.starts.Arg(), x.ends.Arg(), x.offsets.Arg(), x.sums.Arg(), x.before.Arg(), x.first.Arg(),
		x.piece.Arg(), x.bytes.Arg(), gpu.Struct(&args))
	return w.Done()
}
