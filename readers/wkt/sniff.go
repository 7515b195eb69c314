package wkt

import (
	"bytes"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

const byteOrderMark = "\xEF\xBB\xBF"

// Begins reports whether a text begins like WKT or EWKT: an optional byte order mark, blanks and
// SRID=n; then the name of a geometry or curve, and a bracket or EMPTY.
func Begins(text []byte) bool {
	var room [readers.SniffBytes + number.Padding]byte
	copy(room[:readers.SniffBytes], bytes.TrimPrefix(text, []byte(byteOrderMark)))
	return beginsAt(unsafe.Pointer(&room))
}

// beginsAt is Begins for a text that ends with zeros.
func beginsAt(q unsafe.Pointer) bool {
	t := text{q: q}
	_, p := t.srid(t.space(0))
	if p < 0 {
		return false
	}
	_, p = t.head(p)
	if p < 0 { // a curve is not a simple feature, but is WKT
		return t.fault.bare && t.at(t.space(t.fault.seen)) == '('
	}
	_, empty := t.empty(p)
	return t.at(p) == '(' || empty
}
