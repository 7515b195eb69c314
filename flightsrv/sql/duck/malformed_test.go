//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"errors"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"
)

// Arrow's intervals count nanoseconds in 64 bits, DuckDB's count microseconds.
func TestLongIntervals(t *testing.T) {
	c := connect(t, open(t, &world{}, Config{Threads: 1}))
	for _, tc := range []struct{ name, expression, want string }{
		{"longest", "to_microseconds(9223372036854775)", `{"months":0,"days":0,"nanoseconds":9223372036854775000}`},
		{
			"longest, negative", "to_microseconds(-9223372036854775)",
			`{"months":0,"days":0,"nanoseconds":-9223372036854775000}`,
		},
		{"too long", "to_microseconds(9223372036854776)", ""},
		{"too long, negative", "to_microseconds(-9223372036854776)", ""},
		{"none", "NULL::INTERVAL", "(null)"},
		{"in a list", "[to_microseconds(1)]", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rows, _, err := query(c, "SELECT "+tc.expression)
			var e *Error
			switch {
			case tc.want == "" && (!errors.As(err, &e) || e.Kind != Value && e.Kind != Unsupported):
				t.Errorf("%s: %q, %v, want an error of kind Value or Unsupported", tc.expression, rows, err)
			case tc.want != "" && (err != nil || len(rows) != 1 || rows[0] != tc.want):
				t.Errorf("%s: %q, %v, want %s", tc.expression, rows, err, tc.want)
			}
		})
	}
}

// These functions take tables by their names as text, which is no reference to a table for anything
// that looks at a query.
func TestTablesAsTextAreDenied(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 10, 10)
	c := connect(t, open(t, w, Config{Threads: 1}))
	for _, q := range []string{
		"FROM histogram('t', 'id')", "FROM histogram_values(t, id)", "FROM query_table('t')",
		"FROM query('FROM t')", "FROM pragma_table_info('t')", "FROM pragma_show('t')",
	} {
		var e *Error
		if rows, _, err := query(c, q); !errors.As(err, &e) || e.Kind != Denied {
			t.Errorf("%s: %q, %v, want an error of kind Denied", q, rows, err)
		}
	}
}

// oneValue is a row of one parameter, of a type that nothing has checked the value for.
func oneValue(t *testing.T, typ arrow.DataType, add func(b array.Builder)) arrow.Record {
	b := array.NewBuilder(arrowMemory, typ)
	add(b)
	column := b.NewArray()
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "1", Type: typ}}, nil), []arrow.Array{column}, 1)
	t.Cleanup(rec.Release)
	return rec
}

// Clients may send anything: a value that is invalid for its type is an error, and never another
// value.
func TestValuesBeyondTheirTypes(t *testing.T) {
	c := connect(t, open(t, &world{}, Config{Threads: 1}))
	decimal := func(precision, scale int32, n int64) arrow.Record {
		return oneValue(t, &arrow.Decimal128Type{Precision: precision, Scale: scale}, func(b array.Builder) {
			b.(*array.Decimal128Builder).Append(decimal128.FromI64(n))
		})
	}
	wide := func(precision, scale int32, n int64) arrow.Record {
		return oneValue(t, &arrow.Decimal256Type{Precision: precision, Scale: scale}, func(b array.Builder) {
			b.(*array.Decimal256Builder).Append(decimal256.FromI64(n))
		})
	}
	micros := func(n int64) arrow.Record {
		return oneValue(t, &arrow.Time64Type{Unit: arrow.Microsecond}, func(b array.Builder) {
			b.(*array.Time64Builder).Append(arrow.Time64(n))
		})
	}
	nanos := func(n int64) arrow.Record {
		return oneValue(t, &arrow.Time64Type{Unit: arrow.Nanosecond}, func(b array.Builder) {
			b.(*array.Time64Builder).Append(arrow.Time64(n))
		})
	}
	seconds := func(n int32) arrow.Record {
		return oneValue(t, &arrow.Time32Type{Unit: arrow.Second}, func(b array.Builder) {
			b.(*array.Time32Builder).Append(arrow.Time32(n))
		})
	}
	for _, tc := range []struct {
		name string
		arg  arrow.Record
		want string // "": an error
	}{
		{"four digits", decimal(4, 0, 9999), "9999"},
		{"five digits in a type of four", decimal(4, 0, 10000), ""},
		{"negative", decimal(4, 2, -100000), ""},
		{"no digits", decimal(0, 0, 1), ""},
		{"least of 128 bits", oneValue(t, &arrow.Decimal128Type{Precision: 4}, func(b array.Builder) {
			b.(*array.Decimal128Builder).Append(decimal128.New(math.MinInt64, 0))
		}), ""},
		{"256 bits", wide(4, 0, 10000), ""},
		{"256 bits, four digits", wide(4, 1, 9999), "999.9"},
		{"last microsecond of a day", micros(86_399_999_999), "23:59:59.999999"},
		{"after the day", micros(86_400_000_001), ""},
		{"before the day", micros(-1), ""},
		{"far after the day", micros(math.MaxInt64), ""},
		{"last nanosecond of a day", nanos(86_399_999_999_999), "23:59:59.999999999"},
		{"nanoseconds after the day", nanos(math.MaxInt64), ""},
		{"nanoseconds before the day", nanos(math.MinInt64), ""},
		{"seconds before the day", seconds(-5), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rows, _, err := query(c, "SELECT $1::VARCHAR", tc.arg)
			var e *Error
			switch {
			case tc.want == "" && (!errors.As(err, &e) || e.Kind != Value):
				t.Errorf("%s: %q, %v, want an error of kind Value", tc.arg.Column(0), rows, err)
			case tc.want != "" && (err != nil || len(rows) != 1 || rows[0] != tc.want):
				t.Errorf("%s: %q, %v, want %s", tc.arg.Column(0), rows, err, tc.want)
			}
		})
	}
}

