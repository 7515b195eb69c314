package topojson

import (
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// kindOf returns the geometry kind of a type's name.
func kindOf(name []byte) geoarrow.Kind {
	for k := geoarrow.Point; k <= geoarrow.GeometryCollection; k++ {
		if string(name) == k.String() {
			return k
		}
	}
	return geoarrow.NoKind
}

var nan = math.Float64frombits(0x7ff8000000000000) // the one that every table has

// shape reads the geometry of the members into the builder, without its end. It ends at end and is
// inside of open brackets. NoKind is null.
func (s *scanner) shape(m *members, end, open int) (k geoarrow.Kind, ok bool) {
	if m.kind < 0 {
		s.Wrong(end-1, "geometry", geometryRule, `a geometry without "type"`)
		return 0, false
	}
	if s.At(m.kind) == 'n' {
		return geoarrow.NoKind, true
	}
	if k = kindOf(s.TextAt(m.kind, s.LooseSkip(m.kind))); k == geoarrow.NoKind {
		s.FailRule(m.kind, geometryRule, "the type of a geometry")
		return 0, false
	}
	at, name := m.arcs, "arcs"
	switch k {
	case geoarrow.Point, geoarrow.MultiPoint:
		at, name = m.coordinates, "coordinates"
	case geoarrow.GeometryCollection:
		at, name = m.geometries, "geometries"
	}
	if at < 0 {
		s.Wrong(end-1, "geometry", geometryRule, fmt.Sprintf("a %s without %q", k, name))
		return 0, false
	}
	if s.At(at) != '[' {
		s.FailRule(at, geometryRule, "an array of "+name)
		return 0, false
	}
	switch k {
	case geoarrow.Point, geoarrow.MultiPoint:
		end = s.points(k, at)
	case geoarrow.LineString:
		end = s.line(at)
	case geoarrow.MultiLineString:
		end = s.Arrays(at, func(p int) int { return s.part(p, s.endLine) })
	case geoarrow.Polygon:
		end = s.rings(at)
	case geoarrow.MultiPolygon:
		end = s.Arrays(at, func(p int) int {
			p = s.rings(p)
			s.Geom.EndPart()
			return p
		})
	default:
		end = s.collection(at, open)
	}
	return k, end >= 0
}

// points reads the coordinates of a Point or MultiPoint, which are quantized if the arcs are.
func (s *scanner) points(k geoarrow.Kind, p int) (end int) {
	b, t := s.Geom, s.topology
	first := len(b.X)
	if k == geoarrow.MultiPoint {
		end = s.Positions(p)
	} else if q := s.Space(p + 1); s.At(q) == ']' {
		end = q + 1 // empty
	} else {
		end = s.PositionXYZ(p)
	}
	if end >= 0 && t.scaled {
		for i := first; i < len(b.X); i++ {
			b.X[i], b.Y[i] = t.place(b.X[i], b.Y[i])
		}
	}
	return end
}

func (s *scanner) rings(p int) int {
	return s.Arrays(p, func(p int) int { return s.part(p, s.EndRing) })
}

// part reads the arcs of a ring or of a line of several, and ends it.
func (s *scanner) part(p int, end func(first int)) int {
	first := len(s.Geom.X)
	if p = s.stitch(p); p >= 0 {
		end(first)
	}
	return p
}

func (s *scanner) endLine(first int) {
	if len(s.Geom.X) == first+1 {
		s.Shapes.ShortLines++
	}
	s.Geom.EndRing()
}

// line reads the arcs of a LineString.
func (s *scanner) line(p int) int {
	first := len(s.Geom.X)
	if p = s.stitch(p); len(s.Geom.X) == first+1 {
		s.Shapes.ShortLines++
	}
	return p
}

// stitch adds the positions of the arcs whose indices are in the array at p. Each arc begins where
// the one before it ends; that position is added once.
func (s *scanner) stitch(p int) int {
	p = s.Space(p + 1)
	if s.At(p) == ']' {
		return p + 1
	}
	start := len(s.Geom.X)
	for {
		n, end := number.Number(s.Q, p)
		if end < 0 || end >= s.N {
			return s.failIndex(p, end)
		}
		i := rows.Signed(n)
		backwards := i < 0
		if backwards {
			i = ^i
		}
		if n.Kind != number.Int32 || i >= int64(len(s.topology.ends)) {
			what := fmt.Sprintf("no arc %s: there are %d", s.Text(p, end), len(s.topology.ends))
			return s.Wrong(p, "geometry", arcRule, what)
		}
		if !s.addArc(int(i), backwards, start, p) {
			return -1
		}
		p = s.Space(end)
		switch s.At(p) {
		case ']':
			return p + 1
		case ',':
			p = s.Space(p + 1)
		default:
			return s.FailRule(p, arcRule, `"," or "]" after an arc`)
		}
	}
}

func (s *scanner) failIndex(p, end int) int {
	if end >= s.N {
		return s.Fail(s.N, `"," or a closing bracket`)
	}
	return s.FailRule(p, arcRule, "the index of an arc")
}

// addArc adds the positions of an arc, of which an index is at p, to a line that begins at start.
func (s *scanner) addArc(i int, backwards bool, start, p int) bool {
	t, b := s.topology, s.Geom
	from, to := 0, t.ends[i]
	if i > 0 {
		from = t.ends[i-1]
	}
	n := to - from
	if s.inRow += int64(n); s.used+s.inRow > t.positionLimit {
		s.Failure = &readers.LimitError{
			What: fmt.Sprintf("%s: the positions of a layer whose rows repeat their arcs", s.Src.Name),
			Flag: "the size of the file", Limit: t.positionLimit,
		}
		return false
	}
	for k := range n {
		at := from + k
		if backwards {
			at = to - 1 - k
		}
		x, y := t.x[at], t.y[at]
		if k == 0 && len(b.X) > start {
			if last := len(b.X) - 1; b.X[last] != x || b.Y[last] != y {
				s.Wrong(p, "geometry", arcRule, "an arc that does not begin where the one before it ends")
				return false
			}
			continue
		}
		b.X, b.Y = append(b.X, x), append(b.Y, y)
		if t.deep[i] {
			z := nan
			if at < len(t.z) {
				z = t.z[at]
			}
			b.AddZ(z)
		}
	}
	return true
}

// collection reads the geometries of a GeometryCollection.
func (s *scanner) collection(p, open int) int {
	if open >= s.Limits.MaxDepth {
		return s.FailDepth(p)
	}
	s.Geom.BeginCollection()
	p = s.Space(p + 1)
	for first := true; s.At(p) != ']'; first = false {
		if !first {
			if s.At(p) != ',' {
				return s.Fail(p, `"," or "]"`)
			}
			p = s.Space(p + 1)
		}
		if p = s.member(p, open+1); p < 0 {
			return -1
		}
		p = s.Space(p)
	}
	return p + 1
}

// member reads a geometry of a collection.
func (s *scanner) member(p, open int) int {
	if s.At(p) != '{' {
		return s.FailRule(p, geometryRule, "a geometry object")
	}
	m := noMembers
	end := s.Walk(p, open, func(name []byte, at int) int {
		switch string(name) {
		case "type":
			m.kind = at
		case "arcs":
			m.arcs = at
		case "coordinates":
			m.coordinates = at
		case "geometries":
			m.geometries = at
		case "bbox":
		default:
			s.Sink.Foreign = append(s.Sink.Foreign, string(name))
		}
		return s.Skip(at, open+1)
	})
	if end < 0 {
		return -1
	}
	k, ok := s.shape(&m, end, open+1)
	switch {
	case !ok:
		return -1
	case k == geoarrow.NoKind:
		return s.Wrong(m.kind, "geometry", geometryRule, "a null geometry in a collection")
	}
	s.endGeometry(k)
	return end
}
