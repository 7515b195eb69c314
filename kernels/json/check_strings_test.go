package json_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
)

// stringFault is CheckStrings, a byte at a time.
func stringFault(text []byte) int64 {
	inside, digits, escaped := false, 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case !inside:
			if c == '\\' || c >= 0x80 {
				return int64(i)
			}
			inside = c == '"'
		case digits > 0:
			if !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) {
				return int64(i)
			}
			digits--
		case escaped:
			escaped = false
			if c >= 0x80 || !strings.ContainsRune(`"\/bfnrtu`, rune(c)) {
				return int64(i)
			}
			if c == 'u' {
				digits = 4
			}
		case c < 0x20:
			return int64(i)
		case c >= 0x80:
			length := characterAt(text[i:])
			if length <= 0 {
				return int64(i - length)
			}
			i += length - 1
		case c == '"':
			inside = false
		case c == '\\':
			escaped = true
		}
	}
	if inside {
		return int64(len(text))
	}
	return -1
}

// characterAt is the length of the character that b begins with, or less: minus the place of the
// byte that can't go on.
func characterAt(b []byte) int {
	_, size := utf8.DecodeRune(b)
	if size > 1 {
		return size
	}
	for n := range min(len(b), 3) {
		if !startsCharacter(b[:n+1]) {
			return -n
		}
	}
	return -min(len(b), 3)
}

// startsCharacter reports whether some character begins with b.
func startsCharacter(b []byte) bool {
	for _, rest := range []string{
		"", "\x80", "\xa0", "\x90\x80", "\x80\x80", "\xa0\x80", "\x90\x80\x80",
		"\x80\x80\x80",
	} {
		if r, size := utf8.DecodeRuneInString(string(b) + rest); r != utf8.RuneError && size == len(b)+len(rest) {
			return true
		}
	}
	return false
}

// checkStrings compares CheckStrings with the plain reading, and with encoding/json.
func checkStrings(r *kerneltest.Rig, what string, text []byte) (fault int64) {
	r.Helper()
	b, out := kerneltest.Upload(r, text), kerneltest.Poisoned[int64](r, 1)
	x, err := kjson.AllocStructure(r.Stream, len(text))
	r.OK(err)
	r.OK(kjson.ParseStructure(r.Set, r.Stream, b, x, gpu.Buffer[kjson.StructureCarry]{}))
	r.OK(kjson.CheckStrings(r.Set, r.Stream, b, x, out))
	got, want := kerneltest.Read(r, out)[0], stringFault(text)
	r.OK(x.Free(r.Stream))
	if got != want {
		at := int(max(got, want))
		if min(got, want) >= 0 {
			at = int(min(got, want))
		}
		r.Fatalf("%s: fault at %d of %d, want %d; text around %d: %s", what, got, len(text), want, at,
			kerneltest.Around(text, at))
	}
	if got >= 0 && json.Valid(text) && utf8.Valid(text) {
		r.Fatalf("%s: fault at %d of valid text %s", what, got, kerneltest.Around(text, int(got)))
	}
	if s := wrongString(text); got < 0 && s != nil {
		r.Fatalf("%s: no fault in %q", what, s)
	}
	return got
}

// wrongString is the first string of text that encoding/json refuses.
func wrongString(text []byte) []byte {
	for {
		start := bytes.IndexByte(text, '"')
		if start < 0 {
			return nil
		}
		end := start + 1
		for end < len(text) && text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		s := text[start:min(end+1, len(text))]
		if !json.Valid(s) || !utf8.Valid(s) {
			return s
		}
		text = text[end+1:]
	}
}

