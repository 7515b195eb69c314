package kml

import (
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// array is the values of a SimpleArrayData: elements [from, to) of the row, of the kinds that the
// schema declares.
type array struct {
	kinds    geoarrow.FactKinds
	from, to int
}

// array reads the SimpleArrayData whose start tag was read. A blank value is the missing value of a
// position.
func (s *scanner) array(kinds geoarrow.FactKinds, name []byte) bool {
	a := &array{kinds: kinds, from: len(s.row.elements)}
	ok := s.children(arrayNames, func(element []byte) bool {
		if string(element) != "value" {
			return s.X.Skip()
		}
		v, ok := s.typed(kinds, name)
		if ok {
			s.row.elements = append(s.row.elements, v)
		}
		return ok
	})
	a.to = len(s.row.elements)
	s.row.data = append(s.row.data, datum{name: name, array: a})
	return ok
}

// listOf returns the kinds of lists of values of the kinds; 0: of texts.
func listOf(kinds geoarrow.FactKinds) geoarrow.FactKinds {
	switch {
	case kinds == 0:
		return geoarrow.FactListString
	case kinds == geoarrow.FactBool:
		return geoarrow.FactListBool
	}
	return kinds.InList()
}

// addArrays ends the row of a column with the elements of all of its arrays, such as those of the
// tracks of a MultiTrack.
func (s *scanner) addArrays(c *rows.Column, data []datum) {
	c.Pad(s.sink.Rows)
	if c.Unread {
		c.Pass()
		return
	}
	each := func(do func(a *array, v *value)) {
		for i := range data {
			if a := data[i].array; a != nil && data[i].column == c {
				for j := a.from; j < a.to; j++ {
					do(a, &s.row.elements[j])
				}
			}
		}
	}
	kinds := listOf(data[len(data)-1].array.kinds)
	each(func(a *array, v *value) { kinds |= elementKinds(a, v) })
	if c.Kinds&kinds != kinds {
		c.Accept(kinds)
	}
	if c.Store < rows.StoreBools { // it has other values too
		separator := byte('[')
		each(func(_ *array, v *value) {
			c.Text = append(append(c.Text, separator), v.text...)
			separator = ','
		})
		if separator == '[' {
			c.Text = append(c.Text, separator)
		}
		c.Text = append(c.Text, ']')
		c.EndText()
		return
	}
	each(func(_ *array, v *value) { addElement(c, v) })
	c.EndList()
}

// elementKinds returns the kinds of an element. A missing number is NaN.
func elementKinds(a *array, v *value) geoarrow.FactKinds {
	switch {
	case v.kind == integer:
		return rows.KindOf(v.num).InList()
	case v.kind == boolean:
		return geoarrow.FactListBool
	case v.kind == null && a.kinds != geoarrow.FactBool:
		return geoarrow.FactListFloat
	case v.kind == null:
		return geoarrow.FactListString // "": a list of booleans has no nulls
	}
	return geoarrow.FactListString
}

// addElement appends an element to the last list.
func addElement(c *rows.Column, v *value) {
	switch c.Store {
	case rows.StoreBools:
		c.Ints = append(c.Ints, int64(v.num.Int))
	case rows.StoreInts:
		c.Ints = append(c.Ints, rows.Signed(v.num))
	case rows.StoreFloats:
		if v.kind == null {
			c.Floats = append(c.Floats, canonicalNaN)
			return
		}
		c.Floats = append(c.Floats, c.Float(v.num, v.text))
	default:
		c.Text = append(c.Text, v.text...)
		c.TextEnds = append(c.TextEnds, int32(len(c.Text)))
	}
}
