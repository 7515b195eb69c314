package ogc

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/flightsrv/web/ogc/cql2"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// search finds the rows of a table that meet a predicate, in the order of the table. Boxes are tested
// here, by the spatial index first. The rest is an expression in SQL over a few columns of some
// batches: the caller needs no privilege for it, since it reads nothing else.
type search struct {
	table     *featureTable
	predicate *cql2.Predicate // nil: all rows
	evaluator restrict.Evaluator
	clock     httpcall.Clock // of the query; nil without SQL
}

// candidate is a batch with the rows that meet the boxes.
type candidate struct {
	batch   int
	columns *geoarrow.Columns
	rows    []int32
	release func()
}

// Groups of batches that are filtered at once. They grow, so that a page that is found early costs
// little, and a rare row does not cost a query for each batch.
const (
	maxGroupBatches = 16
	maxGroupBytes   = 64 << 20
)

// run calls each with the rows of each batch from a row of the table on, until it returns false. The
// columns are valid until each returns.
func (s *search) run(ctx context.Context, from int64,
	each func(batch int, c *geoarrow.Columns, rows []int32) (bool, error),
) error {
	var group []candidate
	defer func() {
		for _, c := range group {
			c.release()
		}
	}()
	limit, bytes := 1, int64(0)
	flush := func() (bool, error) {
		if err := s.filter(ctx, group); err != nil {
			return false, err
		}
		for len(group) > 0 {
			c := group[0]
			more := true
			var err error
			if len(c.rows) > 0 {
				more, err = each(c.batch, c.columns, c.rows)
			}
			c.release()
			group = group[1:]
			if err != nil || !more {
				return false, err
			}
		}
		limit, bytes = min(2*limit, maxGroupBatches), 0
		return true, nil
	}
	first, exact := slices.BinarySearch(s.table.Starts, from)
	if !exact {
		first--
	}
	for i := max(0, first); i < len(s.table.Starts)-1; i++ {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		c, ok, err := s.candidate(ctx, i, int(max(0, from-s.table.Starts[i])))
		if err != nil {
			return err
		}
		if ok {
			group = append(group, c)
			bytes += c.columns.Bytes()
		}
		if len(group) >= limit || bytes >= maxGroupBytes {
			if more, err := flush(); err != nil || !more {
				return err
			}
		}
	}
	_, err := flush()
	return err
}

// selection is rows of a batch.
type selection struct {
	batch int
	rows  []int32
}

// page returns the rows of a page that begins at a row, and the row where the next page begins, or -1.
func (s *search) page(ctx context.Context, from int64, limit int) (parts []selection, next int64, err error) {
	next = -1
	err = s.run(ctx, from, func(batch int, _ *geoarrow.Columns, rows []int32) (bool, error) {
		if len(rows) > limit {
			next = s.table.Starts[batch] + int64(rows[limit])
			rows = rows[:limit]
		}
		if len(rows) > 0 {
			parts = append(parts, selection{batch, slices.Clone(rows)})
		}
		limit -= len(rows)
		return next < 0, nil
	})
	return parts, next, err
}

// candidate returns the rows of a batch that meet the boxes; ok is false if there are none.
func (s *search) candidate(ctx context.Context, i, from int) (c candidate, ok bool, err error) {
	t := s.table
	rows := int(t.Starts[i+1] - t.Starts[i])
	if from >= rows {
		return c, false, nil
	}
	var found []int32 // nil: all
	var met []bool    // lists of boxes that all of them meet
	if s.predicate != nil {
		met = make([]bool, len(s.predicate.Boxes))
		for k, boxes := range s.predicate.Boxes {
			rows, all, err := s.near(ctx, i, boxes)
			if err != nil {
				return c, false, err
			}
			if all {
				continue
			}
			if found != nil {
				rows = intersection(found, rows)
			}
			if len(rows) == 0 {
				return c, false, nil
			}
			found = rows
			// The index has the rows that have a box, which is inside of that of the batch.
			met[k] = t.Boxes != nil && contains(boxes, t.Boxes[i])
		}
	}
	c.batch = i
	if c.columns, err = t.ref.Batch(ctx, i); err != nil {
		return c, false, err
	}
	c.release = t.ref.Retain()
	if c.release == nil {
		c.release = func() {}
	}
	if found == nil {
		found = make([]int32, 0, rows-from)
		for k := from; k < rows; k++ {
			found = append(found, int32(k))
		}
	} else {
		k, _ := slices.BinarySearch(found, int32(from))
		found = found[k:]
	}
	if c.rows, err = s.exact(c.columns.Geometry, found, met); err == nil && len(c.rows) > 0 {
		return c, true, nil
	}
	c.release()
	return c, false, err
}

// near returns the rows of a batch whose bounding boxes meet one of some boxes. all means that it does
// not know.
func (s *search) near(ctx context.Context, i int, boxes []cql2.Rect) (rows []int32, all bool, err error) {
	t := s.table
	rows = []int32{}
	for _, b := range boxes {
		if t.Boxes != nil && !overlap(b, t.Boxes[i]) {
			continue
		}
		found, ok, err := t.ref.Search(ctx, i, b)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			return nil, true, nil
		}
		rows = union(rows, found)
	}
	return rows, false, nil
}

func overlap(a, b [4]float64) bool {
	return a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3]
}

// contains reports whether one of some boxes contains a box.
func contains(boxes []cql2.Rect, b [4]float64) bool {
	return slices.ContainsFunc(boxes, func(a cql2.Rect) bool {
		return a[0] <= b[0] && a[1] <= b[1] && a[2] >= b[2] && a[3] >= b[3]
	})
}

