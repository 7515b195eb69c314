package gml

import (
	"slices"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// other is a geometry of a feature that is not the row's own.
type other struct {
	in       *step  // that contains it; nil: the feature itself
	name     []byte // of that, or of the geometry
	from, to int    // its part of the row's WKB; empty: it could not be read
	crs      layerCRS
}

// propertyGeometry reads a geometry of the feature, whose start tag was read, up to its end. The
// row's own is the first one, or that of the property which the option names. The first one of
// every other property has a column of WKB; further ones are skipped and counted.
func (s *scanner) propertyGeometry(k shape) bool {
	in, name := s.row.in, s.row.property
	if in == nil {
		name = s.X.Local()
	}
	switch {
	case !s.row.geometry && (s.main == "" || in.isNamed(s.main)):
		s.row.geometry, s.row.main = true, in
		return s.mainGeometry(k)
	case s.row.hasGeometry(in):
		s.sink.inRow = append(s.sink.inRow, string(name))
		return s.X.Skip()
	}
	return s.otherGeometry(k, in, name)
}

// hasGeometry reports whether a geometry in an element was met.
func (r *row) hasGeometry(in *step) bool {
	return r.geometry && r.main == in || slices.ContainsFunc(r.others, func(o other) bool { return o.in == in })
}

// path returns the path of the element that contains the geometry.
func (o *other) path() []byte {
	if o.in == nil {
		return o.name
	}
	return []byte(o.in.way)
}

// otherGeometry reads a geometry that is not the row's own. One that can't be read is skipped and
// counted.
func (s *scanner) otherGeometry(k shape, in *step, name []byte) bool {
	start, shapes, crs := s.X.TagMark(), s.sink.Shapes, s.crs
	o := other{in: in, name: name, from: len(s.row.wkb)}
	s.crs = layerCRS{}
	s.sink.Geom, s.second = s.second, s.sink.Geom
	s.sink.Geom.Reset()
	kind, ok := s.geometry(k, s.row.frame)
	if ok {
		s.endGeometry(kind)
		s.row.wkb = s.sink.Geom.AppendRow(s.row.wkb)
	}
	s.sink.Geom, s.second = s.second, s.sink.Geom
	o.crs, s.crs = s.crs, crs
	o.to = len(s.row.wkb)
	s.row.others = append(s.row.others, o)
	if ok || !s.isValueFault() {
		return ok
	}
	s.sink.Shapes = shapes
	s.tolerate()
	s.X.Rewind(start)
	return s.X.Next() == xmltext.Start && s.X.Skip()
}

// addOther puts a geometry into its column, unless its system differs from the layer's. The first
// system becomes the layer's.
func (s *scanner) addOther(o *other) {
	k := s.sink
	if !s.crs.set && o.crs.set {
		s.crs = o.crs
	}
	if o.from == o.to || o.crs.set && o.crs.crs != s.crs.crs {
		k.inRow = append(k.inRow, string(o.name))
		return
	}
	c := k.shape(o.path())
	c.Pad(k.Rows)
	if c.Unread {
		c.Pass()
		return
	}
	c.Accept(geoarrow.FactString)
	c.Text = append(c.Text, s.row.wkb[o.from:o.to]...)
	c.EndText()
}
