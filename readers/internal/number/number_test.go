package number

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// padded returns a buffer with text as its readers want it. Bytes after the padding are such that
// a read of them would show.
func padded(text string) unsafe.Pointer {
	b := make([]byte, 0, len(text)+Padding+1)
	b = append(append(b, text...), make([]byte, Padding)...)
	return unsafe.Pointer(&append(b, '7')[0])
}

// floatOf reads text that is one number to its end, or says where it is not one.
func floatOf(text string) (v float64, end int) { return Float(padded(text), 0) }

func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// accepted are numbers, each with the value that strconv gives; refused has the offending byte
// after the mark.
var accepted = []struct{ name, text string }{
	{"N1 shortest 14 decimals", "90.81246689931749"},
	{"N1 shortest 15 decimals", "-122.419415500000012"},
	{"N1 shortest 13 decimals", "-74.0059413000001"},
	{"N1 web mercator", "13358338.895192828"},
	{"N1 web mercator, 8 and 2", "20037508.34"},
	{"N2 least subnormal, written short", "4.9e-324"},
	{"N2 least subnormal", "5e-324"},
	{"N2 least normal", "2.2250738585072014e-308"},
	{"N2 largest subnormal", "2.225073858507201e-308"},
	{"N2 the PHP and Java loop", "2.2250738585072011e-308"},
	{"N2 between subnormal and normal", "2.2250738585072012e-308"},
	{"N2 half of the least, tie to zero", "2.470328229206232720882843964341106861825299013071623822127928412503377536351043759326499181808179961898982823477228588654633283551779698981993873980053909390631503565951557022639229085839244910518443593180284993653615250031937045767824e-324"},
	{"N2 more than half of the least", "2.4703282292062328e-324"},
	{"N2 less than half of the least", "2.4703282292062327e-324"},
	{"N3 largest", "1.7976931348623157e308"},
	{"N3 largest, as an integer", "179769313486231570814527423731704356798070567525844996598917476803157260780028538760589558632766878171540458953514382464234321326889464182768467546703537516986049910576551282076245490090389328944075868508455133942304583236903222948165808559332123348274797826204144723168738177180919299881250404026184124858368"},
	{"N3 rounds down to the largest", "1.7976931348623158e308"},
	{
		"N3 below the middle to infinity, all digits",
		"179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904174497791",
	},
	{"N3 just below the middle to infinity", "1.797693134862315807e308"},
	{"N4 bits printed", "3.0287461749226355e-193"},
	{"N4 bits printed, large", "-8.510938476532019e+241"},
	{"N10 beyond 19 digits, then 1", "9007199254740993.00000000000000000000000000001"},
	{"N10 tie to even", "9007199254740993.00000000000000000000000000000"},
	{"N10 tie to even, up", "9007199254740995"},
	{"N10 middle above 1", "1.00000000000000011102230246251565404236316680908203125"},
	{"N10 below middle above 1", "1.00000000000000011102230246251565404236316680908203124"},
	{"N10 above middle above 1", "1.00000000000000011102230246251565404236316680908203126"},
	{"N10 800 digits, tie", "1.00000000000000011102230246251565404236316680908203125" + strings.Repeat("0", 746)},
	{"N10 800 digits, above tie", "1.00000000000000011102230246251565404236316680908203125" +
		strings.Repeat("0", 745) + "1"},
	{"N10 2000 digits, above tie", "1.00000000000000011102230246251565404236316680908203125" +
		strings.Repeat("0", 1945) + "1"},
	{"N10 integer tie with exponent", "9007199254740993" + strings.Repeat("0", 60) + "e-60"},
	{"N10 integer above tie with exponent", "9007199254740993" + strings.Repeat("0", 59) + "1E-60"},
	{"N11 tiny", "1e-400"},
	{"N11 tiny, long exponent", "-1e-99999999999"},
	{"N11 zero, long exponent", "0e99999999999"},
	{"N11 zero, exponent of 30 digits", "0.000e+999999999999999999999999999999"},
	{"N11 exponent with zeros", "1e0000000000000000000000000000000000000002"},
	{"N12 beyond 2^53", "9007199254740993"},
	{"N12 largest int64", "9223372036854775807"},
	{"N12 beyond int64", "9223372036854775808"},
	{"N12 largest uint64", "18446744073709551615"},
	{"N12 beyond uint64", "18446744073709551616"},
	{"N13 negative zero", "-0.0"},
	{"N13 negative zero, integer", "-0"},
	{"N13 negative zero, exponent", "-0e5"},
	{"N13 negative zero by rounding", "-1e-999"},
	{"zero", "0"},
	{"zero, all digits", "0.0000000000000000000000"},
	{"many zeros, then a digit", "0." + strings.Repeat("0", 400) + "1"},
	{"many zeros against the exponent", "0." + strings.Repeat("0", 400) + "1e400"},
	{"many zeros against the exponent, integer", "1" + strings.Repeat("0", 400) + "e-400"},
	{"7 integer digits", "1234567.25"},
	{"8 integer digits", "12345678.25"},
	{"8 digits in all", "1234.5678"},
	{"16 digits in all", "1234.567890123456"},
	{"17 digits in all", "-179.12345678901234"},
	{"19 digits in all", "179.1234567890123456"},
	{"20 digits in all", "179.12345678901234567"},
	{"24 digits in all", "179.123456789012345678901"},
	{"25 digits in all", "179.1234567890123456789012"},
	{"exponent signs", "1E+2"},
	{"exponent of short decimals", "12.5e-3"},
	{"Clinger: 2^53 - 1 with 22", "9007199254740991e22"},
	{"Clinger: 2^53 with -22", "9007199254740992e-22"},
	{"even, 2^1 ties", "5e-1"},
	{"fxx: 7.2057594037927933e16", "7.2057594037927933e+16"},
	{"fxx: 1448997445238699", "1448997445238699"},
	{"fxx: 8.988465674311582e307", "89884656743115815e291"},
	{"fxx: 6.9294956446009195e15", "6929495644600919.5"},
	{"fxx: 3.7455744005952583e15", "3745574400595258.25"},
	{"fxx: 9.355950000000000e-8", "0.00000009355950000000000"},
	{"fxx: 1.00000005960464477550", "1.00000005960464477550"},
	{"fxx: 860228122.6654514e38", "860228122.6654514319E+90"},
	{"fxx: 3e-324", "3e-324"},
	{"fxx: 1.4916681462400413e-154", "1.4916681462400413486581930630926495e-154"},
	{"fxx: 2.2222222222223e-322", "2.2222222222223e-322"},
	{"fxx: 356207e-5", "0.000000000000000000000000000000000000011754943508222875079687365372222456778186655567720875215087517062784172594547271728515625"},
	{"fxx: long 1.17549", "0.0000000000000000000000000000000000000117549421069244107548702944485492873488270524287458933338571745305715888704756189042655023513362901"},
	{"fxx: 10^19-1 digits", "9999999999999999999e-19"},
	{"fxx: 10^20-1", "99999999999999999999"},
	{"fxx: 0.09999999999999999999999", "0.0999999999999999999999999999999"},
}

