package gpx

import (
	"bytes"
	"slices"

	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// document reads a whole file.
func (s *scanner) document() bool {
	for !s.X.Prolog() {
		if !s.X.Cut() || !s.Refill(0) {
			return false
		}
	}
	if s.Token() != xmltext.Start {
		return false
	}
	if string(s.X.Local()) != rootName {
		return s.Expect(s.X.At, "", "GPX 1.1, gpx", "the root element <gpx>")
	}
	if version, ok := s.X.Attr("version"); ok {
		s.header.v10 = string(bytes.TrimSpace(version)) == "1.0"
	}
	s.setPrefix()
	s.depth = inRoot
	if s.wanted != "" {
		s.choose(layerOf(s.wanted))
	}
	return s.walk()
}

// setPrefix sets the prefix of the elements of GPX: that of the root, or of a row.
func (s *scanner) setPrefix() {
	s.prefix, s.prefixed = slices.Clone(s.X.Prefix()), true
}

// choose sets the layer to be read.
func (s *scanner) choose(l layer) {
	s.header.layer = l
	if l == noLayer {
		return
	}
	s.setOpening()
	if s.begin != nil {
		s.begin()
	}
}

// setOpening sets how rows of the layer begin.
func (s *scanner) setOpening() {
	prefix := string(s.prefix)
	if prefix != "" {
		prefix += ":"
	}
	s.opening = []byte("<" + prefix + rowElements[s.header.layer].name)
	s.fast = newFast(s.header, prefix)
}

// isOwn reports whether the element whose start tag was read is one of GPX.
func (s *scanner) isOwn() bool { return bytes.Equal(s.X.Prefix(), s.prefix) }

// walk reads the content of elements around rows, from the current place to the end of the file or
// of the requested rows.
func (s *scanner) walk() bool {
	for {
		for s.fastRow() { // the row is in the sink
		}
		switch s.Token() {
		case xmltext.Start:
			if !s.element() {
				return false
			}
			if s.stopped {
				return true
			}
		case xmltext.End:
			if s.depth--; s.depth == 0 && s.sink != nil {
				if _, ok := s.end(s.X.Offset()); !ok {
					return false
				}
			}
		case xmltext.EOF:
			return true
		default:
			if !s.inside || s.Failed != nil || s.X.Fault.Pos < s.N {
				return false
			}
			if again, ok := s.end(s.End); !again {
				return ok
			}
		}
	}
}

// element reads the child of an element around rows, whose start tag was read.
func (s *scanner) element() bool {
	if s.inside && !s.prefixed {
		s.setPrefix()
		s.setOpening()
	}
	if !s.isOwn() {
		return s.Pass(s.X.Depth() - 1)
	}
	name := string(s.X.Local())
	if s.depth == inRoot && s.first == noLayer {
		if first, ok := firstLayer(name); ok {
			if s.first = first; s.wanted == "" && s.header.layer == noLayer {
				s.choose(first)
			}
		}
	}
	if s.header.layer == noLayer {
		return s.Pass(s.X.Depth() - 1)
	}
	switch row := &rowElements[s.header.layer]; {
	case row.depth == s.depth && row.name == name:
		return s.child()
	case s.depth == inRoot && row.path == name:
		s.at.enter()
		s.depth = inPath
		s.noteEntry()
		return true
	case s.depth == inPath && s.header.layer == trackPoints && name == "trkseg":
		s.at.enterSegment()
		s.depth = inSegment
		s.noteEntry()
		return true
	}
	s.misplaced(name)
	return s.Pass(s.X.Depth() - 1)
}

// child reads the row whose start tag was read.
func (s *scanner) child() bool {
	off := s.X.Offset()
	if s.counting {
		if off >= s.stop {
			s.stopped = true
			return true
		}
		s.at.number++
		return s.Pass(s.X.Depth() - 1)
	}
	if s.headBytes > 0 {
		s.stop = off + s.headBytes
		s.headBytes = 0
	}
	if s.chunkEnds(off) {
		m := s.X.TagMark()
		if again, ok := s.end(off); again || !ok {
			return ok
		}
		if off >= s.stop {
			s.X.Rewind(m)
			s.ending.note(s)
			if s.stopped = s.rest == nil; s.stopped {
				return true
			}
			return s.rest()
		}
	}
	s.beginChunk(off)
	return s.readRow(off)
}
