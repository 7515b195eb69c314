package kerneltest

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/kernels"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
)

// Tokens are pieces of a text.
type Tokens struct {
	Text         []byte
	Starts, Ends []int64
}

// Add appends a token and what follows it.
func (x *Tokens) Add(token, follow string) {
	x.Starts = append(x.Starts, int64(len(x.Text)))
	x.Text = append(x.Text, token...)
	x.Ends = append(x.Ends, int64(len(x.Text)))
	x.Text = append(x.Text, follow...)
}

// Token returns the text of token i.
func (x *Tokens) Token(i int) string { return string(x.Text[x.Starts[i]:x.Ends[i]]) }

// floatResults are the results of ParseFloat64, on the host.
type floatResults struct {
	Out              []float64
	Valid, Undecided []uint64
}

// ParseFloats runs ParseFloat64, and gives what it said before and after ResolveFloat64.
func ParseFloats(r *Rig, x *Tokens, g knumber.Grammar) (before, after floatResults) {
	r.Helper()
	n := len(x.Starts)
	text, starts, ends := Upload(r, x.Text), Upload(r, x.Starts), Upload(r, x.Ends)
	to := knumber.Float64s{
		Out: Poisoned[float64](r, n), Valid: Poisoned[uint64](r, kernels.Words(n)),
		Undecided: Poisoned[uint64](r, kernels.Words(n)),
	}
	r.OK(knumber.ParseFloat64(r.Set, r.Stream, text, starts, ends, g, to))
	results := func() floatResults {
		return floatResults{Out: Read(r, to.Out), Valid: Read(r, to.Valid), Undecided: Read(r, to.Undecided)}
	}
	before = results()
	resolved, err := knumber.ResolveFloat64(r.Set, r.Stream, text, starts, ends, g, to)
	r.OK(err)
	if want := len(SetBits(before.Undecided, 0)); resolved != want {
		r.Fatalf("%d tokens resolved, want %d", resolved, want)
	}
	return before, results()
}

// Bit reports whether bit i of mask is set.
func Bit(mask []uint64, i int) bool { return mask[i/64]>>(i%64)&1 != 0 }

// Significant is the number of digits of a number from the first to the last that is not 0.
func Significant(token string) int {
	token, _, _ = strings.Cut(strings.ToLower(token), "e")
	return len(strings.Trim(strings.NewReplacer("-", "", "+", "", ".", "").Replace(token), "0"))
}

