package shapefile

import (
	"slices"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// nestAll reorders the rings of polygons with several rings for GeoArrow: outer rings in the order
// of the file, each followed by its holes. A row of several outer rings makes the column one of
// MultiPolygon. It returns a bit for each kind of rows.
func (d *deviceShapes) nestAll(g *geoarrow.Geometry, kinds []geoarrow.RowKind) (all uint32) {
	var parts []int32 // of MultiPolygons: number of rings up to and including each one
	for i := range g.Rows {
		if from, to := g.Geoms[i], g.Geoms[i+1]; to-from > 1 {
			if err := d.nestRow(g, from, to); err != nil {
				d.Accept(false, err.Error())
				return 0
			}
			if d.nest.Outers > 1 {
				parts = d.endParts(parts, from, to)
				kinds[i] = geoarrow.MakeRowKind(geoarrow.MultiPolygon, kinds[i].Dim())
			}
		}
		all |= 1 << kinds[i]
	}
	if parts != nil {
		promotePolygons(g, kinds, parts)
	}
	return all &^ 1 // no shape
}

// nestRow orders the rings [from, to) of a polygon.
func (d *deviceShapes) nestRow(g *geoarrow.Geometry, from, to int32) error {
	n, first, end := &d.nest, g.Rings[from], g.Rings[to]
	n.Begin(int(end - first))
	copy(n.X, g.X[first:end])
	copy(n.Y, g.Y[first:end])
	for k := from; k < to; k++ {
		n.Add(int(g.Rings[k]-first), int(g.Rings[k+1]-first))
	}
	if err := n.Resolve(); err != nil || slices.IsSorted(n.Order) {
		return err
	}
	d.reorder(g.X[first:end], n.X)
	d.reorder(g.Y[first:end], n.Y)
	for _, v := range [][]float64{g.Z, g.M} {
		if v != nil {
			d.spare = append(d.spare[:0], v[first:end]...)
			d.reorder(v[first:end], d.spare)
		}
	}
	at := first
	for k, i := range n.Order {
		begin, over := n.Bounds(i)
		at += over - begin
		g.Rings[int(from)+k+1] = at
	}
	return nil
}

// reorder writes an ordinate of all rings of a polygon in their order.
func (d *deviceShapes) reorder(to, from []float64) {
	at := 0
	for _, i := range d.nest.Order {
		begin, over := d.nest.Bounds(i)
		at += copy(to[at:], from[begin:over])
	}
}

// endParts appends the ends of the parts of the rings [from, to).
func (d *deviceShapes) endParts(parts []int32, from, to int32) []int32 {
	for k, i := range d.nest.Order {
		if k > 0 && d.nest.IsOuter(i) {
			parts = append(parts, from+int32(k))
		}
	}
	return append(parts, to)
}

// promotePolygons converts a column of Polygon to MultiPolygon: each Polygon becomes a part, and
// one without rings has none.
func promotePolygons(g *geoarrow.Geometry, kinds []geoarrow.RowKind, parts []int32) {
	g.Parts = make([]int32, 1, 1+g.Rows+len(parts))
	for i, k := range kinds {
		end := g.Geoms[i+1] // in rings
		if k.Kind() == geoarrow.MultiPolygon {
			n := slices.Index(parts, end) + 1
			g.Parts, parts = append(g.Parts, parts[:n]...), parts[n:]
		} else if end > g.Parts[len(g.Parts)-1] {
			g.Parts = append(g.Parts, end)
		}
		g.Geoms[i+1] = int32(len(g.Parts) - 1)
	}
}
