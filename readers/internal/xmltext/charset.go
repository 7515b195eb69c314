package xmltext

import (
	"bytes"
	"io"
	"strings"
	"unsafe"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/vibeflight/vibeflight/readers/source"
)

// charset is an encoding that a Scanner does not read: a document is first recoded to UTF-8.
type charset struct {
	name string
	encoding.Encoding
	mark int // bytes of the byte order mark
}

// unicodes are the encodings that the first bytes determine, by a byte order mark or a "<": XML 1.0
// appendix F. UTF-32LE precedes UTF-16LE, with whose mark it begins.
var unicodes = []struct {
	head string
	charset
}{
	{"\xFF\xFE\x00\x00", charset{"UTF-32LE", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), 4}},
	{"\x00\x00\xFE\xFF", charset{"UTF-32BE", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), 4}},
	{"<\x00\x00\x00", charset{"UTF-32LE", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), 0}},
	{"\x00\x00\x00<", charset{"UTF-32BE", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), 0}},
	{"\xFF\xFE", charset{"UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), 2}},
	{"\xFE\xFF", charset{"UTF-16BE", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), 2}},
	{"<\x00", charset{"UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), 0}},
	{"\x00<", charset{"UTF-16BE", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), 0}},
}

// Recode returns the conversion to UTF-8, which a Scanner reads, of a document that begins with
// head. ok is false if it needs none, or its encoding is unknown. A byte order mark takes
// precedence over the XML declaration (RFC 7303 section 3).
//
// The recoded document has no byte order mark and names UTF-8 in its declaration. Its byte offsets
// differ from the file's, its lines do not.
func Recode(head []byte) (r source.Recoder, ok bool) {
	c, ok := charsetOf(head)
	if !ok {
		return r, false
	}
	return source.Recoder{From: c.name, Reader: func(in io.Reader) io.Reader { return newRecoder(c, in) }}, true
}

func charsetOf(head []byte) (charset, bool) {
	for _, u := range unicodes {
		if bytes.HasPrefix(head, []byte(u.head)) {
			return u.charset, true
		}
	}
	name := declared(head)
	if _, native := encodings[strings.ToLower(name)]; name == "" || native {
		return charset{}, false
	}
	e, err := ianaindex.IANA.Encoding(name)
	if err != nil || e == nil { // names of browsers, such as "cp1251" and "gb2312"
		e, err = htmlindex.Get(name)
	}
	switch {
	case err != nil, e == encoding.Replacement:
		return charset{}, false
	case e == japanese.ISO2022JP, e == simplifiedchinese.HZGB2312: // the meaning of a byte depends on all earlier bytes
		return charset{}, false
	}
	text, err := e.NewDecoder().Bytes([]byte(declarationStart))
	if err != nil || string(text) != declarationStart { // the declaration could not be read if it were true
		return charset{}, false
	}
	return charset{name: name, Encoding: e}, true
}

const declarationStart = "<?xml"

// declared returns the encoding that the XML declaration names; "" without one, and after a byte
// order mark of UTF-8.
func declared(text []byte) string {
	from, to := declaredAt(text)
	return string(text[from:to])
}

// declaredAt returns where the name of the encoding is in a document.
func declaredAt(text []byte) (from, to int) {
	end := bytes.Index(text, []byte("?>"))
	if end < 0 || !bytes.HasPrefix(text, []byte(declarationStart)) {
		return 0, 0
	}
	padded := append(bytes.Clone(text[:end+len("?>")]), make([]byte, Padding)...)
	x := Scanner{MaxDepth: 1}
	x.Window(unsafe.Pointer(unsafe.SliceData(padded)), end+len("?>"), 0, true)
	for p := len(declarationStart); class[x.at(p)]&blank != 0; {
		if p = x.blanks(p); class[x.at(p)]&nameStart == 0 {
			break
		}
		x.attrs = x.attrs[:0]
		if p = x.attribute(p); p < 0 {
			break
		}
		if a := x.attrs[0]; string(x.bytes(a.name, a.nameEnd)) == "encoding" {
			return a.value, a.valueEnd
		}
	}
	return 0, 0
}
