package readers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Union joins the shapes of several tables by the rules that join the chunks of one file. Tables
// with the same columns may be added in any order; the order of columns is that of their first
// appearance.
type Union struct {
	j        joiner
	crs      geoarrow.CRS
	georefed bool // a table with geometries was added: crs is theirs
}

// NewUnion returns an empty union. limits bound the number of columns.
func NewUnion(limits Limits) *Union {
	return &Union{j: joiner{
		limits: limits.WithDefaults(), facts: map[geoarrow.ColumnID]geoarrow.Facts{},
		text: map[geoarrow.ColumnID]bool{},
	}}
}

// UnionError says why a table cannot be joined with the others. It does not change the union.
type UnionError struct {
	Column string // "geometry" for a reference system; empty: no single one
	What   string
}

func (e *UnionError) Error() string {
	if e.Column == "" {
		return e.What
	}
	return fmt.Sprintf("column %q: %s", e.Column, e.What)
}

// Add adds the columns of a table. typed says that one of its geometries is not null.
func (u *Union) Add(s *Shape, typed bool) error {
	if s.Shapes && u.georefed && s.CRS != u.crs {
		return &UnionError{GeometryColumn, fmt.Sprintf("its reference system is %s, that of the others is %s",
			crsText(s.CRS), crsText(u.crs))}
	}
	joined := make([]geoarrow.Facts, len(s.IDs))
	columns := len(u.j.order)
	for i, id := range s.IDs {
		facts, known := u.j.facts[id]
		if !known {
			joined[i] = s.Facts[i]
			columns++
			continue
		}
		var err error
		if joined[i], err = joinFacts(id.Role, facts, s.Facts[i]); err != nil {
			return &UnionError{id.Name, err.Error()}
		}
	}
	if columns > u.j.limits.MaxColumns {
		return &UnionError{"", TooManyColumns(u.j.limits.MaxColumns, nil).Error()}
	}
	for i, id := range s.IDs {
		if _, known := u.j.facts[id]; !known {
			u.j.order = append(u.j.order, id)
		}
		u.j.facts[id] = joined[i]
	}
	if !s.Shapes {
		return nil
	}
	u.j.shapes, u.georefed, u.crs = true, true, s.CRS
	rows := 1
	nulls := 0
	if !typed {
		nulls = rows
	}
	u.j.joinGeometry(&geoarrow.Geometry{Rows: rows, Nulls: nulls, Kind: s.Kind, Dim: s.Dim})
	return nil
}

func crsText(c geoarrow.CRS) string {
	if c == (geoarrow.CRS{}) {
		return "not known"
	}
	return c.String()
}

// joinFacts is Facts.Join for facts of two files, each of which may declare a type.
func joinFacts(role geoarrow.Role, a, b geoarrow.Facts) (geoarrow.Facts, error) {
	const declared = geoarrow.FactDeclared
	switch {
	case a.Kinds&declared == 0 && b.Kinds&declared == 0, a.Kinds == 0, b.Kinds == 0:
		return a.Join(b), nil
	case a.Kinds&declared != 0 && b.Kinds&declared != 0 && a.Declared == b.Declared:
		return a.Join(b), nil
	}
	from, other := a.Resolve(role), b.Resolve(role)
	to, ok := commonType(from.Type, other.Type)
	name, known := "", false
	if ok {
		name, known = geoarrow.TypeName(to)
	}
	if !known || from.JSON != other.JSON || from.Mixed != other.Mixed {
		return geoarrow.Facts{}, fmt.Errorf("it is %s, where it is %s in others", typeText(other), typeText(from))
	}
	return geoarrow.Facts{Kinds: declared, Declared: name}, nil
}

// commonType returns the type that holds the values of two types that files declare.
//
//	int32, int64         int64
//	integers, float64    float64; Fit checks that each value is exact
//	date32, timestamp    the timestamp, if it has no zone
//	timestamps           the finer one, if they have the same zone
//	times of day         the finer one
func commonType(a, b arrow.DataType) (arrow.DataType, bool) {
	if arrow.TypeEqual(a, b) {
		return a, true
	}
	for _, pair := range [][2]arrow.DataType{{a, b}, {b, a}} {
		if holds(pair[0], pair[1]) {
			return pair[0], true
		}
	}
	return nil, false
}

