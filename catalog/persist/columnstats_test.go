package persist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// textColumn returns a column of texts; nil is null.
func textColumn(name string, values []*string) geoarrow.Column {
	c := geoarrow.Column{Name: name, Type: arrow.BinaryTypes.String, Offsets: []int32{0}}
	valid := make([]byte, (len(values)+7)/8)
	for i, v := range values {
		if v == nil {
			c.Nulls++
		} else {
			valid[i>>3] |= 1 << (i & 7)
			c.Values = append(c.Values, *v...)
		}
		c.Offsets = append(c.Offsets, int32(len(c.Values)))
	}
	if c.Nulls > 0 {
		c.Valid = valid
	}
	return c
}

// numberColumn returns a column of a fixed width; nil is null.
func numberColumn[T geoarrow.FixedWidth](name string, t arrow.DataType, values []*T) geoarrow.Column {
	texts := make([]*string, len(values))
	numbers := make([]T, len(values))
	for i, v := range values {
		if v != nil {
			texts[i], numbers[i] = new(string), *v
		}
	}
	c := textColumn(name, texts)
	c.Type, c.Offsets, c.Values = t, nil, geoarrow.AsBytes(numbers)
	return c
}

func pointColumn(valid []bool) *geoarrow.Geometry {
	texts := make([]*string, len(valid))
	for i, v := range valid {
		if v {
			texts[i] = new(string)
		}
	}
	c := textColumn("", texts)
	return &geoarrow.Geometry{
		Rows: len(valid), Kind: geoarrow.Point, Nulls: c.Nulls, Valid: c.Valid, X: make([]float64, len(valid)),
		Y: make([]float64, len(valid)),
	}
}

// randomValues returns n random values of a pool. A value is null at random, or if the pool is
// empty.
func randomValues[T any](r *rand.Rand, n int, pool ...T) []*T {
	out := make([]*T, n)
	for i := range out {
		if len(pool) > 0 && r.IntN(4) > 0 {
			out[i] = &pool[r.IntN(len(pool))]
		}
	}
	return out
}

// wantStats computes the statistics from all values of a column, sorted.
func wantStats[T cmp.Ordered](name, typ string, all []*T, text func(T) string) store.ColumnStats {
	s := store.ColumnStats{Name: name, Type: typ}
	var values []T
	for _, v := range all {
		switch {
		case v == nil:
			s.Nulls++
		case *v == *v: // not NaN
			values = append(values, *v)
		}
	}
	slices.Sort(values)
	if len(values) > 0 {
		low, high := text(values[0]), text(values[len(values)-1])
		if len(low) <= 256 {
			s.Min = &low
		}
		if len(high) <= 256 {
			s.Max = &high
		}
	}
	return s
}

