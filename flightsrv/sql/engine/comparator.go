package engine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"math/big"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// typeFamily is a set of types whose values compare with each other.
type typeFamily uint8

const (
	noFamily  typeFamily = iota
	number               // integers and decimals, exactly
	float                // float64
	text                 // by bytes
	localTime            // dates and timestamps without a zone, in nanoseconds
	instant              // timestamps with a zone, in nanoseconds
	timeOfDay            // times of day, in nanoseconds
)

// comparator compares the values of a column with a constant as DuckDB does, after a cast if the
// query has one. The cast keeps the order of values.
type comparator struct {
	family     typeFamily
	columnType arrow.DataType // of the column
	unit       int64          // of the column, in nanoseconds: dates and times
	// DuckDB's value differs from the column's by less than this: nanoseconds if DuckDB has only
	// microseconds
	uncertainty int64
}

// A value orders with others of its family.
type value interface{ compare(value) int } // with one of the same family

type (
	exactValue struct{ *big.Rat }
	floatValue float64 // never NaN
	bytesValue []byte
)

func (v exactValue) compare(w value) int { return v.Cmp(w.(exactValue).Rat) }
func (v floatValue) compare(w value) int { return cmp.Compare(v, w.(floatValue)) }
func (v bytesValue) compare(w value) int { return bytes.Compare(v, w.(bytesValue)) }

func integerValue(n int64) exactValue { return exactValue{new(big.Rat).SetInt64(n)} }

const day = 86_400_000_000_000

// comparatorOf returns the comparator of a column without a cast; nil for a type whose order is not
// understood.
func comparatorOf(t arrow.DataType) *comparator {
	s := &comparator{columnType: t}
	switch t := t.(type) {
	case *arrow.Int32Type, *arrow.Int64Type, *arrow.Uint64Type, *arrow.Decimal128Type:
		s.family = number
	case *arrow.Float64Type:
		s.family = float
	case *arrow.StringType:
		s.family = text
	case *arrow.Date32Type:
		s.family, s.unit = localTime, day
	case *arrow.TimestampType:
		s.family, s.unit = localTime, int64(t.Unit.Multiplier())
		if t.TimeZone != "" {
			s.family = instant
			s.allowRounding()
		}
	case *arrow.Time32Type:
		s.family, s.unit = timeOfDay, int64(t.Unit.Multiplier())
	case *arrow.Time64Type:
		s.family, s.unit = timeOfDay, int64(t.Unit.Multiplier())
		s.allowRounding()
	default:
		return nil
	}
	return s
}

// allowRounding accounts for types of DuckDB that have microseconds where the column has
// nanoseconds.
func (s *comparator) allowRounding() {
	if s.unit < 1000 {
		s.uncertainty = 1000
	}
}

// units of DuckDB's timestamps, in nanoseconds.
var units = map[string]int64{
	"DATE": day, "TIMESTAMP_S": 1e9, "TIMESTAMP_MS": 1e6, "TIMESTAMP": 1e3,
	"TIMESTAMP_NS": 1, "TIMESTAMP WITH TIME ZONE": 1e3, "TIME": 1e3, "TIME_NS": 1,
}

// typeFamilyOf returns the family of a DuckDB type.
func typeFamilyOf(t logicalType) typeFamily {
	switch t.ID {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
		"UBIGINT", "UHUGEINT", "DECIMAL":
		return number
	case "DOUBLE":
		return float
	case "VARCHAR":
		if t.Info == nil { // not a collation and not JSON
			return text
		}
	case "DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS":
		return localTime
	case "TIMESTAMP WITH TIME ZONE":
		return instant
	case "TIME", "TIME_NS":
		return timeOfDay
	}
	return noFamily
}

// cast returns the comparator after a cast; nil if the cast may change the order of values, or may
// make different values equal.
//
//	integers     integers, decimals: the same numbers, or an error; float64: rounded, in order
//	decimals     decimals with at least as many fraction digits
//	dates        timestamps
//	timestamps   timestamps of a finer unit
func (s *comparator) cast(to logicalType) *comparator {
	into := typeFamilyOf(to)
	switch d, decimal := s.columnType.(*arrow.Decimal128Type); {
	case s.family == number && decimal:
		if to.ID == "DECIMAL" && to.Info != nil && to.Info.Scale >= int(d.Scale) {
			return s
		}
	case s.family == number && into == number:
		return s
	case s.family == number && into == float:
		return &comparator{family: float, columnType: s.columnType}
	case s.family == localTime && into == localTime && units[to.ID] <= s.unit:
		return s
	}
	return nil
}

