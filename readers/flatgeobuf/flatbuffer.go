package flatgeobuf

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// table is a table of a flatbuffer ("FlatBuffers Internals"), whose place and vtable were checked.
// Its other parts are checked when they are read.
//
//	table   offset back to the vtable (4), fields
//	vtable  its bytes (2), bytes of the table (2), for each field where it is in the table, 0: nowhere (2)
//	vector  offset forward from the field (4) to: number of elements (4), elements
type table struct {
	buf    []byte // all of the flatbuffer
	at     int    // of the table
	vtable int
	fields int // that the vtable knows
	size   int // bytes of the table
}

// fault is a defect at a byte of a flatbuffer.
type fault struct {
	at    int
	field string // "geometry", or the attribute
	err   error
}

func (f *fault) Error() string { return f.err.Error() }

func (f *fault) Unwrap() error { return f.err }

func faultf(at int, format string, args ...any) *fault {
	return &fault{at: at, err: fmt.Errorf(format, args...)}
}

// root returns the root table of a flatbuffer.
func root(buf []byte) (table, *fault) {
	if len(buf) < 4 {
		return table{}, faultf(0, "a flatbuffer of %d bytes has no room for a table", len(buf))
	}
	return tableAt(buf, 0, int64(binary.LittleEndian.Uint32(buf)))
}

// tableAt returns the table that the offset at byte from refers to.
func tableAt(buf []byte, from int, place int64) (table, *fault) {
	n := int64(len(buf))
	if place < 4 || place > n-4 {
		return table{}, faultf(from, "the offset leads to byte %d of a flatbuffer of %d bytes, expected a table",
			place, n)
	}
	at := int(place)
	vtable := place - int64(int32(binary.LittleEndian.Uint32(buf[at:])))
	if vtable < 4 || vtable > n-4 {
		return table{}, faultf(at, "the vtable is at byte %d of a flatbuffer of %d bytes", vtable, n)
	}
	length, size := int(binary.LittleEndian.Uint16(buf[vtable:])), int(binary.LittleEndian.Uint16(buf[vtable+2:]))
	if length < 4 || length&1 != 0 || int64(length) > n-vtable {
		return table{}, faultf(int(vtable), "the vtable has %d bytes, expected an even number from 4 to %d",
			length, n-vtable)
	}
	if size < 4 || int64(size) > n-place {
		return table{}, faultf(int(vtable)+2, "the table has %d bytes, expected 4 to %d", size, n-place)
	}
	return table{buf: buf, at: at, vtable: int(vtable), fields: length/2 - 2, size: size}, nil
}

// has reports whether field i exists. Most fields do not, and this check is faster than a lookup.
func (t *table) has(i int) bool {
	if i >= t.fields {
		return false
	}
	entry := t.vtable + 4 + 2*i
	return t.buf[entry]|t.buf[entry+1] != 0
}

// place returns where field i, of n bytes, is in the buffer; 0: it is absent.
func (t *table) place(i, bytes int) (int, *fault) {
	if !t.has(i) {
		return 0, nil
	}
	entry := t.vtable + 4 + 2*i
	offset := int(binary.LittleEndian.Uint16(t.buf[entry:]))
	if offset < 4 || offset > t.size-bytes {
		return 0, faultf(entry, "a field of %d bytes is at byte %d of a table of %d", bytes, offset, t.size)
	}
	return t.at + offset, nil
}

// number returns the unsigned integer of n bytes in field i, or its default if the field is absent.
func (t *table) number(i, bytes int, absent uint64) (uint64, *fault) {
	at, err := t.place(i, bytes)
	if at == 0 {
		return absent, err
	}
	switch b := t.buf[at:]; bytes {
	case 1:
		return uint64(b[0]), nil
	case 2:
		return uint64(binary.LittleEndian.Uint16(b)), nil
	case 4:
		return uint64(binary.LittleEndian.Uint32(b)), nil
	default:
		return binary.LittleEndian.Uint64(b), nil
	}
}

// vector returns the elements of field i, each of n bytes, and where they are; at is 0 where the
// field is absent.
func (t *table) vector(i, bytes int) (v []byte, at int, err *fault) {
	field, err := t.place(i, 4)
	if field == 0 {
		return nil, 0, err
	}
	place := int64(field) + int64(binary.LittleEndian.Uint32(t.buf[field:]))
	left := int64(len(t.buf)) - place - 4
	if left < 0 {
		return nil, 0, faultf(field, "the offset leads to byte %d of a flatbuffer of %d bytes, expected an array",
			place, len(t.buf))
	}
	n := int64(binary.LittleEndian.Uint32(t.buf[place:]))
	if n > left/int64(bytes) {
		return nil, 0, faultf(int(place), "an array of %d elements of %d bytes, of which %d bytes are there",
			n, bytes, left)
	}
	at = int(place) + 4
	return t.buf[at : at+int(n)*bytes], at, nil
}

// child returns the table that field i refers to.
func (t *table) child(i int) (c table, there bool, err *fault) {
	field, err := t.place(i, 4)
	if field == 0 {
		return table{}, false, err
	}
	c, err = tableAt(t.buf, field, int64(field)+int64(binary.LittleEndian.Uint32(t.buf[field:])))
	return c, err == nil, err
}

// element returns table i of a vector of tables, which begins at a byte of the buffer.
func (t *table) element(vector, i int) (table, *fault) {
	field := vector + 4*i
	return tableAt(t.buf, field, int64(field)+int64(binary.LittleEndian.Uint32(t.buf[field:])))
}

// text returns the text of field i, "" where it is absent, and where it is.
func (t *table) text(i int) (string, int, *fault) {
	v, at, err := t.vector(i, 1)
	if err != nil {
		return "", 0, err
	}
	if !utf8.Valid(v) {
		return "", at, faultf(at, "%q is no UTF-8", v)
	}
	return string(v), max(at, t.at), nil
}
