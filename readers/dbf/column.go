package dbf

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// store is the type of slice in which a column keeps the values of the current run.
type store uint8

const (
	storeBits store = iota
	storeInt32
	storeInt64
	storeDecimal
	storeFloat
	storeText
)

// column collects the values of one field over a run. Only the slice of its store is used. It has a
// value for each row, undefined under a null.
type column struct {
	field *Field
	h     *Header
	memo  *memoFile // of memo fields, unless they are ignored

	unread bool // it was not requested

	store   store
	facts   geoarrow.Facts
	rounded int64 // integers that were rounded to float64
	rows    int   // maximum of the run
	nulls   []int32
	bad     []int32 // places in the current block of records whose value is malformed
	mended  []int32 // the same for values that on_error: repair reads

	bits     []byte
	int32s   []int32
	int64s   []int64
	decimals []decimal128.Num
	floats   []float64
	text     textColumn
	valid    []byte
	months   *months // of dates
	scratch  []byte  // of a number with a decimal comma
}

// beyond is a record that exceeds a limit, which is an error even under on_error: skip.
type beyond struct {
	place int32 // in the current block
	err   error // nil: there is none
}

// sized returns a slice of n elements with undefined values.
func sized[T any](v []T, n int) []T {
	if n > cap(v) {
		return make([]T, n)
	}
	return v[:n]
}

// reset drops the run. The next one has at most n rows.
func (c *column) reset(rows int) {
	c.facts, c.rounded, c.rows = c.field.facts(), 0, rows
	c.nulls, c.bad = c.nulls[:0], c.bad[:0]
	switch c.field.kind {
	case kindLogical:
		c.become(storeBits)
	case kindDate, kindInt:
		c.become(storeInt32)
	case kindInteger:
		c.become(storeInt64)
		if c.field.Length < narrowDigits {
			c.become(storeInt32)
		}
	case kindNumber, kindDouble:
		c.become(storeFloat)
	case kindTimestamp:
		c.become(storeInt64)
	case kindMoney:
		c.become(storeDecimal)
	default:
		c.become(storeText)
	}
}

// become switches to another store.
func (c *column) become(s store) {
	c.store = s
	switch s {
	case storeBits:
		c.bits = sized(c.bits, (c.rows+7)/8)
		clear(c.bits)
	case storeInt32:
		c.int32s = sized(c.int32s, c.rows)
	case storeInt64:
		c.int64s = sized(c.int64s, c.rows)
	case storeDecimal:
		c.decimals = sized(c.decimals, c.rows)
	case storeFloat:
		c.floats = sized(c.floats, c.rows)
	case storeText:
		c.text.reset(c.rows)
	}
}

// parse reads the field in all rows of a block, the first of which is number row of the run. Memos
// were read before. Malformed values are in bad. The error is one of a limit or of reading.
func (c *column) parse(b *block, row int) error {
	if c.field.kind.isMemo() {
		return nil
	}
	c.bad, c.mended = c.bad[:0], c.mended[:0]
	if c.unread && c.field.takesAll() && !c.h.page.unknown {
		return nil
	}
	if c.field.nullBit != noBit {
		c.eraseNulls(b)
	}
	switch c.field.kind {
	case kindInteger:
		c.integers(b, row)
	case kindNumber:
		c.numbers(b, row)
	case kindDate:
		c.dates(b, row)
	case kindLogical:
		c.logicals(b, row)
	case kindInt, kindDouble, kindMoney, kindTimestamp:
		c.binaries(b, row)
	case kindText:
		if c.field.sizeBit == noBit {
			return c.texts(b, row)
		}
		return c.varTexts(b, row)
	case kindHex:
		return c.hexTexts(b, row)
	}
	return nil
}

// isNull reports whether the hidden field of Visual FoxPro marks a value as null.
func (c *column) isNull(b *block, place int32) bool { return c.flag(b, place, c.field.nullBit) }

func (c *column) flag(b *block, place int32, bit int) bool {
	return bit != noBit && b.buf[int(place)+c.h.nullFrom+bit>>3]>>(bit&7)&1 == 1
}

// eraseNulls overwrites the bytes of nulls with bytes that mean null, if the type has such bytes.
func (c *column) eraseNulls(b *block) {
	with := byte(' ')
	switch c.field.kind {
	case kindInt, kindDouble, kindMoney, kindHex:
		return
	case kindMemo, kindHexMemo:
		with = 0
	}
	for _, place := range b.live {
		if c.isNull(b, place) {
			value := b.bytes(c.field, int(place))
			for i := range value {
				value[i] = with
			}
		}
	}
}

