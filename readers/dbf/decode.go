package dbf

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// textDecoder decodes texts of a code page to UTF-8, for one goroutine.
type textDecoder struct {
	page *codePage
	wide *encoding.Decoder // of a multi-byte page
}

func (p *codePage) decoder() textDecoder {
	d := textDecoder{page: p}
	if p.wide != nil {
		d.wide = p.wide.NewDecoder()
	}
	return d
}

const replacement = "\uFFFD"

// append appends the UTF-8 of a text. Invalid bytes become U+FFFD; replaced is their number.
func (d *textDecoder) append(dst, text []byte) (out []byte, replaced int64) {
	switch {
	case ascii(text), d.page.utf8 && utf8.Valid(text):
		return append(dst, text...), 0
	case d.page.utf8:
		return appendValid(dst, text)
	case d.page.upper != nil:
		return d.appendSingle(dst, text)
	}
	return d.appendWide(dst, text)
}

// appendValid appends UTF-8, with U+FFFD for each invalid byte.
func appendValid(dst, text []byte) (out []byte, replaced int64) {
	for len(text) > 0 {
		_, n := utf8.DecodeRune(text)
		if n == 1 && text[0] >= utf8.RuneSelf {
			dst = append(dst, replacement...)
			replaced++
		} else {
			dst = append(dst, text[:n]...)
		}
		text = text[n:]
	}
	return dst, replaced
}

func (d *textDecoder) appendSingle(dst, text []byte) (out []byte, replaced int64) {
	for _, b := range text {
		if b < utf8.RuneSelf {
			dst = append(dst, b)
			continue
		}
		c := &d.page.upper[b-utf8.RuneSelf]
		dst = append(dst, c.text[:c.n]...)
		if string(c.text[:c.n]) == replacement {
			replaced++
		}
	}
	return dst, replaced
}

func (d *textDecoder) appendWide(dst, text []byte) (out []byte, replaced int64) {
	from := len(dst)
	d.wide.Reset()
	for {
		dst = append(dst, make([]byte, 3*len(text)+utf8.UTFMax)...)
		n := len(dst) - 3*len(text) - utf8.UTFMax
		wrote, read, err := d.wide.Transform(dst[n:], text, true)
		dst, text = dst[:n+wrote], text[read:]
		if !errors.Is(err, transform.ErrShortDst) {
			break // decoders replace invalid bytes, and return no other error
		}
	}
	return dst, int64(bytes.Count(dst[from:], []byte(replacement)))
}
