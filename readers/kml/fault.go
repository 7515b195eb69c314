package kml

import (
	"errors"
	"strings"

	"github.com/vibeflight/vibeflight/readers"
)

// error makes what went wrong an error with its place in the file. One of a value says that
// on_error: null passes it.
func (s *scanner) error() error {
	feature := int64(-1)
	if s.inRow {
		feature = s.feature
	}
	ofValue := s.inRow && strings.HasPrefix(s.X.Fault.Rule, "KML")
	err := s.Error(formatName, feature)
	if e := (*readers.ParseError)(nil); ofValue && errors.As(err, &e) {
		e.Mode = "null"
	}
	return err
}
