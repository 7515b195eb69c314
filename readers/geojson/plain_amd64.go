package geojson

import (
	"unsafe"

	processor "golang.org/x/sys/cpu"
)

// havePlain reports whether this processor runs plainPositions.
var havePlain = processor.X86.HasAVX2 && processor.X86.HasBMI1 && processor.X86.HasBMI2

// plainTables are the constants of plainPositions.
type plainTables struct {
	zeros  [32]byte // '0'
	nines  [32]byte // 9
	pairs  [16]int8 // 10, 1: two digits to a number, in eight 16-bit lanes
	fours  [8]int16 // 100, 1: four digits, in four 32-bit lanes
	eights [8]int16 // 10000, 1: eight digits, in two
	powers [16]float64
	spread [8][16][16]byte // for l digits before the point and n in all: which byte of the text is the k-th of 16 digits
}

// plain is made once, and only read.
var plain = makePlain()

func makePlain() *plainTables {
	t := &plainTables{}
	for i := range t.zeros {
		t.zeros[i], t.nines[i] = '0', 9
	}
	for i := range t.pairs {
		t.pairs[i] = []int8{10, 1}[i&1]
	}
	for i := range t.fours {
		t.fours[i] = []int16{100, 1}[i&1]
		t.eights[i] = []int16{10000, 1}[i&1]
	}
	power := 1.0
	for i := range t.powers {
		t.powers[i] = power
		power *= 10 // exact up to 10^22
	}
	for l := 1; l <= 8; l++ {
		for n := l + 1; n < 16; n++ {
			for k := range 16 {
				digit := k - (16 - n)
				from := byte(0x80) // the shuffle writes 0
				switch {
				case digit >= l:
					from = byte(digit + 1) // behind the point
				case digit >= 0:
					from = byte(digit)
				}
				t.spread[l-1][n][k] = from
			}
		}
	}
	return t
}

// plainPositions reads positions of two numbers, each with 1 to 8 digits before a point, at least one behind it and at most 15 in all, with one blank at most
// at each place, from text on, which is at a bracket. They must be separated by a comma and at most one blank.
//
//	text    at least 64 bytes behind the last position must be readable
//	xs, ys  room for room numbers each
//	read    bytes passed: with inside set to the bracket of a position that is not plain, else to the byte behind a position, with
//	        no plain position behind it
//
// A number of 15 digits fits the 53 bits of a float64's significand, and its power of ten is exact: one division rounds once. Digits are found with a
// mask of 64 bytes and turned to integers two, four and eight at a time (after Muła and Lemire 2018, with a shuffle that drops the point).
//
//go:noescape
func plainPositions(t *plainTables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)