// stringPieces are what may stand in a string, and what may not.
var stringPieces = []struct{ name, text string }{
	{"ASCII", "abc \x7f/'"},
	{"two bytes", "\u0080\u00e9\u07ff"},
	{"three bytes", "\u0800\u20ac\ud7ff\ue000\uffff"},
	{"four bytes", "\U00010000\U0001f600\U0010ffff"},
	{"escapes", `\"\\\/\b\f\n\r\t`},
	{"digits", `\u0000\uAfF9\u20ac`},
	{"a surrogate pair", `\ud83d\ude00`},
	{"half a pair", `\ud83d`},
	{"the other half", `\ude00x`},
	{"many backslashes", `\\\\\\\\\\\\\\\\\\\\\\\\`},
	{"many backslashes and a digit", `\\\\\\\\\\\\\\\\\\\\\u00e9`},
	{"a backslash and u", `\\u`},
	{"a backslash and uxyzw", `\\uxyzw`},
	{"NUL", "\x00"},
	{"the last control", "\x1f"},
	{"line feed", "a\nb"},
	{"tab", "a\tb"},
	{"an invalid escape", `\x`},
	{"an escaped capital", `\N`},
	{"an escaped capital u", `\U0041`},
	{"an escaped digit", `\0`},
	{"an escaped control", "\\\n"},
	{"an escaped character", "\\é"},
	{"no digit", `\u`},
	{"three digits", `\u12`},
	{"a g", `\u12g4`},
	{"the byte before 0", `\u12/4`},
	{"the byte behind 9", `\u:234`},
	{"the byte before A", `\u123@`},
	{"the byte behind F", `\u1G34`},
	{"the byte before a", "\\u12`4"},
	{"a digit with a high bit", "\\u1\xb134"},
	{"an escape in an escape", `\u12\n`},
	{"an odd run", `\\\\\\\\\\\x`},
	{"an even run and u", `\\\\\\\\\\\\\\ux`},
	{"an odd run and u", `\\\\\\\\\\\\\\\ux`},
	{"a stray tail", "a\x80"},
	{"a tail too many", "\u20ac\x80"},
	{"two tails too many", "\U0001f600\x80\xbf"},
	{"overlong, two bytes", "\xc0\x80"},
	{"overlong, two bytes, the last", "\xc1\xbf"},
	{"overlong, three bytes", "\xe0\x9f\xbf"},
	{"overlong, four bytes", "\xf0\x8f\xbf\xbf"},
	{"the first surrogate", "\xed\xa0\x80"},
	{"the last surrogate", "\xed\xbf\xbf"},
	{"beyond U+10FFFF", "\xf4\x90\x80\x80"},
	{"f5", "\xf5\x80\x80\x80"},
	{"f8", "\xf8\x88\x80\x80\x80"},
	{"fe", "\xfe"},
	{"ff", "\xff"},
	{"cut, two bytes", "\xc3"},
	{"cut, three bytes", "\xe2\x82"},
	{"cut, three bytes, one", "\xe2"},
	{"cut, four bytes", "\xf0\x9f\x98"},
	{"cut, four bytes, two", "\xf0\x9f"},
	{"cut, then a lead", "\xe2\x82\xc3\xa9"},
	{"cut, then another lead", "\xf0\xf0\x9f\x98\x80"},
	{"cut by an escape", "\xe2\\n"},
}

func TestCheckStrings(t *testing.T) {
	r := kerneltest.Open(t)
	for _, tt := range stringPieces {
		checkStrings(r, tt.name, []byte(`{"`+tt.text+`":1}`))
		checkStrings(r, tt.name+" outside", []byte(`{"a":`+tt.text+`}`))
		checkStrings(r, tt.name+", cut off", []byte(`{"a":"`+tt.text))
		for bound, step := range map[int]int{64: 1, 2048: 5, 16384: 7} {
			for at := bound - len(tt.text); at <= bound+1; at += step {
				text := bytes.Repeat([]byte{'x'}, at)
				copy(text, `{"a":"`)
				text = append(append(text, tt.text...), `yz"}`...)
				checkStrings(r, fmt.Sprintf("%s at %d", tt.name, at), text)
				if bound == 64 {
					checkStrings(r, fmt.Sprintf("%s at %d, cut off", tt.name, at), text[:bound])
				}
			}
		}
	}
}

