package xmltext

import (
	"unicode/utf8"
)

const referenceRule = "XML 1.0 section 4.1"

// predefined are the entities of section 4.6, without "&".
var predefined = [...]struct {
	name string
	char byte
}{{"amp;", '&'}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}}

// mostReference bounds what is looked at of a reference: a name, or digits with any number of zeros before them.
const mostReference = 64

// reference reads the reference at p, and gives the index behind it.
func (x *Scanner) reference(p int) int {
	if x.at(p+1) == '#' {
		_, end := x.character(p)
		return end
	}
	for _, e := range predefined {
		if x.has(p+1, e.name) {
			return p + 1 + len(e.name)
		}
	}
	end := p + 1
	for class[x.at(end)]&nameByte != 0 && end-p < mostReference {
		end++
	}
	switch {
	case end >= x.N:
		return x.fail(x.N, referenceRule, `the ";" of a reference`)
	case x.at(end) != ';' || end == p+1:
		x.wrong(p, referenceRule, `"&" in text, where it is written "&amp;"`)
		return x.seen(end)
	}
	x.wrong(p, referenceRule, "a reference to an entity that XML does not predefine")
	return x.seen(end)
}

// character reads the character reference at p, and gives the index behind it.
func (x *Scanner) character(p int) (r rune, end int) {
	base, digit := rune(10), p+2
	if x.at(digit) == 'x' {
		base = 16
		digit++
	}
	end = digit
	for ; ; end++ {
		d := hexDigit(x.at(end))
		if d >= base {
			break
		}
		if r = r*base + d; r > utf8.MaxRune {
			r = utf8.MaxRune + 1
		}
	}
	switch {
	case x.at(end) != ';' || end == digit:
		if end >= x.N {
			end = x.N
		}
		return 0, x.fail(end, referenceRule, `a digit or ";" of a character reference`)
	case end >= x.N:
		return 0, x.fail(x.N, referenceRule, `the ";" of a character reference`)
	case !isChar(r):
		x.wrong(p, referenceRule, "a reference to a character that XML does not have")
		return 0, x.seen(end)
	}
	return r, end + 1
}

func hexDigit(c byte) rune {
	switch {
	case c-'0' <= 9:
		return rune(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return 16
}

// isChar reports a character of XML 1.0 section 2.2.
func isChar(r rune) bool {
	return r >= 0x20 && r < 0xD800 || r >= 0xE000 && r < 0xFFFE || r >= 0x10000 && r <= utf8.MaxRune || r == '\t' || r == '\n' || r == '\r'
}

// quoted reads the value of an attribute from p on up to its quote, whose index it gives, and says whether it is to be decoded.
func (x *Scanner) quoted(p int, quote byte) (end int, coded bool) {
	start := p
	all := uint8(0)
	for {
		c := x.at(p)
		k := class[c]
		if k&(special|blank) == 0 {
			all |= k
			p++
			continue
		}
		switch {
		case p >= x.N:
			x.fail(x.N, tagRule, "the quote behind the value of an attribute")
		case c == quote:
			if all&high != 0 {
				single, ok := x.valid(start, p)
				return okOr(p, ok), coded || single
			}
			return p, coded
		case k&blank != 0:
			coded = coded || c != ' '
			p++
			continue
		case c == '"' || c == '\'' || c == '>':
			p++
			continue
		case c == '&':
			coded = true
			if next := x.reference(p); next >= 0 {
				p = next
				continue
			}
		case c == '<':
			x.wrong(p, tagRule, `"<" in the value of an attribute, where it is written "&lt;"`)
		default:
			x.badChar(p, "")
		}
		x.earlier(start)
		return -1, false
	}
}

// decode appends what valid character data from p to end means: references become characters, line ends line feeds (section 2.11), and the value of an
// attribute has blanks for all white space (section 3.3.3).
func (x *Scanner) decode(dst []byte, p, end int, attribute bool) []byte {
	from := p
	for p < end {
		c := x.at(p)
		if c != '&' && c != '\r' && !(attribute && (c == '\n' || c == '\t')) {
			p++
			continue
		}
		dst = x.utf8(dst, x.bytes(from, p))
		switch {
		case c == '&':
			dst, p = x.resolve(dst, p)
		case c == '\r' && x.at(p+1) == '\n':
			p++
			if attribute {
				dst, p = append(dst, ' '), p+1
			}
		case attribute:
			dst, p = append(dst, ' '), p+1
		default:
			dst, p = append(dst, '\n'), p+1
		}
		from = p
	}
	return x.utf8(dst, x.bytes(from, end))
}

// resolve appends the character of the valid reference at p, and gives the index behind it.
func (x *Scanner) resolve(dst []byte, p int) ([]byte, int) {
	if x.at(p+1) == '#' {
		r, end := x.character(p)
		return utf8.AppendRune(dst, r), end
	}
	for _, e := range predefined {
		if x.has(p+1, e.name) {
			return append(dst, e.char), p + 1 + len(e.name)
		}
	}
	panic("xmltext: a reference that was accepted is none")
}

// lines appends the content of a CDATA section with line feeds for line ends.
func (x *Scanner) lines(dst []byte, p, end int) []byte {
	from := p
	for ; p < end; p++ {
		if x.at(p) != '\r' {
			continue
		}
		dst = x.utf8(dst, x.bytes(from, p))
		if p+1 >= end || x.at(p+1) != '\n' {
			dst = append(dst, '\n')
		}
		from = p + 1
	}
	return x.utf8(dst, x.bytes(from, end))
}
