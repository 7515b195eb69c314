//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// columns are values of each type that a reader emits, as JSON, in 3 rows that are repeated.
var columns = []struct {
	name   string
	typ    arrow.DataType
	values string
	out    arrow.DataType // where it is not typ
}{
	{"bool", arrow.FixedWidthTypes.Boolean, `[true, null, false]`, nil},
	{"int8", arrow.PrimitiveTypes.Int8, `[-128, null, 127]`, nil},
	{"int16", arrow.PrimitiveTypes.Int16, `[-32768, null, 32767]`, nil},
	{"int32", arrow.PrimitiveTypes.Int32, `[-2147483648, null, 2147483647]`, nil},
	{"int64", arrow.PrimitiveTypes.Int64, `[-9223372036854775808, null, 9223372036854775807]`, nil},
	{"uint8", arrow.PrimitiveTypes.Uint8, `[0, null, 255]`, nil},
	{"uint16", arrow.PrimitiveTypes.Uint16, `[0, null, 65535]`, nil},
	{"uint32", arrow.PrimitiveTypes.Uint32, `[0, null, 4294967295]`, nil},
	{"uint64", arrow.PrimitiveTypes.Uint64, `[0, null, 18446744073709551615]`, nil},
	{"float32", arrow.PrimitiveTypes.Float32, `[-1.5, null, 3.4028235e38]`, nil},
	{"float64", arrow.PrimitiveTypes.Float64, `[-0.1, null, 1.7976931348623157e308]`, nil},
	{"utf8", arrow.BinaryTypes.String, `["", null, "a text of more than twelve bytes, é"]`, nil},
	{
		"large utf8", arrow.BinaryTypes.LargeString, `["", null, "a text of more than twelve bytes, é"]`,
		arrow.BinaryTypes.String,
	},
	{"binary", arrow.BinaryTypes.Binary, `["", null, "AAECAwQFBgcICQoLDA0ODw=="]`, nil},
	{"date32", arrow.FixedWidthTypes.Date32, `["1969-12-31", null, "9999-12-31"]`, nil},
	{"time32 s", arrow.FixedWidthTypes.Time32s, `["00:00:00", null, "23:59:59"]`, arrow.FixedWidthTypes.Time64us},
	{
		"time32 ms", arrow.FixedWidthTypes.Time32ms, `["00:00:00.001", null, "23:59:59.999"]`,
		arrow.FixedWidthTypes.Time64us,
	},
	{"time64 us", arrow.FixedWidthTypes.Time64us, `["00:00:00.000001", null, "23:59:59.999999"]`, nil},
	{
		"timestamp s", &arrow.TimestampType{Unit: arrow.Second}, `["1900-01-01 00:00:00", null, "2262-04-11 23:47:16"]`,
		nil,
	},
	{
		"timestamp ms", &arrow.TimestampType{Unit: arrow.Millisecond},
		`["1900-01-01 00:00:00.001", null, "2262-04-11 23:47:16.854"]`, nil,
	},
	{
		"timestamp us", &arrow.TimestampType{Unit: arrow.Microsecond},
		`["1900-01-01 00:00:00.000001", null, "2262-04-11 23:47:16.854775"]`, nil,
	},
	{
		"timestamp ns", &arrow.TimestampType{Unit: arrow.Nanosecond},
		`["1900-01-01 00:00:00.000000001", null, "2262-04-11 23:47:16.854775806"]`, nil,
	},
	{
		"timestamp s UTC", &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"},
		`["1900-01-01 00:00:00", null, "2262-04-11 23:47:16"]`, arrow.FixedWidthTypes.Timestamp_us,
	},
	{
		"timestamp ms UTC", &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"},
		`["1900-01-01 00:00:00.001", null, "2262-04-11 23:47:16.854"]`, arrow.FixedWidthTypes.Timestamp_us,
	},
	{
		"timestamp us UTC", &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
		`["1900-01-01 00:00:00.000001", null, "2262-04-11 23:47:16.854775"]`, arrow.FixedWidthTypes.Timestamp_us,
	},
	{"decimal 4 1", &arrow.Decimal128Type{Precision: 4, Scale: 1}, `["-999.9", null, "0.1"]`, nil},
	{"decimal 9 2", &arrow.Decimal128Type{Precision: 9, Scale: 2}, `["-1234567.89", null, "0.01"]`, nil},
	{"decimal 18 3", &arrow.Decimal128Type{Precision: 18, Scale: 3}, `["-123456789012345.678", null, "0.001"]`, nil},
	{
		"decimal 38 10", &arrow.Decimal128Type{Precision: 38, Scale: 10},
		`["-1234567890123456789012345678.0123456789", null, "0.0000000001"]`, nil,
	},
	{"list int64", arrow.ListOf(arrow.PrimitiveTypes.Int64), `[[1, null, 3], null, []]`, nil},
	{
		"list utf8", arrow.ListOf(arrow.BinaryTypes.String),
		`[["a", null], [], ["a text of more than twelve bytes", ""]]`,
		nil,
	},
	{"list date", arrow.ListOf(arrow.FixedWidthTypes.Date32), `[["2020-01-01"], null, ["2020-02-29", null]]`, nil},
	{
		"list timestamp", arrow.ListOf(&arrow.TimestampType{Unit: arrow.Microsecond}),
		`[["2020-01-01 00:00:00"], null, []]`, nil,
	},
	{
		"list list", arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Float64)),
		`[[[1.5], null, []], null, [[2.5, 3.5]]]`, nil,
	},
	{
		"struct", arrow.StructOf(
			arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
			arrow.Field{Name: "b", Type: arrow.BinaryTypes.String, Nullable: true},
			arrow.Field{Name: "l", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
		), `[{"a": 1, "b": "x", "l": ["y", null]}, null, {"a": null, "b": "a text of more than twelve bytes", "l": []}]`,
		nil,
	},
	{"list struct", arrow.ListOf(arrow.StructOf(arrow.Field{
		Name: "a", Type: arrow.PrimitiveTypes.Int32,
		Nullable: true,
	})), `[[{"a": 1}, null], null, []]`, nil},
	{"null", arrow.Null, `[null, null, null]`, arrow.PrimitiveTypes.Int32},
	{
		"map", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32),
		`[[{"key": "a", "value": 1}], null, []]`, nil,
	},
	{"fixed size list", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64), `[[1, 2], null, [3, 4]]`, nil},
	{
		"geometry", arrow.BinaryTypes.Binary, `["AQEAAAAAAAAAAADwPwAAAAAAAPA/", null, "AQEAAAAAAAAAAADwPwAAAAAAAABA"]`,
		nil,
	},
}

