package gml

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// place is an element around features.
type place struct {
	collection bool // its children are members, boundedBy and what else; else they are features or collections
	wrapper    bool // it is inside of a root that is not a collection, which may hold one somewhere
}

// isCollection reports the name of a collection: wfs:FeatureCollection,
// wfs:SimpleFeatureCollection, wfs:Tuple.
func isCollection(local []byte) bool {
	return bytes.HasSuffix(local, []byte("FeatureCollection")) || string(local) == "Tuple"
}

// isMember reports the name of an element that holds features or a collection: gml:featureMember,
// gml:featureMembers, wfs:member, wfs:additionalObjects.
func isMember(local []byte) bool {
	const member = "member"
	name := local
	if n := len(local); n > 0 && local[n-1]|0x20 == 's' {
		name = local[:n-1]
	}
	return len(name) >= len(member) && bytes.EqualFold(name[len(name)-len(member):], []byte(member)) ||
		string(local) == "additionalObjects"
}

// isReport reports the root of what a server sends in place of features: OGC 06-121r9 section 8,
// OGC 02-058 section 7.7.
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
// stored query GetFeatureById is (OGC 09-025r2 section 7.9.3.6): it has an identifier, or it holds
// a geometry. Then it is the next element to be read.
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

// restart goes back to the root, which is at an offset.
func (s *scanner) restart(at int64) bool {
	s.X.ResumeIn(&xmltext.Scanner{})
	return s.GoTo(at)
}

// none says that the file, whose root is at an offset, holds no features.
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

// report is the error of an ExceptionReport, whose start tag was read: it quotes what the server
// says.
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

// walk reads what collections and members hold, from the current place on, to the end of the file
// or of the rows that are to be read.
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

// leave ends the innermost place, whose end tag was read. Of a span that is read again the outer
// ones are not known, but that members and collections take turns.
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

// child reads a feature of a member, or passes it if it is not one of the layer that is wanted.
func (s *scanner) child(name []byte) bool {
	s.layers.add(name)
	if s.layer == "" && (s.wanted == "" || s.wanted == string(name)) {
		s.begins(string(name))
	}
	if string(name) != s.layer {
		if s.inside && s.wraps && len(s.places) == 1 { // what is around the first row is not known
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

// begins notes the layer that is read, whose first feature was met.
func (s *scanner) begins(name string) {
	s.layer = name
	s.sink.begin(name)
	if s.headBytes > 0 {
		s.stop = s.X.Offset() + s.headBytes
	}
	tag := s.X.Name()
	s.opening = append(append(s.opening[:0], '<'), tag...)
}

// step is an element in a feature that holds elements. Values in different ones are told apart by
// it.
type step struct {
	way      string // the names of the elements around, and its own, with "/" between
	name     string
	children map[string]*step
	last     *step // the child that was looked for last
}

// longestWay bounds the names in a way. An element that is nested so deep that they are longer
// begins a new one.
const longestWay = 512

// maxSteps bounds how many are kept: a hostile file has one for each element.
const maxSteps = 1 << 14

// steps are those of a file.
type steps struct {
	root  step
	count int
}

// inside returns the element of a name in another one; nil is the feature.
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

// path returns the way to an element of a name; in may be nil.
func (in *step) path(name []byte) []byte {
	if in == nil {
		return name
	}
	return append(append(append(make([]byte, 0, len(in.way)+1+len(name)), in.way...), '/'), name...)
}

// isNamed reports whether the element is the one that the option geometry names: by its own name,
// or with those of the elements around it.
func (in *step) isNamed(option string) bool {
	return in != nil && (in.name == option || in.way == strings.ReplaceAll(option, ".", "/"))
}
