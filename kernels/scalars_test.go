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
	r := open(t)
	rng := rand.New(rand.NewPCG(7, 1))
	for _, rows := range []int{0, 1, 63, 64, 65, 256, 257, 700} {
		for _, columns := range []int{0, 1, 3, 8, 9, 17} {
			values := make([][]string, columns)
			for c := range values {
				values[c] = scalarValues[c%len(scalarValues)]
			}
			x := randomTable(rng, rows, values)
			_, to := readScalars(r, x, rows, nil, kernels.Mask{})
			starts, ends, kinds, words := read(r, to.Starts), read(r, to.Ends), read(r, to.Kinds), kernels.Words(rows)
			valid, numbers, trues := read(r, to.Valid), read(r, to.Numbers), read(r, to.Trues)
			for c := range columns {
				what := fmt.Sprintf("%d rows, column %d of %d", rows, c, columns)
				want := uint32(0)
				for row := range rows {
					v, kind := x.value(c, row)
					var start, end int64
					switch kind {
					case kernels.ValueString:
						start, end = x.starts[x.slots[c][row]]+1, x.ends[x.slots[c][row]]-1
					case kernels.ValueNumber, kernels.ValueTrue, kernels.ValueFalse:
						start, end = x.starts[x.slots[c][row]], x.ends[x.slots[c][row]]
					}
					if kind == kernels.ValueNumber {
						want |= numberKindsOf(v)
					}
					if i := c*rows + row; starts[i] != start || ends[i] != end {
						t.Fatalf("%s, row %d, %s: [%d, %d), want [%d, %d)", what, row, v, starts[i],
							ends[i], start, end)
					}
				}
				is := func(wants ...kernels.ValueKind) []uint64 {
					return bitmap(rows, func(i int) bool {
						_, kind := x.value(c, i)
						return kernels.Kinds(wants...)>>kind&1 != 0
					})
				}
				none := make([]byte, rows)
				sameMask(t, what+": valid", none, valid[c*words:(c+1)*words], is(kernels.ValueFalse,
					kernels.ValueTrue, kernels.ValueNumber, kernels.ValueString, kernels.ValueObject,
					kernels.ValueArray))
				sameMask(t, what+": numbers", none, numbers[c*words:(c+1)*words], is(kernels.ValueNumber))
				sameMask(t, what+": trues", none, trues[c*words:(c+1)*words], is(kernels.ValueTrue))
				if kinds[c] != want {
					t.Fatalf("%s: kinds %s, want %s", what, kindNames(kinds[c]), kindNames(want))
				}
			}
		}
	}
}

