package records

import (
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Cover is what GeoParquet's metadata says of the primary column, where it has a column of
// bounding boxes and names all kinds of its geometries.
type Cover struct {
	Field   string    // the struct of bounding boxes
	Members [4]string // of it: xmin, ymin, xmax, ymax
	Types   []string  // as GeoParquet has them, sorted: "Polygon Z"
	Kind    geoarrow.Kind
	Dim     geoarrow.Dim
}

// cover returns the cover; nil if the kinds of geometries are not all named.
func (g *geo) cover() *Cover {
	column := g.Columns[g.Primary]
	b := column.Covering.BBox
	c := &Cover{
		Field: b.XMin[0], Members: [4]string{b.XMin[1], b.YMin[1], b.XMax[1], b.YMax[1]},
		Types: slices.Sorted(slices.Values(column.Types)),
	}
	for i, name := range c.Types {
		kind, dim, ok := kindNamed(name)
		if !ok {
			return nil
		}
		c.Dim |= dim
		if c.Kind = c.Kind.Join(kind); i == 0 {
			c.Kind = kind
		}
	}
	if len(c.Types) == 0 {
		return nil
	}
	return c
}

// kindNamed reads a kind of GeoParquet, as "MultiPolygon Z".
func kindNamed(name string) (geoarrow.Kind, geoarrow.Dim, bool) {
	name, dims, _ := strings.Cut(name, " ")
	dim, ok := map[string]geoarrow.Dim{"": 0, "Z": geoarrow.HasZ, "M": geoarrow.HasM, "ZM": geoarrow.XYZM}[dims]
	for k := geoarrow.Point; k <= geoarrow.GeometryCollection; k++ {
		if k.String() == name {
			if k == geoarrow.GeometryCollection {
				k = geoarrow.NoKind // it has no native encoding
			}
			return k, dim, ok
		}
	}
	return 0, 0, false
}

// Shape returns the columns of the table as the schema and the cover say, without rows.
func (p *Plan) Shape() readers.Shape {
	s := readers.Shape{
		CRS: p.CRS, Shapes: true, Kind: p.Cover.Kind, Dim: p.Cover.Dim, Starts: []int64{0},
	}
	for _, f := range p.fields {
		s.IDs, s.Facts = append(s.IDs, f.id), append(s.Facts, f.facts)
	}
	s.Arrange()
	return s
}
