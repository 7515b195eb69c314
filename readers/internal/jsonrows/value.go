package jsonrows

import (
	"bytes"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// Value reads the value of property c at p into the current row. open is the number of brackets
// around it.
func (s *Scanner) Value(c *rows.Column, p, open int) int {
	if c.N != s.Sink.Rows {
		if end, first := s.Prepare(c, p, open); !first {
			return end
		}
	}
	if c.Unread {
		return s.pass(c, p, open)
	}
	switch s.At(p) {
	case '"':
		return s.textValue(c, p)
	case 'n':
		return s.Literal(p, "null")
	case 't', 'f':
		return s.boolValue(c, p)
	case '{':
		return s.jsonValue(c, p, open)
	case '[':
		return s.arrayValue(c, p, open)
	}
	n, end := number.Number(s.Q, p)
	if end < 0 || end >= s.N {
		return s.FailNumber(p, end, n.Float, "a value")
	}
	if k := rows.KindOf(n); c.Kinds&k != k {
		c.Accept(k)
	}
	switch c.Store {
	case rows.StoreInt:
		c.Ints = append(c.Ints, rows.Signed(n))
		c.Filled()
	case rows.StoreFloat:
		c.Floats = append(c.Floats, c.Float(n, s.Text(p, end)))
		c.Filled()
	case rows.StoreInts:
		c.Ints = append(c.Ints, rows.Signed(n))
		c.EndList()
	case rows.StoreFloats:
		c.Floats = append(c.Floats, c.Float(n, s.Text(p, end)))
		c.EndList()
	default:
		c.Text = append(c.Text, s.Text(p, end)...)
		c.EndText()
	}
	return end
}

// Prepare fills column c up to the current row, whose value is at p. If the row has one already, it
// skips the value, and first is false.
func (s *Scanner) Prepare(c *rows.Column, p, open int) (end int, first bool) {
	if c.N > s.Sink.Rows {
		return s.Repeated(p, open), false
	}
	c.Pad(s.Sink.Rows)
	return p, true
}

// pass checks the value of a property that is not requested, with the same errors as value.
func (s *Scanner) pass(c *rows.Column, p, open int) (end int) {
	switch first := s.At(p); first {
	case 'n':
		return s.Literal(p, "null")
	case '"', 't', 'f', '{', '[':
		if end = s.Skip(p, open); end >= 0 && first == '[' {
			if _, bad := s.listKinds(p); bad >= 0 {
				return s.beyond(bad)
			}
		}
	default:
		end = s.passNumber(p)
	}
	if end >= 0 {
		c.Pass()
	}
	return end
}

// maxPlain is the largest number of digits with which every number is in the range of float64.
const maxPlain = 308

// passNumber checks a number. One without exponent and with few digits need not be converted for
// that.
func (s *Scanner) passNumber(p int) int {
	end := number.Skip(s.Q, p)
	if end >= 0 && end < s.N && end-p <= maxPlain && bytes.IndexByte(s.Text(p, end), 'e') < 0 &&
		bytes.IndexByte(s.Text(p, end), 'E') < 0 {
		return end
	}
	n, end := number.Number(s.Q, p)
	if end < 0 || end >= s.N {
		return s.FailNumber(p, end, n.Float, "a value")
	}
	return end
}

// Repeated skips the value of a repeated name. The last one counts, so the chunk is read again
// without the others.
func (s *Scanner) Repeated(p, open int) int {
	if !s.Passes { // otherwise the value itself is missing
		s.Sink.repeats = append(s.Sink.repeats, s.RowOffset)
	}
	return s.Skip(p, open)
}

func (s *Scanner) textValue(c *rows.Column, p int) int {
	end, escaped := s.Str(p + 1)
	if end < 0 {
		return -1
	}
	if c.Kinds&geoarrow.FactString == 0 {
		c.Accept(geoarrow.FactString)
	}
	if escaped {
		var replaced int64
		c.Text, replaced = Unescape(c.Text, s.Text(p+1, end))
		c.Replaced.Add(c.N, replaced)
	} else {
		c.Text = s.appendText(c.Text, p+1, end)
	}
	c.EndText()
	return end + 1
}

// appendText appends the bytes from p to end. Most texts are short, and copying 16 bytes whatever
// their length avoids a mispredicted branch.
func (s *Scanner) appendText(text []byte, p, end int) []byte {
	n := len(text)
	if end-p > 16 || cap(text)-n < 16 {
		return append(text, s.Text(p, end)...)
	}
	into := unsafe.Add(unsafe.Pointer(unsafe.SliceData(text)), n)
	*(*uint64)(into), *(*uint64)(unsafe.Add(into, 8)) = s.Word(p), s.Word(p+8)
	return text[:n+end-p]
}

func (s *Scanner) boolValue(c *rows.Column, p int) int {
	v, end := s.Boolean(p)
	if end < 0 {
		return -1
	}
	if c.Kinds&geoarrow.FactBool == 0 {
		c.Accept(geoarrow.FactBool)
	}
	switch c.Store {
	case rows.StoreBool, rows.StoreInt:
		c.Ints = append(c.Ints, v)
		c.Filled()
	case rows.StoreFloat:
		c.Floats = append(c.Floats, float64(v))
		c.Filled()
	case rows.StoreBools:
		c.Ints = append(c.Ints, v)
		c.EndList()
	default:
		c.Text = append(c.Text, s.Text(p, end)...)
		c.EndText()
	}
	return end
}

// FailNumber sets the fault of a number that number.Number or number.Float refused, or that the
// window may have cut.
func (s *Scanner) FailNumber(p, end int, v float64, want string) int {
	switch {
	case end >= s.N:
		return s.Fail(s.N, `"," or a closing bracket`)
	case v != 0: // ±Inf
		if number.Skip(s.Q, p) >= s.N { // a negative exponent may follow
			return s.Fail(s.N, "a number")
		}
		return s.beyond(p)
	case ^end == p:
		return s.Fail(p, want)
	}
	return s.FailRule(^end, "RFC 8259 section 6", "a digit, or the end of the number")
}

// beyond returns the fault of a number beyond the range of float64.
func (s *Scanner) beyond(p int) int {
	return s.Wrong(p, "", "", "a number beyond the range of float64")
}

// jsonValue keeps a value as compact JSON text.
func (s *Scanner) jsonValue(c *rows.Column, p, open int) int {
	end := s.Skip(p, open)
	if end < 0 {
		return -1
	}
	s.keepJSON(c, p, end)
	return end
}

func (s *Scanner) keepJSON(c *rows.Column, p, end int) {
	if c.Kinds&geoarrow.FactJSON == 0 {
		c.Accept(geoarrow.FactJSON)
	}
	c.Text = compact(c.Text, s.Text(p, end))
	c.EndText()
}
