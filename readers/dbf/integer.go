package dbf

import (
	"math/big"
	"math/bits"
	"strconv"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// Words of eight characters.
const (
	blankWord = 0x2020202020202020
	zeroWord  = 0x3030303030303030
	highBits  = 0x8080808080808080
)

// nondigits has the high bit of each byte of w ^ zeroWord that is above 9.
func nondigits(d uint64) uint64 {
	return (d&^highBits + 0x7676767676767676 | d) & highBits
}

// eight returns the value of eight digits, the first one lowest, by the method of Johnny Lee and
// Daniel Lemire, "Quickly parsing eight digits" (2018).
//
//	digits  1 2 3 4 5 6 7 8    pairs  12 . 34 . 56 . 78 .    value  12345678
func eight(d uint64) uint64 {
	d = d*10 + d>>8
	return (d&0x000000FF000000FF*(100+1000000<<32) + d>>16&0x000000FF000000FF*(1+10000<<32)) >> 32
}

// word returns the number in a word of blanks, an optional minus, and digits. It is 0 for a word
// without digits.
//
//	word  "    -123"    skip  5 bytes: blanks and the minus    digits  00000123
func word(w uint64) (v uint64, negative, ok bool) {
	skip := bits.TrailingZeros64(w^blankWord) &^ 7
	if byte(w>>skip) == '-' {
		negative = true
		skip += 8
	}
	d := (w ^ zeroWord) &^ (1<<skip - 1)
	return eight(d), negative, nondigits(d) == 0
}

// fieldContent is a kind of content of a field.
type fieldContent uint8

const (
	foundNumber fieldContent = iota
	foundBlank
	foundOther // to be read byte by byte
)

// rightAligned reads an integer at the end of its field, the width bytes before end. It accepts the
// usual content: blanks, an optional minus, digits. Anything else is foundOther.
func rightAligned(end unsafe.Pointer, width int) (v uint64, negative bool, f fieldContent) {
	const maxTop = 922 // and sixteen digits are below 2^63
	w := load(unsafe.Add(end, -8))
	if width <= 8 {
		w = lastBytes(w, width)
	}
	if w == blankWord {
		if width <= 16 && (width <= 8 || lastBytes(load(unsafe.Add(end, -16)), width-8) == blankWord) {
			return 0, false, foundBlank
		}
		return 0, false, foundOther
	}
	v, negative, ok := word(w)
	if !ok || byte(w>>56)-'0' > 9 {
		return 0, false, foundOther
	}
	full := byte(w)-'0' <= 9
	for scale := uint64(1e8); width > 8; scale *= 1e8 {
		width -= 8
		end = unsafe.Add(end, -8)
		w = lastBytes(load(unsafe.Add(end, -8)), width)
		if w == blankWord {
			full = false
			continue
		}
		more, minus, ok := word(w)
		if !ok || !full || scale > 1e16 || scale == 1e16 && more >= maxTop {
			return 0, false, foundOther
		}
		v += more * scale
		negative = minus
		full = byte(w)-'0' <= 9
	}
	return v, negative, foundNumber
}

// lastBytes returns a word whose bytes before the last width ones, if there are any, are blanks.
func lastBytes(w uint64, width int) uint64 {
	if width >= 8 {
		return w
	}
	return w>>(64-8*width)<<(64-8*width) | blankWord>>(8*width)
}

// integers reads fields of type N without decimals.
func (c *column) integers(b *block, row int) {
	width := c.field.Length
	end := c.field.Offset + width
	for i, place := range b.live {
		v, negative, f := rightAligned(b.at(int(place)+end), width)
		if f != foundNumber {
			if f == foundBlank {
				c.null(row + i)
			} else {
				c.integerText(b, int(place), row+i)
			}
			continue
		}
		n := int64(v)
		if negative {
			n = -n
		}
		switch c.store {
		case storeInt32:
			c.int32s[row+i] = int32(n)
		case storeInt64:
			c.int64s[row+i] = n
		default:
			c.setInteger(row+i, decimal128.FromI64(n))
		}
	}
}

// setInteger keeps an integer that fits the store.
func (c *column) setInteger(row int, n decimal128.Num) {
	switch c.store {
	case storeInt32:
		c.int32s[row] = int32(n.LowBits())
	case storeInt64:
		c.int64s[row] = int64(n.LowBits())
	case storeDecimal:
		c.decimals[row] = n
	default:
		c.setFloat(row, n)
	}
}

// integerText reads any text. A column that is declared as integer becomes float if a value has a
// point, an exponent or more than 38 digits, or is infinite or NaN.
func (c *column) integerText(b *block, place, row int) {
	text := c.numeral(b, place)
	if unset(text) {
		c.null(row)
		return
	}
	n, ok := parseNumeral(text)
	if !ok {
		if f, ok := special(text); ok {
			c.setFraction(row, f, geoarrow.FactFloat)
		} else {
			c.refuse(int32(place), row)
		}
		return
	}
	kind, v := n.classify()
	switch kind {
	case geoarrow.FactInt64:
		c.setInteger(row, v)
		return
	case geoarrow.FactDecimal:
		if c.store == storeInt64 {
			c.widen(storeDecimal, row)
		}
		c.facts.Kinds |= kind
		c.setInteger(row, v)
		return
	}
	f, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), 64)
	if err != nil {
		c.refuse(int32(place), row)
		return
	}
	c.setFraction(row, f, kind)
	if kind == geoarrow.FactHuge && !number.Exact(n.digits) {
		c.rounded++
	}
}

