package gml

import (
	"errors"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/xmltext"
)

// Rules of deviations, as docs/formats/gml.md lists them.
const (
	ruleMalformedGeometry = "malformed-geometry"
	ruleGeometryNotRead   = "geometry-not-read"
	ruleOtherSystem       = "other-crs"
	ruleValueOfType       = "value-of-type"
	ruleSeparators        = "coordinates-separators"
	ruleDimension         = "unknown-dimension"
	ruleUnknownName       = "unknown-crs-name"
)

// tolerance is the handling of bad values by on_error. A feature is first read strictly; if that
// fails, it is read again with active set.
type tolerance struct {
	nulls   bool // a bad value is null
	repairs bool // a defect with one obvious reading is read that way
	active  bool // the current feature is read again
	mode    string
}

func newTolerance(o readers.Options) tolerance {
	return tolerance{nulls: o.NullErrors(), repairs: o.Repairs()}
}

// Modes of on_error that an error may name.
const (
	modeNull   = "null"
	modeRepair = "repair"
)

// isValueFault reports whether the last fault is of a value of the feature, not of the file's XML.
func (s *scanner) isValueFault() bool {
	return s.Failed == nil && s.Field != "" && !s.X.Fault.Depth && !s.X.Fault.Long && !s.X.Cut()
}

// deviate notes how the last fault was handled.
func (s *scanner) deviate(rule, done string) {
	s.deviateAt(s.Base+int64(s.X.Fault.Pos), s.Field, rule, done)
}

// deviateAt notes a deviation of the current feature.
func (s *scanner) deviateAt(offset int64, field, rule, done string) {
	s.sink.Deviate(readers.Deviation{Offset: offset, Row: s.feature, Field: field, Rule: rule, Done: done})
}

// tolerate clears the last fault.
func (s *scanner) tolerate() { s.Field, s.OfFile, s.mode = "", false, "" }

// mainGeometry reads the geometry of the row, whose start tag was read, up to its end. A malformed
// one is null if on_error says so.
func (s *scanner) mainGeometry(k shape) bool {
	var start xmltext.Mark
	var crs layerCRS
	if s.active {
		start, crs = s.X.TagMark(), s.crs
	}
	shapes := s.sink.Shapes
	kind, ok := s.geometry(k, s.row.frame)
	s.row.kind = kind
	if ok || !s.active || !s.isValueFault() {
		return ok
	}
	s.sink.Geom.Undo()
	s.sink.Shapes, s.row.kind = shapes, geoarrow.NoKind
	s.dropped = s.restore(crs) || s.dropped
	s.deviate(s.geometryRule(), "geometry is null")
	s.tolerate()
	s.X.Rewind(start)
	return s.X.Next() == xmltext.Start && s.X.Skip()
}

// rowBounds reads a boundedBy of the feature, whose start tag was read, up to its end. A malformed
// one is ignored if on_error says so.
func (s *scanner) rowBounds() bool {
	start := s.X.TagMark()
	if s.boundedBy(&s.row.frame) {
		return true
	}
	if !s.active || !s.isValueFault() {
		return false
	}
	s.row.frame = s.frame
	s.deviate(ruleMalformedGeometry, "boundedBy is passed")
	s.tolerate()
	s.X.Rewind(start)
	return s.X.Next() == xmltext.Start && s.X.Skip()
}

// geometryRule returns the rule that the last fault, one of a geometry, violates.
func (s *scanner) geometryRule() string {
	switch {
	case s.OfFile:
		return ruleOtherSystem
	case s.X.Fault.Rule == "":
		return ruleGeometryNotRead
	}
	return ruleMalformedGeometry
}

// withMode adds to an error the value of on_error that would read the rest of the file.
func (s *scanner) withMode(err error) error {
	var parse *readers.ParseError
	if !s.inRow || s.nulls || !s.isValueFault() || !errors.As(err, &parse) {
		return err
	}
	if parse.Mode = s.mode; parse.Mode == "" {
		parse.Mode = modeNull
	}
	return err
}
