package geoarrow

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

var (
	naiveMs   = &arrow.TimestampType{Unit: arrow.Millisecond}
	zonedNs   = &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "+01:00"}
	timeNs    = &arrow.Time64Type{Unit: arrow.Nanosecond}
	float64s  = arrow.PrimitiveTypes.Float64
	textsType = arrow.BinaryTypes.String
)

// rangeTypes are all types of which a column has a range.
var rangeTypes = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint64, float64s,
	textsType, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time32ms, timeNs, naiveMs, zonedNs,
}

// rangeColumn returns n values, a share of them null, that are few enough to meet again and hard to
// compare: of all signs, and texts that share their beginnings.
func rangeColumn(r *rand.Rand, t arrow.DataType, n int, nulls float64) Column {
	c := randomColumn(r, "", t, n, nulls)
	switch t.ID() {
	case arrow.INT32, arrow.DATE32, arrow.TIME32:
		c.Values = hardValues(r, &c, n, math.MinInt32, -1, 0, 1, 9, 10, math.MaxInt32, int32(r.Uint32()))
	case arrow.INT64, arrow.TIME64, arrow.TIMESTAMP:
		c.Values = hardValues(r, &c, n, math.MinInt64, -1, 0, 1, 9, 10, math.MaxInt64, math.MaxInt64-1,
			int64(r.Uint64()))
	case arrow.UINT64:
		c.Values = hardValues(r, &c, n, 0, 1, 9, 10, 1<<63, math.MaxUint64, math.MaxUint64-1, r.Uint64())
	case arrow.FLOAT64:
		all := []float64{
			math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 5e-324, -5e-324, math.MaxFloat64,
			-math.MaxFloat64, 1 << 53, r.NormFloat64(),
		}
		k := r.IntN(len(all))
		c.Values = hardValues(r, &c, n, all[k:min(k+1+r.IntN(4), len(all))]...)
	case arrow.STRING:
		c.Offsets, c.Values = []int32{0}, nil
		for i := range n {
			if c.valid(i) {
				c.Values = append(c.Values, strings.Repeat("residential", 2)[:r.IntN(14)]...)
				c.Values = append(c.Values, []string{"", "\x00", "\x7f", "é", "\U0010ffff"}[r.IntN(5)]...)
			}
			c.Offsets = append(c.Offsets, int32(len(c.Values)))
		}
	}
	return c
}

func hardValues[T FixedWidth](r *rand.Rand, c *Column, n int, pool ...T) []byte {
	v := make([]T, n)
	for i := range v {
		if c.valid(i) {
			v[i] = pool[r.IntN(len(pool))]
		}
	}
	return AsBytes(v)
}

// plain returns a value of an Arrow array as something that has an order: a text, or a number of
// any size. It is nil for what does not count.
func plain(a arrow.Array, i int) any {
	number := func(v int64) any { return new(big.Float).SetInt64(v) }
	switch a := a.(type) {
	case *array.Boolean:
		if a.Value(i) {
			return number(1)
		}
		return number(0)
	case *array.Int32:
		return number(int64(a.Value(i)))
	case *array.Date32:
		return number(int64(a.Value(i)))
	case *array.Time32:
		return number(int64(a.Value(i)))
	case *array.Int64:
		return number(a.Value(i))
	case *array.Time64:
		return number(int64(a.Value(i)))
	case *array.Timestamp:
		return number(int64(a.Value(i)))
	case *array.Uint64:
		return new(big.Float).SetUint64(a.Value(i))
	case *array.Float64:
		if !math.IsNaN(a.Value(i)) {
			return new(big.Float).SetFloat64(a.Value(i))
		}
	case *array.String:
		return a.Value(i)
	}
	return nil
}

func plainCompare(a, b any) int {
	if s, ok := a.(string); ok {
		return strings.Compare(s, b.(string))
	}
	return a.(*big.Float).Cmp(b.(*big.Float))
}

// plain returns the value as plain gives it.
func (v Value) plain(t arrow.DataType) any {
	switch t.ID() {
	case arrow.STRING:
		return string(v.Bytes)
	case arrow.UINT64:
		return new(big.Float).SetUint64(v.Uint)
	case arrow.FLOAT64:
		return new(big.Float).SetFloat64(v.Float)
	}
	return new(big.Float).SetInt64(v.Int)
}

