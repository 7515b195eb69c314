package flatgeobuf

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"unicode/utf8"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// properties reads the values of a feature, which are at byte at of its flatbuffer:
//
//	value  number of the column (2), the bytes that its type has
//	       number of the column (2), length (4), bytes         String, Json, DateTime, Binary
//
// A missing column is null. Under on_error: null a value that is malformed is null too,
// and so are those after one whose length is not known.
func (k *sink) properties(b []byte, at int) *fault {
	for p := 0; p < len(b); {
		if len(b)-p < 2 { // some writers count a byte too many, which GDAL and others ignore
			k.bad = append(k.bad, deviation{faultf(at+p, ""), ruleStray, "left out"})
			return nil
		}
		i := int(binary.LittleEndian.Uint16(b[p:]))
		if i >= len(k.columns) {
			return faultf(at+p, "a value of column %d, expected a number below %d", i, len(k.columns))
		}
		h, c := &k.header.columns[i], k.columns[i]
		second := c.N > k.Rows
		if second && !k.nulls {
			return faultf(at+p, "a second value of column %q", h.name).in(h.name)
		}
		n, f := h.length(b[p+2:])
		if f != nil {
			f.at += at + p + 2
			return f.in(h.name)
		}
		if second {
			k.bad = append(k.bad, deviation{faultf(at+p, "").in(h.name), ruleSecond, "left out"})
			p += 2 + n
			continue
		}
		c.Pad(k.Rows)
		value := b[p+2 : p+2+n]
		if h.bytes == 0 {
			value = value[4:]
		}
		if err := h.append(c, value); err != nil {
			f := (&fault{at: at + p + 2 + n - len(value), err: err}).in(h.name)
			if !k.nulls {
				return f
			}
			k.bad = append(k.bad, deviation{f, ruleValue, "value is null"})
		}
		p += 2 + n
	}
	return nil
}

// in returns the attribute, or the geometry, of the fault.
func (f *fault) in(field string) *fault {
	f.field = field
	return f
}

// length returns the number of bytes of the value at the start of b, including those of its length.
func (h *column) length(b []byte) (int, *fault) {
	if h.bytes > 0 {
		if len(b) < h.bytes {
			return 0, faultf(0, "the properties end inside of a value: it has %d bytes, of which %d are there",
				h.bytes, len(b))
		}
		return h.bytes, nil
	}
	if len(b) < 4 {
		return 0, faultf(0, "the properties end inside of a value's length")
	}
	n := binary.LittleEndian.Uint32(b)
	if int64(n) > int64(len(b)-4) {
		return 0, faultf(0, "the properties end inside of a value: it has %d bytes, of which %d are there", n, len(b)-4)
	}
	return 4 + int(n), nil
}

var (
	errBool = errors.New("expected a boolean, 0 or 1")
	errUTF8 = errors.New("expected UTF-8")
)

// append ends the row with a value.
func (h *column) append(c *rows.Column, b []byte) error {
	switch {
	case h.store == storeBool && b[0] > 1:
		return errBool
	case h.bytes == 0 && h.store != storeHex && !utf8.Valid(b):
		return errUTF8
	}
	if c.Unread {
		c.Pass()
		return nil
	}
	if h.store == storeJSON && !json.Valid(b) {
		c.Accept(geoarrow.FactString) // of several kinds: the column is text
	}
	switch h.store {
	case storeFloat32:
		h.float(c, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	case storeFloat64:
		h.float(c, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case storeText, storeJSON:
		c.Text = append(c.Text, b...)
		c.EndText()
	case storeTime:
		c.AddText(b)
	case storeHex:
		c.Text = hex.AppendEncode(c.Text, b)
		c.EndText()
	default:
		c.Ints = append(c.Ints, h.integer(b))
		c.Filled()
	}
	return nil
}

// nan is the canonical NaN.
var nan = math.Float64frombits(0x7ff8000000000000)

func (h *column) float(c *rows.Column, v float64) {
	if v != v {
		v = nan
	}
	c.Floats = append(c.Floats, v)
	c.Filled()
}

// integer returns the value of an integer or a boolean; of a uint64 its bits.
func (h *column) integer(b []byte) int64 {
	switch h.store {
	case storeInt8:
		return int64(int8(b[0]))
	case storeUint8, storeBool:
		return int64(b[0])
	case storeInt16:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case storeUint16:
		return int64(binary.LittleEndian.Uint16(b))
	case storeInt32:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case storeUint32:
		return int64(binary.LittleEndian.Uint32(b))
	default:
		return int64(binary.LittleEndian.Uint64(b))
	}
}
