//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// bind binds the values of a row to the statement's parameters, column i to parameter i+1.
func (s *Statement) bind(args arrow.Record, row int) error {
	n, have := int(duckdb.NParams(s.prepared)), 0
	if args != nil {
		have = int(args.NumCols())
	}
	if have != n {
		return badValue("the query has %d parameters, %d values are given", n, have)
	}
	if n > 0 && (row < 0 || int64(row) >= args.NumRows()) {
		return badValue("row %d of the parameters' values, there are %d", row, args.NumRows())
	}
	duckdb.ClearBindings(s.prepared)
	for i := range n {
		v, err := value(args.Column(i), row)
		if err != nil {
			duckdb.DestroyValue(&v)
			return fmt.Errorf("parameter %d: %w", i+1, err)
		}
		state := duckdb.BindValue(s.prepared, duckdb.IdxT(i+1), v)
		duckdb.DestroyValue(&v)
		if state == duckdb.StateError {
			return badValue("parameter %d: DuckDB does not take a value of type %s", i+1, args.Column(i).DataType())
		}
	}
	return nil
}

func badValue(format string, args ...any) *Error {
	return &Error{Kind: Value, Message: fmt.Sprintf(format, args...), Position: -1}
}

// value converts value i of an array to a DuckDB value exactly, or returns an error. The caller
// destroys it.
func value(a arrow.Array, i int) (duckdb.Value, error) {
	// an array of nulls has no bitmap, and IsNull is false
	if a.IsNull(i) || a.DataType().ID() == arrow.NULL {
		return duckdb.CreateNullValue(), nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return duckdb.CreateBool(a.Value(i)), nil
	case *array.Int8:
		return duckdb.CreateInt8(a.Value(i)), nil
	case *array.Int16:
		return duckdb.CreateInt16(a.Value(i)), nil
	case *array.Int32:
		return duckdb.CreateInt32(a.Value(i)), nil
	case *array.Int64:
		return duckdb.CreateInt64(a.Value(i)), nil
	case *array.Uint8:
		return duckdb.CreateUInt8(a.Value(i)), nil
	case *array.Uint16:
		return duckdb.CreateUInt16(a.Value(i)), nil
	case *array.Uint32:
		return duckdb.CreateUInt32(a.Value(i)), nil
	case *array.Uint64:
		return duckdb.CreateUInt64(a.Value(i)), nil
	case *array.Float16:
		return duckdb.CreateFloat(a.Value(i).Float32()), nil
	case *array.Float32:
		return duckdb.CreateFloat(a.Value(i)), nil
	case *array.Float64:
		return duckdb.CreateDouble(a.Value(i)), nil
	case *array.String:
		return textValue(a.Value(i))
	case *array.LargeString:
		return textValue(a.Value(i))
	case *array.Binary:
		return duckdb.CreateBlob(a.Value(i)), nil
	case *array.LargeBinary:
		return duckdb.CreateBlob(a.Value(i)), nil
	case *array.FixedSizeBinary:
		return duckdb.CreateBlob(a.Value(i)), nil
	case *array.Decimal128:
		t := a.DataType().(*arrow.Decimal128Type)
		return decimalValue(a.Value(i), t.Precision, t.Scale)
	case *array.Decimal256:
		t := a.DataType().(*arrow.Decimal256Type)
		return wideDecimalValue(a.Value(i).BigInt(), t.Precision, t.Scale)
	case *array.DenseUnion:
		return value(a.Field(a.ChildID(i)), int(a.ValueOffset(i)))
	case *array.SparseUnion:
		return value(a.Field(a.ChildID(i)), i)
	case *array.Dictionary:
		return value(a.Dictionary(), a.GetValueIndex(i))
	case array.ExtensionArray:
		return value(a.Storage(), i)
	}
	return timeValue(a, i)
}

