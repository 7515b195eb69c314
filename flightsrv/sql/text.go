package sql

import pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"

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

// QueryText returns the statement whose rows a ticket fetches; "" if there is none.
func (s *Server) QueryText(ticket []byte) string {
	m, err := commandOf(ticket)
	if err != nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m := m.(type) {
	case *pb.TicketStatementQuery:
		if r := s.results[string(m.GetStatementHandle())]; r != nil && r.query.plan != nil {
			return r.query.plan.text
		}
	case *pb.CommandPreparedStatementQuery:
		if p := s.prepared[string(m.GetPreparedStatementHandle())]; p != nil {
			return p.plan.text
		}
	}
	return ""
}
