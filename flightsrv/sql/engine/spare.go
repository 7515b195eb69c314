package engine

import (
	"slices"
	"sync"
)

// maxSpares is how many statements are kept that nobody has open.
const maxSpares = 32

// spares are statements that nobody has open, each on its connection, for who prepares the same
// text next: dashboards ask the same again and again, and to connect, to parse, to bind and to plan
// is most of what a short query takes. They hold no tables. A connection serves no other text, so
// nothing that a query leaves on one, as the seed of random(), reaches another query.
type spares struct {
	mu     sync.Mutex
	of     []*prepared // the one used last at the end
	closed bool
}

// take gives a statement for the text, or nil. What its names mean by now is for the caller to see.
func (s *spares) take(query, schema string) *prepared {
	s.mu.Lock()
	var p *prepared
	dead := s.remove(func(p *prepared) bool { return !p.conn.Usable() })
	if i := slices.IndexFunc(s.of, func(p *prepared) bool {
		return p.query == query && p.schema == schema && p.resume()
	}); i >= 0 {
		p = s.of[i]
		s.of = slices.Delete(s.of, i, i+1)
	}
	s.mu.Unlock()
	closeAll(dead)
	return p
}

// remove takes out what is found; s.mu is held.
func (s *spares) remove(found func(*prepared) bool) (gone []*prepared) {
	s.of = slices.DeleteFunc(s.of, func(p *prepared) bool {
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
func (s *spares) put(p *prepared) {
	dropAll(p.leases)
	p.leases = nil
	p.rest()
	s.mu.Lock()
	if !s.closed && !p.failed {
		s.of, p = append(s.of, p), nil
		if len(s.of) > maxSpares {
			p = s.of[0]
			s.of = slices.Delete(s.of, 0, 1)
		}
	}
	s.mu.Unlock()
	if p != nil {
		p.close()
	}
}

// close closes all of them, and those that come.
func (s *spares) close() {
	s.mu.Lock()
	s.closed = true
	gone := s.remove(func(*prepared) bool { return true })
	s.mu.Unlock()
	closeAll(gone)
}

func closeAll(each []*prepared) {
	for _, p := range each {
		p.close()
	}
}
