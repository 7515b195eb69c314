package sqlite

import (
	"encoding/binary"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

var (
	errUTF8  = errors.New("expected UTF-8")
	errUTF16 = errors.New("expected UTF-16")
)

// AppendText appends a text of the database as UTF-8.
func (d *Database) AppendText(dst, text []byte) ([]byte, error) {
	if d.Encoding == UTF8 {
		if !utf8.Valid(text) {
			return dst, errUTF8
		}
		return append(dst, text...), nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if d.Encoding == UTF16BE {
		order = binary.BigEndian
	}
	start := len(dst)
	if len(text)%2 != 0 {
		return dst, errUTF16
	}
	for i := 0; i < len(text); i += 2 {
		r := rune(order.Uint16(text[i:]))
		if utf16.IsSurrogate(r) {
			if i+4 > len(text) {
				return dst[:start], errUTF16
			}
			if r = utf16.DecodeRune(r, rune(order.Uint16(text[i+2:]))); r == utf8.RuneError {
				return dst[:start], errUTF16
			}
			i += 2
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst, nil
}
