package number_test

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
)

// floatOf is what ParseFloat64 and ResolveFloat64 make of a token, by strconv.
func floatOf(token string, g knumber.Grammar) (v float64, valid bool) {
	if !kerneltest.Grammars[g].MatchString(token) {
		return math.NaN(), false
	}
	v, err := strconv.ParseFloat(token, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		panic(err)
	}
	return v, err == nil
}

// longExponents are numbers whose exponents strconv cuts.
var longExponents = []struct {
	name, token string
	want        float64
}{
	{"zeros before digits", "0." + strings.Repeat("0", 200000) + "125e200001", 1.25},
	{"zeros behind digits", "-125" + strings.Repeat("0", 200000) + "e-200000", -125},
	{"tie", "9007199254740993" + strings.Repeat("0", 200000) + "e-200000", 9007199254740992},
	{"above tie", "9007199254740993" + strings.Repeat("0", 199999) + "1e-200000", 9007199254740994},
	{
		"above tie, fraction", "-0." + strings.Repeat("0", 200000) + "90071992547409930000000001e200016",
		-9007199254740994,
	},
	{"a million zeros and nothing", "0." + strings.Repeat("0", 1000000) + "e999999999999999999999", 0},
}
