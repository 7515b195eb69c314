package kml

import "github.com/vibeflight/vibeflight/readers/geoarrow"

// overlayMember reads the child of a GroundOverlay that a Placemark does not have.
func (s *scanner) overlayMember(name []byte) bool {
	switch string(name) {
	case "drawOrder":
		return s.integer(columnDrawOrder, false)
	case "altitudeMode":
		return s.textOf(columnAltitudeMode)
	case "Icon":
		return s.children(iconNames, func(name []byte) bool {
			if string(name) == "href" {
				return s.textOf(columnIcon)
			}
			return s.foreign()
		})
	case "LatLonBox":
		return s.place(s.box)
	case "LatLonQuad":
		return s.place(s.quad)
	}
	return s.stray()
}

// place reads the place of a GroundOverlay, whose start tag was read, with read.
func (s *scanner) place(read func() bool) bool {
	tag := s.X.TagMark()
	if s.nulls && !s.row.geometry {
		s.row.start = s.mark()
	}
	return read() || s.absorbs() && s.nullGeometry(tag)
}

// sides of a LatLonBox, in the order of box.
var sides = [...]string{"north", "south", "east", "west"}

// box reads a LatLonBox as the polygon that GDAL makes. A rotation is ignored and counted.
func (s *scanner) box() bool {
	var side [len(sides)]value
	at := s.X.At
	ok := s.children(boxNames, func(name []byte) bool {
		for i := range sides {
			if sides[i] == string(name) {
				v, ok := s.typed(geoarrow.FactFloat, []byte(fieldGeometry))
				side[i] = v
				return ok
			}
		}
		return s.foreign()
	})
	if !ok {
		return false
	}
	for i := range side {
		if side[i].kind == null { // GDAL has no geometry either
			return true
		}
	}
	if s.row.geometry {
		return s.Wrong(at, fieldGeometry, geometryRule, "a second place of a GroundOverlay")
	}
	north, south, east, west := side[0].num.Float, side[1].num.Float, side[2].num.Float, side[3].num.Float
	g := &s.sink.Geom
	g.X = append(g.X, east, east, west, west, east)
	g.Y = append(g.Y, north, south, south, north, north)
	return s.endOverlay()
}

// quad reads a gx:LatLonQuad: four corners, which become a ring.
func (s *scanner) quad() bool {
	if s.row.geometry {
		return s.Wrong(s.X.At, fieldGeometry, geometryRule, "a second place of a GroundOverlay")
	}
	g := &s.sink.Geom
	first := len(g.X)
	if !s.simple(anyTuples) {
		return false
	}
	if n := len(g.X); n > first && (g.X[first] != g.X[n-1] || g.Y[first] != g.Y[n-1]) {
		g.X, g.Y = append(g.X, g.X[first]), append(g.Y, g.Y[first])
		if len(g.Z) > first {
			g.AddZ(g.Z[first])
		}
	}
	return s.endOverlay()
}

// endOverlay ends the place of a GroundOverlay.
func (s *scanner) endOverlay() bool {
	s.sink.Geom.EndRing()
	s.row.geometry, s.row.kind = true, geoarrow.Polygon
	return true
}
