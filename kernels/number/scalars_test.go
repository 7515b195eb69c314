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
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
)

// scalarValues are values of columns of several types: those that a column of int32, of int64, of
// uint64 or of float64 has, and others that have no number.
var scalarValues = [...][]string{
	{"0", "-0", "7", "-12", "2147483647", "-2147483648", "null", "true"},
	{"0", "-0", "123456789", "-9223372036854775808", "9223372036854775807", "false", "true"},
	{"0", "18446744073709551615", "9223372036854775808", "-0", "12345678"},
	{
		"-0", "-0.0", "0.0", "1.5", "-1e3", "9007199254740993", "1e-400", "1.00000000000000011102230246251565404",
		"true", "null", `"text"`, "[1]",
	},
	{`"x y"`, `""`, `{"a":1}`, "[2]", "null", "17"},
	{"null"},
}

func TestReadScalars(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(7, 1))
	for _, rows := range []int{0, 1, 63, 64, 65, 256, 257, 700} {
		for _, columns := range []int{0, 1, 3, 8, 9, 17} {
			values := make([][]string, columns)
			for c := range values {
				values[c] = scalarValues[c%len(scalarValues)]
			}
			x := kerneltest.RandomTable(rng, rows, values)
			_, to := kerneltest.ReadScalars(r, x, rows, nil, kernels.Mask{})
			starts, ends, kinds, words := kerneltest.Read(r, to.Starts), kerneltest.Read(r, to.Ends),
				kerneltest.Read(r, to.Kinds), kernels.Words(rows)
			valid, numbers, trues := kerneltest.Read(r, to.Valid), kerneltest.Read(r, to.Numbers),
				kerneltest.Read(r, to.Trues)
			for c := range columns {
				what := fmt.Sprintf("%d rows, column %d of %d", rows, c, columns)
				want := uint32(0)
				for row := range rows {
					v, kind := x.Value(c, row)
					var start, end int64
					switch kind {
					case kjson.ValueString:
						start, end = x.Starts[x.Slots[c][row]]+1, x.Ends[x.Slots[c][row]]-1
					case kjson.ValueNumber, kjson.ValueTrue, kjson.ValueFalse:
						start, end = x.Starts[x.Slots[c][row]], x.Ends[x.Slots[c][row]]
					}
					if kind == kjson.ValueNumber {
						want |= kerneltest.NumberKindsOf(v)
					}
					if i := c*rows + row; starts[i] != start || ends[i] != end {
						t.Fatalf("%s, row %d, %s: [%d, %d), want [%d, %d)", what, row, v, starts[i],
							ends[i], start, end)
					}
				}
				is := func(wants ...kjson.ValueKind) []uint64 {
					return kerneltest.Bitmap(rows, func(i int) bool {
						_, kind := x.Value(c, i)
						return kjson.Kinds(wants...)>>kind&1 != 0
					})
				}
				none := make([]byte, rows)
				kerneltest.SameMask(t, what+": valid", none, valid[c*words:(c+1)*words], is(kjson.ValueFalse,
					kjson.ValueTrue, kjson.ValueNumber, kjson.ValueString, kjson.ValueObject,
					kjson.ValueArray))
				kerneltest.SameMask(t, what+": numbers", none, numbers[c*words:(c+1)*words], is(kjson.ValueNumber))
				kerneltest.SameMask(t, what+": trues", none, trues[c*words:(c+1)*words], is(kjson.ValueTrue))
				if kinds[c] != want {
					t.Fatalf("%s: kinds %s, want %s", what, kerneltest.KindNames(kinds[c]), kerneltest.KindNames(want))
				}
			}
		}
	}
}

