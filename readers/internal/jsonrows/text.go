package jsonrows

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// This file implements RFC 8259: blanks, strings, literals, and values of which only the grammar is
// checked. Every function takes an index and returns the index after what it read, or -1 with the
// fault set.

const blanks = 1<<' ' | 1<<'\t' | 1<<'\n' | 1<<'\r'

// IsBlank reports whether a byte is a blank of JSON.
func IsBlank(c byte) bool { return c <= ' ' && 1<<c&uint64(blanks) != 0 }

// Space skips blanks.
func (s *Scanner) Space(p int) int {
	for IsBlank(s.At(p)) {
		p++
	}
	return p
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// Str reads the rest of a string whose opening quote is before p. It returns the index of the
// closing quote, and whether there is an escape.
func (s *Scanner) Str(p int) (end int, escaped bool) {
	start := p
	var high uint64 // bytes beyond ASCII, all words together
	for {
		w := s.Word(p)
		quote, slash := w^ones*'"', w^ones*'\\'
		// The lowest set bit is right: a subtraction only borrows upwards.
		stop := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & highs
		if stop == 0 {
			high |= w
			p += 8
			continue
		}
		k := uint(bits.TrailingZeros64(stop)) &^ 7
		high |= w & (1<<k - 1)
		p += int(k >> 3)
		c := s.At(p)
		if c == '\\' {
			escaped = true
			if p = s.escape(p); p < 0 {
				return s.badText(start, -1), false
			}
			continue
		}
		if high&highs != 0 && !utf8.Valid(s.Text(start, min(p, s.N))) {
			return s.badText(start, p), false
		}
		if c == '"' {
			return p, escaped
		}
		if p >= s.N {
			return s.Fail(s.N, "the closing quote of a string"), false
		}
		return s.FailRule(p, "RFC 8259 section 7", "a control character is escaped in a string"), false
	}
}

// escape reads an escape sequence.
func (s *Scanner) escape(p int) int {
	switch s.At(p + 1) {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return p + 2
	case 'u':
		if _, ok := hex4(uint32(s.Word(p + 2))); ok {
			return p + 6
		}
		p += 2
		for number.HexDigits[s.At(p)] < 16 {
			p++
		}
		return s.FailRule(p, "RFC 8259 section 7", "four hexadecimal digits")
	}
	return s.FailRule(p+1, "RFC 8259 section 7", `one of "\/bfnrtu after a backslash`)
}

// badText sets the fault at the first byte of a string that is not UTF-8, if there is one before p
// or before a fault that is set already.
func (s *Scanner) badText(start, p int) int {
	if p < 0 {
		p = s.Fault.Pos
	}
	for b := s.Text(start, min(p, s.N)); len(b) > 0; {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size <= 1 {
			at := min(p, s.N) - len(b)
			if p >= s.N && !utf8.FullRune(b) {
				at = s.N
			}
			return s.FailRule(at, "RFC 8259 section 8.1", "UTF-8")
		}
		b = b[size:]
	}
	return -1
}

// shortRun is the longest run of bytes without escapes that is copied byte by byte, which is faster
// for short runs.
const shortRun = 24

// Unescape appends the decoded text of a valid string with escapes, and counts the lone surrogates
// that became U+FFFD.
func Unescape(dst, src []byte) (out []byte, replaced int64) {
	for i := 0; i < len(src); i++ {
		for end := min(i+shortRun, len(src)); i < end && src[i] != '\\'; i++ {
			dst = append(dst, src[i])
		}
		if i < len(src) && src[i] != '\\' {
			run := bytes.IndexByte(src[i:], '\\')
			if run < 0 {
				run = len(src) - i
			}
			dst = append(dst, src[i:i+run]...)
			i += run
		}
		if i == len(src) {
			break
		}
		i++
		switch c := src[i]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, _ := hex4(binary.LittleEndian.Uint32(src[i+1:]))
			i += 4
			if utf16.IsSurrogate(r) {
				if next := src[i+1:]; len(next) >= 6 && next[0] == '\\' && next[1] == 'u' {
					low, _ := hex4(binary.LittleEndian.Uint32(next[2:]))
					if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
						dst = utf8.AppendRune(dst, pair)
						i += 6
						continue
					}
				}
				r = utf8.RuneError
				replaced++
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
	return dst, replaced
}

// hex4 returns the value of four hexadecimal digits, the first one lowest, without branches.
func hex4(w uint32) (r rune, ok bool) {
	t := &number.HexDigits
	a, b, c, d := t[byte(w)], t[byte(w>>8)], t[byte(w>>16)], t[byte(w>>24)]
	return rune(a)<<12 | rune(b)<<8 | rune(c)<<4 | rune(d), a|b|c|d < 16
}

// Literal reads the rest of true, false or null.
func (s *Scanner) Literal(p int, lit string) int {
	for i := range len(lit) {
		if s.At(p+i) != lit[i] {
			return s.Fail(p+i, lit)
		}
	}
	return p + len(lit)
}

// true and false as a Word has them.
const (
	trueWord  = 't' | 'r'<<8 | 'u'<<16 | 'e'<<24
	trueMask  = 1<<32 - 1
	falseWord = 'f' | 'a'<<8 | 'l'<<16 | 's'<<24 | 'e'<<32
	falseMask = 1<<40 - 1
)

// Boolean reads the rest of true or false, and returns which it is.
func (s *Scanner) Boolean(p int) (v int64, end int) {
	switch w := s.Word(p); {
	case w&trueMask == trueWord:
		return 1, p + len("true")
	case w&falseMask == falseWord:
		return 0, p + len("false")
	case s.At(p) == 't':
		return 0, s.Literal(p, "true")
	}
	return 0, s.Literal(p, "false")
}

// Number checks the grammar of a number.
func (s *Scanner) Number(p int) int {
	end := number.Skip(s.Q, p)
	if end < 0 {
		return s.Fail(^end, "a value")
	}
	return end
}

// AnyDepth is a value of open for skip that allows any nesting.
const AnyDepth = -readers.DefaultMaxFeatureBytes

// Skip reads any value; open is the number of brackets around it. Its time is linear, and its
// memory is one byte per open bracket.
func (s *Scanner) Skip(p, open int) int {
	stack := s.stack[:0]
	for {
		switch c := s.At(p); c {
		case '{', '[':
			if open+len(stack) >= s.Limits.MaxDepth {
				return s.FailDepth(p)
			}
			stack = append(stack, c+2) // the bracket that closes it: ']' is '[' + 2, '}' is '{' + 2
			p = s.Space(p + 1)
			if s.At(p) != c+2 {
				if c == '{' {
					p = s.keyOnly(p)
				}
				if p < 0 {
					return -1
				}
				continue
			}
			p++
			stack = stack[:len(stack)-1]
		case '"':
			if p, _ = s.Str(p + 1); p < 0 {
				return -1
			}
			p++
		case 't':
			p = s.Literal(p, "true")
		case 'f':
			p = s.Literal(p, "false")
		case 'n':
			p = s.Literal(p, "null")
		default:
			p = s.Number(p)
		}
		if p < 0 {
			return -1
		}
		for len(stack) > 0 {
			p = s.Space(p)
			if s.At(p) != stack[len(stack)-1] {
				break
			}
			p++
			stack = stack[:len(stack)-1]
		}
		if len(stack) == 0 {
			s.stack = stack
			return p
		}
		if s.At(p) != ',' {
			return s.Fail(p, `"," or "`+string(stack[len(stack)-1])+`"`)
		}
		p = s.Space(p + 1)
		if stack[len(stack)-1] == '}' {
			if p = s.keyOnly(p); p < 0 {
				return -1
			}
		}
	}
}

// keyOnly reads a key and its colon, and the blanks around it.
func (s *Scanner) keyOnly(p int) int {
	if s.At(p) != '"' {
		return s.Fail(p, "a key in quotes")
	}
	p, _ = s.Str(p + 1)
	if p < 0 {
		return -1
	}
	return s.Colon(p + 1)
}

// Colon reads a colon, and the blanks around it.
func (s *Scanner) Colon(p int) int {
	p = s.Space(p)
	if s.At(p) != ':' {
		return s.Fail(p, `":" after a key`)
	}
	if p = s.Space(p + 1); p >= s.N {
		return s.Fail(s.N, "a value") // and blanks that the window cuts must not become a prediction
	}
	return p
}

// Key reads a key, its colon and the blanks around them. The name is decoded; it is valid until the
// next key.
func (s *Scanner) Key(p int) (name []byte, end int) {
	if s.At(p) != '"' {
		return nil, s.Fail(p, "a key in quotes")
	}
	e, escaped := s.Str(p + 1)
	if e < 0 {
		return nil, -1
	}
	name = s.Text(p+1, e)
	if escaped {
		s.name, _ = Unescape(s.name[:0], name)
		name = s.name
	}
	return name, s.Colon(e + 1)
}

// compact appends a valid value without the blanks between its tokens.
func compact(dst, src []byte) []byte {
	for i := 0; i < len(src); i++ {
		c := src[i]
		if IsBlank(c) {
			continue
		}
		if c != '"' {
			dst = append(dst, c)
			continue
		}
		start := i
		for i++; src[i] != '"'; i++ {
			if src[i] == '\\' {
				i++
			}
		}
		dst = append(dst, src[start:i+1]...)
	}
	return dst
}
