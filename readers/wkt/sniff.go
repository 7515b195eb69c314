package wkt

import (
	"bytes"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

const byteOrderMark = "\xEF\xBB\xBF"

// Begins reports whether a text begins as WKT or EWKT does: after a byte order mark, blanks and
// SRID=n; the name of a geometry, a curve's too, and after it a bracket or EMPTY. It looks no
// further.
func Begins(text []byte) bool {
	var room [readers.SniffBytes + number.Padding]byte
	copy(room[:readers.SniffBytes], bytes.TrimPrefix(text, []byte(byteOrderMark)))
	return beginsAt(unsafe.Pointer(&room))
}

// beginsAt is Begins of a text that ends with zeros.
func beginsAt(q unsafe.Pointer) bool {
	t := text{q: q}
	_, p := t.srid(t.space(0))
	if p < 0 {
		return false
	}
	_, p = t.head(p)
	if p < 0 { // a curve is no simple feature, and WKT all the same
		return t.fault.bare && t.at(t.space(t.fault.seen)) == '('
	}
	_, empty := t.empty(p)
	return t.at(p) == '(' || empty
}
