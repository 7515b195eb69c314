package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
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
var numberTypes = [...]func(r *rig, column, rows int) kernels.NumberColumn{
	nil,
	func(r *rig, column, rows int) kernels.NumberColumn {
		return kernels.NumberColumn{Column: column, Int32: poisoned[int32](r, rows)}
	},
	func(r *rig, column, rows int) kernels.NumberColumn {
		return kernels.NumberColumn{Column: column, Int64: poisoned[int64](r, rows)}
	},
	func(r *rig, column, rows int) kernels.NumberColumn {
		return kernels.NumberColumn{Column: column, Float64: poisoned[float64](r, rows)}
	},
}

// TestReadScalarsExpected has columns of all kinds of values expected to be of each type, and of
// none, and holds what is made of them against ParseNumbers, which must see the same even where the
// type is wrong.
func TestReadScalarsExpected(t *testing.T) {
	r := open(t)
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
			x := randomTable(rng, rows, values[:columns])
			made := func() (to []kernels.NumberColumn, undecided kernels.Mask) {
				floats := 0
				for c := range columns {
					if f := numberTypes[types[c]]; f != nil {
						to = append(to, f(r, c, rows))
						floats += min(1, to[len(to)-1].Float64.Len())
					}
				}
				return to, poisoned[uint64](r, floats*kernels.Words(rows))
			}
			expected, unsure := made()
			_, with := readScalars(r, x, rows, expected, unsure)
			text, without := readScalars(r, x, rows, nil, kernels.Mask{})
			sameItems(r, what+": starts", read(r, with.Starts), read(r, without.Starts))
			sameItems(r, what+": ends", read(r, with.Ends), read(r, without.Ends))
			sameItems(r, what+": valid", read(r, with.Valid), read(r, without.Valid))
			sameItems(r, what+": numbers", read(r, with.Numbers), read(r, without.Numbers))
			sameItems(r, what+": trues", read(r, with.Trues), read(r, without.Trues))
			sameItems(r, what+": kinds", read(r, with.Kinds), read(r, without.Kinds))
			parsed, undecided := made()
			r.ok(r.k.ParseNumbers(r.s, text, without, parsed, undecided))
			sameItems(r, what+": undecided", read(r, unsure), read(r, undecided))
			for i, p := range parsed {
				of := fmt.Sprintf("%s: column %d of %.40q", what, p.Column, values[p.Column])
				sameItems(r, of+" as int32", read(r, expected[i].Int32), read(r, p.Int32))
				sameItems(r, of+" as int64", read(r, expected[i].Int64), read(r, p.Int64))
				sameItems(r, of+" as float64", bitsOf(r, expected[i].Float64), bitsOf(r, p.Float64))
			}
		}
	}
}

// bitsOf are the bits of floats, of which a NaN is like no other.
func bitsOf(r *rig, b gpu.Buffer[float64]) (bits []uint64) {
	for _, v := range read(r, b) {
		bits = append(bits, math.Float64bits(v))
	}
	return bits
}
