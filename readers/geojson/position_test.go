package geojson_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/source"
)

// TestCoordinates reads lines of random decimals of 1 to 30 digits, with and without exponents,
// blanks and third ordinates, and compares every coordinate with strconv.ParseFloat, bit for bit:
// 300,000 of them, or 12 million without -short; with assembly and without.
func TestCoordinates(t *testing.T) {
	lines := 3_000
	if !testing.Short() {
		lines = 120_000
	}
	const perLine, linesPerFile = 50, 6_000
	for seed := uint64(0); lines > 0; seed++ {
		n := min(lines, linesPerFile)
		lines -= n
		text, want := randomLines(rand.New(rand.NewPCG(seed, 17)), n, perLine)
		for _, engine := range []engine{geojson.Windowed, geojson.Portable} {
			compareCoordinates(t, parse(t, text, engine), want)
		}
	}
}

func compareCoordinates(t *testing.T, table *readers.Table, want []string) {
	t.Helper()
	at := 0
	for _, b := range table.Batches {
		for i, x := range b.Geometry.X {
			for k, got := range []float64{x, b.Geometry.Y[i]} {
				if w, _ := strconv.ParseFloat(want[at+k], 64); math.Float64bits(got) != math.Float64bits(w) {
					t.Fatalf("%s: got %v, want %v", want[at+k], got, w)
				}
			}
			at += 2
		}
	}
	if at != len(want) {
		t.Fatalf("%d coordinates, want %d", at, len(want))
	}
}

// randomLines writes lines of decimals, and gives the text of each x and y.
func randomLines(r *rand.Rand, lines, perLine int) (text []byte, ordinates []string) {
	text = append(text, `{"type":"FeatureCollection","features":[`...)
	for line := range lines {
		if line > 0 {
			text = append(text, ',')
		}
		text = append(text, `{"type":"Feature","properties":null,"geometry":{"type":"LineString","coordinates":[`...)
		style := r.IntN(4) // of most numbers of this line: digits before and after the point
		before, behind := 1+r.IntN(9), r.IntN(16)
		for i := range perLine {
			x, y := randomDecimal(r, style, before, behind), randomDecimal(r, style, before, behind)
			ordinates = append(ordinates, x, y)
			blank := ""
			if r.IntN(8) == 0 {
				blank = " "
			}
			if i > 0 {
				text = append(text, ","+blank...)
			}
			third := ""
			if r.IntN(64) == 0 {
				third = "," + x
			}
			text = fmt.Appendf(text, "[%s%s,%s%s%s%s]", blank, x, blank, y, third, blank)
		}
		text = append(text, `]}}`...)
	}
	return append(text, `]}`...), ordinates
}

func randomDecimal(r *rand.Rand, style, before, behind int) string {
	digits := func(n int) (s string) {
		for range n {
			s += string(rune('0' + r.IntN(10)))
		}
		return s
	}
	s := ""
	if r.IntN(2) == 0 {
		s = "-"
	}
	if style == 0 { // anything of 1 to 30 digits
		n := 1 + r.IntN(30)
		before = 1 + r.IntN(n)
		behind = n - before
	}
	s += string(rune('1' + r.IntN(9)))
	if before == 1 && r.IntN(4) == 0 {
		s = s[:len(s)-1] + "0"
	}
	s += digits(before - 1)
	if behind > 0 {
		s += "." + digits(max(1, behind-r.IntN(2)))
	}
	if style == 1 && r.IntN(2) == 0 {
		s += []string{"e", "E"}[r.IntN(2)] + []string{"", "+", "-"}[r.IntN(3)] + strconv.Itoa(r.IntN(250))
	}
	return s
}

type engine = func(readers.Layout, int) readers.Parser

func parse(t *testing.T, text []byte, parser engine) *readers.Table {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.geojson")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open("x.geojson", path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	f := geojson.Format()
	opts, err := f.ParseOptions(nil)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := f.Open(context.Background(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	table, err := readers.Read(context.Background(), f, parser(layout, 0), src, readers.Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table
}
