package esrijson

import (
	"fmt"
	"math"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/temporal"
)

// field is a column that a feature set declares.
type field struct {
	name string
	kind fieldKind
}

// fieldKind is the type of a field.
type fieldKind uint8

const (
	anyKind   fieldKind = iota // as the values
	intKind                    // int32, or wider by the values
	longKind                   // int64
	floatKind                  // float64
	textKind
	timeKind     // milliseconds since the epoch
	dateOnlyKind // text of a date
	timeOnlyKind // text of a time of day
)

// fieldKinds are the types by their names.
var fieldKinds = map[string]fieldKind{
	"esriFieldTypeOID": intKind, "esriFieldTypeSmallInteger": intKind, "esriFieldTypeInteger": intKind,
	"esriFieldTypeBigInteger": longKind,
	"esriFieldTypeSingle":     floatKind, "esriFieldTypeDouble": floatKind,
	"esriFieldTypeString": textKind, "esriFieldTypeGUID": textKind, "esriFieldTypeGlobalID": textKind,
	"esriFieldTypeXML": textKind, "esriFieldTypeBlob": textKind, "esriFieldTypeRaster": textKind,
	"esriFieldTypeDate": timeKind, "esriFieldTypeDateOnly": dateOnlyKind, "esriFieldTypeTimeOnly": timeOnlyKind,
}

// readFields reads the fields of a feature set, an array of objects with a name and a type.
func (s *scanner) readFields(p int) int {
	s.set.fields, s.set.found = nil, false
	end := s.Skip(p, 1)
	switch {
	case end < 0:
		return -1
	case s.At(p) == 'n':
		return end
	case s.At(p) != '[':
		return s.FailRule(p, setRule, "an array of fields")
	}
	ok := true
	s.Each(p, func(p int) int {
		end := s.Skip(p, 2)
		if ok = s.addField(p); !ok {
			return -1
		}
		return end
	})
	if !ok {
		return -1
	}
	s.set.found = true
	return end
}

// addField adds the field at p, which is valid JSON.
func (s *scanner) addField(p int) bool {
	if s.At(p) != '{' {
		s.FailRule(p, setRule, "a field object")
		return false
	}
	at := s.LastMembers(p)
	v, ok := at["name"]
	if !ok || s.At(v) != '"' {
		s.Wrong(p, "", setRule, "a field without a name")
		return false
	}
	f := field{name: string(s.TextAt(v, s.Skip(v, 3)))}
	for _, other := range s.set.fields {
		if other.name == f.name {
			s.Wrong(v, "", setRule, fmt.Sprintf("a second field %q", f.name))
			return false
		}
	}
	if v, ok = at["type"]; ok {
		f.kind = fieldKinds[string(s.TextAt(v, s.Skip(v, 3)))]
	}
	s.set.fields = append(s.set.fields, f)
	return true
}

// readAliases reads the aliases of fields, which some servers write instead of the fields: their
// names are those of the columns.
func (s *scanner) readAliases(p int) int {
	end := s.Skip(p, 1)
	if end < 0 || s.At(p) != '{' || s.set.found {
		return end
	}
	s.set.fields = nil
	s.Object(p, false, func(name []byte, at int) int {
		known := false
		for _, f := range s.set.fields {
			known = known || f.name == string(name)
		}
		if !known {
			s.set.fields = append(s.set.fields, field{name: string(name)})
		}
		return s.Skip(at, 2)
	})
	return end
}

// declare adds the columns of the fields to a chunk.
func (h *header) declare(k *jsonrows.Sink) {
	for i := range h.fields {
		f := &h.fields[i]
		c := k.Member([]byte(f.name))
		c.Read = nil
		switch f.kind {
		case intKind:
			c.Accept(geoarrow.FactInt32)
			c.Read = nullOr(readNumber)
		case longKind:
			c.Accept(geoarrow.FactInt64)
			c.Read = nullOr(readNumber)
		case floatKind:
			c.Accept(geoarrow.FactFloat)
			c.Read = nullOr(readFloat)
		case textKind:
			c.Plain = true
			c.Accept(geoarrow.FactString)
		case timeKind:
			if c.Declare("timestamp[ms]") {
				c.Read = nullOr(readTime)
			}
		case dateOnlyKind:
			if c.Declare("date32") {
				c.Read = nullOr(readDate)
			}
		case timeOnlyKind:
			if c.Declare("time32[ms]") {
				c.Read = nullOr(readTimeOfDay)
			}
		}
	}
}

