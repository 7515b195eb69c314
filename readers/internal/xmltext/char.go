package xmltext

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Classes of bytes.
const (
	nameStart = 1 << iota // begins a name; not the colon, which separates its parts
	nameByte              // continues a name
	blank
	high    // beyond ASCII: part of a character of several bytes, or of a single-byte encoding
	special // in the value of an attribute: both quotes, '&', '<', '>', control characters
)

var class = classes()

func classes() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 0x80:
			t[c] = nameStart | nameByte | high
		case c|0x20 >= 'a' && c|0x20 <= 'z', c == '_':
			t[c] = nameStart | nameByte
		case c >= '0' && c <= '9', c == '-', c == '.':
			t[c] = nameByte
		case c == ' ', c == '\t', c == '\n', c == '\r':
			t[c] = blank
		case c < 0x20, c == '"', c == '\'', c == '&', c == '<', c == '>':
			t[c] = special
		}
	}
	return t
}

// nameStarts are the characters beyond ASCII that begin a name; with nameMore they are those that
// continue one: XML 1.0 section 2.3.
var (
	nameStarts = &unicode.RangeTable{
		R16: []unicode.Range16{
			{0xC0, 0xD6, 1},
			{0xD8, 0xF6, 1},
			{0xF8, 0x2FF, 1},
			{0x370, 0x37D, 1},
			{0x37F, 0x1FFF, 1},
			{0x200C, 0x200D, 1},
			{0x2070, 0x218F, 1},
			{0x2C00, 0x2FEF, 1},
			{0x3001, 0xD7FF, 1},
			{0xF900, 0xFDCF, 1},
			{0xFDF0, 0xFFFD, 1},
		},
		R32: []unicode.Range32{{0x10000, 0xEFFFF, 1}},
	}
	nameMore = &unicode.RangeTable{R16: []unicode.Range16{{0xB7, 0xB7, 1}, {0x300, 0x36F, 1}, {0x203F, 0x2040, 1}}}
)

// properName checks the characters beyond ASCII of the name from p to end, after which another byte
// follows. It returns end.
func (x *Scanner) properName(p, end int) int {
	const rule = "XML 1.0 section 2.3"
	first := true
	for p < end {
		r, size := rune(x.at(p)), 1
		if r >= 0x80 {
			if x.Encoding.single() {
				r = x.Encoding.char(byte(r))
			} else if r, size = utf8.DecodeRune(x.bytes(p, end)); r == utf8.RuneError && size == 1 {
				x.fail(p, charRule, "UTF-8")
				return x.seen(end)
			}
			if !unicode.Is(nameStarts, r) && (first || !unicode.Is(nameMore, r)) {
				x.wrong(p, rule, "a character that a name may not have there")
				return x.seen(end)
			}
		}
		first = r == ':'
		p += size
	}
	return end
}

// valid checks the bytes beyond ASCII of a text from p to end, after which another byte follows,
// and reports whether they must be decoded.
func (x *Scanner) valid(p, end int) (single, ok bool) {
	if x.Encoding.single() {
		ok = x.undefined(p, end) < 0
		if !ok {
			x.seen(end)
		}
		return true, ok
	}
	if bad := x.badText(p, end); bad >= 0 {
		x.faultText(bad)
		x.seen(end)
		return false, false
	}
	return false, true
}

// badText returns the index of the first byte from p on that is not UTF-8 or begins a character
// that XML does not allow, or -1. It ignores control characters below space.
func (x *Scanner) badText(p, end int) int {
	text := x.bytes(p, end)
	if utf8.Valid(text) {
		for from := 0; ; {
			k := bytes.Index(text[from:], []byte("\xEF\xBF"))
			if k < 0 {
				return -1
			}
			if k += from; text[k+2] >= 0xBE { // U+FFFE, U+FFFF
				return p + k
			}
			from = k + 3
		}
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size <= 1 || r == 0xFFFE || r == 0xFFFF {
			return p + i
		}
		i += size
	}
	return -1
}

// faultText sets the fault that badText found at p.
func (x *Scanner) faultText(p int) {
	if x.at(p) == 0xEF && x.at(p+1) == 0xBF {
		x.wrong(p, charRule, "a character that XML does not have")
		return
	}
	x.fail(p, charRule, "UTF-8, which the file is unless its first line says otherwise")
}

// earlier keeps a fault unless the text from start on has an earlier one: malformed characters.
func (x *Scanner) earlier(start int) {
	if x.Cut() { // the first fault is known once all of the text is in the window
		return
	}
	last := max(x.Fault.Pos, x.Fault.seen)
	end := min(x.Fault.Pos, x.N)
	if x.Encoding.single() {
		x.undefined(start, end)
	} else if bad := x.badText(start, end); bad >= 0 && (end < x.N || utf8.FullRune(x.bytes(bad, end))) {
		// otherwise the file ends inside of a character
		x.faultText(bad)
	}
	x.seen(last)
}
