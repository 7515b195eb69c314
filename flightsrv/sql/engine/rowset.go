package engine

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// DuckDB's C API does not pass the condition on rows to a table function, and DuckDB filters its
// rows in one thread if their order matters. So if only few rows of a batch can match, only these
// are passed to DuckDB. The filter here compares plain numbers with bounds. DuckDB decides on each
// remaining row.

// rowSet has a bit for each row of a batch, in rows/64 words, rounded up. Bits after the last row
// are 0.
type rowSet []uint64

// wholeSet returns the set of all rows.
func wholeSet(rows int) rowSet {
	s := make(rowSet, (rows+63)/64)
	for i := range s {
		s[i] = math.MaxUint64
	}
	if rows%64 != 0 {
		s[len(s)-1] = 1<<(rows%64) - 1
	}
	return s
}

// keepValid removes the rows that are null. valid has a bit for each row that is not; nil if no row
// is null.
func (s rowSet) keepValid(valid []byte) {
	var word [8]byte
	for i := 0; i < len(s) && valid != nil; i++ {
		clear(word[copy(word[:], valid[i*8:]):])
		s[i] &= binary.LittleEndian.Uint64(word[:])
	}
}

func (s rowSet) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// list returns the n rows of the set, ascending.
func (s rowSet) list(n int) []int32 {
	rows := make([]int32, 0, n)
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			rows = append(rows, int32(i*64+bits.TrailingZeros64(w)))
		}
	}
	return rows
}

// filter removes rows that are null in a column, or whose values are not between low and high, both
// included. A nil value is unbounded. It keeps all rows of types that are not plain numbers.
func (s *comparator) filter(c *geoarrow.Column, low, high value, rows rowSet) {
	rows.keepValid(c.Valid)
	switch {
	case s.family == float:
		from, to := math.Inf(-1), math.Inf(1)
		if low != nil {
			from = float64(low.(floatValue))
		}
		if high != nil {
			to = float64(high.(floatValue))
		}
		switch s.columnType.ID() {
		case arrow.FLOAT64:
			keepFloats(rows, geoarrow.View[float64](c.Values), from, to)
		case arrow.INT32:
			keepFloats(rows, geoarrow.View[int32](c.Values), from, to)
		case arrow.INT64:
			keepFloats(rows, geoarrow.View[int64](c.Values), from, to)
		}
	case s.family != text && s.uncertainty == 0:
		switch s.columnType.ID() {
		case arrow.INT32, arrow.DATE32, arrow.TIME32:
			from, to := s.integers(low, high, math.MinInt32, math.MaxInt32)
			keepIntegers(rows, geoarrow.View[int32](c.Values), int32(from), int32(to))
		case arrow.INT64, arrow.TIMESTAMP, arrow.TIME64:
			from, to := s.integers(low, high, math.MinInt64, math.MaxInt64)
			keepIntegers(rows, geoarrow.View[int64](c.Values), from, to)
		}
	}
}

// integers returns the minimum and maximum integer of a column's type between two values, in the
// column's unit. If there is none, from exceeds to, or both are the nearest end of the type.
func (s *comparator) integers(low, high value, minimum, maximum int64) (from, to int64) {
	from, to = minimum, maximum
	if low != nil {
		from = s.integer64(low, 1, minimum, maximum)
	}
	if high != nil {
		to = s.integer64(high, 0, minimum, maximum)
	}
	return from, to
}

// integer64 rounds a value down, or up if up is 1, to an integer in the column's unit, between
// minimum and maximum.
func (s *comparator) integer64(v value, up int64, minimum, maximum int64) int64 {
	r := v.(exactValue).Rat
	if s.unit > 1 {
		r = new(big.Rat).Quo(r, integerValue(s.unit).Rat)
	}
	n := new(big.Int).Div(r.Num(), r.Denom()) // Euclidean: down, as the denominator is positive
	if up == 1 && !r.IsInt() {
		n.Add(n, big.NewInt(1))
	}
	switch {
	case !n.IsInt64() && n.Sign() < 0, n.IsInt64() && n.Int64() < minimum:
		return minimum
	case !n.IsInt64(), n.Int64() > maximum:
		return maximum
	}
	return n.Int64()
}

// keepIntegers removes the rows whose value is not between low and high.
func keepIntegers[T int32 | int64](rows rowSet, values []T, low, high T) {
	for i := range rows {
		var out uint64
		of := values[i*64 : min(i*64+64, len(values))]
		for _, v := range of {
			var below, above uint64
			if v < low {
				below = 1
			}
			if v > high {
				above = 1
			}
			out = out>>1 | (below|above)<<63
		}
		rows[i] &^= out >> (64 - len(of))
	}
}

// keepFloats removes the rows whose value, as a float64, is less than low or greater than high. NaN
// stays.
func keepFloats[T int32 | int64 | float64](rows rowSet, values []T, low, high float64) {
	for i := range rows {
		var out uint64
		of := values[i*64 : min(i*64+64, len(values))]
		for _, v := range of {
			var below, above uint64
			if float64(v) < low {
				below = 1
			}
			if float64(v) > high {
				above = 1
			}
			out = out>>1 | (below|above)<<63
		}
		rows[i] &^= out >> (64 - len(of))
	}
}
