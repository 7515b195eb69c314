package dbf

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/vibeflight/vibeflight/readers/internal/temporal"
)

// dates reads fields of type D, YYYYMMDD.
func (c *column) dates(b *block, row int) {
	for i, place := range b.live {
		text := b.bytes(c.field, int(place))
		if len(text) == dateBytes {
			if days, ok := c.months.date(load(b.at(int(place) + c.field.Offset))); ok {
				c.int32s[row+i] = days
				continue
			}
		}
		text = trim(text)
		if unset(text) || string(text) == "00000000" {
			c.null(row + i)
			continue
		}
		days, ok := int32(0), false
		if len(text) == dateBytes {
			days, ok = c.months.date(binary.LittleEndian.Uint64(text))
		}
		if !ok && c.h.options.repair {
			if days, ok = c.months.separated(text); ok {
				c.mended = append(c.mended, place)
			}
		}
		if !ok {
			c.refuse(place, row+i)
			continue
		}
		c.int32s[row+i] = days
	}
}

const dateBytes = 8

// months caches the first days of the months that occurred, each at 12 * year + month, so that
// package temporal is called once for each.
type months [1024]month

type month struct {
	number uint32 // YYYYMM; 0 is none
	days   uint32 // that it has
	before int32  // days from 1970-01-01 to the day before its first
}

// date returns the days since 1970-01-01 of eight digits.
func (m *months) date(text uint64) (days int32, ok bool) {
	d := text ^ zeroWord
	if nondigits(d) != 0 {
		return 0, false
	}
	v := uint32(eight(d))
	number := v / 100
	at := &m[(number-88*(number/100))%uint32(len(m))]
	if at.number != number {
		if *at = newMonth(number); at.number == 0 {
			return 0, false
		}
	}
	day := v - 100*number
	return at.before + int32(day), day-1 < at.days
}

// separated returns the days since 1970-01-01 of YYYY-MM-DD, with '-', '/' or '.' twice.
func (m *months) separated(text []byte) (days int32, ok bool) {
	const form = "YYYY-MM-DD"
	if len(text) != len(form) || text[4] != text[7] || text[4] != '-' && text[4] != '/' && text[4] != '.' {
		return 0, false
	}
	digits := [dateBytes]byte{text[0], text[1], text[2], text[3], text[5], text[6], text[8], text[9]}
	return m.date(binary.LittleEndian.Uint64(digits[:]))
}

func newMonth(number uint32) month {
	for last := uint32(31); last >= 28; last-- {
		text := fmt.Appendf(nil, "%04d-%02d-%02d", number/100, number%100, last)
		if v, ok := temporal.Parse(text); ok {
			return month{number: number, days: last, before: v.Days() - int32(last)}
		}
	}
	return month{}
}

// logicals reads fields of type L.
func (c *column) logicals(b *block, row int) {
	for i, place := range b.live {
		text := b.bytes(c.field, int(place))
		if len(text) != 1 {
			if text = trim(text); len(text) == 0 {
				c.null(row + i)
				continue
			}
		}
		switch letter := text[0]; {
		case len(text) > 1:
			c.refuse(place, row+i)
		case letter == 'T', letter == 't', letter == 'Y', letter == 'y':
			c.bits[(row+i)>>3] |= 1 << ((row + i) & 7)
		case letter == 'F', letter == 'f', letter == 'N', letter == 'n':
		case letter == '?', letter == ' ', letter == 0:
			c.null(row + i)
		case c.h.options.repair && (letter == '0' || letter == '1'):
			c.bits[(row+i)>>3] |= (letter & 1) << ((row + i) & 7)
			c.mended = append(c.mended, place)
		default:
			c.refuse(place, row+i)
		}
	}
}

// binaries reads fields of little-endian numbers.
func (c *column) binaries(b *block, row int) {
	for i, place := range b.live {
		value := b.bytes(c.field, int(place))
		if c.field.kind != kindTimestamp && c.isNull(b, place) {
			c.null(row + i)
			continue
		}
		switch c.field.kind {
		case kindInt:
			c.int32s[row+i] = int32(binary.LittleEndian.Uint32(value))
		case kindDouble:
			v := math.Float64frombits(binary.LittleEndian.Uint64(value))
			if v != v {
				v = nan
			}
			c.floats[row+i] = v
		case kindMoney:
			c.decimals[row+i] = decimal128.FromI64(int64(binary.LittleEndian.Uint64(value)))
		default:
			ms, ok := timestamp(value)
			switch {
			case ok:
				c.int64s[row+i] = ms
			case len(trim(value)) == 0:
				c.null(row + i)
			default:
				c.refuse(place, row+i)
			}
		}
	}
}

// nan is the canonical NaN.
var nan = math.Float64frombits(0x7ff8000000000000)

// Julian days of 0001-01-01, 1970-01-01 and 9999-12-31.
const (
	firstDay = 1721426
	epochDay = 2440588
	lastDay  = 5373484

	dayMillis = 86_400_000
)

// timestamp returns the milliseconds since 1970-01-01 of a Julian day and the milliseconds of that
// day.
func timestamp(value []byte) (ms int64, ok bool) {
	day, clock := int64(int32(binary.LittleEndian.Uint32(value))), int64(int32(binary.LittleEndian.Uint32(value[4:])))
	if day < firstDay || day > lastDay || clock < 0 || clock >= dayMillis {
		return 0, false
	}
	return (day-epochDay)*dayMillis + clock, true
}
