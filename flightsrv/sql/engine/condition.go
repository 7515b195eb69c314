package engine

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// condition is what is known of when an expression is true. nil is that of an expression that is
// not understood: it may be true for every row.
type condition interface {
	may(v *view) bool            // whether there may be a row of the batch that it is true for
	narrow(v *view, rows rowSet) // takes out rows that it is not true for, not necessarily all of them
}

// filter is what a query asks of the rows of a table.
type filter struct {
	is    condition // nil: nothing is asked, or nothing that is understood
	boxes []box     // that the geometry's bounding box meets, all of them
}

// either is what rows fulfil that fulfil one of several filters.
func either(each []filter) filter {
	if len(each) == 1 {
		return each[0]
	}
	conditions := make([]condition, len(each))
	for i, f := range each {
		conditions[i] = f.is
	}
	return filter{is: anyOf(conditions)}
}

type (
	conjunction []condition
	disjunction []condition
)

// allOf is the condition of a conjunction.
func allOf(conditions []condition) condition {
	known := slices.DeleteFunc(slices.Clone(conditions), func(c condition) bool { return c == nil })
	if len(known) == 0 {
		return nil
	}
	return conjunction(known)
}

func (all conjunction) may(v *view) bool {
	return !slices.ContainsFunc(all, func(c condition) bool { return !c.may(v) })
}

func (all conjunction) narrow(v *view, rows rowSet) {
	for _, c := range all {
		c.narrow(v, rows)
	}
}

// anyOf is the condition of a disjunction.
func anyOf(conditions []condition) condition {
	if slices.Contains(conditions, nil) {
		return nil
	}
	return disjunction(conditions)
}

func (each disjunction) may(v *view) bool {
	return slices.ContainsFunc(each, func(c condition) bool { return c.may(v) })
}

// maxNarrowing is up to how many alternatives rows are looked at for: DuckDB looks at the rows of a
// long list about as fast.
const maxNarrowing = 4

func (each disjunction) narrow(v *view, rows rowSet) {
	if len(each) > maxNarrowing {
		return
	}
	union := make(rowSet, len(rows))
	for _, c := range each {
		if !c.may(v) {
			continue
		}
		of := slices.Clone(rows)
		c.narrow(v, of)
		for i := range union {
			union[i] |= of[i]
		}
	}
	copy(rows, union)
}

// between is the condition of a column whose values lie between two bounds.
type between struct {
	column    int
	as        *scale
	low, high *bound // nil: there is none
}

// bound is a constant that a column is compared with.
type bound struct {
	of   func(args arguments) value // nil for arguments that tell nothing
	open bool                       // the constant itself is outside
}

// value gives the constant, or nil where there is no bound.
func (b *bound) value(args arguments) value {
	if b == nil {
		return nil
	}
	return b.of(args)
}

// bounded is the condition of a column between bounds that are understood; nil if none is.
func bounded(column int, as *scale, low, high *bound) condition {
	if low != nil && low.of == nil {
		low = nil
	}
	if high != nil && high.of == nil {
		high = nil
	}
	if as == nil || low == nil && high == nil {
		return nil
	}
	return between{column, as, low, high}
}

func (b between) may(v *view) bool {
	low, high := b.low.value(v.args), b.high.value(v.args)
	if low == nil && high == nil {
		return true
	}
	in, ok := v.limits(b.column, b.as)
	if !ok {
		return true
	}
	return !in.none && !before(in.high, low, b.low) && !before(high, in.low, b.high)
}

// before reports whether a value of a column and a bound leave no room: a is less than b, or is b
// where that is outside. nil is without end.
func before(a, b value, at *bound) bool {
	if a == nil || b == nil {
		return false
	}
	order := a.compare(b)
	return order < 0 || order == 0 && at.open
}

func (b between) narrow(v *view, rows rowSet) {
	if b.column < len(v.columns.Attributes) {
		b.as.narrow(&v.columns.Attributes[b.column], b.low.value(v.args), b.high.value(v.args), rows)
	}
}

// nullness is the condition of IS NULL and IS NOT NULL.
type nullness struct {
	column int
	null   bool
}

func (n nullness) may(v *view) bool {
	if n.null {
		return v.nulls(n.column) > 0
	}
	return v.nulls(n.column) < v.columns.Rows
}

func (n nullness) narrow(*view, rowSet) {}

// meetingBox is the condition of a geometry whose bounding box meets another one.
type meetingBox struct{ of box }

func (m meetingBox) may(v *view) bool {
	wanted := m.of(v.args)
	return wanted == nil || v.meets(*wanted)
}

func (m meetingBox) narrow(*view, rowSet) {}

// arguments are the values of the parameters: a row of a record, which is nil where there are none.
type arguments struct {
	of  arrow.Record
	row int
}

func (a arguments) column(i int) arrow.Array {
	if a.of == nil || i >= int(a.of.NumCols()) {
		return nil
	}
	return a.of.Column(i)
}
