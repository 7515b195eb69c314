package positions

import (
	"unsafe"

	processor "golang.org/x/sys/cpu"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// Have reports whether this processor can read plain positions. If not, JSON and WKT are not
// called.
var Have = processor.X86.HasAVX2 && processor.X86.HasBMI1 && processor.X86.HasBMI2

// JSON adds to g up to most plain positions in square brackets from text[p] on:
// "[1.5,2.5],[3.5,4.5]". Between the two numbers and between positions is a comma, and one blank at
// most is at each place.
//
//	end     with inside set the bracket of a position that is not plain, else the byte after a position, with
//	        no plain position after it
func JSON(g *geoarrow.GeometryBuilder, text unsafe.Pointer, p, most int) (end int, inside bool) {
	return readJSON(best, g, text, p, most)
}

// kernel is how many positions are read at a time, and with what.
type kernel uint8

const (
	plain kernel = iota // one, with AVX2
	pairs               // two, with AVX2
	wide                // two, with AVX-512 VBMI2
)

// best is the fastest kernel that this processor has.
var best = bestKernel()

func bestKernel() kernel {
	if haveWide {
		return wide
	}
	return pairs
}

// readJSON is JSON with a kernel that this processor has.
func readJSON(by kernel, g *geoarrow.GeometryBuilder, text unsafe.Pointer, p, most int) (end int, inside bool) {
	n := len(g.X)
	xs, ys := room(g, most)
	text = unsafe.Add(text, p)
	var read, count int
	switch inside = true; by {
	case wide:
		read, count, inside = wideJSON(wideConstants, text, xs, ys, most)
	case pairs:
		read, count, inside = pairsJSON(pairConstants, text, xs, ys, most)
		if !inside || count == most {
			break
		}
		fallthrough
	default:
		var end, more int
		end, more, inside = plainJSON(constants, unsafe.Add(text, read), unsafe.Add(xs, 8*count),
			unsafe.Add(ys, 8*count), most-count)
		read, count = read+end, count+more
	}
	g.X, g.Y = g.X[:n+count], g.Y[:n+count]
	return p + read, inside
}

// WKT adds to g up to most plain positions from text[p] on, count of them: "1.5 2.5,3.5 4.5)".
// Between the two numbers is one blank, between positions a comma and at most one blank, after the
// last one a bracket. text[p-1] must be readable.
//
//	end     with inside set a position that is not plain, else the comma or bracket after one
func WKT(g *geoarrow.GeometryBuilder, text unsafe.Pointer, p, most int) (end, count int, inside bool) {
	return readWKT(best, g, text, p, most)
}

// readWKT is WKT with a kernel that this processor has.
func readWKT(by kernel, g *geoarrow.GeometryBuilder, text unsafe.Pointer, p, most int) (end, count int, inside bool) {
	n := len(g.X)
	xs, ys := room(g, most)
	text = unsafe.Add(text, p)
	var read int
	switch inside = true; by {
	case wide:
		read, count, inside = wideWKT(wideConstants, text, xs, ys, most)
	case pairs:
		read, count, inside = pairsWKT(pairConstants, text, xs, ys, most)
		if !inside || count == most {
			break
		}
		fallthrough
	default:
		var end, more int
		end, more, inside = plainWKT(constants, unsafe.Add(text, read), unsafe.Add(xs, 8*count),
			unsafe.Add(ys, 8*count), most-count)
		read, count = read+end, count+more
	}
	g.X, g.Y = g.X[:n+count], g.Y[:n+count]
	return p + read, count, inside
}

// tables are the constants of both.
type tables struct {
	zeros  [32]byte // '0'
	nines  [32]byte // 9
	pairs  [16]int8 // 10, 1: two digits to a number, in eight 16-bit lanes
	fours  [8]int16 // 100, 1: four digits, in four 32-bit lanes
	eights [8]int16 // 10000, 1: eight digits, in two
	powers [16]float64
	// for l digits before the point and n in all: which byte of the text is the k-th of 16 digits
	spread [8][16][16]byte
}

// plain is made once, and only read.
var constants = makeTables()

func makeTables() *tables {
	t := &tables{}
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
					from = byte(digit + 1) // after the point
				case digit >= 0:
					from = byte(digit)
				}
				t.spread[l-1][n][k] = from
			}
		}
	}
	return t
}

// A number of 15 digits fits the 53 bits of a float64's significand, and its power of ten is exact:
// one division rounds once. Digits are found with a mask of 64 bytes and turned to integers two,
// four and eight at a time (after Muła and Lemire 2018, with a shuffle that drops the point).
//
// Both have room for room numbers at xs and at ys, of which count are set, and read n bytes.

//go:noescape
func plainJSON(t *tables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)

//go:noescape
func plainWKT(t *tables, text, xs, ys unsafe.Pointer, room int) (read, count int, inside bool)