func TestRangeOfRandomColumns(t *testing.T) {
	for k, typ := range rangeTypes {
		t.Run(typ.String(), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(k)))
			for range 400 {
				n := []int{0, 1, 2, 7, 8, 9, 40}[r.IntN(7)]
				c := rangeColumn(r, typ, n, []float64{0, 0.3, 0.9, 1}[r.IntN(4)])
				data := c.data(n)
				a := array.MakeFromData(data)
				var all []any
				for i := range n {
					if p := plain(a, i); a.IsValid(i) && p != nil {
						all = append(all, p)
					}
				}
				low, high, ok := c.Range(n)
				if ok != (len(all) > 0) {
					t.Fatalf("%v: ok is %t", a, ok)
				}
				if !ok {
					continue
				}
				least, greatest := slices.MinFunc(all, plainCompare), slices.MaxFunc(all, plainCompare)
				if plainCompare(low.plain(typ), least) != 0 || plainCompare(high.plain(typ), greatest) != 0 {
					t.Fatalf("%v: got %s to %s, want %v to %v", a, low.Text(typ), high.Text(typ), least, greatest)
				}
				if math.Signbit(low.Float) && low.Float == 0 || math.Signbit(high.Float) && high.Float == 0 {
					t.Fatalf("%v: -0", a)
				}
				if got, want := low.Compare(high), plainCompare(least, greatest); got != want {
					t.Fatalf("%s compares with %s as %d, want %d", low.Text(typ), high.Text(typ), got, want)
				}
			}
		})
	}
}

func TestRangeOfTypesWithoutOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	text := randomColumn(r, "", textsType, 5, 0)
	list := randomColumn(r, "", arrow.ListOfField(arrow.Field{Name: "item", Type: arrow.PrimitiveTypes.Int64}), 5, 0)
	json, mixed := text, text
	json.JSON, mixed.Mixed = true, true
	for _, c := range []struct {
		name string
		Column
	}{{"list", list}, {"json", json}, {"mixed", mixed}} {
		if _, _, ok := c.Range(5); ok {
			t.Errorf("%s: has a range", c.name)
		}
	}
}

func TestValueText(t *testing.T) {
	const noon = 12 * 3600
	for _, c := range []struct {
		name string
		typ  arrow.DataType
		v    Value
		want string
	}{
		{"bool", arrow.FixedWidthTypes.Boolean, Value{Int: 1}, "true"},
		{"int32", arrow.PrimitiveTypes.Int32, Value{Int: math.MinInt32}, "-2147483648"},
		{"int64", arrow.PrimitiveTypes.Int64, Value{Int: math.MinInt64}, "-9223372036854775808"},
		{"uint64", arrow.PrimitiveTypes.Uint64, Value{Uint: math.MaxUint64}, "18446744073709551615"},
		{"float", float64s, Value{Float: 0.1}, "0.1"},
		{"large float", float64s, Value{Float: 1e300}, "1e+300"},
		{"infinite", float64s, Value{Float: math.Inf(-1)}, "-Inf"},
		{"text", textsType, Value{Bytes: []byte("é")}, "é"},
		{"empty text", textsType, Value{}, ""},
		{"date", arrow.FixedWidthTypes.Date32, Value{Int: -1}, "1969-12-31"},
		{"time of milliseconds", arrow.FixedWidthTypes.Time32ms, Value{Int: noon*1e3 + 5}, "12:00:00.005"},
		{
			"time of microseconds", &arrow.Time64Type{Unit: arrow.Microsecond},
			Value{Int: noon*1e6 + 5},
			"12:00:00.000005",
		},
		{"time of nanoseconds", timeNs, Value{Int: noon*1e9 + 5}, "12:00:00.000000005"},
		{"naive", naiveMs, Value{Int: noon * 1e3}, "1970-01-01T12:00:00"},
		{"naive before 1970", naiveMs, Value{Int: -1}, "1969-12-31T23:59:59.999"},
		{"zoned", zonedNs, Value{Int: noon*1e9 + 5}, "1970-01-01T12:00:00.000000005Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.v.Text(c.typ); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func BenchmarkRange(b *testing.B) {
	const rows = 65536
	r := rand.New(rand.NewPCG(1, 1))
	text := func(format string, n int) Column {
		c := Column{Type: textsType, Offsets: []int32{0}}
		for range rows {
			c.Values = fmt.Appendf(c.Values, format, r.IntN(n))
			c.Offsets = append(c.Offsets, int32(len(c.Values)))
		}
		return c
	}
	floats := make([]float64, rows)
	for i := range floats {
		floats[i] = r.NormFloat64()
	}
	for _, c := range []struct {
		name string
		Column
	}{
		{"float64", Column{Type: float64s, Values: AsBytes(floats)}},
		{"int32, half null", randomColumn(r, "", arrow.PrimitiveTypes.Int32, rows, 0.5)},
		{"text", text("%d street", 1e9)},
		{"text of one beginning", text("residential %d", 1e9)},
		{"text of few values", text("way/%d", 3)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(c.Bytes())
			for b.Loop() {
				c.Range(rows)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
