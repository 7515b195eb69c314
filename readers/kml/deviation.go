package kml

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// Rules of deviations; docs/formats/kml.md explains them.
const (
	ruleMulti     = "multi-element"     // MultiPoint and its like, which KML does not have
	ruleUnknown   = "unknown-geometry"  // an element of another vocabulary
	ruleMisplaced = "misplaced-element" // a misplaced part of a geometry
	ruleCase      = "element-case"      // capital and small letters other than in KML
	ruleGeometry  = "geometry"          // malformed
	ruleValue     = "typed-value"       // not of its type
	ruleNoName    = "unnamed-data"      // extended data without a name
	ruleTuples    = "joined-tuples"     // tuples with commas between them
	ruleFourth    = "fourth-number"     // of a tuple
	rulePoint     = "point-tuples"      // a Point of several tuples
	ruleTrack     = "track-commas"      // in a gx:coord
	ruleNumbers   = "coordinates"       // other defects of tuples
)

const (
	doneNull    = "value is null"
	doneNotRead = "not read"
)

// deviate notes a deviation at index p.
func (s *scanner) deviate(p int, field, rule, done string) {
	s.deviateAt(s.Base+int64(p), field, rule, done)
}

func (s *scanner) deviateAt(off int64, field, rule, done string) {
	d := readers.Deviation{Offset: off, Row: s.feature, Field: field, Rule: rule, Done: done}
	switch {
	case s.quiet:
	case s.inRow:
		s.sink.Deviate(d)
	default:
		s.asides.deviations.Add(d)
	}
}

// absorbs reports whether a null or another reading can replace the fault of the last call, if the
// XML is well-formed.
func (s *scanner) absorbs() bool {
	return s.nulls && s.Failed == nil && !s.X.Cut() && !s.X.Fault.Depth && !s.X.Fault.Long
}

// stray skips an element that no column holds, and counts it. One with the name of a geometry is a
// deviation.
func (s *scanner) stray() bool {
	if i := s.count(); i >= 0 && s.sink.foreign[i].rule != "" {
		s.deviate(s.X.At, fieldGeometry, s.sink.foreign[i].rule, doneNotRead)
	}
	return s.X.Skip()
}

// passed skips an element of a geometry that has no effect.
func (s *scanner) passed(name []byte) bool {
	if rule := strayRule(name); rule != "" {
		s.deviate(s.X.At, fieldGeometry, rule, doneNotRead)
	}
	return s.X.Skip()
}

// nullGeometry makes the geometry of the row null, and skips the element at tag, which has the
// current fault.
func (s *scanner) nullGeometry(tag xmltext.Mark) bool {
	off := s.Base + int64(s.X.Fault.Pos)
	s.undo(s.row.start)
	s.row.kind = geoarrow.NoKind
	s.X.Rewind(tag)
	s.Field = ""
	if s.X.Next() != xmltext.Start || !s.children(simpleNames, s.attributeOnly) {
		return false
	}
	s.deviateAt(off, fieldGeometry, ruleGeometry, doneNull)
	return true
}

// attributeOnly reads a child of a null geometry that describes its rendering.
func (s *scanner) attributeOnly(name []byte) bool {
	switch string(name) {
	case "altitudeMode", "extrude", "tessellate", "drawOrder":
		return s.attribute(name)
	}
	return s.X.Skip()
}

// asides are the contents of containers in addition to rows and layers.
type asides struct {
	links      readers.Links
	deviations readers.Deviations // of one rule: ruleCase
}

// truncate drops what was added since was, which is a copy of a.
func (a *asides) truncate(was *asides) {
	a.links = was.links
	d := &a.deviations
	if d.Count = was.deviations.Count; d.Count > 0 {
		d.Rules[ruleCase] = d.Count
		d.First = d.First[:len(was.deviations.First)]
	} else {
		*d = readers.Deviations{}
	}
}

// addTo adds the asides to a summary. Deviations stay in file order.
func (a *asides) addTo(sum *readers.Summary) {
	sum.Links.Append(&a.links)
	sum.Deviations.Merge(&a.deviations)
	*a = asides{}
}
