package scan

import (
	"context"
	"math"

	"github.com/vibeflight/vibeflight/readers/crs"
	"github.com/vibeflight/vibeflight/readers/crs/project"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Transformer transforms positions, with x first, from one reference system to another: from x and y
// to toX and toY. The result for a position without an image is infinite. A position with NaN gives
// NaN.
type Transformer interface {
	Transform(ctx context.Context, from, to geoarrow.CRS, x, y, toX, toY []float64) error
}

// reprojection moves geometries from one reference system to another.
type reprojection struct {
	from, to geoarrow.CRS
	own      *project.Transformation // nil: other is used
	other    Transformer
}

// reprojection returns how geometries of a table are moved.
func (sel *Selection) reprojection(from, to geoarrow.CRS) (*reprojection, error) {
	r := &reprojection{from: from, to: to, other: sel.Transformer}
	id := func(c geoarrow.CRS) crs.ID { return crs.ID{Authority: c.Authority, Code: c.Code} }
	if own, ok := project.Between(id(from), id(to)); ok {
		r.own = own
		return r, nil
	}
	if r.other == nil {
		return nil, &OtherCRSError{Asked: sel.CRS, CRS: from}
	}
	return r, nil
}

// before returns a box in the table's system that the boxes of all rows meet whose moved geometry
// meets the target.
func (r *reprojection) before(target, within [4]float64) [4]float64 {
	if r.own != nil {
		return r.own.Before(target, within)
	}
	return [4]float64{math.Inf(-1), math.Inf(-1), math.Inf(1), math.Inf(1)}
}

// move returns geometries in the requested system.
func (r *reprojection) move(ctx context.Context, g *geoarrow.Geometry) (*geoarrow.Geometry, error) {
	return g.Move(func(x, y, toX, toY []float64) error {
		if r.own == nil {
			return r.other.Transform(ctx, r.from, r.to, x, y, toX, toY)
		}
		r.own.ApplyAll(x, y, toX, toY)
		return ctx.Err()
	})
}

// meeting returns the rows of a batch, of those given, whose moved geometry meets a box.
func (r *reprojection) meeting(ctx context.Context, g *geoarrow.Geometry, rows []int32, box [4]float64) (
	[]int32, error,
) {
	moved, err := r.move(ctx, g.Take(rows))
	if err != nil {
		return nil, err
	}
	var found []int32
	for i, row := range rows {
		if b, ok := boundsOf(moved, i); ok && !isBeyond(b) && meets(box, b) {
			found = append(found, row)
		}
	}
	return found, nil
}

func boundsOf(g *geoarrow.Geometry, i int) (b [4]float64, ok bool) {
	b[0], b[1], b[2], b[3], ok = g.Bounds(i)
	return b, ok
}

// isBeyond reports whether a box has a position without an image.
func isBeyond(b [4]float64) bool { return math.IsInf(b[2], 1) || math.IsInf(b[3], 1) }

// moved returns rows with their geometries in the requested system. A geometry that has none gives a
// *OtherCRSError; number returns the number of a row in the table.
func (v *view) moved(ctx context.Context, c *geoarrow.Columns, number func(i int) int64) (*geoarrow.Columns, error) {
	if v.move == nil || c.Geometry == nil || c.Rows == 0 {
		return c, nil
	}
	g, err := v.move.move(ctx, c.Geometry)
	if err != nil {
		return nil, err
	}
	if b, ok := g.TotalBounds(); ok && isBeyond(b) {
		for i := range g.Rows {
			if b, ok := boundsOf(g, i); ok && isBeyond(b) {
				return nil, &OtherCRSError{Asked: v.move.to.String(), CRS: v.move.from, Beyond: true, Row: number(i)}
			}
		}
	}
	out := *c
	out.Geometry = g
	return &out, nil
}
