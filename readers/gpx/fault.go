package gpx

import (
	"errors"
	"strings"

	"github.com/vibeflight/vibeflight/readers"
)

// error returns the fault as an error with its position in the file. For a value, it mentions
// on_error: null.
func (s *scanner) error() error {
	feature := int64(-1)
	if s.inRow {
		feature = s.feature
	}
	ofValue := s.inRow && strings.HasPrefix(s.X.Fault.Rule, "GPX")
	err := s.Error(formatName, feature)
	if e := (*readers.ParseError)(nil); ofValue && errors.As(err, &e) {
		e.Mode = "null"
	}
	return err
}
