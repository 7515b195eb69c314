package dbf

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// store is how a column keeps the values of the current run.
type store uint8

const (
	storeBits store = iota
	storeInt32
	storeInt64
	storeDecimal
	storeFloat
	storeText
)

// column collects the values of one field over a run. Of its slices only the one of its store holds
// anything, a value a row, whatever it is below a null.
type column struct {
	field *Field
	h     *Header
	memo  *memoFile // of memo fields, unless they are ignored

	unread bool // it was not requested

	store   store
	facts   geoarrow.Facts
	rounded int64 // integers that floats could not hold
	rows    int   // of the run at most
	nulls   []int32
	bad     []int32 // places in the current block of records whose value is malformed
	mended  []int32 // likewise, of values that on_error: repair reads

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

// beyond is a record that is beyond a limit: skipping malformed records does not help against it.
type beyond struct {
	place int32 // in the current block
	err   error // nil: there is none
}

// sized returns a slice of n elements that hold anything.
func sized[T any](v []T, n int) []T {
	if n > cap(v) {
		return make([]T, n)
	}
	return v[:n]
}

// reset forgets the run. The next one has n rows at most.
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

// become makes room in another store.
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

// parse reads the field of all rows of a block, the first of which is number row of the run, unless
// it is one of memos, which were read before. Malformed ones are in bad. The error is one of a
// limit or of reading.
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

// isNull asks the hidden field of Visual FoxPro.
func (c *column) isNull(b *block, place int32) bool { return c.flag(b, place, c.field.nullBit) }

func (c *column) flag(b *block, place int32, bit int) bool {
	return bit != noBit && b.buf[int(place)+c.h.nullFrom+bit>>3]>>(bit&7)&1 == 1
}

// eraseNulls makes the bytes of nulls those that are null by themselves, where a type has such.
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

// validity sets a bit for each row that is not null, and zeros under the others.
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

// null says that a row has no value. Texts end their row themselves.
func (c *column) null(row int) { c.nulls = append(c.nulls, int32(row)) }

// refuse says that the value of a row is malformed. Under on_error: null it is null.
func (c *column) refuse(place int32, row int) {
	c.bad = append(c.bad, place)
	if c.h.options.nulls {
		c.null(row)
	}
}

// widen turns the integers of the rows before one into those of a wider store.
func (c *column) widen(to store, row int) {
	from := c.store
	c.become(to)
	nulls := c.nulls
	for i := range row {
		if len(nulls) > 0 && int(nulls[0]) == i { // anything is there
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
// of long memos needs far more than most.
const maxKept = 16 << 20

func (t *textColumn) reset(rows int) {
	t.ends = sized(t.ends, rows+1)
	t.ends[0] = 0
	if cap(t.values) > maxKept {
		t.values = nil
	}
	t.values, t.replaced = t.values[:0], 0
}

// room makes room for n bytes and the seven after that a copy by words may write, if offsets can
// count what they become.
func (t *textColumn) room(n int) error {
	const most = 3 // bytes of UTF-8 that a byte of any page becomes
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
