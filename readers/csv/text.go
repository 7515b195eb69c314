package csv

import (
	"bytes"
	"math/bits"

	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/window"
)

// text splits a file into fields. Its methods read one element at an index of the window and return
// the index after it, or -1 with the fault set.
type text struct {
	window.Window
	*dialect
	decoder decoder
	fault   fault
	scratch []byte // a field whose quotes were undone
	mend    bool   // stray quotes with an obvious reading are accepted
	mended  int    // the index after the first one of the current field; 0: it has none
	digits  []byte // a number in JSON's syntax
	extra   int    // the number of fields after which further ones are not an error; 0: they are
}

// cell is a field in the window.
type cell struct {
	from, to int  // of its text, without quotes
	quoted   bool // it is in quotes
	doubled  bool // in its text there are quotes, doubled
	high     bool // its text is not all ASCII
	stray    bool // in its text there are quotes that are not doubled
	after    int  // place of text that follows the closing quote; 0: none
}

// cell reads the field at p. The byte after it is a delimiter, a line end or the end of the file.
func (t *text) cell(p int) (c cell, end int) {
	if t.class[t.At(p)] == classQuote && p < t.N {
		return t.quotedCell(p)
	}
	end, high := t.fieldEnd(p)
	if end == t.N && !t.EOF {
		return cell{}, t.cut()
	}
	return cell{from: p, to: end, high: high}, end
}

// Eight bytes at a time.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// zeros sets the high bit of each byte of w that is 0, up to the first one at least.
func zeros(w uint64) uint64 { return (w - ones) & ^w & highs }

// controls sets the high bit of each byte of w that is below 0x0E, up to the first one at least:
// line ends are among them.
func controls(w uint64) uint64 { return (w - 0x0E*ones) & ^w & highs }

// fieldEnd finds the first delimiter or line end at or after p, or N, and reports whether a byte
// before it is not ASCII.
//
//	text    n , m a i n LF
//	mask    . 1 . . . . 1     the lowest bit is right; those above may be wrong, and are checked again
func (t *text) fieldEnd(p int) (end int, high bool) {
	delimiters := uint64(t.delimiter) * ones
	var seen uint64
	for {
		w := t.Word(p)
		m := zeros(w^delimiters) | controls(w)
		if m == 0 {
			seen |= w
			p += 8
			continue
		}
		k := bits.TrailingZeros64(m)
		seen |= w & (1<<(k&63) - 1)
		p += k >> 3
		if p >= t.N {
			return t.N, seen&highs != 0
		}
		if t.class[t.At(p)]&endsField != 0 {
			return p, seen&highs != 0
		}
		p++ // a tab or NUL does not end a field
	}
}

// shortQuoted finds the first quote at or after p if all bytes before it are ASCII; else it returns
// 0. It reads slightly beyond N, where no byte ends a field.
func (t *text) shortQuoted(p int) int {
	quotes := uint64(t.quote) * ones
	for {
		w := t.Word(p)
		m := zeros(w ^ quotes)
		if m == 0 {
			if w&highs != 0 || p >= t.N {
				return 0
			}
			p += 8
			continue
		}
		k := bits.TrailingZeros64(m)
		if w&highs&(1<<(k&63)-1) != 0 {
			return 0
		}
		return p + k>>3
	}
}

// quotedCell reads the field at p, which begins with a quote.
func (t *text) quotedCell(p int) (c cell, end int) {
	quotes := uint64(t.quote) * ones
	c = cell{from: p + 1, quoted: true}
	var seen uint64
	for end = c.from; end < t.N; {
		w := t.Word(end)
		m := zeros(w ^ quotes)
		if m == 0 {
			seen |= w
			end += 8
			continue
		}
		k := bits.TrailingZeros64(m)
		seen |= w & (1<<(k&63) - 1)
		end += k >> 3
		next := t.At(end + 1)
		switch {
		case end+1 >= t.N && !t.EOF:
			return c, t.cut()
		case next == t.quote && end+1 < t.N:
			c.doubled = true
			end += 2
			continue
		case t.class[next]&endsField == 0 && end+1 < t.N:
			t.fail(end+1, "the delimiter or a line end after the closing quote")
			t.fault.shape = true
			if !t.mend {
				return c, -1
			}
			c.high = seen&highs != 0
			return t.mendedCell(c, end)
		}
		c.to, c.high = end, seen&highs != 0
		return c, end + 1
	}
	if !t.EOF {
		return c, t.cut()
	}
	t.fault = fault{pos: p, seen: t.N, want: "the quote that opens this field is not closed", bare: true, file: true}
	return c, -1
}

// pass skips fields from p on, and returns the index of the line end.
func (t *text) pass(p int) int {
	for {
		field, end := t.cell(p)
		if end < 0 && field.quoted && !t.fault.cut && !t.fault.file { // text after a closing quote
			if end, _ = t.fieldEnd(t.fault.pos); end == t.N && !t.EOF {
				return t.cut()
			}
		}
		if end < 0 {
			return -1
		}
		if t.At(end) != t.delimiter {
			return end
		}
		p = end + 1
	}
}

// raw returns the text of a cell as it is in the file. number.Padding bytes after it can be read.
func (t *text) raw(c cell) []byte { return t.Text(c.from, c.to+number.Padding)[:c.to-c.from] }

// bytes returns the text of a cell in UTF-8, its quotes undone: valid until the next call or until
// the window moves. If it is malformed, it returns false with a fault.
func (t *text) bytes(c cell) (b []byte, ok bool) {
	b = t.raw(c)
	if c.high {
		var bad int
		if b, bad = t.decoder.utf8(b); bad >= 0 {
			name := "utf-8"
			if t.charset != nil {
				name = t.charset.name
			}
			t.fault = fault{pos: c.from + bad, want: "text in " + name + ", as the option encoding says", text: true}
			return nil, false
		}
	}
	switch {
	case c.after > 0:
		b = t.joined(b)
	case c.stray:
		b = t.single(b)
	case c.doubled:
		b = t.undouble(b)
	}
	return b, true
}

// undouble returns the text with single quotes.
func (t *text) undouble(b []byte) []byte {
	t.scratch = t.scratch[:0]
	for {
		k := bytes.IndexByte(b, t.quote)
		if k < 0 {
			break
		}
		t.scratch = append(t.scratch, b[:k+1]...)
		b = b[k+2:]
	}
	t.scratch = append(t.scratch, b...)
	return t.padded(t.scratch)
}

// lineEnds skips line ends, and so empty lines, over any number of windows. It returns N at the end
// of the span, or -1 with Err set.
func (t *text) lineEnds(p int) int {
	for {
		for t.class[t.At(p)] == classLineEnd {
			p++
		}
		if p < t.N || t.EOF {
			return min(p, t.N)
		}
		if !t.Fill(t.N) {
			return -1
		}
		p = 0
	}
}
