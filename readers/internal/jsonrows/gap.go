package jsonrows

// Places is how many places of a row have gaps of their own. Those of place 0 begin with the row.
const Places = 4

// Gap is the bytes between two values of a row: from its start or the end of the previous value to
// the value of Member, which is not 0. Most writers put the same bytes between the values of every
// row, so they are compared as a whole: if they are equal, their grammar needs no check.
type Gap struct {
	Text    string
	Member  byte
	HasType bool // it has a type member
}

// Gaps are the last two that began at the same place.
type Gaps [2]Gap

// KnownGap finds the gap at p, if the gaps begin at p.
func (s *Scanner) KnownGap(g *Gaps, p, from int) *Gap {
	if g == nil || p != from {
		return nil
	}
	for i := range g {
		if g[i].Member != 0 && s.Has(p, g[i].Text) {
			return &g[i]
		}
	}
	return nil
}

// LearnGap keeps a gap for the next rows.
func (s *Scanner) LearnGap(g *Gaps, member byte, from, at int, hasType bool) {
	if g != nil && at-from <= maxPredicted {
		g[0], g[1] = Gap{Text: string(s.Text(from, at)), Member: member, HasType: hasType}, g[0]
	}
}

// minPrefix is how many bytes rows must have in common at their beginning for a search to find
// mostly rows.
const minPrefix = 8

// Prefix returns what the last rows began with, or nil if that is too short.
func (s *Scanner) Prefix() []byte {
	a, b := s.Gaps[0][0].Text, s.Gaps[0][1].Text
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