// DuckDB ends the process where its C API meets a value that it did not expect.
func TestExtremeValuesDoNoHarm(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 10, 10)
	c := connect(t, open(t, w, Config{Threads: 1}))
	var args []arrow.Record
	for _, n := range []int64{math.MinInt64, math.MinInt64 + 1, -1, math.MaxInt64 - 1, math.MaxInt64} {
		for _, unit := range arrow.TimeUnitValues {
			for _, zone := range []string{"", "UTC", "no such zone"} {
				args = append(args, oneValue(t, &arrow.TimestampType{Unit: unit, TimeZone: zone},
					func(b array.Builder) {
						b.(*array.TimestampBuilder).Append(arrow.Timestamp(n))
					}))
			}
			args = append(args, oneValue(t, &arrow.DurationType{Unit: unit}, func(b array.Builder) {
				b.(*array.DurationBuilder).Append(arrow.Duration(n))
			}))
		}
		args = append(args,
			oneValue(t, arrow.FixedWidthTypes.Date32, func(b array.Builder) {
				b.(*array.Date32Builder).Append(arrow.Date32(n >> 32))
			}),
			oneValue(t, arrow.FixedWidthTypes.Date64, func(b array.Builder) {
				b.(*array.Date64Builder).Append(arrow.Date64(n))
			}),
			oneValue(t, arrow.FixedWidthTypes.MonthInterval, func(b array.Builder) {
				b.(*array.MonthIntervalBuilder).Append(arrow.MonthInterval(n >> 32))
			}),
			oneValue(t, arrow.FixedWidthTypes.DayTimeInterval, func(b array.Builder) {
				b.(*array.DayTimeIntervalBuilder).Append(arrow.DayTimeInterval{
					Days:         int32(n >> 32),
					Milliseconds: int32(n >> 32),
				})
			}),
			oneValue(t, arrow.FixedWidthTypes.MonthDayNanoInterval, func(b array.Builder) {
				b.(*array.MonthDayNanoIntervalBuilder).Append(arrow.MonthDayNanoInterval{
					Months: int32(n >> 32),
					Days:   int32(n >> 32), Nanoseconds: n / 1000 * 1000,
				})
			}),
		)
	}
	for _, q := range []string{
		"SELECT $1", "SELECT $1::VARCHAR", "SELECT id FROM t WHERE $1::VARCHAR < name",
		"SELECT $1 + INTERVAL 1 DAY", "SELECT [$1]",
	} {
		for _, arg := range args {
			if _, _, err := query(c, q, arg); err != nil {
				var e *Error
				if !errors.As(err, &e) || e.Kind == Internal {
					t.Errorf("%s with %s %s: %v", q, arg.Column(0).DataType(), arg.Column(0), err)
				}
			}
		}
	}
}
