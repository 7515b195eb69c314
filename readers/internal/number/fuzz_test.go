package number

import (
	"math"
	"regexp"
	"strconv"
	"testing"
)

var (
	grammar = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	longest = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?`)
	start   = regexp.MustCompile(`^(-?|-?(0|[1-9][0-9]*)(\.[0-9]*)?|-?(0|[1-9][0-9]*)(\.[0-9]+)?[eE][-+]?[0-9]*)$`)
)

// FuzzFloat compares the ends with a regular expression and the values with strconv.
func FuzzFloat(f *testing.F) {
	for _, c := range accepted {
		f.Add([]byte(c.text))
	}
	for _, text := range []string{"", "-", "01", "1e", "1.", "1.e5", "1e+", "1e400", "1.2.3", "\x80", "0x10"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, end := floatOf(string(text))
		n, numberEnd := Number(padded(string(text)), 0)
		if numberEnd != end || end >= 0 && !same(n.Float, v) {
			t.Fatalf("%q: Number gives %v to %d, Float %v to %d", text, n.Float, numberEnd, v, end)
		}
		switch {
		case end >= 0:
			number := string(longest.Find(text))
			want, err := strconv.ParseFloat(number, 64)
			if len(number) != end || err != nil || !same(v, want) {
				t.Fatalf("%q: got %v to %d, want %v to %d", text, v, end, want, len(number))
			}
			checkInteger(t, number, n)
		case math.IsInf(v, 0):
			number := string(longest.Find(text))
			if want, err := strconv.ParseFloat(number, 64); err == nil || want != v || end != ^0 {
				t.Fatalf("%q: got %v, %d, want %v", text, v, end, want)
			}
		default:
			if at := ^end; !same(v, 0) || !start.Match(text[:at]) || at < len(text) && start.Match(text[:at+1]) {
				t.Fatalf("%q: got %v, %d, which is not where it stops to be a number", text, v, end)
			}
		}
	})
}

// checkInteger compares the class of a number with what strconv and the text say.
func checkInteger(t *testing.T, text string, n Num) {
	t.Helper()
	want := Num{Kind: Real, Negative: text[0] == '-', Float: n.Float}
	if regexp.MustCompile(`^-?[0-9]+$`).MatchString(text) {
		want.Kind = Huge
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			want.Kind, want.Int = Int64, uint64(max(i, -i))
			if i == int64(int32(i)) {
				want.Kind = Int32
			}
		} else if u, err := strconv.ParseUint(text, 10, 64); err == nil {
			want.Kind, want.Int = Uint64, u
		}
	}
	if n != want {
		t.Fatalf("%q: got %+v, want %+v", text, n, want)
	}
}