func union(a, b []int32) []int32 {
	if len(a) == 0 {
		return b
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func intersection(a, b []int32) []int32 {
	out := []int32{}
	for _, v := range a {
		if _, ok := slices.BinarySearch(b, v); ok {
			out = append(out, v)
		}
	}
	return out
}

// exact returns the rows whose geometries meet a box of each list of the predicate, except of those
// that all rows meet.
func (s *search) exact(g *geoarrow.Geometry, rows []int32, met []bool) ([]int32, error) {
	if s.predicate == nil {
		return rows, nil
	}
	for k, boxes := range s.predicate.Boxes {
		if met[k] {
			continue
		}
		if g == nil {
			return nil, nil
		}
		met, err := meeting(g, rows, boxes)
		if err != nil {
			return nil, err
		}
		kept := make([]int32, 0, len(rows))
		for k, row := range rows {
			if met[k] {
				kept = append(kept, row)
			}
		}
		rows = kept
	}
	return rows, nil
}

// meeting returns for each row whether its geometry meets one of some boxes; false for null.
func meeting(g *geoarrow.Geometry, rows []int32, boxes []cql2.Rect) ([]bool, error) {
	out := make([]bool, len(rows))
	var near []int32 // rows that need their positions
	var places []int
	for k, row := range rows {
		xmin, ymin, xmax, ymax, ok := g.Bounds(int(row))
		b := [4]float64{xmin, ymin, xmax, ymax}
		switch {
		case !ok || !slices.ContainsFunc(boxes, func(a cql2.Rect) bool { return overlap(a, b) }):
		case contains(boxes, b):
			out[k] = true
		default:
			near, places = append(near, row), append(places, k)
		}
	}
	const step = 1024
	for len(near) > 0 {
		n := min(step, len(near))
		wkb, err := g.Take(near[:n]).ToWKB()
		if err != nil {
			return nil, err
		}
		for k := range n {
			t, err := geoarrow.ParseWKB(wkb.WKB[wkb.Offsets[k]:wkb.Offsets[k+1]])
			if err != nil {
				return nil, err
			}
			out[places[k]] = meetsAny(&t, boxes)
		}
		near, places = near[n:], places[n:]
	}
	return out, nil
}

// filter removes the rows of a group that do not meet the expression of the predicate.
func (s *search) filter(ctx context.Context, group []candidate) error {
	if len(group) == 0 || s.predicate == nil || s.predicate.SQL == "" {
		return nil
	}
	t := &readers.Table{Starts: []int64{0}}
	for _, c := range group {
		columns, err := s.columns(c)
		if err != nil {
			return err
		}
		t.Batches = append(t.Batches, columns)
		t.Rows += int64(len(c.rows))
		t.Starts = append(t.Starts, t.Rows)
	}
	s.clock.Start()
	kept, err := s.evaluator.Filter(ctx, t, s.predicate.SQL)
	s.clock.Pause()
	if err != nil {
		return evaluationError(ctx, err, "the filter can't be evaluated on the features of this collection")
	}
	for i, places := range kept {
		rows := make([]int32, len(places))
		for k, p := range places {
			rows[k] = group[i].rows[p]
		}
		group[i].rows = rows
	}
	return nil
}

// evaluationError returns the error of an expression that has no value for some row. SQL's error names
// columns that the client does not know.
func evaluationError(ctx context.Context, err error, detail string) error {
	var query *duck.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &query) && (query.Kind == duck.Value || query.Kind == duck.Type):
		return &httpcall.Error{Status: http.StatusBadRequest, Code: "INVALID_ARGUMENT", Detail: detail, Err: err}
	}
	return err
}

// columns returns the columns that the expression reads, of the rows of a candidate.
func (s *search) columns(c candidate) (*geoarrow.Columns, error) {
	p := s.predicate
	out := &geoarrow.Columns{Rows: c.columns.Rows}
	for i, name := range p.Columns {
		column := c.columns.Attributes[s.table.attribute(name)]
		column.Name, column.JSON = "c"+strconv.Itoa(i), false
		out.Attributes = append(out.Attributes, column)
	}
	if p.Shapes {
		out.Geometry = c.columns.Geometry
	}
	if len(c.rows) < c.columns.Rows {
		out = out.Take(c.rows)
	}
	for i, boxes := range p.Tests {
		test, err := testColumn(c, boxes)
		if err != nil {
			return nil, err
		}
		test.Name = "b" + strconv.Itoa(i)
		out.Attributes = append(out.Attributes, test)
	}
	if len(out.Attributes) == 0 && out.Geometry == nil { // a constant expression
		valid := make([]byte, (len(c.rows)+7)/8)
		out.Attributes = append(out.Attributes, geoarrow.Column{
			Name: "c0", Type: arrow.FixedWidthTypes.Boolean, Values: valid,
		})
	}
	return out, nil
}

// testColumn returns whether the geometries of a candidate's rows meet one of some boxes; null for
// null.
func testColumn(c candidate, boxes []cql2.Rect) (geoarrow.Column, error) {
	n := len(c.rows)
	out := geoarrow.Column{Type: arrow.FixedWidthTypes.Boolean, Values: make([]byte, (n+7)/8)}
	g := c.columns.Geometry
	met, err := meeting(g, c.rows, boxes)
	if err != nil {
		return out, err
	}
	valid := make([]byte, len(out.Values))
	for k, row := range c.rows {
		if met[k] {
			out.Values[k/8] |= 1 << (k % 8)
		}
		if g.Valid == nil || g.Valid[row/8]>>(row%8)&1 == 1 {
			valid[k/8] |= 1 << (k % 8)
		} else {
			out.Nulls++
		}
	}
	if out.Nulls > 0 {
		out.Valid = valid
	}
	return out, nil
}
