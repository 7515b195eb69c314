package readers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Shape is the schema of a table and where its batches end. With it, a later parse of the file can
// emit each batch as soon as its rows are parsed.
type Shape struct {
	IDs       []geoarrow.ColumnID `json:"ids"`
	Facts     []geoarrow.Facts    `json:"facts"`
	Shapes    bool                `json:"shapes"` // there is a geometry column
	Kind      geoarrow.Kind       `json:"kind"`
	Dim       geoarrow.Dim        `json:"dim"`
	CRS       geoarrow.CRS        `json:"crs"`
	BatchRows int                 `json:"batch_rows"` // of the limits of the parse
	Starts    []int64             `json:"starts"`     // as in Table
}

// Shape returns the table's shape.
func (t *Table) Shape(limits Limits) Shape {
	s := Shape{IDs: t.IDs, Facts: t.Facts, CRS: t.CRS, BatchRows: limits.WithDefaults().BatchRows, Starts: t.Starts}
	if g := t.Batches[0].Geometry; g != nil {
		s.Shapes, s.Kind, s.Dim = true, g.Kind, g.Dim
	}
	return s
}

// Fits reports whether a parse within the limits gives batches that end where the shape says. An
// inconsistent shape does not.
func (s *Shape) Fits(limits Limits) bool {
	n := len(s.Starts)
	return n > 1 && s.Starts[0] == 0 && slices.IsSorted(s.Starts) && len(s.IDs) == len(s.Facts) &&
		s.BatchRows == limits.WithDefaults().BatchRows &&
		s.Kind <= geoarrow.GeometryCollection && s.Dim <= geoarrow.XYZM
}

// Table returns the table without the rows: its batches are nil, except the first one, which has
// the types.
func (s *Shape) Table() *Table {
	types := &geoarrow.Columns{Attributes: make([]geoarrow.Column, len(s.IDs))}
	names := finalNames(s.IDs, s.Shapes)
	for i, id := range s.IDs {
		c := geoarrow.Column{Role: id.Role, Name: names[i]}
		types.Attributes[i], _ = c.Widen(s.Facts[i].Resolve(id.Role), 0) // a column without rows converts to any type
	}
	if s.Shapes {
		types.Geometry = geoarrow.NullGeometry(0, s.Kind, s.Dim)
	}
	t := &Table{
		Batches: make([]*geoarrow.Columns, len(s.Starts)-1), Starts: s.Starts, Rows: s.Starts[len(s.Starts)-1],
		CRS: s.CRS, IDs: s.IDs, Facts: s.Facts,
	}
	t.Batches[0] = types
	return t
}

// Names returns the names of the columns in the table.
func (s *Shape) Names() []string { return finalNames(s.IDs, s.Shapes) }

// Arrange puts columns, which are in order of first appearance, into the order of the table.
func (s *Shape) Arrange() {
	facts := make(map[geoarrow.ColumnID]geoarrow.Facts, len(s.IDs))
	for i, id := range s.IDs {
		facts[id] = s.Facts[i]
	}
	s.IDs, s.Facts = columnOrder(s.IDs, facts), nil
	for _, id := range s.IDs {
		s.Facts = append(s.Facts, facts[id])
	}
}

// ReadAs is Read of a file whose table has a known shape. It calls each with every batch as soon as
// its rows are parsed; the slices are on the Go heap. If the file gives another table, the error
// wraps source.ErrChanged. The request is for the whole file: its Span is ignored.
func ReadAs(ctx context.Context, f Format, p Parser, src *source.File, req Request, shape *Shape,
	keep Keeper, each func(i int, b *geoarrow.Columns),
) (*Table, error) {
	began := time.Now()
	req.Span, req.Limits, req.Keep = Span{To: -1}, req.Limits.WithDefaults(), true
	k := newKnown(ctx, p, src, req.Limits, shape)
	k.keep = keep
	k.each = func(i int, b *geoarrow.Columns) error {
		each(i, b)
		return nil
	}
	sum, err := p.Parse(ctx, src, req, k.add)
	if err != nil {
		return nil, err
	}
	sum.layersFrom(src)
	t := &Table{Format: f.Name, Engine: EngineOf(p), CRS: sum.CRS, Summary: sum}
	batches := make([]*geoarrow.Columns, len(k.chunks))
	for i := range k.chunks {
		batches[i] = k.chunks[i].Columns
	}
	k.fill(t, batches, shape.IDs, k.names)
	if !slices.Equal(t.Starts, shape.Starts) || t.CRS != shape.CRS {
		return nil, k.changed("other rows")
	}
	t.ParseTime = time.Since(began)
	return t, nil
}

