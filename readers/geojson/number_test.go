package geojson_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestNumbersInProperties has the rows N of the list of traps, in property values.
func TestNumbersInProperties(t *testing.T) {
	check(t, plain, []textCase{
		{"N1 shortest", values("90.81246689931749"), "a: float64: 90.81246689931749"},
		{
			"N2 subnormals", values("4.9e-324", "2.2250738585072014e-308"),
			"a: float64: 5e-324 | 2.2250738585072014e-308",
		},
		{"N3 largest", values("1.7976931348623157e308"), "a: float64: 1.7976931348623157e+308"},
		{"N5 empty text", values(`""`), `a: string: ""`},
		{"N5 abc", values("¦abc"), "want a value"},
		{"N5 nan", values("n¦an"), "want null"},
		{"N5 NaN", values("¦NaN"), "want a value"},
		{"N5 Infinity", values("¦Infinity"), "want a value"},
		{"N5 minus Infinity", values("-¦Infinity"), "a digit"},
		{"N5 point", values("¦."), "want a value"},
		{"N6 two points", values("1.2¦.3"), ""},
		{"N6 minus inside", values("1¦-2"), ""},
		{"N6 two signs", values("-¦-1"), "a digit"},
		{"N6 hexadecimal", values("0¦x10"), ""},
		{"N6 comma", values("1,¦5"), "a key"},
		{"N6 no exponent", values("1e¦"), "a digit"},
		{"N6 no exponent after sign", values("1e+¦"), "a digit"},
		{"N6 underscore", values("1¦_000"), ""},
		{"N7 leading zeros", values("0¦0012"), ""},
		{"N7 leading zeros after minus", values("-0¦1"), ""},
		{"N7 plus", values("¦+5"), "want a value"},
		{"N7 no digit before the point", values("¦.5"), "want a value"},
		{"N7 no digit after the point", values("5.¦"), "a digit"},
		{"N8 beyond int64", values("9223372036854775808"), "a: uint64: 9223372036854775808"},
		{"N8 largest uint64", values("18446744073709551615", "0"), "a: uint64: 18446744073709551615 | 0"},
		{"N8 beyond uint64", values("99999999999999999999", "1"), "a: float64: 1e+20 | 1\nrounded integers: 1"},
		{
			"N8 beyond uint64, rounded", values("18446744073709551617"),
			"a: float64: 1.8446744073709552e+19\nrounded integers: 1",
		},
		{"N9 fraction", values("1.9", "2"), "a: float64: 1.9 | 2"},
		{"N9 minus inside", values("12¦-3"), ""},
		{
			"N10 beyond a tie", values("9007199254740993."+strings.Repeat("0", 800)+"1", "9007199254740993."+
				strings.Repeat("0", 800)),
			"a: float64: 9.007199254740994e+15 | 9.007199254740992e+15",
		},
		{"N11 huge exponent", values("¦1e99999999999"), "float64"},
		{"N11 tiny exponent", values("1e-99999999999", "0e99999999999"), "a: float64: 0 | 0"},
		{"N12 beyond 2^53", values("9007199254740993"), "a: int64: 9007199254740993"},
		{"N13 minus zero", values("-0.0"), "a: float64: -0"},
	})
}

