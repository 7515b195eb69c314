package ogc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/flightsrv/web/ogc/cql2"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/crs"
	"github.com/vibeflight/vibeflight/readers/crs/project"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// ownTransformation returns the transformation between two systems that needs no SQL.
func ownTransformation(from, to geoarrow.CRS) (*project.Transformation, bool) {
	id := func(c geoarrow.CRS) crs.ID { return crs.ID{Authority: c.Authority, Code: c.Code} }
	return project.Between(id(from), id(to))
}

// transforms reports whether the server can transform positions from one system to another.
func (h *handlers) transforms(from, to geoarrow.CRS) bool {
	_, own := ownTransformation(from, to)
	return own || h.spatial()
}

// transform returns geometries in another system, as WKB, with x first. Positions that have no
// coordinates there are infinite.
func (h *handlers) transform(ctx context.Context, g *geoarrow.Geometry, from, to geoarrow.CRS) (arrow.Array, error) {
	if own, ok := ownTransformation(from, to); ok {
		moved, err := g.Move(func(x, y, toX, toY []float64) error {
			own.ApplyAll(x, y, toX, toY)
			return nil
		})
		if err != nil {
			return nil, err
		}
		c := &geoarrow.Columns{Rows: g.Rows, Geometry: moved}
		rec, err := c.Record(geoarrow.Schema(c, geoarrow.CRS{}, wkb), nil, wkb)
		if err != nil {
			return nil, err
		}
		defer rec.Release()
		rec.Column(0).Retain()
		return rec.Column(0), nil
	}
	name := func(c geoarrow.CRS) string { return "'" + strings.ReplaceAll(c.String(), "'", "''") + "'" }
	table := &readers.Table{
		Batches: []*geoarrow.Columns{{Rows: g.Rows, Geometry: g}}, Starts: []int64{0, int64(g.Rows)},
		Rows: int64(g.Rows),
	}
	expression := fmt.Sprintf("ST_Transform(geometry, %s, %s, true)", name(from), name(to))
	columns, err := h.evaluator.Compute(ctx, table, []restrict.Mask{{Column: 0, Expression: expression}})
	if err != nil {
		return nil, evaluationError(ctx, err,
			fmt.Sprintf("a geometry can't be transformed from %.100s to %.100s", from, to))
	}
	return columns[0], nil
}

// place converts the shape of a request to the system of a table. A box may become two boxes, or a
// polygon.
func (h *handlers) place(ctx context.Context, t *featureTable, filterCRS geoarrow.CRS) func(cql2.Shape) (
	[]cql2.Shape, error,
) {
	return func(s cql2.Shape) ([]cql2.Shape, error) {
		from := filterCRS
		if s.CRS != "" {
			from, _ = geoarrow.ParseCRS(s.CRS) // system has checked it
		}
		if from.NorthFirst() {
			s = swapped(s)
		}
		boxes := []cql2.Shape{s}
		if s.Box != nil && s.Box[0] > s.Box[2] {
			if from != geoarrow.CRS84 && from != epsg4326 {
				return nil, httpcall.BadRequest("a box with xmin > xmax is for longitudes only")
			}
			east, west := *s.Box, *s.Box
			east[2], west[0] = math.Inf(1), math.Inf(-1)
			boxes = []cql2.Shape{{Box: &east}, {Box: &west}}
		}
		if from == t.storage() || isCRS84(from) && t.storage() == geoarrow.CRS84 {
			return boxes, nil
		}
		if !h.transforms(from, t.storage()) || !h.transforms(t.storage(), from) {
			return nil, noTransformation(t)
		}
		for i, b := range boxes {
			var err error
			b.Meets = s.Meets
			if boxes[i], err = h.transformNear(ctx, t, b, from); err != nil {
				return nil, err
			}
		}
		return simplified(boxes), nil
	}
}