// shapeJoiner joins chunks to a shape that is known before the first of them.
type shapeJoiner struct {
	joiner
	shape *Shape
	keep  Keeper
	each  func(i int, b *geoarrow.Columns) error
	names []string
}

func newKnown(ctx context.Context, p Parser, src *source.File, limits Limits, shape *Shape) *shapeJoiner {
	k := &shapeJoiner{
		joiner: joiner{
			ctx: ctx, parser: p, src: src, limits: limits, kind: shape.Kind, dim: shape.Dim,
			typed: true, shapes: shape.Shapes,
		},
		shape: shape, names: finalNames(shape.IDs, shape.Shapes),
	}
	k.facts, k.text = map[geoarrow.ColumnID]geoarrow.Facts{}, map[geoarrow.ColumnID]bool{}
	for i, id := range shape.IDs {
		k.facts[id] = shape.Facts[i]
	}
	return k
}

// add widens a chunk at once.
func (k *shapeJoiner) add(c Chunk) error {
	if i := len(k.chunks); i+1 >= len(k.shape.Starts) || int64(c.Columns.Rows) != k.shape.Starts[i+
		1]-k.shape.Starts[i] {
		return k.changed(fmt.Sprintf("batch %d has %d rows", i, c.Columns.Rows))
	}
	b, err := k.fit(c)
	if unfit := new(ShapeError); errors.As(err, &unfit) {
		return k.changed(unfit.What)
	}
	if err != nil {
		return err
	}
	given := *b // what is kept may move elsewhere
	given.Attributes = slices.Clone(b.Attributes)
	if err := k.each(len(k.chunks), &given); err != nil {
		return err
	}
	if k.keep != nil {
		if b, err = k.keep.Keep(b); err != nil {
			return err
		}
	}
	k.chunks = append(k.chunks, Chunk{Columns: b, Span: c.Span})
	return nil
}

// fit widens a chunk to the shape's columns. A chunk that does not fit gives a *ShapeError.
func (k *shapeJoiner) fit(c Chunk) (*geoarrow.Columns, error) {
	if slices.ContainsFunc(c.Columns.Attributes, func(col geoarrow.Column) bool { return col.Facts.IsGuessed() }) {
		c.Columns = withoutGuessed(c.Columns)
	}
	if what := k.unfit(c.Columns); what != "" {
		return nil, &ShapeError{Name: k.src.Name, Row: c.Span.Row, What: what}
	}
	if err := k.limits.CheckCells(k.src.Name, c.Span.Row, c.Columns.Rows, len(k.shape.IDs)); err != nil {
		return nil, err
	}
	b, err := k.widen(c, k.shape.IDs)
	if err != nil {
		return nil, err
	}
	for i := range b.Attributes {
		b.Attributes[i].Name = k.names[i]
	}
	return b, nil
}

// unfit returns why a chunk can't belong to the table, or "".
func (k *shapeJoiner) unfit(c *geoarrow.Columns) string {
	for i := range c.Attributes {
		col := &c.Attributes[i]
		id := col.ID()
		facts, ok := k.facts[id]
		if !ok && col.Facts.Kinds == 0 {
			continue // nulls only: no feature has an id
		}
		if !ok {
			return fmt.Sprintf("column %q is not known", id.Name)
		}
		want, have := facts.Resolve(id.Role), facts.Join(col.Facts).Resolve(id.Role)
		if !arrow.TypeEqual(want.Type, have.Type) || want.JSON != have.JSON || want.Mixed != have.Mixed {
			return fmt.Sprintf("column %q takes %s, where %s is known", id.Name, have, want)
		}
	}
	g := c.Geometry
	switch {
	case (g != nil) != k.shapes:
		return "geometries where none are known, or none where there are"
	case g == nil || g.Nulls == g.Rows || k.kind == geoarrow.NoKind && g.Dim&^k.dim == 0:
		return ""
	case g.Kind == geoarrow.NoKind || g.Kind != k.kind && g.Kind.Multi() != k.kind || g.Dim&^k.dim != 0:
		return fmt.Sprintf("geometries of kind %s, where %s is known", kindText(g.Kind, g.Dim), kindText(k.kind, k.dim))
	}
	return ""
}

func kindText(k geoarrow.Kind, d geoarrow.Dim) string {
	if k == geoarrow.NoKind {
		return "any"
	}
	return geoarrow.MakeRowKind(k, d).String()
}

func (k *shapeJoiner) changed(what string) error {
	return fmt.Errorf("%s: %w: %s", k.src.Name, source.ErrChanged, what)
}