func TestFloat(t *testing.T) {
	for _, c := range accepted {
		t.Run(c.name, func(t *testing.T) {
			want, err := strconv.ParseFloat(c.text, 64)
			if err != nil {
				t.Fatalf("%s: %v", c.text, err)
			}
			for _, follow := range []string{"", ",", "]", " ", "}", "\n", "x"} {
				if got, end := floatOf(c.text + follow); !same(got, want) || end != len(c.text) {
					t.Errorf("%s then %q: got %v to %d, want %v to %d", c.text, follow, got, end, want, len(c.text))
				}
			}
			if got, end := Number(padded(c.text), 0); !same(got.Float, want) || end != len(c.text) {
				t.Errorf("%s: Number gives %v to %d, want %v to %d", c.text, got.Float, end, want, len(c.text))
			}
			if end := Skip(padded(c.text), 0); end != len(c.text) {
				t.Errorf("%s: Skip gives %d, want %d", c.text, end, len(c.text))
			}
		})
	}
}

func TestFloatAtOffset(t *testing.T) {
	q := padded(`[-179.5,12]`)
	if v, end := Float(q, 1); v != -179.5 || end != 7 {
		t.Errorf("got %v to %d, want -179.5 to 7", v, end)
	}
	if v, end := Float(q, 7); v != 0 || end != ^7 {
		t.Errorf("got %v, %d, want an error at 7", v, end)
	}
}

