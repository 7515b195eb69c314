package readers

import (
	"context"
	"errors"
	"slices"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Project returns s of a parse that reads some columns.
func (s Shape) Project(columns Projection) Shape {
	s.Facts = slices.Clone(s.Facts)
	for i, id := range s.IDs {
		if !columns.Has(id) {
			s.Facts[i] = geoarrow.Unread(id).Facts
		}
	}
	return s
}

// Again reads only batch i of a file whose table has a known shape. span is the batch's place in
// the file, as in Table. p reads the columns that the shape has. If the file turns out to give
// other rows, the error wraps source.ErrChanged.
func Again(ctx context.Context, p Parser, src *source.File, limits Limits, shape *Shape, i int,
	span Span,
) (*geoarrow.Columns, error) {
	limits = limits.WithDefaults()
	k := newKnown(ctx, p, src, limits, shape)
	span.CRS = &shape.CRS
	var b *geoarrow.Columns
	_, err := p.Parse(ctx, src, Request{Span: span, Limits: limits}, func(c Chunk) (err error) {
		if b != nil || int64(c.Columns.Rows) != shape.Starts[i+1]-shape.Starts[i] {
			return k.changed("other rows")
		}
		b, err = k.fit(c)
		return err
	})
	if unfit := new(ShapeError); errors.As(err, &unfit) {
		return nil, k.changed(unfit.What)
	}
	if err == nil && b == nil {
		err = k.changed("no rows")
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}
