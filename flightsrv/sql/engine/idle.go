package engine

import (
	"slices"
	"sync"
)

// maxIdleStatements is how many statements are kept that nobody has open.
const maxIdleStatements = 32

// idleStatements are statements that nobody has open, each on its connection, for who prepares the same
// text next: dashboards ask the same again and again, and to connect, to parse, to bind and to plan
// is most of what a short query takes. They hold no tables. A connection serves no other text, so
// nothing that a query leaves on one, as the seed of random(), reaches another query.
type idleStatements struct {
	mu         sync.Mutex
	statements []*preparedStatement // the one used last at the end
	closed     bool
}

// take returns a statement for the text, or nil. What its names mean by now is for the caller to see.
func (s *idleStatements) take(query, schema string) *preparedStatement {
	s.mu.Lock()
	var p *preparedStatement
	dead := s.remove(func(p *preparedStatement) bool { return !p.conn.Usable() })
	if i := slices.IndexFunc(s.statements, func(p *preparedStatement) bool {
		return p.query == query && p.schema == schema && p.resume()
	}); i >= 0 {
		p = s.statements[i]
		s.statements = slices.Delete(s.statements, i, i+1)
	}
	s.mu.Unlock()
	closeAll(dead)
	return p
}

// remove takes out what is found; s.mu is held.
func (s *idleStatements) remove(found func(*preparedStatement) bool) (gone []*preparedStatement) {
	s.statements = slices.DeleteFunc(s.statements, func(p *preparedStatement) bool {
		if !found(p) {
			return false
		}
		gone = append(gone, p)
		return true
	})
	return gone
}

// put keeps a statement, or closes it: one that gave an error may have left its connection in any
// state.
func (s *idleStatements) put(p *preparedStatement) {
	releaseAll(p.leases)
	p.leases = nil
	p.rest()
	s.mu.Lock()
	if !s.closed && !p.failed {
		s.statements, p = append(s.statements, p), nil
		if len(s.statements) > maxIdleStatements {
			p = s.statements[0]
			s.statements = slices.Delete(s.statements, 0, 1)
		}
	}
	s.mu.Unlock()
	if p != nil {
		p.close()
	}
}

// close closes all of them, and those that come.
func (s *idleStatements) close() {
	s.mu.Lock()
	s.closed = true
	gone := s.remove(func(*preparedStatement) bool { return true })
	s.mu.Unlock()
	closeAll(gone)
}

func closeAll(each []*preparedStatement) {
	for _, p := range each {
		p.close()
	}
}
