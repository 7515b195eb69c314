package geom_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	kgeom "github.com/vibeflight/vibeflight/kernels/geom"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
)

// ordinates are what ParsePositions gives, on the host.
type ordinates struct {
	columns   [4][]float64
	undecided []uint64
	found     kgeom.PositionsFound
}

// parsePositions runs ParsePositions, and gives what it said before and after ResolvePositions.
func parsePositions(r *kerneltest.Rig, text []byte, at []int64, style kgeom.PositionStyle, dims int) (before,
	after ordinates,
) {
	r.Helper()
	n := len(at)
	b, places := kerneltest.Upload(r, text), kerneltest.Upload(r, at)
	blanks, err := kgeom.AllocBlanks(r.Stream, len(text))
	r.OK(err)
	r.OK(kgeom.FindBlanks(r.Set, r.Stream, b, blanks))
	to := kgeom.Ordinates{
		X: kerneltest.Poisoned[float64](r, n), Y: kerneltest.Poisoned[float64](r, n),
		Undecided: kerneltest.Poisoned[uint64](r, kernels.Words(n)),
		Found:     kerneltest.Poisoned[kgeom.PositionsFound](r, 1),
	}
	if dims > 2 {
		to.Z = kerneltest.Poisoned[float64](r, n)
	}
	if dims > 3 {
		to.M = kerneltest.Poisoned[float64](r, n)
	}
	r.OK(kgeom.ParsePositions(r.Set, r.Stream, b, blanks, places, style, to))
	results := func() (o ordinates) {
		for i, column := range []gpu.Buffer[float64]{to.X, to.Y, to.Z, to.M} {
			o.columns[i] = kerneltest.Read(r, column)
		}
		o.undecided, o.found = kerneltest.Read(r, to.Undecided), kerneltest.Read(r, to.Found)[0]
		return o
	}
	before = results()
	found, resolved, err := kgeom.ResolvePositions(r.Set, r.Stream, b, places, style, to)
	r.OK(err)
	r.OK(blanks.Free(r.Stream))
	after = results()
	if found != after.found || resolved != len(kerneltest.SetBits(before.undecided, 0)) {
		r.Fatalf("resolved %d positions, found %+v, on the device %+v", resolved, found, after.found)
	}
	return before, after
}

// checkPositions compares ParsePositions with the plain reading; it says how many positions were
// undecided.
func checkPositions(r *kerneltest.Rig, what string, text []byte, at []int64, style kgeom.PositionStyle,
	dims int,
) (undecided int) {
	r.Helper()
	before, after := parsePositions(r, text, at, style, dims)
	wantBefore, wantAfter := kgeom.PositionsFound{Malformed: -1}, kgeom.PositionsFound{Malformed: -1}
	for i, p := range at {
		want := tupleAt(text, int(p), style)
		show := func() string {
			return fmt.Sprintf("%s: position %d, %.80q", what, i, text[min(max(p, 0), int64(len(text))):])
		}
		count(&wantAfter, want)
		hard := kerneltest.Bit(before.undecided, i)
		if !hard {
			count(&wantBefore, want)
		} else if undecided++; !want.hard {
			r.Fatalf("%s is undecided", show())
		}
		for k := range dims {
			if got := after.columns[k][i]; math.IsNaN(got) && math.Float64bits(got) != 0x7ff8000000000000 {
				r.Fatalf("%s: ordinate %d is the NaN %x", show(), k, math.Float64bits(got))
			}
			if got := after.columns[k][i]; !kerneltest.SameFloat(got, want.ordinates[k]) {
				r.Fatalf("%s: ordinate %d is %v, want %v", show(), k, got, want.ordinates[k])
			}
			if got := before.columns[k][i]; !kerneltest.SameFloat(got, want.ordinates[k]) &&
				!(hard && math.IsNaN(got)) {
				r.Fatalf("%s: ordinate %d is %v before it was resolved, want %v", show(), k, got, want.ordinates[k])
			}
		}
	}
	wantBefore.Undecided = uint32(undecided)
	if before.found != wantBefore || after.found != wantAfter {
		r.Fatalf("%s: found %+v, resolved %+v, want %+v, %+v", what, before.found, after.found, wantBefore, wantAfter)
	}
	for i := len(at); i < 64*len(before.undecided); i++ {
		if kerneltest.Bit(before.undecided, i) {
			r.Fatalf("%s: bit %d is set behind %d positions", what, i, len(at))
		}
	}
	return undecided
}

