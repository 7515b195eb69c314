package jsonrows

import (
	"github.com/vibeflight/vibeflight/readers"
)

// This file reads malformed rows under on_error: null and repair, if their brackets and quotes are
// balanced. Only rows that the strict reader refuses are read here.

// Rules of deviations.
const (
	RuleValue  = "bad-value"  // an attribute or an id that is malformed
	RuleMember = "bad-member" // a member that no column holds and that is not JSON
	RuleKey    = "bad-key"    // a name that is not valid text

	RuleNaN      = "nan"            // repair: NaN, Infinity, -Infinity
	RuleSpelling = "spelling"       // repair: a value with one obvious reading
	RuleComma    = "trailing-comma" // repair: a comma before a closing bracket
)

// lenientRow reads the row at p again, with null for each malformed value. To undo what the strict
// reader added to the types of columns, the chunk is read again, each row first by the probe.
func (s *Scanner) lenientRow(p int) int {
	if !s.Sink.careful {
		s.Sink.restart = true
		return -1
	}
	why, row, at := s.Fault, s.Base+int64(p), s.Base+int64(s.Fault.Pos)
	end := -1
	if !s.InSequence || s.At(p) == '{' {
		end = s.Complete(p, s.LooseSkip)
	}
	if end >= 0 {
		end = s.Dialect.ReadLenient(int(row - s.Base))
		if end >= 0 {
			return s.commit(end)
		}
		s.Sink.Rollback()
		return -1
	}
	if s.Failure == nil {
		why.Pos = int(at - s.Base)
		s.Fault = why
	}
	return -1
}

// Deviate notes a deviation at index p of the current row.
func (s *Scanner) Deviate(p int, field, rule, done string) {
	s.Sink.Deviate(readers.Deviation{Offset: s.Base + int64(p), Row: s.RowNumber, Field: field, Rule: rule, Done: done})
}

// Object calls each with the members of the object at p, which LooseSkip accepts. name is nil if the
// key is malformed, and valid until the next key. each returns the index after the value, or -1. A
// comma after the last member is counted.
func (s *Scanner) Object(p int, counted bool, each func(name []byte, at int) int) int {
	p = s.Space(p + 1)
	for s.At(p) != '}' {
		key := p
		name, at := s.Key(p)
		if at < 0 {
			name, at = nil, s.looseKey(key)
		}
		if p = each(name, at); p < 0 {
			return -1
		}
		if p = s.Space(p); s.At(p) == ',' {
			comma := p
			if p = s.Space(p + 1); s.At(p) == '}' && counted {
				s.Deviate(comma, "", RuleComma, "left out")
			}
		}
	}
	return p + 1
}

// LastMembers returns the places of the values of the object at p; of a repeated name, that of the
// last one.
func (s *Scanner) LastMembers(p int) map[string]int {
	last := map[string]int{}
	s.Object(p, false, func(name []byte, at int) int {
		if name != nil {
			last[string(name)] = at
		}
		return s.LooseSkip(at)
	})
	return last
}

// LenientSkip skips a value that no column holds, and counts it if it is not JSON.
func (s *Scanner) LenientSkip(p, open int) int {
	end, sound := s.Loose(p)
	if sound {
		return s.Skip(p, open)
	}
	s.Deviate(s.Fault.Pos, "", RuleMember, "left out")
	return end
}

// Null skips a null at p, or returns -1.
func (s *Scanner) Null(p int) int {
	if end, sound := s.Loose(p); sound && s.At(p) == 'n' {
		return end
	}
	return -1
}

// BadValue skips a value with the current fault; its column has a null.
func (s *Scanner) BadValue(p int, field string) int {
	if s.Fault.Depth {
		return -1
	}
	s.Deviate(s.Fault.Pos, field, RuleValue, "value is null")
	return s.LooseSkip(p)
}

// LenientMembers reads the object at p, whose members are columns.
func (s *Scanner) LenientMembers(p, open int) int {
	if end := s.Null(p); end >= 0 {
		return end
	}
	switch {
	case s.At(p) != '{':
		s.Deviate(p, s.Members, "bad-"+s.Members, s.Members+" are null")
		return s.LooseSkip(p)
	case open >= s.Limits.MaxDepth:
		return s.FailDepth(p)
	}
	last := s.LastMembers(p)
	return s.Object(p, true, func(name []byte, at int) int {
		switch {
		case name == nil:
			s.Deviate(at, "", RuleKey, "property is left out")
			return s.LooseSkip(at)
		case last[string(name)] != at:
			return s.LenientSkip(at, open+1)
		}
		c := s.Sink.Member(name)
		if s.Sink.Refused() {
			return s.FailWide(at, c.ID.Name)
		}
		if _, sound := s.Loose(at); sound {
			if end := s.columnValue(c, at, open+1); end >= 0 {
				return end
			}
		}
		if s.Repairs && !s.Fault.Depth {
			if end := s.repairValue(c, at, open+1); end >= 0 {
				return end
			}
		}
		return s.BadValue(at, c.ID.Name)
	})
}

// columnValue reads the value of a column.
func (s *Scanner) columnValue(c *Column, p, open int) int {
	if c.Read != nil {
		return c.Read(s, &c.Column, p, open)
	}
	return s.Value(&c.Column, p, open)
}
