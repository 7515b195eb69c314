package records

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// convert makes the columns of a chunk.
func (p *parse) convert(c *chunk) (*geoarrow.Columns, error) {
	if len(c.pieces) == 0 {
		return p.none(), nil
	}
	parts := make([]*geoarrow.Columns, len(c.pieces))
	g := p.geometries()
	for i := range c.pieces {
		var err error
		if parts[i], err = p.attributes(&c.pieces[i], &c.odd.Deviations); err != nil {
			return nil, err
		}
		if err := p.addGeometries(g, &c.pieces[i], &c.odd.Deviations); err != nil {
			return nil, err
		}
	}
	out := parts[0]
	if len(parts) > 1 {
		var err error
		if out, err = geoarrow.Concat(&geoarrow.Arena{}, parts); err != nil {
			return nil, p.tooLarge(c.span.Row, err)
		}
	}
	if g == nil {
		return out, nil
	}
	var err error
	if out.Geometry, err = g.b.Finish(); err != nil {
		return nil, p.tooLarge(c.span.Row, err)
	}
	g.count(&c.odd)
	return out, nil
}

// none returns the chunk of a file without rows.
func (p *parse) none() *geoarrow.Columns {
	c := &geoarrow.Columns{Attributes: make([]geoarrow.Column, len(p.Plan.fields))}
	for i, f := range p.Plan.fields {
		if !p.Columns.Has(f.id) {
			c.Attributes[i] = geoarrow.Unread(f.id)
			continue
		}
		empty := geoarrow.Column{Name: f.id.Name, Role: f.id.Role, Facts: f.facts}
		c.Attributes[i], _ = empty.Widen(f.facts.Resolve(f.id.Role), 0)
	}
	if p.Plan.geometry != nil {
		c.Geometry = geoarrow.NullGeometry(0, geoarrow.NoKind, geoarrow.XY)
	}
	return c
}

// attributes makes the columns of some rows of a batch, without the geometry.
func (p *parse) attributes(b *piece, passed *readers.Deviations) (*geoarrow.Columns, error) {
	c := &geoarrow.Columns{Rows: b.to - b.from, Attributes: make([]geoarrow.Column, len(p.Plan.fields))}
	for i, f := range p.Plan.fields {
		asked := p.Columns.Has(f.id)
		c.Attributes[i] = geoarrow.Unread(f.id)
		if !asked && !p.Check {
			continue
		}
		data := b.batch.Arrays[f.index]
		if p.Null {
			data = withoutBadTimes(rows{data, b.from, b.to}, func(row int) {
				passed.Add(p.deviation(b, row, f.id.Name, RuleTime, "value is null"))
			})
		}
		column, err := p.attribute(rows{data, b.from, b.to}, f)
		if err != nil {
			return nil, p.at(b, f.id.Name, err)
		}
		if asked {
			c.Attributes[i] = column
		}
	}
	return c, nil
}

// geometries returns an empty geometry column; nil if the table has none.
func (p *parse) geometries() *reader {
	if p.Plan.geometry == nil {
		return nil
	}
	g := &reader{encoding: p.Plan.geometry.encoding}
	g.b.Memory, g.b.Unread = &geoarrow.Arena{}, !p.Columns.Geometry()
	g.b.Reset()
	g.text.MaxDepth = p.limits.MaxDepth
	return g
}

// addGeometries reads those of some rows of a batch.
func (p *parse) addGeometries(g *reader, b *piece, passed *readers.Deviations) error {
	switch {
	case g == nil:
		return nil
	case !p.Columns.Geometry() && !p.Check:
		for range b.to - b.from {
			g.b.Null()
		}
		return nil
	}
	if p.Null {
		g.pass = func(row int, err error) bool {
			if isDeep(err) || errors.Is(err, geoarrow.ErrBatchTooLarge) {
				return false
			}
			passed.Add(p.deviation(b, row, readers.GeometryColumn, RuleGeometry, "geometry is null"))
			return true
		}
	}
	if err := g.read(rows{b.batch.Arrays[p.Plan.geometry.index], b.from, b.to}); err != nil {
		return p.at(b, readers.GeometryColumn, err)
	}
	return nil
}

// attribute makes one column.
func (p *parse) attribute(r rows, f field) (geoarrow.Column, error) {
	read := r.read
	if f.json {
		read = r.json
	}
	c, err := read()
	if err != nil {
		return c, err
	}
	if f.texts && !isJSON(&c, r.len()) {
		f.facts.Kinds |= geoarrow.FactString // of several kinds: texts
	}
	to := f.facts.Resolve(f.id.Role)
	if !arrow.TypeEqual(c.Type, to.Type) {
		return c, fmt.Errorf("values of type %s in a column of %s", c.Type, to.Type)
	}
	c.Name, c.Role, c.Facts, c.JSON, c.Mixed = f.id.Name, f.id.Role, f.facts, to.JSON, to.Mixed
	return c, nil
}
