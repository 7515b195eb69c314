package gml

// wrongFile is wrong for what concerns the file, not the feature that it stands in.
func (s *scanner) wrongFile(p int, field, rule, what string) bool {
	s.Wrong(p, field, rule, what)
	s.OfFile = true
	return false
}

// error makes what went wrong an error with its place in the file.
func (s *scanner) error() error {
	feature := int64(-1)
	if s.inRow {
		feature = s.feature
	}
	return s.withMode(s.Error(formatName, feature))
}
