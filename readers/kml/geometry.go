package kml

import (
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

const (
	fieldGeometry = "geometry"
	geometryRule  = "KML 2.3, geometry"
)

// rowGeometry reads the geometry of the row, whose start tag was read. It ends together with the
// row, which may be cut or malformed.
func (s *scanner) rowGeometry(name []byte) bool {
	if !s.nulls {
		return s.onlyGeometry(name)
	}
	tag := s.X.TagMark()
	if !s.row.geometry {
		s.row.start = s.mark()
	}
	return s.onlyGeometry(name) || s.absorbs() && s.nullGeometry(tag)
}

func (s *scanner) onlyGeometry(name []byte) bool {
	if s.row.geometry {
		return s.Wrong(s.X.At, fieldGeometry, geometryRule, "a second geometry: several are one MultiGeometry")
	}
	s.row.geometry = true
	var ok bool
	s.row.kind, ok = s.geometry(name)
	return ok
}

// endGeometry ends a geometry as a row or as a member of a collection.
func (s *scanner) endGeometry(kind geoarrow.Kind) {
	if kind == geoarrow.GeometryCollection {
		s.sink.Geom.EndCollection()
	} else {
		s.sink.Geom.End(kind)
	}
}

// kindOf returns the kind of an element's geometry; NoKind: it is not a geometry, or its kind is
// known only at its end.
func kindOf(name []byte) geoarrow.Kind {
	switch string(name) {
	case "Point":
		return geoarrow.Point
	case "LineString", "LinearRing", "Track":
		return geoarrow.LineString
	case "Polygon":
		return geoarrow.Polygon
	case "MultiGeometry", "MultiTrack", "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection":
		return geoarrow.GeometryCollection
	}
	return geoarrow.NoKind
}

// geometry reads the geometry whose start tag was read into the builder, without End. A Model is
// not a geometry.
func (s *scanner) geometry(name []byte) (kind geoarrow.Kind, ok bool) {
	switch string(name) {
	case "Point":
		return geoarrow.Point, s.simple(1)
	case "LineString", "LinearRing":
		return geoarrow.LineString, s.line()
	case "Track":
		return geoarrow.LineString, s.track()
	case "Polygon":
		return geoarrow.Polygon, s.polygon()
	case "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection":
		s.deviate(s.X.At, fieldGeometry, ruleMulti, "read as MultiGeometry")
		return s.multi()
	case "MultiGeometry":
		return s.multi()
	case "MultiTrack":
		return geoarrow.MultiLineString, s.multiTrack()
	}
	return geoarrow.NoKind, s.foreign()
}

// attribute reads the child of a geometry that describes its rendering, or skips it.
func (s *scanner) attribute(name []byte) bool {
	switch string(name) {
	case "altitudeMode":
		if !s.row.has(columnAltitudeMode) {
			return s.textOf(columnAltitudeMode)
		}
	case "extrude":
		return s.flag(columnExtrude, true)
	case "tessellate":
		return s.flag(columnTessellate, true)
	case "drawOrder":
		return s.integer(columnDrawOrder, true)
	default:
		return s.passed(name)
	}
	return s.X.Skip()
}

// simple reads the children of an element with coordinates of at most n tuples.
func (s *scanner) simple(most int) bool {
	seen := false
	return s.children(simpleNames, func(name []byte) bool {
		if string(name) != "coordinates" {
			return s.attribute(name)
		}
		if seen {
			return s.Wrong(s.X.At, fieldGeometry, geometryRule, "coordinates that the geometry has already")
		}
		seen = true
		return s.coordinates(most)
	})
}

// line reads a LineString, a LinearRing that is not a boundary, or a Track.
func (s *scanner) line() bool {
	before := len(s.sink.Geom.X)
	ok := s.simple(anyTuples)
	s.countLine(before)
	return ok
}

func (s *scanner) countLine(before int) {
	if len(s.sink.Geom.X)-before == 1 {
		s.sink.Shapes.ShortLines++
	}
}

// builderMark is a place in the current geometry.
type builderMark struct {
	geom      geoarrow.Mark
	shapes    rows.Shapes
	whens     int
	data      int
	elements  int
	foreign   int
	deviating int
	text      xmltext.Mark
}

func (s *scanner) mark() builderMark {
	k := s.sink
	return builderMark{
		k.Geom.Mark(), k.Shapes, len(s.row.whens), len(s.row.data), len(s.row.elements), len(k.inRow), k.Deviating(),
		s.X.Mark(),
	}
}

// rewind goes back to read the same text in another way. Counts stay.
func (s *scanner) rewind(m builderMark) {
	s.sink.Geom.Rewind(m.geom)
	s.sink.Shapes = m.shapes
	s.row.whens = s.row.whens[:m.whens]
	s.row.data, s.row.elements = s.row.data[:m.data], s.row.elements[:m.elements]
	s.X.Rewind(m.text)
}

// undo drops what was read since, and its counts.
func (s *scanner) undo(m builderMark) {
	s.rewind(m)
	s.sink.inRow = s.sink.inRow[:m.foreign]
	s.sink.Forget(m.deviating)
}

// Boundaries of a polygon that polygon reads.
const (
	everyBoundary = iota
	outerBoundary
	innerBoundaries
)

// polygon reads a Polygon. If a hole is before the shell, all is read in the order of the text
// first, so that the first fault is the one reported.
func (s *scanner) polygon() bool {
	m := s.mark()
	shell, early, ok := s.boundaries(everyBoundary)
	switch {
	case !ok:
		return false
	case !early:
		return true
	case !shell:
		return s.Wrong(s.X.At, fieldGeometry, geometryRule, "a Polygon with holes and without an outer boundary")
	}
	s.rewind(m)
	was := s.quiet
	s.quiet = true
	s.boundaries(outerBoundary)
	s.X.Rewind(m.text)
	_, _, ok = s.boundaries(innerBoundaries)
	s.quiet = was
	return ok
}

// boundaries reads which ones of a polygon's boundaries, up to its end. early says that a hole came
// before the shell.
func (s *scanner) boundaries(which int) (shell, early, ok bool) {
	ok = s.children(polygonNames, func(name []byte) bool {
		direct := s.repairs && (string(name) == "LinearRing" || string(name) == "coordinates")
		switch {
		case direct, string(name) == "outerBoundaryIs":
			if shell {
				return s.Wrong(s.X.At, fieldGeometry, geometryRule, "a second outer boundary of a Polygon")
			}
			shell = true
			if which == innerBoundaries {
				return s.X.Skip()
			}
		case string(name) == "innerBoundaryIs":
			early = early || !shell
			if which == outerBoundary {
				return s.X.Skip()
			}
		default:
			return s.attribute(name)
		}
		if !direct {
			return s.children(boundaryNames, s.ring)
		}
		if string(name) == "LinearRing" {
			s.deviate(s.X.At, fieldGeometry, ruleMisplaced, "read as the outer boundary")
		}
		return s.ring(name)
	})
	return shell, early, ok
}

// ring reads the LinearRing of a boundary. Rings that are open or short are kept, and counted.
func (s *scanner) ring(name []byte) bool {
	bare := s.repairs && string(name) == "coordinates"
	if string(name) != "LinearRing" && !bare {
		return s.stray()
	}
	g := &s.sink.Geom
	first := len(g.X)
	var ok bool
	if bare {
		s.deviate(s.X.At, fieldGeometry, ruleMisplaced, "read as a LinearRing")
		ok = s.coordinates(anyTuples)
	} else {
		ok = s.children(ringNames, s.ringMember)
	}
	if !ok {
		return false
	}
	last := len(g.X) - 1
	if last < first+3 {
		s.sink.Shapes.ShortRings++
	}
	if last >= first && (g.X[first] != g.X[last] || g.Y[first] != g.Y[last]) {
		s.sink.Shapes.UnclosedRings++
	}
	g.EndRing()
	return true
}

func (s *scanner) ringMember(name []byte) bool {
	if string(name) == "coordinates" {
		return s.coordinates(anyTuples)
	}
	return s.passed(name)
}

// multi reads a MultiGeometry. Its kind is the Multi kind of its first member; if another member
// has another kind, all are read again as a collection.
func (s *scanner) multi() (kind geoarrow.Kind, ok bool) {
	m := s.mark()
	kind, uniform, ok := s.uniform()
	if !ok || uniform {
		return kind, ok
	}
	s.undo(m)
	s.sink.Geom.BeginCollection()
	return geoarrow.GeometryCollection, s.children(multiNames, func(name []byte) bool {
		if kindOf(name) == geoarrow.NoKind {
			return s.stray()
		}
		kind, ok := s.geometry(name)
		if ok {
			s.endGeometry(kind)
		}
		return ok
	})
}

// uniform reads members as long as they have one Multi kind. An empty point is not a part of a
// MultiPoint.
func (s *scanner) uniform() (kind geoarrow.Kind, uniform, ok bool) {
	g := &s.sink.Geom
	for {
		switch s.X.Next() {
		case xmltext.End:
			return kind, kind != geoarrow.NoKind, true
		case xmltext.Start:
		default:
			return kind, false, false
		}
		name := s.local(multiNames)
		k := kindOf(name)
		if k == geoarrow.NoKind {
			if !s.stray() {
				return kind, false, false
			}
			continue
		}
		if k == geoarrow.GeometryCollection || kind != geoarrow.NoKind && k.Multi() != kind {
			return kind, false, true
		}
		kind = k.Multi()
		before := len(g.X)
		if _, ok := s.geometry(name); !ok {
			return kind, false, false
		}
		switch {
		case k == geoarrow.Point && len(g.X) == before:
			return kind, false, true
		case k == geoarrow.LineString:
			g.EndRing()
		case k == geoarrow.Polygon:
			g.EndPart()
		}
	}
}
