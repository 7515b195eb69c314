package number

import (
	"unsafe"

	processor "golang.org/x/sys/cpu"
)

var haveAVX2 = processor.X86.HasAVX2 && processor.X86.HasBMI1 && processor.X86.HasBMI2

func decimals(out []float64, q unsafe.Pointer, starts, first []uint32) (n int, valid uint64) {
	if !haveAVX2 {
		return decimalsPlain(out, q, starts, first)
	}
	return decimalsAVX2(decimalConstants, unsafe.SliceData(out), len(out), q, unsafe.SliceData(starts),
		unsafe.SliceData(first))
}

// constants of decimalsAVX2, at the offsets that it knows.
type constants struct {
	zeros, nines [16]byte
	pairs        [16]int8   // 10, 1: two digits to a number, in eight 16-bit lanes
	fours        [8]int16   // 100, 1: four digits, in four 32-bit lanes
	eights       [8]int16   // 10000, 1: eight digits, in two
	edges        [20]uint32 // bits of the first and the last of n bytes
	powers       [16]float64
	// for n digits before the point and in all: which byte of the text is the k-th of 16
	// digits
	spread [16][16][16]byte
}

var decimalConstants = makeConstants()

func makeConstants() *constants {
	c := &constants{}
	for i := range 16 {
		c.zeros[i], c.nines[i], c.pairs[i] = '0', 9, []int8{10, 1}[i&1]
		c.edges[i+1], c.powers[i] = 1|1<<i, exactTens[i]
	}
	for i := range 8 {
		c.fours[i], c.eights[i] = []int16{100, 1}[i&1], []int16{10000, 1}[i&1]
	}
	for before := 1; before < 16; before++ {
		for n := before; n < 16; n++ {
			for k := range 16 {
				digit := k - (16 - n)
				from := byte(0x80) // the shuffle writes 0
				switch {
				case digit >= before:
					from = byte(digit + 1) // after the point
				case digit >= 0:
					from = byte(digit)
				}
				c.spread[before][n][k] = from
			}
		}
	}
	return c
}

// decimalsAVX2 is decimals with count numbers. Where a number begins and ends is known, so
// that one does not wait for the one before, and no branch depends on lengths or on signs. Digits
// become integers two, four and eight at a time (after Muła and Lemire 2018), and one division
// rounds once: 15 digits fit the 53 bits of a float64's significand, and their power of ten is
// exact.
//
//go:noescape
func decimalsAVX2(c *constants, out *float64, count int, text unsafe.Pointer, starts, first *uint32) (n int,
	valid uint64)
