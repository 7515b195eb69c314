package xmltext

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/vibeflight/vibeflight/readers/source"
)

// in writes a text in an encoding.
func in(t *testing.T, e encoding.Encoding, text string) string {
	t.Helper()
	s, err := e.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRecode(t *testing.T) {
	little := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	big := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	const bare = "<a>Köln €, 𝒳, \uFFFD</a>"
	named := func(name, text string) string {
		return "<?xml version='1.0' encoding='" + name + "' ?>\n<a>" + text + "</a>"
	}
	for _, c := range []struct {
		name, text, want string // want: "" where it is read as it is
	}{
		{"UTF-8", bare, ""},
		{"byte order mark of UTF-8", "\xEF\xBB\xBF" + named("UTF-16", "é"), ""},
		{"US-ASCII", named("us-ascii", "a"), ""},
		{"ISO-8859-1", named("ISO-8859-1", "\xE9"), ""},
		{"unknown", named("x-nobody", "a"), ""},
		{"UTF-16 in its own name only", named("UTF-16", "a"), ""},
		{"EBCDIC in its own name only", named("IBM037", "a"), ""},
		{"stateful", named("ISO-2022-JP", "a"), ""},
		{"UTF-16LE with a mark", in(t, little, "\uFEFF"+bare), bare},
		{"UTF-16BE with a mark", in(t, big, "\uFEFF"+bare), bare},
		{"UTF-16LE", in(t, little, named("UTF-16", "é")), named("UTF-8", "é")},
		{"UTF-16BE", in(t, big, named("utf-16BE", "é")), named("UTF-8", "é")},
		{"UTF-16 that says UTF-8", in(t, little, "\uFEFF"+named("UTF-8", "é")), named("UTF-8", "é")},
		{"UTF-32LE", in(t, utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), "\uFEFF"+bare), bare},
		{"UTF-32BE", in(t, utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), named("UTF-32", "é")), named("UTF-8", "é")},
		{"windows-1251", in(t, charmap.Windows1251, named("windows-1251", "Москва")), named("UTF-8", "Москва")},
		{"cp1250", in(t, charmap.Windows1250, named("CP1250", "Łódź")), named("UTF-8", "Łódź")},
		{"ISO-8859-2", in(t, charmap.ISO8859_2, named("iso-8859-2", "Łódź")), named("UTF-8", "Łódź")},
		{"ISO-8859-15", in(t, charmap.ISO8859_15, named("ISO-8859-15", "1 €")), named("UTF-8", "1 €")},
		{"KOI8-R", in(t, charmap.KOI8R, named("KOI8-R", "Москва")), named("UTF-8", "Москва")},
		{"Shift_JIS", in(t, japanese.ShiftJIS, named("Shift_JIS", "東京")), named("UTF-8", "東京")},
		{"GB2312", in(t, simplifiedchinese.GBK, named("GB2312", "北京")), named("UTF-8", "北京")},
		{"GB18030", in(t, simplifiedchinese.GB18030, named("GB18030", "北京 \uFFFD 𝒳")), named("UTF-8", "北京 \uFFFD 𝒳")},
		{
			"long", in(t, little, named("UTF-16", strings.Repeat("x€", 100_000))),
			named("UTF-8", strings.Repeat("x€", 100_000)),
		},
	} {
		r, ok := Recode([]byte(c.text))
		if ok != (c.want != "") {
			t.Errorf("%s: recoded %t", c.name, ok)
		}
		if !ok {
			continue
		}
		for _, src := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
			got, err := io.ReadAll(r.Reader(src))
			if err != nil || string(got) != c.want {
				t.Errorf("%s: got %.200q, %v; want %.200q", c.name, got, err, c.want)
			}
		}
		if root := Root([]byte(c.text)); string(root) != "a" {
			t.Errorf("%s: root %q", c.name, root)
		}
	}
}

// TestMalformedText is which bytes of which file are no text.
func TestMalformedText(t *testing.T) {
	little := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	head := in(t, little, "\uFEFF<a>")
	long := head + in(t, little, strings.Repeat("x\uFFFD", 60_000))
	for _, c := range []struct {
		name, text string
		offset     int64
	}{
		{"a low surrogate", head + "a\x00\x00\xDCb\x00", 10},
		{"a high surrogate", head + "\x00\xD8b\x00", 8},
		{"far after", long + "\x00\xDC", int64(len(long))},
		{"half a unit", head + "a", 8},
		{"half a pair", head + "\x00\xD8", 8},
		{"windows-1251", "<?xml version='1.0' encoding='windows-1251'?><a>\x98</a>", 48},
		{"Shift_JIS", "<?xml version='1.0' encoding='Shift_JIS'?><a>\x82\xA0\x82</a>", 47},
	} {
		r, ok := Recode([]byte(c.text))
		if !ok {
			t.Errorf("%s: not recoded", c.name)
			continue
		}
		_, err := io.Copy(io.Discard, r.Reader(bytes.NewReader([]byte(c.text))))
		var bad *source.RecodeError
		if !errors.As(err, &bad) || bad.Offset != c.offset || bad.Rule == "" {
			t.Errorf("%s: got %v, want byte %d", c.name, err, c.offset)
		}
	}
}
