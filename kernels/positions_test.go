package kernels_test

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
)

// ordinates are what ParsePositions gives, on the host.
type ordinates struct {
	columns   [4][]float64
	undecided []uint64
	found     kernels.PositionsFound
}

// parsePositions runs ParsePositions, and gives what it said before and after ResolvePositions.
func parsePositions(r *rig, text []byte, at []int64, style kernels.PositionStyle, dims int) (before, after ordinates) {
	r.Helper()
	n := len(at)
	b, places := upload(r, text), upload(r, at)
	blanks, err := kernels.AllocBlanks(r.s, len(text))
	r.ok(err)
	r.ok(r.k.FindBlanks(r.s, b, blanks))
	to := kernels.Ordinates{
		X: poisoned[float64](r, n), Y: poisoned[float64](r, n),
		Undecided: poisoned[uint64](r, kernels.Words(n)), Found: poisoned[kernels.PositionsFound](r, 1),
	}
	if dims > 2 {
		to.Z = poisoned[float64](r, n)
	}
	if dims > 3 {
		to.M = poisoned[float64](r, n)
	}
	r.ok(r.k.ParsePositions(r.s, b, blanks, places, style, to))
	results := func() (o ordinates) {
		for i, column := range []gpu.Buffer[float64]{to.X, to.Y, to.Z, to.M} {
			o.columns[i] = read(r, column)
		}
		o.undecided, o.found = read(r, to.Undecided), read(r, to.Found)[0]
		return o
	}
	before = results()
	found, resolved, err := r.k.ResolvePositions(r.s, b, places, style, to)
	r.ok(err)
	r.ok(blanks.Free(r.s))
	after = results()
	if found != after.found || resolved != len(setBits(before.undecided, 0)) {
		r.Fatalf("resolved %d positions, found %+v, on the device %+v", resolved, found, after.found)
	}
	return before, after
}

// checkPositions compares ParsePositions with the plain reading; it says how many positions were
// undecided.
func checkPositions(r *rig, what string, text []byte, at []int64, style kernels.PositionStyle,
	dims int,
) (undecided int) {
	r.Helper()
	before, after := parsePositions(r, text, at, style, dims)
	wantBefore, wantAfter := kernels.PositionsFound{Malformed: -1}, kernels.PositionsFound{Malformed: -1}
	for i, p := range at {
		want := tupleAt(text, int(p), style)
		show := func() string {
			return fmt.Sprintf("%s: position %d, %.80q", what, i, text[min(max(p, 0), int64(len(text))):])
		}
		count(&wantAfter, want)
		hard := bit(before.undecided, i)
		if !hard {
			count(&wantBefore, want)
		} else if undecided++; !want.hard {
			r.Fatalf("%s is undecided", show())
		}
		for k := range dims {
			if got := after.columns[k][i]; math.IsNaN(got) && math.Float64bits(got) != 0x7ff8000000000000 {
				r.Fatalf("%s: ordinate %d is the NaN %x", show(), k, math.Float64bits(got))
			}
			if got := after.columns[k][i]; !sameFloat(got, want.ordinates[k]) {
				r.Fatalf("%s: ordinate %d is %v, want %v", show(), k, got, want.ordinates[k])
			}
			if got := before.columns[k][i]; !sameFloat(got, want.ordinates[k]) && !(hard && math.IsNaN(got)) {
				r.Fatalf("%s: ordinate %d is %v before it was resolved, want %v", show(), k, got, want.ordinates[k])
			}
		}
	}
	wantBefore.Undecided = uint32(undecided)
	if before.found != wantBefore || after.found != wantAfter {
		r.Fatalf("%s: found %+v, resolved %+v, want %+v, %+v", what, before.found, after.found, wantBefore, wantAfter)
	}
	for i := len(at); i < 64*len(before.undecided); i++ {
		if bit(before.undecided, i) {
			r.Fatalf("%s: bit %d is set behind %d positions", what, i, len(at))
		}
	}
	return undecided
}