// count adds a position to what is found.
func count(f *kgeom.PositionsFound, t tuple) {
	switch {
	case t.malformed >= 0:
		if f.Malformed < 0 || int64(t.malformed) < f.Malformed {
			f.Malformed = int64(t.malformed)
		}
		return
	case t.count == 0:
		f.Empty++
	}
	f.Dims |= 1 << min(t.count, 4)
	f.More += int64(max(t.count-3, 0))
}

// positionTexts are single positions, from their first byte on.
var positionTexts = []struct {
	name  string
	style kgeom.PositionStyle
	text  string
}{
	{"two", kgeom.PositionJSON, "[-1.5,2]"},
	{"three", kgeom.PositionJSON, "[1,2,3e2]"},
	{"four", kgeom.PositionJSON, "[1,2,3,4]"},
	{"five", kgeom.PositionJSON, "[1,2,3,4,5]"},
	{"seven", kgeom.PositionJSON, "[1,2,3,4,5,6,7]"},
	{"five, malformed", kgeom.PositionJSON, "[1,2,3,4,x]"},
	{"six, malformed", kgeom.PositionJSON, "[1,2,3,4,5,01]"},
	{"2000", kgeom.PositionJSON, "[1" + strings.Repeat(",2", 1999) + "]"},
	{"G5 empty", kgeom.PositionJSON, "[]"},
	{"G5 empty, blanks", kgeom.PositionJSON, "[ \n ]"},
	{"blanks", kgeom.PositionJSON, "[ \t1\r\n,\n\n 2 ]"},
	{"indented", kgeom.PositionJSON, "[\n                        -81.5,\n                        27.25\n          " +
		"          ]"},
	{"tabs", kgeom.PositionJSON, "[\n" + strings.Repeat("\t", 40) + "1,\n" + strings.Repeat("\t", 40) + "2]"},
	{"1000 blanks", kgeom.PositionJSON, "[" + strings.Repeat(" ", 1000) + "1," + strings.Repeat("\n", 1000) + "2]"},
	{"form feed", kgeom.PositionJSON, "[1,\f2]"},
	{"G11 null", kgeom.PositionJSON, "[1,null]"},
	{"G11 NaN", kgeom.PositionJSON, "[NaN,1]"},
	{"G11 string", kgeom.PositionJSON, `[1,"2"]`},
	{"G12 one", kgeom.PositionJSON, "[1]"},
	{"one and a comma", kgeom.PositionJSON, "[1,]"},
	{"a comma", kgeom.PositionJSON, "[,1]"},
	{"two commas", kgeom.PositionJSON, "[1,,2]"},
	{"no comma", kgeom.PositionJSON, "[1 2]"},
	{"semicolon", kgeom.PositionJSON, "[1;2]"},
	{"leading zero", kgeom.PositionJSON, "[01,2]"},
	{"leading zeros, second", kgeom.PositionJSON, "[1,-00]"},
	{"plus", kgeom.PositionJSON, "[+1,2]"},
	{"point", kgeom.PositionJSON, "[1,.5]"},
	{"no fraction", kgeom.PositionJSON, "[1.,5]"},
	{"no exponent", kgeom.PositionJSON, "[1e,5]"},
	{"beyond float64", kgeom.PositionJSON, "[1,-2e400]"},
	{"beyond float64, then a letter", kgeom.PositionJSON, "[1,2e400x]"},
	{"nested", kgeom.PositionJSON, "[[1,2]]"},
	{"a brace", kgeom.PositionJSON, "{1,2}"},
	{"a digit", kgeom.PositionJSON, "1,2]"},
	{"brace behind", kgeom.PositionJSON, "[1,2}"},
	{"cut", kgeom.PositionJSON, "[1,2"},
	{"middle", kgeom.PositionJSON, "[1.00000000000000011102230246251565404,1.0000000000000001110223024625156541]"},
	{"middle, then malformed", kgeom.PositionJSON, "[1.00000000000000011102230246251565404,x]"},
	{"2000 digits", kgeom.PositionJSON, "[0." + strings.Repeat("1", 2000) + ",2]"},
	{"2000 digits, then 3000 blanks", kgeom.PositionJSON, "[0." + strings.Repeat("1", 2000) +
		strings.Repeat(" ", 3000) + ",2]"},
	{"2000 digits, cut", kgeom.PositionJSON, "[0." + strings.Repeat("1", 2000)},
	{"beyond float64, 2000 digits", kgeom.PositionJSON, "[" + strings.Repeat("9", 2000) + ",2]"},
	{"40000 digits", kgeom.PositionJSON, "[1," + strings.Repeat("7", 300) + "." + strings.Repeat("7", 40000) + "]"},
	{"two", kgeom.PositionWKT, "1 2)"},
	{"two, with a sign", kgeom.PositionWKT, "-1.5 2,"},
	{"three, behind blanks", kgeom.PositionWKT, " \n1 2\t3 )"},
	{"a comma before it", kgeom.PositionWKT, ",1 2,"},
	{"a comma and a blank before it", kgeom.PositionWKT, " , 1 2,"},
	{"a bracket before it", kgeom.PositionWKT, "(1 2)"},
	{"four", kgeom.PositionWKT, "+1 .5 5. 0004,"},
	{"five", kgeom.PositionWKT, "1 2 3 4 5)"},
	{"one", kgeom.PositionWKT, "1)"},
	{"none", kgeom.PositionWKT, ")"},
	{"two commas", kgeom.PositionWKT, ",,"},
	{"letters", kgeom.PositionWKT, "1 x)"},
	{"letter behind", kgeom.PositionWKT, "1 2x)"},
	{"empty", kgeom.PositionWKT, "EMPTY"},
	{"empty, in small letters", kgeom.PositionWKT, " empty,"},
	{"not quite empty", kgeom.PositionWKT, "EMPTX)"},
	{"more than empty", kgeom.PositionWKT, "EMPTYY)"},
	{"empty, and a digit", kgeom.PositionWKT, "empty1)"},
	{"as most are written", kgeom.PositionWKT, "-12.5 47.123456789, 1.5 2.5 -3.25,"},
	{
		"three as most are written", kgeom.PositionWKT,
		"-12.5 47.123456789 3.25) and more than thirty-two bytes behind",
	},
	{
		"four as most are written", kgeom.PositionWKT,
		"-12.5 47.123456789 3.25 4.5, and more than thirty-two bytes behind",
	},
	{"a blank behind", kgeom.PositionWKT, "12.5 47.5 , and more than thirty-two bytes behind it"},
	{"a closing bracket of JSON", kgeom.PositionWKT, "12.5 47.5], and more than thirty-two bytes behind it"},
	{"commas", kgeom.PositionWKT, "12.5,47.5), and more than thirty-two bytes behind it"},
	{"nested", kgeom.PositionWKT, "((1 2))"},
	{"cut", kgeom.PositionWKT, "1 2"},
	{"cut behind a blank", kgeom.PositionWKT, "1 2 "},
	{"square", kgeom.PositionWKT, "1 2]"},
	{"signs", kgeom.PositionWKT, "1 +-2)"},
	{"a point", kgeom.PositionWKT, "1 .)"},
	{"beyond float64", kgeom.PositionWKT, "1 1e309)"},
	{"middle", kgeom.PositionWKT, "1.00000000000000011102230246251565404 2)"},
	{"2000 digits", kgeom.PositionWKT, strings.Repeat("0", 2000) + "1 2)"},
}