func TestFloatExponentsOfLongTexts(t *testing.T) {
	// strconv cuts the exponent of these, and is wrong by that.
	for _, c := range []struct {
		name, text string
		want       float64
	}{
		{"zeros before digits", "0." + strings.Repeat("0", 200000) + "125e200001", 1.25},
		{"zeros after digits", "-125" + strings.Repeat("0", 200000) + "e-200000", -125},
		{"tie", "9007199254740993" + strings.Repeat("0", 200000) + "e-200000", 9007199254740992},
		{"above tie", "9007199254740993" + strings.Repeat("0", 199999) + "1e-200000", 9007199254740994},
		{
			"above tie, fraction", "-0." + strings.Repeat("0", 200000) + "90071992547409930000000001e200016",
			-9007199254740994,
		},
	} {
		if got, end := floatOf(c.text); got != c.want || end != len(c.text) {
			t.Errorf("%s: got %v to %d, want %v to %d", c.name, got, end, c.want, len(c.text))
		}
	}
}

func TestFloatBeyondRange(t *testing.T) {
	for _, text := range []string{
		"1e309", "1.7976931348623159e308", "1e400", "1e99999999999", "1e" + strings.Repeat("9", 100), "123.456e+400",
		"1.797693134862315808e308", strings.Repeat("9", 309), "1" + strings.Repeat("0", 309),
		strings.Repeat("8", 1000) + ".5",
		// The middle between the largest number and the next one that there would be, and just
		// below it.
		"179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904174497792",
	} {
		for _, sign := range []int{1, -1} {
			signedText := text
			if sign < 0 {
				signedText = "-" + text
			}
			if v, end := Float(padded("[["+signedText), 2); end != ^2 || !math.IsInf(v, sign) {
				t.Errorf("%s: got %v, %d, want infinity and %d", signedText, v, end, ^2)
			}
			if n, end := Number(padded("[["+signedText), 2); end != ^2 || !math.IsInf(n.Float, sign) {
				t.Errorf("%s: Number gives %v, %d, want infinity and %d", signedText, n.Float, end, ^2)
			}
			if end := Skip(padded(signedText), 0); end != len(signedText) {
				t.Errorf("%s: Skip gives %d, want %d", signedText, end, len(signedText))
			}
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"N5 empty", "¦"},
		{"N5 letters", "¦abc"},
		{"N5 nan", "¦nan"},
		{"N5 NaN", "¦NaN"},
		{"N5 Infinity", "¦Infinity"},
		{"N5 negative Infinity", "-¦Infinity"},
		{"N5 point", "¦."},
		{"N6 two minuses", "-¦-1"},
		{"N6 no exponent", "1e¦"},
		{"N6 no exponent, comma", "1e¦,"},
		{"N6 no exponent after sign", "1e+¦"},
		{"N6 two signs", "1e+¦-1"},
		{"N6 fraction in exponent", "1.5e¦.5"},
		{"N7 leading zeros", "0¦0012"},
		{"N7 leading zeros, 7 digits", "0¦000012.5"},
		{"N7 leading zeros, 8 digits", "0¦0000125"},
		{"N7 leading zeros, negative", "-0¦1.5"},
		{"N7 plus", "¦+5"},
		{"N7 no integer part", "¦.5"},
		{"N7 no integer part, negative", "-¦.5"},
		{"N7 no fraction", "5.¦"},
		{"N7 no fraction, 7 digits", "1234567.¦,"},
		{"N7 no fraction, 8 digits", "12345678.¦]"},
		{"N7 no fraction, exponent", "5.¦e3"},
		{"minus", "-¦"},
		{"minus, comma", "-¦,"},
		{"quoted", "¦\"1\""},
		{"byte from 80 on", "¦\xB15"},
		{"byte from 80 on after minus", "-¦\xFF5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := strings.Index(c.text, "¦")
			text := strings.Replace(c.text, "¦", "", 1)
			if v, end := floatOf(text); end != ^want || !same(v, 0) {
				t.Errorf("%s: got %v, %d, want 0, %d", c.text, v, end, ^want)
			}
			if n, end := Number(padded(text), 0); end != ^want || n.Float != 0 {
				t.Errorf("%s: Number gives %v, %d, want 0, %d", c.text, n.Float, end, ^want)
			}
			if end := Skip(padded(text), 0); end != ^want {
				t.Errorf("%s: Skip gives %d, want %d", c.text, end, ^want)
			}
		})
	}
}