// bounds returns the minimum and the maximum of a column as values of the comparator.
func (s *comparator) bounds(low, high geoarrow.Value) (value, value) {
	a, b := s.value(low), s.value(high)
	if s.uncertainty > 0 {
		a = exactValue{new(big.Rat).Sub(a.(exactValue).Rat, integerValue(s.uncertainty).Rat)}
		b = exactValue{new(big.Rat).Add(b.(exactValue).Rat, integerValue(s.uncertainty).Rat)}
	}
	return a, b
}

func (s *comparator) value(v geoarrow.Value) value {
	if s.family == text {
		return bytesValue(v.Bytes)
	}
	if s.family == float {
		switch s.columnType.ID() {
		case arrow.FLOAT64:
			return floatValue(v.Float)
		case arrow.UINT64:
			return floatValue(v.Uint)
		}
		return floatValue(v.Int)
	}
	switch t := s.columnType.(type) {
	case *arrow.Uint64Type:
		return exactValue{new(big.Rat).SetInt(new(big.Int).SetUint64(v.Uint))}
	case *arrow.Decimal128Type:
		return decimalValue(v.Decimal, int(t.Scale))
	}
	if s.unit == 0 {
		return integerValue(v.Int)
	}
	return exactValue{new(big.Rat).Mul(integerValue(v.Int).Rat, integerValue(s.unit).Rat)}
}

func decimalValue(n decimal128.Num, digits int) exactValue {
	return exactValue{new(big.Rat).SetFrac(n.BigInt(), new(big.Int).Exp(big.NewInt(10),
		big.NewInt(int64(digits)), nil))}
}

// constant returns a constant of the plan as a value; nil for one of another family.
func (s *comparator) constant(c constant) value {
	if typeFamilyOf(c.Type) != s.family {
		return nil
	}
	switch s.family {
	case text:
		var v string
		if json.Unmarshal(c.Value, &v) == nil {
			return bytesValue(v)
		}
	case float:
		var v float64
		if json.Unmarshal(c.Value, &v) == nil {
			return floatValue(v)
		}
	case number:
		if n, ok := integer(c.Value); ok {
			digits := 0
			if c.Type.Info != nil {
				digits = c.Type.Info.Scale
			}
			return exactValue{new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))}
		}
	case localTime, instant, timeOfDay:
		if n, ok := integer(c.Value); ok {
			return exactValue{new(big.Rat).SetInt(n.Mul(n, big.NewInt(units[c.Type.ID])))}
		}
	}
	return nil
}

// integer reads a number, or the two halves of a 128-bit number.
func integer(text json.RawMessage) (*big.Int, bool) {
	if n, ok := new(big.Int).SetString(string(text), 10); ok {
		return n, true
	}
	var halves struct {
		Upper *json.Number `json:"upper"`
		Lower *json.Number `json:"lower"`
	}
	if json.Unmarshal(text, &halves) != nil || halves.Upper == nil || halves.Lower == nil {
		return nil, false
	}
	upper, ok := new(big.Int).SetString(halves.Upper.String(), 10)
	lower, also := new(big.Int).SetString(halves.Lower.String(), 10)
	if !ok || !also {
		return nil, false
	}
	return upper.Add(upper.Lsh(upper, 64), lower), true
}

// argument returns the value of a parameter; nil for one whose comparison may need a cast of the
// column.
func (s *comparator) argument(a arrow.Array, row int) value {
	if a == nil || row >= a.Len() || a.IsNull(row) {
		return nil
	}
	switch a := a.(type) {
	case *array.Int32:
		return s.integer(int64(a.Value(row)))
	case *array.Int64:
		return s.integer(a.Value(row))
	case *array.Float64:
		if v := a.Value(row); s.family == float && !math.IsNaN(v) {
			return floatValue(v)
		}
	case *array.String:
		if s.family == text {
			return bytesValue(a.Value(row))
		}
	case *array.Date32:
		if s.family == localTime {
			return exactValue{new(big.Rat).Mul(integerValue(int64(a.Value(row))).Rat, integerValue(day).Rat)}
		}
	case *array.Timestamp:
		return s.timestamp(a.DataType().(*arrow.TimestampType), int64(a.Value(row)))
	}
	return nil
}

func (s *comparator) integer(n int64) value {
	switch s.family {
	case number:
		return integerValue(n)
	case float:
		return floatValue(n)
	}
	return nil
}

func (s *comparator) timestamp(t *arrow.TimestampType, n int64) value {
	unit, of := int64(t.Unit.Multiplier()), localTime
	if t.TimeZone != "" {
		of = instant
	}
	if s.family != of || unit < s.unit {
		return nil
	}
	return exactValue{new(big.Rat).Mul(integerValue(n).Rat, integerValue(unit).Rat)}
}
