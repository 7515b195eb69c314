package dbf

import (
	"encoding/hex"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// texts reads fields of text padded with blanks. A blank field is null.
func (c *column) texts(b *block, row int) error {
	t := &c.text
	width := c.field.Length
	if err := t.room(width * len(b.live)); err != nil {
		return err
	}
	from, nulls := len(t.values), len(c.nulls)
	values, n := unsafe.Pointer(unsafe.SliceData(t.values[:cap(t.values)])), from
	for i, place := range b.live {
		start, end := b.trimmed(int(place)+c.field.Offset, width)
		if start == end {
			c.null(row + i)
		} else {
			copyWords(unsafe.Add(values, n), b.at(start), end-start)
			n += end - start
		}
		t.ends[row+i+1] = int32(n)
	}
	t.values = t.values[:n]
	if !ascii(t.values[from:]) && !c.isUTF8(from, row, len(b.live)) {
		t.values, c.nulls = t.values[:from], c.nulls[:nulls]
		c.decoded(b, row)
	}
	return nil
}

// decoded is texts for fields that must be decoded.
func (c *column) decoded(b *block, row int) {
	for i, place := range b.live {
		start, end := b.trimmed(int(place)+c.field.Offset, c.field.Length)
		text := b.buf[start:end]
		switch {
		case len(text) == 0:
			c.null(row + i)
		case c.unreadable(text):
			c.refuse(place, row+i)
			text = nil
		}
		c.text.add(row+i, text)
	}
}

// unreadable reports whether a text has a character of an unknown code page.
func (c *column) unreadable(text []byte) bool { return c.h.page.unknown && !ascii(text) }

// isUTF8 reports whether the texts of some rows, which begin at byte from of the values, are valid
// UTF-8 in a table of that encoding.
func (c *column) isUTF8(from, row, rows int) bool {
	t := &c.text
	if !t.decoder.page.utf8 || !utf8.Valid(t.values[from:]) {
		return false
	}
	// Valid as a whole. So is each text, unless a character begins in one text and continues in the
	// next.
	for _, at := range t.ends[row : row+rows] {
		if int(at) < len(t.values) && !utf8.RuneStart(t.values[at]) {
			return false
		}
	}
	return true
}

// trimmed removes blanks and NULs at both ends of the width bytes at start.
func (b *block) trimmed(start, width int) (from, to int) {
	end := start + width
	for end-start >= 8 {
		w := load(b.at(end-8)) ^ blankWord
		if w != 0 {
			end -= bits.LeadingZeros64(w) >> 3
			break
		}
		end -= 8
	}
	for end > start && (b.buf[end-1] == ' ' || b.buf[end-1] == 0) {
		end--
	}
	for start < end && (b.buf[start] == ' ' || b.buf[start] == 0) {
		start++
	}
	return start, end
}

// copyWords copies n bytes, and up to seven that follow.
func copyWords(to, from unsafe.Pointer, n int) {
	for i := 0; i < n; i += 8 {
		*(*uint64)(unsafe.Add(to, i)) = load(unsafe.Add(from, i))
	}
}

// ascii reports whether all bytes are below 0x80.
func ascii(text []byte) bool {
	var all uint64
	for len(text) >= 32 {
		p := unsafe.Pointer(unsafe.SliceData(text))
		all |= load(p) | load(unsafe.Add(p, 8)) | load(unsafe.Add(p, 16)) | load(unsafe.Add(p, 24))
		text = text[32:]
	}
	for _, c := range text {
		all |= uint64(c)
	}
	return all&highBits == 0
}

// varTexts reads fields of type V: the text is the whole field, or, if a bit of the hidden field is
// set, has the length in the field's last byte.
func (c *column) varTexts(b *block, row int) error {
	if err := c.text.room(c.field.Length * len(b.live)); err != nil {
		return err
	}
	for i, place := range b.live {
		text, ok := c.variable(b, place)
		switch {
		case c.isNull(b, place):
			c.null(row + i)
			text = nil
		case !ok:
			c.refuse(place, row+i)
		case c.unreadable(text):
			c.refuse(place, row+i)
			text = nil
		}
		c.text.add(row+i, text)
	}
	return nil
}

// variable returns the bytes of a value of type V or Q.
func (c *column) variable(b *block, place int32) (value []byte, ok bool) {
	value = b.bytes(c.field, int(place))
	if len(value) == 0 || !c.flag(b, place, c.field.sizeBit) {
		return value, true
	}
	n := int(value[len(value)-1])
	if n >= len(value) {
		return nil, false
	}
	return value[:n], true
}

// hexTexts reads fields of type Q, whose bytes become hexadecimal text, since tables have no
// columns of bytes.
func (c *column) hexTexts(b *block, row int) error {
	if err := c.text.room(2 * c.field.Length * len(b.live)); err != nil {
		return err
	}
	for i, place := range b.live {
		value, ok := c.variable(b, place)
		switch {
		case c.isNull(b, place):
			c.null(row + i)
			value = nil
		case !ok:
			c.refuse(place, row+i)
		}
		c.text.values = hex.AppendEncode(c.text.values, value)
		c.text.end(row + i)
	}
	return nil
}
