package rows

import (
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// AddText ends the row with a text.
func (c *Column) AddText(text []byte) {
	if c.Unread {
		c.Pass()
		return
	}
	if c.Kinds&geoarrow.FactString == 0 {
		c.Accept(geoarrow.FactString)
	}
	c.Text = append(c.Text, text...)
	c.EndText()
}

// AddEmpty ends the row with an empty text, such as "" in a record, which is a null in a column of
// another type.
func (c *Column) AddEmpty() {
	if c.Unread {
		c.Pass()
		return
	}
	if c.Store == StoreNone {
		c.become(StoreText)
	}
	if c.Store == StoreText {
		c.EndText()
	}
}

// AddBool ends the row with a boolean, whose text is lit.
func (c *Column) AddBool(v bool, lit []byte) {
	if c.Unread {
		c.Pass()
		return
	}
	if c.Kinds&geoarrow.FactBool == 0 {
		c.Accept(geoarrow.FactBool)
	}
	one := int64(0)
	if v {
		one = 1
	}
	switch c.Store {
	case StoreBool, StoreInt:
		c.Ints = append(c.Ints, one)
		c.Filled()
	case StoreFloat:
		c.Floats = append(c.Floats, float64(one))
		c.Filled()
	case StoreBools:
		c.Ints = append(c.Ints, one)
		c.EndList()
	default:
		c.Text = append(c.Text, lit...)
		c.EndText()
	}
}

// AddNumber ends the row with a number, given its text.
func (c *Column) AddNumber(n number.Num, text []byte) {
	if c.Unread {
		c.Pass()
		return
	}
	if k := KindOf(n); c.Kinds&k != k {
		c.Accept(k)
	}
	switch c.Store {
	case StoreInt:
		c.Ints = append(c.Ints, Signed(n))
		c.Filled()
	case StoreFloat:
		c.Floats = append(c.Floats, c.Float(n, text))
		c.Filled()
	case StoreInts:
		c.Ints = append(c.Ints, Signed(n))
		c.EndList()
	case StoreFloats:
		c.Floats = append(c.Floats, c.Float(n, text))
		c.EndList()
	default:
		c.Text = append(c.Text, text...)
		c.EndText()
	}
}
