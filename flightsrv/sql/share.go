package sql

import (
	"context"
	"iter"
	"maps"
	"net"
	"net/netip"
	"time"

	"google.golang.org/grpc/peer"
)

// holding is something that a client has left on the server: a result, a prepared statement, a
// session, a poll or parameters.
type holding struct {
	id      string
	binding *binding // of parameters, which have no id
	client  string
	used    time.Time
	size    int64
	busy    bool // it is being fetched
	stays   bool // it can't be given up
}

// loser chooses what is given up so that a client can have size more. It is of the client that
// holds the most, counting that; of several the one that asks goes first. Of that client it is the
// oldest that is not being fetched. A fetch ends only for a client that has less.
func loser(all iter.Seq[holding], client string, size int64) (worst holding, ok bool) {
	sums := map[string]int64{client: size}
	for h := range all {
		sums[h.client] += h.size
	}
	own := sums[client]
	for h := range all {
		if sum := sums[h.client]; h.stays || sum < own || h.busy && sum == own {
			continue
		}
		if !ok || goesFirst(h, worst, sums, client) {
			worst, ok = h, true
		}
	}
	return worst, ok
}

// goesFirst reports that a is given up rather than b.
func goesFirst(a, b holding, sums map[string]int64, client string) bool {
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

// clientOf names the client of a call: its address without the port. IPv6 gives a client a network
// of 64 bits, so the name is that. Clients over a unix socket are one: all of them are the server's
// user.
func clientOf(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	at, ok := p.Addr.(*net.TCPAddr)
	if !ok {
		return ""
	}
	ip := at.AddrPort().Addr().Unmap()
	if ip.Is6() {
		network := netip.PrefixFrom(ip.WithZone(""), 64)
		return network.Masked().String()
	}
	return ip.String()
}

// maxLost bounds how many lost handles are remembered, to say why they are unknown.
const maxLost = 4096

// lost are the handles that were given up last. It is under Server.mu.
type lost struct {
	ids   map[string]struct{}
	order []string // a ring, once it is full
	next  int
}

func (l *lost) add(id string) {
	if l.ids == nil {
		l.ids = map[string]struct{}{}
	}
	l.ids[id] = struct{}{}
	if len(l.order) < maxLost {
		l.order = append(l.order, id)
		return
	}
	delete(l.ids, l.order[l.next])
	l.order[l.next] = id
	l.next = (l.next + 1) % maxLost
}

// unknown is the error of a handle that stands for nothing. Server.mu is held.
func (s *Server) unknown(of, id string) error {
	_, gone := s.lost.ids[id]
	return &HandleError{Of: of, Lost: gone}
}

// errLost ends the fetch of a result that is given up.
var errLost = &LimitError{"the fetch was ended: its client has more results open than its share of what this server " +
	"keeps, and others need room"}

func (s *Server) heldResults(yield func(holding) bool) {
	for id, r := range s.results {
		if !yield(holding{id: id, client: r.client, used: r.used, size: 1, busy: r.run != nil}) {
			return
		}
	}
}

func (s *Server) heldPrepared(yield func(holding) bool) {
	for id, p := range s.prepared {
		if !yield(holding{id: id, client: p.client, used: p.used, size: 1}) {
			return
		}
	}
}

func (s *Server) heldSessions(yield func(holding) bool) {
	for token, c := range s.sessions {
		if !yield(holding{id: token, client: c.client, used: c.used, size: 1}) {
			return
		}
	}
}

func (s *Server) heldPolls(yield func(holding) bool) {
	for id, p := range s.polls {
		if !yield(holding{id: id, client: p.client, used: p.used, size: 1}) {
			return
		}
	}
}

// loseResult gives up a result. The caller closes what it gives, without Server.mu, which is held;
// likewise losePrepared and loseBinding.
func (s *Server) loseResult(r *result) []Statement {
	s.lost.add(r.id)
	return s.giveUp(s.dropResult(r, errLost))
}

func (s *Server) losePrepared(p *prepared) []Statement {
	s.lost.add(p.id)
	return s.giveUp(s.dropPrepared(p))
}

func (s *Server) loseSession(token string) {
	s.lost.add(token)
	delete(s.sessions, token)
}

func (s *Server) losePoll(id string) {
	s.lost.add(id)
	s.polls[id].cancel()
	delete(s.polls, id)
}

// bindings gives the parameters that are bound, with their bytes. Those of kept, and those of a
// result that is being fetched, stay.
func (s *Server) bindings(kept *binding) iter.Seq[holding] {
	of := map[*binding]holding{}
	note := func(b *binding, used time.Time, stays bool) {
		if b == nil {
			return
		}
		h := of[b]
		h.client, h.size, h.binding = b.client, b.bytes, b
		h.stays = h.stays || stays || b == kept
		if used.After(h.used) {
			h.used = used
		}
		of[b] = h
	}
	for _, p := range s.prepared {
		note(p.bound, p.used, false)
	}
	for _, r := range s.results {
		note(r.query.bound, r.used, r.run != nil)
	}
	return maps.Values(of)
}

// loseBinding gives up all that was to run with b.
func (s *Server) loseBinding(b *binding) (closing []Statement) {
	for _, p := range s.prepared {
		if p.bound == b {
			closing = append(closing, s.losePrepared(p)...)
		}
	}
	for _, r := range s.results {
		if r.query.bound == b {
			closing = append(closing, s.loseResult(r)...)
		}
	}
	return closing
}
