package gml

import (
	"unsafe"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// row is what was read of the current feature so far. Its values are copied to their columns once
// all of it is known to be well-formed.
type row struct {
	ids      [leadingColumns][]byte // nil: it has no such attribute
	values   []value
	property []byte        // the current element: the innermost one that is not a geometry
	in       *step         // the elements around it
	others   []other       // geometries in addition to the one in the builder
	wkb      []byte        // of those
	frame    frame         // of its geometry, unless that has its own
	kind     geoarrow.Kind // of the geometry in the builder
	geometry bool          // the row's own geometry was met
	main     *step         // that holds it
	warned   bool          // an unknown name was counted
	decoded  []byte        // texts outside of the window
}

func (s *scanner) resetRow() {
	r := &s.row
	r.ids, r.values, r.decoded = [leadingColumns][]byte{}, r.values[:0], r.decoded[:0]
	r.frame, r.kind, r.geometry, r.warned = s.frame, geoarrow.NoKind, false, false
	s.arcs.Computed = 0
	r.property, r.in, r.others, r.wkb = nil, nil, r.others[:0], r.wkb[:0]
	s.tolerate()
}

// readRow reads the feature whose start tag was read as a row, and counts it.
func (s *scanner) readRow(off int64) bool {
	s.inRow = true
	m, crs := s.X.TagMark(), s.crs
	for {
		ok := s.readFeature()
		if s.Exceeds(m, ok, s.readAgain) {
			return false
		}
		if ok {
			if s.sink.Rows == 0 {
				s.chunk.From = off
			}
			if s.commit(); s.sink.Refused() {
				return s.Wide(off)
			}
			s.sink.commit(off)
			s.feature++
			s.inRow, s.active = false, false
			return true
		}
		s.sink.rollback()
		dropped := s.restore(crs) // a skipped feature does not establish a system
		switch {
		case s.Failed != nil:
			return false
		case s.X.Cut():
			s.sink.Foresee(off-s.chunk.From, min(s.End, s.stop)-s.chunk.From, s.limits.BatchRows)
			if !s.Again(m) {
				return false
			}
		case s.nulls && !s.active && s.isValueFault():
			s.active = true
			s.X.Rewind(m)
			s.X.Next()
		case s.skipErrors && (!s.OfFile || s.inside) && !s.X.Fault.Depth:
			// earlier faults were not errors of the file
			s.dropped = s.dropped || dropped
			return s.skipRow(m, off)
		default:
			return false
		}
	}
}

// readAgain is readFeature after a fault.
func (s *scanner) readAgain() bool {
	s.sink.rollback()
	return s.readFeature()
}

// skipRow skips a malformed feature, if its XML is well-formed.
func (s *scanner) skipRow(m xmltext.Mark, off int64) bool {
	if !s.Skip(m, off) {
		return false
	}
	s.sink.Skip(off)
	s.feature++
	s.inRow = false
	return true
}

// readFeature reads the feature whose start tag was read, up to its end.
func (s *scanner) readFeature() bool {
	s.resetRow()
	for i := range s.X.Attrs() {
		switch _, local := s.X.AttrName(i); string(local) {
		case "fid":
			s.row.ids[columnFID] = s.keep(s.X.AttrValue(i))
		case "id":
			s.row.ids[columnGMLID] = s.keep(s.X.AttrValue(i))
		}
	}
	return s.properties(false)
}

// properties reads the children of a feature, or of an element inside of one, up to its end.
func (s *scanner) properties(inside bool) bool {
	for {
		switch s.X.Next() {
		case xmltext.End:
			return true
		case xmltext.Start:
			if !s.property(inside) {
				return false
			}
		default:
			return false
		}
	}
}

// property reads an element of a feature, whose start tag was read, up to its end: a value, a
// geometry, or an element that contains such. Geometries should be inside of elements that name
// them, but some writers omit these.
func (s *scanner) property(inside bool) bool {
	name := s.X.Local()
	if k := shapeOf(name); k != noShape && s.holds(inside) {
		return s.propertyGeometry(k)
	}
	if !inside && string(name) == "boundedBy" {
		return s.rowBounds()
	}
	around, in := s.row.property, s.row.in
	s.row.property = name
	e := element{in: in, name: name, at: s.X.P, place: len(s.row.values)}
	if n := s.X.Attrs(); n > 0 {
		s.attributes(&e, n)
	}
	ok := s.content(&e)
	s.row.property, s.row.in = around, in
	return ok
}

// holds reports whether the element whose start tag was read contains an element or, inside of
// another, is empty.
func (s *scanner) holds(inside bool) bool {
	p := s.X.P
	for isBlank(s.At(p)) {
		p++
	}
	return s.At(p) == '<' && (inside || s.At(p+1) != '/' && s.At(s.X.P-2) != '/')
}

// element is an element that may have a value.
type element struct {
	in     *step // the elements around it
	name   []byte
	at     int  // index of its content
	place  int  // of its value among those of the row: before those of its attributes
	null   bool // xsi:nil
	refers bool // it has an xlink:href
}

// content reads the content of an element, up to its end.
func (s *scanner) content(e *element) bool {
	text, ok := s.X.Text()
	if !ok {
		return false
	}
	switch s.X.Next() {
	case xmltext.End:
		return s.leaf(e, text)
	case xmltext.Start:
		s.row.in = s.steps.inside(e.in, e.name)
		return s.property(true) && s.properties(true)
	}
	return false
}

// leaf keeps the text of an element without children.
func (s *scanner) leaf(e *element, text []byte) bool {
	var d *leafElement
	if s.schema != nil {
		d = s.schema.find(s.layer, e.in.path(e.name))
	}
	text = trim(text)
	if len(text) == 0 || e.null {
		if (e.null || !e.refers) && (d == nil || !d.geometry) {
			s.row.add(e)
		}
		return true
	}
	if s.X.InWindow(text) {
		e.at = int(uintptr(unsafe.Pointer(unsafe.SliceData(text))) - uintptr(s.Q))
	}
	v := s.row.add(e)
	v.text = s.keep(text)
	if d == nil || d.promise == nil {
		v.guess()
	} else if !d.promise.read(s, v) {
		s.Expect(e.at, string(e.name), "the .xsd file", d.promise.want)
		if !s.active {
			return false
		}
		v.text, v.kind = nil, isNull
		s.deviate(ruleValueOfType, "value is null")
		s.tolerate()
	}
	return true
}

// add makes a value of an element, in its place.
func (r *row) add(e *element) *value {
	r.values = append(r.values, value{in: e.in, name: e.name})
	if last := len(r.values) - 1; e.place < last {
		copy(r.values[e.place+1:], r.values[e.place:last])
		r.values[e.place] = value{in: e.in, name: e.name}
	}
	return &r.values[e.place]
}

// attributes keeps the attributes of an element that have columns: the unit of a measure, the
// target of a reference.
func (s *scanner) attributes(e *element, n int) {
	for i := range n {
		full, local := s.X.AttrName(i)
		switch string(local) {
		case "uom":
			s.suffixed(e, "_uom", s.X.AttrValue(i))
		case "href":
			e.refers = true
			s.suffixed(e, "_href", s.X.AttrValue(i))
		case "nil":
			says := trim(s.X.AttrValue(i))
			e.null = len(full) > len(local) && (string(says) == "true" || string(says) == "1")
		}
	}
}

// suffixed keeps the value of an attribute of an element.
func (s *scanner) suffixed(e *element, suffix string, text []byte) {
	if len(text) == 0 {
		return
	}
	from := len(s.row.decoded)
	s.row.decoded = append(append(s.row.decoded, e.name...), suffix...)
	v := value{in: e.in, name: s.row.decoded[from:], text: s.keep(text), kind: isText}
	s.row.values = append(s.row.values, v)
}

// keep returns a text of the XML scanner as one that is valid until the row ends. Padding of
// package number is readable after it.
func (s *scanner) keep(b []byte) []byte {
	if s.X.InWindow(b) {
		return b
	}
	var zeros [number.Padding]byte
	from := len(s.row.decoded)
	s.row.decoded = append(append(s.row.decoded, b...), zeros[:]...)
	return s.row.decoded[from : from+len(b)]
}

// trim returns a text without blanks around it.
func trim(text []byte) []byte {
	for len(text) > 0 && isBlank(text[0]) {
		text = text[1:]
	}
	for len(text) > 0 && isBlank(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	return text
}