// SameFloat compares bits, all NaNs being one.
func SameFloat(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// KnownDecimals are numbers on which parsers are known to fail; N1 to N13 are the names of such
// traps, the others were found in fast_float's tests.
var KnownDecimals = []struct{ name, Token string }{
	{"N1 shortest, 14 decimals", "90.81246689931749"},
	{"N1 shortest, 15 decimals", "-122.419415500000012"},
	{"N1 web mercator", "13358338.895192828"},
	{"N1 web mercator, 8 and 2", "20037508.34"},
	{"N2 least subnormal, written short", "4.9e-324"},
	{"N2 least subnormal", "5e-324"},
	{"N2 least normal", "2.2250738585072014e-308"},
	{"N2 largest subnormal", "2.225073858507201e-308"},
	{"N2 between subnormal and normal", "2.2250738585072012e-308"},
	{"N2 the PHP and Java loop", "2.2250738585072011e-308"},
	{"N2 half of the least", "2.470328229206232720882843964341106861825299013071623822127928412503377536351043759326499181808179961898982823477228588654633283551779698981993873980053909390631503565951557022639229085839244910518443593180284993653615250031937045767824e-324"},
	{"N2 more than half of the least", "2.4703282292062328e-324"},
	{"N2 less than half of the least", "2.4703282292062327e-324"},
	{"N3 largest", "1.7976931348623157e308"},
	{"N3 rounds down to the largest", "1.7976931348623158e308"},
	{"N3 just below the middle to infinity", "1.797693134862315807e308"},
	{"N3 middle to infinity", "1.797693134862315808e308"},
	{"N3 beyond", "-1.7976931348623159e308"},
	{"N3 beyond by digits", strings.Repeat("9", 309)},
	{"N4 bits printed", "3.0287461749226355e-193"},
	{"N4 bits printed, large", "-8.510938476532019e+241"},
	{"N5 empty", ""},
	{"N5 letters", "abc"},
	{"N5 nan", "nan"},
	{"N5 NaN", "NaN"},
	{"N5 Infinity", "Infinity"},
	{"N5 -inf", "-inf"},
	{"N5 point", "."},
	{"N5 minus point", "-."},
	{"N5 minus", "-"},
	{"N5 plus", "+"},
	{"N5 exponent alone", "e5"},
	{"N5 point and exponent", ".e5"},
	{"N6 two points", "1.2.3"},
	{"N6 minus inside", "1-2"},
	{"N6 two minuses", "--1"},
	{"N6 plus and minus", "+-1"},
	{"N6 hexadecimal", "0x10"},
	{"N6 decimal comma", "1,5"},
	{"N6 no exponent", "1e"},
	{"N6 no exponent behind sign", "1e+"},
	{"N6 two signs", "1e+-1"},
	{"N6 fraction in exponent", "1e1.5"},
	{"N6 two exponents", "1e1e1"},
	{"N6 underscore", "1_000"},
	{"N6 blank behind", "1 "},
	{"N6 blank before", " 1"},
	{"N6 blank inside", "40 42"},
	{"N6 letter behind", "1.25f"},
	{"N6 bytes around the digits", "7.5:5"},
	{"N6 slash", "7.5/5"},
	{"N6 byte from 80 on", "12.5\x8a9"},
	{"N6 byte from 80 on, like a digit", "1\xb12"},
	{"N6 zero byte", "1\x002"},
	{"N7 leading zeros", "00012"},
	{"N7 leading zeros, 8 digits", "00000125"},
	{"N7 leading zeros, negative", "-01.5"},
	{"N7 leading zeros, many", strings.Repeat("0", 100) + "1"},
	{"N7 two zeros", "00"},
	{"N7 plus", "+5"},
	{"N7 no integer part", ".5"},
	{"N7 no integer part, negative", "-.5"},
	{"N7 no fraction", "5."},
	{"N7 no fraction, 8 digits", "12345678."},
	{"N7 no fraction, 16 digits", "1234567812345678."},
	{"N7 no fraction, exponent", "5.e3"},
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
	{"N11 huge exponent", "1e99999999999"},
	{"N11 tiny", "1e-400"},
	{"N11 tiny, long exponent", "-1e-99999999999"},
	{"N11 zero, long exponent", "0e99999999999"},
	{"N11 zero, exponent of 30 digits", "0.000e+999999999999999999999999999999"},
	{"N11 exponent with zeros", "1e0000000000000000000000000000000000000002"},
	{"N12 beyond 2^53", "9007199254740993"},
	{"N12 beyond uint64", "18446744073709551616"},
	{"N13 negative zero", "-0.0"},
	{"N13 negative zero, integer", "-0"},
	{"N13 negative zero by rounding", "-1e-999"},
	{"zero", "0"},
	{"zero, 16 digits", "0.000000000000000"},
	{"zero, 17 digits", "0.0000000000000000"},
	{"zero, 30 digits", "0." + strings.Repeat("0", 29)},
	{"many zeros, then a digit", "0." + strings.Repeat("0", 400) + "1"},
	{"many zeros against the exponent", "0." + strings.Repeat("0", 400) + "1e400"},
	{"many zeros against the exponent, integer", "1" + strings.Repeat("0", 400) + "e-400"},
	{"1023 bytes", "0." + strings.Repeat("1", 1021)},
	{"1024 bytes", "0." + strings.Repeat("1", 1022)},
	{"1025 bytes", "0." + strings.Repeat("1", 1023)},
	{"1025 bytes and a letter", "0." + strings.Repeat("1", 1022) + "x"},
	{"1025 bytes with exponent", "0." + strings.Repeat("1", 1020) + "e-3"},
	{"exponent behind 1024 bytes", "0." + strings.Repeat("1", 1022) + "e-3"},
	{"1024 bytes, then e", "0." + strings.Repeat("1", 1022) + "e"},
	{"10000 bytes", strings.Repeat("0", 9990) + "1234567.25"},
	{"19 digits", "179.1234567890123456"},
	{"19 digits, 8 before", "12345678.90123456789"},
	{"19 digits, 11 before", "12345678901.23456789"},
	{"19 digits, 16 before", "1234567890123456.789"},
	{"19 digits, 18 before", "123456789012345678.9"},
	{"20 digits", "179.12345678901234567"},
	{"20 digits, 19 before", "1234567890123456789.5"},
	{"20 digits before", "12345678901234567890.5"},
	{"24 digits", "179.123456789012345678901"},
	{"exponent signs", "1E+2"},
	{"exponent of short decimals", "12.5e-3"},
	{"Clinger: 2^53 - 1 with 22", "9007199254740991e22"},
	{"Clinger: 2^53 with -22", "9007199254740992e-22"},
	{"ties of small powers", "5e-1"},
	{"fast_float: 7.2057594037927933e16", "7.2057594037927933e+16"},
	{"fast_float: 8.988465674311582e307", "89884656743115815e291"},
	{"fast_float: 6.9294956446009195e15", "6929495644600919.5"},
	{"fast_float: 3.7455744005952583e15", "3745574400595258.25"},
	{"fast_float: 9.355950000000000e-8", "0.00000009355950000000000"},
	{"fast_float: 860228122.6654514e38", "860228122.6654514319E+90"},
	{"fast_float: 3e-324", "3e-324"},
	{"fast_float: 1.4916681462400413e-154", "1.4916681462400413486581930630926495e-154"},
	{"fast_float: 2.2222222222223e-322", "2.2222222222223e-322"},
	{"fast_float: long 1.17549", "0.0000000000000000000000000000000000000117549421069244107548702944485492873488270524287458933338571745305715888704756189042655023513362901"},
	{"fast_float: 10^19-1", "9999999999999999999e-19"},
	{"fast_float: 10^20-1", "99999999999999999999"},
}

// AppendDecimal appends a random JSON number: coordinates, any digits with any exponent, float64 of
// all sizes as they are printed, and what lies at, next to and near the middle of two of them.
func AppendDecimal(b []byte, rng *rand.Rand) []byte {
	switch rng.IntN(16) {
	case 0, 1, 2, 3:
		return strconv.AppendFloat(b, 360*rng.Float64()-180, 'f', rng.IntN(18), 64)
	case 4, 5, 6, 7, 8:
		return appendDigits(b, rng)
	case 9, 10:
		return strconv.AppendFloat(b, finite(rng), 'g', -1, 64)
	case 11, 12:
		return strconv.AppendFloat(b, finite(rng), 'e', 16, 64)
	case 13:
		return strconv.AppendInt(b, int64(rng.Uint64())>>rng.IntN(64), 10)
	default:
		return appendMiddle(b, rng)
	}
}

// NumberKindsOf is what NumberKinds says of one token, by math/big and strconv.
func NumberKindsOf(token string) uint32 {
	switch {
	case len(token) > 1024:
		return knumber.NumberUndecided
	case !Grammars[knumber.GrammarJSON].MatchString(token):
		return knumber.NumberMalformed
	case strings.ContainsAny(token, ".eE"):
		return knumber.NumberReal | rangeOf(token)
	}
	v, _ := new(big.Int).SetString(token, 10)
	kinds := knumber.NumberHuge
	switch {
	case v.IsInt64() && int64(int32(v.Int64())) == v.Int64():
		kinds = knumber.NumberInt32
	case v.IsInt64():
		kinds = knumber.NumberInt64
	case v.IsUint64():
		kinds = knumber.NumberUint64
	}
	if v.IsInt64() && v.Sign() < 0 {
		kinds |= knumber.NumberNegative
	}
	beyond := rangeOf(token)
	f, _ := strconv.ParseFloat(token, 64)
	switch digits := strings.TrimPrefix(token, "-"); {
	case beyond != 0:
		kinds |= beyond | knumber.NumberInexact
	case len(digits) > 38 && v.TrailingZeroBits() >= 74 && !strings.HasSuffix(digits, strings.Repeat("0", 23)):
		kinds |= knumber.NumberUndecided
	default:
		if held, _ := big.NewFloat(f).Int(nil); held.Cmp(v) != 0 {
			kinds |= knumber.NumberInexact
		}
	}
	return kinds
}

// rangeOf reports whether a number is beyond float64: undecided where its first 19 digits are on one
// side, and on the other with one more in the last.
func rangeOf(token string) uint32 {
	over := func(text string) bool {
		v, _ := strconv.ParseFloat(text, 64)
		return math.IsInf(v, 0)
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(token), "e")
	integer, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	digits := strings.TrimLeft(integer+fraction, "0")
	beyond := uint32(0)
	if over(token) {
		beyond = knumber.NumberRange
	}
	if len(digits) <= 19 || strings.Trim(digits[19:], "0") == "" {
		return beyond
	}
	first, _ := strconv.ParseUint(digits[:19], 10, 64)
	power, err := strconv.Atoi("0" + strings.TrimPrefix(exponent, "+"))
	if strings.HasPrefix(exponent, "-") {
		power, err = strconv.Atoi(exponent)
	}
	if err != nil {
		return beyond
	}
	power += len(digits) - 19 - len(fraction)
	if !over(fmt.Sprintf("%de%d", first, power)) && over(fmt.Sprintf("%de%d", first+1, power)) {
		return knumber.NumberUndecided
	}
	return beyond
}

// KindNames spells kinds out.
func KindNames(kinds uint32) string {
	var names []string
	for i, name := range strings.Fields("Int32 Int64 Uint64 Huge Real Negative Malformed Range Inexact Undecided") {
		if kinds>>i&1 != 0 {
			names = append(names, name)
		}
	}
	if kinds>>10 != 0 {
		names = append(names, fmt.Sprintf("%#x", kinds))
	}
	return strings.Join(names, " ")
}

// KnownIntegers are those around every bound: of int32, int64, uint64, 2^53, float64's range and
// 128 bits.
func KnownIntegers() []string {
	var list []string
	add := func(v *big.Int) { list = append(list, v.String(), new(big.Int).Neg(v).String()) }
	for _, power := range []uint{
		0, 1, 31, 32, 52, 53, 54, 63, 64, 65, 74, 75, 100, 116, 117, 118, 126,
		127, 128, 129, 200, 970, 971, 1023, 1024,
	} {
		v := new(big.Int).Lsh(big.NewInt(1), power)
		for d := int64(-2); d <= 2; d++ {
			add(new(big.Int).Add(v, big.NewInt(d)))
		}
		for _, bits := range []uint{52, 53, 54} { // significands of as many bits
			if power >= bits {
				low := new(big.Int).Lsh(big.NewInt(1), power-bits)
				add(new(big.Int).Add(v, low))
				add(new(big.Int).Sub(v, low))
			}
		}
	}
	for _, digits := range []int{
		1, 9, 10, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 37, 38, 39, 40, 60,
		308, 309, 310, 400, 1023, 1024, 1025,
	} {
		list = append(list, "1"+strings.Repeat("0", digits-1), "-"+strings.Repeat("9", digits),
			"9007199254740993"+strings.Repeat("0", digits-1))
	}
	largest, _ := new(big.Float).SetFloat64(math.MaxFloat64).Int(nil)
	half := new(big.Int).Lsh(big.NewInt(1), 970)
	for d := int64(-1); d <= 1; d++ {
		add(new(big.Int).Add(largest, big.NewInt(d)))
		add(new(big.Int).Add(new(big.Int).Add(largest, half), big.NewInt(d)))
	}
	return append(list, "-0", "-00", "01", "-01", "00", "-", "", "+1", "--1", "1-", "12345678x", "x",
		"123456789012345678901234567890123456789x", "0x10", " 1", "1 ", "1\xb1", "\x00")
}

// ExclusiveSums is ExclusiveScan; the sum of all comes last.
func ExclusiveSums[T kernels.Count](in []T) []int64 {
	out := []int64{0}
	for _, v := range in {
		out = append(out, out[len(out)-1]+int64(v))
	}
	return out
}

// SameItems compares two lists and shows where they begin to differ.
func SameItems[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: element %d of %d is %v, want %v", what, i, len(want), got[i], want[i])
		}
	}
}

