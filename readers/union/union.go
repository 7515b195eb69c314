// Package union joins the shapes of several tables by the rules that join the chunks of one file,
// and gives the rows of each table the columns of all.
package union

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Union joins the shapes of several tables by the rules that join the chunks of one file. Tables
// with the same columns may be added in any order; the order of columns is that of their first
// appearance.
type Union struct {
	maxColumns int
	order      []geoarrow.ColumnID // of first appearance
	facts      map[geoarrow.ColumnID]geoarrow.Facts
	shapes     bool // a table with geometries was added: crs, kind and dim are theirs
	typed      bool // a geometry that is not null was added
	crs        geoarrow.CRS
	kind       geoarrow.Kind
	dim        geoarrow.Dim
}

// New returns an empty union. limits bound the number of columns.
func New(limits readers.Limits) *Union {
	return &Union{
		maxColumns: limits.WithDefaults().MaxColumns, facts: map[geoarrow.ColumnID]geoarrow.Facts{},
	}
}

// Error says why a table cannot be joined with the others.
type Error struct {
	Column string // "geometry" for a reference system; empty: no single one
	What   string
}

func (e *Error) Error() string {
	if e.Column == "" {
		return e.What
	}
	return fmt.Sprintf("column %q: %s", e.Column, e.What)
}

// Add adds the columns of a table. typed says that one of its geometries is not null. An error does
// not change the union.
func (u *Union) Add(s *readers.Shape, typed bool) error {
	if s.Shapes && u.shapes && s.CRS != u.crs {
		return &Error{readers.GeometryColumn, fmt.Sprintf(
			"its reference system is %s, that of the others is %s", crsText(s.CRS), crsText(u.crs),
		)}
	}
	joined := make([]geoarrow.Facts, len(s.IDs))
	columns := len(u.order)
	for i, id := range s.IDs {
		facts, known := u.facts[id]
		if !known {
			joined[i] = s.Facts[i]
			columns++
			continue
		}
		var err error
		if joined[i], err = joinFacts(id.Role, facts, s.Facts[i]); err != nil {
			return &Error{id.Name, err.Error()}
		}
	}
	if columns > u.maxColumns {
		return readers.TooManyColumns(u.maxColumns, errors.New("those of all files together"))
	}
	for i, id := range s.IDs {
		if _, known := u.facts[id]; !known {
			u.order = append(u.order, id)
		}
		u.facts[id] = joined[i]
	}
	if s.Shapes {
		u.addGeometry(s, typed)
	}
	return nil
}

func (u *Union) addGeometry(s *readers.Shape, typed bool) {
	u.shapes, u.crs = true, s.CRS
	u.dim |= s.Dim
	switch {
	case typed && u.typed:
		u.kind = u.kind.Join(s.Kind)
	case typed:
		u.kind, u.typed = s.Kind, true
	}
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
		return geoarrow.Facts{}, fmt.Errorf("it is %s, where it is %s in others", other, from)
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
func (u *Union) Shape() readers.Shape {
	s := readers.Shape{
		IDs: u.order, Shapes: u.shapes, Kind: u.kind, Dim: u.dim, CRS: u.crs, Starts: []int64{0, 0},
	}
	for _, id := range s.IDs {
		s.Facts = append(s.Facts, u.facts[id])
	}
	s.Arrange()
	return s
}

// ErrNarrow says that rows have a wider type than a shape, which is not that of their union.
var ErrNarrow = errors.New("the rows have a wider type")

// Fitter gives the batches of a table the columns of a union's shape.
type Fitter struct {
	to     *readers.Shape
	types  []geoarrow.Resolution
	names  []string
	places []int // of each column in the table's batches; -1: it has none
	same   bool  // the table has exactly these columns
}

// NewFitter returns the fitter for a table whose columns are from.
func NewFitter(to *readers.Shape, from []geoarrow.ColumnID) *Fitter {
	f := &Fitter{to: to, names: to.Names(), same: len(from) == len(to.IDs)}
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
	if f.to.Facts[i].Kinds&geoarrow.FactDeclared == 0 {
		return nil
	}
	if n := wide.Rounded - from.Rounded; n > 0 {
		return &Error{f.names[i], fmt.Sprintf("%d of its integers are not exact as float64, which it is in others",
			n)}
	}
	if overflows(from, wide) {
		return &Error{f.names[i], fmt.Sprintf("a time is out of range of %s, which it is in others", wide.Type)}
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
	if c.Geometry == nil {
		return geoarrow.NullGeometry(c.Rows, f.to.Kind, f.to.Dim), nil
	}
	return c.Geometry.Widen(f.to.Kind, f.to.Dim)
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

func isText(t arrow.DataType) bool { return t.ID() == arrow.STRING }
