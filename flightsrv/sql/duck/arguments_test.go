//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// arguments makes a record of one row of these values, each written as JSON.
func arguments(t *testing.T, types []arrow.DataType, values ...string) arrow.Record {
	t.Helper()
	fields := make([]arrow.Field, len(types))
	columns := make([]arrow.Array, len(types))
	for i, typ := range types {
		fields[i] = arrow.Field{Name: fmt.Sprint("p", i+1), Type: typ, Nullable: true}
		a, _, err := array.FromJSON(arrowMemory, typ, strings.NewReader("["+values[i]+"]"))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Release()
		columns[i] = a
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), columns, 1)
	t.Cleanup(rec.Release)
	return rec
}

func TestArguments(t *testing.T) {
	c := connect(t, open(t, &world{}, Config{Threads: 1}))
	for _, tc := range []struct {
		typ   arrow.DataType
		value string
		want  string // typeof, and the value as text
	}{
		{arrow.Null, `null`, `"NULL" `},
		{arrow.PrimitiveTypes.Int64, `null`, `"NULL" `},
		{arrow.FixedWidthTypes.Boolean, `true`, "BOOLEAN true"},
		{arrow.PrimitiveTypes.Int8, `-128`, "TINYINT -128"},
		{arrow.PrimitiveTypes.Int16, `-32768`, "SMALLINT -32768"},
		{arrow.PrimitiveTypes.Int32, `-2147483648`, "INTEGER -2147483648"},
		{arrow.PrimitiveTypes.Int64, `-9223372036854775808`, "BIGINT -9223372036854775808"},
		{arrow.PrimitiveTypes.Uint8, `255`, "UTINYINT 255"},
		{arrow.PrimitiveTypes.Uint16, `65535`, "USMALLINT 65535"},
		{arrow.PrimitiveTypes.Uint32, `4294967295`, "UINTEGER 4294967295"},
		{arrow.PrimitiveTypes.Uint64, `9223372036854775808`, "UBIGINT 9223372036854775808"},
		{arrow.FixedWidthTypes.Float16, `1.5`, "FLOAT 1.5"},
		{arrow.PrimitiveTypes.Float32, `-1.5`, "FLOAT -1.5"},
		{arrow.PrimitiveTypes.Float64, `1.7976931348623157e308`, "DOUBLE 1.7976931348623157e+308"},
		{arrow.BinaryTypes.String, `"it's é"`, "VARCHAR it's é"},
		{arrow.BinaryTypes.String, `""`, "VARCHAR "},
		{arrow.BinaryTypes.LargeString, `"a"`, "VARCHAR a"},
		{arrow.BinaryTypes.Binary, `"AAH/"`, `BLOB \x00\x01\xFF`},
		{arrow.BinaryTypes.Binary, `""`, `BLOB `},
		{arrow.BinaryTypes.LargeBinary, `"AAH/"`, `BLOB \x00\x01\xFF`},
		{&arrow.FixedSizeBinaryType{ByteWidth: 3}, `"AAH/"`, `BLOB \x00\x01\xFF`},
		{arrow.FixedWidthTypes.Date32, `"1969-12-31"`, "DATE 1969-12-31"},
		{arrow.FixedWidthTypes.Date64, `"1969-12-31"`, "DATE 1969-12-31"},
		{arrow.FixedWidthTypes.Time32s, `"23:59:59"`, "TIME 23:59:59"},
		{arrow.FixedWidthTypes.Time32ms, `"23:59:59.999"`, "TIME 23:59:59.999"},
		{arrow.FixedWidthTypes.Time64us, `"23:59:59.999999"`, "TIME 23:59:59.999999"},
		{arrow.FixedWidthTypes.Time64ns, `"23:59:59.999999999"`, "TIME_NS 23:59:59.999999999"},
		{&arrow.TimestampType{Unit: arrow.Second}, `"1969-12-31 23:59:59"`, "TIMESTAMP_S 1969-12-31 23:59:59"},
		{
			&arrow.TimestampType{Unit: arrow.Millisecond}, `"1969-12-31 23:59:59.999"`,
			"TIMESTAMP_MS 1969-12-31 23:59:59.999",
		},
		{
			&arrow.TimestampType{Unit: arrow.Microsecond}, `"1969-12-31 23:59:59.999999"`,
			"TIMESTAMP 1969-12-31 23:59:59.999999",
		},
		{
			&arrow.TimestampType{Unit: arrow.Nanosecond}, `"1969-12-31 23:59:59.999999999"`,
			"TIMESTAMP_NS 1969-12-31 23:59:59.999999999",
		},
		{
			&arrow.TimestampType{Unit: arrow.Second, TimeZone: "Europe/Berlin"}, `"2020-01-01 00:00:00"`,
			"TIMESTAMP WITH TIME ZONE 2020-01-01 00:00:00+00",
		},
		{
			&arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}, `"2020-01-01 00:00:00.000001"`,
			"TIMESTAMP WITH TIME ZONE 2020-01-01 00:00:00.000001+00",
		},
		{&arrow.Decimal128Type{Precision: 4, Scale: 1}, `"-999.9"`, "DECIMAL(4,1) -999.9"},
		{
			&arrow.Decimal128Type{Precision: 38, Scale: 10}, `"-1234567890123456789012345678.0123456789"`,
			"DECIMAL(38,10) -1234567890123456789012345678.0123456789",
		},
		{&arrow.Decimal256Type{Precision: 50, Scale: 2}, `"-1.25"`, "DECIMAL(38,2) -1.25"},
		{arrow.FixedWidthTypes.Duration_s, `"-90s"`, "INTERVAL -00:01:30"},
		{arrow.FixedWidthTypes.MonthInterval, `{"months": 14}`, "INTERVAL 1 year 2 months"},
		{arrow.FixedWidthTypes.DayTimeInterval, `{"days": 2, "milliseconds": 1500}`, "INTERVAL 2 days 00:00:01.5"},
		{
			arrow.FixedWidthTypes.MonthDayNanoInterval, `{"months": 1, "days": 2, "nanoseconds": 3000000}`,
			"INTERVAL 1 month 2 days 00:00:00.003",
		},
		{
			&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
			`"a"`, "VARCHAR a",
		},
	} {
		rows, _, err := query(c, "SELECT typeof(p) || ' ' || coalesce(CAST(p AS VARCHAR), '') FROM (SELECT $1 AS p)",
			arguments(t, []arrow.DataType{tc.typ}, tc.value))
		if err != nil || rows[0] != tc.want {
			t.Errorf("%s %s: got %q, %v, want %q", tc.typ, tc.value, rows, err, tc.want)
		}
	}
}

