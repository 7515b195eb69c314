package dbf

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// codePage maps the bytes of texts to characters. Bytes below 0x80 are ASCII in all pages, unless
// they follow a higher byte.
type codePage struct {
	name    string
	utf8    bool
	unknown bool              // only texts in ASCII can be read; upper is empty
	upper   *[128]character   // of a single-byte page: characters from 0x80 on
	wide    encoding.Encoding // of any other
}

// character is the UTF-8 of one.
type character struct {
	n    uint8
	text [utf8.UTFMax]byte
}

// defaultPage is the page of a table that does not name one.
const defaultPage = "ISO-8859-1"

// errNoPage is the cause if a file names an unknown code page.
var errNoPage = errors.New("the code page is none that is known here; name the right one with the option encoding")

// pageOf finds the code page: the option's, else that of the .cpg file next to the table, else that
// of the language driver, else ISO-8859-1.
func pageOf(src *source.File, option string, driver byte) (*codePage, error) {
	if option != "" {
		page, ok := pageByName(option)
		if !ok {
			return nil, &readers.OptionError{
				Option: "encoding",
				Err: fmt.Errorf("%q is no code page that is known here, as UTF-8, 1252, CP437, ISO-8859-2, GBK are",
					option),
			}
		}
		return page, nil
	}
	cpg, err := src.Sibling(".cpg")
	if err != nil {
		return nil, err
	}
	if cpg != nil {
		const most = 64
		text, err := cpg.Head(most)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", cpg.Name, err)
		}
		line, _, _ := strings.Cut(strings.Trim(string(text), "\xEF\xBB\xBF \t\r\n\x00"), "\n")
		if line != "" {
			page, ok := pageByName(line)
			if !ok {
				return nil, fmt.Errorf("%s names %s: %w", cpg.Name, quoted([]byte(line)), errNoPage)
			}
			return page, nil
		}
	}
	name, known := languageDrivers[driver]
	if !known {
		name = defaultPage
	}
	page, ok := pageByName(name)
	if !ok {
		return nil, fmt.Errorf("the language driver is 0x%02x, code page %s: %w", driver, name, errNoPage)
	}
	return page, nil
}

// pageByName finds a code page by the names that .cpg files have for it: "UTF-8", "65001", "1252",
// "ANSI 1252", "windows-1252", "88591", "LDID/87".
func pageByName(name string) (*codePage, bool) {
	key := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, name)
	if driver, ok := strings.CutPrefix(key, "LDID"); ok {
		var n byte
		if _, err := fmt.Sscanf(driver, "%d", &n); err == nil {
			key = languageDrivers[n]
		}
	}
	for _, prefix := range []string{"ANSI", "OEM", "CP", "IBM", "WINDOWS", "WIN", "MS", "DOS", "ISO"} {
		if rest, ok := strings.CutPrefix(key, prefix); ok && rest != "" && rest[0] <= '9' {
			key = rest
			break
		}
	}
	if full, ok := otherNames[key]; ok {
		key = full
	}
	switch {
	case key == "UTF8":
		return &codePage{name: "UTF-8", utf8: true}, true
	case upperHalves[key] != "":
		return singleBytes(key, []rune(upperHalves[key])), true
	case charmaps[key] != nil:
		var upper []rune
		for b := 0x80; b <= 0xFF; b++ {
			upper = append(upper, charmaps[key].DecodeByte(byte(b)))
		}
		return singleBytes(charmaps[key].String(), upper), true
	case wideEncodings[key] != nil:
		return &codePage{name: key, wide: wideEncodings[key]}, true
	}
	return nil, false
}

// unknownPage returns an unknown page, which has only ASCII.
func unknownPage() *codePage {
	p := singleBytes("US-ASCII", slices.Repeat([]rune{utf8.RuneError}, 128))
	p.unknown = true
	return p
}

func singleBytes(name string, upper []rune) *codePage {
	p := &codePage{name: name, upper: new([128]character)}
	for i, r := range upper {
		c := &p.upper[i]
		c.n = uint8(utf8.EncodeRune(c.text[:], r))
	}
	return p
}