// timeValue converts dates, times, timestamps and intervals.
func timeValue(a arrow.Array, i int) (duckdb.Value, error) {
	switch a := a.(type) {
	case *array.Date32:
		return duckdb.CreateDate(duckdb.NewDate(int32(a.Value(i)))), nil
	case *array.Date64:
		const day = 24 * 60 * 60 * 1000
		ms := int64(a.Value(i))
		if ms%day != 0 || ms/day > math.MaxInt32 || ms/day < math.MinInt32 {
			return duckdb.Value{}, badValue("date64 %d is no day", ms)
		}
		return duckdb.CreateDate(duckdb.NewDate(int32(ms / day))), nil
	case *array.Time32:
		return clockValue(int64(a.Value(i)), a.DataType().(*arrow.Time32Type).Unit)
	case *array.Time64:
		return clockValue(int64(a.Value(i)), a.DataType().(*arrow.Time64Type).Unit)
	case *array.Timestamp:
		return timestampValue(int64(a.Value(i)), a.DataType().(*arrow.TimestampType))
	case *array.Duration:
		us, err := microseconds(int64(a.Value(i)), a.DataType().(*arrow.DurationType).Unit)
		return duckdb.CreateInterval(duckdb.NewInterval(0, 0, us)), err
	case *array.MonthInterval:
		return duckdb.CreateInterval(duckdb.NewInterval(int32(a.Value(i)), 0, 0)), nil
	case *array.DayTimeInterval:
		v := a.Value(i)
		return duckdb.CreateInterval(duckdb.NewInterval(0, v.Days, int64(v.Milliseconds)*1000)), nil
	case *array.MonthDayNanoInterval:
		v := a.Value(i)
		us, err := microseconds(v.Nanoseconds, arrow.Nanosecond)
		return duckdb.CreateInterval(duckdb.NewInterval(v.Months, v.Days, us)), err
	}
	return duckdb.Value{}, &Error{
		Kind: Unsupported, Message: fmt.Sprintf("a parameter of type %s", a.DataType()),
		Position: -1,
	}
}

func textValue(s string) (duckdb.Value, error) {
	if !utf8.ValidString(s) {
		return duckdb.Value{}, badValue("the text is not UTF-8")
	}
	return duckdb.CreateVarchar(s), nil
}

// clockValue converts a time of day. DuckDB itself accepts any number.
func clockValue(v int64, unit arrow.TimeUnit) (duckdb.Value, error) {
	if v < 0 || v > int64(24*time.Hour/unit.Multiplier()) {
		return duckdb.Value{}, badValue("time %d %s is none of a day", v, unit)
	}
	if unit == arrow.Nanosecond {
		return duckdb.CreateTimeNS(duckdb.NewTimeNS(v)), nil
	}
	us, err := microseconds(v, unit)
	return duckdb.CreateTime(duckdb.NewTime(us)), err
}

// timestampValue keeps the unit of a local timestamp. A timestamp with a zone has microseconds in
// DuckDB.
func timestampValue(v int64, t *arrow.TimestampType) (duckdb.Value, error) {
	if t.TimeZone != "" {
		us, err := microseconds(v, t.Unit)
		return duckdb.CreateTimestampTZ(duckdb.NewTimestamp(us)), err
	}
	switch t.Unit {
	case arrow.Second:
		return duckdb.CreateTimestampS(duckdb.NewTimestampS(v)), nil
	case arrow.Millisecond:
		return duckdb.CreateTimestampMS(duckdb.NewTimestampMS(v)), nil
	case arrow.Microsecond:
		return duckdb.CreateTimestamp(duckdb.NewTimestamp(v)), nil
	default:
		return duckdb.CreateTimestampNS(duckdb.NewTimestampNS(v)), nil
	}
}

// microseconds converts v to microseconds exactly.
func microseconds(v int64, unit arrow.TimeUnit) (int64, error) {
	const digits = 6
	have := 3 * int(unit) // second, millisecond, microsecond, nanosecond
	for ; have < digits; have++ {
		hi, lo := bits.Mul64(uint64(max(v, -v)), 10)
		if hi != 0 || lo > math.MaxInt64 {
			return 0, badValue("%d %s are out of range", v, unit)
		}
		v *= 10
	}
	for ; have > digits; have-- {
		if v%10 != 0 {
			return 0, badValue("a time of %d nanoseconds: DuckDB has microseconds here", v)
		}
		v /= 10
	}
	return v, nil
}

func decimalValue(n decimal128.Num, precision, scale int32) (duckdb.Value, error) {
	if precision < 1 || precision > 38 || scale < 0 || scale > precision {
		return duckdb.Value{}, badValue("decimal(%d, %d) is none of DuckDB's, which have up to 38 digits",
			precision, scale)
	}
	// DuckDB would end the process, or use it as a value of another type
	if digits := len(new(big.Int).Abs(n.BigInt()).String()); digits > int(precision) {
		return duckdb.Value{}, badValue("decimal %s has more than %d digits", n.BigInt(), precision)
	}
	return duckdb.CreateDecimal(duckdb.NewDecimal(uint8(precision), uint8(scale),
		duckdb.NewHugeInt(n.LowBits(), n.HighBits()))), nil
}

func wideDecimalValue(n *big.Int, precision, scale int32) (duckdb.Value, error) {
	if scale > 38 || len(new(big.Int).Abs(n).String()) > 38 {
		return duckdb.Value{}, badValue("decimal %s: DuckDB has up to 38 digits", n)
	}
	return decimalValue(decimal128.FromBigInt(n), min(precision, 38), scale)
}
