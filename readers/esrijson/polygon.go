package esrijson

import (
	"slices"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// endPolygon makes a Polygon or MultiPolygon of the rings in the builder. Outer rings are in the
// order of the file, each with its holes after it. Which rings are holes follows from containment,
// as in shapefiles.
func (s *scanner) endPolygon(end int, m *mark) (geoarrow.Kind, int) {
	if len(s.ends) <= 1 {
		return geoarrow.Polygon, end
	}
	b, n, first := s.Geom, &s.nest, s.geom.first
	n.Begin(len(b.X) - first)
	copy(n.X, b.X[first:])
	copy(n.Y, b.Y[first:])
	from := 0
	for _, to := range s.ends {
		n.Add(from, to-first)
		from = to - first
	}
	if err := n.Resolve(); err != nil {
		return 0, s.Wrong(end-1, "geometry", "", err.Error())
	}
	if n.Outers == 1 && slices.IsSorted(n.Order) {
		return geoarrow.Polygon, end
	}
	s.z, s.m = append(s.z[:0], b.Z[min(first, len(b.Z)):]...), append(s.m[:0], b.M[min(first, len(b.M)):]...)
	b.Rewind(m.mark)
	for k, i := range n.Order {
		if k > 0 && n.Outers > 1 && n.IsOuter(i) {
			b.EndPart()
		}
		s.addRing(n.Bounds(i))
	}
	if n.Outers == 1 {
		return geoarrow.Polygon, end
	}
	b.EndPart()
	return geoarrow.MultiPolygon, end
}

// addRing adds the positions [from, to) of the nesting, as a ring.
func (s *scanner) addRing(from, to int32) {
	b, g := s.Geom, &s.geom
	for i := from; i < to; i++ {
		b.X, b.Y = append(b.X, s.nest.X[i]), append(b.Y, s.nest.Y[i])
		if g.hasZs && int(i) < len(s.z) {
			b.AddZ(s.z[i])
		}
		if g.hasMs && int(i) < len(s.m) {
			b.AddM(s.m[i])
		}
	}
	b.EndRing()
}
