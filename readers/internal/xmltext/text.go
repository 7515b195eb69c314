package xmltext

import (
	"math/bits"
	"unsafe"
)

const (
	charRule = "XML 1.0 section 2.2"
	textRule = "XML 1.0 section 2.4"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// Text returns the character data between the start tag that was read and the next tag, without
// comments and processing instructions, and passes it. It is valid until the next call, at most
// until that of Window. It returns false where the data is malformed, or the window ends in it.
func (x *Scanner) Text() ([]byte, bool) {
	if x.empty {
		return nil, true
	}
	end, coded := x.chars(x.P)
	if end < 0 {
		return nil, false
	}
	if c := x.at(end + 1); c == '!' || c == '?' {
		return x.pieces(end, coded)
	}
	start := x.P
	if end+1 >= x.N { // "<" alone: what follows may be more text
		x.fail(x.N, tagRule, "a tag")
		return nil, false
	}
	x.P = end
	if !coded {
		return x.bytes(start, end), true
	}
	x.decoded = x.decode(x.decoded[:0], start, end, false)
	return x.decoded, true
}

// TextAt returns the character data from index p up to the next '<', and the index of that, without
// passing them. It returns -1 if the data is malformed, or the window ends in it. The text is valid
// as one of Text is.
func (x *Scanner) TextAt(p int) (text []byte, end int) {
	end, coded := x.chars(p)
	if end < 0 || !coded {
		return x.bytes(p, max(p, end)), end
	}
	x.decoded = x.decode(x.decoded[:0], p, end, false)
	return x.decoded, end
}

// TextEnd is TextAt that only returns the index.
func (x *Scanner) TextEnd(p int) int {
	end, _ := x.chars(p)
	return end
}

// Value returns the text of the element whose Start was read, and passes its end. If elements stand
// in it, such as HTML in a description, it is its content as written, and markup is true. It gives
// false where the content is malformed, or the window ends in it: the element is then read again
// from its start.
func (x *Scanner) Value() (text []byte, markup, ok bool) {
	start, depth := x.P, x.Depth()
	if text, ok = x.Text(); !ok {
		return nil, false, false
	}
	switch x.Next() {
	case End:
		return text, false, true
	case Start:
	default:
		return nil, false, false
	}
	if !x.Pass(depth - 1) {
		return nil, false, false
	}
	text = x.bytes(start, x.At)
	if x.Encoding.single() {
		x.decoded = x.utf8(x.decoded[:0], text)
		text = x.decoded
	}
	return text, true, true
}

// chars reads character data from p up to the next '<', whose index it gives, and says whether
// something in it is to be decoded.
func (x *Scanner) chars(p int) (end int, coded bool) {
	start := p
	var beyond uint64 // bytes beyond ASCII, all words together
	for {
		w := x.word(p)
		angle, ampersand := w&^(ones*2)^ones*'<', w^ones*'&' // '>' is '<' with bit 1 set
		// The lowest set bit is right: a subtraction only borrows upwards.
		stop := ((angle-ones)&^angle | (ampersand-ones)&^ampersand | (w-ones*0x20)&^w) & highs
		if stop == 0 {
			beyond |= w
			p += 8
			continue
		}
		k := uint(bits.TrailingZeros64(stop)) &^ 7
		beyond |= w & (1<<k - 1)
		p += int(k >> 3)
		switch c := x.at(p); {
		case c == '<' && p < x.N:
			if beyond&highs != 0 {
				single, ok := x.valid(start, p)
				return okOr(p, ok), coded || single
			}
			return p, coded
		case c == '&' && p < x.N:
			coded = true
			if next := x.reference(p); next >= 0 {
				p = next
				continue
			}
		case c == '>' && p < x.N:
			if p-start < 2 || x.at(p-1) != ']' || x.at(p-2) != ']' {
				p++
				continue
			}
			x.wrong(p-2, textRule, `"]]>" in text, where ">" is written "&gt;"`)
			x.seen(p)
		case class[c]&blank != 0:
			coded = coded || c == '\r'
			p++
			continue
		default:
			x.badChar(p, "the end tag")
		}
		x.earlier(start)
		return -1, false
	}
}

func okOr(p int, ok bool) int {
	if !ok {
		return -1
	}
	return p
}

// badChar is the fault of a byte at p that is not a character: a control character, or the end of
// the window where want should be.
func (x *Scanner) badChar(p int, want string) {
	if p >= x.N {
		x.fail(x.N, "", want)
		return
	}
	x.wrong(p, charRule, "a control character, which XML does not have")
}

// run reads from p up to the next byte c, whose index it gives: '-', ']' or '?', which end what is
// no text. plain says that there is nothing to decode.
func (x *Scanner) run(p int, c byte, want string) (end int, plain bool) {
	start := p
	plain = true
	var beyond uint64
	for {
		w := x.word(p)
		hit := w ^ ones*uint64(c)
		stop := ((hit-ones)&^hit | (w-ones*0x20)&^w) & highs
		if stop == 0 {
			beyond |= w
			p += 8
			continue
		}
		k := uint(bits.TrailingZeros64(stop)) &^ 7
		beyond |= w & (1<<k - 1)
		p += int(k >> 3)
		switch b := x.at(p); {
		case b == c && p < x.N:
			if beyond&highs != 0 {
				single, ok := x.valid(start, p)
				return okOr(p, ok), plain && !single
			}
			return p, plain
		case class[b]&blank != 0:
			plain = plain && b != '\r'
			p++
			continue
		}
		x.badChar(p, want)
		x.earlier(start)
		return -1, false
	}
}

// pieces is Text where comments, CDATA sections or processing instructions are between: end is
// the first '<' after P.
func (x *Scanner) pieces(end int, coded bool) ([]byte, bool) {
	start := x.P
	from, to := start, end // the only piece so far, if it is nothing but bytes
	single := !coded
	x.decoded = x.decoded[:0]
	if coded {
		x.decoded = x.decode(x.decoded, start, end, false)
	}
	add := func(a, b int, plain, section bool) {
		switch {
		case a == b:
		case single && from == to && plain:
			from, to = a, b
		default:
			if single {
				single = false
				x.decoded = append(x.decoded, x.bytes(from, to)...)
			}
			if section {
				x.decoded = x.lines(x.decoded, a, b)
			} else {
				x.decoded = x.decode(x.decoded, a, b, false)
			}
		}
	}
	for p := end; ; {
		c := x.at(p + 1)
		switch {
		case p+1 >= x.N:
			x.fail(x.N, tagRule, "a tag")
			return nil, false
		case c == '!' && x.at(p+2) == '[':
			last, plain := x.section(p)
			if last < 0 {
				return nil, false
			}
			add(p+len(sectionStart), last, plain, true)
			p = last + len("]]>")
		case c == '!' || c == '?':
			if p = x.aside(p); p < 0 {
				return nil, false
			}
		default:
			x.P = p
			if single {
				return x.bytes(from, to), true
			}
			return x.decoded, true
		}
		next, coded := x.chars(p)
		if next < 0 {
			return nil, false
		}
		add(p, next, !coded, false)
		p = next
	}
}

// InWindow reports whether a text that Text, Value or an attribute gave is part of the window, and
// thus holds until the next one.
func (x *Scanner) InWindow(text []byte) bool {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(text))) - uintptr(x.Q)
	return at < uintptr(x.N)
}
