package sql

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
)

// plan is a query that the engine has prepared. A prepared statement, its results and their fetches
// share it; the last one closes it.
type plan struct {
	stmt Statement
	uses int // under Server.mu
}

// query is a plan with the parameters that it runs with, nil where none are bound. Whoever has one
// releases it.
type query struct {
	plan   *plan
	bound  *binding
	schema *arrow.Schema // of the rows
}

// prepared is what the handle of a prepared statement stands for. All but id, client and plan is
// under Server.mu.
type prepared struct {
	id     string
	client string
	plan   *plan
	bound  *binding
	used   time.Time
}

// result is what the handle in a ticket stands for: rows that can be fetched once. All but id,
// client and query is under Server.mu.
type result struct {
	id     string
	client string
	query  query
	run    *rows // under way; nil: nobody fetches it yet
	used   time.Time
}

const handleBytes = 16

// newHandle gives random bytes that nobody can guess.
func newHandle() string {
	var b [handleBytes]byte
	_, _ = rand.Read(b[:]) // it never fails
	return string(b[:])
}

// prepare has the engine prepare a query. The caller closes the statement.
func (s *Server) prepare(ctx context.Context, text string, transaction []byte) (Statement, error) {
	if err := noTransaction(transaction); err != nil {
		return nil, err
	}
	if len(text) > maxQueryBytes {
		return nil, malformed("the query has %d bytes, more than %d", len(text), maxQueryBytes)
	}
	schema, err := s.defaultSchema(ctx)
	if err != nil {
		return nil, err
	}
	return s.engine.Prepare(ctx, text, schema)
}

// query prepares a query that is run as it stands, without parameters. The caller releases it.
func (s *Server) query(ctx context.Context, text string, transaction []byte) (query, error) {
	stmt, err := s.prepare(ctx, text, transaction)
	if err != nil {
		return query{}, err
	}
	if n := stmt.Parameters().NumFields(); n > 0 {
		stmt.Close()
		return query{}, malformed("the query has %s: prepare it (CreatePreparedStatement) and bind values",
			count(n, "parameter"))
	}
	return query{plan: &plan{stmt: stmt, uses: 1}, schema: stmt.Schema()}, nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// hold takes part in a query that somebody else has. Server.mu is held.
func (q query) hold() query {
	q.plan.uses++
	if q.bound != nil {
		q.bound.uses++
	}
	return q
}

// release gives up a query.
func (s *Server) release(q query) {
	if q.plan == nil {
		return
	}
	s.mu.Lock()
	closing := s.giveUp(q)
	s.mu.Unlock()
	closeAll(closing)
}

// giveUp is release of a query, but for the statement that it gives: the caller closes it without
// Server.mu, which is held.
func (s *Server) giveUp(q query) []Statement {
	if q.plan == nil {
		return nil
	}
	q.plan.uses--
	s.unbind(q.bound)
	if q.plan.uses > 0 {
		return nil
	}
	return []Statement{q.plan.stmt}
}

func closeAll(statements []Statement) {
	for _, stmt := range statements {
		stmt.Close()
	}
}

// resultInfo registers q as a result that the caller can fetch, and says how.
func (s *Server) resultInfo(ctx context.Context, q query, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	r, err := s.addResult(clientOf(ctx), q)
	if err != nil {
		return nil, err
	}
	ticket, err := pack(&pb.TicketStatementQuery{StatementHandle: []byte(r.id)})
	if err != nil {
		return nil, err
	}
	return infoOf(q.schema, d, ticket), nil
}

// addResult registers q, which it takes over, as a result of a client.
func (s *Server) addResult(client string, q query) (_ *result, err error) {
	var closing []Statement
	defer func() {
		closeAll(closing)
		if err != nil {
			s.release(q)
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil, ErrClosed
	}
	if len(s.results) >= maxResults {
		h, ok := loser(s.heldResults, client, 1)
		if !ok {
			return nil, &LimitError{fmt.Sprintf(
				"%d results are being fetched, the most that this server keeps: end some of them", maxResults,
			)}
		}
		closing = s.loseResult(s.results[h.id])
	}
	r := &result{id: newHandle(), client: client, query: q, used: time.Now()}
	s.results[r.id] = r
	return r, nil
}

// dropResult forgets a result and ends its fetch, with the error why. The caller releases what it
// gives. Server.mu is held.
func (s *Server) dropResult(r *result, why error) query {
	delete(s.results, r.id)
	if r.run != nil {
		r.run.cancel(why)
		return query{} // the fetch has it
	}
	return r.query
}

// dropPrepared forgets a prepared statement; its results stay. The caller releases what it gives.
// Server.mu is held.
func (s *Server) dropPrepared(p *prepared) query {
	delete(s.prepared, p.id)
	q := query{plan: p.plan, bound: p.bound}
	p.bound = nil
	return q
}

// findPrepared gives the prepared statement of a handle, and notes its use. Server.mu is held.
func (s *Server) findPrepared(handle []byte) (*prepared, error) {
	p := s.prepared[string(handle)]
	if p == nil {
		return nil, s.unknown("prepared statement", string(handle))
	}
	p.used = time.Now()
	return p, nil
}

// executed gives a prepared statement with what is bound to it now. The caller releases it.
func (s *Server) executed(ctx context.Context, handle []byte) (query, error) {
	q, err := s.boundNow(handle)
	if err != nil {
		return query{}, err
	}
	if q.schema, err = s.schemaOf(ctx, q); err != nil {
		s.release(q)
		return query{}, err
	}
	return q, nil
}

func (s *Server) boundNow(handle []byte) (query, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.findPrepared(handle)
	if err != nil {
		return query{}, err
	}
	if n := p.plan.stmt.Parameters().NumFields(); n > 0 && p.bound == nil {
		return query{}, malformed("the statement has %s, and no values are bound: send them with DoPut",
			count(n, "parameter"))
	}
	return query{plan: p.plan, bound: p.bound}.hold(), nil
}

// schemaOf is the schema of the rows of q. A column that is made of a parameter has no type before
// there is a value: then the query is begun, to see.
func (s *Server) schemaOf(ctx context.Context, q query) (*arrow.Schema, error) {
	schema := q.plan.stmt.Schema()
	if q.bound == nil || len(q.bound.records) == 0 || !slices.ContainsFunc(schema.Fields(), untyped) {
		return schema, nil
	}
	now, err := q.plan.stmt.Query(ctx, q.bound.records[0], 0)
	if err != nil {
		return nil, err
	}
	defer now.Close()
	return now.Schema(), nil
}

// untyped reports that a field, or a part of it, has the null type.
func untyped(f arrow.Field) bool {
	if f.Type.ID() == arrow.NULL {
		return true
	}
	nested, ok := f.Type.(arrow.NestedType)
	return ok && slices.ContainsFunc(nested.Fields(), untyped)
}

// fetch runs the result of a ticket.
func (s *Server) fetch(ctx context.Context, handle []byte) (Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.results[string(handle)]
	if r == nil || r.run != nil {
		return nil, s.unknown("result", string(handle))
	}
	r.run = s.run(ctx, r)
	return r.run, nil
}
