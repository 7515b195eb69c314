package gml

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// place is an element around features.
type place struct {
	collection bool // its children are members, boundedBy and others; else they are features or collections
	wrapper    bool // it is inside of a root that is not a collection, but may contain one
}

// isCollection reports whether a name is that of a collection: wfs:FeatureCollection,
// wfs:SimpleFeatureCollection, wfs:Tuple.
func isCollection(local []byte) bool {
	return bytes.HasSuffix(local, []byte("FeatureCollection")) || string(local) == "Tuple"
}

// isMember reports whether a name is that of an element that contains features or a collection:
// gml:featureMember, gml:featureMembers, wfs:member, wfs:additionalObjects.
func isMember(local []byte) bool {
	const member = "member"
	name := local
	if n := len(local); n > 0 && local[n-1]|0x20 == 's' {
		name = local[:n-1]
	}
	return len(name) >= len(member) && bytes.EqualFold(name[len(name)-len(member):], []byte(member)) ||
		string(local) == "additionalObjects"
}

// isReport reports whether a root is that of a server's error report: OGC 06-121r9 section 8, OGC
// 02-058 section 7.7.
func isReport(local []byte) bool {
	return string(local) == "ExceptionReport" || string(local) == "ServiceExceptionReport"
}

// document reads a whole file.
func (s *scanner) document() bool {
	s.frame = frame{system: &system{swapped: s.names.axes == swappedAxes}}
	for !s.X.Prolog() {
		if !s.X.Cut() || !s.Refill(0) {
			return false
		}
	}
	if s.Token() != xmltext.Start {
		return false
	}
	root := string(s.X.Local())
	if isReport([]byte(root)) {
		return s.report()
	}
	at := s.X.Offset()
	s.names.fme = s.isFME()
	s.wraps = !isCollection([]byte(root))
	s.places = append(s.places, place{collection: true})
	if !s.walk() {
		return false
	}
	if len(s.layers.names) > 0 || s.membered || !s.wraps || s.onlyHead {
		return true
	}
	switch is, ok := s.isFeature(at); {
	case !ok:
		return false
	case !is:
		return s.none(at, root)
	}
	s.places = append(s.places[:0], place{})
	return s.walk()
}

// isFeature reports whether the root, which is at an offset, is a feature, as the answer to the
// stored query GetFeatureById is (OGC 09-025r2 section 7.9.3.6): it has an identifier or contains a
// geometry. Then it is the next element to be read.
func (s *scanner) isFeature(at int64) (is, ok bool) {
	if s.Base+int64(s.N)-at > s.limits.MaxFeatureBytes || !s.restart(at) {
		return false, s.Failed == nil
	}
	if s.Token() != xmltext.Start || shapeOf(s.X.Local()) != noShape {
		return false, s.Failed == nil
	}
	for i := range s.X.Attrs() {
		full, local := s.X.AttrName(i)
		is = is || string(local) == "fid" || string(local) == "id" && len(full) > len(local)
	}
	for !is {
		switch s.Token() {
		case xmltext.Start:
			is = shapeOf(s.X.Local()) != noShape && s.X.Depth() > 1
		case xmltext.End:
		default:
			return false, s.Failed == nil
		}
	}
	return true, s.restart(at)
}

// restart moves back to the root, which is at an offset.
func (s *scanner) restart(at int64) bool {
	s.X.ResumeIn(&xmltext.Scanner{})
	return s.GoTo(at)
}

// none returns the error for a file, whose root is at an offset, without features.
func (s *scanner) none(at int64, root string) bool {
	if s.MoveTo(at) < 0 {
		s.Failed = s.Err
		return false
	}
	s.Show()
	return s.Wrong(int(at-s.Base), "", "", fmt.Sprintf(
		"no features: <%s> is no FeatureCollection and has no featureMember, featureMembers or member", root,
	))
}

// report sets the error for an ExceptionReport, whose start tag was read, with the server's text.
func (s *scanner) report() bool {
	const maxQuoted = 300
	m := s.X.TagMark()
	var said []string
	ok := s.Unit(func() bool {
		said = said[:0]
		around := s.X.Depth() - 1
		for {
			text, ok := s.X.Text()
			if !ok {
				return false
			}
			if words := bytes.Join(bytes.Fields(text), []byte{' '}); len(words) > 0 {
				said = append(said, string(words))
			}
			t := s.X.Next()
			for t == xmltext.End && s.X.Depth() > around {
				t = s.X.Next()
			}
			if t != xmltext.Start {
				return t == xmltext.End
			}
		}
	})
	if !ok {
		return false
	}
	text := strings.Join(said, "; ")
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + " …"
	}
	return s.wrongFile(m.Index(&s.X), "", "", "the server sent an exception in place of features: "+text)
}

