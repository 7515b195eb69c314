package rows

import (
	"encoding/binary"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/temporal"
)

// dateFacts is temporalFacts for a column in which every text is a date; days is nil for others and
// for a column without values.
func dateFacts(c *geoarrow.Column, n int, passEmpty bool) (f geoarrow.Facts, days []int32, empty int) {
	var known months
	low, high, any := int32(0), int32(0), false
	for i := range n {
		text := c.Values[c.Offsets[i]:c.Offsets[i+1]]
		if len(text) == 0 && (passEmpty || c.Nulls > 0 && c.Valid[i>>3]>>(i&7)&1 == 0) {
			if c.Nulls == 0 || c.Valid[i>>3]>>(i&7)&1 == 1 {
				empty++
			}
			days = append(days, 0)
			continue
		}
		d, ok := known.date(text)
		if !ok {
			return geoarrow.Facts{}, nil, 0
		}
		if !any {
			low, high, any = d, d, true
			days = append(make([]int32, 0, n), days...)
		}
		low, high = min(low, d), max(high, d)
		days = append(days, d)
	}
	if !any {
		return geoarrow.Facts{}, nil, 0
	}
	return geoarrow.Facts{Kinds: geoarrow.FactDate, MinSec: int64(low) * 86400, MaxSec: int64(high) * 86400},
		days, empty
}

// months caches months of dates, so that the calendar is computed once per month, not once per
// date.
//
//	2025-09-17    the first 8 bytes name the month, the last 2 count from its first day on
type months [256]struct {
	text  uint64
	first int32 // day
	days  uint8 // 0: the entry is free
}

// date returns the days since 1970-01-01 of a text that is a date.
func (m *months) date(text []byte) (day int32, ok bool) {
	if len(text) != len("2006-01-02") {
		return 0, false
	}
	w := binary.LittleEndian.Uint64(text)
	e := &m[w*0x9E3779B97F4A7C15>>56]
	tens, ones := text[8]-'0', text[9]-'0'
	if of := 10*tens + ones - 1; e.text == w && tens <= 9 && ones <= 9 && of < e.days {
		return e.first + int32(of), true
	}
	v, ok := temporal.Parse(text)
	if !ok || v.Kind != temporal.Date || e.text == w {
		return v.Days(), ok && v.Kind == temporal.Date
	}
	e.text, e.first, e.days = w, v.Days()-int32(10*tens+ones)+1, 28
	for last := [10]byte(text); e.days < 31; e.days++ {
		if last[8], last[9] = '0'+(e.days+1)/10, '0'+(e.days+1)%10; !isDate(last[:]) {
			break
		}
	}
	return v.Days(), true
}

func isDate(text []byte) bool {
	_, ok := temporal.Parse(text)
	return ok
}
