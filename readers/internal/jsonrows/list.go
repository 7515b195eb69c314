package jsonrows

import (
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// arrayValue reads an array: a list if all its elements are of one scalar kind, else JSON text.
func (s *Scanner) arrayValue(c *rows.Column, p, open int) int {
	end := s.Skip(p, open)
	if end < 0 {
		return -1
	}
	kinds, bad := s.listKinds(p)
	if bad >= 0 {
		return s.beyond(bad)
	}
	if kinds == geoarrow.FactJSON {
		s.keepJSON(c, p, end)
		return end
	}
	if c.Kinds&kinds != kinds {
		c.Accept(kinds)
	}
	if c.Store == rows.StoreText {
		c.Text = compact(c.Text, s.Text(p, end))
		c.EndText()
		return end
	}
	s.elements(c, p)
	c.EndList()
	return end
}

// Each calls do for each element of the valid array at p, with the index of its first byte; do
// returns the index after it, or -1 to stop.
func (s *Scanner) Each(p int, do func(p int) int) {
	p = s.Space(p + 1)
	for s.At(p) != ']' {
		if p = do(p); p < 0 {
			return
		}
		if p = s.Space(p); s.At(p) == ',' {
			p = s.Space(p + 1)
		}
	}
}

// listKinds returns the kind of a valid array: FactEmptyList, kinds of one list, or FactJSON. bad
// is the index of a number that no float64 holds in a list of numbers, else -1.
func (s *Scanner) listKinds(p int) (kinds geoarrow.FactKinds, bad int) {
	bad = -1
	s.Each(p, func(p int) int {
		var k geoarrow.FactKinds
		end := p
		switch s.At(p) {
		case '"':
			k = geoarrow.FactListString
			end, _ = s.Str(p + 1)
			end++
		case 't':
			k, end = geoarrow.FactListBool, p+4
		case 'f':
			k, end = geoarrow.FactListBool, p+5
		case '{', '[', 'n':
			kinds = geoarrow.FactJSON
			return -1
		default:
			var n number.Num
			if n, end = number.Number(s.Q, p); end < 0 {
				n.Kind, end = number.Real, number.Skip(s.Q, p)
				if bad < 0 {
					bad = p
				}
			}
			k = rows.KindOf(n).InList()
		}
		if listFamily(kinds|k) == 0 {
			kinds = geoarrow.FactJSON
			return -1
		}
		kinds |= k
		return end
	})
	if kinds == 0 {
		kinds = geoarrow.FactEmptyList
	}
	if kinds == geoarrow.FactJSON {
		bad = -1 // kept as text
	}
	return kinds, bad
}

// listFamily returns the store of lists of the kinds, 0 if no list can have them all.
func listFamily(k geoarrow.FactKinds) rows.Store {
	switch {
	case k == geoarrow.FactListBool:
		return rows.StoreBools
	case k == geoarrow.FactListString:
		return rows.StoreTexts
	case k&(geoarrow.FactListBool|geoarrow.FactListString) == 0:
		return rows.StoreFloats
	}
	return 0
}

// elements appends the elements of the valid list at p to a column that accepted them.
func (s *Scanner) elements(c *rows.Column, p int) {
	s.Each(p, func(p int) int {
		switch s.At(p) {
		case '"':
			end, escaped := s.Str(p + 1)
			if escaped {
				var replaced int64
				c.Text, replaced = Unescape(c.Text, s.Text(p+1, end))
				c.Replaced.Add(c.N, replaced)
			} else {
				c.Text = append(c.Text, s.Text(p+1, end)...)
			}
			c.TextEnds = append(c.TextEnds, int32(len(c.Text)))
			return end + 1
		case 't':
			c.Ints = append(c.Ints, 1)
			return p + 4
		case 'f':
			c.Ints = append(c.Ints, 0)
			return p + 5
		}
		n, end := number.Number(s.Q, p)
		if c.Store == rows.StoreInts {
			c.Ints = append(c.Ints, rows.Signed(n))
		} else {
			c.Floats = append(c.Floats, c.Float(n, s.Text(p, end)))
		}
		return end
	})
}
