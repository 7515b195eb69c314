package csv_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestBlocks reads files of many records whose columns change their kinds in the middle of a block,
// or hold nulls, quotes, other letters, numbers that are not plain: in blocks, in windows, by
// several workers and one by one, and in batches that end in a block.
func TestBlocks(t *testing.T) {
	kinds := []func(*rand.Rand) string{
		func(r *rand.Rand) string { return fmt.Sprint(r.IntN(1000)) },
		func(r *rand.Rand) string { return fmt.Sprint(r.IntN(2000) - 1000) },
		func(r *rand.Rand) string { return fmt.Sprint(r.Int64N(1 << 40)) },
		func(r *rand.Rand) string { return fmt.Sprint(1<<40 - r.Int64N(1<<41)) },
		func(r *rand.Rand) string { return fmt.Sprint(r.NormFloat64()) },
		func(r *rand.Rand) string { return fmt.Sprintf("%.3f", 100*r.NormFloat64()) },
		func(r *rand.Rand) string { return fmt.Sprintf("%q", fmt.Sprint(r.IntN(50))) },
		func(r *rand.Rand) string { return fmt.Sprintf("20%02d-0%d-11", r.IntN(30), 1+r.IntN(9)) },
		func(r *rand.Rand) string { return strings.Repeat("é", r.IntN(3)) + strings.Repeat("x", r.IntN(60)) },
		func(r *rand.Rand) string { return `"a, ""` + strings.Repeat("b\n", r.IntN(20)) + `"""` },
		func(r *rand.Rand) string {
			return []string{"true", "no", "", `""`, "007", "-0", "1e5", " 5 "}[r.IntN(8)]
		},
		func(*rand.Rand) string { return "" },
	}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 5))
		const columns, records = 4, 1500
		var b strings.Builder
		b.WriteString("a,b,c,d," + []string{"lon,lat", "wkt,e"}[seed%2] + "\n")
		of := [columns]int{}
		for i := range of {
			of[i] = r.IntN(len(kinds))
		}
		for range records {
			for i := range of {
				if r.IntN(400) == 0 {
					of[i] = r.IntN(len(kinds))
				}
				if r.IntN(30) > 0 {
					b.WriteString(kinds[of[i]](r))
				}
				b.WriteByte(',')
			}
			x, y := 360*r.Float64()-180, fmt.Sprintf("%.6f", 180*r.Float64()-90)
			switch {
			case r.IntN(50) == 0:
				b.WriteString([]string{",", "NA,", ",1"}[r.IntN(3)])
			case seed%2 == 0:
				fmt.Fprintf(&b, "%v,%s", x, y)
			default:
				fmt.Fprintf(&b, "\"LINESTRING (%v %s, 1.5 2.5)\",7", x, y)
			}
			b.WriteString([]string{"\n", "\r\n"}[seed/2%2])
		}
		f := csv.Format()
		in := readertest.Input{
			Name: "a.csv", Text: []byte(b.String()),
			Limits: readers.Limits{BatchRows: []int{0, 100, 777}[seed%3], Workers: 1},
		}
		readertest.Same(t, f, in, []int{0, 5000}, variants[0])
		readertest.Same(t, f, in, []int{3000, 20_000}, variants[1])
		readertest.Same(t, f, in, []int{0}, variants[2])
	}
}
