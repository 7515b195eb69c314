package fixed_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kfixed "github.com/vibeflight/vibeflight/kernels/fixed"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	knumber "github.com/vibeflight/vibeflight/kernels/number"
)

// records lays values out as the field at offset of records of stride bytes, behind a header; the
// rest is what other fields may hold.
func records(values []string, width, offset, stride, header int) ([]byte, kfixed.FixedField) {
	text := bytes.Repeat([]byte{'9'}, header)
	for _, v := range values {
		record := bytes.Repeat([]byte("9*. T-"), stride/6+1)[:stride]
		copy(record[offset:], v+strings.Repeat(" ", width-len(v)))
		text = append(text, record...)
	}
	// The last record ends with the field.
	text = text[:max(0, len(text)-(stride-offset-width))]
	return text, kfixed.FixedField{
		First: int64(header), Stride: int64(stride), Offset: int64(offset),
		Width: width, Records: len(values),
	}
}

// layouts are offsets, lengths of records and of headers around every alignment.
var layouts = []struct{ offset, more, header int }{{0, 0, 0}, {1, 0, 33}, {3, 2, 32}, {7, 30, 65}, {64, 64, 97}}

const (
	fixedNull = iota
	fixedValid
	fixedMalformed
	fixedOverflow
	fixedFraction
)

