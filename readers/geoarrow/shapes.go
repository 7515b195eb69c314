package geoarrow

// Shape gives a view of row i of a native column, of the kind and the dimension that the file says:
// promotion is undone. A Point in a column of MultiPoint has 0 or 1 positions, a Polygon in one of
// MultiPolygon its rings; a promoted empty geometry has none. ok is false for a null row.
func (g *Geometry) Shape(i int) (s Shape, ok bool) {
	s = g.view()
	return s, g.moveTo(&s, i)
}

// view gives a Shape of the column's slices, to be moved from row to row.
func (g *Geometry) view() Shape {
	return Shape{X: g.X, Y: g.Y, Z: g.Z, M: g.M, Rings: g.Rings, Parts: g.Parts}
}

// moveTo makes a view that of row i; it gives false, and the view is of no use, for a null row.
func (g *Geometry) moveTo(s *Shape, i int) bool {
	if !g.valid(i) {
		return false
	}
	own := g.rowKind(i)
	s.Kind, s.Dim = own.Kind(), own.Dim()
	if g.Kind == Point {
		s.C0, s.C1 = int32(i), int32(i+1)
		if s.allNaN(s.C0) {
			s.C1 = s.C0
		}
		return true
	}
	from, to := g.Geoms[i], g.Geoms[i+1]
	switch g.Kind {
	case MultiPolygon:
		s.P0, s.P1 = from, to
		from, to = g.Parts[from], g.Parts[to]
		fallthrough
	case Polygon, MultiLineString:
		s.R0, s.R1 = from, to
		from, to = g.Rings[from], g.Rings[to]
	}
	s.C0, s.C1 = from, to
	return true
}

func (g *Geometry) valid(i int) bool { return g.Valid == nil || g.Valid[i>>3]>>(i&7)&1 == 1 }

// rowKind is what the file says of row i, which is not null.
func (g *Geometry) rowKind(i int) RowKind {
	if g.Kinds != nil {
		return g.Kinds[i]
	}
	return MakeRowKind(g.Kind, g.Dim)
}

// positionsOf gives the range of the positions of row i of a native column that is none of Point.
func (g *Geometry) positionsOf(i int) (c0, c1 int32) {
	from, to := g.Geoms[i], g.Geoms[i+1]
	switch g.Kind {
	case LineString, MultiPoint:
		return from, to
	case MultiPolygon:
		from, to = g.Parts[from], g.Parts[to]
	}
	return g.Rings[from], g.Rings[to]
}