func TestParseNumbers(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(7, 2))
	for _, rows := range []int{1, 64, 65, 257, 700} {
		for _, columns := range []int{4, 9, 40} {
			values := make([][]string, columns)
			for c := range values {
				values[c] = scalarValues[c%4]
			}
			x := kerneltest.RandomTable(rng, rows, values)
			text, from := kerneltest.ReadScalars(r, x, rows, nil, kernels.Mask{})
			var to []knumber.NumberColumn
			floats := 0
			for c := range columns {
				if c%7 == 6 { // not parsed
					continue
				}
				n := knumber.NumberColumn{Column: c}
				switch c % 4 {
				case 0:
					n.Int32 = kerneltest.Poisoned[int32](r, rows)
				case 3:
					n.Float64 = kerneltest.Poisoned[float64](r, rows)
					floats++
				default:
					n.Int64 = kerneltest.Poisoned[int64](r, rows)
				}
				to = append(to, n)
			}
			words := kernels.Words(rows)
			undecided := kerneltest.Poisoned[uint64](r, floats*words)
			r.OK(knumber.ParseNumbers(r.Set, r.Stream, text, from, to, undecided))
			looks := kerneltest.Read(r, undecided)
			for _, n := range to {
				what := fmt.Sprintf("%d rows, column %d of %d", rows, n.Column, columns)
				narrow, wide, float := kerneltest.Read(r, n.Int32), kerneltest.Read(r, n.Int64),
					kerneltest.Read(r, n.Float64)
				for row := range rows {
					v, kind := x.Value(n.Column, row)
					bits, f := kerneltest.NumberOf(v, kind)
					switch {
					case len(narrow) > 0 && int64(narrow[row]) != bits:
						t.Fatalf("%s, row %d, %s: %d", what, row, v, narrow[row])
					case len(wide) > 0 && wide[row] != bits:
						t.Fatalf("%s, row %d, %s: %d", what, row, v, wide[row])
					case len(float) == 0:
					case kerneltest.Bit(looks, row) != strings.HasPrefix(v, "1.00000000000000011102230246251565404"):
						t.Fatalf("%s, row %d, %s: undecided is %v", what, row, v, kerneltest.Bit(looks, row))
					case !kerneltest.Bit(looks, row) && math.Float64bits(float[row]) != math.Float64bits(f):
						t.Fatalf("%s, row %d, %s: %v, want %v", what, row, v, float[row], f)
					}
				}
				if len(float) > 0 {
					looks = looks[words:]
				}
			}
		}
	}
}

// Elements of lists are numbers all, without a mask. The integers are those around every bound.
func TestParseNumbersWithoutMasks(t *testing.T) {
	r := kerneltest.Open(t)
	var x kerneltest.Tokens
	var want []int64
	for _, token := range kerneltest.KnownIntegers() {
		if kinds := kerneltest.NumberKindsOf(token); kinds&(knumber.NumberInt32|knumber.NumberInt64|
			knumber.NumberUint64) != 0 {
			x.Add(token, "]")
			bits, _ := kerneltest.NumberOf(token, kjson.ValueNumber)
			want = append(want, bits)
		}
	}
	// none
	x.Starts, x.Ends, want = append(x.Starts, 0, -1, 5, 0), append(x.Ends, 0, 3, 1<<40, 30), append(want, 0, 0, 0, 0)
	text := kerneltest.Upload(r, x.Text)
	from := knumber.Scalars{Starts: kerneltest.Upload(r, x.Starts), Ends: kerneltest.Upload(r, x.Ends)}
	wide := kerneltest.Poisoned[int64](r, len(want))
	r.OK(knumber.ParseNumbers(r.Set, r.Stream, text, from, []knumber.NumberColumn{{Int64: wide}}, kernels.Mask{}))
	kerneltest.SameItems(r, "integers", kerneltest.Read(r, wide), want)

	x = kerneltest.Tokens{}
	for _, c := range kerneltest.KnownDecimals {
		x.Add(c.Token, "]")
	}
	n := len(x.Starts)
	text, from = kerneltest.Upload(r, x.Text), knumber.Scalars{
		Starts: kerneltest.Upload(r, x.Starts),
		Ends:   kerneltest.Upload(r, x.Ends),
	}
	out, undecided := kerneltest.Poisoned[float64](r, n), kerneltest.Poisoned[uint64](r, kernels.Words(n))
	r.OK(knumber.ParseNumbers(r.Set, r.Stream, text, from, []knumber.NumberColumn{{Float64: out}}, undecided))
	before, _ := kerneltest.ParseFloats(r, &x, knumber.GrammarJSON)
	kerneltest.SameItems(r, "undecided", kerneltest.Read(r, undecided), kerneltest.Bitmap(n, func(i int) bool {
		return kerneltest.Bit(before.Undecided, i) || len(x.Token(i)) > 1024
	}))
	for i, v := range kerneltest.Read(r, out) {
		if want := before.Out[i]; math.Float64bits(v) != math.Float64bits(want) && x.Token(i) != "-0" &&
			!math.IsNaN(want) {
			t.Errorf("%.60q: %v, want %v", x.Token(i), v, want)
		}
	}
}

