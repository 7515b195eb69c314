//go:build cgo && linux && (amd64 || arm64)

package engine

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Rows are picked bit by bit: every number of them around the words of a set, compared with one
// comparison a row.
func TestRowSets(t *testing.T) {
	for _, rows := range []int{0, 1, 2, 63, 64, 65, 127, 128, 129, 1000} {
		integers, floats := make([]int64, rows), make([]float64, rows)
		for i := range rows {
			integers[i], floats[i] = int64(i*7%31), float64(i*7%31)
		}
		for _, bounds := range [][2]int64{
			{5, 9},
			{0, 30},
			{9, 5},
			{-5, 0},
			{30, math.MaxInt64},
			{math.MinInt64, math.MaxInt64},
		} {
			var want []int32
			for i, v := range integers {
				if bounds[0] <= v && v <= bounds[1] {
					want = append(want, int32(i))
				}
			}
			s, f := wholeSet(rows), wholeSet(rows)
			keepIntegers(s, integers, bounds[0], bounds[1])
			keepFloats(f, floats, float64(bounds[0]), float64(bounds[1]))
			if got := s.list(s.count()); !slices.Equal(got, want) || !slices.Equal(s, f) {
				t.Errorf("%d rows, %v: integers %v, floats %v, want %v", rows, bounds, got, f.list(f.count()), want)
			}
		}
	}
}

func TestNarrow(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	point := func(s string) value {
		if s == "" {
			return nil
		}
		r, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatal(s)
		}
		return exactValue{r}
	}
	number := func(v float64) value { return floatValue(v) }
	for _, c := range []struct {
		name      string
		of        arrow.DataType
		values    []byte
		as        *comparator // nil: of the column
		low, high value
		want      string // rows that are left
	}{
		{
			"int32", arrow.PrimitiveTypes.Int32, geoarrow.AsBytes([]int32{1, 2, 3, 4}), nil, point("2"),
			point("3"), "1 2",
		},
		{
			"int32 and fractions", arrow.PrimitiveTypes.Int32, geoarrow.AsBytes([]int32{-2, -1, 0, 1, 2}),
			nil, point("-3/2"), point("3/2"), "1 2 3",
		},
		{
			"int32 and large numbers", arrow.PrimitiveTypes.Int32,
			geoarrow.AsBytes([]int32{math.MinInt32, 0, math.MaxInt32}), nil, point("-99999999999999999999"),
			point("9999999999"), "0 1 2",
		},
		{
			"int64", arrow.PrimitiveTypes.Int64, geoarrow.AsBytes([]int64{math.MinInt64, 0, math.MaxInt64}),
			nil, point("1"), nil, "2",
		},
		{
			"int64 as float", arrow.PrimitiveTypes.Int64, geoarrow.AsBytes([]int64{1<<53 - 1, 1<<53 + 1, 1<<53 + 2}),
			&comparator{family: float, columnType: arrow.PrimitiveTypes.Int64}, number(1 << 53), number(1 << 53), "1",
		},
		{
			"NaN is greatest", arrow.PrimitiveTypes.Float64, geoarrow.AsBytes([]float64{nan, 1, 2, inf}),
			nil, number(2), nil, "0 2 3",
		},
		{
			"infinities", arrow.PrimitiveTypes.Float64, geoarrow.AsBytes([]float64{-inf, 1, inf}), nil,
			number(inf), number(inf), "2",
		},
		{
			"zeros", arrow.PrimitiveTypes.Float64, geoarrow.AsBytes([]float64{math.Copysign(0, -1), 0, 1}),
			nil, number(0), number(math.Copysign(0, -1)), "0 1",
		},
		{
			"dates", arrow.FixedWidthTypes.Date32, geoarrow.AsBytes([]int32{0, 1, 2}), nil, point(fmt.Sprint(day)),
			point(fmt.Sprint(day*2 - 1)), "1",
		},
		{
			"milliseconds", arrow.FixedWidthTypes.Timestamp_ms, geoarrow.AsBytes([]int64{-1, 0, 1, 2}), nil,
			point("-1"), point("1500000"), "1 2",
		},
		{
			"nanoseconds that DuckDB rounds", arrow.FixedWidthTypes.Timestamp_ns, geoarrow.AsBytes([]int64{1, 2}),
			nil, point("2"), point("2"), "0 1",
		},
		{"uint64", arrow.PrimitiveTypes.Uint64, geoarrow.AsBytes([]uint64{1, 2}), nil, point("2"), point("2"), "0 1"},
	} {
		as := c.as
		if as == nil {
			as = comparatorOf(c.of)
		}
		if c.name == "nanoseconds that DuckDB rounds" {
			as = comparatorOf(&arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"})
		}
		width := c.of.(arrow.FixedWidthDataType).Bytes()
		rows := wholeSet(len(c.values) / width)
		as.filter(&geoarrow.Column{Type: c.of, Values: c.values}, c.low, c.high, rows)
		if got := strings.Trim(fmt.Sprint(rows.list(rows.count())), "[]"); got != c.want {
			t.Errorf("%s: rows %s are left, want %s", c.name, got, c.want)
		}
	}
}

