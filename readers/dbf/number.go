package dbf

import (
	"bytes"
	"strconv"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// Exact powers of ten, as integers and as floats.
var (
	tens      = [16]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}
	floatTens = [16]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}
)

// numbers reads fields of floats in text.
func (c *column) numbers(b *block, row int) {
	width, decimals := c.field.Length, c.field.Decimals
	end := c.field.Offset + width
	usual := !c.h.options.comma && decimals > 0 && decimals < len(tens) && decimals < width
	for i, place := range b.live {
		if usual {
			if v, ok := fixedPoint(b.at(int(place)+end), width, decimals); ok {
				c.floats[row+i] = v
				continue
			}
		}
		c.numberText(b, int(place), row+i)
	}
}

// fixedPoint reads a right-aligned number with its point at the field's place and at most 53 bits
// without it. One division rounds it correctly, since both operands are exact (Clinger 1990).
//
//	field  "   -1234.567", 3 decimals    -1234567 / 10^3
func fixedPoint(end unsafe.Pointer, width, decimals int) (v float64, ok bool) {
	if *(*byte)(unsafe.Add(end, -1-decimals)) != '.' {
		return 0, false
	}
	fraction, ok := lastDigits(end, decimals)
	if !ok {
		return 0, false
	}
	whole, negative, f := uint64(0), false, foundBlank
	if width -= decimals + 1; width > 0 {
		whole, negative, f = rightAligned(unsafe.Add(end, -1-decimals), width)
	}
	scale := tens[decimals&15]
	if f == foundOther || whole >= 1<<53/scale {
		return 0, false
	}
	v = float64(int64(whole*scale+fraction)) / floatTens[decimals&15]
	if negative {
		v = -v
	}
	return v, true
}

// lastDigits returns the number in the last n bytes before end, at most 15.
func lastDigits(end unsafe.Pointer, n int) (v uint64, ok bool) {
	d := load(unsafe.Add(end, -8)) ^ zeroWord
	if n < 8 {
		d = d >> (64 - 8*n) << (64 - 8*n)
	}
	if nondigits(d) != 0 {
		return 0, false
	}
	v = eight(d)
	if n > 8 {
		above, ok := lastDigits(unsafe.Add(end, -8), n-8)
		return above*1e8 + v, ok
	}
	return v, true
}

// numberText reads any text.
func (c *column) numberText(b *block, place, row int) {
	text := c.numeral(b, place)
	if unset(text) {
		c.null(row)
		return
	}
	v, ok := parseFloat(text)
	if !ok {
		c.refuse(int32(place), row)
		return
	}
	c.floats[row] = v
}

// numeral returns the text of a number, with a decimal point in place of the comma if the option
// says so. A point then becomes a comma, which is invalid.
func (c *column) numeral(b *block, place int) []byte {
	text := trim(b.bytes(c.field, place))
	if !c.h.options.comma || !bytes.ContainsAny(text, ".,") {
		return text
	}
	c.scratch = append(c.scratch[:0], text...)
	for i, d := range c.scratch {
		switch d {
		case ',':
			c.scratch[i] = '.'
		case '.':
			c.scratch[i] = ','
		}
	}
	n := len(c.scratch)
	c.scratch = append(c.scratch, make([]byte, number.Padding)...) // parseFloat may read beyond it
	return c.scratch[:n]
}

// parseFloat returns the correctly rounded value of a number. It writes a zero after the number and
// restores the byte. number.Padding bytes after that can be read.
func parseFloat(text []byte) (v float64, ok bool) {
	next := (*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(text)), len(text)))
	was := *next
	*next = 0
	v, end := number.Float(unsafe.Pointer(unsafe.SliceData(text)), 0)
	*next = was
	if end == len(text) {
		return v, true
	}
	if _, ok := parseNumeral(text); ok { // with a plus, leading zeros, or no digit before or after the point
		v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), 64)
		return v, err == nil
	}
	return special(text)
}
