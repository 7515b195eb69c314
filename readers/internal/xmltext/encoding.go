package xmltext

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Encoding is the character encoding of a document.
type Encoding uint8

const (
	UTF8        Encoding = iota // also US-ASCII, which is a part of it
	Latin1                      // ISO-8859-1
	Windows1252                 // which differs from it in the bytes 0x80 to 0x9F
)

// encodings are the names that a declaration may have, in lower case.
var encodings = map[string]Encoding{
	"utf-8": UTF8, "utf8": UTF8, "us-ascii": UTF8, "ascii": UTF8,
	"iso-8859-1": Latin1, "iso8859-1": Latin1, "iso_8859-1": Latin1, "latin1": Latin1, "latin-1": Latin1,
	"windows-1252": Windows1252, "cp1252": Windows1252,
}

// windows1252 are the characters of the bytes 0x80 to 0x9F; 0: none.
var windows1252 = [32]rune{
	0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
	0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,
	0x017E, 0x0178,
}

// single reports whether an encoding is single-byte.
func (e Encoding) single() bool { return e != UTF8 }

// char returns the character of a byte of a single-byte encoding; 0: none.
func (e Encoding) char(c byte) rune {
	if e == Windows1252 && c >= 0x80 && c < 0xA0 {
		return windows1252[c-0x80]
	}
	return rune(c)
}

// undefined returns the index of the first byte from p to end that the single-byte encoding does
// not define, which is then the fault, or -1.
func (x *Scanner) undefined(p, end int) int {
	for ; p < end; p++ {
		if c := x.at(p); c >= 0x80 && x.Encoding.char(c) == 0 {
			x.wrong(p, charRule, "a byte that windows-1252, which the first line of the file names, does not define")
			return p
		}
	}
	return -1
}

// utf8 appends text of the document's encoding as UTF-8.
func (x *Scanner) utf8(dst, text []byte) []byte {
	if !x.Encoding.single() {
		return append(dst, text...)
	}
	for _, c := range text {
		dst = utf8.AppendRune(dst, x.Encoding.char(c))
	}
	return dst
}

const (
	declarationRule = "XML 1.0 section 2.8"
	encodingRule    = "XML 1.0 section 4.3.3"
)

// Prolog skips an optional byte order mark and XML declaration, and sets Encoding. P is at the
// first byte of the file. It returns false if they are malformed, the encoding is not supported, or
// the window is too short.
func (x *Scanner) Prolog() bool {
	const mark = "\xEF\xBB\xBF"
	if x.N < len(mark) && !x.last {
		x.fail(x.N, "", "")
		return false
	}
	p := 0
	marked := x.has(0, mark)
	if marked {
		p = len(mark)
	}
	if end := p + len("<?xml"); !x.last && end >= x.N && bytes.HasPrefix([]byte("<?xml"), x.bytes(p, x.N)) {
		x.fail(x.N, "", "")
		return false
	} else if !x.has(p, "<?xml") || class[x.at(end)]&blank == 0 {
		x.P = p
		return true
	}
	end := x.declaration(p+len("<?xml"), marked)
	if !x.fits(end) {
		return false
	}
	x.P = end
	return true
}

// declaration reads version, encoding and standalone after "<?xml", and returns the index after
// "?>".
func (x *Scanner) declaration(p int, marked bool) int {
	x.Encoding = UTF8
	order := 0 // number of attributes so far; they have a fixed order, and the first is required
	for {
		from := p
		if p = x.blanks(p); x.at(p) == '?' {
			if order == 0 {
				return x.fail(p, declarationRule, `version="1.0"`)
			}
			return x.literal(p, "?>", declarationRule, `"?>" of the XML declaration`)
		}
		if p == from && p < x.N || class[x.at(p)]&nameStart == 0 {
			return x.fail(p, declarationRule, `a blank, an attribute or "?>" of the XML declaration`)
		}
		x.attrs = x.attrs[:0]
		end := x.attribute(p)
		if end < 0 {
			return -1
		}
		a := x.attrs[0]
		name, value := string(x.bytes(a.name, a.nameEnd)), string(x.bytes(a.value, a.valueEnd))
		switch {
		case name == "version" && order == 0:
			if !strings.HasPrefix(value, "1.") {
				x.fail(a.value, declarationRule, "version 1.0 of XML")
				return x.seen(end)
			}
		case name == "encoding" && order == 1:
			if !x.encode(value, marked) {
				x.wrong(a.value, encodingRule,
					"an encoding that is not known, or not that of the file. Save the file as UTF-8")
				return x.seen(end)
			}
		case name == "standalone" && (order == 1 || order == 2) && (value == "yes" || value == "no"):
		default:
			x.wrong(p, declarationRule, `an XML declaration has version, then encoding, then standalone, "yes" or "no"`)
			return x.seen(end)
		}
		order, p = 1+slices.Index([]string{"version", "encoding", "standalone"}, name), end
	}
}

// encode sets the encoding of a name. After a byte order mark of UTF-8 the document is UTF-8,
// whatever the name: RFC 7303 section 3.
func (x *Scanner) encode(name string, marked bool) bool {
	if marked {
		return true
	}
	e, ok := encodings[strings.ToLower(name)]
	x.Encoding = e
	return ok
}

// Root returns the local name of the root element of a file that begins with head, or nil if that
// is not XML or ends too early.
func Root(head []byte) []byte {
	if r, ok := Recode(head); ok {
		head, _ = io.ReadAll(r.Reader(bytes.NewReader(head))) // which may end inside of a character
	}
	text := make([]byte, len(head)+Padding)
	copy(text, head)
	x := Scanner{MaxDepth: 1}
	x.Window(unsafe.Pointer(unsafe.SliceData(text)), len(head), 0, true)
	if !x.Prolog() || x.Next() != Start {
		return nil
	}
	return x.Local()
}