// Each position by itself, cut short at every byte, and before other text.
func TestParsePositions(t *testing.T) {
	r := kerneltest.Open(t)
	for _, tt := range positionTexts {
		text := []byte(tt.text)
		checkPositions(r, tt.name, text, []int64{0}, tt.style, 4)
		checkPositions(r, tt.name+", then another", append(text, ",[7,8],(9 9)"...), []int64{0}, tt.style, 4)
		for cut := range min(len(text), 24) {
			checkPositions(r, fmt.Sprintf("%s, cut at %d", tt.name, cut), text[:cut], []int64{0}, tt.style, 4)
		}
	}
}

// All of them in one text.
func TestParsePositionsTogether(t *testing.T) {
	r := kerneltest.Open(t)
	for _, style := range []kgeom.PositionStyle{kgeom.PositionJSON, kgeom.PositionWKT} {
		var text []byte
		var at []int64
		for range 3 {
			for _, tt := range positionTexts {
				at = append(at, int64(len(text)))
				text = append(text, tt.text...)
			}
		}
		for dims := 2; dims <= 4; dims++ {
			checkPositions(r, fmt.Sprintf("style %d, %d columns", style, dims), text, at, style, dims)
		}
	}
}

// appendPosition appends a position: mostly sound, with any blanks, sometimes with a byte changed.
func appendPosition(b []byte, rng *rand.Rand, style kgeom.PositionStyle) []byte {
	from := len(b)
	blanks := func(least int) {
		count := least
		switch rng.IntN(40) {
		case 0:
			count += rng.IntN(300)
		case 1, 2, 3, 4, 5, 6:
			count += rng.IntN(4)
		}
		for range count {
			b = append(b, "    \t\n\r"[rng.IntN(7)])
		}
	}
	dims := 2 + rng.IntN(3)
	if rng.IntN(50) == 0 {
		dims = rng.IntN(6)
	}
	separator, end := byte(','), byte(']')
	if style == kgeom.PositionWKT {
		separator, end = ' ', ",)"[rng.IntN(2)]
	} else {
		b = append(b, '[')
	}
	for i := range dims {
		blanks(0)
		if i > 0 {
			b = append(b, separator)
			blanks(0)
		}
		b = kerneltest.AppendDecimal(b, rng)
	}
	blanks(0)
	b = append(b, end)
	if rng.IntN(50) == 0 {
		const alphabet = "[](),0123456789-+.eE \tx\x00\xff"
		b[from+rng.IntN(len(b)-from)] = alphabet[rng.IntN(len(alphabet))]
	}
	return b
}

