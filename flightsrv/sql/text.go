package sql

// Text returns the statement of a Flight SQL message in a google.protobuf.Any, a command or the
// body of an action. It returns "" for messages without a statement, such as handles.
func Text(b []byte) string {
	a, ok := anyOf(b)
	if !ok {
		return ""
	}
	m, err := a.UnmarshalNew()
	if err != nil {
		return ""
	}
	if q, ok := m.(interface{ GetQuery() string }); ok {
		return q.GetQuery()
	}
	return ""
}