// walk reads the content of collections and members, from the current place to the end of the file
// or of the requested rows.
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
			s.leave()
		case xmltext.EOF:
			if again, ok := s.end(s.Base + int64(s.N)); !again {
				return ok
			}
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

// leave ends the innermost place, whose end tag was read. In a span that is read again, the outer
// ones are unknown, except that members and collections alternate.
func (s *scanner) leave() {
	n := len(s.places) - 1
	if s.inside && n == 0 {
		s.places[0] = place{collection: !s.places[0].collection}
		return
	}
	s.places = s.places[:n]
}

// element reads the child of a collection or a member whose start tag was read.
func (s *scanner) element() bool {
	name := s.X.Local()
	if in := s.places[len(s.places)-1]; !in.collection {
		switch {
		case isCollection(name):
			s.places = append(s.places, place{collection: true})
			return true
		case in.wrapper:
			s.places = append(s.places, in)
			return true
		}
		return s.child(name)
	}
	switch {
	case isMember(name):
		s.membered, s.stopped = true, s.onlyHead
		s.places = append(s.places, place{})
		return true
	case isReport(name):
		return s.report()
	case string(name) == "boundedBy" && len(s.places) == 1 && !s.membered && !s.inside && !s.part:
		return s.Unit(func() bool { return s.boundedBy(&s.frame) })
	case s.wraps && (len(s.places) == 1 || s.inside):
		s.places = append(s.places, place{wrapper: true})
		return true
	}
	return s.Pass(s.X.Depth() - 1)
}

// child reads a feature of a member, or skips it if it is not in the requested layer.
func (s *scanner) child(name []byte) bool {
	s.layers.add(name)
	if s.layer == "" && (s.wanted == "" || s.wanted == string(name)) {
		s.begins(string(name))
	}
	if string(name) != s.layer {
		if s.inside && s.wraps && len(s.places) == 1 { // the context of the first row is unknown
			s.places = append(s.places, place{wrapper: true})
			return true
		}
		return s.Pass(s.X.Depth() - 1)
	}
	off := s.X.Offset()
	if s.chunkEnds(off) {
		m := s.X.TagMark()
		if off >= s.stop {
			s.ending.save(s)
		}
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

// begins notes the layer that is read, at its first feature.
func (s *scanner) begins(name string) {
	s.layer = name
	s.sink.begin(name)
	if s.headBytes > 0 {
		s.stop = s.X.Offset() + s.headBytes
	}
	tag := s.X.Name()
	s.opening = append(append(s.opening[:0], '<'), tag...)
}

// step is an element of a feature that contains elements. It distinguishes values in different
// elements.
type step struct {
	way      string // the names of the enclosing elements and its own, joined by "/"
	name     string
	children map[string]*step
	last     *step // the child that was last looked up
}

// longestWay bounds the names in a path. A deeper element begins a new path.
const longestWay = 512

// maxSteps bounds the steps that are kept: a hostile file has one for each element.
const maxSteps = 1 << 14

// steps are those of a file.
type steps struct {
	root  step
	count int
}

// inside returns the element of a name inside of another one; nil is the feature.
func (t *steps) inside(in *step, name []byte) *step {
	if in == nil {
		in = &t.root
	}
	if in.last != nil && in.last.name == string(name) {
		return in.last
	}
	child := in.children[string(name)]
	if child == nil {
		if t.count++; t.count > maxSteps {
			*t = steps{count: 1}
		}
		child = &step{name: string(name)}
		if child.way = child.name; in.way != "" && len(in.way)+len(name) < longestWay {
			child.way = in.way + "/" + child.name
		}
		if in.children == nil {
			in.children = map[string]*step{}
		}
		in.children[child.name] = child
	}
	in.last = child
	return child
}

// path returns the path of an element of a name; in may be nil.
func (in *step) path(name []byte) []byte {
	if in == nil {
		return name
	}
	return append(append(append(make([]byte, 0, len(in.way)+1+len(name)), in.way...), '/'), name...)
}

// isNamed reports whether the option geometry names the element, by its own name or by its path.
func (in *step) isNamed(option string) bool {
	return in != nil && (in.name == option || in.way == strings.ReplaceAll(option, ".", "/"))
}