func TestRowSetsWithoutNulls(t *testing.T) {
	for _, rows := range []int{1, 7, 8, 9, 63, 64, 65, 130} {
		valid := make([]byte, (rows+7)/8)
		var want []int32
		for i := 0; i < rows; i += 3 {
			valid[i/8] |= 1 << (i % 8)
			want = append(want, int32(i))
		}
		s := wholeSet(rows)
		s.keepValid(nil)
		if s.count() != rows {
			t.Errorf("%d rows, none null: %d are left", rows, s.count())
		}
		s.keepValid(valid)
		if got := s.list(s.count()); !slices.Equal(got, want) {
			t.Errorf("%d rows: %v, want %v", rows, got, want)
		}
	}
}

// Batches are handed over without the rows that can't match, where that are many.
func TestBatchesAreNarrowed(t *testing.T) {
	w := newWorld(t, map[string]string{"grid.csv": grid(6400)}, func(c *catalog.Config, _ *Config) {
		c.Limits = readers.Limits{BatchRows: 640, Workers: 2}
	})
	for _, c := range []struct {
		query   string
		columns []int // of what is read
		want    int   // rows that are handed over
	}{
		{
			"SELECT i FROM grid WHERE i % 10 = 3 AND t BETWEEN '2020-01-01 00:00:07' AND '2020-01-01 00:00:08'",
			[]int{0},
			4,
		},
		{"SELECT i FROM grid WHERE i BETWEEN 100 AND 199 OR i = 700", []int{0}, 101},
		{"SELECT i FROM grid WHERE x < 20", []int{0}, 70}, // of 80 rows 11 have no x; NaN stays
		{"SELECT i FROM grid WHERE x < 60", []int{0}, 640},
		{"SELECT i FROM grid WHERE i BETWEEN 100 AND 110", []int{0, 6}, 11},
		{"SELECT i FROM grid WHERE i BETWEEN 100 AND 130", []int{0, 6}, 640}, // geometries of whole batches are ready
	} {
		s, err := w.engine.Prepare(t.Context(), c.query, "")
		if err != nil {
			t.Fatal(err)
		}
		p := s.idle
		leases, err := p.leaseTables(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r := &statementRun{engine: w.engine, relations: p.relations, leases: leases}
		r.filters = p.filters(r.context(t.Context()))
		b, err := p.relations["grid.csv"].scan(r.context(t.Context()), c.columns)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for i := range b.Len() {
			rec, _, err := b.Batch(i)
			if err != nil {
				t.Fatal(err)
			}
			got += int(rec.NumRows())
			rec.Release()
		}
		if got != c.want {
			t.Errorf("%s: %d rows are handed over, want %d", c.query, got, c.want)
		}
		b.Release()
		r.release()
		s.Close()
	}
}