// charmaps are the single-byte pages, by their numbers, or by a substitute if they have none.
var charmaps = map[string]*charmap.Charmap{
	"437": charmap.CodePage437, "850": charmap.CodePage850, "852": charmap.CodePage852, "855": charmap.CodePage855,
	"858": charmap.CodePage858,
	"860": charmap.CodePage860, "862": charmap.CodePage862, "863": charmap.CodePage863, "865": charmap.CodePage865,
	"866": charmap.CodePage866,
	"874": charmap.Windows874, "1250": charmap.Windows1250, "1251": charmap.Windows1251, "1252": charmap.Windows1252,
	"1253": charmap.Windows1253,
	"1254": charmap.Windows1254, "1255": charmap.Windows1255, "1256": charmap.Windows1256,
	"1257": charmap.Windows1257, "1258": charmap.Windows1258,
	"88591": charmap.ISO8859_1, "88592": charmap.ISO8859_2, "88593": charmap.ISO8859_3, "88594": charmap.ISO8859_4,
	"88595": charmap.ISO8859_5,
	"88596": charmap.ISO8859_6, "88597": charmap.ISO8859_7, "88598": charmap.ISO8859_8, "88599": charmap.ISO8859_9,
	"885910": charmap.ISO8859_10,
	"885913": charmap.ISO8859_13, "885914": charmap.ISO8859_14, "885915": charmap.ISO8859_15,
	"885916": charmap.ISO8859_16,
	"KOI8R":  charmap.KOI8R, "KOI8U": charmap.KOI8U, "10000": charmap.Macintosh, "10007": charmap.MacintoshCyrillic,
}

// wideEncodings are the multi-byte pages.
var wideEncodings = map[string]encoding.Encoding{
	"932": japanese.ShiftJIS, "936": simplifiedchinese.GBK, "949": korean.EUCKR, "950": traditionalchinese.Big5,
	"GB18030": simplifiedchinese.GB18030, "EUCJP": japanese.EUCJP,
}

// otherNames are names that are not numbers.
var otherNames = map[string]string{
	"65001": "UTF8", "LATIN1": "88591", "28591": "88591", "ASCII": "88591", "USASCII": "88591",
	"LATIN2": "88592", "28592": "88592", "LATIN9": "885915",
	"20866": "KOI8R", "21866": "KOI8U", "MACINTOSH": "10000", "TIS620": "874", "SHIFTJIS": "932",
	"SJIS": "932", "GBK": "936", "GB2312": "936", "54936": "GB18030",
	"EUCKR": "949", "BIG5": "950", "51932": "EUCJP",
}

// languageDrivers are the code pages that byte 29 of a header names, from the lists of Visual
// FoxPro's help ("Code Pages Supported by Visual FoxPro") and of ESRI and Borland, as shapelib and
// GDAL have them. 895 and 620 (Kamenicky, Mazovia) are included so that they are an error, and not
// mistaken for another page.
var languageDrivers = map[byte]string{
	0x01: "437", 0x02: "850", 0x03: "1252", 0x04: "10000", 0x08: "865", 0x09: "437", 0x0A: "850", 0x0B: "437",
	0x0D: "437", 0x0E: "850", 0x0F: "437",
	0x10: "850", 0x11: "437", 0x12: "850", 0x13: "932", 0x14: "850", 0x15: "437", 0x16: "850", 0x17: "865",
	0x18: "437", 0x19: "437", 0x1A: "850",
	0x1B: "437", 0x1C: "863", 0x1D: "850", 0x1F: "852", 0x22: "852", 0x23: "852", 0x24: "860", 0x25: "850",
	0x26: "866", 0x37: "850", 0x40: "852",
	0x4D: "936", 0x4E: "949", 0x4F: "950", 0x50: "874", 0x57: "88591", 0x58: "1252", 0x59: "1252",
	0x64: "852", 0x65: "866", 0x66: "865", 0x67: "861",
	0x68: "895", 0x69: "620", 0x6A: "737", 0x6B: "857", 0x6C: "863", 0x78: "950", 0x79: "949", 0x7A: "936",
	0x7B: "932", 0x7C: "874", 0x7D: "1255",
	0x7E: "1256", 0x86: "737", 0x87: "852", 0x88: "857", 0x96: "10007", 0x97: "10029", 0x98: "10006",
	0xC8: "1250", 0xC9: "1251", 0xCA: "1254",
	0xCB: "1253", 0xCC: "1257",
}