// showStats formats statistics with the texts instead of their addresses.
func showStats(stats []store.ColumnStats) string {
	var b strings.Builder
	for _, s := range stats {
		fmt.Fprintf(&b, "%s %s %d", s.Name, s.Type, s.Nulls)
		for _, v := range []*string{s.Min, s.Max} {
			if v == nil {
				b.WriteString(" -")
			} else {
				fmt.Fprintf(&b, " %q", *v)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestColumnStatsOfRandomTables(t *testing.T) {
	decimal := func(v int64) string { return fmt.Sprint(v) }
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := r.IntN(60)
		ints := randomValues(r, n, int64(math.MinInt64), -10, -9, 9, 10, math.MaxInt64)
		floats := randomValues(r, n, []float64{math.NaN(), -1.5, 0.1, 1e21, math.Inf(1)}[r.IntN(3):]...)
		texts := randomValues(r, n, []string{
			"", "a", "ab", "é", strings.Repeat("z", 256),
			strings.Repeat("z", 257),
		}[r.IntN(6):]...)
		days := randomValues(r, n, int32(-1), 0, 20000)
		nothing := randomValues[string](r, n)
		points := make([]bool, n)
		nulls := int64(0)
		for i := range points {
			if points[i] = r.IntN(3) > 0; !points[i] {
				nulls++
			}
		}
		whole := &geoarrow.Columns{
			Rows: n,
			Attributes: []geoarrow.Column{
				numberColumn("i", arrow.PrimitiveTypes.Int64, ints),
				numberColumn("f", arrow.PrimitiveTypes.Float64, floats),
				textColumn("t", texts), numberColumn("d", arrow.FixedWidthTypes.Date32, days),
				textColumn("n", nothing), textColumn("j", texts),
			},
			Geometry: pointColumn(points),
		}
		whole.Attributes[5].JSON = true
		json := wantStats("j", "arrow.json", texts, strings.Clone)
		json.Min, json.Max = nil, nil
		want := showStats([]store.ColumnStats{
			wantStats("i", "int64", ints, decimal), wantStats("f", "float64", floats, func(v float64) string {
				return fmt.Sprint(v)
			}),
			wantStats("t", "utf8", texts, strings.Clone),
			wantStats("d", "date32", days, func(v int32) string {
				return map[int32]string{-1: "1969-12-31", 0: "1970-01-01", 20000: "2024-10-04"}[v]
			}),
			wantStats("n", "utf8", nothing, strings.Clone), json,
			{Name: "geometry", Type: "geoarrow.point", Nulls: nulls},
		})
		got, err := columnStats(t.Context(), inBatches(whole, 1+r.IntN(20)), r.IntN(5))
		if err != nil || showStats(got) != want {
			t.Fatalf("seed %d: got %v\n%swant\n%s", seed, err, showStats(got), want)
		}
	}
}

// inBatches returns a table of the rows, with the given number of rows in each batch.
func inBatches(whole *geoarrow.Columns, rows int) *readers.Table {
	t := &readers.Table{Batches: []*geoarrow.Columns{whole.Slice(0, min(rows, whole.Rows))}}
	for from := rows; from < whole.Rows; from += rows {
		t.Batches = append(t.Batches, whole.Slice(from, min(from+rows, whole.Rows)))
	}
	return t
}

// checkedTable returns a table with 8 batches of one row, and records which of them are checked. If
// broken is set, they cannot be read.
func checkedTable(check func(i int) error, broken bool) (t *readers.Table, asked func() []int) {
	one := int64(1)
	t = inBatches(&geoarrow.Columns{Rows: 8, Attributes: []geoarrow.Column{
		numberColumn("i", arrow.PrimitiveTypes.Int64, []*int64{&one, &one, &one, &one, &one, &one, &one, &one}),
	}}, 1)
	if broken {
		for _, b := range t.Batches {
			b.Attributes[0] = geoarrow.Column{Name: "i", Type: arrow.BinaryTypes.String, Offsets: []int32{0, 9}}
		}
	}
	var mu sync.Mutex
	var batches []int
	t.Check = func(i int) error {
		mu.Lock()
		batches = append(batches, i)
		mu.Unlock()
		return check(i)
	}
	return t, func() []int { return slices.Sorted(slices.Values(batches)) }
}

func TestColumnStatsAsksBeforeItReads(t *testing.T) {
	well := func(int) error { return nil }
	for _, workers := range []int{1, 4} {
		table, asked := checkedTable(well, false)
		if _, err := columnStats(t.Context(), table, workers); err != nil || !slices.Equal(asked(),
			[]int{0, 1, 2, 3, 4, 5, 6, 7}) {
			t.Errorf("%d workers: asked for %v, %v", workers, asked(), err)
		}

		// reading it would panic
		table, _ = checkedTable(func(int) error { return readers.ErrDamaged }, true)
		if _, err := columnStats(t.Context(), table, workers); !errors.Is(err, readers.ErrDamaged) {
			t.Errorf("%d workers: damaged: %v", workers, err)
		}

		table, _ = checkedTable(well, true)
		if _, err := columnStats(t.Context(), table, workers); err == nil || !strings.Contains(err.Error(),
			"internal error") {
			t.Errorf("%d workers: panic: %v", workers, err)
		}
	}
}

func TestColumnStatsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	table, asked := checkedTable(func(i int) error {
		if i == 2 {
			cancel()
		}
		return nil
	}, false)
	if _, err := columnStats(ctx, table, 1); !errors.Is(err, context.Canceled) || len(asked()) != 3 {
		t.Errorf("asked for %v, %v", asked(), err)
	}
}