// count adds a position to what is found.
func count(f *kernels.PositionsFound, t tuple) {
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
	style kernels.PositionStyle
	text  string
}{
	{"two", kernels.PositionJSON, "[-1.5,2]"},
	{"three", kernels.PositionJSON, "[1,2,3e2]"},
	{"four", kernels.PositionJSON, "[1,2,3,4]"},
	{"five", kernels.PositionJSON, "[1,2,3,4,5]"},
	{"seven", kernels.PositionJSON, "[1,2,3,4,5,6,7]"},
	{"five, malformed", kernels.PositionJSON, "[1,2,3,4,x]"},
	{"six, malformed", kernels.PositionJSON, "[1,2,3,4,5,01]"},
	{"2000", kernels.PositionJSON, "[1" + strings.Repeat(",2", 1999) + "]"},
	{"G5 empty", kernels.PositionJSON, "[]"},
	{"G5 empty, blanks", kernels.PositionJSON, "[ \n ]"},
	{"blanks", kernels.PositionJSON, "[ \t1\r\n,\n\n 2 ]"},
	{"indented", kernels.PositionJSON, "[\n                        -81.5,\n                        27.25\n          " +
		"          ]"},
	{"tabs", kernels.PositionJSON, "[\n" + strings.Repeat("\t", 40) + "1,\n" + strings.Repeat("\t", 40) + "2]"},
	{"1000 blanks", kernels.PositionJSON, "[" + strings.Repeat(" ", 1000) + "1," + strings.Repeat("\n", 1000) + "2]"},
	{"form feed", kernels.PositionJSON, "[1,\f2]"},
	{"G11 null", kernels.PositionJSON, "[1,null]"},
	{"G11 NaN", kernels.PositionJSON, "[NaN,1]"},
	{"G11 string", kernels.PositionJSON, `[1,"2"]`},
	{"G12 one", kernels.PositionJSON, "[1]"},
	{"one and a comma", kernels.PositionJSON, "[1,]"},
	{"a comma", kernels.PositionJSON, "[,1]"},
	{"two commas", kernels.PositionJSON, "[1,,2]"},
	{"no comma", kernels.PositionJSON, "[1 2]"},
	{"semicolon", kernels.PositionJSON, "[1;2]"},
	{"leading zero", kernels.PositionJSON, "[01,2]"},
	{"leading zeros, second", kernels.PositionJSON, "[1,-00]"},
	{"plus", kernels.PositionJSON, "[+1,2]"},
	{"point", kernels.PositionJSON, "[1,.5]"},
	{"no fraction", kernels.PositionJSON, "[1.,5]"},
	{"no exponent", kernels.PositionJSON, "[1e,5]"},
	{"beyond float64", kernels.PositionJSON, "[1,-2e400]"},
	{"beyond float64, then a letter", kernels.PositionJSON, "[1,2e400x]"},
	{"nested", kernels.PositionJSON, "[[1,2]]"},
	{"a brace", kernels.PositionJSON, "{1,2}"},
	{"a digit", kernels.PositionJSON, "1,2]"},
	{"brace behind", kernels.PositionJSON, "[1,2}"},
	{"cut", kernels.PositionJSON, "[1,2"},
	{"middle", kernels.PositionJSON, "[1.00000000000000011102230246251565404,1.0000000000000001110223024625156541]"},
	{"middle, then malformed", kernels.PositionJSON, "[1.00000000000000011102230246251565404,x]"},
	{"2000 digits", kernels.PositionJSON, "[0." + strings.Repeat("1", 2000) + ",2]"},
	{"2000 digits, then 3000 blanks", kernels.PositionJSON, "[0." + strings.Repeat("1", 2000) +
		strings.Repeat(" ", 3000) + ",2]"},
	{"2000 digits, cut", kernels.PositionJSON, "[0." + strings.Repeat("1", 2000)},
	{"beyond float64, 2000 digits", kernels.PositionJSON, "[" + strings.Repeat("9", 2000) + ",2]"},
	{"40000 digits", kernels.PositionJSON, "[1," + strings.Repeat("7", 300) + "." + strings.Repeat("7", 40000) + "]"},
	{"two", kernels.PositionWKT, "1 2)"},
	{"two, with a sign", kernels.PositionWKT, "-1.5 2,"},
	{"three, behind blanks", kernels.PositionWKT, " \n1 2\t3 )"},
	{"a comma before it", kernels.PositionWKT, ",1 2,"},
	{"a comma and a blank before it", kernels.PositionWKT, " , 1 2,"},
	{"a bracket before it", kernels.PositionWKT, "(1 2)"},
	{"four", kernels.PositionWKT, "+1 .5 5. 0004,"},
	{"five", kernels.PositionWKT, "1 2 3 4 5)"},
	{"one", kernels.PositionWKT, "1)"},
	{"none", kernels.PositionWKT, ")"},
	{"two commas", kernels.PositionWKT, ",,"},
	{"letters", kernels.PositionWKT, "1 x)"},
	{"letter behind", kernels.PositionWKT, "1 2x)"},
	{"empty", kernels.PositionWKT, "EMPTY"},
	{"empty, in small letters", kernels.PositionWKT, " empty,"},
	{"not quite empty", kernels.PositionWKT, "EMPTX)"},
	{"more than empty", kernels.PositionWKT, "EMPTYY)"},
	{"empty, and a digit", kernels.PositionWKT, "empty1)"},
	{"as most are written", kernels.PositionWKT, "-12.5 47.123456789, 1.5 2.5 -3.25,"},
	{
		"three as most are written", kernels.PositionWKT,
		"-12.5 47.123456789 3.25) and more than thirty-two bytes behind",
	},
	{
		"four as most are written", kernels.PositionWKT,
		"-12.5 47.123456789 3.25 4.5, and more than thirty-two bytes behind",
	},
	{"a blank behind", kernels.PositionWKT, "12.5 47.5 , and more than thirty-two bytes behind it"},
	{"a closing bracket of JSON", kernels.PositionWKT, "12.5 47.5], and more than thirty-two bytes behind it"},
	{"commas", kernels.PositionWKT, "12.5,47.5), and more than thirty-two bytes behind it"},
	{"nested", kernels.PositionWKT, "((1 2))"},
	{"cut", kernels.PositionWKT, "1 2"},
	{"cut behind a blank", kernels.PositionWKT, "1 2 "},
	{"square", kernels.PositionWKT, "1 2]"},
	{"signs", kernels.PositionWKT, "1 +-2)"},
	{"a point", kernels.PositionWKT, "1 .)"},
	{"beyond float64", kernels.PositionWKT, "1 1e309)"},
	{"middle", kernels.PositionWKT, "1.00000000000000011102230246251565404 2)"},
	{"2000 digits", kernels.PositionWKT, strings.Repeat("0", 2000) + "1 2)"},
}

