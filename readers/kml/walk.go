package kml

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
	if string(s.local(rootNames)) != "kml" {
		return s.Expect(s.X.At, "", "KML 2.3, root element", "the root element <kml>")
	}
	s.containers = append(s.containers, container{})
	return s.walk()
}

// walk reads the content of containers, from the current place to the end of the file or of the
// requested rows.
func (s *scanner) walk() bool {
	for {
		switch s.Token() {
		case xmltext.Start:
			if !s.element() {
				return false
			}
			if s.stopped {
				return true
			}
		case xmltext.End:
			if !s.leave() {
				return false
			}
			if s.part && len(s.containers) == 0 { // other workers read what follows
				return true
			}
		case xmltext.EOF:
			return true
		default:
			if !s.inside || s.Failed != nil || len(s.containers) > 1 || s.X.Fault.Pos < s.N {
				return false
			}
			if again, ok := s.end(s.End); !again {
				return ok
			}
		}
	}
}

// leave ends the innermost container, whose end tag was read.
func (s *scanner) leave() bool {
	n := len(s.containers) - 1
	if s.containers[n].chosen {
		if again, ok := s.end(s.X.Offset()); again || !ok {
			return ok
		}
	}
	s.containers = s.containers[:n]
	return true
}

// element reads the child of a container whose start tag was read.
func (s *scanner) element() bool {
	c := &s.containers[len(s.containers)-1]
	name := s.X.Local()
	if s.repairs {
		name = s.containerName(name)
	}
	switch string(name) {
	case "Document", "Folder":
		s.containers = append(s.containers, container{folder: string(name) == "Folder"})
		return true
	case "name":
		if c.numbered {
			break
		}
		return s.Unit(func() bool {
			text, _, ok := s.X.Value()
			if ok {
				c.name = string(bytes.TrimSpace(text))
			}
			return ok
		})
	case "Schema":
		if s.found {
			break
		}
		if !s.Unit(s.schema) {
			return false
		}
		s.header = s.Base + int64(s.X.P)
		return true
	case "Placemark", "GroundOverlay":
		return s.child(c)
	case "NetworkLink":
		return s.networkLink()
	default:
		s.passedOver(name)
	}
	return s.Pass(s.X.Depth() - 1)
}

// containerName returns the right spelling of the name of a container's child. That of a feature is
// counted with its row.
func (s *scanner) containerName(name []byte) []byte {
	right := containerNames.spelled(name)
	if right == "" {
		return name
	}
	if right != "Placemark" && right != "GroundOverlay" {
		s.deviate(s.X.At, "", ruleCase, "read as "+right)
	}
	return []byte(right)
}

// passedOver notes an element of a container that is skipped because its name differs in case from
// that of a container or a feature.
func (s *scanner) passedOver(name []byte) {
	for _, right := range [...]string{"Placemark", "Folder", "Document", "GroundOverlay"} {
		if len(name) == len(right) && bytes.EqualFold(name, []byte(right)) {
			s.deviate(s.X.At, "", ruleCase, doneNotRead)
		}
	}
}

// networkLink counts the NetworkLink whose start tag was read, and notes its target.
func (s *scanner) networkLink() bool {
	depth := s.X.Depth()
	href := ""
	for s.X.Depth() >= depth {
		switch s.Token() {
		case xmltext.Start:
			name := s.local(linkNames)
			switch at := s.X.Depth() - depth; {
			case at == 1 && (string(name) == "Link" || string(name) == "Url"): // its href is inside
			case at == 2 && string(name) == "href":
				if !s.Unit(func() bool {
					text, _, ok := s.X.Value()
					href = string(bytes.TrimSpace(text))
					return ok
				}) {
					return false
				}
			default:
				if !s.Pass(s.X.Depth() - 1) {
					return false
				}
			}
		case xmltext.End:
		default:
			return false
		}
	}
	s.asides.links.Add("NetworkLink", href)
	return true
}

// child reads a feature of a container, or skips it if it is not in the requested layer.
func (s *scanner) child(c *container) bool {
	if !s.headerOnly && !c.numbered {
		s.number(c)
	}
	if !c.chosen {
		return s.Pass(s.X.Depth() - 1)
	}
	off := s.X.Offset()
	if s.chunkEnds(off) {
		m := s.X.TagMark()
		if again, ok := s.end(off); again || !ok {
			return ok
		}
		if off >= s.stop {
			s.X.Rewind(m)
			if s.stopped = s.rest == nil; s.stopped {
				return true
			}
			return s.rest()
		}
	}
	s.begin(off)
	return s.readRow(off)
}

// number makes a container a layer at its first feature. A part notes only the container's name,
// since it does not know the number of earlier layers.
func (s *scanner) number(c *container) {
	c.numbered = true
	name := c.name
	if name == "" && !c.folder {
		name = s.stem
	}
	if s.part {
		s.layers.raw = append(s.layers.raw, name)
		return
	}
	name = s.layers.add(name)
	if s.inside || s.found || s.wanted != "" && s.wanted != name {
		return
	}
	c.chosen, s.found = true, true
	prefix := s.X.Prefix()
	if len(prefix) > 0 {
		prefix = append(slices.Clone(prefix), ':')
	}
	s.opening = append(append([]byte{'<'}, prefix...), "Placemark"...)
	if s.headBytes > 0 {
		s.stop = s.X.Offset() + s.headBytes
	}
	s.X.Rewind(s.X.TagMark())
	s.home.ResumeIn(&s.X)
	s.X.Next()
}