// holds reports whether wide holds the values of narrow, as Column.Widen converts them.
func holds(wide, narrow arrow.DataType) bool {
	switch wide := wide.(type) {
	case *arrow.Int64Type:
		return narrow.ID() == arrow.INT32
	case *arrow.Float64Type:
		return slices.Contains([]arrow.Type{arrow.INT32, arrow.INT64, arrow.UINT64}, narrow.ID())
	case *arrow.TimestampType:
		if n, ok := narrow.(*arrow.TimestampType); ok {
			return n.TimeZone == wide.TimeZone && n.Unit.Multiplier() > wide.Unit.Multiplier()
		}
		return narrow.ID() == arrow.DATE32 && wide.TimeZone == ""
	case *arrow.Time64Type:
		if n, ok := narrow.(*arrow.Time64Type); ok {
			return n.Unit.Multiplier() > wide.Unit.Multiplier()
		}
		n, ok := narrow.(*arrow.Time32Type)
		return ok && n.Unit == arrow.Millisecond
	}
	return false
}

// Shape returns the shape of all tables together, without their rows.
func (u *Union) Shape() Shape {
	s := Shape{
		IDs: u.j.columnOrder(), Shapes: u.j.shapes, Kind: u.j.kind, Dim: u.j.dim, CRS: u.crs,
		Starts: []int64{0, 0},
	}
	for _, id := range s.IDs {
		s.Facts = append(s.Facts, u.j.facts[id])
	}
	return s
}

// ErrNarrow says that rows have a wider type than a shape, which is not that of their union.
var ErrNarrow = errors.New("the rows have a wider type")

// Fitter gives the batches of a table the columns of a union's shape.
type Fitter struct {
	to     *Shape
	types  []geoarrow.Resolution
	names  []string
	places []int // of each column in the table's batches; -1: it has none
	same   bool  // the table has exactly these columns
}

// NewFitter returns the fitter for a table whose columns are from.
func NewFitter(to *Shape, from []geoarrow.ColumnID) *Fitter {
	f := &Fitter{to: to, names: finalNames(to.IDs, to.Shapes), same: len(from) == len(to.IDs)}
	at := make(map[geoarrow.ColumnID]int, len(from))
	for i, id := range from {
		at[id] = i
	}
	for i, id := range to.IDs {
		place, ok := at[id]
		if !ok {
			place = -1
		}
		f.places = append(f.places, place)
		f.types = append(f.types, to.Facts[i].Resolve(id.Role))
		f.same = f.same && place == i
	}
	return f
}

// Fit returns a batch with the columns of the shape. It never changes c, and shares its slices
// where they stay as they are. text has the columns whose text is needed: then out is nil.
// set is called for each column that the table lacks, which is null unless set fills it in.
func (f *Fitter) Fit(c *geoarrow.Columns, set func(id geoarrow.ColumnID, col *geoarrow.Column)) (
	out *geoarrow.Columns, text []geoarrow.ColumnID, err error,
) {
	out = &geoarrow.Columns{Rows: c.Rows, Attributes: make([]geoarrow.Column, len(f.to.IDs))}
	for i, id := range f.to.IDs {
		to := f.types[i]
		col := geoarrow.Column{Role: id.Role, Type: to.Type, Nulls: c.Rows}
		place := f.places[i]
		if place >= 0 {
			col = c.Attributes[place]
		}
		wide, ok := col.Widen(to, c.Rows)
		if !ok && !isText(to.Type) {
			return nil, nil, ErrNarrow
		}
		if !ok {
			text = append(text, id)
			continue
		}
		if err := f.exact(i, &col, &wide); err != nil {
			return nil, nil, err
		}
		wide.Role, wide.Name = id.Role, f.names[i]
		if place < 0 && set != nil {
			set(id, &wide)
		}
		out.Attributes[i] = wide
	}
	if len(text) > 0 {
		return nil, text, nil
	}
	if f.to.Shapes {
		if !f.holdsGeometry(c.Geometry) {
			return nil, nil, ErrNarrow
		}
		out.Geometry, err = f.geometry(c)
	}
	return out, nil, err
}

