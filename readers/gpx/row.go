package gpx

import (
	"math/bits"
	"slices"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/temporal"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// row is what was read of the current row so far. Its values are copied to their columns once all of
// it is known to be well-formed.
type row struct {
	leading [leadingColumns]value
	present uint32 // bits of those that are set
	time    temporal.Value
	extras  []extra
	links   int
	invalid bool   // the geometry is null
	decoded []byte // texts outside of the window
}

// value is one value of a row.
type value struct {
	text []byte
	num  number.Num // of a number
}

// extra is a value without a leading column: of an element of extensions, or of a link.
type extra struct {
	element []byte
	text    []byte
	markup  bool // it has elements
	column  *rows.Column
}

func (r *row) reset() {
	r.present, r.links, r.invalid = 0, 0, false
	r.extras, r.decoded = r.extras[:0], r.decoded[:0]
}

// set sets the value of a leading column.
func (r *row) set(c column, v value) {
	r.leading[c] = v
	r.present |= 1 << c
}

// readRow reads the row whose start tag was read, and counts it.
func (s *scanner) readRow(off int64) bool {
	s.inRow, s.Field = true, ""
	s.at.number++
	m := s.X.TagMark()
	for {
		ok := s.readFeature()
		if s.Exceeds(m, ok, s.readAgain) {
			return false
		}
		if ok {
			return s.commit(off)
		}
		s.sink.rollback()
		switch {
		case s.Failed != nil:
			return false
		case s.X.Cut():
			s.sink.Foresee(off-s.chunk.From, min(s.End, s.stop)-s.chunk.From, s.limits.BatchRows)
			if !s.Again(m) {
				return false
			}
		case s.skipErrors && !s.X.Fault.Depth:
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

// skipRow skips a malformed row, if its XML is well-formed.
func (s *scanner) skipRow(m xmltext.Mark, off int64) bool {
	if !s.Skip(m, off) {
		return false
	}
	s.sink.Skip(off)
	s.feature++
	s.inRow = false
	return true
}

// readFeature reads the row whose start tag was read, up to its end.
func (s *scanner) readFeature() bool {
	s.row.reset()
	s.Field = ""
	switch s.header.layer {
	case routes:
		return s.route()
	case tracks:
		return s.track()
	}
	return s.point()
}

// commit ends the row at an offset and copies its values to their columns.
func (s *scanner) commit(off int64) bool {
	k, r := s.sink, &s.row
	if k.Rows == 0 {
		s.chunk.From = off
		s.firstState = s.state(s.at)
	}
	if s.header.layer.isNumbered() {
		k.addRow(s.at)
	}
	s.commitGeometry()
	for left := r.present; left != 0; left &= left - 1 {
		i := column(bits.TrailingZeros32(left))
		s.add(k.lead(i), i)
	}
	s.addExtras()
	if k.Refused() {
		return s.Wide(off)
	}
	k.commit(off)
	s.feature++
	s.inRow = false
	return true
}

// commitGeometry ends the geometry of the row.
func (s *scanner) commitGeometry() {
	g := &s.sink.Geom
	switch {
	case s.row.invalid:
		g.Undo()
		g.Null()
	case s.header.layer == routes:
		g.End(geoarrow.LineString)
	case s.header.layer == tracks:
		g.End(geoarrow.MultiLineString)
	default:
		if s.withZ && s.row.present>>columnEle&1 != 0 {
			g.AddZ(s.row.leading[columnEle].num.Float)
		}
		g.End(geoarrow.Point)
	}
}

// add ends the row of a leading column with its value.
func (s *scanner) add(c *rows.Column, i column) {
	v := &s.row.leading[i]
	c.Pad(s.sink.Rows)
	switch leading[i].kind {
	case kindText:
		c.AddText(v.text)
	case kindInteger:
		c.AddNumber(v.num, v.text)
	case kindTime:
		s.sink.times.add(c, &s.row.time, v.text)
	case kindDecimal:
		if c.Unread {
			c.Pass()
			return
		}
		c.Floats = append(c.Floats, v.num.Float)
		c.Filled()
	}
}

// addExtras ends the row of the columns of extra values. Of several values of a column the last one
// counts.
func (s *scanner) addExtras() {
	extras := s.row.extras
	for i := range extras {
		extras[i].column = s.sink.extra(i, extras[i].element)
	}
	for i := range extras {
		e := &extras[i]
		if slices.ContainsFunc(extras[i+1:], func(later extra) bool { return later.column == e.column }) {
			continue
		}
		e.column.Pad(s.sink.Rows)
		switch n, ok := s.plainNumber(e.text); {
		case len(e.text) == 0:
			e.column.AddEmpty()
		case ok && !e.markup:
			e.column.AddNumber(n, e.text)
		default:
			e.column.AddText(e.text)
		}
	}
}