// Each position by itself, cut short at every byte, and before other text.
func TestParsePositions(t *testing.T) {
	r := open(t)
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
	r := open(t)
	for _, style := range []kernels.PositionStyle{kernels.PositionJSON, kernels.PositionWKT} {
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
func appendPosition(b []byte, rng *rand.Rand, style kernels.PositionStyle) []byte {
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
	if style == kernels.PositionWKT {
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
		b = appendDecimal(b, rng)
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
	r := open(t)
	for _, style := range []kernels.PositionStyle{kernels.PositionJSON, kernels.PositionWKT} {
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

// Runs of blanks that end just before and behind the bounds of words, of 64 words and of 4096
// words.
func TestParsePositionsOverBlanks(t *testing.T) {
	r := open(t)
	const n = 300000
	for _, first := range []int{0, 1, 63} {
		for _, second := range []int{64, 65, 128, 4095, 4096, 4097, 8191, 8192, 262143, 262144, 262145, n - 2} {
			text := bytes.Repeat([]byte{' '}, n)
			copy(text[first:], "[5,")
			copy(text[second+first%2:], "7")
			text[n-1] = ']'
			checkPositions(r, fmt.Sprintf("7 at %d", second), text, []int64{int64(first)}, kernels.PositionJSON, 2)
		}
	}
	checkPositions(r, "blanks to the end", append([]byte("[5,"), bytes.Repeat([]byte{'\n'}, n)...),
		[]int64{0}, kernels.PositionJSON, 2)
}

// Without blanks looked for, the host reads positions with many of them, and no others.
func TestParsePositionsWithoutBlanks(t *testing.T) {
	r := open(t)
	for _, run := range []int{0, 1, 9, 63, 64, 65, 256, 257, 330, 5000} {
		for place := range 5 {
			var runs [5]string
			runs[place] = strings.Repeat("\n\t ", run/3+1)[:run]
			text := []byte(fmt.Sprintf("[%s1.5%s,%s2.5%s,%s3]", runs[0], runs[1], runs[2], runs[3], runs[4]))
			b, at := upload(r, text), upload(r, []int64{0})
			to := kernels.Ordinates{
				X: poisoned[float64](r, 1), Y: poisoned[float64](r, 1),
				Z: poisoned[float64](r, 1), Undecided: poisoned[uint64](r, 1),
				Found: poisoned[kernels.PositionsFound](r, 1),
			}
			r.ok(r.k.ParsePositions(r.s, b, nil, at, kernels.PositionJSON, to))
			found, resolved, err := r.k.ResolvePositions(r.s, b, at, kernels.PositionJSON, to)
			r.ok(err)
			if want := (kernels.PositionsFound{Malformed: -1, Dims: 1 << 3}); found != want {
				t.Fatalf("%d blanks at place %d: found %+v, want %+v", run, place, found, want)
			}
			if x, y, z := read(r, to.X)[0], read(r, to.Y)[0], read(r, to.Z)[0]; x != 1.5 || y != 2.5 || z != 3 {
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
	r := open(t)
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
	checkPositions(r, "short", text, at, kernels.PositionJSON, 4)
}

// Ordinates of up to 15 digits behind the point that lie as close to the middle of two float64 as
// they can, and beside it.
func TestParsePositionsNearMiddles(t *testing.T) {
	r := open(t)
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
	checkPositions(r, "near middles", append(text, make([]byte, 40)...), at, kernels.PositionJSON, 2)
}

// A position that lies nowhere is malformed where it lies.
func TestParsePositionsOutside(t *testing.T) {
	r := open(t)
	for _, style := range []kernels.PositionStyle{kernels.PositionJSON, kernels.PositionWKT} {
		for _, at := range []int64{6, 7, 1 << 50, -1, math.MinInt64} {
			checkPositions(r, fmt.Sprint("at ", at), []byte("[1,2] "), []int64{at}, style, 4)
		}
	}
}

func TestParsePositionsRefuses(t *testing.T) {
	r := open(t)
	text, at := upload(r, make([]byte, 100)), upload(r, make([]int64, 65))
	blanks, err := kernels.AllocBlanks(r.s, 100)
	r.ok(err)
	defer func() { r.ok(blanks.Free(r.s)) }()
	r.ok(r.k.FindBlanks(r.s, text, blanks))
	column, mask, found := poisoned[float64](r, 65), poisoned[uint64](r, 2), poisoned[kernels.PositionsFound](r, 1)
	good := kernels.Ordinates{X: column, Y: column, Undecided: mask, Found: found}
	tests := []struct {
		name   string
		style  kernels.PositionStyle
		change func(o *kernels.Ordinates)
	}{
		{"no style", 2, func(*kernels.Ordinates) {}},
		{"a short x", 0, func(o *kernels.Ordinates) { o.X = column.Slice(0, 64) }},
		{"no y", 0, func(o *kernels.Ordinates) { o.Y = gpu.Buffer[float64]{} }},
		{"a short z", 0, func(o *kernels.Ordinates) { o.Z = column.Slice(0, 64) }},
		{"a short m", 0, func(o *kernels.Ordinates) { o.M = column.Slice(0, 1) }},
		{"a short mask", 0, func(o *kernels.Ordinates) { o.Undecided = mask.Slice(0, 1) }},
		{"nothing found", 0, func(o *kernels.Ordinates) { o.Found = gpu.Buffer[kernels.PositionsFound]{} }},
	}
	for _, tt := range tests {
		to := good
		tt.change(&to)
		if r.k.ParsePositions(r.s, text, blanks, at, tt.style, to) == nil {
			t.Errorf("%s: ParsePositions takes it", tt.name)
		}
		if _, _, err := r.k.ResolvePositions(r.s, text, at, tt.style, to); err == nil {
			t.Errorf("%s: ResolvePositions takes it", tt.name)
		}
	}
	if r.k.ParsePositions(r.s, text.Slice(0, 64), blanks, at, 0, good) == nil {
		t.Error("ParsePositions takes blanks of another text")
	}
	if r.k.FindBlanks(r.s, upload(r, make([]byte, 100000)), blanks) == nil {
		t.Error("FindBlanks takes more text than there is room for")
	}
}
