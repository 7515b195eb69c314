package positions

import (
	"math"
	"unsafe"

	processor "golang.org/x/sys/cpu"
)

// haveWide reports whether this processor reads two positions at a time.
var haveWide = Have && processor.X86.HasAVX512F && processor.X86.HasAVX512BW && processor.X86.HasAVX512DQ &&
	processor.X86.HasAVX512VL &&
	processor.X86.HasAVX512VBMI2

// wideTables are the constants of wideJSON and wideWKT, at the offsets that they know.
type wideTables struct {
	zero, ten, minus, blank, point byte

	_        [11]byte
	expected [16]byte // what is in two positions, and before a third, next to digits, signs and blanks
	pairs    [2]int8
	_        [2]byte
	fours    [2]int16
	eights   [2]int16
	_        [4]byte
	eight    uint64 // 10^8
	sign     uint64
	order    [8]int64      // of the numbers among eight lanes
	fields   [4][32]uint64 // for each number and its length: its digits among 64, 16 for a number
	powers   [17]float64   // for digits after the point
	lines    [16]byte      // expected in WKT
	comma    byte
}

var wideConstants = makeWideTables()

func makeWideTables() *wideTables {
	t := &wideTables{
		zero: '0', ten: 10, minus: '-', blank: ' ', point: '.', pairs: [2]int8{10, 1}, fours: [2]int16{100, 1},
		eights: [2]int16{10000, 1}, eight: 1e8, sign: 1 << 63,
		order: [8]int64{0, 2, 4, 6, 0, 2, 4, 6}, comma: ',',
	}
	copy(t.expected[:], "[.,.],[.,.],[")
	copy(t.lines[:], ". .,. .,")
	for n := 2; n <= 15; n++ {
		digits := uint64(1)<<16 - uint64(1)<<(16-n)
		t.fields[0][n+2] = digits
		t.fields[1][32-(n+2)] = digits << 16
		t.fields[2][32-(n+4)] = digits << 32
		t.fields[3][n+2] = digits << 48
	}
	for n := 1; n <= 14; n++ {
		t.powers[17-(n+1)] = math.Pow10(n)
	}
	return t
}

// What of 64 bytes is a digit, a point, a sign or a blank is found for all of them at once, and
// whether they make numbers by arithmetic on these masks, so that no branch depends on the lengths
// of numbers or on their signs. Digits are then moved together, and apart again to 16 bytes a
// number (VPCOMPRESSB and VPEXPANDB), and all four numbers are made of them at once as plainJSON
// makes one. It takes what plainJSON takes, and more than 8 digits before the point, and any number
// of blanks.
//
//go:noescape
func wideJSON(t *wideTables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)

// wideWKT is wideJSON for what plainWKT takes, with more than 8 digits before the point too.
// text[-1] must be readable.
//
//go:noescape
func wideWKT(t *wideTables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)
