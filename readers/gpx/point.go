package gpx

import (
	"fmt"

	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

const fieldGeometry = "geometry"

// point reads the wpt, rtept or trkpt of a row, whose start tag was read.
func (s *scanner) point() bool {
	if !s.position() {
		return false
	}
	for {
		switch s.X.Next() {
		case xmltext.End:
			return true
		case xmltext.Start:
			if !s.member() {
				return false
			}
		default:
			return false
		}
	}
}

// member reads the child of a row whose start tag was read, up to its end.
func (s *scanner) member() bool {
	if !s.isOwn() {
		return s.other()
	}
	name := s.X.Local()
	if c := elementColumn(name); c != noColumn && s.sink.has[c] != absent {
		return s.value(c)
	}
	switch string(name) {
	case "link":
		return s.link()
	case "extensions":
		return s.extensions()
	}
	return s.foreign()
}

// other reads a child of a row that is no element of GPX. GPX 1.0 allows those of programs there,
// which are in extensions in GPX 1.1.
func (s *scanner) other() bool {
	if s.header.v10 {
		return s.extension()
	}
	return s.foreign()
}

// foreign skips an element that no column holds, and counts it.
func (s *scanner) foreign() bool {
	s.sink.count(s.X.Local())
	return s.X.Skip()
}

// position adds the position of the attributes of the start tag that was read.
func (s *scanner) position() bool {
	var x, y float64
	var found [2]bool
	for i := range s.X.Attrs() {
		ok := true
		switch string(s.X.AttrLocal(i)) {
		case "lat":
			y, ok = s.angle(i, "latitude", 90)
			found[0] = true
		case "lon":
			x, ok = s.angle(i, "longitude", 180)
			found[1] = true
		}
		if !ok {
			return false
		}
	}
	for i, name := range [...]string{"lat", "lon"} {
		if !found[i] {
			s.Wrong(s.X.At, fieldGeometry, "GPX 1.1, wptType", "a position without the attribute "+name)
			if !s.nullGeometry(s.X.At) {
				return false
			}
		}
	}
	g := &s.sink.Geom
	g.X, g.Y = append(g.X, x), append(g.Y, y)
	return true
}

// angle reads attribute i of the start tag that was read: a latitude or longitude between -limit and
// limit.
func (s *scanner) angle(i int, name string, limit float64) (v float64, ok bool) {
	at := int(s.X.AttrOffset(i) - s.Base)
	b := trim(s.X.AttrValue(i))
	if v, ok = s.decimalOrRepair(b, at, fieldGeometry); !ok {
		s.Expect(at, fieldGeometry, "GPX 1.1, "+name+"Type", "a decimal number as "+name)
		return 0, s.nullGeometry(at)
	}
	if v >= -limit && v <= limit {
		return v, true
	}
	s.Wrong(at, fieldGeometry, "GPX 1.1, "+name+"Type",
		fmt.Sprintf("a %s that is not between %v and %v", name, -limit, limit))
	return 0, s.nullGeometry(at)
}
