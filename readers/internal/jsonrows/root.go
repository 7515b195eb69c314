package jsonrows

import "github.com/vibeflight/vibeflight/readers"

// markBytes is the length of a byte order mark, which a window must not cut.
const markBytes = 3

// Begin goes to the first value of a file, after a byte order mark and blanks. rule is what says
// that files of the format are UTF-8.
func (s *Scanner) Begin(format, rule string) int {
	p := 0
	for s.N < markBytes && !s.EOF {
		if s.Refill(0) < 0 {
			return -1
		}
	}
	if s.Has(p, "\xEF\xBB\xBF") {
		p = markBytes
	}
	if s.utf16() {
		return s.Wrong(0, "", rule, "the file is UTF-16; "+format+" is UTF-8")
	}
	return s.Blank(p)
}

// utf16 reports whether the file begins with a byte order mark of UTF-16, or with a first character
// in UTF-16.
func (s *Scanner) utf16() bool {
	if s.N < 2 {
		return false
	}
	a, b := s.At(0), s.At(1)
	return a == 0xFF && b == 0xFE || a == 0xFE && b == 0xFF || a == 0 && b != 0 || a != 0 && b == 0
}

// Root reads the object at p, whose members may be of any size. It calls each with the name and the
// place of the value of every member; each returns the index after the value, or -1. Root returns
// the index of the closing bracket, or -1.
func (s *Scanner) Root(p int, each func(name string, at int) int) int {
	p++
	for first := true; ; first = false {
		if p = s.rootComma(p, first); p < 0 || s.At(p) == '}' {
			return p
		}
		var name string
		p = s.Complete(p, func(p int) int {
			text, end := s.Key(p)
			name = string(text)
			return end
		})
		if p < 0 {
			return -1
		}
		if p = each(name, p); p < 0 {
			return -1
		}
	}
}

// rootComma skips the comma before every member except the first, and returns the index of the next
// key or of the closing bracket.
func (s *Scanner) rootComma(p int, first bool) int {
	if p = s.Blank(p); p < 0 || first || s.At(p) == '}' {
		return p
	}
	if s.At(p) != ',' {
		return s.Fail(p, `"," or "}"`)
	}
	if p = s.Blank(p + 1); p >= 0 && s.At(p) == '}' {
		return s.Fail(p, "a key in quotes")
	}
	return p
}

// SkipMember skips the value at p of a member of the root object.
func (s *Scanner) SkipMember(p int) int {
	return s.ReadRoot(p, func(p int) int { return s.Skip(p, 1) })
}

// ReadRoot calls read for the value at p of a member of the root object, until the window holds
// it. Under on_error: repair a value that is not JSON is read as the JSON that it obviously is.
func (s *Scanner) ReadRoot(p int, read func(p int) int) int {
	return s.Complete(p, func(p int) int {
		end := read(p)
		if end >= 0 || !s.Repairs || s.Cut() || s.Failure != nil {
			return end
		}
		why := s.Fault
		end = s.LooseSkip(p)
		if end < 0 && s.Cut() {
			return -1
		}
		if end >= 0 && s.Loosened >= 0 {
			written, done, ok := Rewrite(s.Text(p, end), nil)
			if ok && s.In(written, func() bool { return read(0) == len(written) }) {
				if end >= s.N && !s.EOF { // it is read again
					return end
				}
				s.Sum.Deviations.Add(readers.Deviation{
					Offset: s.Base + int64(why.Pos), Row: s.RowNumber, Rule: RuleSpelling, Done: done,
				})
				return end
			}
		}
		s.Fault = why
		return -1
	})
}
