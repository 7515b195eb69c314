package sql

import (
	"context"
	"iter"
	"maps"
	"time"

	"github.com/vibeflight/vibeflight/flightsrv/admission"
)

// resource is a result, a prepared statement, a session, a poll or a binding that a client has left
// on the server.
type resource struct {
	id      string
	binding *binding // of parameters, which have no id
	client  string
	used    time.Time
	size    int64
	busy    bool // it is being fetched
	pinned  bool // it can't be evicted
}

// evictionCandidate chooses what to evict so that a client can have size more. It chooses among the
// resources of the client that holds the most, counting size; on a tie, the calling client. Of
// these it takes the oldest that is not being fetched. A fetch is ended only for a client that has
// less.
func evictionCandidate(all iter.Seq[resource], client string, size int64) (worst resource, ok bool) {
	sums := map[string]int64{client: size}
	for h := range all {
		sums[h.client] += h.size
	}
	own := sums[client]
	for h := range all {
		if sum := sums[h.client]; h.pinned || sum < own || h.busy && sum == own {
			continue
		}
		if !ok || evictsFirst(h, worst, sums, client) {
			worst, ok = h, true
		}
	}
	return worst, ok
}

// evictsFirst reports whether a is evicted rather than b.
func evictsFirst(a, b resource, sums map[string]int64, client string) bool {
	switch mine := a.client == client; {
	case sums[a.client] != sums[b.client]:
		return sums[a.client] > sums[b.client]
	case mine != (b.client == client):
		return mine
	case a.busy != b.busy:
		return b.busy
	}
	return a.used.Before(b.used)
}

// clientOf identifies the owner of what a call leaves: the user, or the client's address.
func clientOf(ctx context.Context) string {
	if u := admission.Of(ctx); u.Name != "" {
		return u.Name
	}
	return admission.ClientOf(ctx)
}

// maxEvictedHandles bounds how many evicted handles are remembered for error messages.
const maxEvictedHandles = 4096

// evictedHandles are the handles that were evicted last. Server.mu guards it.
type evictedHandles struct {
	ids   map[string]struct{}
	order []string // a ring, once it is full
	next  int
}

func (l *evictedHandles) add(id string) {
	if l.ids == nil {
		l.ids = map[string]struct{}{}
	}
	l.ids[id] = struct{}{}
	if len(l.order) < maxEvictedHandles {
		l.order = append(l.order, id)
		return
	}
	delete(l.ids, l.order[l.next])
	l.order[l.next] = id
	l.next = (l.next + 1) % maxEvictedHandles
}

// handleError is the error of a handle that is not known. Server.mu is held.
func (s *Server) handleError(of, id string) error {
	_, gone := s.evicted.ids[id]
	return &HandleError{Kind: of, Evicted: gone}
}

// errEvicted ends the fetch of a result that is evicted.
var errEvicted = &LimitError{"the fetch was ended: its client has more results open than its share of " +
	"what this server keeps, and others need room"}

func (s *Server) eachResult(yield func(resource) bool) {
	for id, r := range s.results {
		if !yield(resource{id: id, client: r.client, used: r.used, size: 1, busy: r.run != nil}) {
			return
		}
	}
}

func (s *Server) eachPrepared(yield func(resource) bool) {
	for id, p := range s.prepared {
		if !yield(resource{id: id, client: p.client, used: p.used, size: 1}) {
			return
		}
	}
}

func (s *Server) eachSession(yield func(resource) bool) {
	for token, c := range s.sessions {
		if !yield(resource{id: token, client: c.client, used: c.used, size: 1}) {
			return
		}
	}
}

func (s *Server) eachPoll(yield func(resource) bool) {
	for id, p := range s.polls {
		if !yield(resource{id: id, client: p.client, used: p.used, size: 1}) {
			return
		}
	}
}

// evictResult evicts a result. Server.mu is held. The caller closes the returned statements without
// it. The same holds for evictPrepared and evictBinding.
func (s *Server) evictResult(r *result) []Statement {
	s.evicted.add(r.id)
	return s.releaseLocked(s.dropResult(r, errEvicted))
}

func (s *Server) evictPrepared(p *preparedStatement) []Statement {
	s.evicted.add(p.id)
	return s.releaseLocked(s.dropPrepared(p))
}

func (s *Server) evictSession(token string) {
	s.evicted.add(token)
	delete(s.sessions, token)
}

func (s *Server) evictPoll(id string) {
	s.evicted.add(id)
	s.polls[id].cancel()
	delete(s.polls, id)
}

// eachBinding returns the bindings with their sizes. The binding kept, and those of results that
// are being fetched, are pinned.
func (s *Server) eachBinding(kept *binding) iter.Seq[resource] {
	of := map[*binding]resource{}
	note := func(b *binding, used time.Time, stays bool) {
		if b == nil {
			return
		}
		h := of[b]
		h.client, h.size, h.binding = b.client, b.bytes, b
		h.pinned = h.pinned || stays || b == kept
		if used.After(h.used) {
			h.used = used
		}
		of[b] = h
	}
	for _, p := range s.prepared {
		note(p.binding, p.used, false)
	}
	for _, r := range s.results {
		note(r.query.binding, r.used, r.run != nil)
	}
	return maps.Values(of)
}

// evictBinding evicts everything that would run with b.
func (s *Server) evictBinding(b *binding) (closing []Statement) {
	for _, p := range s.prepared {
		if p.binding == b {
			closing = append(closing, s.evictPrepared(p)...)
		}
	}
	for _, r := range s.results {
		if r.query.binding == b {
			closing = append(closing, s.evictResult(r)...)
		}
	}
	return closing
}

// Holdings is what a user has left on the server.
type Holdings struct {
	Sessions, Prepared, Results int
	Used                        time.Time // the latest use of one of them
}

// Users returns what each user has left on the server.
func (s *Server) Users() map[string]Holdings {
	s.mu.Lock()
	defer s.mu.Unlock()
	users := map[string]Holdings{}
	note := func(r resource, count func(*Holdings) *int) {
		h := users[r.client]
		*count(&h)++
		if r.used.After(h.Used) {
			h.Used = r.used
		}
		users[r.client] = h
	}
	for r := range s.eachSession {
		note(r, func(h *Holdings) *int { return &h.Sessions })
	}
	for r := range s.eachPrepared {
		note(r, func(h *Holdings) *int { return &h.Prepared })
	}
	for r := range s.eachResult {
		note(r, func(h *Holdings) *int { return &h.Results })
	}
	return users
}
