package filegdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// fault is a defect at a byte of a row, or of field descriptions.
type fault struct {
	at    int
	field string // "geometry" or the attribute
	err   error
}

func (f *fault) Error() string { return f.err.Error() }

func faultf(at int, format string, args ...any) *fault {
	return &fault{at: at, err: fmt.Errorf(format, args...)}
}

// in returns the fault of a value that begins at a byte, in a field.
func (f *fault) in(field string, at int) *fault {
	f.field, f.at = field, f.at+at
	return f
}

var errShort = errors.New("the bytes end inside of a value")

// cursor reads bytes in order. After the first defect all values are zero.
type cursor struct {
	b   []byte
	p   int
	err error // the first defect
}

func (c *cursor) left() int { return len(c.b) - c.p }

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.b = c.b[:c.p]
}

// take returns the next n bytes.
func (c *cursor) take(n int) []byte {
	if n < 0 || n > c.left() {
		c.fail(errShort)
		return nil
	}
	b := c.b[c.p : c.p+n]
	c.p += n
	return b
}

func (c *cursor) byte() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) uint16() int {
	if b := c.take(2); b != nil {
		return int(binary.LittleEndian.Uint16(b))
	}
	return 0
}

func (c *cursor) uint32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

var errVaruint = errors.New("a variable-length integer of more than 9 bytes")

const moreBits = 0x8080808080808080

// squeeze removes bit 7 of each byte of a word.
func squeeze(w uint64) uint64 {
	w &= ^uint64(moreBits)
	w = w&0x007f007f007f007f | w&0x7f007f007f007f00>>1
	w = w&0x00003fff00003fff | w&0x3fff00003fff0000>>2
	return w&0x000000000fffffff | w&0x0fffffff00000000>>4
}

// bits7 returns the bits of a variable-length integer, 7 of each byte, and the index after it; or -1
// if the bytes end inside of it, or it has more than 9 bytes.
func bits7(b []byte, p int) (v uint64, next int) {
	if uint(p)+8 <= uint(len(b)) {
		w := binary.LittleEndian.Uint64(b[p:])
		if last := ^w & moreBits; last != 0 {
			k := uint(bits.TrailingZeros64(last)) // of the highest bit of the last byte
			return squeeze(w & (2<<k - 1)), p + int(k+1)/8
		}
	}
	for i := range 9 {
		if p+i >= len(b) {
			return 0, -1
		}
		v |= uint64(b[p+i]&0x7f) << (7 * i)
		if b[p+i]&0x80 == 0 {
			return v, p + i + 1
		}
	}
	return 0, -1
}

// varuint reads an unsigned integer.
func (c *cursor) varuint() uint64 {
	v, next := bits7(c.b, c.p)
	if next < 0 {
		if c.left() >= 9 {
			c.fail(errVaruint)
		} else {
			c.fail(errShort)
		}
		return 0
	}
	c.p = next
	return v
}

// signed returns the signed integer of 7 bits of each byte.
func signed(v uint64) int64 {
	n := int64(v&0x3f | v>>7<<6)
	sign := -int64(v >> 6 & 1)
	return (n ^ sign) - sign
}

// count reads a number of items of which each has some bytes.
func (c *cursor) count(bytes int) int {
	v := c.varuint()
	if v > uint64(c.left()/bytes) {
		c.fail(fmt.Errorf("%d items of at least %d bytes, of which %d bytes are there", v, bytes, c.left()))
		return 0
	}
	return int(v)
}

// blob reads a length and as many bytes.
func (c *cursor) blob() []byte {
	n := c.varuint()
	if n > uint64(c.left()) {
		c.fail(fmt.Errorf("a value of %d bytes, of which %d are there", n, c.left()))
		return nil
	}
	return c.take(int(n))
}

// utf16 reads n units of UTF-16. What is invalid becomes U+FFFD.
func (c *cursor) utf16(n int) string { return string(appendUTF16(nil, c.take(2*n))) }

// appendUTF16 appends little-endian UTF-16 as UTF-8.
func appendUTF16(dst, b []byte) []byte {
	for i := 0; i+1 < len(b); i += 2 {
		r := rune(binary.LittleEndian.Uint16(b[i:]))
		if utf16.IsSurrogate(r) {
			second := rune(0)
			if i+3 < len(b) {
				second = rune(binary.LittleEndian.Uint16(b[i+2:]))
			}
			if r = utf16.DecodeRune(r, second); r != utf8.RuneError {
				i += 2
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}
