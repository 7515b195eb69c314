package positions

import (
	"math"
	"unsafe"
)

// pairTables are the constants of pairsJSON and pairsWKT, at the offsets that they know.
type pairTables struct {
	zeros   [32]byte // '0'
	classes [32]byte // which digit or minus has these low four bits, for each 16 bytes
	dots    [32]byte // what a point becomes where it is first of 16 digits
	limits  [32]byte // the largest of 16 digits: 0 for the point
	tens    [32]int8 // 10, 1: two digits to a number
	fours   [16]int16
	eights  [16]int16
	eight   [4]uint64 // 10^8
	magic   [4]uint64 // 2^52, which makes an integer below it a float64
	sign    [4]uint64
	entries entries
	ends    [256]byte // 1 for what is after a position of WKT
}

var pairConstants = makePairTables()

func makePairTables() *pairTables {
	t := &pairTables{}
	for i := range 32 {
		t.zeros[i], t.tens[i], t.limits[i] = '0', []int8{10, 1}[i&1], 9
		switch low := byte(i & 15); {
		case low <= 9:
			t.classes[i] = '0' + low
		case low == '-'&15:
			t.classes[i] = '-'
		}
	}
	for i := range 16 {
		t.fours[i], t.eights[i] = []int16{100, 1}[i&1], []int16{10000, 1}[i&1]
	}
	for i := range 2 {
		t.dots[16*i], t.limits[16*i] = 0x100+'.'-'0', 0
	}
	for i := range 4 {
		t.eight[i], t.magic[i], t.sign[i] = 1e8, math.Float64bits(1<<52), 1<<63
	}
	t.entries = makeEntries()
	t.ends[','], t.ends[')'] = 1, 1
	return t
}

// Two positions are read at a time. What of 64 bytes is neither a digit nor a minus is found for
// all of them at once; where the numbers are, and how long, follows from this mask, without a
// branch that depends on the length of a number or on its sign. All four numbers are made at once,
// as plainJSON makes one. What is plain is found from the result: no digit is above 9, and no
// number is lower than one of its length without a leading zero. It takes what plainJSON takes, but
// blanks, and where it stops inside, plainJSON goes on.
//
//go:noescape
func pairsJSON(t *pairTables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)

// pairsWKT is pairsJSON for what plainWKT takes.
//
//go:noescape
func pairsWKT(t *pairTables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)
