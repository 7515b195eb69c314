package geojson

import (
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// store is how a column keeps the values of the chunk at hand, while their final type is still open.
type store uint8

const (
	storeNone  store = iota // nulls only
	storeBool               // ints, 0 or 1
	storeInt                // ints; bits of a uint64 where FactUint64 is set
	storeFloat              // floats
	storeText               // ends, text
	storeBools              // lists: ends, elements as above
	storeInts
	storeFloats
	storeTexts // ends, textEnds, text
)

// column collects the values of one name.
//
// It keeps the narrowest store of what it met. Where a value forces a store that the earlier values can't be turned into (their text would be
// needed), needText is set and the chunk is read again with forced set.
type column struct {
	id     geoarrow.ColumnID
	store  store
	forced bool // read as text
	kinds  geoarrow.FactKinds
	n      int // rows filled; the ones behind are null so far
	nulls  int
	valid  []byte // bit a row, LSB first; empty until the first null

	ints     []int64
	floats   []float64
	ends     []int32 // of texts in text, of lists in elements; from 0
	textEnds []int32 // of the elements of storeTexts in text; from 0
	text     []byte

	rounded  tally // integers that floats could not hold
	replaced tally // lone surrogates

	listed   bool // in the chunk's order
	needText bool
	after    prediction // what followed this column's value in the last feature
}

// prediction is the bytes that stood between one value and the next one's, all of them: `,"name": `. Where they stand again, the next value
// belongs to the same column, with nothing left to check.
type prediction struct {
	next   *column
	lo, hi uint64 // the first 16 bytes
	loMask uint64
	hiMask uint64
	rest   string // the bytes behind
	n      int
}

// mostPredicted bounds the bytes that a prediction keeps.
const mostPredicted = 256

func (q *prediction) learn(next *column, between []byte) {
	*q = prediction{}
	if len(between) > mostPredicted {
		return
	}
	var b [16]byte
	n := copy(b[:], between)
	q.next, q.n, q.rest = next, len(between), string(between[n:])
	q.lo, q.hi = *(*uint64)(unsafe.Pointer(&b[0])), *(*uint64)(unsafe.Pointer(&b[8]))
	q.loMask, q.hiMask = ^uint64(0), ^uint64(0)
	if n <= 8 {
		q.hiMask = 0
	} else {
		q.hiMask >>= 8 * (16 - uint(n))
	}
	if n < 8 {
		q.loMask >>= 8 * (8 - uint(n))
	}
}

// tally counts something over rows, the last of which can be taken back.
type tally struct {
	total int64
	row   int   // the last one that counted, as its number + 1
	inRow int64 // how many in it
}

func (t *tally) add(row int, n int64) {
	if n == 0 {
		return
	}
	if t.row != row+1 {
		t.row, t.inRow = row+1, 0
	}
	t.inRow += n
	t.total += n
}

// undo takes back what was counted in row from on.
func (t *tally) undo(from int) {
	if t.row > from {
		t.total -= t.inRow
		t.row, t.inRow = 0, 0
	}
}

// reset forgets the rows of the chunk.
func (c *column) reset() {
	c.store, c.kinds, c.n, c.nulls, c.valid, c.rounded, c.replaced = storeNone, 0, 0, 0, c.valid[:0], tally{}, tally{}
	c.ints, c.floats, c.text = c.ints[:0], c.floats[:0], c.text[:0]
	c.ends, c.textEnds = append(c.ends[:0], 0), append(c.textEnds[:0], 0)
	c.after, c.listed, c.needText = prediction{}, false, false
	if c.forced {
		c.store = storeText
	}
}

// pad fills the rows from c.n to row with nulls.
func (c *column) pad(row int) {
	if c.n == row {
		return
	}
	if c.nulls == 0 {
		c.valid = c.valid[:0]
		for k := 0; k < c.n; k += 8 {
			c.valid = append(c.valid, 0xFF)
		}
		if c.n&7 != 0 {
			c.valid[len(c.valid)-1] = 1<<(c.n&7) - 1
		}
	}
	c.nulls += row - c.n
	for ; c.n < row; c.n++ {
		c.zero()
	}
	for len(c.valid) < (row+7)/8 {
		c.valid = append(c.valid, 0)
	}
}

// zero appends what stands under a null.
func (c *column) zero() {
	switch c.store {
	case storeBool, storeInt:
		c.ints = append(c.ints, 0)
	case storeFloat:
		c.floats = append(c.floats, 0)
	case storeNone:
	default:
		c.ends = append(c.ends, c.ends[len(c.ends)-1])
	}
}

// filled counts a value that was appended.
func (c *column) filled() {
	if c.nulls > 0 {
		if c.n&7 == 0 {
			c.valid = append(c.valid, 0)
		}
		c.valid[c.n>>3] |= 1 << (c.n & 7)
	}
	c.n++
}

// truncate takes back what rows from rows on hold.
func (c *column) truncate(rows int) {
	if c.n <= rows {
		return
	}
	if c.nulls > 0 {
		for i := rows; i < c.n; i++ {
			if c.valid[i>>3]>>(i&7)&1 == 0 {
				c.nulls--
			}
		}
		c.valid = c.valid[:(rows+7)/8]
		if rows&7 != 0 {
			c.valid[len(c.valid)-1] &= 1<<(rows&7) - 1
		}
	}
	c.rounded.undo(rows)
	c.replaced.undo(rows)
	c.n = rows
	elements := 0
	switch c.store {
	case storeNone:
		return
	case storeBool, storeInt:
		c.ints = c.ints[:rows]
		return
	case storeFloat:
		c.floats = c.floats[:rows]
		return
	}
	c.ends = c.ends[:rows+1]
	elements = int(c.ends[rows])
	switch c.store {
	case storeText:
		c.text = c.text[:elements]
	case storeBools, storeInts:
		c.ints = c.ints[:elements]
	case storeFloats:
		c.floats = c.floats[:elements]
	case storeTexts:
		c.textEnds = c.textEnds[:elements+1]
		c.text = c.text[:c.textEnds[elements]]
	}
}

// kindOf is the lexical kind of a number. The kinds of facts stand in the order of number's.
func kindOf(n number.Num) geoarrow.FactKinds {
	k := geoarrow.FactInt32 << n.Kind
	if n.Negative && n.Kind < number.Uint64 && n.Int != 0 {
		k |= geoarrow.FactNegative
	}
	return k
}

// accept makes the column ready for values of kinds k.
func (c *column) accept(k geoarrow.FactKinds) {
	before := c.kinds
	c.kinds |= k
	if c.forced || c.needText {
		return
	}
	want := storeOf(geoarrow.Facts{Kinds: c.kinds}, c.id.Role)
	if want == c.store {
		return
	}
	if !c.convert(want, before) {
		c.needText = true
		c.become(storeText)
	}
}

// storeOf is the store that the values of the kinds need.
func storeOf(f geoarrow.Facts, role geoarrow.Role) store {
	t := f.Resolve(role).Type
	if l, ok := t.(*arrow.ListType); ok {
		return storeBools - storeBool + storeOfScalar(l.Elem())
	}
	return storeOfScalar(t)
}

func storeOfScalar(t arrow.DataType) store {
	switch t.ID() {
	case arrow.BOOL:
		return storeBool
	case arrow.INT32, arrow.INT64, arrow.UINT64:
		return storeInt
	case arrow.FLOAT64:
		return storeFloat
	}
	return storeText
}

// become changes the store and leaves the rows so far empty.
func (c *column) become(to store) {
	c.store = to
	c.ints, c.floats, c.text = c.ints[:0], c.floats[:0], c.text[:0]
	c.ends, c.textEnds = append(c.ends[:0], 0), append(c.textEnds[:0], 0)
	for range c.n {
		c.zero()
	}
}

// convert turns the rows so far, which have the kinds before, into another store. It gives false where that takes their text.
func (c *column) convert(to store, before geoarrow.FactKinds) bool {
	from := c.store
	switch {
	case from == storeNone:
		c.become(to)
	case from == storeBool && to == storeInt:
		c.store = to
	case (from == storeBool || from == storeInt) && to == storeFloat:
		c.floats = c.toFloats(c.floats[:0], before)
		c.ints = c.ints[:0]
		c.store = to
	case from == storeInts && to == storeFloats:
		c.floats = c.toFloats(c.floats[:0], before|before.OutOfList()) // scalars may have become lists
		c.ints = c.ints[:0]
		c.store = to
	case from == storeText && to >= storeBools && before == geoarrow.FactEmptyList:
		c.become(to)
	case from == storeBool && to == storeBools, from == storeInt && to == storeInts, from == storeFloat && to == storeFloats,
		from == storeText && to == storeTexts && before == geoarrow.FactString:
		c.wrap(to)
	case from == storeInt && to == storeFloats:
		c.convert(storeFloat, before)
		c.wrap(to)
	default:
		return false
	}
	return true
}

// toFloats appends the integers as floats, and counts the ones that are rounded.
func (c *column) toFloats(dst []float64, kinds geoarrow.FactKinds) []float64 {
	for _, v := range c.ints {
		n := number.Num{Int: uint64(v)}
		if v < 0 && kinds&geoarrow.FactUint64 == 0 {
			n = number.Num{Int: uint64(-v), Negative: true}
		}
		f := float64(n.Int)
		if n.Negative {
			f = -f
		}
		if !number.ExactUint(n.Int) {
			c.rounded.total++
		}
		dst = append(dst, f)
	}
	return dst
}

// wrap makes a list of one element of each value.
func (c *column) wrap(to store) {
	keep := 0
	ends := append(make([]int32, 0, c.n+1), 0)
	for i := range c.n {
		if c.nulls > 0 && c.valid[i>>3]>>(i&7)&1 == 0 {
			ends = append(ends, int32(keep))
			continue
		}
		switch to {
		case storeBools, storeInts:
			c.ints[keep] = c.ints[i]
		case storeFloats:
			c.floats[keep] = c.floats[i]
		case storeTexts:
			c.textEnds = append(c.textEnds, c.ends[i+1])
		}
		keep++
		ends = append(ends, int32(keep))
	}
	switch to {
	case storeBools, storeInts:
		c.ints = c.ints[:keep]
	case storeFloats:
		c.floats = c.floats[:keep]
	}
	c.ends, c.store = ends, to
}
