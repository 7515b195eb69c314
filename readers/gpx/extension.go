package gpx

import "github.com/vibeflight/vibeflight/readers/internal/xmltext"

// link reads the link whose start tag was read. The third and later ones of a row have columns as
// soon as a row has them.
func (s *scanner) link() bool {
	s.row.links++
	n := s.row.links
	if href, ok := s.X.Attr("href"); ok {
		s.setLink(n, columnLink1Href, "href", s.keep(href))
	}
	return s.children(func() bool {
		part, c := string(s.X.Local()), noColumn
		switch part {
		case "text":
			c = columnLink1Text
		case "type":
			c = columnLink1Type
		default:
			return s.foreign()
		}
		b, _, ok := s.text(false)
		if ok && len(b) > 0 {
			s.setLink(n, c, part, b)
		}
		return ok
	})
}

// setLink sets a part of the n-th link, whose column in the first link is c.
func (s *scanner) setLink(n int, c column, part string, text []byte) {
	if c += column(n-1) * (columnLink2Href - columnLink1Href); n <= 2 {
		s.row.set(c, value{text: text})
		return
	}
	s.row.extras = append(s.row.extras, extra{element: linkElement(n, part), text: text, markup: true})
}

// extensions reads the extensions element whose start tag was read: each of its children has a
// column.
func (s *scanner) extensions() bool { return s.children(s.extension) }

// extension reads the element of a program whose start tag was read. If it has elements, its value is
// its content as written.
func (s *scanner) extension() bool {
	if s.leaves {
		return s.leaf()
	}
	name := s.keep(s.X.Name())
	b, markup, ok := s.X.Value()
	if ok {
		s.row.extras = append(s.row.extras, extra{element: name, text: s.keep(b), markup: markup})
	}
	return ok
}

// leaf reads the element of a program whose start tag was read, or the elements in it: those that have
// no elements have values.
func (s *scanner) leaf() bool {
	name := s.keep(s.X.Name())
	text, ok := s.X.Text()
	if !ok {
		return false
	}
	e := extra{element: name, text: s.keep(text)}
	for first := true; ; first = false {
		switch s.X.Next() {
		case xmltext.End:
			if first {
				s.row.extras = append(s.row.extras, e)
			}
			return true
		case xmltext.Start:
			if !s.leaf() {
				return false
			}
		default:
			return false
		}
	}
}