// SetBits lists the set bits of mask, each with base added.
func SetBits(mask []uint64, base int64) []int64 {
	out := []int64{}
	for w, word := range mask {
		for ; word != 0; word &= word - 1 {
			out = append(out, base+int64(w)*64+int64(bits.TrailingZeros64(word)))
		}
	}
	return out
}

// NumberOf is what ParseNumbers makes of a value, by strconv: an integer's 64 bits, and a float64.
func NumberOf(token string, kind kjson.ValueKind) (bits int64, float float64) {
	switch {
	case kind == kjson.ValueTrue:
		return 1, 1
	case kind != kjson.ValueNumber:
		return 0, 0
	}
	bits, err := strconv.ParseInt(token, 10, 64)
	if err != nil {
		v, _ := strconv.ParseUint(token, 10, 64)
		bits = int64(v)
	}
	if token != "-0" {
		float, _ = strconv.ParseFloat(token, 64)
	}
	return bits, float
}

// Grammars are the grammars of numbers, as regular expressions.
var Grammars = map[knumber.Grammar]*regexp.Regexp{
	knumber.GrammarJSON:    regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`),
	knumber.GrammarLenient: regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`),
}

// finite is a float64 of random bits.
func finite(rng *rand.Rand) float64 {
	for {
		if v := math.Float64frombits(rng.Uint64()); !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	}
}

