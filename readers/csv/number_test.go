package csv_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestNumbers is traps N1 to N13: attributes and ordinates are the float64 that strconv.ParseFloat
// gives, bit for bit, with points and with commas.
func TestNumbers(t *testing.T) {
	texts := []string{
		"90.81246689931749", "4.9e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "-0.0",
		"5.", ".5", "-.25", "+1.5", "1e5", "1E-5", "1.e2",
		"0." + strings.Repeat("0", 400) + "1e401", "9007199254740993.0", "9007199254740992.99999999999999999999999",
		"1.00000000000000011102230246251565404236316680908203125",
		"1.00000000000000011102230246251565404236316680908203124", "1e-99999999999", strings.Repeat("1", 300) +
			".5", "179769313486231570000000000000000000000.25",
	}
	r := rand.New(rand.NewPCG(5, 5))
	for len(texts) < 3000 {
		v := math.Float64frombits(r.Uint64())
		if len(texts)%2 == 0 {
			v = r.Float64()*360 - 180
		}
		if s := strconv.FormatFloat(v, 'g', -1, 64); !math.IsInf(v, 0) && v == v && strings.ContainsAny(s, ".e") {
			texts = append(texts, s)
		}
	}
	for _, decimal := range []string{".", ","} {
		text := "v;lon;lat\n"
		for _, s := range texts {
			s = strings.ReplaceAll(s, ".", decimal)
			text += fmt.Sprintf("%s;%s;\" %s \"\n", s, s, s)
		}
		in := readertest.Input{Name: "a.csv", Text: []byte(text), Options: options{
			"decimal":   decimal,
			"delimiter": ";",
		}}
		table, err := readertest.Parse(t, csv.Format(), in)
		if err != nil {
			t.Fatal(err)
		}
		b := table.Batches[0]
		for i, s := range texts {
			want, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range []float64{
				geoarrow.View[float64](b.Attributes[0].Values)[i], b.Geometry.X[i],
				b.Geometry.Y[i],
			} {
				if math.Float64bits(v) != math.Float64bits(want) {
					t.Errorf("field %d, %s: got %v, want %v", k, s, v, want)
				}
			}
		}
	}
}