// What a number's grammar leaves is for the caller to refuse: the end says where.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       float64
	}{
		{"N6 two points", "1.2¦.3", 1.2},
		{"N6 minus inside", "1¦-2", 1},
		{"N6 hexadecimal", "0¦x10", 0},
		{"N6 decimal comma", "1¦,5", 1},
		{"N6 underscore", "1¦_000", 1},
		{"N9 minus inside, 2 digits", "12¦-3", 12},
		{"letter", "1.25¦f", 1.25},
		{"byte from 80 on, integer", "12¦\xB1\x30", 12},
		{"byte from 80 on, fraction", "12.5¦\x8A9", 12.5},
		{"bytes around the digits", "7.5¦:5", 7.5},
		{"slash", "7.5¦/5", 7.5},
		{"8 digits, colon", "1234.5678¦:5", 1234.5678},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := strings.Index(c.text, "¦")
			text := strings.Replace(c.text, "¦", "", 1)
			if v, end := floatOf(text); end != want || v != c.want {
				t.Errorf("%s: got %v to %d, want %v to %d", c.text, v, end, c.want, want)
			}
			if n, end := Number(padded(text), 0); end != want || n.Float != c.want {
				t.Errorf("%s: Number gives %v to %d, want %v to %d", c.text, n.Float, end, c.want, want)
			}
		})
	}
}

func TestNumber(t *testing.T) {
	huge := math.Ldexp(1, 64)
	for _, c := range []struct {
		text string
		want Num
	}{
		{"0", Num{Int32, false, 0, 0}},
		{"-0", Num{Int32, true, 0, math.Copysign(0, -1)}},
		{"7", Num{Int32, false, 7, 7}},
		{"-1234567", Num{Int32, true, 1234567, -1234567}},
		{"12345678", Num{Int32, false, 12345678, 12345678}},
		{"1617171717", Num{Int32, false, 1617171717, 1617171717}},
		{"2147483647", Num{Int32, false, 1<<31 - 1, 1<<31 - 1}},
		{"2147483648", Num{Int64, false, 1 << 31, 1 << 31}},
		{"-2147483648", Num{Int32, true, 1 << 31, -1 << 31}},
		{"-2147483649", Num{Int64, true, 1<<31 + 1, -1<<31 - 1}},
		{"9007199254740993", Num{Int64, false, 9007199254740993, 9007199254740992}},
		{"9223372036854775807", Num{Int64, false, 1<<63 - 1, 1 << 63}},
		{"9223372036854775808", Num{Uint64, false, 1 << 63, 1 << 63}},
		{"-9223372036854775808", Num{Int64, true, 1 << 63, -1 << 63}},
		{"-9223372036854775809", Num{Huge, true, 0, -1 << 63}},
		{"9999999999999999999", Num{Uint64, false, 9999999999999999999, 1e19}},
		{"10000000000000000000", Num{Uint64, false, 1e19, 1e19}},
		{"-10000000000000000000", Num{Huge, true, 0, -1e19}},
		{"18446744073709551615", Num{Uint64, false, math.MaxUint64, huge}},
		{"18446744073709551616", Num{Huge, false, 0, huge}},
		{"18446744073709551620", Num{Huge, false, 0, huge}},
		{"99999999999999999999", Num{Huge, false, 0, 1e20}},
		{"100000000000000000000", Num{Huge, false, 0, 1e20}},
		{"-1" + strings.Repeat("0", 308), Num{Huge, true, 0, -1e308}},
		{"12.25", Num{Real, false, 0, 12.25}},
		{"-3.0", Num{Real, true, 0, -3}},
		{"1e3", Num{Real, false, 0, 1000}},
		{"0.5", Num{Real, false, 0, 0.5}},
		{"-1234567.7654321", Num{Real, true, 0, -1234567.7654321}},
		{"1234567.12345678", Num{Real, false, 0, 1234567.12345678}},
		{"4.5e3", Num{Real, false, 0, 4500}},
		{"12345678.5", Num{Real, false, 0, 12345678.5}},
		{"12345678e-1", Num{Real, false, 0, 1234567.8}},
		{"-0.0", Num{Real, true, 0, math.Copysign(0, -1)}},
	} {
		got, end := Number(padded(c.text), 0)
		want := c.want
		if got.Kind != want.Kind || got.Int != want.Int || got.Negative != want.Negative ||
			!same(got.Float, want.Float) || end != len(c.text) {
			t.Errorf("%s: got %+v to %d, want %+v to %d", c.text, got, end, want, len(c.text))
		}
	}
}

