package gpx

import "github.com/vibeflight/vibeflight/readers"

// Rules of deviations; docs/formats/gpx.md explains them.
const (
	ruleValue    = "typed-value" // not of its type
	rulePosition = "position"    // malformed, or beyond the range of longitude or latitude
	ruleExponent = "exponent"    // a number with an exponent, which xsd:decimal has not
	ruleTime     = "time-form"   // a date and time that is not an xsd:dateTime
	ruleZone     = "zone-form"   // an offset without a colon or without minutes

	ruleMisplaced = "misplaced-element" // a position or segment in an element that has none
)

const (
	doneNull = "value is null"
	doneRead = "read as a number"
	doneTime = "read as a time in UTC"
	doneZone = "read as an offset"

	doneNotRead = "not read"
)

// deviate notes a deviation at index p.
func (s *scanner) deviate(p int, field, rule, done string) {
	s.sink.Deviate(readers.Deviation{
		Offset: s.Base + int64(p), Row: s.feature, Field: field, Rule: rule, Done: done,
	})
}

// misplaced notes the element whose start tag was read, around rows, if it is a row or a segment that
// is not in the right place.
func (s *scanner) misplaced(name string) {
	isRow, isSegment := name == rowElements[s.header.layer].name, name == "trkseg" && s.header.layer == trackPoints
	if s.sink == nil || !isRow && !isSegment {
		return
	}
	s.sink.Deviations.Add(readers.Deviation{
		Offset: s.X.Offset(), Row: s.feature, Rule: ruleMisplaced, Done: doneNotRead,
	})
}

// nullGeometry makes the geometry of the row null because of the current fault at index p, if
// on_error says so.
func (s *scanner) nullGeometry(p int) bool {
	if !s.nulls {
		return false
	}
	if !s.row.invalid {
		s.deviate(p, fieldGeometry, rulePosition, doneNull)
	}
	s.row.invalid, s.Field = true, ""
	return true
}
