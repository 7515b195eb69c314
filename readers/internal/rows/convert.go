package rows

import (
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// become changes the store and leaves the rows so far empty.
func (c *Column) become(to Store) {
	c.Store = to
	c.Ints, c.Floats, c.Text = c.Ints[:0], c.Floats[:0], c.Text[:0]
	c.Ends, c.TextEnds = append(c.Ends[:0], 0), append(c.TextEnds[:0], 0)
	c.zeros(c.N)
}

// convert converts the rows so far, of the kinds before, to another store. It returns false if that
// needs their text.
func (c *Column) convert(to Store, before geoarrow.FactKinds) bool {
	from := c.Store
	switch {
	case from == StoreNone:
		c.become(to)
	case from == StoreText && before&^geoarrow.FactField == 0: // empty texts only
		c.nulls, c.valid = c.N, append(c.valid[:0], make([]byte, (c.N+7)/8)...)
		c.become(to)
	case from == StoreBool && to == StoreInt:
		c.Store = to
	case (from == StoreBool || from == StoreInt) && to == StoreFloat:
		c.Floats = c.toFloats(c.Floats[:0], before)
		c.Ints = c.Ints[:0]
		c.Store = to
	case from == StoreInts && to == StoreFloats:
		c.Floats = c.toFloats(c.Floats[:0], before|before.OutOfList()) // scalars may have become lists
		c.Ints = c.Ints[:0]
		c.Store = to
	case from == StoreText && to >= StoreBools && before == geoarrow.FactEmptyList:
		c.become(to)
	case from == StoreBool && to == StoreBools, from == StoreInt && to == StoreInts, from == StoreFloat &&
		to == StoreFloats,
		from == StoreText && to == StoreTexts && before&^geoarrow.FactField == geoarrow.FactString:
		c.wrap(to)
	case from == StoreInt && to == StoreFloats:
		c.convert(StoreFloat, before)
		c.wrap(to)
	default:
		return false
	}
	return true
}

// toFloats appends the integers as floats, and counts the rounded ones.
func (c *Column) toFloats(dst []float64, kinds geoarrow.FactKinds) []float64 {
	for _, v := range c.Ints {
		n := number.Num{Int: uint64(v)}
		if v < 0 && kinds&geoarrow.FactUint64 == 0 {
			n = number.Num{Int: uint64(-v), Negative: true}
		}
		f := float64(n.Int)
		if n.Negative {
			f = -f
		}
		if !number.ExactUint(n.Int) {
			c.Rounded.total++
		}
		dst = append(dst, f)
	}
	return dst
}

// wrap makes a list of one element of each value.
func (c *Column) wrap(to Store) {
	keep := 0
	ends := append(make([]int32, 0, c.N+1), 0)
	for i := range c.N {
		if c.nulls > 0 && c.valid[i>>3]>>(i&7)&1 == 0 {
			ends = append(ends, int32(keep))
			continue
		}
		switch to {
		case StoreBools, StoreInts:
			c.Ints[keep] = c.Ints[i]
		case StoreFloats:
			c.Floats[keep] = c.Floats[i]
		case StoreTexts:
			c.TextEnds = append(c.TextEnds, c.Ends[i+1])
		}
		keep++
		ends = append(ends, int32(keep))
	}
	switch to {
	case StoreBools, StoreInts:
		c.Ints = c.Ints[:keep]
	case StoreFloats:
		c.Floats = c.Floats[:keep]
	}
	c.Ends, c.Store = ends, to
}
