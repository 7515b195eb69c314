package gml

import (
	"math"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// value is the text of a leaf element, or of its attribute, and the kind that it looks like.
type value struct {
	in     *step  // the elements around it
	name   []byte // of its column
	text   []byte // without surrounding blanks; empty: null
	kind   kind
	yes    bool // of a boolean
	num    number.Num
	column *column // of the first value of the name in the row
	next   int     // index + 1 of the next value of the name in the row; 0: none
}

// kind is what a text looks like.
type kind uint8

const (
	isNull kind = iota
	isText
	isBool
	isNumber
)

// guess returns the kind that the text looks like.
//
//	true false                        boolean, as in xs:boolean
//	12 -3                             integer, if int64 holds it
//	1.5 -.5 5. 1e3                    number, if float64 holds it
//	007 +5 1e400 NaN INF 0x10, else   text
func (v *value) guess() {
	v.kind = isText
	switch c := v.text[0]; {
	case c-'0' <= 9 || c == '-' || c == '.':
		v.guessNumber()
	case c == 't' && string(v.text) == "true":
		v.kind, v.yes = isBool, true
	case c == 'f' && string(v.text) == "false":
		v.kind = isBool
	}
}

func (v *value) guessNumber() {
	n, end := number.Number(unsafe.Pointer(unsafe.SliceData(v.text)), 0)
	switch {
	case end == len(v.text) && n.Kind != number.Uint64 && n.Kind != number.Huge:
		v.kind, v.num = isNumber, n
	case end == len(v.text):
	default:
		if f, ok := odd(v.text); ok {
			v.kind, v.num = isNumber, number.Num{Kind: number.Real, Float: f}
		}
	}
}

// odd reads a number without digits before or after its point, which JSON does not allow.
func odd(text []byte) (v float64, ok bool) {
	var plain [64 + number.Padding]byte
	if len(text) > 32 {
		return 0, false
	}
	out := plain[:0]
	for i, c := range text {
		digit := func(k int) bool { return k >= 0 && k < len(text) && text[k]-'0' <= 9 }
		if c == '.' && !digit(i-1) && !digit(i+1) {
			return 0, false
		}
		if c == '.' && !digit(i-1) {
			out = append(out, '0')
		}
		out = append(out, c)
		if c == '.' && !digit(i+1) {
			out = append(out, '0')
		}
	}
	v, end := number.Float(unsafe.Pointer(&plain[0]), 0)
	return v, end == len(out) && !math.IsInf(v, 0)
}

// commit puts the current feature into the columns.
func (s *scanner) commit() {
	k := s.sink
	k.row++
	for i, id := range s.row.ids {
		if id != nil {
			c := k.lead(i)
			c.Pad(k.Rows)
			c.AddText(id)
		}
	}
	s.link()
	for i := range s.row.values {
		v := &s.row.values[i]
		c := v.column
		if c == nil { // a null, or not the first of its name
			continue
		}
		c.Pad(k.Rows)
		if v.next == 0 {
			v.add(&c.Column)
		} else {
			s.addList(&c.Column, i)
		}
	}
	if s.row.kind == geoarrow.NoKind {
		k.Geom.Null()
	} else {
		s.endGeometry(s.row.kind)
	}
	for i := range s.row.others {
		s.addOther(&s.row.others[i])
	}
}

// link finds the columns of the values, and links values of one name.
func (s *scanner) link() {
	k := s.sink
	for i := range s.row.values {
		v := &s.row.values[i]
		c := k.value(i, v)
		if v.kind == isNull {
			continue
		}
		if c.row == k.row {
			s.row.values[c.last].next = i + 1
		} else {
			c.row, v.column = k.row, c
		}
		c.last = i
	}
}

// add appends the value to its column.
func (v *value) add(c *rows.Column) {
	switch v.kind {
	case isBool:
		c.AddBool(v.yes, v.text)
	case isNumber:
		c.AddNumber(v.num, v.text)
	default:
		c.AddText(v.text)
	}
}