// TestNumbersInCoordinates has the rows N in ordinates.
func TestNumbersInCoordinates(t *testing.T) {
	point := func(x string) string { return geom(shape("Point", "["+x+",2]")) }
	line := func(x string) string { return geom(shape("LineString", "[[0,0],["+x+",2]]")) }
	for _, c := range []struct{ name, x, want string }{
		{"N1 shortest", "90.81246689931749", "90.81246689931749"},
		{"N2 subnormal", "4.9e-324", "5e-324"},
		{"N2 smallest normal", "2.2250738585072014e-308", "2.2250738585072014e-308"},
		{"N3 largest", "1.7976931348623157e308", "1.7976931348623157e+308"},
		{"N8 beyond int64", "9223372036854775808", "9223372036854776000"},
		{"N8 beyond uint64", "99999999999999999999", "100000000000000000000"},
		{"N10 tie", "9007199254740993", "9007199254740992"},
		{"N10 beyond a tie", "9007199254740993." + strings.Repeat("0", 800) + "1", "9007199254740994"},
		{"N11 tiny exponent", "1e-99999999999", "0"},
		{"N13 minus zero", "-0.0", "-0"},
		{"N13 integer minus zero", "-0", "-0"},
	} {
		check(t, plain, []textCase{
			{c.name + ", Point", point(c.x), "geometry: geoarrow.point xy: POINT (" + c.want + " 2)"},
			{c.name + ", LineString", line(c.x), "geometry: geoarrow.linestring xy: LINESTRING (0 0, " +
				c.want + " 2)"},
		})
	}
	for _, c := range []struct{ name, x string }{
		{"N5 empty text", `¦""`},
		{"N5 abc", "¦abc"},
		{"N5 nan", "¦nan"},
		{"N5 Infinity", "¦Infinity"},
		{"N5 point", "¦."},
		{"N6 two points", "1.2¦.3"},
		{"N6 minus inside", "1¦-2"},
		{"N6 two signs", "-¦-1"},
		{"N6 hexadecimal", "0¦x10"},
		{"N6 no exponent", "1e¦"},
		{"N6 underscore", "1¦_000"},
		{"N7 leading zeros", "0¦0012"},
		{"N7 plus", "¦+5"},
		{"N7 no digit before the point", "¦.5"},
		{"N7 no digit after the point", "5.¦"},
		{"N9 minus inside", "12¦-3"},
		{"N11 huge exponent", "¦1e99999999999"},
	} {
		check(t, plain, []textCase{
			{c.name + ", Point", point(c.x), "geometry"},
			{c.name + ", LineString", line(c.x), "geometry"},
		})
	}
	check(t, plain, []textCase{
		{"N6 comma", geom(shape("Point", "[1,5,2]")), "geometry: geoarrow.point xyz: POINT Z (1 5 2)"},
		{"N11 y", geom(shape("Point", "[1,¦-1e400]")), "float64"},
		{"N11 ignored ordinate", geom(shape("Point", "[1,2,3,¦1e400]")), "float64"},
	})
}

// TestNumbersExactly has the rows N1 to N4 and N10 in bulk: bits are those of strconv.ParseFloat.
func TestNumbersExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{
		"4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "2.2250738585072011e-308",
		"2.2250738585072014e-308",
		"1.7976931348623157e308", "1.7976931348623158e308", "9007199254740993.0",
		"0.500000000000000166533453693773481063544750213623046875",
	}
	for range 5000 {
		texts = append(texts,
			strconv.FormatFloat(360*r.Float64()-180, 'f', -1, 64),
			strconv.FormatFloat(180*r.Float64()-90, 'f', 14, 64),
			strconv.FormatFloat(4e7*r.Float64()-2e7, 'f', -1, 64))
		if v := math.Float64frombits(r.Uint64()); !math.IsInf(v, 0) && v == v {
			half := strconv.FormatFloat(v, 'e', -1, 64)
			texts = append(texts, half, strings.Replace(half, "e", fmt.Sprintf("%017d1e", 0), 1))
			if !strings.Contains(half, ".") {
				texts = texts[:len(texts)-1]
			}
		}
	}
	var b strings.Builder
	for i, x := range texts {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"type":"Feature","geometry":{"type":"Point","coordinates":[%s,%s]},"properties":{"a":%s}}`,
			x, x, floatLike(x))
	}
	table, err := readertest.Check(t, geojson.Format(), readertest.Input{
		Name: "a.geojson",
		Text: []byte(fc(b.String())),
	})
	if err != nil {
		t.Fatal(err)
	}
	batch := table.Batches[0]
	a := geoarrow.View[float64](batch.Attributes[0].Values)
	for i, x := range texts {
		want, err := strconv.ParseFloat(x, 64)
		if err != nil {
			t.Fatal(err)
		}
		for k, got := range []float64{batch.Geometry.X[i], batch.Geometry.Y[i], a[i]} {
			if math.Float64bits(got) != math.Float64bits(want) {
				t.Errorf("%s, place %d: got %x, want %x", x, k, math.Float64bits(got), math.Float64bits(want))
			}
		}
	}
}

// floatLike makes a number one of float64, whatever its value.
func floatLike(x string) string {
	if strings.ContainsAny(x, ".e") {
		return x
	}
	return x + ".0"
}
