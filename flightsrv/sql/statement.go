package sql

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"

	"github.com/vibeflight/vibeflight/catalog/access"
)

// plan is a query that the engine has prepared. A prepared statement, its results and their fetches
// share it. The last user closes it.
type plan struct {
	stmt Statement
	text string // of the query
	uses int    // guarded by Server.mu
}

// query is a plan and its parameters, if any are bound. Its owner releases it.
type query struct {
	plan    *plan
	binding *binding
	schema  *arrow.Schema // of the rows
}

// preparedStatement is identified by a handle. Server.mu guards all fields but id, client, owner and
// plan.
type preparedStatement struct {
	id      string
	client  string
	owner   string // the user that may use it
	plan    *plan
	binding *binding
	used    time.Time
}

// result is identified by the handle in a ticket: rows that can be fetched once. Server.mu guards
// all fields but id, client, owner and query.
type result struct {
	id     string
	client string
	owner  string // the user that may use it
	query  query
	run    *resultRows // the fetch in progress; nil: none
	used   time.Time
}

// prepare prepares a query with the engine. The caller closes the statement.
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

// query prepares a query without parameters. The caller releases it.
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
	return query{plan: &plan{stmt: stmt, text: text, uses: 1}, schema: stmt.Schema()}, nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// retain adds a user of the query. Server.mu is held.
func (q query) retain() query {
	q.plan.uses++
	if q.binding != nil {
		q.binding.uses++
	}
	return q
}

// release ends one use of a query.
func (s *Server) release(q query) {
	if q.plan == nil {
		return
	}
	s.mu.Lock()
	closing := s.releaseLocked(q)
	s.mu.Unlock()
	closeAll(closing)
}

// releaseLocked is release while Server.mu is held. It returns the statement to close, if any,
// which the caller closes without Server.mu.
func (s *Server) releaseLocked(q query) []Statement {
	if q.plan == nil {
		return nil
	}
	q.plan.uses--
	s.unbind(q.binding)
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

// resultInfo registers q as a result and returns the FlightInfo to fetch it.
func (s *Server) resultInfo(ctx context.Context, q query, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	r, err := s.addResult(ctx, q)
	if err != nil {
		return nil, err
	}
	ticket, err := pack(&pb.TicketStatementQuery{StatementHandle: []byte(r.id)})
	if err != nil {
		return nil, err
	}
	return infoOf(q.schema, d, ticket), nil
}

// addResult registers q as a result of the caller, and takes ownership of q.
func (s *Server) addResult(ctx context.Context, q query) (_ *result, err error) {
	client := clientOf(ctx)
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
		h, ok := evictionCandidate(s.eachResult, client, 1)
		if !ok {
			return nil, &LimitError{fmt.Sprintf(
				"%d results are being fetched, the most that this server keeps: end some of them", maxResults,
			)}
		}
		closing = s.evictResult(s.results[h.id])
	}
	r := &result{id: s.newHandle(), client: client, owner: access.OwnerOf(ctx), query: q, used: time.Now()}
	s.results[r.id] = r
	return r, nil
}

// dropResult removes a result and ends its fetch with the error why. The caller releases the
// returned query. Server.mu is held.
func (s *Server) dropResult(r *result, why error) query {
	delete(s.results, r.id)
	if r.run != nil {
		r.run.cancel(why)
		return query{} // the fetch owns it
	}
	return r.query
}

// dropPrepared removes a prepared statement; its results remain. The caller releases the returned
// query. Server.mu is held.
func (s *Server) dropPrepared(p *preparedStatement) query {
	delete(s.prepared, p.id)
	q := query{plan: p.plan, binding: p.binding}
	p.binding = nil
	return q
}

// findPrepared returns the caller's prepared statement of a handle, and records its use. Server.mu is
// held.
func (s *Server) findPrepared(ctx context.Context, handle []byte) (*preparedStatement, error) {
	p := s.prepared[string(handle)]
	if p == nil || p.owner != access.OwnerOf(ctx) {
		return nil, s.handleError("prepared statement", string(handle))
	}
	p.used = time.Now()
	return p, nil
}

// boundQuery returns a prepared statement with its current parameters. The caller releases it.
func (s *Server) boundQuery(ctx context.Context, handle []byte) (query, error) {
	q, err := s.retainBound(ctx, handle)
	if err != nil {
		return query{}, err
	}
	if err = q.plan.stmt.Authorize(ctx); err == nil {
		q.schema, err = s.schemaOf(ctx, q)
	}
	if err != nil {
		s.release(q)
		return query{}, err
	}
	return q, nil
}

func (s *Server) retainBound(ctx context.Context, handle []byte) (query, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.findPrepared(ctx, handle)
	if err != nil {
		return query{}, err
	}
	if n := p.plan.stmt.Parameters().NumFields(); n > 0 && p.binding == nil {
		return query{}, malformed("the statement has %s, and no values are bound: send them with DoPut",
			count(n, "parameter"))
	}
	return query{plan: p.plan, binding: p.binding}.retain(), nil
}

// schemaOf returns the schema of the rows of q. The type of a column that is a parameter is known
// only from a value. In that case the query is started to find it.
func (s *Server) schemaOf(ctx context.Context, q query) (*arrow.Schema, error) {
	schema := q.plan.stmt.Schema()
	if q.binding == nil || len(q.binding.records) == 0 || !slices.ContainsFunc(schema.Fields(), untyped) {
		return schema, nil
	}
	now, err := q.plan.stmt.Query(ctx, q.binding.records[0], 0)
	if err != nil {
		return nil, err
	}
	defer now.Close()
	return now.Schema(), nil
}

// untyped reports whether a field, or a part of it, has the null type.
func untyped(f arrow.Field) bool {
	if f.Type.ID() == arrow.NULL {
		return true
	}
	nested, ok := f.Type.(arrow.NestedType)
	return ok && slices.ContainsFunc(nested.Fields(), untyped)
}

// findResult returns the caller's result of a handle, unless it is being fetched. Server.mu is held.
func (s *Server) findResult(ctx context.Context, handle []byte) (*result, error) {
	r := s.results[string(handle)]
	if r == nil || r.run != nil || r.owner != access.OwnerOf(ctx) {
		return nil, s.handleError("result", string(handle))
	}
	return r, nil
}

// authorizeResult returns an error if the caller's rights have changed so that it may not have the
// result: not even the schema is sent.
func (s *Server) authorizeResult(ctx context.Context, handle []byte) error {
	s.mu.Lock()
	r, err := s.findResult(ctx, handle)
	if err != nil {
		s.mu.Unlock()
		return err
	}
	q := r.query.retain()
	s.mu.Unlock()
	defer s.release(q)
	return q.plan.stmt.Authorize(ctx)
}

// fetch starts the result of a ticket.
func (s *Server) fetch(ctx context.Context, handle []byte) (Result, error) {
	if err := s.authorizeResult(ctx, handle); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.findResult(ctx, handle)
	if err != nil {
		return nil, err
	}
	r.run = s.run(ctx, r)
	return r.run, nil
}