// Boxes that no geometry meets, and that all geometries meet.
var (
	nothing    = cql2.Rect{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	everything = cql2.Rect{math.Inf(-1), math.Inf(-1), math.Inf(1), math.Inf(1)}
)

// simplified returns shapes of which a geometry meets one if it meets one of the given shapes. They are
// one box, or they have no box without bounds.
func simplified(shapes []cql2.Shape) []cql2.Shape {
	is := func(s cql2.Shape, box cql2.Rect) bool { return s.Box != nil && *s.Box == box }
	for i, s := range shapes {
		if is(s, everything) {
			return shapes[i : i+1]
		}
	}
	if some := slices.DeleteFunc(slices.Clone(shapes), func(s cql2.Shape) bool {
		return is(s, nothing)
	}); len(some) > 0 {
		return some
	}
	return shapes[:1]
}

// transformNear transforms a shape to the system of a table. Far from the table's extent, PROJ has no
// positions in this system, or wrong ones. So a box is reduced to its part near the extent first.
func (h *handlers) transformNear(ctx context.Context, t *featureTable, s cql2.Shape, from geoarrow.CRS) (
	cql2.Shape, error,
) {
	box := metadata.Finite(t.BBox)
	if s.Box == nil || !s.Meets || box == nil {
		return h.transformShape(ctx, s, from, t.storage())
	}
	area, err := h.transformShape(ctx, shapeOfBox(*box), t.storage(), from)
	if err != nil {
		return s, err
	}
	near, ok := area.Bounds()
	if !ok || metadata.Finite(&near) == nil {
		return h.transformShape(ctx, s, from, t.storage())
	}
	margin := 0.01 * max(near[2]-near[0], near[3]-near[1])
	b := *s.Box
	for i := range 2 {
		b[i], b[i+2] = max(b[i], near[i]-margin), min(b[i+2], near[i+2]+margin)
	}
	switch {
	case b[0] > b[2] || b[1] > b[3]:
		return cql2.Shape{Box: &nothing}, nil
	case contains([]cql2.Rect{*s.Box}, near):
		return cql2.Shape{Box: &everything}, nil
	}
	return h.transformShape(ctx, cql2.Shape{Box: &b}, from, t.storage())
}

// transformShape transforms a shape. The edges of a box follow parallels and meridians.
func (h *handlers) transformShape(ctx context.Context, s cql2.Shape, from, to geoarrow.CRS) (cql2.Shape, error) {
	tree := s.Tree
	if s.Box != nil {
		b := *s.Box
		b[0], b[2] = max(b[0], -180), min(b[2], 180)
		if !isCRS84(from) {
			b = *s.Box
		}
		tree = ring(b)
	}
	out, err := h.transform(ctx, geometryOf(&tree), from, to)
	if err != nil {
		return s, err
	}
	defer out.Release()
	wkb, ok := out.(*array.Binary)
	if !ok || wkb.Len() != 1 || wkb.IsNull(0) {
		return s, errors.New("a geometry was not transformed")
	}
	s = cql2.Shape{}
	s.Tree, err = geoarrow.ParseWKB(wkb.Value(0))
	return s, err
}

// edgeParts is how many parts the edges of a box have before they are transformed.
const edgeParts = 32

// ring returns a box as a polygon with positions along its edges.
func ring(b [4]float64) geoarrow.Tree {
	corners := [5][2]float64{{b[0], b[1]}, {b[2], b[1]}, {b[2], b[3]}, {b[0], b[3]}, {b[0], b[1]}}
	var run []float64
	for i := range 4 {
		from, to := corners[i], corners[i+1]
		for k := range edgeParts {
			f := float64(k) / edgeParts
			run = append(run, from[0]+(to[0]-from[0])*f, from[1]+(to[1]-from[1])*f)
		}
	}
	run = append(run, b[0], b[1])
	return geoarrow.Tree{Kind: geoarrow.Polygon, Runs: [][]float64{run}}
}

// swapped returns a shape with its axes exchanged.
func swapped(s cql2.Shape) cql2.Shape {
	if s.Box != nil {
		b := s.Box
		s.Box = &[4]float64{b[1], b[0], b[3], b[2]}
	}
	s.Tree = swappedTree(s.Tree)
	return s
}

func swappedTree(t geoarrow.Tree) geoarrow.Tree {
	n := t.Dim.Size()
	t.Runs = slices.Clone(t.Runs)
	for i, run := range t.Runs {
		t.Runs[i] = slices.Clone(run)
		for k := 0; k < len(run); k += n {
			t.Runs[i][k], t.Runs[i][k+1] = run[k+1], run[k]
		}
	}
	t.Members = slices.Clone(t.Members)
	for i := range t.Members {
		t.Members[i] = swappedTree(t.Members[i])
	}
	return t
}

// shapeOfBox returns a box as a shape.
func shapeOfBox(b [4]float64) cql2.Shape { return cql2.Shape{Box: &b} }
