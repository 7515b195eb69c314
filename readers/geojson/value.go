package geojson

import (
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
)

// value reads the value of property c at p into the row at hand. open is the number of brackets around it.
func (s *scanner) value(c *column, p, open int) int {
	row := s.sink.rows
	if c.n != row {
		if c.n > row {
			return s.repeated(p, open)
		}
		c.pad(row)
	}
	switch s.at(p) {
	case '"':
		return s.textValue(c, p)
	case 'n':
		return s.literal(p, "null")
	case 't':
		return s.boolValue(c, p, "true", 1)
	case 'f':
		return s.boolValue(c, p, "false", 0)
	case '{':
		return s.jsonValue(c, p, open)
	case '[':
		return s.arrayValue(c, p, open)
	}
	return s.numberValue(c, p)
}

// repeated passes the value of a name that this feature gave before. The last one counts, so the chunk is read again without the others.
func (s *scanner) repeated(p, open int) int {
	if !s.passes { // else the value itself is missing
		s.sink.repeats = append(s.sink.repeats, s.rowOffset)
	}
	return s.skip(p, open)
}

func (s *scanner) textValue(c *column, p int) int {
	end, escaped := s.str(p + 1)
	if end < 0 {
		return -1
	}
	if c.kinds&geoarrow.FactString == 0 {
		c.accept(geoarrow.FactString)
	}
	if escaped {
		var replaced int64
		c.text, replaced = unescape(c.text, s.text(p+1, end))
		c.replaced.add(c.n, replaced)
	} else {
		c.text = append(c.text, s.text(p+1, end)...)
	}
	c.endText()
	return end + 1
}

// endText ends a text, as a row or as the only element of a list.
func (c *column) endText() {
	end := int32(len(c.text))
	if c.store == storeTexts {
		c.textEnds = append(c.textEnds, end)
		end = int32(len(c.textEnds) - 1)
	}
	c.ends = append(c.ends, end)
	c.filled()
}

func (s *scanner) boolValue(c *column, p int, lit string, v int64) int {
	end := s.literal(p, lit)
	if end < 0 {
		return -1
	}
	if c.kinds&geoarrow.FactBool == 0 {
		c.accept(geoarrow.FactBool)
	}
	switch c.store {
	case storeBool, storeInt:
		c.ints = append(c.ints, v)
		c.filled()
	case storeFloat:
		c.floats = append(c.floats, float64(v))
		c.filled()
	case storeBools:
		c.ints = append(c.ints, v)
		c.endList()
	default:
		c.text = append(c.text, lit...)
		c.endText()
	}
	return end
}

func (s *scanner) numberValue(c *column, p int) int {
	n, end := number.Number(s.q, p)
	if end < 0 || end >= s.n {
		return s.failNumber(p, end, n.Float, "a value")
	}
	if k := kindOf(n); c.kinds&k != k {
		c.accept(k)
	}
	switch c.store {
	case storeInt:
		c.ints = append(c.ints, signed(n))
		c.filled()
	case storeFloat:
		c.floats = append(c.floats, c.float(s, n, p, end))
		c.filled()
	case storeInts:
		c.ints = append(c.ints, signed(n))
		c.endList()
	case storeFloats:
		c.floats = append(c.floats, c.float(s, n, p, end))
		c.endList()
	default:
		c.text = append(c.text, s.text(p, end)...)
		c.endText()
	}
	return end
}

// failNumber sets the fault of a number that number.Number or number.Float refused, or that the window may have cut.
func (s *scanner) failNumber(p, end int, v float64, want string) int {
	switch {
	case end >= s.n:
		return s.fail(s.n, `"," or a closing bracket`)
	case v != 0: // ±Inf
		if number.Skip(s.q, p) >= s.n { // a negative exponent may follow
			return s.fail(s.n, "a number")
		}
		return s.wrong(p, "", "", "a number beyond the range of float64")
	case ^end == p:
		return s.fail(p, want)
	}
	return s.failRule(^end, "RFC 8259 section 6", "a digit, or the end of the number")
}

// signed is the bits of an integer as int64, or as uint64 beyond it.
func signed(n number.Num) int64 {
	if n.Negative {
		return -int64(n.Int)
	}
	return int64(n.Int)
}

// float is the number as a float of a column: an integer is counted if it is rounded, and -0 is 0 as in a column of integers.
func (c *column) float(s *scanner, n number.Num, p, end int) float64 {
	if n.Kind == number.Real {
		return n.Float
	}
	exact := false
	if n.Kind == number.Huge {
		text := s.text(p, end)
		if n.Negative {
			text = text[1:]
		}
		exact = number.Exact(text)
	} else {
		exact = number.ExactUint(n.Int)
	}
	if !exact {
		c.rounded.add(c.n, 1)
	}
	if n.Int == 0 && n.Kind != number.Huge {
		return 0
	}
	return n.Float
}

// jsonValue keeps a value as compact JSON text.
func (s *scanner) jsonValue(c *column, p, open int) int {
	end := s.skip(p, open)
	if end < 0 {
		return -1
	}
	s.keepJSON(c, p, end)
	return end
}

func (s *scanner) keepJSON(c *column, p, end int) {
	if c.kinds&geoarrow.FactJSON == 0 {
		c.accept(geoarrow.FactJSON)
	}
	c.text = compact(c.text, s.text(p, end))
	c.endText()
}

// endList ends a list whose elements were appended.
func (c *column) endList() {
	end := 0
	switch c.store {
	case storeBools, storeInts:
		end = len(c.ints)
	case storeFloats:
		end = len(c.floats)
	case storeTexts:
		end = len(c.textEnds) - 1
	}
	c.ends = append(c.ends, int32(end))
	c.filled()
}
