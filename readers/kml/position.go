package kml

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

const (
	anyTuples = 1<<63 - 1
	tupleRule = "KML 2.3, coordinates"
)

const blanks = 1<<' ' | 1<<'\t' | 1<<'\n' | 1<<'\r'

func isBlank(c byte) bool { return c <= ' ' && 1<<c&uint64(blanks) != 0 }

func byteAt(q unsafe.Pointer, p int) byte { return *(*byte)(unsafe.Add(q, p)) }

// space skips blanks.
func space(q unsafe.Pointer, p int) int {
	for isBlank(byteAt(q, p)) {
		p++
	}
	return p
}

// coordinates reads the tuples of the element whose start tag was read, at most n, into the
// builder, up to its end. They are read in place, or as decoded text if there are comments, CDATA
// sections or references among them.
func (s *scanner) coordinates(most int) bool {
	if !s.repairs {
		return s.tidyCoordinates(most)
	}
	tag, geom := s.X.TagMark(), s.sink.Geom.Mark()
	return s.tidyCoordinates(most) || s.absorbs() && s.looseCoordinates(tag, geom, most)
}

func (s *scanner) tidyCoordinates(most int) bool {
	start := s.X.P
	mark := s.sink.Geom.Mark()
	p := s.tuples(s.Q, start, most)
	if p >= 0 && p < s.N && s.At(p) == '<' && s.At(p+1) == '/' {
		s.X.P = p
		return s.X.Next() == xmltext.End
	}
	if p < 0 && (s.X.Cut() || !s.interrupted(s.X.Fault.Pos)) {
		return false
	}
	s.Field = ""
	text, markup, ok := s.X.Value()
	if !ok {
		return false
	}
	if markup {
		return s.Wrong(start, fieldGeometry, tupleRule, "elements in coordinates")
	}
	s.sink.Geom.Rewind(mark)
	s.text = append(append(s.text[:0], text...), make([]byte, number.Padding)...)
	q := unsafe.Pointer(unsafe.SliceData(s.text))
	if p = s.tuples(q, 0, most); p < 0 || p < len(text) {
		return s.Wrong(start, fieldGeometry, tupleRule,
			"no coordinates, once comments, references and CDATA sections are taken for what they mean")
	}
	return true
}

// interrupted reports whether text that must be decoded interrupts the tuples at p; they may
// continue after it.
func (s *scanner) interrupted(p int) bool {
	c, next := s.At(p), s.At(p+1)
	return c == '&' || c == '<' && (next == '!' || next == '?' || p+1 >= s.N)
}

// tuples reads tuples of the text at q from p on, n at most, and returns the index of what is
// none: "<", "&", or the zero after the text.
func (s *scanner) tuples(q unsafe.Pointer, p, most int) int {
	for n := 0; ; n++ {
		p = space(q, p)
		c := byteAt(q, p)
		if c == '<' || c == 0 || c == '&' {
			return p
		}
		if n == most {
			return s.failTuple(p, "the end of the coordinates of a Point, which is one tuple")
		}
		end := s.plain(q, p)
		if end < 0 {
			if end = s.tuple(q, p); end < 0 {
				return -1
			}
		}
		p = end
	}
}

// plain reads a tuple of two or three numbers without a blank between, as nearly all are, and gives
// the index of what follows the blanks after it; or -1 where it is another.
func (s *scanner) plain(q unsafe.Pointer, p int) int {
	x, end := number.Float(q, p)
	if end < 0 || byteAt(q, end) != ',' {
		return -1
	}
	y, end := number.Float(q, end+1)
	if end < 0 {
		return -1
	}
	g := &s.sink.Geom
	if byteAt(q, end) != ',' {
		last := space(q, end)
		if c := byteAt(q, last); last == end && c != '<' || c == ',' {
			return -1
		}
		g.X, g.Y = append(g.X, x), append(g.Y, y)
		return last
	}
	z, end := number.Float(q, end+1)
	if end < 0 {
		return -1
	}
	last := space(q, end)
	if c := byteAt(q, last); last == end && c != '<' || c == ',' {
		return -1
	}
	g.X, g.Y = append(g.X, x), append(g.Y, y)
	g.AddZ(z)
	return last
}

// tuple reads any tuple: two or three ordinates, with blanks around the commas.
func (s *scanner) tuple(q unsafe.Pointer, p int) int {
	g := &s.sink.Geom
	for i := 0; ; i++ {
		v, end := s.ordinate(q, p)
		if end < 0 {
			return -1
		}
		switch i {
		case 0:
			g.X = append(g.X, v)
		case 1:
			g.Y = append(g.Y, v)
		default:
			g.AddZ(v)
		}
		p = space(q, end)
		c := byteAt(q, p)
		switch {
		case c == ',' && i < 2:
			p = space(q, p+1)
			continue
		case c == ',':
			return s.failTuple(p, "a blank: a tuple has two or three numbers")
		case i == 0:
			return s.failTuple(p, `"," and a second number of a tuple`)
		case p == end && c != '<' && c != 0 && c != '&':
			return s.failTuple(p, `"," or a blank after a number`)
		}
		return p
	}
}

// ordinate reads a number that strict accepts.
func (s *scanner) ordinate(q unsafe.Pointer, p int) (v float64, end int) {
	v, end = number.Float(q, p)
	if end >= 0 && !oddNumber(byteAt(q, end)) {
		return v, end
	}
	last := p
	for c := byteAt(q, last); oddNumber(c) || c == '+' || c == '-'; c = byteAt(q, last) {
		last++
	}
	if q == s.Q && last >= s.N && !s.EOF {
		return 0, s.failTuple(s.N, "a number")
	}
	length := 0
	s.digits, length = strict(s.digits[:0], unsafe.Slice((*byte)(unsafe.Add(q, p)), last-p))
	if length == 0 {
		return 0, s.failTuple(p, "a number")
	}
	n := len(s.digits)
	s.digits = append(s.digits, make([]byte, number.Padding)...)
	if v, end = number.Float(unsafe.Pointer(&s.digits[0]), 0); end != n {
		return 0, s.failTuple(p, "a number within the range of float64")
	}
	return v, p + length
}

// oddNumber reports whether a byte continues a number that ends there in JSON.
func oddNumber(c byte) bool { return c-'0' <= 9 || c == '.' || c == 'e' || c == 'E' }

// failTuple sets the fault: something else was expected at p. It returns -1.
func (s *scanner) failTuple(p int, want string) int {
	s.Expect(p, fieldGeometry, tupleRule, want)
	return -1
}
