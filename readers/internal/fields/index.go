package fields

import (
	"math"
	"math/bits"
	"unsafe"
)

// Most is how many bytes of text Find reads: text and index stay in the first-level cache.
const Most = 16 << 10

// Padding is how many bytes must be readable after the text.
const Padding = block

// block is the number of bytes per word of a mask.
const block = 64

// Index has the starts of the records of a text and of their fields. It is reused from text to
// text.
//
//	text      1,"a,b"LF LF 2,LF
//	Starts    0 2 8 9 11 12      of each field, and of what follows the last: a field ends one byte
//	                             before the next begins
//	Records   0 3                indices of Starts: a line of no bytes is not a record
type Index struct {
	Starts  []uint32
	Records []uint32 // of the first field of each
	End     int      // of the last record, after its line end

	High bool // a byte of the text may be no ASCII
	// places, in quoted fields, of the second of two quotes for one, followed by one beyond any
	// text
	Doubled []uint32

	masks  [Most / block]masks
	starts [Most + 1 + block]uint32 // a block's are written at a time
	ends   [Most + block]uint32     // indices of starts of what follows a line end
}

// masks say what 64 bytes are, the first one in the lowest bit.
type masks struct{ delimiters, lineEnds, quotes, high uint64 }

// Find finds the records of n bytes at text, at most Most, up to one that is incomplete, has
// another number of fields or a misplaced quote. The first one begins at text. A quote of 0 means
// no quotes.
func (x *Index) Find(text unsafe.Pointer, n int, delimiter, quote byte, fields int) {
	x.find(haveWide, text, n, delimiter, quote, fields)
}

// find is Find with or without the instructions of haveWide.
func (x *Index) find(wide bool, text unsafe.Pointer, n int, delimiter, quote byte, fields int) {
	f := finder{Index: x, carry: carry{separator: 1, quotes: ^uint64(0)}}
	if quote == 0 {
		f.quotes = 0
	}
	x.Doubled = x.Doubled[:0]
	x.starts[0] = 0
	blocks := (n + block - 1) / block
	if !wide {
		find(&x.masks, text, blocks, delimiter, quote)
	}
	for i := 0; i < blocks; i++ {
		m := &x.masks[i]
		if wide {
			if i += f.listWide(unsafe.Add(text, i*block), n/block-i, i*block, delimiter, quote); i == blocks {
				break
			}
			m = &x.masks[0]
			find(&x.masks, unsafe.Add(text, i*block), 1, delimiter, quote)
		}
		if left := n - i*block; left < block {
			m.cut(left)
		}
		if !f.add(uint32(i*block), m) {
			break
		}
	}
	x.High = f.high != 0
	x.Doubled = append(x.Doubled, math.MaxUint32)
	x.list(x.ends[:f.lines], uint32(fields))
	x.Starts = x.starts[:f.listed+1]
}

// list lists the records up to the line ends.
func (x *Index) list(ends []uint32, fields uint32) {
	records, first := x.Records[:0], uint32(0)
	for _, next := range ends {
		if next-first == 1 && x.starts[next] == x.starts[first]+1 { // a line of no bytes
			first = next
			continue
		}
		if next-first != fields {
			break
		}
		records = append(records, first)
		first = next
	}
	x.Records, x.End = records, int(x.starts[first])
}

// cut leaves the first n bytes.
func (m *masks) cut(n int) {
	keep := uint64(1)<<n - 1
	m.delimiters &= keep
	m.lineEnds &= keep
	m.quotes &= keep
	m.high &= keep
}

// finder is the state of one Find.
type finder struct {
	*Index
	carry
}

// carry is the state after the blocks so far; assembly depends on its layout.
type carry struct {
	listed uint64 // how many fields ended
	lines  uint64 // how many line ends are in ends
	high   uint64 // some bits: a byte is not ASCII
	quotes uint64 // all bits, none where there are no quotes

	// Of the byte before the block, in the lowest bit, but for inside.
	inside    uint64 // all bits: in quotes
	separator uint64 // it is a delimiter or a line end
	closing   uint64 // it is a quote that closes a field, or the first of two
}

// add finds the fields and records that end in a block, whose first byte is number at. It returns
// false at the end of the search.
//
//	text      , " a " " , " , b
//	quotes    . 1 . 1 1 . 1 . .
//	inside    . 1 1 . 1 1 . . .     from each opening quote to the byte before the closing one
//	opening   . 1 . . 1 . . . .     after a separator, or after a closing quote: two for one
//	closing   . . . 1 . . 1 . .     before a separator, or before an opening quote
func (f *finder) add(at uint32, m *masks) bool {
	quotes := m.quotes & f.quotes
	inside := prefixXor(quotes) ^ f.inside
	f.inside = uint64(int64(inside) >> 63)
	opening, closing := quotes&inside, quotes&^inside
	separators := (m.delimiters | m.lineEnds) &^ inside
	behindClosing := closing<<1 | f.closing
	behindSeparator := separators<<1 | f.separator
	f.closing, f.separator = closing>>63, separators>>63
	f.high |= m.high
	for doubled := opening & behindClosing; doubled != 0; doubled &= doubled - 1 {
		f.Doubled = append(f.Doubled, at+uint32(bits.TrailingZeros64(doubled)))
	}
	wrong := opening&^(behindSeparator|behindClosing) | behindClosing&^(separators|quotes)
	if wrong != 0 {
		separators &= wrong&-wrong - 1
	}
	out := f.starts[f.listed+1:]
	for i, left := 0, separators; left != 0; i += 8 {
		for k := range out[i : i+8] {
			out[i+k] = at + 1 + uint32(bits.TrailingZeros64(left))
			left &= left - 1
		}
	}
	for ends := m.lineEnds & separators; ends != 0; ends &= ends - 1 {
		f.ends[f.lines] = uint32(f.listed) + uint32(bits.OnesCount64(separators&(ends&-ends-1))) + 1
		f.lines++
	}
	f.listed += uint64(bits.OnesCount64(separators))
	return wrong == 0
}

// prefixXor sets bit i where an odd number of the bits up to and with i are set.
func prefixXor(w uint64) uint64 {
	w ^= w << 1
	w ^= w << 2
	w ^= w << 4
	w ^= w << 8
	w ^= w << 16
	w ^= w << 32
	return w
}
