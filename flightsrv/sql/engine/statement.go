package engine

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// Statement is a prepared query. Several goroutines may use it, and run it at the same time.
type Statement struct {
	engine        *Engine
	query, schema string
	result        *arrow.Schema
	parameters    *arrow.Schema

	mu     sync.Mutex
	idle   *preparedStatement // not used by any rows; nil: none
	closed bool
}

// Prepare reads a query and finds its tables. It parses files on first use. Unqualified names are
// looked up in schema first; "" is the root. The caller closes the statement.
//
// Errors: *Error, *catalog.NotFoundError with the closest names, *AmbiguousError, and those of
// catalog.Catalog.Table, such as *readers.ParseError.
func (e *Engine) Prepare(ctx context.Context, query, schema string) (*Statement, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.busy.Done()
	ctx, stop := e.withEngine(ctx)
	defer stop()
	p, err := e.prepare(ctx, query, schema)
	if err != nil {
		return nil, err
	}
	p.rest()
	s := &Statement{
		engine: e, query: query, schema: schema, result: p.statement.Schema(),
		parameters: p.statement.Parameters(), idle: p,
	}
	e.mu.Lock()
	e.statements[s] = struct{}{}
	e.mu.Unlock()
	return s, nil
}

// Schema returns the schema of the result. A geometry is a column of geoarrow.wkb, with the CRS of
// its table.
func (s *Statement) Schema() *arrow.Schema { return s.result }

// Parameters has a field for each parameter; its type is null if the query does not define it.
func (s *Statement) Parameters() *arrow.Schema { return s.parameters }

// Close closes the statement. Open rows stay valid.
func (s *Statement) Close() {
	s.engine.mu.Lock()
	delete(s.engine.statements, s)
	s.engine.mu.Unlock()
	s.closeStatements()
}

func (s *Statement) closeStatements() {
	s.mu.Lock()
	p := s.idle
	s.idle, s.closed = nil, true
	s.mu.Unlock()
	if p != nil {
		s.engine.idle.put(p)
	}
}

// maxPrepares is how often a statement is prepared for one run while files change.
const maxPrepares = 3

// Query runs the statement with the parameters in a row of args, one per column; args is nil
// without parameters. The end of ctx interrupts the query. The caller closes the rows.
//
// A file that changed since Prepare is read in its new version if the schema of the result stays
// the same. Otherwise the error is a *catalog.ChangedError, and the query must be prepared again.
// Other errors are those of Prepare.
func (s *Statement) Query(ctx context.Context, args arrow.Record, row int) (*Rows, error) {
	e := s.engine
	if err := e.enter(); err != nil {
		return nil, err
	}
	e.count.queries.Add(1)
	ctx, stop := e.withEngine(ctx)
	rows, err := s.run(ctx, arguments{args, row})
	if err != nil {
		stop()
		e.busy.Done()
		e.count.failed.Add(1)
		return nil, err
	}
	rows.stop = stop
	return rows, nil
}

func (s *Statement) run(ctx context.Context, args arguments) (*Rows, error) {
	var last error
	for range maxPrepares {
		p, err := s.take(ctx)
		if err != nil {
			return nil, err
		}
		if !sameSchema(p.statement.Schema(), s.result) || !sameSchema(p.statement.Parameters(), s.parameters) {
			changed := p.changedError(last)
			p.close()
			return nil, changed
		}
		rows, err := p.run(ctx, args)
		if err == nil {
			rows.statement = s
			return rows, nil
		}
		if !p.isOutdated(err) || ctx.Err() != nil {
			p.failed = true
			s.put(p)
			return nil, err
		}
		p.close()
		last = err
	}
	return nil, last
}

// take returns an unused prepared statement.
func (s *Statement) take(ctx context.Context) (*preparedStatement, error) {
	s.mu.Lock()
	p := s.idle
	s.idle = nil
	s.mu.Unlock()
	if p != nil {
		if p.scope == scopeOf(ctx) && p.resume() {
			return p, nil
		}
		s.engine.idle.put(p)
	}
	return s.engine.prepare(ctx, s.query, s.schema)
}

// put returns a prepared statement after use.
func (s *Statement) put(p *preparedStatement) {
	p.rest()
	s.mu.Lock()
	if !s.closed && s.idle == nil {
		s.idle, p = p, nil
	}
	s.mu.Unlock()
	if p != nil {
		s.engine.idle.put(p)
	}
}

// sameSchema compares what clients rely on: names, types and metadata.
func sameSchema(a, b *arrow.Schema) bool {
	if a.NumFields() != b.NumFields() {
		return false
	}
	for i, f := range a.Fields() {
		if !f.Equal(b.Field(i)) {
			return false
		}
	}
	return true
}

// isOutdated reports whether an error is caused by files or views that have changed since the
// statement was prepared.
func (p *preparedStatement) isOutdated(err error) bool {
	var changed *catalog.ChangedError
	var wrong *Error
	return errors.As(err, &changed) || errors.As(err, &wrong) && wrong.Kind == duck.Name
}

// changedError is the error for a statement whose result has changed; why is the reason to prepare
// it again.
func (p *preparedStatement) changedError(why error) error {
	var changed *catalog.ChangedError
	if errors.As(why, &changed) {
		return changed
	}
	for _, r := range p.relations {
		return &catalog.ChangedError{Name: r.entry, Want: "another one", Have: r.version}
	}
	return why
}

// result is the result of a run: DuckDB's, or the rows of a table.
type result interface {
	Schema() *arrow.Schema
	Next(ctx context.Context) (arrow.Record, error)
	Retain() (release func())
	Close()
}

// Rows is the result of a query while it runs, for one goroutine.
type Rows struct {
	statement *Statement
	prepared  *preparedStatement
	run       *statementRun
	rows      result
	stop      func()
	closed    bool
}

// Schema returns the schema of the statement.
func (r *Rows) Schema() *arrow.Schema { return r.rows.Schema() }

// Next returns the next rows, which the caller releases, or io.EOF.
func (r *Rows) Next(ctx context.Context) (arrow.Record, error) {
	rec, err := r.rows.Next(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		r.prepared.failed = true
	}
	return rec, err
}

// Retain keeps the memory of the last record readable until release is called once, also after
// Close. It returns nil if the garbage collector keeps it.
func (r *Rows) Retain() (release func()) {
	return r.rows.Retain()
}

// Close ends the query. Calls after the first do nothing.
func (r *Rows) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.rows.Close()
	r.run.release()
	r.stop()
	r.statement.put(r.prepared)
	r.statement.engine.busy.Done()
}