// jsonStrings are strings and what stands between them, valid but for the brackets, of about n
// bytes.
func jsonStrings(rng *rand.Rand, n int) []byte {
	var text []byte
	for len(text) < n {
		text = append(text, []string{"{", ":", ", ", "}\n", "[1.5]"}[rng.IntN(5)]...)
		if rng.IntN(3) > 0 {
			continue
		}
		text = append(text, '"')
		for range rng.IntN(1 << rng.IntN(9)) {
			switch rng.IntN(12) {
			case 0:
				text = append(text, stringPieces[rng.IntN(13)].text...)
			case 1:
				text = append(text, bytes.Repeat([]byte(`\\`), rng.IntN(1<<rng.IntN(9)))...)
			default:
				text = append(text, byte('a'+rng.IntN(26)))
			}
		}
		text = append(text, '"')
	}
	return text
}

// Text that is valid, and the same with a byte or two changed, removed or added: most of what is
// then wrong lies deep in the text.
func TestCheckRandomStrings(t *testing.T) {
	r := kerneltest.Open(t)
	rng := rand.New(rand.NewPCG(3, 4))
	faults := 0
	for i := range 500 {
		n := 1 + rng.IntN(400)
		if i%25 == 0 {
			n = 14000 + rng.IntN(30000)
		}
		text := jsonStrings(rng, n)
		if at := checkStrings(r, "valid", text); at >= 0 {
			t.Fatalf("fault at %d of valid text", at)
		}
		for range 1 + rng.IntN(2) {
			at, c := rng.IntN(len(text)), byte(rng.IntN(256))
			if rng.IntN(2) == 0 {
				c = "\x1f\\\"u\xc3\xe2\xf0\x80\xa9"[rng.IntN(9)]
			}
			switch rng.IntN(3) {
			case 0:
				text[at] = c
			case 1:
				text = append(text[:at], text[at+1:]...)
			default:
				text = append(text[:at], append([]byte{c}, text[at:]...)...)
			}
			if len(text) == 0 {
				break
			}
		}
		if checkStrings(r, "changed", text) >= 0 {
			faults++
		}
	}
	if faults < 100 {
		t.Errorf("%d faults only", faults)
	}
}

func TestCheckHostileStrings(t *testing.T) {
	r := kerneltest.Open(t)
	for name, text := range kerneltest.HostileTexts() {
		checkStrings(r, name, text)
		checkStrings(r, name+" in a string", append([]byte{'"'}, text...))
	}
	for _, n := range kerneltest.Sizes {
		checkStrings(r, "blank", bytes.Repeat([]byte{' '}, n))
		checkStrings(r, "any bytes", kerneltest.Random(uint64(n), n, "\"\"\\/u00abé€"))
		text := bytes.Repeat([]byte("é"), n/2+1)
		text[0] = '"'
		checkStrings(r, "not ASCII", append(text[:1], text[2:]...))
	}
}

func TestCheckStringsArguments(t *testing.T) {
	r := kerneltest.Open(t)
	text, fault := kerneltest.Upload(r, make([]byte, 64)), kerneltest.Poisoned[int64](r, 2)
	x, err := kjson.AllocStructure(r.Stream, 64)
	r.OK(err)
	defer func() { r.OK(x.Free(r.Stream)) }()
	r.OK(kjson.ParseStructure(r.Set, r.Stream, text, x, gpu.Buffer[kjson.StructureCarry]{}))
	if kjson.CheckStrings(r.Set, r.Stream, text.Slice(0, 32), x, fault.Slice(0, 1)) == nil {
		t.Error("the structure of another text: no error")
	}
	if kjson.CheckStrings(r.Set, r.Stream, text, x, fault) == nil {
		t.Error("two elements for a fault: no error")
	}
}
