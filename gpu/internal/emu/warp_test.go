//go:build linux && cgo

package emu

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// Block sizes with a last warp that is full, missing, or one lane long.
var blockSizes = []int{1, 31, 32, 33, 64, 1000, 1024}

// eachShape runs f for blocks of every size, three to a grid.
func eachShape(f func(grid, block int, r *rand.Rand)) {
	for _, block := range blockSizes {
		f(3, block, rand.New(rand.NewPCG(1, uint64(block))))
	}
}

func shape(what string, block int) string { return fmt.Sprintf("%s, blocks of %d", what, block) }

func random[T uint32 | uint64](r *rand.Rand, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(r.Uint64())
	}
	return v
}

// warpOf gives the threads of the warp of thread i that exist, as numbers in the grid: lanes from
// first on.
func warpOf(i, block int) (first, lanes int) {
	inBlock := i % block
	first = i - inBlock%32
	return first, min(32, block-(inBlock-inBlock%32))
}

func TestVotes(t *testing.T) {
	eachVariant(t, "warp.cu", func(b *bench) {
		eachShape(func(grid, block int, r *rand.Rand) {
			n := grid * block
			in := random[uint32](r, n)
			want := make([]uint32, 3*n)
			for i := range in {
				if in[i]&0x80 != 0 {
					continue
				}
				var yes, no uint32
				first, lanes := warpOf(i, block)
				for l := range lanes {
					if v := in[first+l]; v&0x81 == 1 {
						yes |= 1 << l
					} else if v&0x81 == 0 {
						no |= 1 << l
					}
				}
				want[3*i], want[3*i+1], want[3*i+2] = yes, truth(yes != 0), truth(no == 0)
			}
			out := b.alloc(12 * n)
			b.launch("votes", grid, block, upload(b, in), uint64(out))
			equal(b, shape("votes", block), download[uint32](b, uint64(out), 3*n), want)
		})
	})
}

