package csv

import (
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// parse reads the record at p into the current row, and returns the index of its line end.
func (s *scanner) parse(p int) int {
	s.reveal = false
	mended := false
	for i := 0; ; i++ {
		var end int
		s.mended = 0 // of this field
		switch u := s.sink.uses[i]; u {
		case useAttribute:
			end = s.attribute(s.sink.columns[i], s.sink.Rows, p)
		case useX, useX | useGuess:
			end = s.anyOrdinate(&s.x, i, p)
		case useY, useY | useGuess:
			end = s.anyOrdinate(&s.y, i, p)
		default:
			end = s.geometryField(u, i, p)
		}
		if end < 0 {
			if end = s.nullText(i, p); end < 0 {
				return s.failField(i, p)
			}
		}
		if s.mended > 0 {
			s.noteMended(i)
			mended = true
		}
		last := i+1 == len(s.fields)
		more := s.At(end) == s.delimiter // which has no byte at the end of the file
		if more && !last {
			p = end + 1
			continue
		}
		s.reached = i + 1
		if more {
			if !s.pad && (!s.repair || mended) {
				s.tooMany(end + 1)
				return -1
			}
			if !s.pad {
				s.deviate(end+1, -1, ruleRagged, "fields after the last column are left out")
			}
			if end = s.pass(end + 1); end < 0 {
				return -1
			}
		} else if !last && !s.pad && (!s.repair || mended) {
			s.fail(end, fmt.Sprintf("the delimiter: the record has %d of %d fields", i+1, len(s.fields)))
			s.fault.shape = true
			return -1
		} else {
			if !last && !s.pad {
				s.deviate(end, -1, ruleRagged, "missing fields are null")
			}
			s.absent(i + 1)
		}
		if s.geometry != noGeometry && !s.endShape() {
			s.fault.seen = end
			return -1
		}
		return end
	}
}

// failField puts the fault in field i, which begins at p. All of the field was read before the
// fault was found.
func (s *scanner) failField(i, p int) int {
	f := s.fault
	s.reached = i + 1
	if f.field = i + 1; !f.cut {
		if _, end := s.text.cell(p); end >= 0 {
			f.seen = max(f.seen, end)
		}
	}
	s.fault = f
	return -1
}

// tooMany sets the fault for one more field at p, once that is known to exist.
func (s *scanner) tooMany(p int) {
	s.fault = fault{pos: p, want: fmt.Sprintf("a field after the last of %d", len(s.fields)), bare: true, shape: true}
}

// absent returns the state of a geometry whose fields, from one on, are padded. It examines only
// the fields of the geometry, since a record may lack very many.
func (s *scanner) absent(from int) {
	for _, i := range s.shape {
		switch u := s.fields[i]; {
		case i < from:
		case u&useX != 0:
			s.x = ordinate{null: true}
		case u&useY != 0:
			s.y = ordinate{null: true}
		case u&useCell != 0:
			s.kind, s.own = geoarrow.NoKind, 0
		}
	}
}

// geometryField reads field i at p, which is a geometry, and may be an attribute too.
func (s *scanner) geometryField(u use, i, p int) int {
	if u&useAttribute != 0 {
		if end := s.attribute(s.sink.columns[i], s.sink.Rows, p); end < 0 {
			return -1
		}
	}
	switch {
	case u&useX != 0:
		return s.anyOrdinate(&s.x, i, p)
	case u&useY != 0:
		return s.anyOrdinate(&s.y, i, p)
	}
	return s.geometryCell(i, p)
}

// attribute reads the field at p as the value of a column in a row. It first tries the kind of the
// column's earlier values, directly in the window.
func (s *scanner) attribute(c *rows.Column, row, p int) int {
	if s.class[s.At(p)]&endsField != 0 {
		return p
	}
	if c.Unread {
		return s.passField(p)
	}
	if c.N != row {
		c.Pad(row)
	}
	switch c.Store {
	case rows.StoreInt:
		n, end := number.Number(s.Q, p)
		if end >= 0 && n.Kind <= number.Int64 && s.class[s.At(end)]&endsField != 0 && (n.Int != 0 || !n.Negative) {
			if k := rows.KindOf(n); c.Kinds&k != k {
				c.Accept(k)
			}
			c.Ints = append(c.Ints, rows.Signed(n))
			c.Filled()
			return end
		}
	case rows.StoreFloat:
		// an integer that a float64 may not hold takes the slow path
		v, end := number.Float(s.Q, p)
		if end >= 0 && math.Abs(v) < 1<<53 && s.class[s.At(end)]&endsField != 0 && !s.comma {
			c.Floats = append(c.Floats, v)
			c.Filled()
			return end
		}
	case rows.StoreText:
		if c.Kinds&geoarrow.FactString == 0 {
			break
		}
		from, to, end, plain := p, 0, 0, false
		if s.class[s.At(p)] != classQuote {
			var high bool
			to, high = s.fieldEnd(p)
			end, plain = to, !high && to < s.N
		} else if from, to = p+1, s.shortQuoted(p+1); to > from {
			end = to + 1
			plain = s.class[s.At(end)]&endsField != 0
		}
		if plain {
			c.Text = appendShort(c.Text, s.Text(from, to+number.Padding)[:to-from])
			c.EndText()
			return end
		}
	}
	return s.anyAttribute(c, p)
}

// passField checks the field at p, which is not requested, as a text.
func (s *scanner) passField(p int) int {
	field, end := s.text.cell(p)
	if end >= 0 && field.high {
		if _, ok := s.bytes(field); !ok {
			return -1
		}
	}
	return end
}

// appendShort appends text, after which 32 bytes can be read.
func appendShort(dst, text []byte) []byte {
	n, k := len(dst), len(text)
	if k > 32 || cap(dst)-n < 32 {
		return append(dst, text...)
	}
	*(*[32]byte)(dst[n : n+32]) = [32]byte(text[:32])
	return dst[:n+k]
}

// anyAttribute is attribute for fields of any kind.
func (s *scanner) anyAttribute(c *rows.Column, p int) int {
	field, end := s.text.cell(p)
	switch {
	case end < 0:
		return -1
	case field.from == field.to:
		if field.quoted {
			c.AddEmpty()
		}
		return end
	}
	b, ok := s.bytes(field)
	if !ok {
		return -1
	}
	if c.Kinds&geoarrow.FactString == 0 && !s.text.dialect.text && !field.high {
		if n, ok := s.number(trim(b), false); ok {
			c.AddNumber(n, b)
			return end
		}
		if v, ok := boolean(b); ok {
			c.AddBool(v, b)
			return end
		}
	}
	c.AddText(b)
	return end
}
