package geoarrow

// Widen gives the column the kind and the dimension of a table's, which hold its own. NoKind is WKB.
func (g *Geometry) Widen(kind Kind, dim Dim) (*Geometry, error) {
	if g.Kind == kind && g.Dim == dim {
		return g, nil
	}
	if kind == NoKind {
		wide, err := g.ToWKB()
		if err != nil {
			return nil, err
		}
		if wide.Dim != dim {
			copied := *wide
			copied.Dim = dim
			wide = &copied
		}
		return wide, nil
	}
	if g.Nulls == g.Rows { // its kind, if it has one, may be that of rows that were cut off
		return NullGeometry(g.Rows, kind, dim), nil
	}
	return g.Promote(kind, dim), nil
}

// Promote gives the column a kind that holds its own, and a dimension that holds its own: a
// single kind its Multi kind, where an empty geometry gets no parts; missing ordinates as NaN.
// Kinds remembers what the rows were, so that WKB and WKT undo it. Slices that stay as they are are
// shared. With the column's own kind and dimension it returns the column itself. A column of nulls
// only, which is WKB because it has no kind, can get any kind. Of other WKB columns only the
// dimension can be widened: Promote(NoKind, dim). Other arguments panic.
func (g *Geometry) Promote(kind Kind, dim Dim) *Geometry {
	if g.Kind == kind && g.Dim == dim {
		return g
	}
	if g.Dim&^dim != 0 {
		panic("geoarrow: Promote to a narrower dimension")
	}
	out := *g
	out.Kind, out.Dim = kind, dim
	if g.Kind == NoKind && g.Nulls == g.Rows && kind != NoKind {
		return nullGeometry(&out)
	}
	if kind != g.Kind && kind != g.Kind.Multi() {
		panic("geoarrow: Promote of " + g.Kind.String() + " to " + kind.String())
	}
	if g.Kind == NoKind {
		return &out
	}
	out.Kinds = nil
	if g.Nulls < g.Rows {
		out.Kinds = g.rowKinds()
	}
	if kind != g.Kind {
		g.promoteKind(&out)
	}
	if missing := dim &^ g.Dim; missing != 0 {
		out.pad(missing)
	}
	return &out
}

// nullGeometry fills in the slices of a native column of nulls only.
func nullGeometry(g *Geometry) *Geometry {
	g.Kinds, g.Offsets, g.WKB = nil, nil, nil
	switch g.Kind {
	case Point:
		g.X, g.Y = make([]float64, g.Rows), make([]float64, g.Rows)
		if g.Dim&HasZ != 0 {
			g.Z = make([]float64, g.Rows)
		}
		if g.Dim&HasM != 0 {
			g.M = make([]float64, g.Rows)
		}
		return g
	case MultiPolygon:
		g.Parts, g.Rings = []int32{0}, []int32{0}
	case Polygon, MultiLineString:
		g.Rings = []int32{0}
	}
	g.Geoms = make([]int32, g.Rows+1)
	return g
}

// promoteKind makes each geometry of g, of a single kind, the only part of a geometry of out.
//
//	Point       null and empty rows lose their position, Geoms is 0 or 1 a row
//	LineString  Geoms without its empty rows becomes Rings
//	Polygon     Geoms without its empty rows becomes Parts
func (g *Geometry) promoteKind(out *Geometry) {
	if g.Kind == Point {
		g.promotePoints(out)
		return
	}
	parts := append(make([]int32, 0, g.Rows+1), 0)
	out.Geoms = make([]int32, g.Rows+1)
	for i := range g.Rows {
		if end := g.Geoms[i+1]; end > g.Geoms[i] {
			parts = append(parts, end)
		}
		out.Geoms[i+1] = int32(len(parts) - 1)
	}
	if g.Kind == LineString {
		out.Rings = parts
	} else {
		out.Parts = parts
	}
}

func (g *Geometry) promotePoints(out *Geometry) {
	out.Geoms = make([]int32, g.Rows+1)
	kept := make([]span, 0, 1)
	n := int32(0)
	for i := range g.Rows {
		if s, ok := g.Shape(i); ok && s.C1 > s.C0 {
			kept = appendSpan(kept, int32(i), int32(i+1))
			n++
		}
		out.Geoms[i+1] = n
	}
	out.pickPositions(g, kept)
}

// pad adds the missing ordinates to a column whose dimension was widened: NaN, but zeros under null
// Points.
func (g *Geometry) pad(missing Dim) {
	pad := make([]float64, len(g.X))
	for i := range pad {
		if g.Kind != Point || g.valid(i) {
			pad[i] = nan
		}
	}
	if missing&HasZ != 0 {
		g.Z = pad
	}
	if missing&HasM != 0 {
		g.M = pad // shared with Z where both are missing: slices are immutable
	}
}
