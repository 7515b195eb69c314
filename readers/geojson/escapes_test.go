package geojson_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/vibeflight/vibeflight/readers"
)

// TestUnicodeEscapes has every character of the basic plane, and some beyond, by their escapes, in
// digits of either case.
func TestUnicodeEscapes(t *testing.T) {
	r := rand.New(rand.NewPCG(26, 11))
	escape := func(unit uint16) string {
		digits := []byte(fmt.Sprintf("%04x", unit))
		for i, c := range digits {
			if c >= 'a' && r.IntN(2) == 0 {
				digits[i] = c - 'a' + 'A'
			}
		}
		return `\u` + string(digits)
	}
	var text, want strings.Builder
	for c := rune(0); c < 1<<16; c++ {
		if utf16.IsSurrogate(c) {
			continue
		}
		text.WriteString(escape(uint16(c)))
		want.WriteRune(c)
		if c%97 == 0 {
			beyond := 1<<16 + c*16
			high, low := utf16.EncodeRune(beyond)
			text.WriteString(escape(uint16(high)) + escape(uint16(low)) + "x")
			want.WriteString(string(beyond) + "x")
		}
	}
	if got := text0(read(t, props(`{"a":"`+text.String()+`"}`), readers.Limits{})); got != want.String() {
		i := 0
		for i < min(len(got), want.Len()) && got[i] == want.String()[i] {
			i++
		}
		t.Errorf("%d bytes, want %d; they differ from byte %d on", len(got), want.Len(), i)
	}
}

// TestBrokenUnicodeEscapes has each byte that is no hexadecimal digit at each of the four places,
// and says which.
func TestBrokenUnicodeEscapes(t *testing.T) {
	var cases []textCase
	for place := range 4 {
		for _, c := range "/:@G`g xé\\\"\x00\x7f" {
			digits := "1aF0"[:place] + "¦" + string(c) + "000"
			cases = append(cases, textCase{
				fmt.Sprintf("%q at place %d", c, place), props(`{"a":"x\u` + digits + `"}`),
				"four hexadecimal digits",
			})
		}
	}
	check(t, plain, cases)
}

// TestEscapesBehindRuns has each kind of escape after texts of every length that are copied in one
// way or the other, and at the end of one.
func TestEscapesBehindRuns(t *testing.T) {
	for _, escape := range []string{
		`\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\u00e9`, `\ud83d\ude00`,
		`\\\\`, `\"\n`,
	} {
		var text strings.Builder
		for n := range 80 {
			text.WriteString(strings.Repeat("a", n) + escape + strings.Repeat("é", n%3))
		}
		for _, text := range []string{text.String(), text.String() + "the end", text.String() +
			strings.Repeat("z", 100)} {
			var want string
			if err := json.Unmarshal([]byte(`"`+text+`"`), &want); err != nil {
				t.Fatal(err)
			}
			if got := text0(read(t, props(`{"a":"`+text+`"}`), readers.Limits{})); got != want {
				t.Errorf("%s: got %q, want %q", escape, got, want)
			}
		}
	}
}