func TestScalarsRefuses(t *testing.T) {
	r := kerneltest.Open(t)
	text, at, kinds, slots, mask := kerneltest.Upload(r, make([]byte, 99)), kerneltest.Upload(r, make([]uint32, 70)),
		kerneltest.Upload(r, make([]kjson.ValueKind, 70)), kerneltest.Upload(r, make([]int32, 70)),
		kerneltest.Poisoned[uint64](r, 2)
	spans := kerneltest.Poisoned[int64](r, 70)
	sound := knumber.Scalars{
		Starts: spans, Ends: spans, Valid: mask, Numbers: mask, Trues: mask,
		Kinds: kerneltest.Poisoned[uint32](r, 1),
	}
	two := []gpu.Buffer[int32]{slots, slots.Slice(0, 69)}
	for _, tt := range []struct {
		name   string
		slots  []gpu.Buffer[int32]
		kind   gpu.Buffer[kjson.ValueKind]
		change func(x *knumber.Scalars)
	}{
		{"few kinds of values", two[:1], kinds.Slice(0, 69), func(*knumber.Scalars) {}},
		{"columns of several lengths", two, kinds, func(*knumber.Scalars) {}},
		{"few starts", two[:1], kinds, func(x *knumber.Scalars) { x.Starts = spans.Slice(0, 69) }},
		{"a short mask", two[:1], kinds, func(x *knumber.Scalars) { x.Numbers = mask.Slice(0, 1) }},
		{"no kinds", two[:1], kinds, func(x *knumber.Scalars) { x.Kinds = gpu.Buffer[uint32]{} }},
	} {
		to := sound
		tt.change(&to)
		if _, err := kjson.ReadMembers(r.Set, r.Stream, text, kjson.MemberValues{Start: at, End: at, Kind: tt.kind},
			kjson.ScalarColumns{Slots: tt.slots, To: to}, nil); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
	narrow, wide, float := kerneltest.Poisoned[int32](r, 70), kerneltest.Poisoned[int64](r, 70),
		kerneltest.Poisoned[float64](r, 70)
	pair := knumber.Scalars{
		Starts: kerneltest.Poisoned[int64](r, 140), Ends: kerneltest.Poisoned[int64](r, 140),
		Valid: kerneltest.Poisoned[uint64](r, 4), Numbers: kerneltest.Poisoned[uint64](r, 4),
		Trues: kerneltest.Poisoned[uint64](r, 4),
		Kinds: kerneltest.Poisoned[uint32](r, 2),
	}
	for _, tt := range []struct {
		name      string
		expected  []knumber.NumberColumn
		undecided kernels.Mask
	}{
		{"expected of two types", []knumber.NumberColumn{{Int32: narrow, Int64: wide}}, kernels.Mask{}},
		{"expected of no type", []knumber.NumberColumn{{}}, kernels.Mask{}},
		{"expected, and no such column", []knumber.NumberColumn{{Column: 2, Int32: narrow}}, kernels.Mask{}},
		{"expected below 0", []knumber.NumberColumn{{Column: -1, Int32: narrow}}, kernels.Mask{}},
		{"expected twice", []knumber.NumberColumn{{Int32: narrow}, {Int64: wide}}, kernels.Mask{}},
		{"expected out of order", []knumber.NumberColumn{{Column: 1, Int32: narrow}, {Int64: wide}}, kernels.Mask{}},
		{"expected to be short", []knumber.NumberColumn{{Int64: wide.Slice(0, 69)}}, kernels.Mask{}},
		{"nothing for what is expected and undecided", []knumber.NumberColumn{{Float64: float}}, kernels.Mask{}},
		{"too much for what is expected and undecided", []knumber.NumberColumn{{Int32: narrow}}, mask},
	} {
		if _, err := kjson.ReadMembers(r.Set, r.Stream, text, kjson.MemberValues{Start: at, End: at, Kind: kinds},
			kjson.ScalarColumns{
				Slots: []gpu.Buffer[int32]{slots, slots}, To: pair, Expected: tt.expected,
				Undecided: tt.undecided,
			}, nil); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
	for _, tt := range []struct {
		name      string
		columns   []knumber.NumberColumn
		undecided kernels.Mask
	}{
		{"two types", []knumber.NumberColumn{{Int32: narrow, Int64: wide}}, kernels.Mask{}},
		{"no such column", []knumber.NumberColumn{{Column: 1, Int32: narrow}}, kernels.Mask{}},
		{"a column below 0", []knumber.NumberColumn{{Column: -1, Int32: narrow}}, kernels.Mask{}},
		{
			"columns of several lengths",
			[]knumber.NumberColumn{{Int32: narrow}, {Int64: wide.Slice(0, 69)}},
			kernels.Mask{},
		},
		{"nothing for what is undecided", []knumber.NumberColumn{{Float64: float}}, kernels.Mask{}},
		{"too much for what is undecided", []knumber.NumberColumn{{Int32: narrow}}, mask},
	} {
		if knumber.ParseNumbers(r.Set, r.Stream, text, sound, tt.columns, tt.undecided) == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}