func TestExact(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{"0", true},
		{"9007199254740991", true},
		{"9007199254740992", true},
		{"9007199254740993", false},
		{"-9007199254740993", false},
		{"9007199254740994", true},
		{"9223372036854775808", true},
		{"9223372036854775807", false},
		{"18446744073709551615", false},
		{"18446744073709551616", true},
		{"-18446744073709551616", true},
		{"18446744073709551617", false},
		{"1" + strings.Repeat("0", 22), true},
		{"1" + strings.Repeat("0", 23), false},
		{"179769313486231570814527423731704356798070567525844996598917476803157260780028538760589558632766878171540458953514382464234321326889464182768467546703537516986049910576551282076245490090389328944075868508455133942304583236903222948165808559332123348274797826204144723168738177180919299881250404026184124858368", true},
		{"1" + strings.Repeat("0", 400), false},
	} {
		if got := Exact([]byte(c.text)); got != c.want {
			t.Errorf("Exact(%s): got %t, want %t", c.text, got, c.want)
		}
		if u, err := strconv.ParseUint(c.text, 10, 64); err == nil && ExactUint(u) != c.want {
			t.Errorf("ExactUint(%s): got %t, want %t", c.text, !c.want, c.want)
		}
	}
	for range 1000 {
		u := rand.Uint64() >> rand.IntN(64) << rand.IntN(12)
		want := u == 1<<64-1 || float64(u) < 1<<64 && uint64(float64(u)) == u
		if u > 1<<64-1024 {
			want = false
		}
		if got := ExactUint(u); got != want || Exact(strconv.AppendUint(nil, u, 10)) != want {
			t.Errorf("%d: got %t, want %t", u, got, want)
		}
	}
}

// Every prefix of a number is a shorter number, or an error right after it: a reader that has no
// more text yet waits there.
func TestPrefixes(t *testing.T) {
	texts := []string{
		"-0.0e-0", "1234567.1234567890123456789e+123", "123456789012345678901234567890.5E-12",
		"0.00000000000000000000000001", "100e5",
	}
	for _, c := range accepted {
		texts = append(texts, c.text)
	}
	for _, text := range texts {
		if len(text) > 400 {
			continue
		}
		for n := range len(text) {
			cut := text[:n]
			v, end := floatOf(cut)
			want, err := strconv.ParseFloat(cut, 64)
			switch {
			case end == n:
				if !grammar.MatchString(cut) || err != nil || !same(v, want) {
					t.Errorf("%q: got %v, want %v", cut, v, want)
				}
			case end == ^0 && math.IsInf(v, 0):
				if err == nil {
					t.Errorf("%q: got %v, want %v", cut, v, want)
				}
			case end != ^n || grammar.MatchString(cut):
				t.Errorf("%q: got %v, %d, want an error at %d", cut, v, end, n)
			}
			if _, numberEnd := Number(padded(cut), 0); numberEnd != end {
				t.Errorf("%q: Number ends at %d, Float at %d", cut, numberEnd, end)
			}
		}
	}
}

