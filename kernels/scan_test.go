package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
)

// scanSizes are lengths around rows (128), warps (512), tiles (4096), what one block takes (65536),
// and what is a row for each of its warps.
var scanSizes = []int{
	0, 1, 3, 4, 5, 31, 32, 33, 63, 64, 65, 127, 128, 129, 511, 512, 513, 4095, 4096,
	4097, 8193, 40000, 65535, 65536, 65537, 70001,
}

// scanned runs ExclusiveScan over in, into n and into n+1 elements and into no elements.
func scanned[T kernels.Count](r *kerneltest.Rig, what string, in []T) {
	r.Helper()
	want := kerneltest.ExclusiveSums(in)
	n := len(in)
	b, total := kerneltest.Upload(r, in), kerneltest.Poisoned[int64](r, 1)
	for _, room := range []int{n, n + 1, 0} {
		out := kerneltest.Poisoned[int64](r, room)
		r.OK(kernels.ExclusiveScan(r.Set, r.Stream, b, out, total))
		kerneltest.SameItems(r, fmt.Sprintf("%s of %d, room for %d", what, n, room), kerneltest.Read(r, out),
			want[:room])
		kerneltest.SameItems(r, fmt.Sprintf("%s of %d, total", what, n), kerneltest.Read(r, total), want[n:])
	}
}

func TestExclusiveScan(t *testing.T) {
	r := kerneltest.Open(t)
	for _, n := range scanSizes {
		rng := rand.New(rand.NewPCG(uint64(n), 5))
		narrow, unsigned, wide := make([]int32, n), make([]uint32, n), make([]int64, n)
		for i := range n {
			narrow[i], unsigned[i], wide[i] = int32(rng.Uint32()), rng.Uint32(), int64(rng.Uint64()>>20)-1<<42
		}
		scanned(r, "int32", narrow)
		scanned(r, "uint32", unsigned)
		scanned(r, "int64", wide)
	}
}

func TestExclusiveScanBeyond32Bits(t *testing.T) {
	r := kerneltest.Open(t)
	scanned(r, "largest int32", slices.Repeat([]int32{math.MaxInt32}, 9000))
	scanned(r, "least int32", slices.Repeat([]int32{math.MinInt32}, 9000))
	scanned(r, "largest uint32", slices.Repeat([]uint32{math.MaxUint32}, 9000))
	scanned(r, "large int64", slices.Repeat([]int64{math.MaxInt64 / 9000}, 9000))
}

// More tiles of 4096 elements than a block adds up by itself, all of one value.
func TestExclusiveScanOfManyTiles(t *testing.T) {
	r := kerneltest.Open(t)
	const n = 4096*4096 + 4097
	garbage := uint32(0xa5a5a5a5)
	value := int64(int32(garbage))
	in, out, total := kerneltest.Poisoned[int32](r, n), kerneltest.Poisoned[int64](r, n+1),
		kerneltest.Poisoned[int64](r, 1)
	r.OK(kernels.ExclusiveScan(r.Set, r.Stream, in, out, total))
	kerneltest.SameItems(t, "total", kerneltest.Read(r, total), []int64{n * value})
	for _, from := range []int{0, 4096*4095 - 100, 4096*4096 - 100, n + 1 - 200} {
		for i, got := range kerneltest.Read(r, out.Slice(from, from+200)) {
			if want := int64(from+i) * value; got != want {
				t.Fatalf("element %d is %d, want %d", from+i, got, want)
			}
		}
	}
}

func TestExclusiveScanInPlace(t *testing.T) {
	r := kerneltest.Open(t)
	for _, n := range scanSizes {
		in := make([]int64, n)
		for i := range in {
			in[i] = int64(i*i%1000) - 300
		}
		want := kerneltest.ExclusiveSums(in)
		b := kerneltest.Upload(r, append(in, -1))
		r.OK(kernels.ExclusiveScan(r.Set, r.Stream, b.Slice(0, n), b.Slice(0, n), gpu.Buffer[int64]{}))
		kerneltest.SameItems(t, "n sums", kerneltest.Read(r, b)[:n], want[:n])
		r.OK(gpu.Upload(r.Stream, b, in))
		r.OK(kernels.ExclusiveScan(r.Set, r.Stream, b.Slice(0, n), b, gpu.Buffer[int64]{}))
		kerneltest.SameItems(t, "n+1 sums", kerneltest.Read(r, b), want)
	}
}

// Views start at any element, where four elements can't be loaded at once.
func TestExclusiveScanOfViews(t *testing.T) {
	r := kerneltest.Open(t)
	in := make([]int32, 9003)
	for i := range in {
		in[i] = int32(i % 11)
	}
	b, out := kerneltest.Upload(r, in), kerneltest.Poisoned[int64](r, len(in)+1)
	for _, from := range []int{1, 2, 3} {
		n := 9000
		r.OK(kernels.ExclusiveScan(r.Set, r.Stream, b.Slice(from, from+n), out.Slice(1, n+2), gpu.Buffer[int64]{}))
		kerneltest.SameItems(t, fmt.Sprintf("from element %d", from), kerneltest.Read(r, out)[1:n+2],
			kerneltest.ExclusiveSums(in[from:from+n]))
	}
}

func TestExclusiveScanRefuses(t *testing.T) {
	r := kerneltest.Open(t)
	in, b := kerneltest.Upload(r, make([]int32, 100)), kerneltest.Poisoned[int64](r, 200)
	none := gpu.Buffer[int64]{}
	tests := []struct {
		name string
		err  error
	}{
		{"a short output", kernels.ExclusiveScan(r.Set, r.Stream, in, b.Slice(0, 99), none)},
		{"a long output", kernels.ExclusiveScan(r.Set, r.Stream, in, b.Slice(0, 102), none)},
		{"two totals", kernels.ExclusiveScan(r.Set, r.Stream, in, none, b.Slice(0, 2))},
	}
	for _, tt := range tests {
		if tt.err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}
