//go:build amd64 || arm64

package positions

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// plainPosition is what JSON may take, but for the number of digits.
var plainPosition = regexp.MustCompile(`^\[ *(-?(?:0|[1-9]\d*)\.\d+) *, *(-?(?:0|[1-9]\d*)\.\d+) *\]`)

var behindPosition = regexp.MustCompile(`^ *(\]|, *\[)`)

// taken returns the ordinates of the position that s begins with, if it is plain to processors that
// read two at a time, and its length.
func taken(s string) (x, y float64, length int) {
	m := plainPosition.FindStringSubmatch(s)
	if m == nil || len(m[0]) > 64 {
		return 0, 0, 0
	}
	for _, number := range m[1:] {
		if len(strings.TrimPrefix(number, "-")) > 16 {
			return 0, 0, 0
		}
	}
	x, _ = strconv.ParseFloat(m[1], 64)
	y, _ = strconv.ParseFloat(m[2], 64)
	return x, y, len(m[0])
}

// TestReadJSON reads random positions, half of them with a byte that is wrong, and compares with
// strconv: what is taken, with its bits, and where it ends.
func TestReadJSON(t *testing.T) {
	for _, by := range kernels() {
		t.Run(fmt.Sprintf("kernel=%d", by), func(t *testing.T) {
			lines := 40_000
			if testing.Short() {
				lines = 8_000
			}
			r := rand.New(rand.NewPCG(12, 1))
			for range lines {
				compareJSON(t, by, randomPositions(r), 1+r.IntN(9))
			}
		})
	}
}

func compareJSON(t *testing.T, by kernel, s string, most int) {
	t.Helper()
	text := append([]byte(s), make([]byte, 64)...)
	var g geoarrow.GeometryBuilder
	end, inside := readJSON(by, &g, unsafe.Pointer(unsafe.SliceData(text)), 0, most)
	at := 0
	for i := range g.X {
		if i > 0 {
			at += len(s[at:]) - len(strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(s[at:], " "), ","), " "))
		}
		x, y, length := taken(s[at:])
		if length == 0 || math.Float64bits(g.X[i]) != math.Float64bits(x) ||
			math.Float64bits(g.Y[i]) != math.Float64bits(y) {
			t.Fatalf("%s\nposition %d at byte %d is %v %v, want %v %v", s, i, at, g.X[i], g.Y[i], x, y)
		}
		at += length
	}
	next := strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(s[at:], " "), ","), " ")
	if len(g.X) == 0 {
		next = s
	}
	switch {
	case len(g.X) > most || inside && len(g.X) == most:
		t.Fatalf("%s\n%d positions, want %d at most, inside %v", s, len(g.X), most, inside)
	case inside && end != len(s)-len(next), !inside && (end != at || at == 0):
		t.Fatalf("%s\nends at byte %d, inside %v, after %d positions to byte %d", s, end, inside, len(g.X), at)
	}
	if _, _, length := taken(next); by == wide && inside && length > 0 && behindPosition.MatchString(next[length:]) {
		t.Fatalf("%s\nstops at byte %d before a plain position", s, end)
	}
}

// randomPositions writes some, most of them as one writer does.
func randomPositions(r *rand.Rand) string {
	var b strings.Builder
	before, behind, style := 1+r.IntN(3), 1+r.IntN(8), r.IntN(4)
	blank := func() {
		if style == 0 && r.IntN(3) == 0 {
			b.WriteString("  "[:1+r.IntN(2)])
		}
	}
	number := func() {
		if r.IntN(2) == 0 {
			b.WriteByte('-')
		}
		n, f := before, behind
		if style == 1 {
			n, f = 1+r.IntN(12), r.IntN(12)
		}
		digits := strconv.FormatUint(r.Uint64(), 10) + strconv.FormatUint(r.Uint64(), 10)
		if r.IntN(4) == 0 {
			b.WriteByte('0')
		} else {
			b.WriteString(strings.TrimLeft(digits, "0")[:n])
		}
		b.WriteString("." + digits[12:12+f])
	}
	for i := range 1 + r.IntN(7) {
		if i > 0 {
			blank()
			b.WriteByte(',')
			blank()
		}
		b.WriteByte('[')
		blank()
		number()
		blank()
		b.WriteByte(',')
		blank()
		number()
		blank()
		b.WriteByte(']')
	}
	s := []byte(b.String() + "]]}},\n{\"type\":\"Feature\",\"properties\":{")
	if r.IntN(2) == 0 {
		const bytes = "0123456789-+.,[] e\nx"
		s[r.IntN(len(s))] = bytes[r.IntN(len(bytes))]
	}
	return string(s)
}