// setFraction keeps a float in a column that is declared as integer.
func (c *column) setFraction(row int, f float64, kind geoarrow.FactKinds) {
	if c.store != storeFloat {
		c.widen(storeFloat, row)
	}
	c.facts.Kinds |= kind
	c.floats[row] = f
}

// numeral is a number as it is written.
type numeral struct {
	negative bool
	integer  bool   // without point and exponent
	digits   []byte // of an integer, without leading zeros
}

// parseNumeral accepts
//
//	number = ["+" / "-"] (1*digit ["." *digit] / "." 1*digit) [("e" / "E") ["+" / "-"] 1*digit]
//
// which strconv.ParseFloat accepts too.
func parseNumeral(text []byte) (n numeral, ok bool) {
	digits := func() int {
		k := 0
		for k < len(text) && text[k]-'0' <= 9 {
			k++
		}
		text = text[k:]
		return k
	}
	sign := func() bool {
		if len(text) == 0 || text[0] != '+' && text[0] != '-' {
			return false
		}
		minus := text[0] == '-'
		text = text[1:]
		return minus
	}
	n.negative = sign()
	all := text
	count := digits()
	n.integer, n.digits = len(text) == 0, all[:count]
	if len(text) > 0 && text[0] == '.' {
		text = text[1:]
		count += digits()
	}
	if count == 0 {
		return n, false
	}
	if len(text) > 0 && text[0]|0x20 == 'e' {
		text = text[1:]
		sign()
		if digits() == 0 {
			return n, false
		}
	}
	for len(n.digits) > 1 && n.digits[0] == '0' {
		n.digits = n.digits[1:]
	}
	return n, len(text) == 0
}

// classify returns the kind of a number, and its value if that is an integer of at most 38 digits.
func (n *numeral) classify() (geoarrow.FactKinds, decimal128.Num) {
	const maxDigits = 38 // of a decimal128
	if !n.integer {
		return geoarrow.FactFloat, decimal128.Num{}
	}
	if len(n.digits) < wideDigits {
		v := int64(0)
		for _, c := range n.digits {
			v = 10*v + int64(c-'0')
		}
		if n.negative {
			v = -v
		}
		return geoarrow.FactInt64, decimal128.FromI64(v)
	}
	if len(n.digits) > maxDigits {
		return geoarrow.FactHuge, decimal128.Num{}
	}
	v, ok := new(big.Int).SetString(string(n.digits), 10)
	if !ok {
		panic("dbf: digits that are none")
	}
	if n.negative {
		v.Neg(v)
	}
	if v.IsInt64() {
		return geoarrow.FactInt64, decimal128.FromI64(v.Int64())
	}
	return geoarrow.FactDecimal, decimal128.FromBigInt(v)
}
