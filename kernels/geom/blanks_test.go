package geom_test

import (
	"bytes"
	"strings"
	"testing"

	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
)

// Words whose first bytes leave open what they hold, each byte that is close to a blank, and the
// last word of a text: a position after a run of blanks begins at the first byte that is not one.
func TestFindBlanks(t *testing.T) {
	r := kerneltest.Open(t)
	for c := range 256 {
		for _, at := range []int{64, 79, 80, 127} {
			if c == '-' || c == ']' || (c >= '0' && c <= '9') {
				continue // goes on as a position
			}
			text := []byte("[" + strings.Repeat(" ", 299) + "1,2]")
			text[at] = byte(c)
			blank := strings.IndexByte(" \t\n\r", byte(c)) >= 0
			before, _ := parsePositions(r, text, []int64{0}, kgeom.PositionJSON, 2)
			want := int64(at)
			if blank {
				want = -1
			}
			if got := before.found.Malformed; got != want {
				t.Fatalf("byte %#x at %d: malformed at %d, want %d", c, at, got, want)
			}
		}
	}
	for n := range 130 { // as the last bytes of a text
		text := []byte("[" + strings.Repeat(" ", 127+n) + "1")
		before, _ := parsePositions(r, text, []int64{0}, kgeom.PositionJSON, 2)
		if before.found.Malformed != int64(len(text)) {
			t.Fatalf("%d bytes: malformed at %d", len(text), before.found.Malformed)
		}
	}
}

// Runs of blanks over a level's words, in a text that has more of them than one block takes in at a
// time.
func TestFindBlanksInALargeText(t *testing.T) {
	r := kerneltest.Open(t)
	text := bytes.Repeat([]byte{'x'}, 17<<20)
	var at []int64
	for _, run := range []struct{ start, blanks int }{
		{5, 1000},
		{10000, 9000},
		{100000, 300000},
		{17<<20 - 400000, 399000},
		{17<<20 - 6, 1},
	} {
		at = append(at, int64(run.start))
		copy(text[run.start:], "["+strings.Repeat(" ", run.blanks)+"1,2]")
	}
	checkPositions(r, "large", text, at, kgeom.PositionJSON, 2)
}
