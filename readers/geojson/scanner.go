package geojson

import (
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/jsonrows"
	"github.com/vibeflight/vibeflight/readers/internal/positions"
)

// scanner is one run of the CPU parser.
type scanner struct {
	jsonrows.Scanner
	sequence bool // the file's name is that of a sequence
	onlyCRS  bool // the CRS is known: no other may follow
	lastKind geoarrow.Kind
	row      featureState // of the current Feature
}

// scanner returns a new scanner.
func (c parser) scanner(req readers.Request) *scanner {
	s := &scanner{lastKind: geoarrow.Point}
	s.Init(jsonrows.Config{
		Dialect: s, Format: "geojson", Unit: "feature", Row: "Feature", Members: "properties", Rule: featureRule,
		Position: s.PositionXYZ, PositionRule: positionRule, PlainRuns: positions.Have && !c.portable,
		Layout: c.layout, Request: req,
	})
	s.Sum.CRS = geoarrow.CRS84
	s.sequence, _ = c.layout.Dialect.(bool)
	return s
}

// ReadRow reads the Feature, or in a sequence the Feature or geometry, at p.
func (s *scanner) ReadRow(p int) int {
	if s.InSequence {
		return s.sequenceRow(p)
	}
	return s.readFeature(p)
}

// Forget drops the kind of the last geometry.
func (s *scanner) Forget() bool {
	known := s.lastKind != geoarrow.Point
	s.lastKind = geoarrow.Point
	return known
}
