package jsonrows

import (
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/window"
)

// RecordSeparator may precede each value of a sequence (RFC 8142 section 2).
const RecordSeparator = 0x1E

// OnlyBlanks reads the rest of the file after p.
func (s *Scanner) OnlyBlanks(p int, after string) bool {
	if p < 0 {
		return false
	}
	if p = s.Blank(p); p < 0 {
		return false
	}
	if p < s.N {
		s.Wrong(p, "", "RFC 8259 section 2", "bytes after "+after)
		return false
	}
	return true
}

// Where an array of rows is being read.
const (
	arrayStart = iota // before the first row, or the end
	arrayRow          // before a row
	arrayComma        // before a comma, or the end
)

// Array reads rows from p, after the opening bracket, through the closing one.
func (s *Scanner) Array(p int) int {
	if p = s.array(p, arrayStart); s.Stopped {
		return s.Rest()
	}
	return p
}

// Sequence reads rows, one after the other, from p to the end of the file. Unless sequence is set,
// the second one must be on a new line or after a record separator.
func (s *Scanner) Sequence(p int, sequence bool) bool {
	ok := s.values(p, sequence)
	if s.Stopped {
		return s.Rest() >= 0
	}
	return ok
}

// Span reads the rows of one chunk again.
func (s *Scanner) Span() bool {
	s.State, s.Inside = UnpackState(s.Request.Span.State), true
	if s.InSequence {
		return s.values(0, true)
	}
	return s.array(0, arrayStart) >= 0
}

// array reads rows from p through the closing bracket of their array, or up to a row at which to
// stop.
func (s *Scanner) array(p, state int) int {
	for {
		if p = s.Blank(p); p < 0 {
			return -1
		}
		closed := s.At(p) == ']' && (state != arrayRow || s.Repairs)
		switch {
		case state == arrayComma && s.At(p) == ',':
			state = arrayRow
			p++
			continue
		case closed, state != arrayStart && s.spanEnds(p), state != arrayComma && s.chunkEnds(p):
			next, again := s.end(p)
			switch {
			case again:
				p, state = next, arrayRow
				continue
			case next < 0:
				return -1
			case closed:
				if state == arrayRow {
					s.Sum.Deviations.Add(readers.Deviation{
						Offset: s.Base + int64(p), Row: s.RowNumber,
						Rule: RuleComma, Done: "left out",
					})
				}
				return p + 1
			case s.stops(p) || s.spanEnds(p):
				return p
			}
		case state == arrayComma:
			// an earlier row may still turn out to be malformed
			if again, first := s.again(); again && s.Failure == nil {
				p, state = first, arrayRow
				continue
			}
			return s.Fail(p, `"," or "]" after a `+s.Row)
		}
		s.begin(p)
		next := s.row(p)
		if next >= 0 {
			p, state = next, arrayComma
			continue
		}
		again, first := s.again()
		if !again || s.Failure != nil {
			return -1
		}
		p, state = first, arrayRow
	}
}

// spanEnds reports whether a span that is read again ends here.
func (s *Scanner) spanEnds(p int) bool { return s.Inside && p >= s.N && s.EOF }

// values reads rows from p to the end of the file, or up to one at which to stop. Unless sequence is
// set, the second one must be on a new line or after a record separator.
func (s *Scanner) values(p int, sequence bool) bool {
	for {
		before := s.Base + int64(p)
		if p = s.Blank(p); p < 0 {
			return false
		}
		last := p >= s.N
		if !last && !sequence && s.RowNumber > 0 {
			if sequence = s.separated(before, s.Base+int64(p)); !sequence {
				if again, first := s.again(); again && s.Failure == nil {
					p = first
					continue
				}
				s.Wrong(p, "", "RFC 8259 section 2", "a second root value on the line of the first")
				return false
			}
		}
		if last || s.chunkEnds(p) {
			next, again := s.end(p)
			switch {
			case again:
				p = next
				continue
			case next < 0:
				return false
			case last || s.stops(p):
				return true
			}
		}
		s.begin(p)
		next := s.row(p)
		if next >= 0 {
			p = next
			continue
		}
		again, first := s.again()
		if !again || s.Failure != nil {
			return false
		}
		p = first
	}
}

// separated reports whether the blanks of the file from offset a to b have a line feed, a carriage
// return or a record separator.
func (s *Scanner) separated(a, b int64) bool {
	buf := make([]byte, min(b-a, window.Bytes))
	for ; a < b; a += int64(len(buf)) {
		buf = buf[:min(b-a, int64(len(buf)))]
		if n, err := s.Src.ReadAt(buf, a); n < len(buf) {
			s.Failure = err
			return false
		}
		if slices.ContainsFunc(buf, func(c byte) bool { return c == '\n' || c == '\r' || c == RecordSeparator }) {
			return true
		}
	}
	return false
}

// Places reads the rows at ascending offsets of the file, with other text between them.
func (s *Scanner) Places(offsets []int64) bool {
	for i := 0; ; i++ {
		p, last := 0, i == len(offsets)
		switch {
		case !last:
			p = s.MoveTo(offsets[i])
		case i > 0:
			p = s.MoveTo(s.rowsEnd)
		}
		if p < 0 {
			s.Failure = s.Window.Err
			return false
		}
		if last || s.chunkEnds(p) {
			next, again := s.end(p)
			switch {
			case again:
				i = slices.Index(offsets, s.Base+int64(next)) - 1
				continue
			case next < 0 || last:
				return next >= 0
			}
		}
		s.begin(p)
		if next := s.row(p); next >= 0 {
			s.rowsEnd = s.Base + int64(next)
			continue
		}
		again, first := s.again()
		if !again || s.Failure != nil {
			return false
		}
		i = slices.Index(offsets, s.Base+int64(first)) - 1
	}
}
