package wkt

import (
	"math"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Rules of deviations; docs/formats/wkt.md explains them.
const (
	ruleGeometry = "geometry"         // malformed
	ruleNumber   = "number-word"      // 1.#QNAN, 1.#INF and nan(ind), as compilers of Microsoft write them
	ruleRing     = "linear-ring"      // LINEARRING
	ruleUneven   = "uneven-positions" // of different lengths in one geometry
	ruleEmpty    = "empty-brackets"   // where EMPTY is meant
	ruleComma    = "stray-comma"      // after the last member, or in a Point
	ruleWrapped  = "quotes"           // around the geometry
	ruleBracket  = "stray-bracket"    // after the geometry
)

// repair reads the row at p, which began at an offset and is malformed, with its defects in their
// obvious ways. again: more of the file is needed. end < 0: there is no such reading, and the fault
// is the first one again, unless it is one of the file.
func (s *scanner) repair(p int, at int64) (again bool, end int) {
	first := s.fault
	s.begin(s.Q, s.limits.MaxDepth)
	s.geom, s.shapes = &s.sink.Geom, &s.sink.Shapes
	s.loose = func(p int, rule, done string) {
		s.sink.Deviate(readers.Deviation{
			Offset: s.Base + int64(p), Row: s.row, Field: "geometry",
			Rule: rule, Done: done,
		})
	}
	g, end := s.wrapped(p)
	s.loose = nil
	switch {
	case s.tooLong(p, end):
	case end >= 0 && !s.conflict(p, g.SRID):
		s.commit(g, at)
		s.closed = end < s.N
		return false, end
	case end < 0 && s.fault.seen >= s.N && !s.EOF:
		again = true
	}
	s.sink.Rollback()
	if !s.fault.file {
		s.fault = first
	}
	return again, -1
}

// wrapped reads a row that may be in quotes.
func (s *scanner) wrapped(p int) (g Geometry, end int) {
	quote := s.at(p)
	if quote != '"' && quote != '\'' {
		return s.whole(p)
	}
	s.loose(p, ruleWrapped, "not read")
	if g, end = s.geometry(s.space(p + 1)); end < 0 {
		return g, -1
	}
	if end = s.space(end); s.at(end) != quote {
		return g, s.fail(end, "the quote after the geometry")
	}
	return g, s.behind(end + 1)
}

// missing reports whether a bracket ends at p, where a member of it might begin: it is empty, or a
// comma is after its last member.
func (t *text) missing(p int) bool {
	if t.at(p) != ')' {
		return false
	}
	before := p - 1
	for isBlank(t.at(before)) {
		before--
	}
	if t.at(before) == ',' {
		t.loose(before, ruleComma, "not read")
	} else {
		t.loose(before, ruleEmpty, "read as EMPTY")
	}
	return true
}

// commas reads the position of a Point that has commas between its numbers.
func (t *text) commas(p int) int {
	start := p
	var v [4]float64
	for n := 0; n < len(v); {
		var end int
		if v[n], end = t.ordinate(p); end < 0 {
			return -1
		}
		n++
		switch p = t.space(end); {
		case t.at(p) == ')':
			t.loose(start, ruleComma, "read as one position")
			return t.end(p, v, n)
		case t.at(p) == ',':
			p = t.space(p + 1)
		case p == end:
			return t.fail(p, wantMore)
		}
	}
	return t.fail(p, `")" behind `+ordinates[4])
}

// growable reports whether the current geometry may get positions of more numbers than the ones
// before: it has no tag.
func (t *text) growable() bool { return t.loose != nil && !t.hasTag }

// uneven adds a position of n numbers to a geometry whose positions before have others. Those that
// are missing are NaN.
func (t *text) uneven(p int, v [4]float64, n int) int {
	switch {
	case n > t.size && t.hasTag:
		return t.fail(p, "one of "+ordinates[t.size]+", which the tag says")
	case n > t.size:
		t.size, t.dim = n, [...]geoarrow.Dim{2: geoarrow.XY, 3: geoarrow.XYZ, 4: geoarrow.XYZM}[n]
	}
	for i := n; i < len(v); i++ {
		v[i] = nan
	}
	t.loose(p, ruleUneven, "missing ordinates are NaN")
	t.add(v)
	return p
}

// microsoft reads the letters, and zeros after them, of a number by Microsoft's libraries,
// "1.#QNAN0", which begins at start; p is after its "#".
func (t *text) microsoft(start, p int) (v float64, end int) {
	end = t.word(p)
	switch word := t.slice(p, end); {
	case is(word, "INF"):
		v = math.Inf(1)
		if t.at(start) == '-' {
			v = math.Inf(-1)
		}
		t.loose(start, ruleNumber, "read as infinity")
	case is(word, "QNAN"), is(word, "SNAN"), is(word, "NAN"), is(word, "IND"):
		v = nan
		t.loose(start, ruleNumber, "read as NaN")
	default:
		return 0, t.failWord(start, end, wantNumber)
	}
	return v, t.digits(end)
}

// payload skips the content of the brackets of "nan(ind)", at p.
func (t *text) payload(start, p int) (v float64, end int) {
	end = t.word(p + 1)
	if t.at(end) != ')' {
		return 0, t.fail(end, `")" of a NaN`)
	}
	t.loose(start, ruleNumber, "read as NaN")
	return nan, end + 1
}
