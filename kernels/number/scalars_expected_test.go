package number_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
)

// expectedValues are those of scalarValues, and others that a type may be expected of in vain.
func expectedValues() [][]string {
	long := strings.Repeat("1", 1030)
	return append(scalarValues[:len(scalarValues):len(scalarValues)],
		[]string{
			"18446744073709551616", "-9223372036854775809", "9007199254740993", "123456789012345678901234567890",
			"-1" + strings.Repeat("0", 40), "340282366920938463463374607431768211456",
		},
		[]string{
			long[:308], long[:309], "9" + long[:308], long[:310], "1e400", "-1e400", "1.7976931348623158e308",
			"2.4703282292062327208299493696434e-324", "1E5", "0e0", "-0e0",
		},
		[]string{long, "-" + long, "0." + long, long[:1024], "7"},
		[]string{"1", "01", "-", "-x", "1.", "1e", "1x", "-0x", "12345678x", "00", "-00"},
		[]string{"true", "false", "null"},
	)
}

// numberTypes makes a column of each type, or none.
var numberTypes = [...]func(r *kerneltest.Rig, column, rows int) knumber.NumberColumn{
	nil,
	func(r *kerneltest.Rig, column, rows int) knumber.NumberColumn {
		return knumber.NumberColumn{Column: column, Int32: kerneltest.Poisoned[int32](r, rows)}
	},
	func(r *kerneltest.Rig, column, rows int) knumber.NumberColumn {
		return knumber.NumberColumn{Column: column, Int64: kerneltest.Poisoned[int64](r, rows)}
	},
	func(r *kerneltest.Rig, column, rows int) knumber.NumberColumn {
		return knumber.NumberColumn{Column: column, Float64: kerneltest.Poisoned[float64](r, rows)}
	},
}

// TestReadScalarsExpected has columns of all kinds of values expected to be of each type, and of
// none, and holds what is made of them against ParseNumbers, which must see the same even where the
// type is wrong.
func TestReadScalarsExpected(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(7, 3))
	var values [][]string
	var types []int
	for _, v := range expectedValues() {
		for i := range numberTypes {
			values, types = append(values, v), append(types, i)
		}
	}
	for _, rows := range []int{1, 63, 64, 65, 257, 700} {
		rng.Shuffle(len(values), func(i, j int) {
			values[i], values[j], types[i], types[j] = values[j], values[i], types[j], types[i]
		})
		for _, columns := range []int{1, 7, 8, 9, len(values)} {
			what := fmt.Sprintf("%d rows, %d columns", rows, columns)
			x := kerneltest.RandomTable(rng, rows, values[:columns])
			made := func() (to []knumber.NumberColumn, undecided kernels.Mask) {
				floats := 0
				for c := range columns {
					if f := numberTypes[types[c]]; f != nil {
						to = append(to, f(r, c, rows))
						floats += min(1, to[len(to)-1].Float64.Len())
					}
				}
				return to, kerneltest.Poisoned[uint64](r, floats*kernels.Words(rows))
			}
			expected, unsure := made()
			_, with := kerneltest.ReadScalars(r, x, rows, expected, unsure)
			text, without := kerneltest.ReadScalars(r, x, rows, nil, kernels.Mask{})
			kerneltest.SameItems(r, what+": starts", kerneltest.Read(r, with.Starts),
				kerneltest.Read(r, without.Starts))
			kerneltest.SameItems(r, what+": ends", kerneltest.Read(r, with.Ends), kerneltest.Read(r, without.Ends))
			kerneltest.SameItems(r, what+": valid", kerneltest.Read(r, with.Valid), kerneltest.Read(r, without.Valid))
			kerneltest.SameItems(r, what+": numbers", kerneltest.Read(r, with.Numbers),
				kerneltest.Read(r, without.Numbers))
			kerneltest.SameItems(r, what+": trues", kerneltest.Read(r, with.Trues), kerneltest.Read(r, without.Trues))
			kerneltest.SameItems(r, what+": kinds", kerneltest.Read(r, with.Kinds), kerneltest.Read(r, without.Kinds))
			parsed, undecided := made()
			r.OK(knumber.ParseNumbers(r.Set, r.Stream, text, without, parsed, undecided))
			kerneltest.SameItems(r, what+": undecided", kerneltest.Read(r, unsure), kerneltest.Read(r, undecided))
			for i, p := range parsed {
				of := fmt.Sprintf("%s: column %d of %.40q", what, p.Column, values[p.Column])
				kerneltest.SameItems(r, of+" as int32", kerneltest.Read(r, expected[i].Int32),
					kerneltest.Read(r, p.Int32))
				kerneltest.SameItems(r, of+" as int64", kerneltest.Read(r, expected[i].Int64),
					kerneltest.Read(r, p.Int64))
				kerneltest.SameItems(r, of+" as float64", bitsOf(r, expected[i].Float64), bitsOf(r, p.Float64))
			}
		}
	}
}

// bitsOf are the bits of floats, of which a NaN is like no other.
func bitsOf(r *kerneltest.Rig, b gpu.Buffer[float64]) (bits []uint64) {
	for _, v := range kerneltest.Read(r, b) {
		bits = append(bits, math.Float64bits(v))
	}
	return bits
}
