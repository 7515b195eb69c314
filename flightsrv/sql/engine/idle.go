package engine

import (
	"slices"
	"sync"
)

// maxIdleStatements is how many prepared statements are kept without a user.
const maxIdleStatements = 32

// idleStatements are prepared statements without a user, each on its connection. They serve the
// next client that prepares the same text: dashboards repeat queries, and most of a short query is
// the time to connect, parse, bind and plan. They hold no tables. A connection serves one text
// only, so that no state of a query, such as the seed of random(), reaches another one.
type idleStatements struct {
	mu         sync.Mutex
	statements []*preparedStatement // the most recently used last
	closed     bool
}

// take returns a statement for the text and the rights of a caller, or nil. The caller checks what its names mean now.
func (s *idleStatements) take(query, schema, scope string) *preparedStatement {
	s.mu.Lock()
	var p *preparedStatement
	dead := s.remove(func(p *preparedStatement) bool { return !p.conn.Usable() })
	if i := slices.IndexFunc(s.statements, func(p *preparedStatement) bool {
		return p.query == query && p.schema == schema && p.scope == scope && p.resume()
	}); i >= 0 {
		p = s.statements[i]
		s.statements = slices.Delete(s.statements, i, i+1)
	}
	s.mu.Unlock()
	closeAll(dead)
	return p
}

// remove removes the matching statements; s.mu is held.
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

// put keeps a statement, or closes it. A statement that failed may have left its connection in any
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

// close closes all statements, and those that are put later.
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