func TestParsePositionsOfRandom(t *testing.T) {
	r := kerneltest.Open(t)
	for _, style := range []kgeom.PositionStyle{kgeom.PositionJSON, kgeom.PositionWKT} {
		for _, n := range []int{0, 1, 31, 32, 33, 63, 64, 65, 255, 256, 257, 30000} {
			rng := rand.New(rand.NewPCG(uint64(n), uint64(style)))
			var text []byte
			var at []int64
			for range n {
				at = append(at, int64(len(text)))
				text = appendPosition(text, rng, style)
			}
			checkPositions(r, fmt.Sprintf("style %d, %d positions", style, n), text, at, style, 3)
		}
	}
}

// Runs of blanks that end just before and after the bounds of words, of 64 words and of 4096
// words.
func TestParsePositionsOverBlanks(t *testing.T) {
	r := kerneltest.Open(t)
	const n = 300000
	for _, first := range []int{0, 1, 63} {
		for _, second := range []int{64, 65, 128, 4095, 4096, 4097, 8191, 8192, 262143, 262144, 262145, n - 2} {
			text := bytes.Repeat([]byte{' '}, n)
			copy(text[first:], "[5,")
			copy(text[second+first%2:], "7")
			text[n-1] = ']'
			checkPositions(r, fmt.Sprintf("7 at %d", second), text, []int64{int64(first)}, kgeom.PositionJSON, 2)
		}
	}
	checkPositions(r, "blanks to the end", append([]byte("[5,"), bytes.Repeat([]byte{'\n'}, n)...),
		[]int64{0}, kgeom.PositionJSON, 2)
}

