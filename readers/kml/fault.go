package kml

// error makes what went wrong an error with its place in the file.
func (s *scanner) error() error {
	feature := int64(-1)
	if s.inRow {
		feature = s.feature
	}
	return s.Error(formatName, feature)
}
