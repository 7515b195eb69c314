package positions_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/positions"
)

// TestPlain reads up to three positions of each text, as GeoJSON and as WKT. The mark ¦ is where
// they end, or before one that is not plain. How numbers round is tested by the formats, against
// strconv.
func TestPlain(t *testing.T) {
	if !positions.Have {
		t.Skip("this processor reads no plain positions")
	}
	for _, c := range []struct{ name, json, wkt, want string }{
		{"one", "[1.5,-2.25]¦]", "1.5 -2.25¦)", "1.5 -2.25"},
		{"several", "[1.5,2.5],[3.5,4.5]¦]", "1.5 2.5,3.5 4.5¦)", "1.5 2.5 3.5 4.5"},
		{"blanks", "[ 1.5, 2.5 ], [ 3.5, 4.5 ]¦ ]", "1.5 2.5, 3.5 4.5¦)", "1.5 2.5 3.5 4.5"},
		{
			"no more than three", "[1.5,2.5],[3.5,4.5],[5.5,6.5]¦,[7.5,8.5]]", "1.5 2.5,3.5 4.5,5.5 6.5¦,7.5 8.5)",
			"1.5 2.5 3.5 4.5 5.5 6.5",
		},
		{
			"lengths", "[0.5,2.25],[-123456.5,4.12345678901234]¦]", "0.5 2.25,-123456.5 4.12345678901234¦)",
			"0.5 2.25 -123456.5 4.12345678901234",
		},
		{"an integer", "[1.5,2.5],¦[3,4.5]]", "1.5 2.5,¦3 4.5)", "1.5 2.5 inside"},
		{"a zero in front", "¦[1.5,02.5]]", "¦1.5 02.5)", "inside"},
		{"no digit after the point", "¦[1.,2.5]]", "¦1. 2.5)", "inside"},
		{"16 digits before the point", "¦[1234567890123456.5,2.5]]", "¦1234567890123456.5 2.5)", "inside"},
		{"16 digits", "¦[1.5,1.234567890123456]]", "¦1.5 1.234567890123456)", "inside"},
		{"an exponent", "[1.5,2.5],¦[3.5,4.5e1]]", "1.5 2.5,¦3.5 4.5e1)", "1.5 2.5 inside"},
		{"z", "¦[1.5,2.5,3.5]]", "¦1.5 2.5 3.5)", "inside"},
		{"nothing", "¦", "¦", "inside"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var g geoarrow.GeometryBuilder
			text, want := marked(c.json)
			end, inside := positions.JSON(&g, text, 2, 3)
			if got := result(&g, inside); got != c.want || end != want {
				t.Errorf("%s\ngot  %s, end %d\nwant %s, end %d", c.json, got, end, c.want, want)
			}
			g = geoarrow.GeometryBuilder{}
			text, want = marked(c.wkt)
			end, count, inside := positions.WKT(&g, text, 2, 3)
			if got := result(&g, inside); got != c.want || end != want || count != len(g.X) {
				t.Errorf("%s\ngot  %s, end %d, count %d\nwant %s, end %d", c.wkt, got, end, count, c.want, want)
			}
		})
	}
}

// marked returns a text, which begins at index 2 and has zeros after it, and the index of its
// mark.
func marked(s string) (text unsafe.Pointer, mark int) {
	before, behind, _ := strings.Cut(s, "¦")
	all := slices.Concat([]byte("??"+before+behind), make([]byte, 64))
	return unsafe.Pointer(unsafe.SliceData(all)), len("??" + before)
}

func result(g *geoarrow.GeometryBuilder, inside bool) string {
	var words []string
	for i := range g.X {
		words = append(words, fmt.Sprint(g.X[i]), fmt.Sprint(g.Y[i]))
	}
	if inside {
		words = append(words, "inside")
	}
	return strings.Join(words, " ")
}