func truth(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func TestLanesExitBetweenVotes(t *testing.T) {
	eachVariant(t, "warp.cu", func(b *bench) {
		eachShape(func(grid, block int, r *rand.Rand) {
			const rounds = 9
			n := grid * block
			in, want := make([]uint32, n), make([]uint32, n)
			for i := range in {
				in[i] = r.Uint32N(rounds + 2)
			}
			for i := range in {
				first, lanes := warpOf(i, block)
				for round := range min(in[i], rounds) {
					left := uint32(0)
					for l := range lanes {
						left += truth(in[first+l] > round)
					}
					want[i] = want[i]*31 + left
				}
			}
			out := b.alloc(4 * n)
			b.launch("dwindle", grid, block, upload(b, in), uint64(out), rounds)
			equal(b, shape("dwindle", block), download[uint32](b, uint64(out), n), want)
		})
	})
}

// shuffled is what lane reads from source, and poison where no lane is there.
func shuffled(in []uint64, first, lanes, source int) uint64 {
	if source >= lanes {
		return poison * 0x0101010101010101
	}
	return in[first+source]
}

func TestShuffles(t *testing.T) {
	eachVariant(t, "warp.cu", func(b *bench) {
		eachShape(func(grid, block int, r *rand.Rand) {
			n := grid * block
			in := random[uint64](r, n)
			source := make([]int32, n)
			for i := range source {
				source[i] = r.Int32N(80) - 40
			}
			for width := 1; width <= 32; width *= 2 {
				want := make([]uint64, 6*n)
				for i := range in {
					first, lanes := warpOf(i, block)
					lane, s := i-first, int(source[i])
					start := lane - lane%width
					d := s & 31
					up, down, xor, next := lane, lane, lane, lane
					if lane-d >= start {
						up = lane - d
					}
					if lane+d < start+width {
						down = lane + d
					}
					if lane^d < start+width {
						xor = lane ^ d
					}
					if lane^1 < start+width {
						next = lane ^ 1
					}
					index := start + ((s%width)+width)%width
					for k, from := range []int{index, up, down, xor, index, next} {
						want[6*i+k] = shuffled(in, first, lanes, from)
					}
					want[6*i+4] &= 1<<32 - 1
				}
				out := b.alloc(48 * n)
				b.launch("shuffles", grid, block, upload(b, in), upload(b, source), uint64(width), uint64(out))
				equal(b, shape(fmt.Sprint("shuffles of width ", width), block),
					download[uint64](b, uint64(out), 6*n), want)
			}
		})
	})
}

func TestGroupsOfLanes(t *testing.T) {
	eachVariant(t, "warp.cu", func(b *bench) {
		eachShape(func(grid, block int, r *rand.Rand) {
			n := grid * block
			key, value, want := make([]uint32, n), random[uint32](r, n), make([]uint32, 4*n)
			for i := range key {
				key[i] = r.Uint32N(5)
			}
			for i := range key {
				var sum, group, odd, largest uint32
				first, lanes := warpOf(i, block)
				for l := range lanes {
					if v := value[first+l]; key[first+l] == key[i] {
						sum += v
						group |= 1 << l
						odd |= v & 1 << l
						largest = max(largest, v)
					}
				}
				for range key[i] + 1 {
					want[4*i] = want[4*i]*3 + sum
				}
				want[4*i+1], want[4*i+2], want[4*i+3] = group, odd, largest
			}
			out := b.alloc(16 * n)
			b.launch("groups", grid, block, upload(b, key), upload(b, value), uint64(out))
			equal(b, shape("groups", block), download[uint32](b, uint64(out), 4*n), want)
		})
	})
}

func TestMatches(t *testing.T) {
	eachVariant(t, "warp.cu", func(b *bench) {
		eachShape(func(grid, block int, r *rand.Rand) {
			n := grid * block
			in, want := make([]uint64, n), make([]uint32, 6*n)
			for i := range in {
				in[i] = r.Uint64N(3)<<32 | r.Uint64N(3)
				if i/block == 1 && r.IntN(50) == 0 {
					in[i] |= 1 << 60
				}
			}
			for i := range in {
				first, lanes := warpOf(i, block)
				same := true
				for l := range lanes {
					v := in[first+l]
					want[6*i] |= truth(v == in[i]) << l
					want[6*i+1] |= truth(uint32(v) == uint32(in[i])) << l
					same = same && v>>60 == in[first]>>60
				}
				if same {
					want[6*i+2], want[6*i+3] = uint32(1<<lanes-1), 1
				}
				if lanes == 1 {
					want[6*i+4], want[6*i+5] = 1, 1
				}
			}
			out := b.alloc(24 * n)
			b.launch("matches", grid, block, upload(b, in), uint64(out))
			equal(b, shape("matches", block), download[uint32](b, uint64(out), 6*n), want)
		})
	})
}

func TestReductions(t *testing.T) {
	eachVariant(t, "warp.cu", func(b *bench) {
		eachShape(func(grid, block int, r *rand.Rand) {
			n := grid * block
			in, want := random[uint32](r, n), make([]uint32, 0, 9*n)
			for i := range in {
				first, lanes := warpOf(i, block)
				v := in[first]
				sum, low, high, and, or, xor := v, v, v, v, v, v
				slow, shigh := int32(v), int32(v)
				for _, v := range in[first+1 : first+lanes] {
					sum, low, high, and, or, xor = sum+v, min(low, v), max(high, v), and&v, or|v, xor^v
					slow, shigh = min(slow, int32(v)), max(shigh, int32(v))
				}
				want = append(want, sum, low, high, uint32(slow), uint32(shigh), and, or, xor, sum)
			}
			out := b.alloc(36 * n)
			b.launch("reductions", grid, block, upload(b, in), uint64(out))
			equal(b, shape("reductions", block), download[uint32](b, uint64(out), 9*n), want)
		})
	})
}

func TestSyncwarpFromTwoPlaces(t *testing.T) {
	eachVariant(t, "warp.cu", func(b *bench) {
		out := b.alloc(4 * 32)
		b.launch("meet", 1, 32, uint64(out))
		want := make([]uint32, 32)
		for i := range want {
			other := uint32(i+16) % 32
			want[i] = other * other
		}
		equal(b, "meet", download[uint32](b, uint64(out), 32), want)
	})
}

func TestActivemaskIsTheLaneItself(t *testing.T) {
	eachVariant(t, "warp.cu", func(b *bench) {
		out := b.alloc(4 * 40)
		b.launch("active", 1, 40, uint64(out))
		for i, mask := range download[uint32](b, uint64(out), 40) {
			if bits.OnesCount32(mask) != 1 || mask>>(i%32)&1 == 0 {
				b.Errorf("thread %d: %#x", i, mask)
			}
		}
	})
}
