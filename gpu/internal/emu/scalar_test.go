//go:build linux && cgo

package emu

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// bytePerm is PTX's prmt in its default mode, written from its description (PTX ISA, "prmt").
func bytePerm(x, y, selector uint32) (r uint32) {
	var b [8]byte
	for i := range 4 {
		b[i], b[4+i] = byte(x>>(8*i)), byte(y>>(8*i))
	}
	for i := range 4 {
		pick := selector >> (4 * i) & 0xf
		v := b[pick&7]
		if pick&8 != 0 {
			v = byte(int8(v) >> 7)
		}
		r |= uint32(v) << (8 * i)
	}
	return r
}

func mulHigh64(a, b int64) uint64 {
	p := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	return uint64(p.Rsh(p, 64).Int64())
}

func intrinsics(a, b uint64) []uint64 {
	a0, a1, b0 := uint32(a), uint32(a>>32), uint32(b)
	zeros := func(n, none int) uint64 { // 1 + the lowest bit, 0 if there is none
		if n == none {
			return 0
		}
		return uint64(n + 1)
	}
	high, _ := bits.Mul64(a, b)
	high32, _ := bits.Mul32(a0, b0)
	clampL, clampR := a0, a1
	if s := b0 & 63; s < 32 {
		clampL, clampR = uint32(a<<s>>32), uint32(a>>s)
	}
	return []uint64{
		uint64(bits.OnesCount32(a0)),
		uint64(bits.OnesCount64(a)),
		uint64(bits.LeadingZeros32(a0)),
		uint64(bits.LeadingZeros64(a)),
		zeros(bits.TrailingZeros32(a0), 32),
		zeros(bits.TrailingZeros64(a), 64),
		uint64(bits.Reverse32(a0)),
		bits.Reverse64(a),
		uint64(bytePerm(a0, a1, b0)),
		uint64(uint32(a << (b0 & 31) >> 32)),
		uint64(uint32(a >> (b0 & 31))),
		uint64(clampL),
		uint64(clampR),
		uint64(high32),
		uint64(uint32(int64(int32(a0)) * int64(int32(b0)) >> 32)),
		high,
		mulHigh64(int64(a), int64(b)),
		min(a, b),
		uint64(max(int64(a), int64(b))),
		math.Float64bits(float64(float64(a0)*0.1) + float64(b0)),
		math.Float64bits(math.FMA(float64(a0), 0.1, float64(b0))),
		math.Float64bits(float64(a)),
		a,
		uint64(a0 & 0x7fffff),
	}
}

func TestIntrinsics(t *testing.T) {
	eachVariant(t, "scalar.cu", func(b *bench) {
		r := rand.New(rand.NewPCG(5, 6))
		edges := []uint64{0, 1, 0x80000000, 0xffffffff, 1 << 32, 1 << 63, math.MaxUint64, math.MaxInt64}
		var x, y []uint64
		for _, a := range edges {
			for _, b := range edges {
				x, y = append(x, a), append(y, b)
			}
		}
		for range 5000 {
			x, y = append(x, r.Uint64()>>r.IntN(64)), append(y, r.Uint64()>>r.IntN(64))
		}
		var want []uint64
		for i := range x {
			want = append(want, intrinsics(x[i], y[i])...)
		}
		out := b.alloc(8 * len(want))
		b.launch("intrinsics", (len(x)+63)/64, 64, upload(b, x), upload(b, y), uint64(out), uint64(len(x)))
		got := download[uint64](b, uint64(out), len(want))
		for i := range want {
			if got[i] != want[i] {
				b.Fatalf("out[%d] of %#x, %#x: got %#x, want %#x", i%24, x[i/24], y[i/24], got[i], want[i])
			}
		}
	})
}

func TestAtomics(t *testing.T) {
	eachVariant(t, "scalar.cu", func(b *bench) {
		in := random[uint64](rand.New(rand.NewPCG(7, 8)), 20000)
		u := []uint32{0, math.MaxUint32, 0, 0, math.MaxUint32, 0, 0}
		s := []int32{0, -1, 0, 0, math.MaxInt32, math.MinInt32}
		w := []uint64{0, math.MaxUint64, 0, 0, math.MaxUint64, 0, 0, 0, 0}
		l := []int64{0, 0, 0, 0, math.MaxInt64, math.MinInt64}
		pu, ps, pw, pl := upload(b, u), upload(b, s), upload(b, w), upload(b, l)
		for _, v := range in {
			v32 := uint32(v)
			u = []uint32{u[0] + v32, u[1] & v32, u[2] | v32, u[3] ^ v32, min(u[4], v32), max(u[5], v32), u[6] - v32}
			i32 := int32(v32)
			s = []int32{
				s[0] + int32(v&0xffff) - 0x8000, s[1] & i32, s[2] | i32, s[3] ^ i32, min(s[4], i32),
				max(s[5], i32),
			}
			w = []uint64{w[0] + v, w[1] & v, w[2] | v, w[3] ^ v, min(w[4], v), max(w[5], v), w[6] + v, 0, w[8] + v}
			l[4], l[5] = min(l[4], int64(v)), max(l[5], int64(v))
		}
		b.launch("atomics", (len(in)+127)/128, 128, upload(b, in), uint64(len(in)), pu, ps, pw, pl)
		equal(b, "u32", download[uint32](b, pu, len(u)), u)
		equal(b, "i32", download[int32](b, ps, len(s)), s)
		equal(b, "i64", download[int64](b, pl, len(l)), l)
		got := download[uint64](b, pw, len(w))
		if !slices.Contains(in, got[7]) {
			b.Errorf("the last exchange left %#x, which nobody gave", got[7])
		}
		got[6], got[7] = got[6]+got[7], 0
		equal(b, "u64", got, w)
	})
}

func TestVectors(t *testing.T) {
	eachVariant(t, "scalar.cu", func(b *bench) {
		in := random[uint32](rand.New(rand.NewPCG(9, 10)), 4*32)
		want, pairs := make([]uint32, len(in)), make([]uint64, len(in)/2)
		for i, v := range in {
			want[i^3] = v
			if i%4 < 2 {
				pairs[i/4*2+i%4] = uint64(v)
			}
		}
		out, pair, sizes := b.alloc(4*len(in)), b.alloc(8*len(pairs)), b.alloc(4*11)
		b.launch("vectors", 1, 32, upload(b, in), uint64(out), uint64(pair), uint64(sizes))
		equal(b, "uint4", download[uint32](b, uint64(out), len(in)), want)
		equal(b, "ulonglong2", download[uint64](b, uint64(pair), len(pairs)), pairs)
		equal(b, "sizes", download[uint32](b, uint64(sizes), 11), []uint32{3, 4, 8, 8, 12, 16, 16, 16, 5, 6, 1})
	})
}