// finish returns the column of n rows. Its slices are the column's own.
func (c *column) finish(rows int) geoarrow.Column {
	if c.unread {
		return geoarrow.Unread(c.field.id())
	}
	out := geoarrow.Column{
		Name: c.field.Name, Facts: c.facts, Type: c.facts.Resolve(geoarrow.RoleAttribute).Type,
		Rounded: c.rounded, Nulls: len(c.nulls),
	}
	if len(c.nulls) > 0 {
		out.Valid = c.validity(rows)
	}
	switch c.store {
	case storeBits:
		out.Values = c.bits[:(rows+7)/8]
	case storeInt32:
		out.Values = geoarrow.AsBytes(c.int32s[:rows])
	case storeInt64:
		out.Values = geoarrow.AsBytes(c.int64s[:rows])
	case storeDecimal:
		out.Values = geoarrow.DecimalBytes(c.decimals[:rows])
	case storeFloat:
		out.Values = geoarrow.AsBytes(c.floats[:rows])
	case storeText:
		out.Offsets, out.Values, out.Replaced = c.text.ends[:rows+1], c.text.values, c.text.replaced
	}
	return out
}

// validity sets a bit for each non-null row, and zeros the values of the others.
func (c *column) validity(rows int) []byte {
	c.valid = sized(c.valid, (rows+7)/8)
	for i := range c.valid {
		c.valid[i] = 0xFF
	}
	if rows&7 != 0 {
		c.valid[len(c.valid)-1] = 1<<(rows&7) - 1
	}
	for _, row := range c.nulls {
		c.valid[row>>3] &^= 1 << (row & 7)
		switch c.store {
		case storeInt32:
			c.int32s[row] = 0
		case storeInt64:
			c.int64s[row] = 0
		case storeDecimal:
			c.decimals[row] = decimal128.Num{}
		case storeFloat:
			c.floats[row] = 0
		}
	}
	return c.valid
}

// null marks a row as null. Texts end their row themselves.
func (c *column) null(row int) { c.nulls = append(c.nulls, int32(row)) }

// refuse marks the value of a row as malformed. Under on_error: null it is null.
func (c *column) refuse(place int32, row int) {
	c.bad = append(c.bad, place)
	if c.h.options.nulls {
		c.null(row)
	}
}

// widen converts the integers of the rows before one to a wider store.
func (c *column) widen(to store, row int) {
	from := c.store
	c.become(to)
	nulls := c.nulls
	for i := range row {
		if len(nulls) > 0 && int(nulls[0]) == i { // the values are undefined
			nulls = nulls[1:]
			continue
		}
		switch {
		case to == storeDecimal:
			c.decimals[i] = decimal128.FromI64(c.int64s[i])
		case from == storeInt32:
			c.floats[i] = float64(c.int32s[i])
		case from == storeInt64:
			c.setFloat(i, decimal128.FromI64(c.int64s[i]))
		default:
			c.setFloat(i, c.decimals[i])
		}
	}
}

// setFloat keeps an integer as a float, and counts it if that rounds it.
func (c *column) setFloat(row int, n decimal128.Num) {
	v, exact := geoarrow.Int128Float(n)
	if !exact {
		c.rounded++
	}
	c.floats[row] = v
}

// textColumn collects texts.
type textColumn struct {
	decoder  *textDecoder
	ends     []int32 // from 0, and one a row
	values   []byte
	replaced int64
}

// maxKept is how many bytes of memory, of one column or of memos, are kept for the next run: a run
// of long memos needs far more than usual.
const maxKept = 16 << 20

func (t *textColumn) reset(rows int) {
	t.ends = sized(t.ends, rows+1)
	t.ends[0] = 0
	if cap(t.values) > maxKept {
		t.values = nil
	}
	t.values, t.replaced = t.values[:0], 0
}

// room grows the buffer for n bytes and seven more that a copy by words may write, if the decoded
// text fits the offsets.
func (t *textColumn) room(n int) error {
	const most = 3 // maximum bytes of UTF-8 for a byte of any page
	if len(t.values)+most*n > math.MaxInt32 {
		return geoarrow.ErrBatchTooLarge
	}
	t.values = slices.Grow(t.values, n+7)
	return nil
}

// add ends a row with a text of the code page.
func (t *textColumn) add(row int, text []byte) {
	var replaced int64
	t.values, replaced = t.decoder.append(t.values, text)
	t.replaced += replaced
	t.end(row)
}

func (t *textColumn) end(row int) { t.ends[row+1] = int32(len(t.values)) }
