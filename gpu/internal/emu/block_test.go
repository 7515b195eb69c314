//go:build linux && cgo

package emu

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBlockSum(t *testing.T) {
	eachVariant(t, "block.cu", func(b *bench) {
		eachShape(func(grid, block int, r *rand.Rand) {
			in := random[uint32](r, grid*block)
			want := make([]uint32, len(in))
			for i := range in {
				first := i - i%block
				for _, v := range in[first : first+block] {
					want[i] += v
				}
			}
			out := b.alloc(4 * len(in))
			b.launch("block_sum", grid, block, upload(b, in), uint64(out))
			equal(b, shape("sum", block), download[uint32](b, uint64(out), len(in)), want)
		})
	})
}

func TestBarriersCount(t *testing.T) {
	eachVariant(t, "block.cu", func(b *bench) {
		eachShape(func(grid, block int, r *rand.Rand) {
			const rounds = 6
			in := random[uint32](r, grid*block)
			for i := range in {
				in[i] |= truth(i%3 > 0) * 0xffff00 // so that all have a bit now and then
				in[i] &^= truth(block == 1) * 0x80
			}
			want := make([]uint32, len(in))
			for i := range in {
				if in[i]&0x80 != 0 {
					continue
				}
				first := i - i%block
				for round := range rounds {
					count, some, all := uint32(0), uint32(0), uint32(1)
					for _, v := range in[first : first+block] {
						if v&0x80 != 0 {
							continue
						}
						count += v >> round & 1
						some |= v >> round >> 1 & 1
						all &= v >> round >> 2 & 1
					}
					want[i] = ((want[i]*31+count)*31+some)*31 + all
				}
			}
			out := b.alloc(4 * len(in))
			b.launch("counts", grid, block, upload(b, in), uint64(out), rounds)
			equal(b, shape("counts", block), download[uint32](b, uint64(out), len(in)), want)
		})
	})
}

// Shared memory holds poison when a block begins, and nothing of the block before it.
func TestSharedMemoryIsPoisoned(t *testing.T) {
	eachVariant(t, "block.cu", func(b *bench) {
		const grid = 50
		out := b.alloc(64 * grid)
		for range 2 {
			b.must(b.try("unwritten", grid, 1, 32, uint64(out)))
			equal(b, "unwritten", download[uint32](b, uint64(out), 16*grid),
				slices.Repeat([]uint32{0xa5a5a5a5}, 16*grid))
		}
	})
}

func TestStaticSharedMemory(t *testing.T) {
	b := newBench(t, "block.cu", variant{})
	for _, tt := range []struct {
		name string
		want int
	}{
		{"block_sum", 4096},
		{"counts", 0},
		{"unwritten", 32},
		{"scan", 256 + 16},
		{"largest", 48 << 10},
	} {
		r, err := b.Resources(b.kernel(tt.name))
		b.must(err)
		if r.SharedBytes != tt.want {
			t.Errorf("%s: %d bytes, want %d", tt.name, r.SharedBytes, tt.want)
		}
	}
	out := b.alloc(4)
	b.launch("largest", 1, 1, uint64(out))
	equal(b, "largest", download[uint32](b, uint64(out), 1), []uint32{12287})
	if err := b.try("largest", 1, 1, 1, uint64(out)); err == nil {
		t.Error("a byte more than 48 KiB was not refused")
	}
	if _, err := b.Function(b.module, "too_large"); err == nil {
		t.Error("static shared memory over 48 KiB was not refused")
	}
}

func TestLookBackNeedsBlocksInOrder(t *testing.T) {
	for _, v := range variants() {
		if v.options.Order != InOrder {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			b := newBench(t, "block.cu", v)
			r := rand.New(rand.NewPCG(2, 3))
			const block = 96
			in := random[uint32](r, 20*block+5)
			want, sum := make([]uint64, len(in)), uint64(0)
			for i, v := range in {
				want[i] = sum
				sum += uint64(v)
			}
			out, state := b.alloc(8*len(in)), b.alloc(8*21)
			b.launch("scan", 21, block, upload(b, in), uint64(out), uint64(len(in)), uint64(state))
			equal(b, "scan", download[uint64](b, uint64(out), len(in)), want)
		})
	}
}

// Every order starts each block and each thread once; on one OS thread the tickets show which.
func TestOrders(t *testing.T) {
	const grid, block = 12, 45
	tickets := func(o Order) []uint32 {
		b := newBench(t, "block.cu", variant{options: Options{Order: o, Threads: 1}})
		out := b.alloc(4 * grid * block)
		b.launch("tickets", grid, block, uint64(b.alloc(4)), uint64(out))
		return download[uint32](b, uint64(out), grid*block)
	}
	forward := make([]uint32, grid*block)
	for i := range forward {
		forward[i] = uint32(i)
	}
	backward := slices.Clone(forward)
	slices.Reverse(backward)
	if got := tickets(InOrder); !slices.Equal(got, forward) {
		t.Errorf("in order: %v", got)
	}
	if got := tickets(Reverse); !slices.Equal(got, backward) {
		t.Errorf("reverse: %v", got)
	}
	one, again, other := tickets(Shuffled(7)), tickets(Shuffled(7)), tickets(Shuffled(8))
	if !slices.Equal(one, again) || slices.Equal(one, other) || slices.Equal(one, forward) {
		t.Errorf("shuffled by 7: %v, again: %v, by 8: %v", one, again, other)
	}
	slices.Sort(one)
	equal(&bench{T: t}, "shuffled tickets", one, forward)
}

func TestManyBlocks(t *testing.T) {
	eachVariant(t, "block.cu", func(b *bench) {
		for _, grid := range []uint64{1, 2, 3, 97, 1 << 16, 1<<17 + 6} {
			sum := b.alloc(8)
			b.launch("visits", int(grid), 1, uint64(sum))
			equal(b, "visits", download[uint64](b, uint64(sum), 1), []uint64{grid * (grid + 1) / 2})
		}
	})
}
