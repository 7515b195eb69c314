package engine

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// condition tells for which rows an expression may be true. A nil condition is an expression that
// is not understood: it may be true for every row.
type condition interface {
	mayMatch(v *batchView) bool           // whether a row of the batch may match
	filterRows(v *batchView, rows rowSet) // removes rows that do not match, not necessarily all of them
}

// filter is the part of a query's condition that applies to the rows of a table.
type filter struct {
	condition condition // nil: none, or none that is understood
	boxes     []boxFunc // each meets the bounding box of a matching geometry
}

// unionOf returns a filter for the rows that match any of several filters.
func unionOf(each []filter) filter {
	if len(each) == 1 {
		return each[0]
	}
	conditions := make([]condition, len(each))
	for i, f := range each {
		conditions[i] = f.condition
	}
	return filter{condition: anyOf(conditions)}
}

type (
	conjunction []condition
	disjunction []condition
)

// allOf returns the conjunction of conditions.
func allOf(conditions []condition) condition {
	known := slices.DeleteFunc(slices.Clone(conditions), func(c condition) bool { return c == nil })
	if len(known) == 0 {
		return nil
	}
	return conjunction(known)
}

func (all conjunction) mayMatch(v *batchView) bool {
	return !slices.ContainsFunc(all, func(c condition) bool { return !c.mayMatch(v) })
}

func (all conjunction) filterRows(v *batchView, rows rowSet) {
	for _, c := range all {
		c.filterRows(v, rows)
	}
}

// anyOf returns the disjunction of conditions.
func anyOf(conditions []condition) condition {
	if slices.Contains(conditions, nil) {
		return nil
	}
	return disjunction(conditions)
}

func (each disjunction) mayMatch(v *batchView) bool {
	return slices.ContainsFunc(each, func(c condition) bool { return c.mayMatch(v) })
}

// maxFilteredAlternatives is the maximum number of alternatives for which rows are filtered here.
// DuckDB is about as fast with longer lists.
const maxFilteredAlternatives = 4

func (each disjunction) filterRows(v *batchView, rows rowSet) {
	if len(each) > maxFilteredAlternatives {
		return
	}
	union := make(rowSet, len(rows))
	for _, c := range each {
		if !c.mayMatch(v) {
			continue
		}
		of := slices.Clone(rows)
		c.filterRows(v, of)
		for i := range union {
			union[i] |= of[i]
		}
	}
	copy(rows, union)
}

// rangeCondition is true for values of a column between two bounds.
type rangeCondition struct {
	column     int
	comparator *comparator
	low, high  *bound // nil: unbounded
}

// bound is a constant that a column is compared with.
type bound struct {
	constant  func(args arguments) value // nil for arguments that are not understood
	exclusive bool                       // the constant itself is outside
}

// value returns the constant; nil for no bound.
func (b *bound) value(args arguments) value {
	if b == nil {
		return nil
	}
	return b.constant(args)
}

// newRangeCondition returns the condition of a column between the bounds that are understood; nil
// if none is.
func newRangeCondition(column int, as *comparator, low, high *bound) condition {
	if low != nil && low.constant == nil {
		low = nil
	}
	if high != nil && high.constant == nil {
		high = nil
	}
	if as == nil || low == nil && high == nil {
		return nil
	}
	return rangeCondition{column, as, low, high}
}

func (b rangeCondition) mayMatch(v *batchView) bool {
	low, high := b.low.value(v.args), b.high.value(v.args)
	if low == nil && high == nil {
		return true
	}
	in, ok := v.extent(b.column, b.comparator)
	if !ok {
		return true
	}
	return !in.allNull && !excludes(in.high, low, b.low) && !excludes(high, in.low, b.high)
}

// excludes reports whether no value can be at least b and at most a: a is less than b, or equals b
// if that bound is exclusive. A nil value is unbounded.
func excludes(a, b value, at *bound) bool {
	if a == nil || b == nil {
		return false
	}
	order := a.compare(b)
	return order < 0 || order == 0 && at.exclusive
}

func (b rangeCondition) filterRows(v *batchView, rows rowSet) {
	if b.column < len(v.columns.Attributes) {
		b.comparator.filter(&v.columns.Attributes[b.column], b.low.value(v.args), b.high.value(v.args), rows)
	}
}

// nullCondition is IS NULL or IS NOT NULL.
type nullCondition struct {
	column int
	null   bool
}

func (n nullCondition) mayMatch(v *batchView) bool {
	if n.null {
		return v.nulls(n.column) > 0
	}
	return v.nulls(n.column) < v.columns.Rows
}

func (n nullCondition) filterRows(*batchView, rowSet) {}

// boxCondition is true for geometries whose bounding box meets another one.
type boxCondition struct{ of boxFunc }

func (m boxCondition) mayMatch(v *batchView) bool {
	wanted := m.of(v.args)
	return wanted == nil || v.meets(*wanted)
}

func (m boxCondition) filterRows(*batchView, rowSet) {}

// arguments are the values of the parameters: a row of a record; nil without parameters.
type arguments struct {
	record arrow.Record
	row    int
}

func (a arguments) column(i int) arrow.Array {
	if a.record == nil || i >= int(a.record.NumCols()) {
		return nil
	}
	return a.record.Column(i)
}
