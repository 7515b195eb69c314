package rows

import (
	"bytes"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/temporal"
)

// Times converts a column of n texts to dates or times if all of them are, and reports whether it
// did. A forced column stays text. It always sets Facts. Empty texts are nulls if Facts have
// FactField.
func Times(c *geoarrow.Column, n int, forced bool) bool {
	field := c.Facts.Kinds & geoarrow.FactField
	facts, days, empty := dateFacts(c, n, field != 0)
	var values []temporal.Value
	if days == nil {
		facts, values, empty = temporalFacts(c, n, field != 0)
	}
	facts.Kinds |= field
	c.Facts = facts
	res := facts.Resolve(c.Role)
	if res.Type.ID() == arrow.STRING || forced {
		return false
	}
	if empty > 0 {
		dropEmpty(c, n)
	}
	if c.Type, c.Offsets, c.Values = res.Type, nil, geoarrow.AsBytes(days); days == nil {
		c.Values = temporalValues(values, res.Type)
	}
	return true
}

// dropEmpty makes empty texts nulls.
func dropEmpty(c *geoarrow.Column, n int) {
	if c.Nulls == 0 {
		c.Valid = bytes.Repeat([]byte{0xFF}, (n+7)/8)
		if n&7 != 0 {
			c.Valid[n>>3] = 1<<(n&7) - 1
		}
	}
	for i := range n {
		if bit := byte(1) << (i & 7); c.Offsets[i] == c.Offsets[i+1] && c.Valid[i>>3]&bit != 0 {
			c.Valid[i>>3] &^= bit
			c.Nulls++
		}
	}
}

// temporalFacts looks at every text of the column, until one is neither a date nor a time. times
// has a value per row: zero for a null, and for an empty text if these are allowed.
func temporalFacts(c *geoarrow.Column, n int, passEmpty bool) (f geoarrow.Facts, times []temporal.Value, empty int) {
	for i := range n {
		if c.Nulls > 0 && c.Valid[i>>3]>>(i&7)&1 == 0 {
			times = append(times, temporal.Value{})
			continue
		}
		if passEmpty && c.Offsets[i] == c.Offsets[i+1] {
			times = append(times, temporal.Value{})
			empty++
			continue
		}
		v, ok := temporal.Parse(c.Values[c.Offsets[i]:c.Offsets[i+1]])
		if !ok {
			return geoarrow.Facts{Kinds: geoarrow.FactString}, nil, 0
		}
		if times == nil {
			times = make([]temporal.Value, 0, n)
		}
		times = append(times, v)
		f = f.Join(factsOf(v))
	}
	return f, times, empty
}

// factsOf returns the facts of one date or time.
func factsOf(v temporal.Value) geoarrow.Facts {
	f := geoarrow.Facts{Digits: v.Digits, MinSec: v.Seconds - int64(v.Offset), MaxSec: v.Seconds - int64(v.Offset)}
	switch v.Kind {
	case temporal.Date:
		f.Kinds = geoarrow.FactDate
	case temporal.Naive:
		f.Kinds = geoarrow.FactNaive
	case temporal.Zoned:
		f.Kinds, f.Zones, f.Offset = geoarrow.FactZoned, geoarrow.OneZone, v.Offset
	default:
		f.Kinds = geoarrow.FactTime
	}
	return f
}

// temporalValues returns times in the layout of a date, a timestamp or a time of day.
func temporalValues(times []temporal.Value, t arrow.DataType) []byte {
	if t.ID() == arrow.DATE32 {
		return geoarrow.AsBytes(mapTimes(times, func(v temporal.Value) int32 { return int32(v.Seconds / 86400) }))
	}
	unit := t.(arrow.TemporalWithUnit).TimeUnit()
	perSecond := int64(1e9 / unit.Multiplier().Nanoseconds())
	at := func(v temporal.Value) int64 {
		return (v.Seconds-int64(v.Offset))*perSecond + int64(v.Fraction)/unit.Multiplier().Nanoseconds()
	}
	if t.ID() == arrow.TIME32 {
		return geoarrow.AsBytes(mapTimes(times, func(v temporal.Value) int32 { return int32(at(v)) }))
	}
	return geoarrow.AsBytes(mapTimes(times, at))
}

func mapTimes[T int32 | int64](times []temporal.Value, f func(temporal.Value) T) []T {
	out := make([]T, len(times))
	for i, v := range times {
		out[i] = f(v)
	}
	return out
}
