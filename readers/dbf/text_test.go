package dbf_test

import (
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/readertest"
)

func TestEncodings(t *testing.T) {
	for _, tt := range []struct {
		name     string
		driver   byte
		cpg      string
		encoding string
		value    string
		want     string
	}{
		{"B8: a .cpg", 0, "UTF-8", "", "München", "München"},
		{"B8: cp1252 by the language driver", 0x03, "", "", "M\xfcnchen \x80", "München €"},
		{"B8: cp936 by the language driver", 0x4D, "", "", "\xb1\xb1\xbe\xa9", "北京"},
		{"nothing said: ISO-8859-1", 0, "", "", "M\xfcnchen", "München"},
		{"a driver that nobody knows: ISO-8859-1", 0xEE, "", "", "M\xfcnchen", "München"},
		{"0x57", 0x57, "", "", "M\xfcnchen", "München"},
		{"a .cpg wins over the driver", 0x03, "65001", "", "München", "München"},
		{"an empty .cpg says nothing", 0x03, " \r\n", "", "\x80", "€"},
		{"an option wins over the .cpg", 0x03, "UTF-8", "cp437", "M\x81nchen", "München"},
		{"cp437", 0x01, "", "", "M\x81nchen", "München"},
		{"cp850", 0x02, "", "", "\xd1", "Ð"},
		{"cp737", 0x6A, "", "", "\x80\x81", "ΑΒ"},
		{"cp857", 0x6B, "", "", "\x98\x9f", "İş"},
		{"cp861", 0x67, "", "", "\x8b\x8c", "Ðð"},
		{"cp932", 0x13, "", "", "\x93\x8c\x8b\x9e", "東京"},
		{"cp949", 0x4E, "", "", "\xbc\xad\xbf\xef", "서울"},
		{"cp950", 0x4F, "", "", "\xa5\x78\xa5\x5f", "台北"},
		{"cp1251", 0xC9, "", "", "\xcc\xee\xf1\xea\xe2\xe0", "Москва"},
		{"Macintosh", 0x04, "", "", "M\x9fnchen", "München"},
		{"Macintosh, Greek", 0x98, "", "", "\xe1\xe2", "αβ"},
		{".cpg 1252", 0, "1252", "", "\x80", "€"},
		{".cpg ANSI 1252", 0, "ANSI 1252\r\n", "", "\x80", "€"},
		{".cpg Windows-1252", 0, "windows-1252", "", "\x80", "€"},
		{".cpg ISO 88591", 0, "ISO 88591", "", "\xfc", "ü"},
		{".cpg ISO-8859-15", 0, "ISO-8859-15", "", "\xa4", "€"},
		{".cpg LDID/201", 0, "LDID/201", "", "\xcc", "М"},
		{".cpg Big5", 0, "Big5", "", "\xa5\x78\xa5\x5f", "台北"},
		{".cpg with a byte order mark", 0, "\xEF\xBB\xBFUTF-8", "", "ü", "ü"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tab := column("C", 'C', 12, 0, tt.value, "ascii", "")
			tab.driver = tt.driver
			in := readertest.Input{Text: tab.bytes()}
			if tt.cpg != "" {
				in.Siblings = map[string][]byte{".cpg": []byte(tt.cpg)}
			}
			if tt.encoding != "" {
				in.Options = map[string]any{"encoding": tt.encoding}
			}
			check(t, in, "C: string: \""+tt.want+"\" | \"ascii\" | null\n")
		})
	}
}

func TestBytesThatAreNoText(t *testing.T) {
	for _, tt := range []struct {
		name   string
		cpg    string
		values []string
		want   string
	}{
		{
			"no UTF-8", "UTF-8",
			[]string{"a\xffb\xc3", "ok", "\xfc"},
			"\"a�b�\" | \"ok\" | \"�\"\nreplaced characters: 3\n",
		},
		{
			"UTF-8 that is cut between two values", "UTF-8",
			[]string{"abcdefg\xc3", "\xbcx"},
			"\"abcdefg�\" | \"�x\"\nreplaced characters: 2\n",
		},
		{"U+FFFD itself", "UTF-8", []string{"�"}, "\"�\"\n"},
		{"nothing at that byte of cp857", "857", []string{"\xd5\xe7a"}, "\"��a\"\nreplaced characters: 2\n"},
		{"half a character of cp936", "936", []string{"\xb1\xb1\xbe"}, "\"北�\"\nreplaced characters: 1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tab := column("C", 'C', 8, 0, tt.values...)
			check(t, readertest.Input{Text: tab.bytes(), Siblings: map[string][]byte{".cpg": []byte(tt.cpg)}},
				"C: string: "+tt.want)
		})
	}
}

func TestUnknownPages(t *testing.T) {
	tab := column("C", 'C', 2, 0, "a")
	check(t, readertest.Input{Text: tab.bytes(), Siblings: map[string][]byte{".cpg": []byte("UTF-16")}},
		`error: a.dbf: dbf: byte 29: a.cpg names "UTF-16": the code page is none that is known here; name the right one with the option encoding`)
	tab.driver = 0x68
	check(t, readertest.Input{Text: tab.bytes()},
		"error: byte 29: the language driver is 0x68, code page 895: the code page is none")
	check(t, readertest.Input{Text: tab.bytes(), Options: map[string]any{"encoding": "1252"}}, "C: string: \"a\"\n")
}

// TestTrim asks for texts at every place among blanks of a field of every width.
func TestTrim(t *testing.T) {
	for width := 1; width <= 17; width++ {
		tab, want := table{fields: []field{{"C", 'C', width, 0}}}, []string{}
		for from := 0; from < width; from++ {
			for to := from + 1; to <= width; to++ {
				text := strings.Repeat("x", to-from)
				tab.records = append(tab.records, " "+strings.Repeat(" ", from)+text+strings.Repeat(" ", width-to))
				want = append(want, `"`+text+`"`)
			}
		}
		check(t, readertest.Input{Text: tab.bytes()}, "C: string: "+strings.Join(want, " | ")+"\n")
	}
}
