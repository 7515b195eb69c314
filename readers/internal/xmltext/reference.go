package xmltext

import (
	"bytes"
	"math/bits"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/readers/internal/number"
)

const referenceRule = "XML 1.0 section 4.1"

// predefined returns the character of the entity of section 4.6 that is at p, and how long it
// is with "&" and ";"; 0 if none does.
func (x *Scanner) predefined(p int) (char byte, size int) {
	const three, four, five = 1<<24 - 1, 1<<32 - 1, 1<<40 - 1
	w := x.word(p + 1)
	switch {
	case w&three == 'l'|'t'<<8|';'<<16:
		char, size = '<', len("&lt;")
	case w&three == 'g'|'t'<<8|';'<<16:
		char, size = '>', len("&gt;")
	case w&four == 'a'|'m'<<8|'p'<<16|';'<<24:
		char, size = '&', len("&amp;")
	case w&five == 'q'|'u'<<8|'o'<<16|'t'<<24|';'<<32:
		char, size = '"', len("&quot;")
	case w&five == 'a'|'p'<<8|'o'<<16|'s'<<24|';'<<32:
		char, size = '\'', len("&apos;")
	}
	if p+size > x.N { // the window cuts it
		return 0, 0
	}
	return char, size
}

// maxReference bounds the bytes of a reference that are examined: a name, or digits with any number
// of leading zeros.
const maxReference = 64

// reference reads the reference at p, and returns the index after it.
func (x *Scanner) reference(p int) int {
	if _, size := x.predefined(p); size > 0 {
		return p + size
	}
	if x.at(p+1) == '#' {
		_, end := x.character(p)
		return end
	}
	end := p + 1
	for class[x.at(end)]&nameByte != 0 && end-p < maxReference {
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

// character reads the character reference at p, and returns the index after it.
func (x *Scanner) character(p int) (r rune, end int) {
	base, digit := rune(10), p+2
	if x.at(digit) == 'x' {
		base = 16
		digit++
	}
	end = digit
	for ; ; end++ {
		d := rune(number.HexDigits[x.at(end)])
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

// isChar reports whether XML 1.0 section 2.2 allows a character.
func isChar(r rune) bool {
	return r >= 0x20 && r < 0xD800 || r >= 0xE000 && r < 0xFFFE || r >= 0x10000 && r <= utf8.MaxRune ||
		r == '\t' || r == '\n' || r == '\r'
}

// quoted reads the value of an attribute from p up to its quote. It returns the quote's index, and
// whether the value must be decoded.
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
			x.fail(x.N, tagRule, "the quote after the value of an attribute")
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

// decode appends the decoded character data from p to end, which is valid. References become
// characters, line ends become line feeds (section 2.11), and white space in an attribute's value
// becomes blanks (section 3.3.3).
func (x *Scanner) decode(dst []byte, p, end int, attribute bool) []byte {
	from := p
	for {
		p = x.itself(p, end, attribute)
		if p == end {
			return x.utf8(dst, x.bytes(from, end))
		}
		c := x.at(p)
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
}

// itself skips bytes that stand for themselves, up to end. In each word, the lowest set high bit of
// stop marks the first byte that does not:
//
//	word    a b & c \r d e f
//	stop    . . 1 . 1  . . .
func (x *Scanner) itself(p, end int, attribute bool) int {
	for p < end {
		w := x.word(p)
		ampersand, feed := w^ones*'&', w^ones*'\r'
		stop := (ampersand-ones)&^ampersand | (feed-ones)&^feed
		if attribute {
			line, tab := w^ones*'\n', w^ones*'\t'
			stop |= (line-ones)&^line | (tab-ones)&^tab
		}
		if stop &= highs; stop != 0 {
			return min(p+bits.TrailingZeros64(stop)>>3, end)
		}
		p += 8
	}
	return end
}

// resolve appends the character of the valid reference at p, and returns the index after it.
func (x *Scanner) resolve(dst []byte, p int) ([]byte, int) {
	if char, size := x.predefined(p); size > 0 {
		return append(dst, char), p + size
	}
	if x.at(p+1) == '#' {
		r, end := x.character(p)
		return utf8.AppendRune(dst, r), end
	}
	panic("xmltext: a reference that was accepted is none")
}

// lines appends the content of a CDATA section with line feeds for line ends.
func (x *Scanner) lines(dst []byte, p, end int) []byte {
	for b := x.bytes(p, end); ; {
		line, rest, cut := bytes.Cut(b, carriageReturn)
		dst = x.utf8(dst, line)
		if !cut {
			return dst
		}
		if len(rest) == 0 || rest[0] != '\n' {
			dst = append(dst, '\n')
		}
		b = rest
	}
}

var carriageReturn = []byte{'\r'}