// column returns the three values n times over, as an array whose data begin in the middle of its
// buffers.
func column(t *testing.T, typ arrow.DataType, values string, n int) arrow.Array {
	t.Helper()
	three := strings.TrimSuffix(strings.TrimPrefix(values, "["), "]")
	text := "[" + strings.TrimSuffix(strings.Repeat(three+",", n+2), ",") + "]"
	a, _, err := array.FromJSON(arrowMemory, typ, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	return array.NewSlice(a, 3, int64(3*(n+1)))
}

// Every value comes out as it went in, whatever the threads, the slices and the batches.
func TestTypes(t *testing.T) {
	const n = 2500 // times three rows: some chunks of DuckDB's, the last one not full
	w := &world{tables: map[string]*relation{}}
	in := make([]arrow.Array, len(columns))
	for i, tc := range columns {
		in[i] = column(t, tc.typ, tc.values, n)
		defer in[i].Release()
		field := arrow.Field{Name: "v", Type: tc.typ, Nullable: true}
		if tc.name == "geometry" {
			field.Metadata = arrow.NewMetadata([]string{extensionName}, []string{wkbExtension})
		}
		schema := arrow.NewSchema([]arrow.Field{field}, nil)
		r := &relation{world: w, schema: schema}
		for _, cut := range [][2]int64{{0, 5000}, {5000, 5000}, {5000, 5001}, {5001, 3 * n}} {
			part := array.NewSlice(in[i], cut[0], cut[1])
			r.batches = append(r.batches, array.NewRecord(schema, []arrow.Array{part}, int64(part.Len())))
			part.Release()
		}
		w.tables[tc.name] = r
	}
	for _, threads := range []int{1, 4} {
		c := connect(t, open(t, w, Config{Threads: threads}))
		for i, tc := range columns {
			t.Run(fmt.Sprintf("%s, %d threads", tc.name, threads), func(t *testing.T) {
				schema, recs := read(t, c, "SELECT v FROM "+quoteName(tc.name))
				want := tc.out
				if want == nil {
					want = tc.typ
				}
				if got := schema.Field(0).Type; typeName(got) != typeName(want) {
					t.Errorf("type is %s, want %s", got, want)
				}
				checkColumn(t, recs, in[i], tc.out != nil)
			})
		}
	}
}

func checkColumn(t *testing.T, recs []arrow.Record, want arrow.Array, retyped bool) {
	t.Helper()
	row := 0
	for _, rec := range recs {
		checkOffsets(t, rec.Column(0).Data())
		for i := range int(rec.NumRows()) {
			got, want := rec.Column(0).ValueStr(i), want.ValueStr(row)
			if retyped {
				got, want = trimTime(got), trimTime(want)
			}
			if got != want {
				t.Fatalf("row %d is %s, want %s", row, got, want)
			}
			row++
		}
	}
	if row != want.Len() {
		t.Errorf("%d rows, want %d", row, want.Len())
	}
}

var childName = regexp.MustCompile(`list<\w*: `)

// typeName is a type's name without those of lists' children, which DuckDB gives names of its own.
func typeName(t arrow.DataType) string { return childName.ReplaceAllString(t.String(), "list<") }

// trimTime takes away zeros after a decimal point: a unit that has become finer.
func trimTime(s string) string {
	s = strings.TrimSuffix(s, "Z")
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// checkOffsets fails if a list or a text does not begin at 0: the IPC writer of this version of
// Arrow would write a wrong file, without an error.
func checkOffsets(t *testing.T, d arrow.ArrayData) {
	t.Helper()
	if d.Offset() != 0 {
		t.Errorf("%s begins at %d", d.DataType(), d.Offset())
	}
	switch d.DataType().(type) {
	case *arrow.ListType, *arrow.MapType, *arrow.StringType, *arrow.BinaryType:
		if d.Len() > 0 {
			if offsets := arrow.Int32Traits.CastFromBytes(d.Buffers()[1].Bytes()); offsets[0] != 0 {
				t.Errorf("offsets of %s begin with %d", d.DataType(), offsets[0])
			}
		}
	}
	for _, c := range d.Children() {
		checkOffsets(t, c)
	}
}

// A result of a type that would lose something on its way to Arrow is an error that says so.
func TestLossyTypes(t *testing.T) {
	c := connect(t, open(t, &world{}, Config{Threads: 1}))
	for _, tc := range []struct{ expression, want string }{
		{"1::UHUGEINT", "UHUGEINT"},
		{"'01:02:03+05'::TIMETZ", "TIME WITH TIME ZONE"},
		{"'101'::BIT", "BIT"},
		{"'1'::BIGNUM", "BIGNUM"},
		{"union_value(a := 1)", "UNION"},
		{"1::VARIANT", "VARIANT"},
		{"[1::UHUGEINT]", "UHUGEINT"},
		{"{'a': ['1'::BIT]}", "BIT"},
		{"MAP {'a': 1::UHUGEINT}", "UHUGEINT"},
	} {
		_, err := prepare(context.Background(), c, "SELECT "+tc.expression+" AS v")
		var e *Error
		if !errors.As(err, &e) || e.Kind != Unsupported || !strings.Contains(e.Message,
			"column v is of type "+tc.want) {
			t.Errorf("%s: error %v, want one of kind Unsupported about %s", tc.expression, err, tc.want)
		}
	}
}

// An ENUM is a text, wherever it is in a type.
func TestEnums(t *testing.T) {
	c := connect(t, open(t, &world{}, Config{Threads: 1}))
	many := make([]string, 300) // indices of two bytes
	for i := range many {
		many[i] = fmt.Sprintf("'v%d'", i)
	}
	for _, tc := range []struct{ query, typ, want string }{
		{"'b'::ENUM('a', 'b')", "utf8", "b"},
		{"NULL::ENUM('a', 'b')", "utf8", "(null)"},
		{"''::ENUM('a', '')", "utf8", ""},
		{"e FROM (VALUES ('b'::ENUM('a', 'b')), (NULL), ('a')) t(e) ORDER BY e NULLS FIRST", "utf8", "(null),a,b"},
		{"'v299'::ENUM(" + strings.Join(many, ", ") + ")", "utf8", "v299"},
		{"[e, NULL] FROM (SELECT 'b'::ENUM('a', 'b') AS e)", "list<l: utf8, nullable>", `["b",null]`},
		{
			"array_value(e, e) FROM (SELECT 'b'::ENUM('a', 'b') AS e)", "fixed_size_list<: utf8, nullable>[2]",
			`["b","b"]`,
		},
		{"{'k': 'b'::ENUM('a', 'b'), 'n': 1}", "struct<k: utf8, n: int32>", `{"k":"b","n":1}`},
		{"MAP {'b'::ENUM('a', 'b'): 1}", "map<utf8, int32, items_nullable>", `[{"key":"b","value":1}]`},
		{"[{'k': ['b'::ENUM('a', 'b')]}]", "list<l: struct<k: list<l: utf8, nullable>>, nullable>", `[{"k":["b"]}]`},
	} {
		schema, recs := read(t, c, "SELECT "+tc.query)
		if got := schema.Field(0).Type.String(); got != tc.typ {
			t.Errorf("%s: type %s, want %s", tc.query, got, tc.typ)
		}
		var got []string
		for _, rec := range recs {
			for i := range int(rec.NumRows()) {
				got = append(got, rec.Column(0).ValueStr(i))
			}
			checkOffsets(t, rec.Column(0).Data())
		}
		if strings.Join(got, ",") != tc.want {
			t.Errorf("%s: %q, want %q", tc.query, got, tc.want)
		}
	}
}

// A sum that does not fit is an error that says what to write.
func TestSumsThatDoNotFit(t *testing.T) {
	c := connect(t, open(t, &world{}, Config{Threads: 1}))
	for _, expression := range []string{
		"sum(9223372036854775807) FROM range(2)",
		"sum(-9223372036854775807) FROM range(2)",
	} {
		_, _, err := query(c, "SELECT "+expression)
		var e *Error
		if !errors.As(err, &e) || e.Kind != Value || !strings.Contains(e.Message, "HUGEINT") {
			t.Errorf("%s: %v, want an error of kind Value about HUGEINT", expression, err)
		}
	}
}

// What DuckDB computes is of types that hold it.
func TestComputedTypes(t *testing.T) {
	c := connect(t, open(t, &world{}, Config{Threads: 1}))
	for _, tc := range []struct{ expression, typ, want string }{
		{
			"170141183460469231731687303715884105727::HUGEINT", "decimal(38, 0)",
			"170141183460469231731687303715884105727",
		},
		{"'2020-01-02 03:04:05+02'::TIMESTAMPTZ", "timestamp[us, tz=UTC]", "2020-01-02 01:04:05Z"},
		{"'47183823-2574-4bfd-b411-99ed177d3e43'::UUID", "utf8", "47183823-2574-4bfd-b411-99ed177d3e43"},
		{
			"INTERVAL '1 month 2 days 3 seconds'", "month_day_nano_interval",
			`{"months":1,"days":2,"nanoseconds":3000000000}`,
		},
		{"'{}'::JSON", "utf8", "{}"},
		{"'01:02:03.123456789'::TIME_NS", "time64[ns]", "01:02:03.123456789"},
		{"sum(x) FROM range(4) r(x)", "int64", "6"},
		{"sum(x::INTEGER) FROM range(4) r(x)", "int64", "6"},
		{"-sum(x) FROM range(4) r(x)", "int64", "-6"},
		{"s FROM (SELECT sum(x) AS s FROM range(4) r(x))", "int64", "6"},
		{"sum(x) OVER () FROM range(1) r(x)", "int64", "0"},
		{"sum(x) FROM range(0) r(x)", "int64", "(null)"},
		{"-9223372036854775808 * x FROM (SELECT sum(1) AS x)", "int64", "-9223372036854775808"},
		{"sum(x)::HUGEINT FROM range(4) r(x)", "decimal(38, 0)", "6"},
		{"sum(x)::INT128 FROM range(4) r(x)", "decimal(38, 0)", "6"},
		{"9223372036854775808", "decimal(38, 0)", "9223372036854775808"},
		{"sum(x)::DECIMAL(38, 0) FROM range(4) r(x)", "decimal(38, 0)", "6"},
		{"NULL", "int32", "(null)"},
	} {
		schema, recs := read(t, c, "SELECT "+tc.expression)
		if got := schema.Field(0).Type.String(); got != tc.typ {
			t.Errorf("%s: type %s, want %s", tc.expression, got, tc.typ)
		}
		got := recs[0].Column(0).ValueStr(0)
		if d, ok := recs[0].Column(0).(*array.Decimal128); ok {
			got = d.Value(0).BigInt().String()
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.expression, got, tc.want)
		}
	}
}

func TestEmpty(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	full := numbers(w, 10, 10)
	w.tables["none"] = &relation{world: w, schema: full.schema}
	w.tables["batch"] = &relation{
		world: w, schema: full.schema,
		batches: []arrow.Record{full.batches[0].NewSlice(3, 3)},
	}
	c := connect(t, open(t, w, Config{Threads: 2}))
	for _, table := range []string{"none", "batch"} {
		schema, recs := read(t, c, "SELECT * FROM "+table)
		if len(recs) != 0 || schema.NumFields() != 3 {
			t.Errorf("%s: %d records of %s, want none of 3 fields", table, len(recs), schema)
		}
		if rows, _, err := query(c, "SELECT count(*), sum(x) FROM "+table); err != nil || rows[0] != "0|(null)" {
			t.Errorf("%s: count and sum are %v, %v", table, rows, err)
		}
	}
}

// A record holds up to 65,536 rows or about 8 MiB, and file order is kept.
func TestRecordSize(t *testing.T) {
	w := &world{tables: map[string]*relation{}}
	w.tables["t"] = numbers(w, 200_000, 30_000)
	c := connect(t, open(t, w, Config{Threads: 4}))
	s, err := prepare(context.Background(), c,
		"SELECT id, repeat('x', 1000) AS wide FROM t UNION ALL SELECT id, NULL FROM t")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Query(context.Background(), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var rows int64
	for {
		rec, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := rec.NumRows(); n > recordRows+2048 || sizeOf(rec) > recordBytes+4<<20 || n < 2048 && rows+n < 400_000 {
			t.Errorf("a record of %d rows, %d bytes", n, sizeOf(rec))
		}
		ids := rec.Column(0).(*array.Int64)
		for i := range ids.Len() {
			if want := (rows + int64(i)) % 200_000; ids.Value(i) != want {
				t.Fatalf("row %d has id %d, want %d", rows+int64(i), ids.Value(i), want)
			}
		}
		rows += rec.NumRows()
		rec.Release()
	}
	if rows != 400_000 {
		t.Errorf("%d rows, want 400,000", rows)
	}
}

// DuckDB returns some values of a struct inside of a struct as null, so such a column is refused.
func TestStructInStruct(t *testing.T) {
	inner := arrow.StructOf(arrow.Field{Name: "b", Type: arrow.FixedWidthTypes.Boolean})
	for _, typ := range []arrow.DataType{
		arrow.StructOf(arrow.Field{Name: "a", Type: inner}),
		arrow.StructOf(arrow.Field{Name: "a", Type: arrow.ListOf(inner)}),
		arrow.StructOf(arrow.Field{Name: "a", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String)}),
		arrow.ListOf(arrow.StructOf(arrow.Field{Name: "a", Type: inner})),
	} {
		w := &world{tables: map[string]*relation{}}
		w.tables["t"] = &relation{world: w, schema: arrow.NewSchema([]arrow.Field{{
			Name: "v", Type: typ,
			Nullable: true,
		}}, nil)}
		c := connect(t, open(t, w, Config{Threads: 1}))
		_, err := prepare(context.Background(), c, "SELECT * FROM t")
		var e *Error
		if !errors.As(err, &e) || e.Kind != Unsupported {
			t.Errorf("%s: error %v, want one of kind Unsupported", typ, err)
		}
	}
}
