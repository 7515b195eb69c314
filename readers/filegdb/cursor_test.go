package filegdb

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// appendVaruint writes an unsigned integer.
func appendVaruint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// appendVarint writes a signed integer.
func appendVarint(b []byte, v int64) []byte {
	u, first := uint64(v), byte(0)
	if v < 0 {
		u, first = -u, 0x40
	}
	first |= byte(u & 0x3f)
	if u >>= 6; u == 0 {
		return append(b, first)
	}
	return binary.AppendUvarint(append(b, first|0x80), u)
}

// someIntegers are of every number of bytes.
func someIntegers(r *rand.Rand, n int) (all []int64) {
	for range n {
		v := int64(r.Uint64() >> (2 + r.UintN(62)))
		if r.UintN(2) == 0 {
			v = -v
		}
		all = append(all, v)
	}
	return append(all, 0, -1, 63, 64, -63, -64, 1<<27-1, 1<<27, -1<<27, 1<<28, 1<<61)
}

func TestIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		all := someIntegers(r, 100)
		var b []byte
		for _, v := range all {
			b = appendVarint(b, v)
		}
		c := cursor{b: b}
		for i, want := range all {
			if got := signed(c.varuint()); got != want || c.err != nil {
				t.Fatalf("integer %d is %d, want %d: %v", i, got, want, c.err)
			}
		}
		if c.varuint(); c.err == nil {
			t.Fatal("there is one more")
		}
	}
}

func TestPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		all := someIntegers(r, 101)
		for i := range all {
			all[i] >>= 8 // their sum fits
			if r.UintN(8) > 0 {
				all[i] %= 1 << 20
			}
		}
		n := len(all) / 2
		var b []byte
		for _, v := range all {
			b = appendVarint(b, v)
		}
		x, y := make([]float64, n), make([]float64, n)
		c := cursor{b: b}
		if !c.pairs(x, y, 1024, -400, 90) || c.left() != 0 {
			t.Fatal(c.err)
		}
		var sum [2]int64
		for i := range all {
			sum[i%2] += all[i]
			got, want := [2][]float64{x, y}[i%2][i/2], float64(sum[i%2])/1024+[2]float64{-400, 90}[i%2]
			if math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("ordinate %d is %v, want %v", i, got, want)
			}
		}
		for cut := range min(len(b), 40) {
			c := cursor{b: b[:len(b)-1-cut]}
			if c.pairs(x, y, 1, 0, 0) {
				t.Fatal("positions that are cut are read")
			}
		}
	}
}

func TestLongIntegers(t *testing.T) {
	for n := range 12 {
		b := append(bytes.Repeat([]byte{0xff}, n), 1, 0, 0, 0, 0, 0, 0, 0, 0)
		c := cursor{b: b}
		if c.varuint(); (c.err == nil) != (n < 9) {
			t.Errorf("%d bytes: %v", n+1, c.err)
		}
	}
}