// exact refuses values of a declared type that the common type does not hold.
func (f *Fitter) exact(i int, from, wide *geoarrow.Column) error {
	if f.to.Facts[i].Kinds&geoarrow.FactDeclared == 0 || from.Nulls == len(wide.Valid)*8 {
		return nil
	}
	if n := wide.Rounded - from.Rounded; n > 0 {
		return &UnionError{f.names[i], fmt.Sprintf("%d of its integers are not exact as float64, which it is in others",
			n)}
	}
	if overflows(from, wide) {
		return &UnionError{f.names[i], fmt.Sprintf("a time is out of range of %s, which it is in others", wide.Type)}
	}
	return nil
}

// overflows reports whether a finer timestamp cannot hold one of the values.
func overflows(from, wide *geoarrow.Column) bool {
	a, ok := from.Type.(*arrow.TimestampType)
	b, also := wide.Type.(*arrow.TimestampType)
	if !ok || !also || a.Unit == b.Unit {
		return false
	}
	by := int64(a.Unit.Multiplier() / b.Unit.Multiplier())
	old, now := geoarrow.View[int64](from.Values), geoarrow.View[int64](wide.Values)
	for i := range old {
		if now[i]/by != old[i] {
			return true
		}
	}
	return false
}

// geometry gives the geometries the kind and the dimension of the shape.
func (f *Fitter) geometry(c *geoarrow.Columns) (*geoarrow.Geometry, error) {
	g := c.Geometry
	if g == nil {
		return geoarrow.NullGeometry(c.Rows, f.to.Kind, f.to.Dim), nil
	}
	if g.Kind == f.to.Kind && g.Dim == f.to.Dim {
		return g, nil
	}
	j := joiner{kind: f.to.Kind, dim: f.to.Dim}
	return j.widenGeometry(g)
}

// textParser reads some columns as text, whatever their values.
type textParser struct {
	Parser
	columns []geoarrow.ColumnID
}

// AsText returns a parser that reads some columns as text.
func AsText(p Parser, columns []geoarrow.ColumnID) Parser {
	if len(columns) == 0 {
		return p
	}
	return textParser{p, columns}
}

// Parse implements Parser.
func (p textParser) Parse(ctx context.Context, src *source.File, req Request, emit func(Chunk) error) (
	Summary, error,
) {
	for _, id := range p.columns {
		if !slices.Contains(req.Span.Text, id) {
			req.Span.Text = append(slices.Clip(req.Span.Text), id)
		}
	}
	return p.Parser.Parse(ctx, src, req, emit)
}

// forceText makes columns text in the table, also if a worker guessed a part without knowing it.
func (j *joiner) forceText(columns []geoarrow.ColumnID) {
	j.facts, j.text = map[geoarrow.ColumnID]geoarrow.Facts{}, map[geoarrow.ColumnID]bool{}
	for _, id := range columns {
		j.text[id] = true
	}
}

// holdsGeometry reports whether the kind and dimension of geometries are not wider than those of the
// shape.
func (f *Fitter) holdsGeometry(g *geoarrow.Geometry) bool {
	switch {
	case g == nil:
		return true
	case g.Dim&^f.to.Dim != 0:
		return false
	case f.to.Kind == geoarrow.NoKind || g.Nulls == g.Rows:
		return true
	}
	return g.Kind == f.to.Kind || g.Kind != geoarrow.NoKind && g.Kind.Multi() == f.to.Kind
}

// Same reports whether a batch has the columns of the shape already.
func (f *Fitter) Same(c *geoarrow.Columns) bool {
	if !f.same || (c.Geometry != nil) != f.to.Shapes {
		return false
	}
	for i := range c.Attributes {
		a, to := &c.Attributes[i], f.types[i]
		if a.Name != f.names[i] || a.JSON != to.JSON || a.Mixed != to.Mixed || !arrow.TypeEqual(a.Type, to.Type) {
			return false
		}
	}
	return c.Geometry == nil || c.Geometry.Kind == f.to.Kind && c.Geometry.Dim == f.to.Dim
}

// NeedsText reports whether the values of a column are not enough to give it the type that other
// tables ask for: it becomes text, and its own text is not known.
func NeedsText(id geoarrow.ColumnID, from, to geoarrow.Facts) bool {
	own, wide := from.Resolve(id.Role).Type, to.Resolve(id.Role).Type
	return isText(wide) && !isText(own) && own.ID() != arrow.NULL && from.Kinds&^geoarrow.FactField != 0
}
