package kernels_test

import (
	"fmt"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
)

// masks are masks of n bits, by name.
func masks(n int) map[string][]uint64 {
	text := random(uint64(n), n, "0123456789")
	return map[string][]uint64{
		"none":           bitmap(n, func(int) bool { return false }),
		"all":            bitmap(n, func(int) bool { return true }),
		"some":           bitmap(n, func(i int) bool { return text[i] == '7' }),
		"most":           bitmap(n, func(i int) bool { return text[i] != '7' }),
		"one in 3000":    bitmap(n, func(i int) bool { return i%3000 == 1 }),
		"first half":     bitmap(n, func(i int) bool { return i < n/2 }),
		"the last":       bitmap(n, func(i int) bool { return i == n-1 }),
		"every 2nd word": bitmap(n, func(i int) bool { return i/64%2 == 1 }),
	}
}

func TestPositions(t *testing.T) {
	r := open(t)
	for _, n := range sizes {
		for name, mask := range masks(n) {
			what := fmt.Sprintf("%s of %d", name, n)
			const base = 1 << 40
			want := setBits(mask, base)
			b, count := upload(r, mask), poisoned[int64](r, 1)
			out := poisoned[int64](r, len(want))
			r.ok(r.k.Positions(r.s, b, base, out, count))
			sameItems(t, what, read(r, out), want)
			sameItems(t, what+", count", read(r, count), []int64{int64(len(want))})

			exact, err := r.k.AllocPositions(r.s, b, base)
			r.ok(err)
			sameItems(t, what+", allocated", read(r, exact), want)
			r.ok(exact.Free(r.s))

			if got, err := r.k.CountBits(r.s, b); err != nil || got != int64(len(want)) {
				t.Fatalf("%s: counted %d, %v, want %d", what, got, err, len(want))
			}
		}
	}
}

// Too little room takes the first positions and leaves what lies behind it alone.
func TestPositionsWithoutRoom(t *testing.T) {
	r := open(t)
	mask := masks(40000)["some"]
	want := setBits(mask, 0)
	b, count := upload(r, mask), poisoned[int64](r, 1)
	for _, room := range []int{0, 1, len(want) / 2, len(want) - 1} {
		out := poisoned[int64](r, room+8)
		r.ok(r.k.Positions(r.s, b, 0, out.Slice(0, room), count))
		got := read(r, out)
		sameItems(t, "positions", got[:room], want[:room])
		for _, v := range got[room:] {
			if uint64(v) != 0xa5a5a5a5a5a5a5a5 {
				t.Fatalf("room for %d: %d behind it", room, v)
			}
		}
		sameItems(t, "count", read(r, count), []int64{int64(len(want))})
	}
}

// compacted compares Compact with a plain selection.
func compacted[T kernels.Element](r *rig, n int, make func(i int) T) {
	r.Helper()
	var in []T
	for i := range n {
		in = append(in, make(i))
	}
	b := upload(r, in)
	for name, mask := range masks(n) {
		var want []T
		for _, i := range setBits(mask, 0) {
			want = append(want, in[i])
		}
		out, count := poisoned[T](r, len(want)), poisoned[int64](r, 1)
		r.ok(kernels.Compact(r.k, r.s, b, upload(r, mask), out, count))
		what := fmt.Sprintf("%s of %d %T", name, n, *new(T))
		sameItems(r, what, read(r, out), want)
		sameItems(r, what+", count", read(r, count), []int64{int64(len(want))})
	}
}

func TestCompact(t *testing.T) {
	r := open(t)
	for _, n := range []int{0, 1, 31, 32, 33, 63, 64, 65, 16383, 16384, 16385, 40000} {
		compacted(r, n, func(i int) uint8 { return uint8(i * 7) })
		compacted(r, n, func(i int) int32 { return int32(i - 1000) })
		compacted(r, n, func(i int) uint32 { return uint32(i) << 15 })
		compacted(r, n, func(i int) int64 { return int64(i) << 33 })
		compacted(r, n, func(i int) float64 { return float64(i) / 3 })
	}
}

func TestCompactRefuses(t *testing.T) {
	r := open(t)
	in, mask := upload(r, make([]uint8, 100)), upload(r, make([]uint64, 3))
	out, count := poisoned[uint8](r, 100), poisoned[int64](r, 2)
	tests := []struct {
		name string
		err  error
	}{
		{"a long mask", kernels.Compact(r.k, r.s, in, mask, out, gpu.Buffer[int64]{})},
		{"a short mask", kernels.Compact(r.k, r.s, in, mask.Slice(0, 1), out, gpu.Buffer[int64]{})},
		{"two counts", kernels.Compact(r.k, r.s, in, mask.Slice(0, 2), out, count)},
		{"two counts of positions", r.k.Positions(r.s, mask, 0, count, count)},
	}
	for _, tt := range tests {
		if tt.err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}
