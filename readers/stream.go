package readers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Open returns s without the number of rows: the shape of any file whose rows fit it.
func (s Shape) Open() Shape {
	s.Starts, s.BatchRows = []int64{0, 0}, 0
	return s
}

// Check returns an error if s, which a client sent, is not a valid open shape.
func (s *Shape) Check() (err error) {
	defer func() {
		if p := recover(); p != nil { // impossible facts
			err = fmt.Errorf("it is malformed: %v", p)
		}
	}()
	seen := map[geoarrow.ColumnID]bool{}
	for i, id := range s.IDs {
		switch {
		case seen[id]:
			return fmt.Errorf("column %q is there twice", id.Name)
		case i < len(s.Facts) && s.Facts[i].Kinds&geoarrow.FactUnread != 0:
			return fmt.Errorf("column %q was not read", id.Name)
		}
		seen[id] = true
	}
	switch {
	case len(s.IDs) != len(s.Facts):
		return fmt.Errorf("%d columns, and facts of %d", len(s.IDs), len(s.Facts))
	case len(s.Starts) != 2 || s.Starts[0] != 0 || s.Starts[1] != 0 || s.BatchRows != 0:
		return errors.New("it is of one file alone")
	case s.Kind > geoarrow.MultiPolygon || s.Dim > geoarrow.XYZM:
		return errors.New("no kind of geometries has this number")
	}
	s.Table()
	return nil
}

// ShapeError reports rows that do not fit the given shape of the file.
type ShapeError struct {
	Name string // of the file
	Row  int64  // the first one of the batch that does not fit
	What string // does not fit
}

// Error returns "exchange: the rows from 65536 on do not fit the shape: column "height" takes
// float64, where int32 is known".
func (e *ShapeError) Error() string {
	return fmt.Sprintf("%s: the rows from %d on do not fit the shape: %s", e.Name, e.Row, e.What)
}

// Stream parses a file whose rows should fit an open shape. It calls each with every batch as soon
// as its rows are parsed, keeps none, and returns the table without rows. Rows that do not fit give
// a *ShapeError after the batches that do. Batches have the shape's reference system, since a file
// may state its own at its end.
func Stream(ctx context.Context, f Format, p Parser, src *source.File, limits Limits, shape *Shape,
	each func(b *geoarrow.Columns) error,
) (*Table, error) {
	began := time.Now()
	limits = limits.WithDefaults()
	k := newKnown(ctx, p, src, limits, shape)
	t := &Table{Format: f.Name, Engine: EngineOf(p)}
	types := map[geoarrow.RowKind]struct{}{}
	sum, err := p.Parse(ctx, src, Request{Span: Span{To: -1}, Limits: limits}, func(c Chunk) error {
		b, err := k.fit(c)
		if err != nil {
			return err
		}
		t.Rows += int64(b.Rows)
		t.Bytes += b.Bytes()
		for i := range b.Attributes {
			t.RoundedIntegers += b.Attributes[i].Rounded
			t.ReplacedCharacters += b.Attributes[i].Replaced
		}
		m := measured(b.Geometry)
		t.Positions += m.positions
		maps.Copy(types, m.types)
		if m.box != noBox {
			t.BBox = union(t.BBox, m.box)
		}
		return each(b)
	})
	if err != nil {
		return nil, err
	}
	if sum.CRS != shape.CRS {
		what := fmt.Sprintf("the reference system is %s, where %s is known", cmp.Or(sum.CRS.String(), "none"),
			cmp.Or(shape.CRS.String(), "none"))
		return nil, &ShapeError{Name: src.Name, What: what}
	}
	for kind := range types {
		t.GeometryTypes = append(t.GeometryTypes, kind.String())
	}
	slices.Sort(t.GeometryTypes)
	sum.layersFrom(src)
	t.CRS, t.Summary, t.ParseTime = sum.CRS, sum, time.Since(began)
	return t, nil
}