// Without blanks looked for, the host reads positions with many of them, and no others.
func TestParsePositionsWithoutBlanks(t *testing.T) {
	r := kerneltest.Open(t)
	for _, run := range []int{0, 1, 9, 63, 64, 65, 256, 257, 330, 5000} {
		for place := range 5 {
			var runs [5]string
			runs[place] = strings.Repeat("\n\t ", run/3+1)[:run]
			text := []byte(fmt.Sprintf("[%s1.5%s,%s2.5%s,%s3]", runs[0], runs[1], runs[2], runs[3], runs[4]))
			b, at := kerneltest.Upload(r, text), kerneltest.Upload(r, []int64{0})
			to := kgeom.Ordinates{
				X: kerneltest.Poisoned[float64](r, 1), Y: kerneltest.Poisoned[float64](r, 1),
				Z: kerneltest.Poisoned[float64](r, 1), Undecided: kerneltest.Poisoned[uint64](r, 1),
				Found: kerneltest.Poisoned[kgeom.PositionsFound](r, 1),
			}
			r.OK(kgeom.ParsePositions(r.Set, r.Stream, b, nil, at, kgeom.PositionJSON, to))
			found, resolved, err := kgeom.ResolvePositions(r.Set, r.Stream, b, at, kgeom.PositionJSON, to)
			r.OK(err)
			if want := (kgeom.PositionsFound{Malformed: -1, Dims: 1 << 3}); found != want {
				t.Fatalf("%d blanks at place %d: found %+v, want %+v", run, place, found, want)
			}
			if x, y, z := kerneltest.Read(r, to.X)[0], kerneltest.Read(r, to.Y)[0],
				kerneltest.Read(r, to.Z)[0]; x != 1.5 || y != 2.5 || z != 3 {
				t.Errorf("%d blanks at place %d: %v %v %v", run, place, x, y, z)
			}
			if run <= 256 && resolved > 0 || run > 330 && resolved == 0 {
				t.Errorf("%d blanks at place %d: %d resolved by the host", run, place, resolved)
			}
		}
	}
}

// Ordinates as most are written, and such that look alike.
func TestParsePositionsShortOrdinates(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(3, 17))
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = '0' + byte(rng.IntN(10))
		}
		return string(b)
	}
	var text []byte
	var at []int64
	for i := range 6000 {
		ordinate := func() string {
			s := digits(rng.IntN(6)) + "." + digits(rng.IntN(18))
			switch rng.IntN(12) {
			case 0:
				s = "-" + strings.TrimLeft(s, "0")
			case 1:
				k := rng.IntN(10)
				s += "eE+- \x80\xff.\"]"[k:k+1] + digits(rng.IntN(2))
			case 2:
				k := rng.IntN(6)
				s = strings.Replace(s, ".", "\x00,\x8a\xbaEe"[k:k+1], 1)
			case 3, 4, 5:
				s = "-" + s
			}
			return s
		}
		at = append(at, int64(len(text)))
		text = append(text, "["+ordinate()+","+ordinate()...)
		if i%7 == 0 {
			text = append(text, ","+ordinate()...)
		}
		text = append(text, "],"[:1+rng.IntN(2)]...)
	}
	checkPositions(r, "short", text, at, kgeom.PositionJSON, 4)
}

