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

// plainLine is what WKT may take, but for the number of digits.
var plainLine = regexp.MustCompile(`^(-?(?:0|[1-9]\d*)\.\d+) (-?(?:0|[1-9]\d*)\.\d+)[,)]`)

// takenWKT is taken for WKT, with n digits before the point.
func takenWKT(s string, before int) (x, y float64, length int) {
	m := plainLine.FindStringSubmatch(s)
	if m == nil {
		return 0, 0, 0
	}
	for _, number := range m[1:] {
		digits := strings.TrimPrefix(number, "-")
		if len(digits) > 16 || strings.IndexByte(digits, '.') > before {
			return 0, 0, 0
		}
	}
	x, _ = strconv.ParseFloat(m[1], 64)
	y, _ = strconv.ParseFloat(m[2], 64)
	return x, y, len(m[0]) - 1
}

// TestReadWKT is TestReadJSON for WKT.
func TestReadWKT(t *testing.T) {
	for _, by := range kernels() {
		t.Run(fmt.Sprintf("kernel=%d", by), func(t *testing.T) {
			lines := 40_000
			if testing.Short() {
				lines = 8_000
			}
			r := rand.New(rand.NewPCG(13, 1))
			read := 0
			for range lines {
				read += compareWKT(t, by, randomLine(r), 1+r.IntN(9))
			}
			if read < lines {
				t.Errorf("%d positions of %d lines", read, lines)
			}
		})
	}
}

func compareWKT(t *testing.T, by kernel, s string, most int) (read int) {
	t.Helper()
	text := append([]byte("("+s), make([]byte, 64)...)
	var g geoarrow.GeometryBuilder
	end, count, inside := readWKT(by, &g, unsafe.Pointer(unsafe.SliceData(text)), 1, most)
	end--
	at, next := 0, 0 // after the last position; where another one begins
	for i := range g.X {
		x, y, length := takenWKT(s[next:], 15)
		if length == 0 || math.Float64bits(g.X[i]) != math.Float64bits(x) ||
			math.Float64bits(g.Y[i]) != math.Float64bits(y) {
			t.Fatalf("%s\nposition %d at byte %d is %v %v, want %v %v", s, i, next, g.X[i], g.Y[i], x, y)
		}
		at = next + length
		if next = at; s[at] == ',' {
			if next++; s[next] == ' ' {
				next++
			}
		}
	}
	ended := at > 0 && s[at] == ')'
	switch {
	case count != len(g.X) || count > most || inside && (count == most || ended):
		t.Fatalf("%s\n%d positions, %d counted, want %d at most, inside %v", s, len(g.X), count, most, inside)
	case inside && end != next, !inside && (end != at || count < most && !ended):
		t.Fatalf("%s\nends at byte %d, inside %v, after %d positions to byte %d", s, end, inside, count, at)
	}
	if _, _, length := takenWKT(s[next:], 8); inside && length > 0 {
		t.Fatalf("%s\nstops at byte %d before a plain position", s, end)
	}
	return count
}

// randomLine writes positions, most of them as one writer does.
func randomLine(r *rand.Rand) string {
	var b strings.Builder
	before, behind, style := 1+r.IntN(3), 1+r.IntN(8), r.IntN(4)
	number := func() {
		if r.IntN(2) == 0 {
			b.WriteByte('-')
		}
		n, f := before, behind
		switch style {
		case 1:
			n, f = 1+r.IntN(12), r.IntN(12)
		case 2:
			f = 1 + r.IntN(behind)
		}
		digits := strconv.FormatUint(r.Uint64(), 10) + strconv.FormatUint(r.Uint64(), 10)
		if r.IntN(4) == 0 {
			b.WriteByte('0')
		} else {
			b.WriteString(strings.TrimLeft(digits, "0")[:n])
		}
		b.WriteString("." + digits[12:12+f])
	}
	comma := []string{",", ", ", ", ", ",  "}[r.IntN(4)]
	for i := range 1 + r.IntN(9) {
		if i > 0 {
			b.WriteString(comma)
		}
		number()
		b.WriteByte(' ')
		number()
		if style == 3 && r.IntN(20) == 0 {
			b.WriteString(" 7.5")
		}
	}
	s := []byte(b.String() + "), (1.5 2.5))\nPOLYGON ((1.5 2.5,")
	if r.IntN(2) == 0 {
		const bytes = "0123456789-+.,() e\nx"
		s[r.IntN(len(s))] = bytes[r.IntN(len(bytes))]
	}
	return string(s)
}
