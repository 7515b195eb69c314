package geoarrow

import "math"

// ValidPositions reports whether x and y of all positions are numbers. An empty point has none.
func (g *Geometry) ValidPositions() bool {
	switch g.Kind {
	case NoKind:
		return g.validWKB()
	case Point:
		for i := range g.X {
			if math.IsNaN(g.X[i]) || math.IsNaN(g.Y[i]) {
				if s, ok := g.Shape(i); ok && s.C1 > s.C0 { // an empty point is NaN too
					return false
				}
			}
		}
		return true
	}
	for i := range g.X {
		if math.IsNaN(g.X[i]) || math.IsNaN(g.Y[i]) {
			return false
		}
	}
	return true
}

// validWKB is ValidPositions for WKB.
func (g *Geometry) validWKB() bool {
	var d WKBDecoder
	var b GeometryBuilder
	for i := range g.Rows {
		wkb := g.WKB[g.Offsets[i]:g.Offsets[i+1]]
		if len(wkb) == 0 { // null
			continue
		}
		b.Reset()
		if _, _, err := d.Read(&b, wkb); err != nil {
			return false
		}
		for k := range b.X {
			if math.IsNaN(b.X[k]) || math.IsNaN(b.Y[k]) {
				return false
			}
		}
	}
	return true
}