func TestParseNumbers(t *testing.T) {
	r := open(t)
	rng := rand.New(rand.NewPCG(7, 2))
	for _, rows := range []int{1, 64, 65, 257, 700} {
		for _, columns := range []int{4, 9, 40} {
			values := make([][]string, columns)
			for c := range values {
				values[c] = scalarValues[c%4]
			}
			x := randomTable(rng, rows, values)
			text, from := readScalars(r, x, rows, nil, kernels.Mask{})
			var to []kernels.NumberColumn
			floats := 0
			for c := range columns {
				if c%7 == 6 { // not parsed
					continue
				}
				n := kernels.NumberColumn{Column: c}
				switch c % 4 {
				case 0:
					n.Int32 = poisoned[int32](r, rows)
				case 3:
					n.Float64 = poisoned[float64](r, rows)
					floats++
				default:
					n.Int64 = poisoned[int64](r, rows)
				}
				to = append(to, n)
			}
			words := kernels.Words(rows)
			undecided := poisoned[uint64](r, floats*words)
			r.ok(r.k.ParseNumbers(r.s, text, from, to, undecided))
			looks := read(r, undecided)
			for _, n := range to {
				what := fmt.Sprintf("%d rows, column %d of %d", rows, n.Column, columns)
				narrow, wide, float := read(r, n.Int32), read(r, n.Int64), read(r, n.Float64)
				for row := range rows {
					v, kind := x.value(n.Column, row)
					bits, f := numberOf(v, kind)
					switch {
					case len(narrow) > 0 && int64(narrow[row]) != bits:
						t.Fatalf("%s, row %d, %s: %d", what, row, v, narrow[row])
					case len(wide) > 0 && wide[row] != bits:
						t.Fatalf("%s, row %d, %s: %d", what, row, v, wide[row])
					case len(float) == 0:
					case bit(looks, row) != strings.HasPrefix(v, "1.00000000000000011102230246251565404"):
						t.Fatalf("%s, row %d, %s: undecided is %v", what, row, v, bit(looks, row))
					case !bit(looks, row) && math.Float64bits(float[row]) != math.Float64bits(f):
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
	r := open(t)
	var x tokens
	var want []int64
	for _, token := range knownIntegers() {
		if kinds := numberKindsOf(token); kinds&(kernels.NumberInt32|kernels.NumberInt64|kernels.NumberUint64) != 0 {
			x.add(token, "]")
			bits, _ := numberOf(token, kernels.ValueNumber)
			want = append(want, bits)
		}
	}
	// none
	x.starts, x.ends, want = append(x.starts, 0, -1, 5, 0), append(x.ends, 0, 3, 1<<40, 30), append(want, 0, 0, 0, 0)
	text := upload(r, x.text)
	from := kernels.Scalars{Starts: upload(r, x.starts), Ends: upload(r, x.ends)}
	wide := poisoned[int64](r, len(want))
	r.ok(r.k.ParseNumbers(r.s, text, from, []kernels.NumberColumn{{Int64: wide}}, kernels.Mask{}))
	sameItems(r, "integers", read(r, wide), want)

	x = tokens{}
	for _, c := range knownDecimals {
		x.add(c.token, "]")
	}
	n := len(x.starts)
	text, from = upload(r, x.text), kernels.Scalars{Starts: upload(r, x.starts), Ends: upload(r, x.ends)}
	out, undecided := poisoned[float64](r, n), poisoned[uint64](r, kernels.Words(n))
	r.ok(r.k.ParseNumbers(r.s, text, from, []kernels.NumberColumn{{Float64: out}}, undecided))
	before, _ := parseFloats(r, &x, kernels.GrammarJSON)
	sameItems(r, "undecided", read(r, undecided), bitmap(n, func(i int) bool {
		return bit(before.undecided, i) || len(x.token(i)) > 1024
	}))
	for i, v := range read(r, out) {
		if want := before.out[i]; math.Float64bits(v) != math.Float64bits(want) && x.token(i) != "-0" &&
			!math.IsNaN(want) {
			t.Errorf("%.60q: %v, want %v", x.token(i), v, want)
		}
	}
}

func TestScalarsRefuses(t *testing.T) {
	r := open(t)
	text, at, kinds, slots, mask := upload(r, make([]byte, 99)), upload(r, make([]uint32, 70)),
		upload(r, make([]kernels.ValueKind, 70)), upload(r, make([]int32, 70)), poisoned[uint64](r, 2)
	spans := poisoned[int64](r, 70)
	sound := kernels.Scalars{
		Starts: spans, Ends: spans, Valid: mask, Numbers: mask, Trues: mask,
		Kinds: poisoned[uint32](r, 1),
	}
	two := []gpu.Buffer[int32]{slots, slots.Slice(0, 69)}
	for _, tt := range []struct {
		name   string
		slots  []gpu.Buffer[int32]
		kind   gpu.Buffer[kernels.ValueKind]
		change func(x *kernels.Scalars)
	}{
		{"few kinds of values", two[:1], kinds.Slice(0, 69), func(*kernels.Scalars) {}},
		{"columns of several lengths", two, kinds, func(*kernels.Scalars) {}},
		{"few starts", two[:1], kinds, func(x *kernels.Scalars) { x.Starts = spans.Slice(0, 69) }},
		{"a short mask", two[:1], kinds, func(x *kernels.Scalars) { x.Numbers = mask.Slice(0, 1) }},
		{"no kinds", two[:1], kinds, func(x *kernels.Scalars) { x.Kinds = gpu.Buffer[uint32]{} }},
	} {
		to := sound
		tt.change(&to)
		if _, err := r.k.ReadMembers(r.s, text, kernels.MemberValues{Start: at, End: at, Kind: tt.kind},
			kernels.ScalarColumns{Slots: tt.slots, To: to}, nil); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
	narrow, wide, float := poisoned[int32](r, 70), poisoned[int64](r, 70), poisoned[float64](r, 70)
	pair := kernels.Scalars{
		Starts: poisoned[int64](r, 140), Ends: poisoned[int64](r, 140),
		Valid: poisoned[uint64](r, 4), Numbers: poisoned[uint64](r, 4), Trues: poisoned[uint64](r, 4),
		Kinds: poisoned[uint32](r, 2),
	}
	for _, tt := range []struct {
		name      string
		expected  []kernels.NumberColumn
		undecided kernels.Mask
	}{
		{"expected of two types", []kernels.NumberColumn{{Int32: narrow, Int64: wide}}, kernels.Mask{}},
		{"expected of no type", []kernels.NumberColumn{{}}, kernels.Mask{}},
		{"expected, and no such column", []kernels.NumberColumn{{Column: 2, Int32: narrow}}, kernels.Mask{}},
		{"expected below 0", []kernels.NumberColumn{{Column: -1, Int32: narrow}}, kernels.Mask{}},
		{"expected twice", []kernels.NumberColumn{{Int32: narrow}, {Int64: wide}}, kernels.Mask{}},
		{"expected out of order", []kernels.NumberColumn{{Column: 1, Int32: narrow}, {Int64: wide}}, kernels.Mask{}},
		{"expected to be short", []kernels.NumberColumn{{Int64: wide.Slice(0, 69)}}, kernels.Mask{}},
		{"nothing for what is expected and undecided", []kernels.NumberColumn{{Float64: float}}, kernels.Mask{}},
		{"too much for what is expected and undecided", []kernels.NumberColumn{{Int32: narrow}}, mask},
	} {
		if _, err := r.k.ReadMembers(r.s, text, kernels.MemberValues{Start: at, End: at, Kind: kinds},
			kernels.ScalarColumns{
				Slots: []gpu.Buffer[int32]{slots, slots}, To: pair, Expected: tt.expected,
				Undecided: tt.undecided,
			}, nil); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
	for _, tt := range []struct {
		name      string
		columns   []kernels.NumberColumn
		undecided kernels.Mask
	}{
		{"two types", []kernels.NumberColumn{{Int32: narrow, Int64: wide}}, kernels.Mask{}},
		{"no such column", []kernels.NumberColumn{{Column: 1, Int32: narrow}}, kernels.Mask{}},
		{"a column below 0", []kernels.NumberColumn{{Column: -1, Int32: narrow}}, kernels.Mask{}},
		{
			"columns of several lengths",
			[]kernels.NumberColumn{{Int32: narrow}, {Int64: wide.Slice(0, 69)}},
			kernels.Mask{},
		},
		{"nothing for what is undecided", []kernels.NumberColumn{{Float64: float}}, kernels.Mask{}},
		{"too much for what is undecided", []kernels.NumberColumn{{Int32: narrow}}, mask},
	} {
		if r.k.ParseNumbers(r.s, text, sound, tt.columns, tt.undecided) == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}
