package gml

import (
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

const polygonRule = "OGC 07-036 section 10.5.5"

// The rings of a polygon that are read.
const (
	allRings = iota
	exteriorOnly
	interiorsOnly
)

// polygon reads a Polygon, a PolygonPatch and the like, whose start tag was read, up to its end:
// the exterior first, wherever it is.
func (s *scanner) polygon(c frame) bool {
	start, mark, shapes := s.X.Mark(), s.sink.Geom.Mark(), s.sink.Shapes
	exteriors, interiors, late, ok := s.rings(c, allRings)
	switch {
	case !ok:
		return false
	case interiors > 0 && exteriors == 0:
		return s.Wrong(start.Index(&s.X), fieldGeometry, polygonRule, "a polygon with an interior and no exterior")
	case !late:
		return true
	}
	s.sink.Geom.Rewind(mark)
	s.sink.Shapes = shapes
	for _, which := range []int{exteriorOnly, interiorsOnly} {
		s.X.Rewind(start)
		if _, _, _, ok := s.rings(c, which); !ok {
			return false
		}
	}
	return true
}

// rings reads rings of a polygon up to its end tag, and counts them. late: the exterior follows an
// interior.
func (s *scanner) rings(c frame, which int) (exteriors, interiors int, late, ok bool) {
	for {
		switch s.X.Next() {
		case xmltext.End:
			return exteriors, interiors, late, true
		case xmltext.Start:
		default:
			return 0, 0, false, false
		}
		read := true
		switch string(s.X.Local()) {
		case "exterior", "outerBoundaryIs":
			exteriors++
			late = late || interiors > 0
			read = which != interiorsOnly
			if exteriors > 1 {
				return 0, 0, false, s.Wrong(s.X.At, fieldGeometry, polygonRule, "a second exterior of a polygon")
			}
		case "interior", "innerBoundaryIs":
			interiors++
			read = which != exteriorOnly
		default:
			if !s.aside() {
				return 0, 0, false, false
			}
			continue
		}
		if read && !s.boundary(c) || !read && !s.X.Skip() {
			return 0, 0, false, false
		}
	}
}

// boundary reads the rings in the exterior or interior whose start tag was read, up to its end. GML
// 2 and 3 allow one, but several interiors in one innerBoundaryIs are common.
func (s *scanner) boundary(c frame) bool { return s.each(c, (*scanner).ring) }

// ring reads a LinearRing, or a Ring of curves. Rings that are open or short are kept, and counted.
func (s *scanner) ring(c frame) bool {
	switch string(s.X.Local()) {
	case "LinearRing", "Ring":
	default:
		return s.refuse("a ring")
	}
	if !s.named(&c) {
		return false
	}
	g := &s.sink.Geom
	first := len(g.X)
	s.inRing = string(s.X.Local()) == "LinearRing"
	ok := s.curve(c)
	s.inRing = false
	if !ok {
		return false
	}
	last := len(g.X) - 1
	if within := max(s.ends.start, s.ends.end); within > 0 && last > first && s.near(first, last, within) {
		g.X[last], g.Y[last] = g.X[first], g.Y[first]
	}
	if last < first+3 {
		s.sink.Shapes.ShortRings++
	}
	if last >= first && (g.X[first] != g.X[last] || g.Y[first] != g.Y[last]) {
		s.sink.Shapes.UnclosedRings++
	}
	g.EndRing()
	return true
}
