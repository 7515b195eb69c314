package jsonrows

import (
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// This file finds the ends of values whose tokens are not JSON, if their brackets, quotes, commas
// and colons are.
//
//	NaN  -Infinity  01  True        any run of bytes other than blanks, quotes, brackets, commas and colons
//	"a\x"  "bytes that are not UTF-8"  "control characters"    up to the next quote without a backslash

// LooseSkip skips any value, and sets loosened to the first token that is not JSON, or -1. Under
// on_error: repair a comma may precede a closing bracket. Nesting is not limited here: the reader
// of the value limits it.
func (s *Scanner) LooseSkip(p int) int {
	s.Loosened = -1
	stack := s.stack[:0]
	defer func() { s.stack = stack }()
	for {
		if c := s.At(p); c == '{' || c == '[' {
			stack = append(stack, c+2)
			p = s.Space(p + 1)
			switch {
			case s.At(p) != c+2 && c == '[':
				continue
			case s.At(p) != c+2:
				if p = s.looseKey(p); p < 0 {
					return -1
				}
				continue
			}
			p++
			stack = stack[:len(stack)-1]
		} else if p = s.looseToken(p); p < 0 {
			return -1
		}
		for len(stack) > 0 {
			if p = s.trailingComma(p, stack[len(stack)-1]); s.At(p) != stack[len(stack)-1] {
				break
			}
			p++
			stack = stack[:len(stack)-1]
		}
		if len(stack) == 0 {
			return p
		}
		top := stack[len(stack)-1]
		if s.At(p) != ',' {
			return s.Fail(p, `"," or "`+string(top)+`"`)
		}
		p = s.Space(p + 1)
		if top == '}' {
			if p = s.looseKey(p); p < 0 {
				return -1
			}
		}
	}
}

// Loose skips the value at p, and reports whether it is JSON; if not, the fault has the place.
func (s *Scanner) Loose(p int) (end int, sound bool) {
	end = s.LooseSkip(p)
	at := s.Loosened
	if at < 0 {
		return end, true
	}
	if s.Skip(p, AnyDepth) >= 0 { // a number or a literal that continues
		s.Fail(at, "a value")
	}
	return end, false
}

// trailingComma skips blanks and, under on_error: repair, a comma before the bracket.
func (s *Scanner) trailingComma(p int, bracket byte) int {
	p = s.Space(p)
	if s.Repairs && s.At(p) == ',' {
		if q := s.Space(p + 1); s.At(q) == bracket {
			s.loosen(p)
			return q
		}
	}
	return p
}

// loosen notes a token that is not JSON.
func (s *Scanner) loosen(p int) {
	if s.Loosened < 0 {
		s.Loosened = p
	}
}

// looseKey skips a key and its colon, and the blanks around it.
func (s *Scanner) looseKey(p int) int {
	if s.At(p) != '"' {
		return s.Fail(p, "a key in quotes")
	}
	if p = s.looseString(p); p < 0 {
		return -1
	}
	return s.Colon(p)
}

// looseToken skips a string, a number, a literal, or a token in the place of one.
func (s *Scanner) looseToken(p int) int {
	if s.At(p) == '"' {
		return s.looseString(p)
	}
	end := p
	for !isDelimiter(s.At(end)) {
		end++
	}
	switch text := string(s.Text(p, min(end, s.N))); {
	case end >= s.N && !(s.Inside && s.EOF): // a span may end with the value of a row
		return s.Fail(s.N, `"," or a closing bracket`)
	case end == p:
		return s.Fail(p, "a value")
	case text != "true" && text != "false" && text != "null" && number.Skip(s.Q, p) != end:
		s.loosen(p)
	}
	return end
}

// isDelimiter reports whether a byte ends a token other than a string, as the zeros after the
// window do.
func isDelimiter(c byte) bool {
	switch c {
	case '{', '}', '[', ']', ',', ':', '"', 0:
		return true
	}
	return IsBlank(c)
}

// looseString skips a string at p. In a sequence it ends on its line.
func (s *Scanner) looseString(p int) int {
	if end, _ := s.Str(p + 1); end >= 0 {
		return end + 1
	}
	start := p
	for p++; p < s.N; p++ {
		switch c := s.At(p); {
		case c == '"':
			s.loosen(start)
			return p + 1
		case c == '\\':
			p++
		case c == '\n' && s.InSequence:
			return s.Fail(p, "the closing quote of a string")
		}
	}
	return s.Fail(s.N, "the closing quote of a string")
}
