//go:build amd64 || arm64

package positions

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"
)

// layout is how positions are written.
type layout struct {
	name                         string
	opening, comma, closing, end string // of a position, and what is between two
	wkt                          bool
}

// layouts are those in which assembly reads all plain positions.
var layouts = []layout{
	{"compact", "[", ",", "]", ",", false},
	{"spaced", "[", ", ", "]", ", ", false},
	{"padded", "[ ", ", ", " ]", ", ", false},
	{"lines", "", " ", "", ",", true},
	{"spaced lines", "", " ", "", ", ", true},
}

// TestPairs reads one to five positions of every length of numbers in each layout: assembly takes
// all plain ones itself, and no other ones.
func TestPairs(t *testing.T) {
	if !Have {
		t.Skip("this processor reads no plain positions")
	}
	r := rand.New(rand.NewPCG(3, 7))
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			for before := 1; before <= 9; before++ {
				for after := range 16 {
					for n := 1; n <= 5; n++ {
						odd := r.IntN(2 * n) // the number that has these lengths; others vary
						checkPairs(t, r, l, n, odd, before, after)
					}
				}
			}
		})
	}
}

func checkPairs(t *testing.T, r *rand.Rand, l layout, n, odd, before, after int) {
	t.Helper()
	var b strings.Builder
	var want [10]float64
	write := func(i int) {
		n, f := 1+r.IntN(3), 1+r.IntN(8)
		if i == odd {
			n, f = before, after
		}
		number := fmt.Sprint(1+r.IntN(9)) + strings.Repeat("7", n-1) + "." + "012345678901234"[:f]
		if r.IntN(2) == 0 {
			number = "-" + number
		}
		b.WriteString(number)
		_, err := fmt.Sscan(number, &want[i])
		if err != nil && f > 0 {
			t.Fatal(err)
		}
	}
	for i := range n {
		if i > 0 {
			b.WriteString(l.end)
		}
		b.WriteString(l.opening)
		write(2 * i)
		b.WriteString(l.comma)
		write(2*i + 1)
		b.WriteString(l.closing)
	}
	all := len(b.String())
	text := append([]byte(b.String()+")]"), make([]byte, 64)...)
	var xs, ys [5]float64
	most := 1 + r.IntN(5)
	read, count, inside := readPairs(l.wkt, unsafe.Pointer(unsafe.SliceData(text)), xs[:most], ys[:most])
	plain := before <= 8 && after > 0 && before+after <= 15
	switch {
	case plain || odd/2 > min(n, most): // far from the number that is not
		if count != min(n, most) || inside {
			t.Fatalf("%s: %d positions, inside %v, want %d", b.String(), count, inside, min(n, most))
		}
	case count > odd/2, odd/2 < most && !inside: // positions before it may be left to others too
		t.Fatalf("%s: %d positions, inside %v; number %d is not plain", b.String(), count, inside, odd)
	}
	for i := range count {
		if xs[i] != want[2*i] || ys[i] != want[2*i+1] {
			t.Fatalf("%s: position %d is %v %v, want %v %v", b.String(), i, xs[i], ys[i], want[2*i], want[2*i+1])
		}
	}
	if count == n && read != all {
		t.Fatalf("%s: ends at %d, want %d", b.String(), read, all)
	}
}
