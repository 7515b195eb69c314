package sql

// Text gives the statement that a message of Flight SQL holds in a google.protobuf.Any: a command
// or the body of an action. It gives "" for messages without one, such as handles.
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
