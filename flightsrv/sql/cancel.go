package sql

import (
	"context"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"

	"github.com/vibeflight/vibeflight/catalog/access"
)

// Cancel ends the queries of the tickets of a FlightInfo, fetched or not, and the preparation of
// the poll in its descriptor. It reports false if there was nothing to end: the queries are over,
// or the tickets are not of queries.
func (s *Server) Cancel(ctx context.Context, info *flight.FlightInfo) (cancelled bool, err error) {
	for _, h := range handlesIn(info) {
		t, err := statementTicket(h)
		if err != nil {
			return cancelled, err
		}
		if t != nil && s.cancelHandle(access.OwnerOf(ctx), string(t.GetStatementHandle())) {
			cancelled = true
		}
	}
	return cancelled, nil
}

// handlesIn returns the parts of a FlightInfo that may have handles.
func handlesIn(info *flight.FlightInfo) [][]byte {
	all := [][]byte{info.GetFlightDescriptor().GetCmd()}
	for _, e := range info.GetEndpoint() {
		all = append(all, e.GetTicket().GetTicket())
	}
	return all
}

// statementTicket reads a ticket of a query, or the descriptor of a poll, which has the same form.
// It returns nil for anything else.
func statementTicket(b []byte) (*pb.TicketStatementQuery, error) {
	if Name(b) != "TicketStatementQuery" {
		return nil, nil //nolint:nilnil // that is no error
	}
	m, err := commandOf(b)
	if err != nil {
		return nil, err
	}
	t, _ := m.(*pb.TicketStatementQuery)
	return t, nil
}

// cancelHandle ends the result or the poll of a handle.
func (s *Server) cancelHandle(owner, id string) bool {
	s.mu.Lock()
	r, p := s.results[id], s.polls[id]
	if r != nil && r.owner != owner {
		r = nil
	}
	if p != nil && p.owner != owner {
		p = nil
	}
	var gone query
	if r != nil {
		gone = s.dropResult(r, errCancelled)
	}
	if p != nil {
		p.cancel()
		delete(s.polls, id)
	}
	s.mu.Unlock()
	s.release(gone)
	if p != nil {
		s.cancelPrepared(p)
	}
	return r != nil || p != nil
}

// cancelPrepared removes the result of a poll, if it has one.
func (s *Server) cancelPrepared(p *poll) {
	select {
	case <-p.done:
		for _, e := range p.info.GetEndpoint() {
			if t, err := statementTicket(e.GetTicket().GetTicket()); err == nil && t != nil {
				s.cancelHandle(p.owner, string(t.GetStatementHandle()))
			}
		}
	default: // endPoll removes it
	}
}

// Renew extends the life of the result of a ticket. Tickets without a result never expire.
func (s *Server) Renew(ctx context.Context, ticket []byte) error {
	t, err := statementTicket(ticket)
	if err != nil || t == nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.findResult(ctx, t.GetStatementHandle())
	if err != nil {
		return err
	}
	r.used = time.Now()
	return nil
}
