package kernels_test

import (
	"fmt"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
)

// masks are masks of n bits, by name.
func masks(n int) map[string][]uint64 {
	text := kerneltest.Random(uint64(n), n, "0123456789")
	return map[string][]uint64{
		"none":           kerneltest.Bitmap(n, func(int) bool { return false }),
		"all":            kerneltest.Bitmap(n, func(int) bool { return true }),
		"some":           kerneltest.Bitmap(n, func(i int) bool { return text[i] == '7' }),
		"most":           kerneltest.Bitmap(n, func(i int) bool { return text[i] != '7' }),
		"one in 3000":    kerneltest.Bitmap(n, func(i int) bool { return i%3000 == 1 }),
		"first half":     kerneltest.Bitmap(n, func(i int) bool { return i < n/2 }),
		"the last":       kerneltest.Bitmap(n, func(i int) bool { return i == n-1 }),
		"every 2nd word": kerneltest.Bitmap(n, func(i int) bool { return i/64%2 == 1 }),
	}
}

func TestPositions(t *testing.T) {
	r := kerneltest.Open(t)
	for _, n := range kerneltest.Sizes {
		for name, mask := range masks(n) {
			what := fmt.Sprintf("%s of %d", name, n)
			const base = 1 << 40
			want := kerneltest.SetBits(mask, base)
			b, count := kerneltest.Upload(r, mask), kerneltest.Poisoned[int64](r, 1)
			out := kerneltest.Poisoned[int64](r, len(want))
			r.OK(r.Set.Positions(r.Stream, b, base, out, count))
			kerneltest.SameItems(t, what, kerneltest.Read(r, out), want)
			kerneltest.SameItems(t, what+", count", kerneltest.Read(r, count), []int64{int64(len(want))})

			exact, err := r.Set.AllocPositions(r.Stream, b, base)
			r.OK(err)
			kerneltest.SameItems(t, what+", allocated", kerneltest.Read(r, exact), want)
			r.OK(exact.Free(r.Stream))

			if got, err := r.Set.CountBits(r.Stream, b); err != nil || got != int64(len(want)) {
				t.Fatalf("%s: counted %d, %v, want %d", what, got, err, len(want))
			}
		}
	}
}

// Too little room takes the first positions and leaves what lies after it alone.
func TestPositionsWithoutRoom(t *testing.T) {
	r := kerneltest.Open(t)
	mask := masks(40000)["some"]
	want := kerneltest.SetBits(mask, 0)
	b, count := kerneltest.Upload(r, mask), kerneltest.Poisoned[int64](r, 1)
	for _, room := range []int{0, 1, len(want) / 2, len(want) - 1} {
		out := kerneltest.Poisoned[int64](r, room+8)
		r.OK(r.Set.Positions(r.Stream, b, 0, out.Slice(0, room), count))
		got := kerneltest.Read(r, out)
		kerneltest.SameItems(t, "positions", got[:room], want[:room])
		for _, v := range got[room:] {
			if uint64(v) != 0xa5a5a5a5a5a5a5a5 {
				t.Fatalf("room for %d: %d behind it", room, v)
			}
		}
		kerneltest.SameItems(t, "count", kerneltest.Read(r, count), []int64{int64(len(want))})
	}
}

// compacted compares Compact with a plain selection.
func compacted[T kernels.Element](r *kerneltest.Rig, n int, make func(i int) T) {
	r.Helper()
	var in []T
	for i := range n {
		in = append(in, make(i))
	}
	b := kerneltest.Upload(r, in)
	for name, mask := range masks(n) {
		var want []T
		for _, i := range kerneltest.SetBits(mask, 0) {
			want = append(want, in[i])
		}
		out, count := kerneltest.Poisoned[T](r, len(want)), kerneltest.Poisoned[int64](r, 1)
		r.OK(kernels.Compact(r.Set, r.Stream, b, kerneltest.Upload(r, mask), out, count))
		what := fmt.Sprintf("%s of %d %T", name, n, *new(T))
		kerneltest.SameItems(r, what, kerneltest.Read(r, out), want)
		kerneltest.SameItems(r, what+", count", kerneltest.Read(r, count), []int64{int64(len(want))})
	}
}

func TestCompact(t *testing.T) {
	r := kerneltest.Open(t)
	for _, n := range []int{0, 1, 31, 32, 33, 63, 64, 65, 16383, 16384, 16385, 40000} {
		compacted(r, n, func(i int) uint8 { return uint8(i * 7) })
		compacted(r, n, func(i int) int32 { return int32(i - 1000) })
		compacted(r, n, func(i int) uint32 { return uint32(i) << 15 })
		compacted(r, n, func(i int) int64 { return int64(i) << 33 })
		compacted(r, n, func(i int) float64 { return float64(i) / 3 })
	}
}

func TestCompactRefuses(t *testing.T) {
	r := kerneltest.Open(t)
	in, mask := kerneltest.Upload(r, make([]uint8, 100)), kerneltest.Upload(r, make([]uint64, 3))
	out, count := kerneltest.Poisoned[uint8](r, 100), kerneltest.Poisoned[int64](r, 2)
	tests := []struct {
		name string
		err  error
	}{
		{"a long mask", kernels.Compact(r.Set, r.Stream, in, mask, out, gpu.Buffer[int64]{})},
		{"a short mask", kernels.Compact(r.Set, r.Stream, in, mask.Slice(0, 1), out, gpu.Buffer[int64]{})},
		{"two counts", kernels.Compact(r.Set, r.Stream, in, mask.Slice(0, 2), out, count)},
		{"two counts of positions", r.Set.Positions(r.Stream, mask, 0, count, count)},
	}
	for _, tt := range tests {
		if tt.err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}
