package readers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Shape is what the batches of a table have in common, and where they end: enough to give each batch as soon as its rows are parsed when the file
// is read once more.
type Shape struct {
	IDs       []geoarrow.ColumnID `json:"ids"`
	Facts     []geoarrow.Facts    `json:"facts"`
	Shapes    bool                `json:"shapes"` // there is a geometry column
	Kind      geoarrow.Kind       `json:"kind"`
	Dim       geoarrow.Dim        `json:"dim"`
	CRS       geoarrow.CRS        `json:"crs"`
	BatchRows int                 `json:"batch_rows"` // of the limits that the table was read with
	Starts    []int64             `json:"starts"`     // as in Table
}

// Shape is that of the table.
func (t *Table) Shape(limits Limits) Shape {
	s := Shape{IDs: t.IDs, Facts: t.Facts, CRS: t.CRS, BatchRows: limits.WithDefaults().BatchRows, Starts: t.Starts}
	if g := t.Batches[0].Geometry; g != nil {
		s.Shapes, s.Kind, s.Dim = true, g.Kind, g.Dim
	}
	return s
}

// Fits reports whether a parse within the limits gives batches that end where the shape says. A shape that was never one of a table does not.
func (s *Shape) Fits(limits Limits) bool {
	n := len(s.Starts)
	return n > 1 && s.Starts[0] == 0 && slices.IsSorted(s.Starts) && len(s.IDs) == len(s.Facts) && s.BatchRows == limits.WithDefaults().BatchRows &&
		s.Kind <= geoarrow.GeometryCollection && s.Dim <= geoarrow.XYZM
}

// Table is the table without the rows: its batches are nil, but for the first one, which has the types.
func (s *Shape) Table() *Table {
	types := &geoarrow.Columns{Attributes: make([]geoarrow.Column, len(s.IDs))}
	names := finalNames(s.IDs, s.Shapes)
	for i, id := range s.IDs {
		c := geoarrow.Column{Role: id.Role, Name: names[i]}
		types.Attributes[i], _ = c.Widen(s.Facts[i].Resolve(id.Role), 0) // a column without rows becomes anything
	}
	if s.Shapes {
		types.Geometry = geoarrow.NullGeometry(0, s.Kind, s.Dim)
	}
	t := &Table{Batches: make([]*geoarrow.Columns, len(s.Starts)-1), Starts: s.Starts, Rows: s.Starts[len(s.Starts)-1], CRS: s.CRS, IDs: s.IDs, Facts: s.Facts}
	t.Batches[0] = types
	return t
}

// ReadAs is Read of a file whose table has a known shape. Each batch is handed to each as soon as its rows are parsed; its slices stay on the Go heap
// as long as somebody has them. If the file turns out to give another table, the error wraps source.ErrChanged.
func ReadAs(ctx context.Context, f Format, p Parser, src *source.File, limits Limits, shape *Shape, keep Keeper, each func(i int, b *geoarrow.Columns)) (*Table, error) {
	began := time.Now()
	limits = limits.WithDefaults()
	k := known{
		joiner: joiner{ctx: ctx, parser: p, src: src, limits: limits, kind: shape.Kind, dim: shape.Dim, typed: true, shapes: shape.Shapes},
		shape:  shape, keep: keep, each: each, names: finalNames(shape.IDs, shape.Shapes),
	}
	k.facts, k.text = map[geoarrow.ColumnID]geoarrow.Facts{}, map[geoarrow.ColumnID]bool{}
	for i, id := range shape.IDs {
		k.facts[id] = shape.Facts[i]
	}
	sum, err := p.Parse(ctx, src, Request{Span: Span{To: -1}, Limits: limits}, k.add)
	if err != nil {
		return nil, err
	}
	t := &Table{Format: f.Name, Engine: engineOf(p), CRS: sum.CRS, Summary: sum}
	batches := make([]*geoarrow.Columns, len(k.chunks))
	for i := range k.chunks {
		batches[i] = k.chunks[i].Columns
	}
	k.fill(t, batches, shape.IDs, k.names)
	if !slices.Equal(t.Starts, shape.Starts) || t.CRS != shape.CRS {
		return nil, k.other("other rows")
	}
	t.ParseTime = time.Since(began)
	return t, nil
}

// known joins chunks to a shape that is known before the first of them.
type known struct {
	joiner
	shape *Shape
	keep  Keeper
	each  func(i int, b *geoarrow.Columns)
	names []string
}

// add widens a chunk at once.
func (k *known) add(c Chunk) error {
	if err := k.admits(c.Columns); err != nil {
		return err
	}
	if err := k.limits.CheckCells(k.src.Name, c.Span.Row, c.Columns.Rows, len(k.shape.IDs)); err != nil {
		return err
	}
	b, err := k.widen(c, k.shape.IDs)
	if err != nil {
		return err
	}
	for i := range b.Attributes {
		b.Attributes[i].Name = k.names[i]
	}
	given := *b // what is kept may move elsewhere
	given.Attributes = slices.Clone(b.Attributes)
	k.each(len(k.chunks), &given)
	if k.keep != nil {
		if b, err = k.keep.Keep(b); err != nil {
			return err
		}
	}
	k.chunks = append(k.chunks, Chunk{Columns: b, Span: c.Span})
	return nil
}

// admits says why a chunk cannot be one of the table, if so.
func (k *known) admits(c *geoarrow.Columns) error {
	if i := len(k.chunks); i+1 >= len(k.shape.Starts) || int64(c.Rows) != k.shape.Starts[i+1]-k.shape.Starts[i] {
		return k.other(fmt.Sprintf("batch %d has %d rows", i, c.Rows))
	}
	for i := range c.Attributes {
		col := &c.Attributes[i]
		id := col.ID()
		facts, ok := k.facts[id]
		if !ok && col.Facts.Kinds == 0 {
			continue // nulls only: an id that nobody has
		}
		want, have := facts.Resolve(id.Role), facts.Join(col.Facts).Resolve(id.Role)
		if !ok || !arrow.TypeEqual(want.Type, have.Type) || want.JSON != have.JSON || want.Mixed != have.Mixed {
			return k.other("column " + id.Name)
		}
	}
	g := c.Geometry
	switch {
	case (g != nil) != k.shapes:
		return k.other("geometries")
	case g == nil || g.Nulls == g.Rows || k.kind == geoarrow.NoKind && g.Dim&^k.dim == 0:
		return nil
	case g.Kind == geoarrow.NoKind || g.Kind != k.kind && g.Kind.Multi() != k.kind || g.Dim&^k.dim != 0:
		return k.other("geometries")
	}
	return nil
}

func (k *known) other(what string) error {
	return fmt.Errorf("%s: %w: %s", k.src.Name, source.ErrChanged, what)
}
