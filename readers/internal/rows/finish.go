package rows

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// finish returns the column's copy.
func (c *Column) finish(mem *geoarrow.Arena) geoarrow.Column {
	if c.Guess && !c.forced {
		return geoarrow.Guessed(c.ID)
	}
	out := c.finishRead(mem)
	if c.Guess {
		out.Facts.Kinds |= geoarrow.FactGuess | geoarrow.FactString | geoarrow.FactField
	}
	return out
}

// finishRead is finish for a column that the table has.
func (c *Column) finishRead(mem *geoarrow.Arena) geoarrow.Column {
	if c.Unread {
		out := geoarrow.Unread(c.ID)
		if c.ID.Role == geoarrow.RoleFeatureID {
			out.Facts.Kinds = c.Kinds // the table has this column only if some row has an id
		}
		return out
	}
	out := geoarrow.Column{
		Name: c.ID.Name, Role: c.ID.Role, Nulls: c.nulls, Facts: geoarrow.Facts{Kinds: c.Kinds, Declared: c.declared},
		Replaced: c.Replaced.total,
	}
	if c.nulls > 0 {
		out.Valid = slices.Clone(c.valid)
	}
	if c.Store == StoreText || c.Store == StoreNone {
		return c.finishText(mem, out)
	}
	res := out.Facts.Resolve(c.ID.Role)
	out.Type, out.Rounded = res.Type, c.Rounded.total
	switch c.Store {
	case StoreBool, StoreInt, StoreFloat:
		out.Values = c.values(mem, out.Type)
		return out
	}
	elem := out.Type.(*arrow.ListType).Elem()
	out.Offsets = geoarrow.HandOver(mem, &c.Ends)
	child := geoarrow.Column{Type: elem}
	if c.Store == StoreTexts {
		child.Offsets, child.Values = geoarrow.HandOver(mem, &c.TextEnds), geoarrow.HandOver(mem, &c.Text)
	} else {
		child.Values = c.values(mem, elem)
	}
	out.Child = &child
	return out
}

// values returns ints or floats in the layout of a type.
func (c *Column) values(mem *geoarrow.Arena, t arrow.DataType) []byte {
	switch t.ID() {
	case arrow.BOOL:
		packed := make([]byte, (len(c.Ints)+7)/8)
		for i, v := range c.Ints {
			packed[i>>3] |= byte(v) << (i & 7)
		}
		return packed
	case arrow.INT32, arrow.DATE32, arrow.TIME32:
		return geoarrow.AsBytes(c.narrowed(mem))
	case arrow.FLOAT64:
		return geoarrow.AsBytes(geoarrow.HandOver(mem, &c.Floats))
	}
	return geoarrow.AsBytes(geoarrow.HandOver(mem, &c.Ints))
}

// narrowed returns Ints as int32. If the chunk is lent, the next one reuses the memory.
func (c *Column) narrowed(mem *geoarrow.Arena) []int32 {
	n := len(c.Ints)
	narrow := c.narrow
	if !mem.Lend || n > cap(narrow) {
		narrow = geoarrow.Alloc[int32](mem, n)
	}
	if mem.Lend {
		c.narrow = narrow
	}
	narrow = narrow[:n]
	for i, v := range c.Ints {
		narrow[i] = int32(v)
	}
	return narrow
}

// finishText converts texts to dates or times if all of them are, unless text is required.
func (c *Column) finishText(mem *geoarrow.Arena, out geoarrow.Column) geoarrow.Column {
	if c.Kinds&^geoarrow.FactField == geoarrow.FactString && c.ID.Role.Times() && !c.Plain && !(c.forced && c.field) {
		out.Offsets, out.Values = c.Ends, c.Text
		if Times(&out, c.N, c.forced || c.NeedText) {
			return out
		}
	}
	res := out.Facts.Resolve(c.ID.Role)
	if c.Store == StoreNone && res.Type.ID() != arrow.STRING {
		out, _ = out.Widen(res, c.N) // nulls convert to any type
		return out
	}
	out.Type, out.JSON, out.Mixed = arrow.BinaryTypes.String, res.JSON, res.Mixed
	if c.ID.Role == geoarrow.RoleShape {
		out.Type = res.Type
	}
	out.Offsets, out.Values = geoarrow.HandOver(mem, &c.Ends), geoarrow.HandOver(mem, &c.Text)
	if c.Store == StoreNone {
		out.Offsets = make([]int32, c.N+1)
	}
	return out
}
