package rows

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// Store is the representation of a column's values in the current chunk, while their final type is
// unknown.
type Store uint8

const (
	StoreNone  Store = iota // nulls only
	StoreBool               // Ints, 0 or 1
	StoreInt                // Ints; bits of a uint64 where FactUint64 is set
	StoreFloat              // Floats
	StoreText               // Ends, Text
	StoreBools              // lists: Ends, elements as above
	StoreInts
	StoreFloats
	StoreTexts // Ends, TextEnds, Text
)

// Column collects the values of one name.
//
// It has the narrowest store for its values. A parser calls Accept with each value's kinds unless
// Kinds has them, appends the value for the resulting Store, and ends it with Filled, EndText or
// EndList. If a value requires a store to which earlier values can't be converted without their
// text, NeedText is set, and the chunk is read again with the column in Sink.Text.
type Column struct {
	ID     geoarrow.ColumnID
	Index  int // among the columns that the Sink ever made
	Store  Store
	Kinds  geoarrow.FactKinds
	N      int  // rows filled; later ones are null so far
	Unread bool // it was not requested: values are checked and end with Pass
	Plain  bool // texts are never read as dates or times
	Guess  bool // guessed to be the geometry: not a separate column unless it is in Sink.Text

	declared string // name of the type that the file declares, with FactDeclared

	forced bool
	field  bool // Kinds have FactField
	nulls  int
	valid  []byte // a bit per row, LSB first; empty until the first null

	Ints     []int64
	Floats   []float64
	Ends     []int32 // of texts in Text, of lists in elements; from 0
	TextEnds []int32 // of the elements of StoreTexts in Text; from 0
	Text     []byte
	narrow   []int32 // of a lent chunk, by narrowed

	Rounded  Tally // integers that were rounded to float64
	Replaced Tally // characters of texts that became U+FFFD

	NeedText bool
	listed   bool // in the chunk's order
}

// Tally is a count over rows that can undo the last row.
type Tally struct {
	total int64
	row   int   // number + 1 of the last row that counted
	inRow int64 // how many in it
}

// Add counts n in a row of the chunk.
func (t *Tally) Add(row int, n int64) {
	if n == 0 {
		return
	}
	if t.row != row+1 {
		t.row, t.inRow = row+1, 0
	}
	t.inRow += n
	t.total += n
}

// undo removes the counts from row from on.
func (t *Tally) undo(from int) {
	if t.row > from {
		t.total -= t.inRow
		t.row, t.inRow = 0, 0
	}
}

// reset drops the rows of the chunk.
func (c *Column) reset() {
	c.Store, c.Kinds, c.N, c.nulls, c.valid, c.Rounded, c.Replaced = StoreNone, 0, 0, 0, c.valid[:0], Tally{}, Tally{}
	c.Ints, c.Floats, c.Text = c.Ints[:0], c.Floats[:0], c.Text[:0]
	c.Ends, c.TextEnds = append(c.Ends[:0], 0), append(c.TextEnds[:0], 0)
	c.listed, c.NeedText, c.declared = false, false, ""
	if c.forced && !c.Unread {
		c.Store = StoreText
	}
}

// Pad fills the rows from N to row with nulls.
func (c *Column) Pad(row int) {
	if c.N == row {
		return
	}
	if c.Unread || c.Guess && !c.forced {
		c.N = row
		return
	}
	if c.nulls == 0 {
		c.allValid()
	}
	c.nulls += row - c.N
	c.zeros(row - c.N)
	c.N = row
	for len(c.valid) < (row+7)/8 {
		c.valid = append(c.valid, 0)
	}
}

// zeros appends the values under n nulls.
func (c *Column) zeros(n int) {
	switch c.Store {
	case StoreBool, StoreInt:
		c.Ints = extended(c.Ints, n, 0)
	case StoreFloat:
		c.Floats = extended(c.Floats, n, 0)
	case StoreNone:
	default:
		c.Ends = extended(c.Ends, n, c.Ends[len(c.Ends)-1])
	}
}

// extended appends a value n times.
func extended[T any](s []T, n int, v T) []T {
	from := len(s)
	s = slices.Grow(s, n)[:from+n]
	for i := range s[from:] {
		s[from+i] = v
	}
	return s
}

// Filled counts an appended value.
func (c *Column) Filled() {
	if c.nulls > 0 {
		if c.N&7 == 0 {
			c.valid = append(c.valid, 0)
		}
		c.valid[c.N>>3] |= 1 << (c.N & 7)
	}
	c.N++
}

// Pass ends the row with a value that was checked, and that is not requested.
func (c *Column) Pass() {
	c.Kinds |= geoarrow.FactUnread
	c.N++
}

// EndText ends a text that was appended to Text, as a row or as the only element of a list.
func (c *Column) EndText() {
	end := int32(len(c.Text))
	if c.Store == StoreTexts {
		c.TextEnds = append(c.TextEnds, end)
		end = int32(len(c.TextEnds) - 1)
	}
	c.Ends = append(c.Ends, end)
	c.Filled()
}

