package csv

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// charset is an encoding in which bytes that end a field, a quote or a line are ASCII and stand for
// themselves. So files are split into fields without decoding, offsets are those of the file, and
// only texts that are not ASCII are decoded.
type charset struct {
	name     string
	encoding encoding.Encoding
	trails   bool // a character may end in an ASCII byte from @ on, so "|" may be part of one
}

// charsetOf finds an encoding by a name of the WHATWG Encoding Standard; nil is UTF-8.
func charsetOf(label string) (*charset, error) {
	e, err := htmlindex.Get(label)
	if err != nil {
		return nil, fmt.Errorf("%q is no name of an encoding in the WHATWG Encoding Standard", label)
	}
	name, err := htmlindex.Name(e)
	if err != nil {
		return nil, fmt.Errorf("%q has no name: %w", label, err)
	}
	switch name {
	case "utf-8":
		return nil, nil
	case "utf-16le", "utf-16be", "iso-2022-jp", "replacement":
		return nil, fmt.Errorf("in %s a comma or a line end may be a part of another character: such a file must be "+
			"converted to utf-8 first", name)
	}
	trails := strings.HasPrefix(name, "gb") || name == "big5" || name == "shift_jis" || name == "euc-kr"
	return &charset{name: name, encoding: e, trails: trails}, nil
}

// allows reports whether c is never a part of another character.
func (c *charset) allows(separator byte) bool { return !c.trails || separator < '@' }

// decoder turns texts to UTF-8, for one goroutine.
type decoder struct {
	charset *charset
	decode  *encoding.Decoder
	room    []byte
}

func newDecoder(c *charset) decoder {
	if c == nil {
		return decoder{}
	}
	return decoder{charset: c, decode: c.encoding.NewDecoder()}
}

// utf8 returns a text that is not ASCII as UTF-8: itself if that is the encoding, else a text that
// is valid until the next call. bad is the index of the first malformed byte, or -1.
func (d *decoder) utf8(text []byte) (out []byte, bad int) {
	if d.charset == nil {
		if utf8.Valid(text) {
			return text, -1
		}
		return nil, firstInvalid(text)
	}
	if need := decodedBytes*len(text) + utf8.UTFMax; cap(d.room) < need {
		d.room = make([]byte, need)
	}
	d.decode.Reset()
	n, _, err := d.decode.Transform(d.room[:cap(d.room)], text, true)
	out = d.room[:n]
	if err == nil && !bytes.Contains(out, replacement) {
		return out, -1
	}
	return nil, d.firstMalformed(text)
}

// replacement is what decoders return for malformed bytes.
var replacement = []byte("\uFFFD")

// firstMalformed looks for the shortest prefix of a malformed text that cannot be completed. It may
// be slow, since errors are rare.
func (d *decoder) firstMalformed(text []byte) int {
	for at := 0; at < len(text); {
		size := d.character(text[at:])
		if size == 0 {
			return at
		}
		at += size
	}
	return len(text) - 1
}

// character returns the number of bytes of the first character, 0 if it is malformed.
func (d *decoder) character(text []byte) int {
	const longest = 4
	var room [longest * utf8.UTFMax]byte
	for n := 1; n <= min(longest, len(text)); n++ {
		d.decode.Reset()
		k, used, err := d.decode.Transform(room[:], text[:n], true)
		if err == nil && used == n && !bytes.Contains(room[:k], replacement) {
			return n
		}
	}
	return 0
}

// firstInvalid returns the index of the first byte that is not UTF-8.
func firstInvalid(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}
