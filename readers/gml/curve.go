package gml

import (
	"math"
	"slices"

	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

const curveRule = "OGC 07-036 section 10.4.7"

// line reads a curve, whose start tag was read, as a separate LineString, up to its end.
func (s *scanner) line(c frame) bool {
	before := len(s.sink.Geom.X)
	if !s.curve(c) {
		return false
	}
	if len(s.sink.Geom.X)-before == 1 {
		s.sink.Shapes.ShortLines++
	}
	return true
}

// curve reads an element that is one line, whose start tag was read, up to its end: LineString,
// LinearRing and LineStringSegment hold positions; Curve, Ring and CompositeCurve pieces, each of
// which begins where the one before ends; an OrientableCurve a curve, which it may turn round.
func (s *scanner) curve(c frame) bool {
	s.ends = curveEnds{}
	switch name := s.X.Local(); {
	case string(name) == "LineString", string(name) == "LinearRing", string(name) == "LineStringSegment":
		return s.positions(c)
	case string(name) == "OrientableCurve":
		return s.orientable(c)
	case isArc(name), isGeodesic(name):
		return s.arc(c)
	}
	first := len(s.sink.Geom.X)
	for {
		switch s.X.Next() {
		case xmltext.End:
			return true
		case xmltext.Start:
		default:
			return false
		}
		ok := false
		switch string(s.X.Local()) {
		case "segments", "curveMember", "curveMembers":
			ok = s.pieces(c, first)
		default:
			ok = s.aside()
		}
		if !ok {
			return false
		}
	}
}

// pieces reads the curves in the element whose start tag was read, up to its end, and appends them
// to the line that begins with position first.
func (s *scanner) pieces(around frame, first int) bool {
	if !s.inline() {
		return false
	}
	for {
		switch s.X.Next() {
		case xmltext.End:
			return true
		case xmltext.Start:
		default:
			return false
		}
		if !isPiece(s.X.Local()) {
			return s.refuse("a line: only straight segments are")
		}
		c := around
		if !s.named(&c) {
			return false
		}
		at, piece, before := s.X.At, len(s.sink.Geom.X), s.ends
		if !s.curve(c) {
			return false
		}
		if piece == first {
			continue
		}
		if !s.join(piece, before.end) {
			return s.Wrong(at, fieldGeometry, curveRule, "a curve does not begin where the one before it ends")
		}
		s.ends.start = before.start
	}
}

// isPiece reports whether a name is that of a curve or segment that is, or could be, read as part
// of a line.
func isPiece(local []byte) bool {
	return string(local) == "LineStringSegment" || shapeOf(local) == aCurve || isArc(local) || isGeodesic(local)
}

// join drops position piece, the first one of a curve, if the preceding line ends there. A computed
// end, which is exact within a distance, is replaced by one from the file.
func (s *scanner) join(piece int, within float64) bool {
	g := &s.sink.Geom
	if piece == len(g.X) {
		return true
	}
	if g.X[piece] != g.X[piece-1] || g.Y[piece] != g.Y[piece-1] || !equalOrdinate(g.Z, piece) {
		if within = max(within, s.ends.start); within == 0 || !s.near(piece, piece-1, within) {
			return false
		}
		if s.ends.start == 0 {
			g.X[piece-1], g.Y[piece-1] = g.X[piece], g.Y[piece]
		}
	}
	g.X, g.Y = slices.Delete(g.X, piece, piece+1), slices.Delete(g.Y, piece, piece+1)
	if piece < len(g.Z) {
		g.Z = slices.Delete(g.Z, piece, piece+1)
	}
	return true
}

// equalOrdinate compares an ordinate with the previous one; a missing one equals any.
func equalOrdinate(z []float64, i int) bool {
	return i >= len(z) || z[i] == z[i-1] || math.IsNaN(z[i]) || math.IsNaN(z[i-1])
}

// orientable reads an OrientableCurve, whose start tag was read, up to its end. With orientation
// "-" it is its curve reversed.
func (s *scanner) orientable(c frame) bool {
	sign, _ := s.X.Attr("orientation")
	turned := string(sign) == "-"
	g := &s.sink.Geom
	first := len(g.X)
	for {
		switch s.X.Next() {
		case xmltext.End:
			if turned {
				slices.Reverse(g.X[first:])
				slices.Reverse(g.Y[first:])
				s.reverseZ(first)
				s.ends.start, s.ends.end = s.ends.end, s.ends.start
			}
			return true
		case xmltext.Start:
		default:
			return false
		}
		ok := false
		if string(s.X.Local()) == "baseCurve" {
			ok = s.pieces(c, first)
		} else {
			ok = s.aside()
		}
		if !ok {
			return false
		}
	}
}

// reverseZ reverses the z of the positions from first on, of which the last ones may be missing.
func (s *scanner) reverseZ(first int) {
	g := &s.sink.Geom
	if len(g.Z) <= first {
		return
	}
	for len(g.Z) < len(g.X) {
		g.Z = append(g.Z, nan)
	}
	slices.Reverse(g.Z[first:])
}

var nan = math.Float64frombits(0x7ff8000000000000)
