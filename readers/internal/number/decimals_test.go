package number

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// TestDecimals reads columns of numbers and of what looks like them, with assembly and without:
// values are strconv's, and what is no number is not read.
func TestDecimals(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	plain := 0
	for range 40_000 {
		column := make([]string, 1+r.IntN(70))
		for i := range column {
			column[i] = randomField(r)
		}
		text, starts, first := fieldsOf(column)
		for _, read := range []func([]float64, unsafe.Pointer, []uint32, []uint32) (int, uint64){
			Decimals,
			decimalsPlain,
		} {
			out := make([]float64, min(len(column), 64))
			n, valid := read(out, text, starts, first[:len(out)])
			for k, got := range out[:n] {
				want := 0.0
				if column[k] != "" {
					v, err := strconv.ParseFloat(column[k], 64)
					if err != nil || !isNumber(column[k]) {
						t.Fatalf("%q was read as %v", column[k], got)
					}
					want = v
					plain++
				}
				if math.Float64bits(got) != math.Float64bits(want) || (valid>>k&1 == 1) != (column[k] != "") {
					t.Fatalf("%q: got %v, bit %d; want %v", column[k], got, valid>>k&1, want)
				}
			}
			if n < len(out) && isPlain(column[n]) {
				t.Fatalf("%q was not read", column[n])
			}
		}
	}
	if plain < 100_000 {
		t.Errorf("%d numbers", plain)
	}
}

// TestIntegers is TestDecimals for integers.
func TestIntegers(t *testing.T) {
	const low, high = -1e9, 1e12
	r := rand.New(rand.NewPCG(8, 8))
	for range 20_000 {
		column := make([]string, 1+r.IntN(70))
		for i := range column {
			if column[i] = randomField(r); r.IntN(8) > 0 {
				column[i], _, _ = strings.Cut(column[i], ".")
			}
		}
		text, starts, first := fieldsOf(column)
		out := make([]int64, len(column))
		n, valid := Integers(out, text, starts, first, low, high)
		for k, field := range column[:min(n+1, len(column))] {
			v, err := strconv.ParseInt(field, 10, 64)
			digits := strings.TrimPrefix(field, "-")
			good := field == "" || err == nil && len(digits) <= 16 && isNumber(field) && field != "-0" &&
				v >= low && v <= high
			if good != (k < n) && k < 64 {
				t.Fatalf("%q: read: %t", field, k < n)
			}
			if k < n && (out[k] != v || (valid>>k&1 == 1) != (field != "")) {
				t.Fatalf("%q: got %d, bit %d", field, out[k], valid>>k&1)
			}
		}
	}
}

// randomField returns most often a number, with a byte changed now and then.
func randomField(r *rand.Rand) string {
	digits := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = '0' + byte(r.IntN(10))
		}
		return b
	}
	var b []byte
	switch r.IntN(12) {
	case 0:
		return ""
	case 1:
		b = digits(r.IntN(20))
	default:
		b = append(append(digits(r.IntN(1+r.IntN(17))), '.'), digits(r.IntN(1+r.IntN(17)))...)
	}
	for len(b) > 1 && b[0] == '0' && b[1] != '.' && r.IntN(8) > 0 {
		b = b[1:]
	}
	if r.IntN(3) == 0 {
		b = append([]byte("-"), b...)
	}
	if len(b) > 0 && r.IntN(100) == 0 {
		b[r.IntN(len(b))] = []byte("-.e+, \"0/:\x00\xB0x")[r.IntN(13)]
	}
	return string(b)
}

// isNumber reports whether RFC 8259 has such a number.
func isNumber(field string) bool {
	text, _, _ := fieldsOf([]string{field})
	_, end := Float(text, 0)
	return end == len(field)
}

// isPlain is what every processor takes for plain.
func isPlain(field string) bool {
	digits := len(strings.ReplaceAll(strings.TrimPrefix(field, "-"), ".", ""))
	return field == "" || isNumber(field) && digits <= 15 && !strings.ContainsAny(field, "eE")
}

// fieldsOf writes fields with a separator after each, and says where they begin.
func fieldsOf(column []string) (text unsafe.Pointer, starts, first []uint32) {
	var b []byte
	for i, field := range column {
		first = append(first, uint32(i))
		starts = append(starts, uint32(len(b)))
		b = append(append(b, field...), ",\n;|"[i%4])
	}
	starts = append(starts, uint32(len(b)))
	b = append(b, make([]byte, Padding)...)
	return unsafe.Pointer(unsafe.SliceData(b)), starts, first
}
