package gpx

import "github.com/vibeflight/vibeflight/readers/internal/xmltext"

// children calls do for each child of the element whose start tag was read, up to its end.
func (s *scanner) children(do func() bool) bool { return s.childrenAfter(never, do) }

func never() bool { return false }

// childrenAfter is children where each child that first reads is passed.
func (s *scanner) childrenAfter(first, do func() bool) bool {
	for {
		for first() { // the child is read
		}
		switch s.X.Next() {
		case xmltext.End:
			return true
		case xmltext.Start:
			if !do() {
				return false
			}
		default:
			return false
		}
	}
}

// isElement reports whether the start tag that was read is one of GPX with a name.
func (s *scanner) isElement(name string) bool { return string(s.X.Local()) == name && s.isOwn() }

// route reads a rte as a line of its positions.
func (s *scanner) route() bool {
	before := len(s.sink.Geom.X)
	ok := s.childrenAfter(s.fastVertex, func() bool {
		if s.isElement("rtept") {
			return s.vertex()
		}
		return s.member()
	})
	if ok && len(s.sink.Geom.X)-before == 1 {
		s.sink.Shapes.ShortLines++
	}
	return ok
}

// track reads a trk as a line for each of its segments.
func (s *scanner) track() bool {
	return s.children(func() bool {
		if s.isElement("trkpt") {
			s.deviate(s.X.At, fieldGeometry, ruleMisplaced, doneNotRead)
			return s.X.Skip()
		}
		if !s.isElement("trkseg") {
			return s.member()
		}
		before := len(s.sink.Geom.X)
		ok := s.childrenAfter(s.fastVertex, func() bool {
			if s.isElement("trkpt") {
				return s.vertex()
			}
			return s.foreign()
		})
		if ok && len(s.sink.Geom.X)-before == 1 {
			s.sink.Shapes.ShortLines++
		}
		s.sink.Geom.EndRing()
		return ok
	})
}

// vertex reads a rtept or trkpt as a position of a line.
func (s *scanner) vertex() bool {
	if !s.position() {
		return false
	}
	if !s.withZ {
		return s.X.Skip()
	}
	z := false
	return s.children(func() bool {
		if !s.isElement("ele") {
			return s.X.Skip()
		}
		b, start, ok := s.text(true)
		if !ok || len(b) == 0 {
			return ok
		}
		v, ok := s.decimalOrRepair(b, start, fieldGeometry)
		if !ok {
			s.Expect(start, fieldGeometry, decimalRule, "a decimal number")
			return s.nullGeometry(start)
		}
		if g := &s.sink.Geom; z {
			g.Z[len(g.Z)-1] = v
		} else {
			g.AddZ(v)
		}
		z = true
		return true
	})
}
