package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// pointsAtOnce is the number of positions in a query.
const pointsAtOnce = 1 << 16

// Transform implements scan.Transformer, by PROJ in the spatial extension: positions are points of a
// query.
func (e *Engine) Transform(ctx context.Context, from, to geoarrow.CRS, x, y, toX, toY []float64) error {
	name := func(c geoarrow.CRS) string { return "'" + strings.ReplaceAll(c.String(), "'", "''") + "'" }
	expression := fmt.Sprintf("TRY(ST_Transform(geometry, %s, %s, true))", name(from), name(to))
	points, places := &geoarrow.Geometry{Kind: geoarrow.Point}, []int(nil)
	for i := range x {
		if math.IsNaN(x[i]) || math.IsNaN(y[i]) {
			toX[i], toY[i] = math.Float64frombits(canonicalNaN), math.Float64frombits(canonicalNaN)
		} else {
			points.X, points.Y, places = append(points.X, x[i]), append(points.Y, y[i]), append(places, i)
		}
		if len(places) < pointsAtOnce && i < len(x)-1 || len(places) == 0 {
			continue
		}
		points.Rows = len(places)
		moved, err := e.points(ctx, points, expression)
		if err != nil {
			return fmt.Errorf("positions can't be transformed from %.100s to %.100s: %w", from, to, err)
		}
		for k, at := range places {
			toX[at], toY[at] = moved.X[k], moved.Y[k]
		}
		points, places = &geoarrow.Geometry{Kind: geoarrow.Point}, places[:0]
	}
	return nil
}

// canonicalNaN are the bits of the NaN in tables.
const canonicalNaN = 0x7ff8000000000000

// points returns the values of an expression of points. One that has none is infinite.
func (e *Engine) points(ctx context.Context, g *geoarrow.Geometry, expression string) (
	*geoarrow.Geometry, error,
) {
	table := &readers.Table{
		Batches: []*geoarrow.Columns{{Rows: g.Rows, Geometry: g}}, Starts: []int64{0, int64(g.Rows)},
		Rows: int64(g.Rows),
	}
	columns, err := e.Compute(ctx, table, []restrict.Mask{{Column: 0, Expression: expression}})
	if err != nil {
		return nil, err
	}
	defer columns[0].Release()
	wkb, ok := columns[0].(*array.Binary)
	if !ok || wkb.Len() != g.Rows {
		return nil, fmt.Errorf("%d points became %d values of type %s", g.Rows, columns[0].Len(), columns[0].DataType())
	}
	out := &geoarrow.Geometry{Rows: g.Rows, X: make([]float64, g.Rows), Y: make([]float64, g.Rows)}
	for i := range g.Rows {
		out.X[i], out.Y[i] = pointOf(wkb, i)
	}
	return out, nil
}

// pointOf returns the position of a point in little-endian WKB.
func pointOf(wkb *array.Binary, i int) (x, y float64) {
	const header = 5
	if b := wkb.Value(i); !wkb.IsNull(i) && len(b) == header+16 {
		x = math.Float64frombits(binary.LittleEndian.Uint64(b[header:]))
		y = math.Float64frombits(binary.LittleEndian.Uint64(b[header+8:]))
		if !math.IsNaN(x) && !math.IsNaN(y) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
			return x, y
		}
	}
	return math.Inf(1), math.Inf(1)
}
