package readers

import (
	"fmt"
	"slices"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// widenKept passes the result of widen to the keeper.
func (j *joiner) widenKept(chunk Chunk, order []geoarrow.ColumnID) (*geoarrow.Columns, error) {
	out, err := j.widen(chunk, order)
	if err != nil || out == chunk.Columns || j.keep == nil {
		return out, err
	}
	j.keeping.Lock()
	defer j.keeping.Unlock()
	return j.keep.Keep(out)
}

// widen returns a chunk all columns in order, with their final types. A chunk that has them already
// is not changed or moved.
func (j *joiner) widen(chunk Chunk, order []geoarrow.ColumnID) (*geoarrow.Columns, error) {
	in := chunk.Columns
	if j.fits(in, order) {
		for i, id := range order {
			to := j.resolve(id)
			in.Attributes[i].JSON, in.Attributes[i].Mixed = to.JSON, to.Mixed
		}
		return in, nil
	}
	out := &geoarrow.Columns{Rows: in.Rows, Attributes: make([]geoarrow.Column, len(order))}
	var text []int
	places := placesOf(in)
	for i, id := range order {
		col := geoarrow.Column{Role: id.Role, Name: id.Name, Nulls: in.Rows}
		to := j.resolve(id)
		if k, ok := places[id]; ok {
			col = in.Attributes[k]
		} else if j.facts[id].Kinds&geoarrow.FactGuess != 0 && isText(to.Type) && in.Rows > 0 {
			text = append(text, i) // its values are in the geometry
			continue
		}
		wide, ok := col.Widen(to, in.Rows)
		if !ok {
			text = append(text, i)
		}
		out.Attributes[i] = wide
	}
	if len(text) > 0 {
		if err := j.reread(chunk, text, order, out); err != nil {
			return nil, err
		}
	}
	if in.Geometry != nil {
		var err error
		if out.Geometry, err = in.Geometry.Widen(j.kind, j.dim); err != nil {
			return nil, tooLarge(j.src.Name, chunk.Span.Row, err, j.limits)
		}
	}
	return out, nil
}

// placesOf returns an index from columns to their places: a file may have very many.
func placesOf(c *geoarrow.Columns) map[geoarrow.ColumnID]int {
	places := make(map[geoarrow.ColumnID]int, len(c.Attributes))
	for i := range c.Attributes {
		places[c.Attributes[i].ID()] = i
	}
	return places
}

// reread parses a chunk again for the columns whose text is needed, given their places in order.
func (j *joiner) reread(chunk Chunk, text []int, order []geoarrow.ColumnID, out *geoarrow.Columns) error {
	span := chunk.Span
	span.Text = slices.Clone(span.Text)
	for _, i := range text {
		span.Text = append(span.Text, order[i])
	}
	limits := j.limits
	_, err := j.parser.Parse(j.ctx, j.src, Request{Span: span, Limits: limits}, func(again Chunk) error {
		if again.Columns.Rows != out.Rows {
			return fmt.Errorf("%s: %w: rows %d to %d are %d now", j.src.Name, source.ErrChanged, span.Row,
				span.Row+int64(out.Rows), again.Columns.Rows)
		}
		before, places := placesOf(chunk.Columns), placesOf(again.Columns)
		for _, i := range text {
			id := order[i]
			col := geoarrow.Column{Role: id.Role, Name: id.Name, Nulls: out.Rows}
			if k, ok := places[id]; ok {
				col = again.Columns.Attributes[k]
			} else if k, ok := before[id]; !ok || chunk.Columns.Attributes[k].Nulls != out.Rows {
				// otherwise only other rows of their part have it
				return fmt.Errorf("%s: %w: column %s is gone", j.src.Name, source.ErrChanged, id.Name)
			}
			wide, ok := col.Widen(j.resolve(id), out.Rows)
			if !ok {
				return fmt.Errorf("%s: %w: column %s has other values", j.src.Name, source.ErrChanged, id.Name)
			}
			out.Attributes[i] = wide
		}
		return nil
	})
	return err
}