// appendDigits appends 1 to 30 digits with a point and an exponent somewhere.
func appendDigits(b []byte, rng *rand.Rand) []byte {
	if rng.IntN(2) == 0 {
		b = append(b, '-')
	}
	count := 1 + rng.IntN(30)
	point := rng.IntN(count + 1)
	if point == 0 {
		b = append(b, '0')
	}
	for i := range count {
		if i == point {
			b = append(b, '.')
		}
		digit := byte(rng.IntN(10))
		if i == 0 && point > 1 && digit == 0 {
			digit = 1
		}
		b = append(b, '0'+digit)
	}
	if rng.IntN(2) == 0 {
		return b
	}
	b = append(b, "eE"[rng.IntN(2)])
	exponent := rng.IntN(651) - 340
	if exponent >= 0 && rng.IntN(2) == 0 {
		b = append(b, '+')
	}
	return strconv.AppendInt(b, int64(exponent), 10)
}

// appendMiddle appends the middle between a float64 and the next one: all digits, or only some, or
// with another digit at the end.
func appendMiddle(b []byte, rng *rand.Rand) []byte {
	mantissa, exponent := 1<<52|rng.Uint64()>>12, rng.IntN(120)-110
	if rng.IntN(4) == 0 {
		mantissa >>= 1 + rng.IntN(51)
	}
	v := new(big.Float).SetMantExp(new(big.Float).SetUint64(2*mantissa+1), exponent)
	text := v.Text('e', -1)
	if rng.IntN(2) == 0 {
		text = v.Text('e', 16+rng.IntN(12))
	}
	digits, power, _ := strings.Cut(text, "e")
	b = append(b, digits...)
	switch rng.IntN(4) {
	case 0:
		b = append(b, "0000000000000000000000000000000000001"...)
	case 1:
		if last := &b[len(b)-1]; *last != '0' && *last != '.' {
			*last--
		}
	}
	return append(append(b, 'e'), power...)
}