// EndList ends a list whose elements were appended.
func (c *Column) EndList() {
	end := 0
	switch c.Store {
	case StoreBools, StoreInts:
		end = len(c.Ints)
	case StoreFloats:
		end = len(c.Floats)
	case StoreTexts:
		end = len(c.TextEnds) - 1
	}
	c.Ends = append(c.Ends, int32(end))
	c.Filled()
}

// truncate removes the values from row rows on.
func (c *Column) truncate(rows int) {
	if c.N <= rows {
		return
	}
	if c.nulls > 0 {
		for i := rows; i < c.N; i++ {
			if c.valid[i>>3]>>(i&7)&1 == 0 {
				c.nulls--
			}
		}
		c.valid = c.valid[:(rows+7)/8]
		if rows&7 != 0 {
			c.valid[len(c.valid)-1] &= 1<<(rows&7) - 1
		}
	}
	c.Rounded.undo(rows)
	c.Replaced.undo(rows)
	c.N = rows
	elements := 0
	switch c.Store {
	case StoreNone:
		return
	case StoreBool, StoreInt:
		c.Ints = c.Ints[:rows]
		return
	case StoreFloat:
		c.Floats = c.Floats[:rows]
		return
	}
	c.Ends = c.Ends[:rows+1]
	elements = int(c.Ends[rows])
	switch c.Store {
	case StoreText:
		c.Text = c.Text[:elements]
	case StoreBools, StoreInts:
		c.Ints = c.Ints[:elements]
	case StoreFloats:
		c.Floats = c.Floats[:elements]
	case StoreTexts:
		c.TextEnds = c.TextEnds[:elements+1]
		c.Text = c.Text[:c.TextEnds[elements]]
	}
}

// KindOf returns the lexical kind of a number. The kinds of facts are in the order of number's.
func KindOf(n number.Num) geoarrow.FactKinds {
	k := geoarrow.FactInt32 << n.Kind
	if n.Negative && n.Kind < number.Uint64 && n.Int != 0 {
		k |= geoarrow.FactNegative
	}
	return k
}

// Signed returns the bits of an integer as an element of Ints: an int64, or a uint64 beyond that.
func Signed(n number.Num) int64 {
	if n.Negative {
		return -int64(n.Int)
	}
	return int64(n.Int)
}

// Float returns the number of a text as an element of Floats. An integer is counted if it is
// rounded, and -0 becomes 0 as in a column of integers.
func (c *Column) Float(n number.Num, text []byte) float64 {
	if n.Kind == number.Real {
		return n.Float
	}
	exact := false
	if n.Kind == number.Huge {
		if n.Negative {
			text = text[1:]
		}
		exact = number.Exact(text)
	} else {
		exact = number.ExactUint(n.Int)
	}
	if !exact {
		c.Rounded.Add(c.N, 1)
	}
	if n.Int == 0 && n.Kind != number.Huge {
		return 0
	}
	return n.Float
}

// Accept prepares the column for values of kinds k: it switches to a Store that holds them.
func (c *Column) Accept(k geoarrow.FactKinds) {
	before := c.Kinds
	if c.field {
		k |= geoarrow.FactField
	}
	c.Kinds |= k
	if c.Unread || c.forced || c.NeedText {
		return
	}
	want := storeOf(geoarrow.Facts{Kinds: c.Kinds, Declared: c.declared}, c.ID.Role)
	if want == c.Store {
		return
	}
	if !c.convert(want, before) {
		c.NeedText = true
		c.become(StoreText)
	}
}

// Declare gives the column the type of a name (geoarrow.TypeName) that is kept as Ints, whatever its
// values: a date or a time. It is called after each reset, before any value. A column that must be
// text stays undeclared.
func (c *Column) Declare(name string) (ok bool) {
	if c.forced {
		return false
	}
	c.declared = name
	c.Accept(geoarrow.FactDeclared)
	return true
}

// Declared reports whether Declare gave the column its type.
func (c *Column) Declared() bool { return c.declared != "" }

// storeOf returns the store that the values of the kinds need.
func storeOf(f geoarrow.Facts, role geoarrow.Role) Store {
	t := f.Resolve(role).Type
	if l, ok := t.(*arrow.ListType); ok {
		return StoreBools - StoreBool + storeOfScalar(l.Elem())
	}
	return storeOfScalar(t)
}

func storeOfScalar(t arrow.DataType) Store {
	switch t.ID() {
	case arrow.BOOL:
		return StoreBool
	case arrow.INT32, arrow.INT64, arrow.UINT64, arrow.DATE32, arrow.TIME32, arrow.TIMESTAMP:
		return StoreInt
	case arrow.FLOAT64:
		return StoreFloat
	}
	return StoreText
}
