package gml

import (
	"bytes"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/internal/number"
)

const coordinatesRule = "OGC 02-069 section 4.3.1"

// separators are the separators of a coordinates element.
type separators struct {
	decimal byte // point of a number
	cs      byte // between the ordinates of a tuple
	ts      byte // between tuples; a blank stands for any blank
}

// tuples reads the text of a coordinates element, whose start tag was read, up to its end.
func (s *scanner) tuples() bool {
	sep := separators{'.', ',', ' '}
	for i := range s.X.Attrs() {
		_, local := s.X.AttrName(i)
		to := &sep.decimal
		switch string(local) {
		case "decimal":
		case "cs":
			to = &sep.cs
		case "ts":
			to = &sep.ts
		default:
			continue
		}
		value := s.X.AttrValue(i)
		if len(value) != 1 || bytes.IndexByte([]byte("0123456789+-eE"), value[0]) >= 0 {
			return s.Expect(int(s.X.AttrOffset(i)-s.Base), fieldGeometry, coordinatesRule,
				"one character that is no part of a number")
		}
		*to = value[0]
	}
	if sep.cs == sep.ts || sep.cs == sep.decimal || sep.ts == sep.decimal {
		return s.Wrong(s.X.At, fieldGeometry, coordinatesRule, "two of decimal, cs and ts are the same")
	}
	text, ok := s.flat()
	if !ok {
		return false
	}
	before, shapes := s.sink.Geom.Mark(), s.sink.Shapes
	for p := text.space(0); p < text.n; {
		end, bad := s.tuple(text, p, sep)
		if bad == "" {
			p = end
			continue
		}
		s.sink.Geom.Rewind(before)
		s.sink.Shapes = shapes
		s.Expect(text.at(end), fieldGeometry, coordinatesRule, bad)
		if !s.regroup(text, sep) {
			return false
		}
		break
	}
	return s.closes()
}

// tuple reads the tuple at p of a text, and returns the index of the next one. bad is what was
// expected at end if it is malformed.
func (s *scanner) tuple(text plainText, p int, sep separators) (end int, bad string) {
	for i, spaced := 0, -1; ; i++ {
		v, after := number.Float(text.q, p)
		if after < 0 || after > text.n || after < text.n && !sep.ends(byteAt(text.q, after)) || sep.decimal != '.' {
			if v, after = s.foreign(text, p, sep); after < 0 {
				return p, wantNumber(^after)
			}
		}
		s.add(i, v)
		p = text.space(after)
		if p < text.n && (byteAt(text.q, p) == sep.cs || isBlank(sep.cs) && p > after && byteAt(text.q, p) != sep.ts) {
			if isBlank(sep.cs) {
				continue
			}
			comma := p
			p = text.space(p + 1)
			if spaced < 0 && (comma > after || p > comma+1) {
				spaced = comma
			}
			if i >= 2 && spaced >= 0 {
				return spaced, "a blank and no separator of ordinates, as a tuple has three at most"
			}
			continue
		}
		if i == 0 {
			return p, "a second ordinate of a tuple"
		}
		if p < text.n && byteAt(text.q, p) == sep.ts {
			p = text.space(p + 1)
		}
		return p, ""
	}
}

// ends reports whether a byte may follow a number.
func (sep separators) ends(c byte) bool { return isBlank(c) || c == sep.cs || c == sep.ts }

// foreign reads an ordinate at p that package number does not accept: with a decimal comma or a
// plus. It gives the index after it, or a complement as ordinate does.
func (s *scanner) foreign(t plainText, p int, sep separators) (v float64, end int) {
	last := p
	for last < t.n && !sep.ends(byteAt(t.q, last)) {
		last++
	}
	v, why := s.decimal(unsafe.Slice((*byte)(unsafe.Add(t.q, p)), last-p), sep)
	if why >= 0 {
		return 0, ^why
	}
	return v, last
}

// decimal reads a whole text as an ordinate. why is as in double.
func (s *scanner) decimal(text []byte, sep separators) (v float64, why int) {
	if sep.decimal != '.' {
		if bytes.IndexByte(text, '.') >= 0 {
			return 0, noNumber
		}
		text = bytes.ReplaceAll(text, []byte{sep.decimal}, []byte{'.'})
	}
	return s.double(text)
}
