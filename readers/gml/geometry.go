package gml

import (
	"fmt"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

const fieldGeometry = "geometry"

// shape is the kind of geometry that an element of GML becomes.
type shape uint8

const (
	noShape        shape = iota
	aPoint               // Point
	aCurve               // LineString, LinearRing, Curve, CompositeCurve, OrientableCurve: one line
	aPolygon             // Polygon
	aSurface             // Surface: a polygon, or several if it has several patches
	manySurfaces         // several polygons: CompositeSurface, MultiSurface, MultiPolygon and the like
	manyPoints           // MultiPoint
	manyCurves           // MultiLineString, MultiCurve
	manyGeometries       // MultiGeometry
	notRead              // an unsupported geometry
)

// shapeOf returns the shape of the element of a local name.
func shapeOf(local []byte) shape {
	switch string(local) {
	case "Point":
		return aPoint
	case "LineString", "LinearRing", "Curve", "CompositeCurve", "OrientableCurve", "Ring":
		return aCurve
	case "Polygon":
		return aPolygon
	case "Surface":
		return aSurface
	case "CompositeSurface", "OrientableSurface", "PolyhedralSurface", "TriangulatedSurface", "Tin",
		"MultiSurface", "MultiPolygon":
		return manySurfaces
	case "MultiPoint":
		return manyPoints
	case "MultiLineString", "MultiCurve":
		return manyCurves
	case "MultiGeometry":
		return manyGeometries
	case "Solid", "CompositeSolid", "MultiSolid", "GeometricComplex", "TopoCurve", "TopoSurface",
		"TopoVolume", "TopoPoint", "Shell":
		return notRead
	}
	return noShape
}

// geometry reads the geometry whose start tag was read into the builder, up to its end. The caller
// ends it.
func (s *scanner) geometry(k shape, c frame) (geoarrow.Kind, bool) {
	if !s.named(&c) {
		return 0, false
	}
	switch k {
	case aPoint:
		return geoarrow.Point, s.point(c)
	case aCurve:
		return geoarrow.LineString, s.line(c)
	case aPolygon:
		return geoarrow.Polygon, s.polygon(c)
	case aSurface, manySurfaces:
		return s.surfaces(k, c)
	case manyPoints:
		return geoarrow.MultiPoint, s.members(c, (*scanner).memberPoint)
	case manyCurves:
		return geoarrow.MultiLineString, s.members(c, (*scanner).memberCurve)
	case manyGeometries:
		s.sink.Geom.BeginCollection()
		return geoarrow.GeometryCollection, s.members(c, (*scanner).memberGeometry)
	}
	return 0, s.refuse("a geometry")
}

// endGeometry ends the geometry that geometry read, as a row or as a member of a collection.
func (s *scanner) endGeometry(k geoarrow.Kind) {
	if k == geoarrow.GeometryCollection {
		s.sink.Geom.EndCollection()
	} else {
		s.sink.Geom.End(k)
	}
}

// refuse sets the fault: the element whose start tag was read is not accepted there.
func (s *scanner) refuse(as string) bool {
	return s.Wrong(s.X.At, fieldGeometry, "", fmt.Sprintf("<%s> is not read as %s", s.X.Local(), as))
}

// inline refuses an element, whose start tag was read, that refers to one elsewhere.
func (s *scanner) inline() bool {
	for i := range s.X.Attrs() {
		if _, local := s.X.AttrName(i); string(local) == "href" {
			return s.Wrong(s.X.At, fieldGeometry, "",
				fmt.Sprintf("<%s> refers to another element by xlink:href, which is not followed", s.X.Local()))
		}
	}
	return true
}

// members reads the members of a geometry whose start tag was read, up to its end: each of its
// children holds geometries that one reads.
func (s *scanner) members(c frame, one func(*scanner, frame) bool) bool {
	for {
		switch s.X.Next() {
		case xmltext.End:
			return true
		case xmltext.Start:
			if !isMember(s.X.Local()) {
				if !s.aside() {
					return false
				}
				continue
			}
			if !s.each(c, one) {
				return false
			}
		default:
			return false
		}
	}
}

// each reads the children of the element whose start tag was read, up to its end.
func (s *scanner) each(c frame, one func(*scanner, frame) bool) bool {
	if !s.inline() {
		return false
	}
	for {
		switch s.X.Next() {
		case xmltext.End:
			return true
		case xmltext.Start:
			if !one(s, c) {
				return false
			}
		default:
			return false
		}
	}
}

// aside skips an element of a geometry that does not affect its shape, whose start tag was read;
// others are refused.
func (s *scanner) aside() bool {
	switch string(s.X.Local()) {
	case "name", "description", "descriptionReference", "identifier", "metaDataProperty", "boundedBy":
		return s.X.Skip()
	}
	return s.refuse("a part of a geometry")
}

func (s *scanner) memberPoint(c frame) bool {
	if shapeOf(s.X.Local()) != aPoint {
		return s.refuse("a member of a MultiPoint")
	}
	if !s.named(&c) {
		return false
	}
	before := len(s.sink.Geom.X)
	if !s.point(c) {
		return false
	}
	if g := &s.sink.Geom; len(g.X) == before { // an empty point among others
		g.X, g.Y = append(g.X, nan), append(g.Y, nan)
	}
	return true
}

func (s *scanner) memberCurve(c frame) bool {
	if shapeOf(s.X.Local()) != aCurve {
		return s.refuse("a member of a MultiCurve")
	}
	if !s.named(&c) || !s.line(c) {
		return false
	}
	s.sink.Geom.EndRing()
	return true
}

func (s *scanner) memberGeometry(c frame) bool {
	k := shapeOf(s.X.Local())
	if k == noShape {
		return s.refuse("a geometry")
	}
	kind, ok := s.geometry(k, c)
	if ok {
		s.endGeometry(kind)
	}
	return ok
}

// surfaces reads an element that is one polygon or several. A Surface of one patch is a Polygon.
func (s *scanner) surfaces(k shape, c frame) (geoarrow.Kind, bool) {
	n, ok := s.parts(c, 0)
	switch {
	case !ok:
		return 0, false
	case k == aSurface && n <= 1:
		return geoarrow.Polygon, true
	case n > 0:
		s.sink.Geom.EndPart()
	}
	return geoarrow.MultiPolygon, true
}

// parts reads the polygons of the element whose start tag was read, up to its end. n polygons are
// before them, the last of which is still to be ended as a part; it returns how many there are
// then.
func (s *scanner) parts(c frame, n int) (int, bool) {
	for {
		switch s.X.Next() {
		case xmltext.End:
			return n, true
		case xmltext.Start:
		default:
			return 0, false
		}
		var ok bool
		switch name := s.X.Local(); {
		case isMember(name), string(name) == "patches", string(name) == "polygonPatches",
			string(name) == "trianglePatches", string(name) == "baseSurface":
			n, ok = s.partsIn(c, n)
		default:
			ok = s.aside()
		}
		if !ok {
			return 0, false
		}
	}
}

// isPatch reports whether a name is that of a polygon, by itself or as part of a surface.
func isPatch(local []byte) bool {
	switch string(local) {
	case "Polygon", "PolygonPatch", "Triangle", "Rectangle":
		return true
	}
	return false
}

// partsIn reads the children of the element whose start tag was read, which are surfaces or patches
// of one.
func (s *scanner) partsIn(around frame, n int) (int, bool) {
	if !s.inline() {
		return 0, false
	}
	for {
		switch s.X.Next() {
		case xmltext.End:
			return n, true
		case xmltext.Start:
		default:
			return 0, false
		}
		c := around
		if !s.named(&c) {
			return 0, false
		}
		ok := false
		switch name := s.X.Local(); {
		case isPatch(name):
			if n > 0 {
				s.sink.Geom.EndPart()
			}
			n++
			ok = s.polygon(c)
		case shapeOf(name) == aSurface, shapeOf(name) == manySurfaces:
			n, ok = s.parts(c, n)
		default:
			ok = s.refuse("a polygon")
		}
		if !ok {
			return 0, false
		}
	}
}
