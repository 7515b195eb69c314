package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// owners are rows of items for n rows, by name.
func owners(n int) map[string][]int64 {
	rng := rand.New(rand.NewPCG(uint64(n), 6))
	tests := map[string][]int64{"none": nil}
	if n == 0 {
		return tests
	}
	last := int64(n - 1)
	tests["all of one row"] = slices.Repeat([]int64{last / 2}, 3000)
	tests["first and last"] = []int64{0, 0, last, last}
	for range 3 * n / 2 {
		tests["random"] = append(tests["random"], rng.Int64N(int64(n)))
		if rng.IntN(10) == 0 {
			tests["few rows"] = append(tests["few rows"], slices.Repeat([]int64{rng.Int64N(int64(n))}, rng.IntN(50))...)
		}
	}
	for row := range int64(n) {
		tests["one each"] = append(tests["one each"], row)
	}
	return tests
}

// plainOffsets is ScatterCounts and ListOffsets.
func plainOffsets(rows []int64, counts []int32, n int) []int64 {
	sizes := make([]int64, n)
	for i, row := range rows {
		if row < 0 || row >= int64(n) {
			continue
		}
		switch {
		case counts == nil:
			sizes[row]++
		case counts[i] > 0:
			sizes[row] += int64(counts[i])
		}
	}
	return exclusiveSums(sizes)
}

func TestOffsets(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(1, 6))
	none := gpu.Buffer[int32]{}
	for _, n := range []int{0, 1, 31, 32, 33, 63, 64, 65, 255, 256, 257, 5000} {
		for name, rows := range owners(n) {
			name = fmt.Sprintf("%d rows, %s", n, name)
			offsets := poisoned[int64](r, n+1)
			r.ok(r.k.ScatterCounts(r.s, upload(r, rows), none, offsets))
			sameItems(r, name, read(r, offsets), plainOffsets(rows, nil, n))

			// Counts whose sums leave 32 bits, and rows that are none.
			wild, counts := slices.Clone(rows), make([]int32, len(rows))
			for i := range wild {
				counts[i] = []int32{0, 1, -5, math.MaxInt32, rng.Int32()}[rng.IntN(5)]
				if rng.IntN(9) == 0 {
					wild[i] = []int64{-1, int64(n), math.MinInt64, math.MaxInt64}[rng.IntN(4)]
				}
			}
			r.ok(r.k.ScatterCounts(r.s, upload(r, wild), upload(r, counts), offsets))
			sameItems(r, name+", counts", read(r, offsets), plainOffsets(wild, counts, n))

			bitmapDev := poisoned[uint64](r, kernels.Words(n))
			r.ok(r.k.ValidityFromRows(r.s, upload(r, wild), n, bitmapDev))
			sameItems(r, name+", validity", read(r, bitmapDev), bitmap(n, func(row int) bool {
				return slices.Contains(wild, int64(row))
			}))

			slices.Sort(rows)
			lists := poisoned[int64](r, n+1)
			r.ok(r.k.ListOffsets(r.s, upload(r, rows), lists))
			sameItems(r, name+", ascending", read(r, lists), plainOffsets(rows, nil, n))
		}
	}
}

// Traps G5 to G10: a row that owns nothing does not shift its neighbours.
func TestOffsetsOfEmptyRows(t *testing.T) {
	r := open(t)
	tests := []struct {
		name       string
		rows, want []int64
	}{
		{"G5 the first is empty", []int64{1}, []int64{0, 0, 1, 1, 1, 1, 1, 1, 1}},
		{"G7 the first and the last", []int64{1, 1, 6}, []int64{0, 0, 2, 2, 2, 2, 2, 3, 3}},
		{"G8 every second", []int64{0, 2, 4, 6}, []int64{0, 1, 1, 2, 2, 3, 3, 4, 4}},
		{"all", nil, make([]int64, 9)},
	}
	for _, tt := range tests {
		offsets, lists := poisoned[int64](r, 9), poisoned[int64](r, 9)
		r.ok(r.k.ScatterCounts(r.s, upload(r, tt.rows), gpu.Buffer[int32]{}, offsets))
		sameItems(r, tt.name, read(r, offsets), tt.want)
		r.ok(r.k.ListOffsets(r.s, upload(r, tt.rows), lists))
		sameItems(r, tt.name, read(r, lists), tt.want)
	}
}

func TestNarrowOffsets(t *testing.T) {
	r := open(t)
	tests := []struct {
		name     string
		last     int64
		want     int32
		overflow uint32
	}{
		{"none", 0, 0, 0},
		{"the largest that fits", math.MaxInt32, math.MaxInt32, 0},
		{"one more", math.MaxInt32 + 1, math.MaxInt32, 1},
		{"far more", 1 << 40, math.MaxInt32, 1},
	}
	for _, tt := range tests {
		wide := make([]int64, 700)
		wide[699] = tt.last
		narrow, overflow := poisoned[int32](r, 700), poisoned[uint32](r, 1)
		r.ok(r.k.NarrowOffsets(r.s, upload(r, wide), narrow, overflow))
		want := make([]int32, 700)
		want[699] = tt.want
		sameItems(r, tt.name, read(r, narrow), want)
		sameItems(r, tt.name+": overflow", read(r, overflow), []uint32{tt.overflow})
	}
}

func TestOffsetsRefuse(t *testing.T) {
	r := open(t)
	rows, counts, offsets, mask := upload(r, make([]int64, 9)), upload(r, make([]int32, 9)), poisoned[int64](r, 9),
		poisoned[uint64](r, 2)
	narrow, one := poisoned[int32](r, 9), poisoned[uint32](r, 1)
	tests := []struct {
		name string
		err  error
	}{
		{"counts of other rows", r.k.ScatterCounts(r.s, rows, counts.Slice(0, 8), offsets)},
		{"no offset to scatter to", r.k.ScatterCounts(r.s, rows, counts, offsets.Slice(0, 0))},
		{"no offset of lists", r.k.ListOffsets(r.s, rows, offsets.Slice(0, 0))},
		{"narrow offsets that are fewer", r.k.NarrowOffsets(r.s, offsets, narrow.Slice(0, 8), one)},
		{"no overflow", r.k.NarrowOffsets(r.s, offsets, narrow, one.Slice(0, 0))},
		{"a short bitmap", r.k.ValidityFromRows(r.s, rows, 129, mask)},
		{"a long bitmap", r.k.ValidityFromRows(r.s, rows, 64, mask)},
		{"fewer than no rows", r.k.ValidityFromRows(r.s, rows, -200, mask)},
	}
	for _, tt := range tests {
		if tt.err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}
