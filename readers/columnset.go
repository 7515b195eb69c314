package readers

import (
	"fmt"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// ColumnSet is the columns of the rows of a file, in file order up to some row. A nil one is empty.
type ColumnSet struct {
	most int // columns that a table may have
	ids  map[geoarrow.ColumnID]struct{}
	last []geoarrow.ColumnID // that were added last: usually all parts have the same
}

// NewColumnSet returns an empty set for a file that is read within limits.
func NewColumnSet(limits Limits) *ColumnSet {
	return &ColumnSet{
		most: limits.WithDefaults().MaxColumns, ids: map[geoarrow.ColumnID]struct{}{},
	}
}

// Len returns the number of columns.
func (s *ColumnSet) Len() int {
	if s == nil {
		return 0
	}
	return len(s.ids)
}

// Has reports whether the set has the column.
func (s *ColumnSet) Has(id geoarrow.ColumnID) bool {
	if s == nil {
		return false
	}
	_, ok := s.ids[id]
	return ok
}

// Add adds the columns of the next rows.
func (s *ColumnSet) Add(c *geoarrow.Columns) {
	if s == nil || c == nil || s.repeats(c) {
		return
	}
	s.last = s.last[:0]
	for i := range c.Attributes {
		id := c.Attributes[i].ID()
		s.ids[id] = struct{}{}
		s.last = append(s.last, id)
	}
}

// Fits reports whether the columns of the next rows may be added within the limit.
func (s *ColumnSet) Fits(c *geoarrow.Columns) bool {
	if s == nil || c == nil || s.repeats(c) || len(s.ids)+len(c.Attributes) <= s.most {
		return true
	}
	n := len(s.ids)
	for i := range c.Attributes {
		if !s.Has(c.Attributes[i].ID()) {
			n++
		}
	}
	return n <= s.most
}

// repeats reports whether the columns are those that were added last.
func (s *ColumnSet) repeats(c *geoarrow.Columns) bool {
	if len(c.Attributes) != len(s.last) {
		return false
	}
	for i := range s.last {
		if c.Attributes[i].ID() != s.last[i] {
			return false
		}
	}
	return true
}

// CheckColumns returns a *LimitError if a header names more columns than the limit.
func (l Limits) CheckColumns(name string, columns int) error {
	if most := l.WithDefaults().MaxColumns; columns > most {
		return TooManyColumns(most, fmt.Errorf("%s: header of %d columns", name, columns))
	}
	return nil
}

const columnsFlag = "--max-columns"

// TooManyColumns returns the error for a table of more than most columns. place is the position of
// the first column beyond the limit.
func TooManyColumns(most int, place error) error {
	return &LimitError{
		What: "the number of columns", Flag: columnsFlag, Limit: int64(most), Err: place,
	}
}