func TestLinearTime(t *testing.T) {
	// A quadratic reader takes minutes for these.
	for _, text := range []string{
		strings.Repeat("1", 10e6), "0." + strings.Repeat("0", 10e6) + "1", "1e" + strings.Repeat("1", 10e6),
		"1.5e-" + strings.Repeat("0", 10e6) + "1", "9007199254740993." + strings.Repeat("0", 10e6) + "1",
	} {
		if end := Skip(padded(text), 0); end != len(text) {
			t.Errorf("%.20s: got %d, want %d", text, end, len(text))
		}
		floatOf(text)
	}
}

func TestNoAllocation(t *testing.T) {
	for _, text := range []string{
		"-122.4194155", "12345678901234567890123.5", "1e99999999999", "5e-324",
		"1.2345678901234567890123e-300", "1e",
	} {
		q := padded(text)
		if n := testing.AllocsPerRun(10, func() { Float(q, 0); Number(q, 0) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

// TestRandom compares decimals of 1 to 30 digits, with and without exponents, with strconv.
func TestRandom(t *testing.T) {
	count := 12_000_000
	if testing.Short() {
		count = 300_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	buf := make([]byte, 128)
	for range count {
		text := appendRandom(buf[:0], r)
		clear(buf[len(text) : len(text)+Padding])
		want, err := strconv.ParseFloat(unsafe.String(&text[0], len(text)), 64)
		got, end := Float(unsafe.Pointer(&text[0]), 0)
		wantEnd := len(text)
		if err != nil {
			wantEnd = ^0
		}
		if !same(got, want) || end != wantEnd {
			t.Fatalf("%s: got %v (%x) to %d, want %v (%x) to %d", text, got, math.Float64bits(got), end,
				want, math.Float64bits(want), wantEnd)
		}
		if n, end := Number(unsafe.Pointer(&text[0]), 0); !same(n.Float, want) || end != wantEnd {
			t.Fatalf("%s: a Number is %v to %d, want %v to %d", text, n.Float, end, want, wantEnd)
		}
	}
}

// appendRandom writes a number: of random digits, of random bits as %g would, or the middle between
// two of these.
func appendRandom(b []byte, r *rand.Rand) []byte {
	u := r.Uint64()
	shape := u & 15
	u >>= 4
	if u&1 == 0 {
		b = append(b, '-')
	}
	u >>= 1
	switch {
	case shape == 0: // shortest text of any bits
		v := math.Float64frombits(r.Uint64() &^ (1 << 63))
		if math.IsInf(v, 0) || math.IsNaN(v) {
			v = 1
		}
		return strconv.AppendFloat(b, v, "eg"[u&1], -1, 64)
	case shape == 1: // shortest text of a coordinate
		return strconv.AppendFloat(b, r.Float64()*180, 'f', -1, 64)
	case shape == 2: // just next to the middle of two neighbours, of up to 40 digits
		v := math.Float64frombits(r.Uint64()>>12 | (1023-40+u%80)<<52)
		b = strconv.AppendUint(b, 2*uint64(math.Float64bits(v)&(1<<52-1)|1<<52)+1, 10)
		if u>>8&3 != 0 {
			b = append(b, ".000000000000000000000000"[:2+u>>10%20]...)
			b = append(b, '0'+byte(u>>20&1))
		}
		return b
	}
	whole := 1 + u%30
	u >>= 5
	if shape < 10 { // mostly small, as coordinates are
		whole = 1 + whole%4
	}
	fraction := u % (31 - whole)
	u >>= 5
	for i := range whole {
		if i%16 == 0 {
			u = r.Uint64()
		}
		c := byte(u%10) + '0'
		if i == 0 && c == '0' && whole > 1 {
			c = '1'
		}
		b = append(b, c)
		u /= 10
	}
	if fraction > 0 {
		b = append(b, '.')
	}
	for i := range fraction {
		if i%16 == 0 {
			u = r.Uint64()
		}
		b = append(b, byte(u%10)+'0')
		u /= 10
	}
	switch u = r.Uint64(); u & 7 {
	case 0: // any exponent
		b = append(b, "eE"[u>>8&1])
		return strconv.AppendInt(b, int64(u>>16%700)-350, 10)
	case 1: // a small one
		b = append(b, "eE"[u>>8&1])
		return strconv.AppendInt(b, int64(u>>16%50)-25, 10)
	}
	return b
}
