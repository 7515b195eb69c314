package kml

import (
	"bytes"
	"math/bits"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/number"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// row is what was read of the current feature so far. Its values are copied to their columns once
// all of it is known to be well-formed.
type row struct {
	leading  [leadingColumns]value
	present  uint32 // bits of those that are set
	data     []datum
	elements []value // of arrays
	whens    [][]byte
	kind     geoarrow.Kind // of the geometry in the builder
	geometry bool          // an element that is a geometry was met
	start    builderMark   // before it, if a malformed one is null
	spanned  bool          // a TimeSpan was
	decoded  []byte        // texts outside of the window
}

// value is one value of a row.
type value struct {
	kind valueKind
	text []byte
	num  number.Num // of a number; of a boolean 0 or 1
}

type valueKind uint8

const (
	null valueKind = iota
	text
	integer
	boolean
)

// datum is a value of extended data, an array of values, or a reference to a schema, whose fields all
// have columns.
type datum struct {
	name   []byte
	value  value
	schema int // its number + 1, where it is that
	array  *array
	column *rows.Column
}

func (r *row) reset() {
	r.present = 0
	r.data, r.elements, r.whens, r.decoded = r.data[:0], r.elements[:0], r.whens[:0], r.decoded[:0]
	r.kind, r.geometry, r.spanned = geoarrow.NoKind, false, false
}

// has reports whether a leading column has a value.
func (r *row) has(column int) bool { return r.present>>column&1 != 0 }

// set sets the value of a leading column; null removes it.
func (r *row) set(column int, v value) {
	r.leading[column] = v
	r.present &^= 1 << column
	if v.kind != null {
		r.present |= 1 << column
	}
}

// readRow reads the feature whose start tag was read as a row, and counts it.
func (s *scanner) readRow(off int64) bool {
	s.inRow, s.Field = true, ""
	m := s.X.TagMark()
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
			s.inRow = false
			return true
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

// readFeature reads the Placemark or GroundOverlay whose start tag was read, up to its end.
func (s *scanner) readFeature() bool {
	s.row.reset()
	s.Field = ""
	overlay := string(s.local(containerNames)) == "GroundOverlay"
	if id, ok := s.X.Attr("id"); ok {
		s.row.set(columnID, s.keep(id))
	}
	for {
		switch s.X.Next() {
		case xmltext.End:
			return true
		case xmltext.Start:
			if !s.member(overlay) {
				return false
			}
		default:
			return false
		}
	}
}

// keep returns a text of the XML scanner as a value that is valid until the row ends.
func (s *scanner) keep(b []byte) value {
	if !s.X.InWindow(b) {
		from := len(s.row.decoded)
		s.row.decoded = append(s.row.decoded, b...)
		b = s.row.decoded[from:]
	}
	return value{kind: text, text: b}
}

// member reads the child of a feature whose start tag was read, up to its end.
func (s *scanner) member(overlay bool) bool {
	names := placemarkNames
	if overlay {
		names = overlayNames
	}
	switch name := s.local(names); string(name) {
	case "name":
		return s.textOf(columnName)
	case "description":
		return s.textOf(columnDescription)
	case "Snippet", "snippet":
		return s.textOf(columnSnippet)
	case "visibility":
		return s.flag(columnVisibility, false)
	case "TimeStamp":
		return s.children(timeStampNames, func(name []byte) bool {
			if string(name) != "when" {
				return s.foreign()
			}
			return s.time(columnTimestamp)
		})
	case "TimeSpan":
		s.row.spanned = true
		s.row.present &^= 1<<columnBegin | 1<<columnBeginText | 1<<columnEnd | 1<<columnEndText // of a track
		return s.children(timeSpanNames, s.spanMember)
	case "ExtendedData":
		return s.children(extendedNames, s.extended)
	case "Point", "LineString", "LinearRing", "Polygon", "MultiGeometry", "Track", "MultiTrack", "Model",
		"MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection":
		if !overlay {
			return s.rowGeometry(name)
		}
	default:
		if overlay {
			return s.overlayMember(name)
		}
	}
	return s.stray()
}

// children calls do with the local name of each child of the element whose start tag was read, up
// to its end. If defects are repaired, names of the vocabulary are accepted in any case.
func (s *scanner) children(names vocabulary, do func(name []byte) bool) bool {
	for {
		switch s.X.Next() {
		case xmltext.End:
			return true
		case xmltext.Start:
			if !do(s.local(names)) {
				return false
			}
		default:
			return false
		}
	}
}

// foreign skips an element that no column holds, and counts it.
func (s *scanner) foreign() bool {
	s.count()
	return s.X.Skip()
}

// count counts the element whose start tag was read as one that no column holds, and returns its
// index in the sink's list; -1: it is counted already.
func (s *scanner) count() int {
	if s.quiet {
		return -1
	}
	return s.sink.count(s.X.Local())
}

// textOf reads a leading column of text. The last one counts.
func (s *scanner) textOf(column int) bool {
	b, _, ok := s.X.Value()
	if ok {
		s.row.set(column, s.keep(b))
	}
	return ok
}

func (s *scanner) spanMember(name []byte) bool {
	switch string(name) {
	case "begin":
		return s.time(columnBegin)
	case "end":
		return s.time(columnEnd)
	}
	return s.foreign()
}

// time reads a time into a leading column. A year or a month is not a time, and is kept in the next
// column.
func (s *scanner) time(column int) bool {
	b, _, ok := s.X.Value()
	if ok {
		s.setTime(column, s.keep(bytes.TrimSpace(b)))
	}
	return ok
}

func (s *scanner) setTime(column int, v value) {
	r := &s.row
	r.present &^= 3 << column
	switch {
	case len(v.text) == 0:
	case isMonth(v.text):
		r.set(column+1, v)
	default:
		r.set(column, v)
	}
}

// isMonth reports whether a text is a year, or a year and a month: gYear and gYearMonth of XML
// Schema.
func isMonth(b []byte) bool {
	if len(b) != len("2006") && (len(b) != len("2006-01") || b[4] != '-') {
		return false
	}
	for i, c := range b {
		if c-'0' > 9 && i != 4 {
			return false
		}
	}
	return len(b) == len("2006") || b[5] == '0' && b[6] != '0' || b[5] == '1' && b[6] <= '2'
}

// commit copies the values of the row to their columns.
func (s *scanner) commit() {
	k, r := s.sink, &s.row
	if r.kind == geoarrow.NoKind {
		k.Geom.Null()
	} else {
		s.endGeometry(r.kind)
	}
	for left := r.present; left != 0; left &= left - 1 {
		i := bits.TrailingZeros32(left)
		s.add(k.lead(i), &r.leading[i])
	}
	if len(r.whens) > 0 {
		s.addWhens(k.lead(columnWhen))
	}
	s.commitData()
}

// addWhens ends the row of the column of times of positions.
func (s *scanner) addWhens(c *rows.Column) {
	c.Pad(s.sink.Rows)
	if c.Unread {
		c.Pass()
		return
	}
	if c.Kinds == 0 {
		c.Accept(geoarrow.FactListString)
	}
	for _, when := range s.row.whens {
		c.Text = append(c.Text, when...)
		c.TextEnds = append(c.TextEnds, int32(len(c.Text)))
	}
	c.EndList()
}
