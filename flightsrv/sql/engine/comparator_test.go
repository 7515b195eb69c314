package engine

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

func logical(id string, scale ...int) logicalType {
	t := logicalType{ID: id}
	if len(scale) > 0 {
		t.Info = &struct {
			Alias string `json:"alias"`
			Scale int    `json:"scale"`
		}{Scale: scale[0]}
	}
	return t
}

func collated() logicalType {
	t := logical("VARCHAR", 0)
	t.Info.Alias = "NOCASE"
	return t
}

var (
	money    = &arrow.Decimal128Type{Precision: 19, Scale: 4}
	seconds  = &arrow.TimestampType{Unit: arrow.Second}
	millis   = &arrow.TimestampType{Unit: arrow.Millisecond}
	zoned    = &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
	nanosDay = &arrow.Time64Type{Unit: arrow.Nanosecond}
)

func TestScaleCast(t *testing.T) {
	for _, c := range []struct {
		name string
		of   arrow.DataType
		to   logicalType
		want typeFamily
	}{
		{"integer to a wider one", arrow.PrimitiveTypes.Int32, logical("BIGINT"), number},
		{"integer to a narrower one, or an error", arrow.PrimitiveTypes.Int64, logical("INTEGER"), number},
		{"integer to a decimal", arrow.PrimitiveTypes.Int64, logical("DECIMAL", 1), number},
		{"integer to float64, rounded in order", arrow.PrimitiveTypes.Int64, logical("DOUBLE"), float},
		{"integer to float32", arrow.PrimitiveTypes.Int64, logical("FLOAT"), noFamily},
		{"integer to text", arrow.PrimitiveTypes.Int64, logical("VARCHAR"), noFamily},
		{"decimal with more digits", money, logical("DECIMAL", 5), number},
		{"decimal with fewer digits", money, logical("DECIMAL", 3), noFamily},
		{"decimal to an integer", money, logical("BIGINT"), noFamily},
		{"decimal to float64", money, logical("DOUBLE"), noFamily},
		{"float64 to an integer", arrow.PrimitiveTypes.Float64, logical("INTEGER"), noFamily},
		{"date to a timestamp", arrow.FixedWidthTypes.Date32, logical("TIMESTAMP"), localTime},
		{"timestamp to a finer one", seconds, logical("TIMESTAMP"), localTime},
		{"timestamp to a coarser one", millis, logical("TIMESTAMP_S"), noFamily},
		{"timestamp to a date", millis, logical("DATE"), noFamily},
		{"timestamp to one with a zone", millis, logical("TIMESTAMP WITH TIME ZONE"), noFamily},
		{"text to text with a collation", arrow.BinaryTypes.String, collated(), noFamily},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := noFamily
			if s := comparatorOf(c.of).cast(c.to); s != nil {
				got = s.family
			}
			if got != c.want {
				t.Errorf("%s as %v: family %d, want %d", c.of, c.to, got, c.want)
			}
		})
	}
}

func TestScaleConstant(t *testing.T) {
	for _, c := range []struct {
		name string
		of   arrow.DataType
		typ  logicalType
		json string
		want string
	}{
		{"integer", arrow.PrimitiveTypes.Int64, logical("BIGINT"), "-5", "-5/1"},
		{
			"128 bits", arrow.PrimitiveTypes.Uint64, logical("HUGEINT"), `{"upper":1,"lower":2}`,
			"18446744073709551618/1",
		},
		{
			"128 bits, negative", arrow.PrimitiveTypes.Uint64, logical("HUGEINT"),
			`{"upper":-1,"lower":18446744073709551615}`, "-1/1",
		},
		{"decimal", money, logical("DECIMAL", 4), `{"upper":0,"lower":25}`, "1/400"},
		{"narrow decimal", money, logical("DECIMAL", 1), `25`, "5/2"},
		{"float64", arrow.PrimitiveTypes.Float64, logical("DOUBLE"), "2.5", "2.5"},
		{"not a number", arrow.PrimitiveTypes.Float64, logical("DOUBLE"), "NaN", "none"},
		{"text", arrow.BinaryTypes.String, logical("VARCHAR"), `"a\u0000b"`, "a\x00b"},
		{"text with a collation", arrow.BinaryTypes.String, collated(), `"a"`, "none"},
		{"date", arrow.FixedWidthTypes.Date32, logical("DATE"), "1", "86400000000000/1"},
		{"timestamp", millis, logical("TIMESTAMP_MS"), "1", "1000000/1"},
		{"timestamp with a zone", zoned, logical("TIMESTAMP WITH TIME ZONE"), "1", "1000/1"},
		{"of another family", arrow.PrimitiveTypes.Int64, logical("DOUBLE"), "1", "none"},
		{"half of a number", arrow.PrimitiveTypes.Int64, logical("HUGEINT"), `{"upper":1}`, "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := "none"
			switch v := comparatorOf(c.of).constant(constant{Type: c.typ, Value: []byte(c.json)}).(type) {
			case exactValue:
				got = v.String()
			case bytesValue:
				got = string(v)
			case floatValue:
				got = fmt.Sprint(float64(v))
			}
			if got != c.want {
				t.Errorf("%v %s: %s, want %s", c.typ, c.json, got, c.want)
			}
		})
	}
}

func TestScaleBounds(t *testing.T) {
	for _, c := range []struct {
		name string
		of   *comparator
		low  geoarrow.Value
		want string
	}{
		{"decimal", comparatorOf(money), geoarrow.Value{Decimal: decimal128.FromI64(25)}, "1/400 1/400"},
		{
			"unsigned", comparatorOf(arrow.PrimitiveTypes.Uint64),
			geoarrow.Value{Uint: 1 << 63},
			"9223372036854775808/1 9223372036854775808/1",
		},
		{"seconds", comparatorOf(seconds), geoarrow.Value{Int: 2}, "2000000000/1 2000000000/1"},
		{"nanoseconds that DuckDB cuts", comparatorOf(zoned), geoarrow.Value{Int: 1500}, "500/1 2500/1"},
		{"nanoseconds of a day", comparatorOf(nanosDay), geoarrow.Value{Int: 1500}, "500/1 2500/1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			low, high := c.of.bounds(c.low, c.low)
			if got := low.(exactValue).String() + " " + high.(exactValue).String(); got != c.want {
				t.Errorf("%+v: %s, want %s", c.low, got, c.want)
			}
		})
	}
}
