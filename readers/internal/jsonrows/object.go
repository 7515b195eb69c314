package jsonrows

import (
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
)

// ReadMembers reads the object at p, whose members are columns: GeoJSON's properties. open is the
// number of brackets around it.
func (s *Scanner) ReadMembers(p, open int) int {
	if s.At(p) != '{' {
		s.Fault = Fault{Pos: p, Want: "an object or null", Field: s.Members, Rule: s.Rule}
		return -1
	}
	if open >= s.Limits.MaxDepth {
		return s.FailDepth(p)
	}
	p++
	open++
	guess := &s.Sink.start
	for first := true; ; first = false {
		c := guess.next
		if c != nil && (s.Word(p)^guess.lo)&guess.loMask|(s.Word(p+8)^guess.hi)&guess.hiMask == 0 &&
			(guess.rest == "" || s.Has(p+16, guess.rest)) {
			p = s.Space(p + guess.n)
		} else {
			at := s.Space(p)
			if s.At(at) == '}' {
				return at + 1
			}
			if !first {
				if s.At(at) != ',' {
					return s.Fail(at, `"," or "}" of the `+s.Members)
				}
				at = s.Space(at + 1)
			}
			name, value := s.Key(at)
			if value < 0 {
				if name != nil {
					s.Fault.Field = string(name)
				}
				return -1
			}
			if c = s.Sink.Member(name); s.Sink.Refused() {
				return s.FailWide(at, c.ID.Name)
			}
			guess.learn(c, s.Text(p, value))
			p = value
		}
		switch {
		case s.Passes && s.Passed(p):
			p = s.Skip(p, open)
		case c.Read != nil:
			p = c.Read(s, &c.Column, p, open)
		default:
			p = s.Value(&c.Column, p, open)
		}
		if p < 0 {
			if s.Fault.Field == "" {
				s.Fault.Field = c.ID.Name
			}
			return -1
		}
		guess = &c.after
	}
}

// Passed reports whether the value at p is replaced by a later one of the same name.
func (s *Scanner) Passed(p int) bool {
	return s.Passes && s.replaced[s.Base+int64(p)]
}

// findReplaced fills replaced with the values of the row at p that a later one of the same name
// replaces. The fault stays.
func (s *Scanner) findReplaced(p int) {
	why := s.Fault
	s.replaced = map[int64]bool{}
	members := -1
	s.replacedIn(p, func(name []byte, at int) {
		if string(name) == s.Members && s.At(at) == '{' {
			members = at
		} else if string(name) == s.Members {
			members = -1
		}
	})
	if members >= 0 {
		s.replacedIn(members, func([]byte, int) {})
	}
	s.Fault = why
}

// replacedIn does it for one object, which is valid or cut by the window.
func (s *Scanner) replacedIn(p int, each func(name []byte, at int)) {
	last := map[string]int64{}
	for p = s.Space(p + 1); s.At(p) == '"'; {
		name, at := s.Key(p)
		if at < 0 {
			return
		}
		if before, ok := last[string(name)]; ok {
			s.replaced[before] = true
		}
		last[string(name)] = s.Base + int64(at)
		each(name, at)
		if p = s.Skip(at, 0); p < 0 {
			return
		}
		if p = s.Space(p); s.At(p) != ',' {
			return
		}
		p = s.Space(p + 1)
	}
}

// ReadID reads the id of a row, which is a string or a number; null counts as absent.
func (s *Scanner) ReadID(p int) int {
	c := s.At(p)
	switch {
	case c == 'n':
		return s.Literal(p, "null")
	case c != '"' && c != '-' && c-'0' > 9:
		s.Fault = Fault{Pos: p, Want: "a string or a number", Field: "id", Rule: s.Rule}
		return -1
	}
	id := s.IDColumn(p)
	if id == nil {
		return -1
	}
	return s.Value(id, p, 0)
}

// IDColumn returns the column of the rows' ids, or nil with the fault set at p if it is one too many.
func (s *Scanner) IDColumn(p int) *rows.Column {
	k := s.Sink
	if k.ID == nil {
		k.ID = k.Column(geoarrow.RoleFeatureID, []byte("id"))
		if k.Refused() {
			k.ID = nil
			s.FailWide(p, "id")
		}
	}
	return k.ID
}
