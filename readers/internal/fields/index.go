package fields

import (
	"math"
	"math/bits"
	"unsafe"
)

// Most is how many bytes of text Find looks at: text and index stay in the processor's first cache.
const Most = 16 << 10

// Padding is how many bytes must be readable behind the text.
const Padding = block

// block is how many bytes a word of a mask stands for.
const block = 64

// Index says where the records of some text and their fields begin. It serves one text after the other.
//
//	text      1,"a,b"LF LF 2,LF
//	Starts    0 2 8 9 11 12      of each field, and of what stands behind the last: a field ends one byte before the next begins
//	Records   0 3                indices of Starts: a line of no bytes is no record
type Index struct {
	Starts  []uint32
	Records []uint32 // of the first field of each
	End     int      // of the last record, behind its line end

	High    bool     // a byte of the text may be no ASCII
	Doubled []uint32 // where, in quoted fields, stands the second of two quotes for one, and behind them one that no text reaches

	masks  [Most / block]masks
	starts [Most + 1 + 8]uint32 // 8 are written at a time
}

// masks say what 64 bytes are, the first one in the lowest bit.
type masks struct{ delimiters, lineEnds, quotes, high uint64 }

// Find finds the records of n bytes at text, Most at most, up to one that does not end in them, has another number of fields, or in which a quote stands where none may.
// The first one begins at text. A quote of 0 is none.
func (x *Index) Find(text unsafe.Pointer, n int, delimiter, quote byte, fields int) {
	blocks := (n + block - 1) / block
	find(&x.masks, text, blocks, delimiter, quote)
	f := finder{Index: x, fields: uint32(fields), separator: 1}
	x.Records, x.Doubled, x.High = x.Records[:0], x.Doubled[:0], false
	x.starts[0] = 0
	for i := range blocks {
		m := x.masks[i]
		if left := n - i*block; left < block {
			m.cut(left)
		}
		if quote == 0 {
			m.quotes = 0
		}
		if !f.add(uint32(i*block), &m) {
			break
		}
	}
	x.Doubled = append(x.Doubled, math.MaxUint32)
	x.Starts, x.End = x.starts[:f.starts+1], int(x.starts[f.first])
}

// cut leaves the first n bytes.
func (m *masks) cut(n int) {
	keep := uint64(1)<<n - 1
	m.delimiters &= keep
	m.lineEnds &= keep
	m.quotes &= keep
	m.high &= keep
}

// finder is one Find.
type finder struct {
	*Index
	fields uint32
	starts uint32 // how many fields ended
	first  uint32 // index of Starts of the record at hand

	// of the byte before the block, in the lowest bit, but for inside
	inside    uint64 // all bits: in quotes
	separator uint64 // it is a delimiter or a line end
	closing   uint64 // it is a quote that closes a field, or the first of two
}

// add finds what ends in a block, whose first byte is number at. It reports false where nothing more can be found.
//
//	text      , " a " " , " , b
//	quotes    . 1 . 1 1 . 1 . .
//	inside    . 1 1 . 1 1 . . .     from each opening quote to the byte before the closing one
//	opening   . 1 . . 1 . . . .     behind a separator, or behind a closing quote: two for one
//	closing   . . . 1 . . 1 . .     before a separator, or before an opening quote
func (f *finder) add(at uint32, m *masks) bool {
	inside := prefixXor(m.quotes) ^ f.inside
	f.inside = uint64(int64(inside) >> 63)
	opening, closing := m.quotes&inside, m.quotes&^inside
	separators := (m.delimiters | m.lineEnds) &^ inside
	behindClosing := closing<<1 | f.closing
	behindSeparator := separators<<1 | f.separator
	f.closing, f.separator = closing>>63, separators>>63
	if m.high != 0 {
		f.High = true
	}
	for doubled := opening & behindClosing; doubled != 0; doubled &= doubled - 1 {
		f.Doubled = append(f.Doubled, at+uint32(bits.TrailingZeros64(doubled)))
	}
	wrong := opening&^(behindSeparator|behindClosing) | behindClosing&^(separators|m.quotes)
	if wrong != 0 {
		separators &= wrong&-wrong - 1
	}
	f.list(at+1, separators)
	for ends := m.lineEnds & separators; ends != 0; ends &= ends - 1 {
		next := f.starts + uint32(bits.OnesCount64(separators&(ends&-ends-1))) + 1
		switch {
		case next-f.first == 1 && f.Index.starts[next] == f.Index.starts[f.first]+1: // a line of no bytes
		case next-f.first != f.fields:
			f.starts = next
			return false
		default:
			f.Records = append(f.Records, f.first)
		}
		f.first = next
	}
	f.starts += uint32(bits.OnesCount64(separators))
	return wrong == 0
}

// list writes where what follows the separators begins: at plus the number of a bit.
func (f *finder) list(at uint32, separators uint64) {
	for i := f.starts + 1; separators != 0; i += 8 {
		out := (*[8]uint32)(f.Index.starts[i:])
		for k := range out {
			out[k] = at + uint32(bits.TrailingZeros64(separators))
			separators &= separators - 1
		}
	}
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
