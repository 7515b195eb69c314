package gml

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// addList appends the values of one name, the first of which is at i, as a list. Values of several
// kinds become a list of texts.
func (s *scanner) addList(c *rows.Column, i int) {
	if c.Unread {
		c.Pass()
		return
	}
	kinds, text := s.listKinds(i)
	if c.Kinds&kinds != kinds {
		c.Accept(kinds)
	}
	if c.Store == rows.StoreText {
		s.listText(c, i, text)
		return
	}
	for next := i + 1; next > 0; {
		v := &s.row.values[next-1]
		switch c.Store {
		case rows.StoreBools:
			one := int64(0)
			if v.yes {
				one = 1
			}
			c.Ints = append(c.Ints, one)
		case rows.StoreInts:
			c.Ints = append(c.Ints, rows.Signed(v.num))
		case rows.StoreFloats:
			c.Floats = append(c.Floats, c.Float(v.num, v.text))
		default:
			c.Text = append(c.Text, v.text...)
			c.TextEnds = append(c.TextEnds, int32(len(c.Text)))
		}
		next = v.next
	}
	c.EndList()
}

// listKinds returns the kinds of a list, and whether it is one of texts.
func (s *scanner) listKinds(i int) (kinds geoarrow.FactKinds, text bool) {
	seen := [isNumber + 1]bool{}
	for next := i + 1; next > 0; next = s.row.values[next-1].next {
		v := &s.row.values[next-1]
		seen[v.kind] = true
		if v.kind == isNumber {
			kinds |= rows.KindOf(v.num).InList()
		}
	}
	switch {
	case seen[isText] || seen[isBool] && seen[isNumber]:
		return geoarrow.FactListString, true
	case seen[isBool]:
		return geoarrow.FactListBool, false
	}
	return kinds, false
}

// listText appends the list as JSON, in a column that holds no lists of one kind.
func (s *scanner) listText(c *rows.Column, i int, text bool) {
	separator := byte('[')
	for next := i + 1; next > 0; next = s.row.values[next-1].next {
		v := &s.row.values[next-1]
		c.Text = append(c.Text, separator)
		if text || v.kind == isNumber && !isJSON(v.text) {
			c.Text = appendQuoted(c.Text, v.text)
		} else {
			c.Text = append(c.Text, v.text...)
		}
		separator = ','
	}
	c.Text = append(c.Text, ']')
	c.EndText()
}

// isJSON reports whether a number is in JSON's syntax.
func isJSON(text []byte) bool {
	_, end := number.Float(unsafe.Pointer(unsafe.SliceData(text)), 0)
	return end == len(text)
}

// appendQuoted appends a text as a JSON string.
func appendQuoted(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