var (
	numberText  = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$`)
	integerText = regexp.MustCompile(`^[-+]?\d+\.?$`)
)

// plainField is a field without its blanks, and whether it is null.
func plainField(field string) (text string, null bool) {
	text = strings.Trim(field, " \x00")
	return text, strings.Trim(text, "*") == ""
}

func plainFloat(field string) (float64, int) {
	text, null := plainField(field)
	if null {
		return math.NaN(), fixedNull
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !numberText.MatchString(text) {
		return math.NaN(), fixedMalformed
	}
	return v, fixedValid
}

func plainInt(field string) (int64, int) {
	text, null := plainField(field)
	switch {
	case null:
		return 0, fixedNull
	case !numberText.MatchString(text):
		return 0, fixedMalformed
	case !integerText.MatchString(text):
		return 0, fixedFraction
	}
	v, err := strconv.ParseInt(strings.TrimSuffix(text, "."), 10, 64)
	if err != nil {
		return 0, fixedOverflow
	}
	return v, fixedValid
}

func plainDate(field string) (int32, int) {
	if text, null := plainField(field); null || text == "00000000" {
		return 0, fixedNull
	}
	t, err := time.Parse("20060102", field)
	if err != nil || strings.ContainsAny(field, " +-") {
		return 0, fixedMalformed
	}
	return int32(t.Unix() / 86400), fixedValid
}

// numberFields are fields of numbers of up to 24 bytes.
func numberFields() []string {
	fields := []string{
		"", "0", "-0", "+0", " 12", "12 ", "  -12.50  ", "\x0012\x00", "12\x00\x00\x00", "\x00 \x00", "*",
		"**********", " *** ", "1*", "*1", "***1***",
		"N/A", "#VALUE", "-", "+", ".", "-.", "12 34", "1,5", "1.5", "1.", ".5", "-.5", "+.5", "00012",
		"1e5", "1E-3", "1e", "1e+", "0x10", "1.2.3", "--1", "1-2",
		"nan", "inf", "Infinity", "1_000", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
		"-9223372036854775809", "99999999999999999999",
		"000000000000000000000012", "999999999999999999999999", "0.1234567890123456789012",
		"-1234567.123456789012345", "9007199254740993.", "1e308", "1e309", "-1e400", "4.9e-324", "1e-400",
		"123456789012345678901234", "1               2", "                       1", "1                      .",
	}
	rng := rand.New(rand.NewPCG(4, 4))
	for range 600 {
		v := strconv.FormatFloat((rng.Float64()-0.5)*math.Pow(10, float64(rng.IntN(12))), 'f', rng.IntN(12), 64)
		fields = append(fields, fmt.Sprintf("%*s", 1+rng.IntN(24), v))
	}
	for range 300 {
		fields = append(fields, string(kerneltest.Random(rng.Uint64(), rng.IntN(24), "0123456789 .-+e*\x00")))
	}
	for i, f := range fields {
		fields[i] = f[:min(len(f), 24)]
	}
	return fields
}

// sameStates compares masks with what each record is.
func sameStates(r *kerneltest.Rig, name string, fields []string, states []int, masks map[int]kernels.Mask) {
	r.Helper()
	for state, mask := range masks {
		got, want := kerneltest.Read(r, mask), kerneltest.Bitmap(len(states), func(i int) bool {
			return states[i] == state
		})
		for w := range want {
			if d := got[w] ^ want[w]; d != 0 {
				i := w*64 + kerneltest.BitsTrailing(d)
				r.Fatalf("%s: record %d %q is %d, want %d, in the mask of state %d", name, i,
					append(fields, "behind the last")[min(i, len(fields))], got[w]>>(i%64)&1, want[w]>>(i%64)&1, state)
			}
		}
	}
}

func TestFixedNumbers(t *testing.T) {
	r := kerneltest.Open(t)
	all := numberFields()
	for _, l := range layouts {
		for _, n := range []int{0, 1, 31, 33, 64, 65, len(all)} {
			fields := all[:n]
			text, f := records(fields, 24, l.offset, l.offset+24+l.more, l.header)
			name := fmt.Sprintf("%d records, %+v", n, l)
			textDev, words := kerneltest.Upload(r, text), kernels.Words(n)
			to := knumber.Float64s{
				Out: kerneltest.Poisoned[float64](r, n), Valid: kerneltest.Poisoned[uint64](r, words),
				Undecided: kerneltest.Poisoned[uint64](r, words),
			}
			malformed, starts, ends := kerneltest.Poisoned[uint64](r, words), kerneltest.Poisoned[int64](r, n),
				kerneltest.Poisoned[int64](r, n)
			r.OK(kfixed.FixedFloat64(r.Set, r.Stream, textDev, f, to, malformed))
			r.OK(kfixed.FixedSpans(r.Set, r.Stream, textDev, f, starts, ends))
			_, err := knumber.ResolveFloat64(r.Set, r.Stream, textDev, starts, ends, knumber.GrammarLenient, to)
			r.OK(err)
			ints := kfixed.FixedInt64s{
				Out: kerneltest.Poisoned[int64](r, n), Valid: kerneltest.Poisoned[uint64](r, words),
				Malformed: kerneltest.Poisoned[uint64](r, words),
				Overflow:  kerneltest.Poisoned[uint64](r, words), Fraction: kerneltest.Poisoned[uint64](r, words),
			}
			r.OK(kfixed.FixedInt64(r.Set, r.Stream, textDev, f, ints))

			floats, floatStates, wholes, wholeStates := make([]uint64, n), make([]int, n), make([]int64, n),
				make([]int, n)
			from, to64 := kerneltest.Read(r, starts), kerneltest.Read(r, ends)
			for i, field := range fields {
				var v float64
				v, floatStates[i] = plainFloat(field)
				floats[i] = math.Float64bits(v)
				wholes[i], wholeStates[i] = plainInt(field)
				if trimmed, _ := plainField(field); string(text[from[i]:to64[i]]) != trimmed {
					r.Fatalf("%s: the span of record %d %q is %q", name, i, field, text[from[i]:to64[i]])
				}
			}
			got := make([]uint64, n)
			for i, v := range kerneltest.Read(r, to.Out) {
				got[i] = math.Float64bits(v)
			}
			sameStates(r, name+", float64", fields, floatStates, map[int]kernels.Mask{
				fixedValid:     to.Valid,
				fixedMalformed: malformed,
			})
			kerneltest.SameItems(r, name+", float64", got, floats)
			sameStates(r, name+", int64", fields, wholeStates, map[int]kernels.Mask{
				fixedValid:     ints.Valid,
				fixedMalformed: ints.Malformed, fixedOverflow: ints.Overflow, fixedFraction: ints.Fraction,
			})
			kerneltest.SameItems(r, name+", int64", kerneltest.Read(r, ints.Out), wholes)
		}
	}
}

func TestFixedDates(t *testing.T) {
	r := kerneltest.Open(t)
	fields := []string{
		"20261121", "19700101", "19691231", "00000000", "        ", "", "\x00\x00\x00\x00\x00\x00\x00\x00",
		"********", "2026-3-6", "20261399", "20260230", "20260229", "20240229", "19000229",
		"20000229", "00010101", "00000101", "00000301", "99991231", "20260100", "20261301", "2026 1 1",
		"2026112", " 2026112", "2026112 ", "+2026112", "2026112\xff", "abcdefgh", "*******1", "2026112/", "2026112:",
	}
	rng := rand.New(rand.NewPCG(5, 4))
	for day := 0; day < 3652059; day += 1 + rng.IntN(5000) {
		fields = append(fields, time.Unix(int64(day-719162)*86400, 0).UTC().Format("20060102"))
	}
	for range 500 {
		fields = append(fields, fmt.Sprintf("%04d%02d%02d", rng.IntN(3000), rng.IntN(14), rng.IntN(33)))
	}
	for _, l := range layouts {
		text, f := records(fields, 8, l.offset, l.offset+8+l.more, l.header)
		n := len(fields)
		days, valid, malformed := kerneltest.Poisoned[int32](r, n), kerneltest.Poisoned[uint64](r, kernels.Words(n)),
			kerneltest.Poisoned[uint64](r, kernels.Words(n))
		r.OK(kfixed.FixedDate(r.Set, r.Stream, kerneltest.Upload(r, text), f, days, valid, malformed))
		want, states := make([]int32, n), make([]int, n)
		for i, field := range fields {
			want[i], states[i] = plainDate(field + strings.Repeat(" ", 8-len(field)))
		}
		name := fmt.Sprintf("%+v", l)
		sameStates(r, name, fields, states, map[int]kernels.Mask{fixedValid: valid, fixedMalformed: malformed})
		kerneltest.SameItems(r, name, kerneltest.Read(r, days), want)
	}
}

// Every byte as a logical and as the flag of a deleted record.
func TestFixedBytes(t *testing.T) {
	r := kerneltest.Open(t)
	var fields []string
	states, on, deleted := make([]int, 256), make([]int, 256), make([]int, 256)
	for c := range 256 {
		fields = append(fields, string([]byte{byte(c)}))
		switch {
		case strings.ContainsRune("TtYy", rune(c)):
			states[c], on[c] = fixedValid, 1
		case strings.ContainsRune("FfNn", rune(c)):
			states[c] = fixedValid
		case !strings.ContainsRune("?* \x00", rune(c)):
			states[c] = fixedMalformed
		}
		if c == '*' {
			deleted[c] = 1
		}
	}
	for _, l := range layouts {
		for _, n := range []int{0, 1, 33, 70, 256} {
			text, f := records(fields[:n], 1, l.offset, l.offset+1+l.more, l.header)
			textDev, words := kerneltest.Upload(r, text), kernels.Words(n)
			out, valid, malformed, gone := kerneltest.Poisoned[uint64](r, words), kerneltest.Poisoned[uint64](r, words),
				kerneltest.Poisoned[uint64](r, words), kerneltest.Poisoned[uint64](r, words)
			r.OK(kfixed.FixedLogical(r.Set, r.Stream, textDev, f, out, valid, malformed))
			r.OK(kfixed.FixedDeleted(r.Set, r.Stream, textDev, f, gone))
			name := fmt.Sprintf("%d records, %+v", n, l)
			sameStates(r, name, fields[:n], states[:n], map[int]kernels.Mask{
				fixedValid:     valid,
				fixedMalformed: malformed,
			})
			sameStates(r, name+", value", fields[:n], on[:n], map[int]kernels.Mask{1: out})
			sameStates(r, name+", deleted", fields[:n], deleted[:n], map[int]kernels.Mask{1: gone})
		}
	}
}

// A header may say anything of the records after it.
func TestFixedRefuses(t *testing.T) {
	r := kerneltest.Open(t)
	text := kerneltest.Upload(r, make([]byte, 1000))
	tests := []struct {
		name string
		f    kfixed.FixedField
	}{
		{"one record too many", kfixed.FixedField{First: 1, Stride: 100, Width: 100, Records: 10}},
		{"very many", kfixed.FixedField{Stride: 100, Width: 10, Records: math.MaxInt64}},
		{"fewer than none", kfixed.FixedField{Stride: 100, Width: 10, Records: -1}},
		{"very long records", kfixed.FixedField{Stride: math.MaxInt64, Width: 10, Records: 2}},
		{"no length", kfixed.FixedField{Records: 2}},
		{"no width", kfixed.FixedField{Stride: 10, Records: 2}},
		{"a field over the end of its record", kfixed.FixedField{Stride: 10, Offset: 5, Width: 6, Records: 2}},
		{"a field before its record", kfixed.FixedField{Stride: 10, Offset: -1, Width: 6, Records: 2}},
		{"a first record before the text", kfixed.FixedField{First: -1, Stride: 10, Width: 6, Records: 2}},
		{"a first record far behind the text", kfixed.FixedField{
			First: math.MaxInt64, Stride: 10,
			Width: 6, Records: 2,
		}},
		{"a field far behind the text", kfixed.FixedField{
			Stride: math.MaxInt64, Offset: math.MaxInt64 - 6,
			Width: 6, Records: 1,
		}},
		{"a very wide field", kfixed.FixedField{Stride: 100000, Width: 100000, Records: 0}},
	}
	for _, tt := range tests {
		n := min(max(tt.f.Records, 0), 1000)
		starts := kerneltest.Poisoned[int64](r, n)
		if err := kfixed.FixedSpans(r.Set, r.Stream, text, tt.f, starts, starts); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
	f := kfixed.FixedField{Stride: 10, Width: 10, Records: 70}
	mask, short := kerneltest.Poisoned[uint64](r, 2), kerneltest.Poisoned[uint64](r, 1)
	days, values, floats := kerneltest.Poisoned[int32](r, 70), kerneltest.Poisoned[int64](r, 70),
		kerneltest.Poisoned[float64](r, 70)
	one := f
	one.Width = 1
	ints := kfixed.FixedInt64s{Out: values, Valid: mask, Malformed: mask, Overflow: mask, Fraction: short}
	for name, err := range map[string]error{
		"a date of 10 bytes":        kfixed.FixedDate(r.Set, r.Stream, text, f, days, mask, mask),
		"a logical of 10 bytes":     kfixed.FixedLogical(r.Set, r.Stream, text, f, mask, mask, mask),
		"a flag of 10 bytes":        kfixed.FixedDeleted(r.Set, r.Stream, text, f, mask),
		"a short mask of flags":     kfixed.FixedDeleted(r.Set, r.Stream, text, one, short),
		"a short mask of logicals":  kfixed.FixedLogical(r.Set, r.Stream, text, one, mask, mask, short),
		"a short mask of fractions": kfixed.FixedInt64(r.Set, r.Stream, text, f, ints),
		"a short mask of numbers": kfixed.FixedFloat64(r.Set, r.Stream, text, f, knumber.Float64s{
			Out: floats, Valid: mask,
			Undecided: mask,
		}, short),
		"text at an odd address": kfixed.FixedSpans(r.Set, r.Stream, text.Slice(1, 1000), f, values, values),
		"no room for days": kfixed.FixedDate(r.Set, r.Stream, text, kfixed.FixedField{
			Stride: 10, Width: 8,
			Records: 71,
		},
			days, mask, mask),
		"no text": kfixed.FixedSpans(r.Set, r.Stream, gpu.Buffer[byte]{}, f, values, values),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
