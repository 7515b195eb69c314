// Package xmlfile reads an XML file of any size, tag by tag or element by element, through a window
// that moves over it. KML and GML use it.
//
// It knows windows and the markup of XML, but no format: the parser decides what an element means,
// and which of them are features.
package xmlfile

import (
	"bytes"
	"context"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/window"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Scanner is an xmltext.Scanner over the windows of a file. If its methods, or those of a parser
// that embeds it, return false, X.Fault has the defect of the text, or Failed another error.
type Scanner struct {
	window.Window
	X      xmltext.Scanner
	Field  string // that a fault concerns
	OfFile bool   // a fault is one of the file, not of the current feature
	Failed error  // of the window or of the parser's other work: not a fault of the text here

	wide       bool // the fault is that a row has one column too many
	maxColumns int
}

// Begin reads from an offset on, like Window.Open. The rows to be read begin before soft.
func (s *Scanner) Begin(ctx context.Context, src *source.File, from, soft, end int64, limits *readers.Limits,
	step int,
) bool {
	s.Failed = nil
	if !s.Open(ctx, src, from, soft, end, limits.MaxFeatureBytes, step) {
		s.Failed = s.Err
		return false
	}
	s.wide, s.maxColumns = false, limits.MaxColumns
	s.X.MaxDepth, s.X.Most = limits.MaxDepth, int(limits.MaxFeatureBytes)
	s.Show()
	return true
}

// Show returns the window to X.
func (s *Scanner) Show() { s.X.Window(s.Q, s.N, s.Base, s.EOF) }

// Refill reads more of the file after index keep, which becomes index 0.
func (s *Scanner) Refill(keep int) bool {
	if !s.Fill(keep) {
		s.Failed = s.Err
		return false
	}
	s.Show()
	return true
}

// GoTo goes to an offset at which the elements are open that X has.
func (s *Scanner) GoTo(off int64) bool {
	p := s.MoveTo(off)
	if p < 0 {
		s.Failed = s.Err
		return false
	}
	s.Show()
	s.X.P = p
	return true
}

// Find moves from the first byte of the window to the next that look like the beginning of an
// element: opening, "<" with a name, and a byte that ends that name. They may be in a comment or a
// CDATA section. It returns false, perhaps with Failed set, if none begin before stop.
func (s *Scanner) Find(opening []byte, stop int64) bool {
	for p := 0; s.Base+int64(p) < stop; {
		at := bytes.Index(s.Window.Text(p, s.N), opening)
		if at < 0 {
			p = max(p, s.N-len(opening)+1)
		} else {
			p += at
		}
		s.X.P = p
		if at < 0 || p+len(opening) == s.N {
			if s.EOF || !s.Refill(p) {
				return false
			}
			p = 0
			continue
		}
		switch s.At(p + len(opening)) {
		case ' ', '\t', '\r', '\n', '>', '/':
			return s.Base+int64(p) < stop
		}
		p++
	}
	return false
}

// Token reads the next tag, over any number of windows.
func (s *Scanner) Token() xmltext.Token {
	for {
		t := s.X.Next()
		if t != xmltext.Fault || !s.X.Cut() || !s.Refill(s.X.P) {
			return t
		}
	}
}

// Pass reads on until n elements are open, over any number of windows.
func (s *Scanner) Pass(depth int) bool {
	for !s.X.Pass(depth) {
		if !s.X.Cut() || !s.Refill(s.X.P) {
			return false
		}
	}
	return true
}

// Unit reads the element whose start tag was read with do, once the window holds all of it.
func (s *Scanner) Unit(do func() bool) bool {
	m := s.X.TagMark()
	for {
		ok := do()
		if s.Exceeds(m, ok, do) {
			return false
		}
		if ok || s.Failed != nil || !s.X.Cut() {
			return ok
		}
		if !s.Again(m) {
			return false
		}
	}
}

// Again fills the window from a start tag on, and reads that once more.
func (s *Scanner) Again(m xmltext.Mark) bool {
	if !s.Refill(m.Index(&s.X)) {
		return false
	}
	s.X.Rewind(m)
	return s.X.Next() == xmltext.Start || s.X.Cut() && s.Again(m)
}

// Exceeds refuses the element at m if it is longer than --max-feature-bytes, wherever windows end:
// one that do read, or in which it met a fault.
func (s *Scanner) Exceeds(m xmltext.Mark, read bool, do func() bool) bool {
	at, end := m.Index(&s.X), s.X.P
	if !read {
		end = s.N
	}
	if s.Failed != nil || int64(end-at) <= s.Most {
		return false
	}
	if !read && !s.X.Cut() && !s.X.Fault.Long && s.withinMax(at, m, do) {
		return false
	}
	s.Failed = s.TooLong(at)
	return true
}

// withinMax reports whether a fault of the element at m, whose index is at, shows within the bytes
// that it may have: do meets it again in a window of no more.
func (s *Scanner) withinMax(at int, m xmltext.Mark, do func() bool) bool {
	fault, field, ofFile, n, eof := s.X.Fault, s.Field, s.OfFile, s.N, s.EOF
	s.N, s.EOF = at+int(s.Most), false
	padding := s.Text(s.N, s.N+xmltext.Padding)
	kept := slices.Clone(padding)
	clear(padding)
	s.Show()
	s.X.Rewind(m)
	shows := s.X.Next() == xmltext.Start && !do() && !s.X.Cut()
	copy(padding, kept)
	s.N, s.EOF = n, eof
	s.Show()
	s.X.Fault, s.Field, s.OfFile = fault, field, ofFile
	return shows
}

// Skip passes the element at m, which begins at offset off and has a fault, if its XML at least is
// well-formed. If not, the first of both faults is told.
func (s *Scanner) Skip(m xmltext.Mark, off int64) bool {
	why, field, at := s.X.Fault, s.Field, s.Base+int64(s.X.Fault.Pos)
	s.Field = ""
	s.X.Rewind(m)
	if s.Token() != xmltext.Start || !s.Pass(s.X.Depth()-1) {
		if s.Failed == nil && s.X.Fault.Long {
			s.Failed = s.TooLong(int(off - s.Base))
		} else if s.Failed == nil && at < s.Base+int64(s.X.Fault.Pos) {
			why.Pos = int(at - s.Base)
			s.X.Fault, s.Field = why, field
		}
		return false
	}
	if s.Base+int64(s.X.P)-off > s.Most {
		s.Failed = s.TooLong(int(off - s.Base))
		return false
	}
	return true
}