// reader reads a value other than null.
type reader func(s *jsonrows.Scanner, c *rows.Column, p, open int) int

// nullOr returns how values of a column are read: null, or what read reads.
func nullOr(read reader) func(s *jsonrows.Scanner, c *rows.Column, p, open int) int {
	return func(s *jsonrows.Scanner, c *rows.Column, p, open int) int {
		if end, first := s.Prepare(c, p, open); !first {
			return end
		}
		if s.At(p) == 'n' {
			return s.Literal(p, "null")
		}
		return read(s, c, p, open)
	}
}

// readNumber reads a number. A wider one than the field's type makes the column wider.
func readNumber(s *jsonrows.Scanner, c *rows.Column, p, open int) int {
	if b := s.At(p); b != '-' && b-'0' > 9 {
		return s.Fail(p, "a number or null")
	}
	return s.Value(c, p, open)
}

// readFloat reads a number, or the text "NaN".
func readFloat(s *jsonrows.Scanner, c *rows.Column, p, open int) int {
	if s.At(p) == '"' {
		end := notANumber(s, p)
		if end >= 0 {
			c.AddNumber(number.Num{Kind: number.Real, Float: nan}, s.Text(p, end))
		}
		return end
	}
	return readNumber(s, c, p, open)
}

// notANumber reads the text "NaN", as Esri writes it.
func notANumber(s *jsonrows.Scanner, p int) int {
	const text = `"NaN"`
	if p+len(text) > s.N && !s.EOF {
		return s.Fail(s.N, "a number")
	}
	if !s.Has(p, text) {
		return s.Fail(p, `a number, "NaN" or null`)
	}
	return p + len(text)
}

// readTime reads milliseconds since the epoch: an integer, also with a fraction of 0.
func readTime(s *jsonrows.Scanner, c *rows.Column, p, _ int) int {
	if b := s.At(p); b != '-' && b-'0' > 9 {
		return s.Fail(p, "milliseconds since 1970-01-01, or null")
	}
	n, end := number.Number(s.Q, p)
	if end < 0 || end >= s.N {
		return s.FailNumber(p, end, n.Float, "a number")
	}
	v := rows.Signed(n)
	switch {
	case n.Kind == number.Real && n.Float == math.Trunc(n.Float) && math.Abs(n.Float) < 1<<53:
		v = int64(n.Float)
	case n.Kind > number.Int64:
		return s.Fail(p, "milliseconds since 1970-01-01, or null")
	}
	addInt(c, v)
	return end
}

// readDate reads the text of a date.
func readDate(s *jsonrows.Scanner, c *rows.Column, p, _ int) int {
	return readTemporal(s, c, p, temporal.Date, "a date or null", func(v temporal.Value) int64 {
		return int64(v.Days())
	})
}

// readTimeOfDay reads the text of a time of day, with at most milliseconds.
func readTimeOfDay(s *jsonrows.Scanner, c *rows.Column, p, _ int) int {
	return readTemporal(s, c, p, temporal.Time, "a time of day or null", func(v temporal.Value) int64 {
		return v.Seconds*1000 + int64(v.Fraction)/1e6
	})
}

func readTemporal(s *jsonrows.Scanner, c *rows.Column, p int, kind temporal.Kind, want string,
	of func(temporal.Value) int64,
) int {
	if s.At(p) != '"' {
		return s.Fail(p, want)
	}
	end, _ := s.Str(p + 1)
	if end < 0 {
		return -1
	}
	v, ok := temporal.Parse(s.TextAt(p, end+1))
	if !ok || v.Kind != kind || v.Digits > 3 {
		return s.Fail(p, want)
	}
	addInt(c, of(v))
	return end + 1
}

// addInt ends the row of a declared column.
func addInt(c *rows.Column, v int64) {
	if c.Unread {
		c.Pass()
		return
	}
	c.Ints = append(c.Ints, v)
	c.Filled()
}