// Ordinates of up to 15 digits after the point that lie as close to the middle of two float64 as
// they can, and next to it.
func TestParsePositionsNearMiddles(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(8, 15))
	count := 300_000
	if testing.Short() {
		count /= 10
	}
	var text []byte
	var at []int64
	for i := range count {
		v := rng.Float64() * []float64{0.001, 1, 10, 90, 180, 9999}[i%6]
		middle := new(big.Float).SetPrec(80).SetFloat64(v)
		middle.Add(middle, new(big.Float).SetFloat64((math.Nextafter(v, 1e9)-v)/2))
		digits := []byte(middle.Text('f', 1+rng.IntN(15)))
		if last := &digits[len(digits)-1]; *last > '0' && *last < '9' {
			*last += byte(rng.IntN(3)) - 1
		}
		at = append(at, int64(len(text)))
		text = append(append(append(text, '['), digits...), ",-"...)
		text = append(append(text, digits...), ']', ',')
	}
	checkPositions(r, "near middles", append(text, make([]byte, 40)...), at, kgeom.PositionJSON, 2)
}

// A position that lies nowhere is malformed where it lies.
func TestParsePositionsOutside(t *testing.T) {
	r := kerneltest.Open(t)
	for _, style := range []kgeom.PositionStyle{kgeom.PositionJSON, kgeom.PositionWKT} {
		for _, at := range []int64{6, 7, 1 << 50, -1, math.MinInt64} {
			checkPositions(r, fmt.Sprint("at ", at), []byte("[1,2] "), []int64{at}, style, 4)
		}
	}
}

func TestParsePositionsRefuses(t *testing.T) {
	r := kerneltest.Open(t)
	text, at := kerneltest.Upload(r, make([]byte, 100)), kerneltest.Upload(r, make([]int64, 65))
	blanks, err := kgeom.AllocBlanks(r.Stream, 100)
	r.OK(err)
	defer func() { r.OK(blanks.Free(r.Stream)) }()
	r.OK(kgeom.FindBlanks(r.Set, r.Stream, text, blanks))
	column, mask, found := kerneltest.Poisoned[float64](r, 65), kerneltest.Poisoned[uint64](r, 2),
		kerneltest.Poisoned[kgeom.PositionsFound](r, 1)
	good := kgeom.Ordinates{X: column, Y: column, Undecided: mask, Found: found}
	tests := []struct {
		name   string
		style  kgeom.PositionStyle
		change func(o *kgeom.Ordinates)
	}{
		{"no style", 2, func(*kgeom.Ordinates) {}},
		{"a short x", 0, func(o *kgeom.Ordinates) { o.X = column.Slice(0, 64) }},
		{"no y", 0, func(o *kgeom.Ordinates) { o.Y = gpu.Buffer[float64]{} }},
		{"a short z", 0, func(o *kgeom.Ordinates) { o.Z = column.Slice(0, 64) }},
		{"a short m", 0, func(o *kgeom.Ordinates) { o.M = column.Slice(0, 1) }},
		{"a short mask", 0, func(o *kgeom.Ordinates) { o.Undecided = mask.Slice(0, 1) }},
		{"nothing found", 0, func(o *kgeom.Ordinates) { o.Found = gpu.Buffer[kgeom.PositionsFound]{} }},
	}
	for _, tt := range tests {
		to := good
		tt.change(&to)
		if kgeom.ParsePositions(r.Set, r.Stream, text, blanks, at, tt.style, to) == nil {
			t.Errorf("%s: ParsePositions takes it", tt.name)
		}
		if _, _, err := kgeom.ResolvePositions(r.Set, r.Stream, text, at, tt.style, to); err == nil {
			t.Errorf("%s: ResolvePositions takes it", tt.name)
		}
	}
	if kgeom.ParsePositions(r.Set, r.Stream, text.Slice(0, 64), blanks, at, 0, good) == nil {
		t.Error("ParsePositions takes blanks of another text")
	}
	if kgeom.FindBlanks(r.Set, r.Stream, kerneltest.Upload(r, make([]byte, 100000)), blanks) == nil {
		t.Error("FindBlanks takes more text than there is room for")
	}
}
