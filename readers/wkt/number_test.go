package wkt_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// coordinates reads numbers as the x and y of positions of one line.
func coordinates(t *testing.T, portable bool, numbers []string) []float64 {
	t.Helper()
	var b strings.Builder
	b.WriteString("LINESTRING (")
	for i := 0; i < len(numbers); i += 2 {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(numbers[i] + " " + numbers[i+1])
	}
	b.WriteString(")")
	in := readertest.Input{Name: "a.wkt", Text: []byte(b.String()), Parser: func(l readers.Layout) readers.Parser {
		return wkt.Windowed(l, 0)
	}}
	if portable {
		in.Parser = func(l readers.Layout) readers.Parser { return wkt.Portable(l, 0) }
	}
	table, err := readertest.Parse(t, wkt.Format(), in)
	if err != nil {
		t.Fatal(err)
	}
	g := table.Batches[0].Geometry
	var out []float64
	for i := range g.X {
		out = append(out, g.X[i], g.Y[i])
	}
	return out
}

// Numbers are those of strconv.ParseFloat, bit for bit: N1 to N4, N7, N10, N11, N13.
func TestNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	numbers := []string{
		"90.81246689931749", "4.9e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "+5", ".5",
		"5.", "00012", "-0", "-0.0", "-.0", "+0.", "1e-400",
		"1e" + strings.Repeat("0", 500) + "1", strings.Repeat("0", 500) + "1.5", "." + strings.Repeat("0", 400) +
			"1e401", "1" + strings.Repeat("0", 400) + "e-400",
		"9007199254740993", "9007199254740992.5", "9007199254740993.",
		"+9007199254740992.99999999999999999999999999999999", "00009007199254740993.0000000000000000000000000000001",
		strings.Repeat("7", 800) + "e-600", "." + strings.Repeat("7", 800),
		"0.500000000000000166533453693773481063544750213623046875",
		"1e-99999999999", "0e99999999999", "12345678.1234567", "123456789.1234567", "1.12345678901234",
		"1.123456789012345", "12345678.12345678",
	}
	for range 200_000 {
		v := math.Float64frombits(r.Uint64())
		switch r.IntN(6) {
		case 0:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				v = 0
			}
			numbers = append(numbers, strconv.FormatFloat(v, 'g', -1, 64))
		case 1:
			numbers = append(numbers, fmt.Sprintf("%.*f", r.IntN(20), r.Float64()*360-180))
		case 2: // every length that the plain path takes, and those next to it
			numbers = append(numbers, fmt.Sprintf("%s%0*d.%0*d", []string{"", "-", "+"}[r.IntN(3)],
				1+r.IntN(9), r.IntN(10), 1+r.IntN(9), r.IntN(1000)))
		default:
			numbers = append(numbers, fmt.Sprintf("%.6f", r.Float64()*360-180))
		}
	}
	if len(numbers)%2 == 1 {
		numbers = append(numbers, "0")
	}
	for _, portable := range []bool{false, true} {
		for i, v := range coordinates(t, portable, numbers) {
			want, err := strconv.ParseFloat(numbers[i], 64)
			if err != nil {
				t.Fatal(err)
			}
			if math.Float64bits(v) != math.Float64bits(want) {
				t.Fatalf("portable %v: %s: got %v, want %v", portable, numbers[i], v, want)
			}
		}
	}
}

// Where strconv gives up on an exponent of many digits, the digits before it may make up for
// it.
func TestLongExponents(t *testing.T) {
	zeros := strings.Repeat("0", 200_000)
	got := coordinates(t, false, []string{"." + zeros + "5e200001", "5" + zeros + ".e-200000"})
	if got[0] != 5 || got[1] != 5 {
		t.Errorf("got %v", got)
	}
}
