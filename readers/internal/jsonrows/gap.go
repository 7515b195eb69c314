package jsonrows

// Places is how many places of a row have gaps of their own. Those of place 0 begin with the row.
const Places = 4

// Codes of members that the format does not name.
const (
	MemberType    = 0xFF // its value is the same in every row, and so part of a gap
	MemberForeign = 0xFE // no column holds it: it is counted by name
)

// RowReader reads the members of a row. Members have codes: those below Places have gaps after their
// values.
type RowReader interface {
	// Member returns the code of a name, which is not 0.
	Member(name []byte) byte
	// ReadMember reads the value at p, inside of open brackets.
	ReadMember(member byte, p, open int) int
	// Typed notes that the gap at p has a valid type member, which ReadMember did not read.
	Typed(p int)
	// Type returns the place of the type member so far, -1 if there is none, and whether it is valid.
	Type() (p int, valid bool)
}

// RowObject reads the object at p, a row, through its closing bracket.
func (s *Scanner) RowObject(p int, r RowReader) int {
	open := s.Brackets + 1
	guess, from := &s.gaps[0], p
	for first := true; ; first = false {
		var member byte
		at := p
		known := s.knownGap(guess, p, from) // after a type member the guess is for another place
		if known != nil {
			if at = s.Space(p + len(known.text)); at >= s.N {
				return s.Fail(s.N, "a value")
			}
			if member = known.member; known.hasType {
				r.Typed(from)
			}
		} else {
			p = s.Space(p)
			if first {
				p = s.Space(p + 1)
			}
			if s.At(p) == '}' {
				return p + 1
			}
			if !first {
				if s.At(p) != ',' {
					return s.Fail(p, `"," or "}" of a `+s.Row)
				}
				p = s.Space(p + 1)
			}
			var name []byte
			if name, at = s.Key(p); at < 0 {
				return -1
			}
			if member = r.Member(name); member == MemberForeign {
				s.Sink.Foreign = append(s.Sink.Foreign, string(name))
			}
		}
		if p = r.ReadMember(member, at, open); p < 0 {
			return -1
		}
		if known == nil && member < Places {
			if typed, valid := r.Type(); typed < 0 || valid {
				s.learnGap(guess, member, from, at, typed > from)
			}
		}
		if member != MemberType { // a type is part of what the next guess compares
			guess, from = nil, p
			if member < Places {
				guess = &s.gaps[member]
			}
		}
		if s.At(p) == '}' {
			return p + 1
		}
	}
}

// gap is the bytes between two values of a row: from its start or the end of the previous value to
// the value of member, which is not 0. Most writers put the same bytes between the values of every
// row, so they are compared as a whole: if they are equal, their grammar needs no check.
type gap struct {
	text    string
	member  byte
	hasType bool // it has a type member
}

// gaps are the last two that began at the same place.
type gaps [2]gap

// knownGap finds the gap at p, if the gaps begin at p.
func (s *Scanner) knownGap(g *gaps, p, from int) *gap {
	if g == nil || p != from {
		return nil
	}
	for i := range g {
		if g[i].member != 0 && s.Has(p, g[i].text) {
			return &g[i]
		}
	}
	return nil
}

// BeginsTyped reports whether a row that begins like the last ones, with a type, seems to be at p.
func (s *Scanner) BeginsTyped(p int) bool {
	g := s.knownGap(&s.gaps[0], p, p)
	return g != nil && g.hasType
}

// learnGap keeps a gap for the next rows.
func (s *Scanner) learnGap(g *gaps, member byte, from, at int, hasType bool) {
	if g != nil && at-from <= maxPredicted {
		g[0], g[1] = gap{text: string(s.Text(from, at)), member: member, hasType: hasType}, g[0]
	}
}

// minPrefix is how many bytes rows must have in common at their beginning for a search to find
// mostly rows.
const minPrefix = 8

// Prefix returns what the last rows began with, or nil if that is too short.
func (s *Scanner) Prefix() []byte {
	a, b := s.gaps[0][0].text, s.gaps[0][1].text
	if b != "" {
		n := 0
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		a = a[:n]
	}
	if len(a) < minPrefix {
		return nil
	}
	return []byte(a)
}