// What DuckDB cannot hold exactly is refused.
func TestBadArguments(t *testing.T) {
	c := connect(t, open(t, &world{}, Config{Threads: 1}))
	ns := func(v int64) arrow.Array {
		b := array.NewTimestampBuilder(arrowMemory, &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"})
		b.Append(arrow.Timestamp(v))
		return b.NewArray()
	}
	seconds := func(v int64) arrow.Array {
		b := array.NewTimestampBuilder(arrowMemory, &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"})
		b.Append(arrow.Timestamp(v))
		return b.NewArray()
	}
	text := array.NewStringBuilder(arrowMemory)
	text.Append("\xff")
	day := array.NewDate64Builder(arrowMemory)
	day.Append(1)
	list := array.NewListBuilder(arrowMemory, arrow.PrimitiveTypes.Int64)
	list.Append(true)
	wide, _, err := array.FromJSON(arrowMemory, &arrow.Decimal256Type{Precision: 50, Scale: 0},
		strings.NewReader(`["123456789012345678901234567890123456789"]`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		value arrow.Array
		kind  Kind
	}{
		{"nanoseconds of a point in time", ns(1), Value},
		{"seconds out of range", seconds(1 << 60), Value},
		{"seconds out of range, negative", seconds(-1 << 63), Value},
		{"text that is not UTF-8", text.NewArray(), Value},
		{"a millisecond is no day", day.NewArray(), Value},
		{"39 digits", wide, Value},
		{"list", list.NewArray(), Unsupported},
	} {
		rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "p", Type: tc.value.DataType()}}, nil),
			[]arrow.Array{tc.value}, 1)
		rows, _, err := query(c, "SELECT $1::VARCHAR", rec)
		var e *Error
		if !errors.As(err, &e) || e.Kind != tc.kind || !strings.Contains(err.Error(), "parameter 1") {
			t.Errorf("%s: got %v, %v, want an error of kind %d", tc.name, rows, err, tc.kind)
		}
	}
}

func TestParameters(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 1000, 300)
	c := connect(t, open(t, w, Config{Threads: 1}))
	ctx := context.Background()
	for _, tc := range []struct {
		query string
		want  string // the parameters' names and types
	}{
		{"SELECT 1", ""},
		{"SELECT ?", "1 null"},
		{"SELECT [?]", "1 null"},
		{"SELECT ?, ?", "1 null, 2 null"},
		{"SELECT id FROM t WHERE id < ?", "1 int64"},
		{"SELECT id FROM t WHERE name = ? AND x BETWEEN ? AND ?", "1 utf8, 2 float64, 3 float64"},
		{"SELECT $b::INT, $a::VARCHAR", "b int32, a utf8"},
		{"SELECT $2::INT, $1::VARCHAR", "1 utf8, 2 int32"},
	} {
		s, err := prepare(ctx, c, tc.query)
		if err != nil {
			t.Errorf("%s: %v", tc.query, err)
			continue
		}
		var got []string
		for _, f := range s.Parameters().Fields() {
			got = append(got, fmt.Sprintf("%s %s", f.Name, f.Type))
		}
		if got := strings.Join(got, ", "); got != tc.want {
			t.Errorf("%s: parameters %s, want %s", tc.query, got, tc.want)
		}
		s.Close()
	}
	s, err := prepare(ctx, c, "SELECT ? AS v")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if typ := s.Schema().Field(0).Type; typ != arrow.Null {
		t.Errorf("a column that depends on a parameter is %s, want null", typ)
	}
	for _, args := range []arrow.Record{nil, arguments(t, []arrow.DataType{arrow.Null, arrow.Null}, "null", "null")} {
		var e *Error
		if _, err := s.Query(ctx, args, 0); !errors.As(err, &e) || e.Kind != Value {
			t.Errorf("the wrong number of values: %v, want an error of kind Value", err)
		}
	}
	// The result's type follows the value, from one run to the next.
	for _, tc := range []struct {
		typ   arrow.DataType
		value string
	}{{arrow.PrimitiveTypes.Int64, "1"}, {arrow.BinaryTypes.String, `"a"`}, {arrow.PrimitiveTypes.Int64, "2"}} {
		args := arguments(t, []arrow.DataType{tc.typ}, tc.value)
		if _, err := s.Query(ctx, args, 1); err == nil {
			t.Errorf("row 1 of 1: no error")
		}
		r, err := s.Query(ctx, args, 0)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := r.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Schema().Field(0).Type; !arrow.TypeEqual(got, tc.typ) ||
			rec.Column(0).ValueStr(0) != strings.Trim(tc.value, `"`) {
			t.Errorf("%s %s came out as %s %s", tc.typ, tc.value, got, rec.Column(0).ValueStr(0))
		}
		rec.Release()
		r.Close()
	}
}
