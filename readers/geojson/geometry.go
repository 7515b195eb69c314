package geojson

import (
	"fmt"
	"slices"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

const geometryRule = "RFC 7946 section 3.1"

// kindOfName returns the geometry kind of a type member's value. Names are case-sensitive.
func kindOfName(name []byte) geoarrow.Kind {
	switch string(name) {
	case "Point":
		return geoarrow.Point
	case "LineString":
		return geoarrow.LineString
	case "Polygon":
		return geoarrow.Polygon
	case "MultiPoint":
		return geoarrow.MultiPoint
	case "MultiLineString":
		return geoarrow.MultiLineString
	case "MultiPolygon":
		return geoarrow.MultiPolygon
	case "GeometryCollection":
		return geoarrow.GeometryCollection
	}
	return geoarrow.NoKind
}

// openings are the usual beginnings of a geometry: its coordinates follow these bytes, which need
// no further check.
var openings = [...]string{
	geoarrow.Point:           `{"type":"Point","coordinates":`,
	geoarrow.LineString:      `{"type":"LineString","coordinates":`,
	geoarrow.Polygon:         `{"type":"Polygon","coordinates":`,
	geoarrow.MultiPoint:      `{"type":"MultiPoint","coordinates":`,
	geoarrow.MultiLineString: `{"type":"MultiLineString","coordinates":`,
	geoarrow.MultiPolygon:    `{"type":"MultiPolygon","coordinates":`,

	geoarrow.GeometryCollection: "", // begins in many ways
}

var spacedOpenings = [...]string{
	geoarrow.Point:           `{ "type": "Point", "coordinates": `,
	geoarrow.LineString:      `{ "type": "LineString", "coordinates": `,
	geoarrow.Polygon:         `{ "type": "Polygon", "coordinates": `,
	geoarrow.MultiPoint:      `{ "type": "MultiPoint", "coordinates": `,
	geoarrow.MultiLineString: `{ "type": "MultiLineString", "coordinates": `,
	geoarrow.MultiPolygon:    `{ "type": "MultiPolygon", "coordinates": `,

	geoarrow.GeometryCollection: "",
}

// opening checks for a usual beginning of a geometry at p.
func (s *scanner) opening(p int) (k geoarrow.Kind, end int) {
	list, name := &openings, p+len(`{"type":"`)
	if s.At(p+1) == ' ' {
		list, name = (*[len(openings)]string)(&spacedOpenings), p+len(`{ "type": "`)
	}
	k = s.likelyKind(name)
	if lit := list[k]; lit != "" && s.Has(p, lit) {
		s.lastKind = k
		return k, p + len(lit)
	}
	return geoarrow.NoKind, p
}

// likelyKind returns the only kind whose name may be at p, by the letters that distinguish the
// names, or NoKind.
func (s *scanner) likelyKind(p int) geoarrow.Kind {
	switch s.At(p) {
	case 'P':
		if s.At(p+len("Po")) == 'i' {
			return geoarrow.Point
		}
		return geoarrow.Polygon
	case 'L':
		return geoarrow.LineString
	case 'M':
		switch p += len("Multi"); {
		case s.At(p) == 'L':
			return geoarrow.MultiLineString
		case s.At(p+len("Po")) == 'i':
			return geoarrow.MultiPoint
		}
		return geoarrow.MultiPolygon
	}
	return geoarrow.NoKind
}

// members are what was read of a geometry object so far. If a member is repeated, the last one
// counts.
type members struct {
	kind        geoarrow.Kind
	typePos     int // of the type member's value; -1: none
	coordinates int // place of the value; -1: none
	geometries  int

	parsed   geoarrow.Kind // the kind of the coordinates or geometries in the builder; NoKind: it has none
	parsedAt int
	foreign  [2]int // the foreign members of the row inside the value

	// why coordinates or geometries could not be read as the kind then known; want is empty if they
	// could
	refused     jsonrows.Fault
	refusedKind geoarrow.Kind
	refusedAt   int
}

// geometryMark is a position to return to.
type geometryMark struct {
	mark   geoarrow.Mark
	shapes rows.Shapes
}

// geometry reads the geometry object at p into the builder, without End. open is the
// number of brackets around it.
func (s *scanner) geometry(p, open int) (k geoarrow.Kind, end int) {
	if s.At(p) != '{' {
		s.Fault = jsonrows.Fault{Pos: p, Want: "a geometry object", Field: "geometry", Rule: geometryRule}
		return 0, -1
	}
	if open >= s.Limits.MaxDepth {
		return 0, s.FailDepth(p)
	}
	var mark geometryMark
	s.Geom.SetMark(&mark.mark)
	mark.shapes = *s.Shapes
	if kind, at := s.opening(p); kind != geoarrow.NoKind {
		if at = s.Space(at); at >= s.N {
			return 0, s.Fail(s.N, "coordinates")
		}
		end := s.coordinates(kind, at)
		switch {
		case end >= 0 && s.At(end) == '}':
			return kind, end + 1
		case end >= 0:
			m := members{kind: kind, typePos: p, coordinates: at, geometries: -1, parsed: kind, parsedAt: at}
			return s.geometryObject(&m, s.Space(end), open+1, mark)
		case s.Cut():
			return 0, -1
		}
		s.rewind(mark) // a later member may replace the coordinates or their type
	}
	m := members{typePos: -1, coordinates: -1, geometries: -1}
	return s.geometryObject(&m, s.Space(p+1), open+1, mark)
}

// geometryObject reads the members from p on, which is after the bracket or after the members
// that m has.
func (s *scanner) geometryObject(m *members, p, open int, mark geometryMark) (k geoarrow.Kind, end int) {
	if end = s.geometryMembers(m, p, open, mark); end < 0 {
		return 0, s.earlier(s.memberFault(m))
	}
	return s.resolveMembers(m, end, open, mark)
}

// tryValue reads coordinates or geometries as those of kind k. If that fails, it skips them: a
// later member may replace them or their type.
func (s *scanner) tryValue(m *members, k geoarrow.Kind, p, open int, mark geometryMark) int {
	foreign := len(s.Sink.Foreign)
	end := s.shape(k, p, open)
	if end >= 0 {
		m.parsed, m.parsedAt, m.foreign = k, p, [2]int{foreign, len(s.Sink.Foreign)}
		return end
	}
	if s.Cut() {
		return -1
	}
	m.refused, m.refusedKind, m.refusedAt = s.Fault, k, p
	s.rewind(mark)
	s.Sink.Foreign = s.Sink.Foreign[:foreign]
	if end = s.Skip(p, open-coordinateBrackets); end < 0 {
		if m.typePos < 0 { // only guessed
			return -1
		}
		return s.earlier(m.refused)
	}
	return end
}

// coordinateBrackets is how many brackets coordinates open at most; these don't count as nesting.
const coordinateBrackets = 4

// shape reads the coordinates or geometries at p of a geometry of kind k.
func (s *scanner) shape(k geoarrow.Kind, p, open int) int {
	if k == geoarrow.GeometryCollection {
		return s.geometries(p, open)
	}
	return s.coordinates(k, p)
}

// earlier keeps the fault that comes first in the file, unless the window is to be filled. It
// returns -1.
func (s *scanner) earlier(f jsonrows.Fault) int {
	if f.Want != "" && f.Pos <= s.Fault.Pos && !s.Cut() {
		s.Fault = f
	}
	return -1
}

// memberFault returns the fault of the members so far, if no later member replaces them.
// Coordinates before their type are read again: whether their kind was guessed depends on the
// previous geometry, and so on where a worker began.
func (s *scanner) memberFault(m *members) jsonrows.Fault {
	switch {
	case m.typePos < 0:
		return jsonrows.Fault{}
	case m.kind == geoarrow.NoKind:
		return unknownType(m.typePos, "geometry", "the type of a geometry")
	case m.refusedKind == m.kind:
		return m.refused
	case m.kind == geoarrow.GeometryCollection || m.parsed == m.kind || m.coordinates < 0 || s.Cut():
		return jsonrows.Fault{}
	}
	why := s.Fault
	f := jsonrows.Fault{}
	if s.coordinates(m.kind, m.coordinates) < 0 {
		f = s.Fault
	}
	s.Fault = why
	return f
}

// geometryMembers reads members through the closing bracket.
func (s *scanner) geometryMembers(m *members, p, open int, mark geometryMark) (end int) {
	for first := m.typePos < 0; ; first = false {
		if s.At(p) == '}' {
			return p + 1
		}
		if !first {
			if s.At(p) != ',' {
				return s.Fail(p, `"," or "}" of a geometry`)
			}
			p = s.Space(p + 1)
		}
		name, at := s.Key(p)
		if at < 0 {
			return -1
		}
		if p = s.geometryMember(m, name, at, open, mark); p < 0 {
			return -1
		}
		p = s.Space(p)
	}
}

func (s *scanner) geometryMember(m *members, name []byte, p, open int, mark geometryMark) int {
	switch string(name) {
	case "type":
		end := s.Skip(p, open)
		if end >= 0 {
			m.typePos, m.kind = p, kindOfName(s.TextAt(p, end))
		}
		return end
	case "coordinates":
		k := m.kind
		if m.typePos < 0 {
			k = s.lastKind
		}
		if m.parsed == geoarrow.NoKind && m.coordinates < 0 && k != geoarrow.NoKind &&
			k != geoarrow.GeometryCollection {
			m.coordinates = p
			return s.tryValue(m, k, p, open, mark)
		}
		m.coordinates = p
		return s.Skip(p, open-coordinateBrackets)
	case "geometries":
		m.geometries = p
		if m.kind == geoarrow.GeometryCollection && m.parsed == geoarrow.NoKind {
			return s.tryValue(m, m.kind, p, open, mark)
		}
	case "bbox":
	case "crs":
		if s.InSequence && open == 1 {
			return s.crs(p, open)
		}
		fallthrough
	default:
		s.Sink.Foreign = append(s.Sink.Foreign, string(name))
	}
	return s.Skip(p, open)
}

// geometries reads the members of a GeometryCollection.
func (s *scanner) geometries(p, open int) int {
	if s.At(p) != '[' {
		s.FailRule(p, "RFC 7946 section 3.1.8", "an array of geometries")
		s.Fault.Field = "geometry"
		return -1
	}
	if open >= s.Limits.MaxDepth {
		return s.FailDepth(p)
	}
	s.Geom.BeginCollection()
	p = s.Space(p + 1)
	if s.At(p) == ']' {
		return p + 1
	}
	for {
		k, end := s.geometry(p, open+1)
		if end < 0 {
			return -1
		}
		s.endGeometry(k)
		p = s.Space(end)
		switch s.At(p) {
		case ']':
			return p + 1
		case ',':
			p = s.Space(p + 1)
		default:
			return s.Fail(p, `"," or "]"`)
		}
	}
}

// endGeometry ends the geometry that geometry read, as a row or as a member of a collection.
func (s *scanner) endGeometry(k geoarrow.Kind) {
	if k == geoarrow.GeometryCollection {
		s.Geom.EndCollection()
	} else {
		s.Geom.End(k)
	}
}

// rewind drops the coordinates that were read since mark, and their counts.
func (s *scanner) rewind(mark geometryMark) {
	s.Geom.Rewind(mark.mark)
	*s.Shapes = mark.shapes
}

// resolveMembers makes the builder hold the last of repeated members, once all members are known.
// end is after the object.
func (s *scanner) resolveMembers(m *members, end, open int, mark geometryMark) (geoarrow.Kind, int) {
	if m.typePos < 0 {
		return 0, s.Wrong(end-1, "geometry", geometryRule, `a geometry without "type"`)
	}
	if m.kind == geoarrow.NoKind {
		s.Fault = unknownType(m.typePos, "geometry", "the type of a geometry")
		return 0, -1
	}
	at, member := m.coordinates, "coordinates"
	if m.kind == geoarrow.GeometryCollection {
		at, member = m.geometries, "geometries"
	}
	if at < 0 {
		return 0, s.Wrong(end-1, "geometry", geometryRule, fmt.Sprintf("a %s without %q", m.kind, member))
	}
	s.lastKind = m.kind
	if m.parsed == m.kind && m.parsedAt == at {
		return m.kind, end
	}
	// only once: nested collections would take exponential time
	if m.refusedKind == m.kind && m.refusedAt == at {
		s.Fault = m.refused
		return 0, -1
	}
	s.rewind(mark)
	s.Sink.Foreign = slices.Delete(s.Sink.Foreign, m.foreign[0], m.foreign[1])
	if at = s.shape(m.kind, at, open); at < 0 {
		return 0, -1
	}
	return m.kind, end
}

// unknownType returns the fault of a type member.
func unknownType(p int, field, want string) jsonrows.Fault {
	return jsonrows.Fault{Pos: p, Want: want, Field: field, Rule: "RFC 7946 section 1.4"}
}
