package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/sql/worker"
	"github.com/vibeflight/vibeflight/readers"
)

// eachRecord calls each with the records of a result, which are released.
func eachRecord(ctx context.Context, rows result, each func(arrow.Record) error) error {
	for {
		rec, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = each(rec)
		rec.Release()
		if err != nil {
			return err
		}
	}
}

// takeForRules returns the exclusive use of a DuckDB for rules.
func (e *Engine) takeForRules(ctx context.Context) (*database, error) {
	e.rules.mu.Lock()
	if e.rules.databases == nil {
		cfg := e.cfg
		cfg.Workers = min(cfg.Workers, maxRuleWorkers)
		cfg.MemoryBytes = min(cfg.MemoryBytes, max(cfg.MemoryBytes/4, rulesMemory))
		source, err := e.open(cfg, e.rules.spatial)
		if err != nil {
			e.rules.mu.Unlock()
			return nil, err
		}
		e.rules.databases = &databases{source: source, known: map[worker.Database]*database{}}
	}
	e.rules.mu.Unlock()
	return e.rules.databases.take(ctx, "") // there are no other callers
}

// evaluate runs a query over the rows of a table, and calls each with its records.
func (e *Engine) evaluate(ctx context.Context, on ruleRun, of *relation, t *readers.Table, query string,
	each func(arrow.Record) error,
) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.busy.Done()
	ctx, stop := e.withEngine(ctx)
	defer stop()
	p, err := e.prepareRule(ctx, on, of, query)
	if err != nil {
		return err
	}
	l := &lease{catalog: e.cfg.Catalog, copies: true, users: 1, ref: &catalog.TableRef{Table: t}}
	l.table.Store(t)
	run := &statementRun{engine: e, relations: p.relations, leases: map[string]*lease{rulesKey: l}}
	defer run.release()
	run.filters = p.filters(run.context(ctx))
	rows, err := p.statement.Query(run.context(ctx), nil, 0)
	if err != nil {
		p.close()
		return err
	}
	err = eachRecord(ctx, rows, each)
	rows.Close()
	if err != nil {
		p.close()
		return err
	}
	on.idle.put(p)
	return nil
}

// prepareRule returns a statement for a query over a table with certain columns.
func (e *Engine) prepareRule(ctx context.Context, on ruleRun, of *relation, query string) (
	_ *preparedStatement, err error,
) {
	schema := of.schema.String()
	if p := on.idle.take(ruleKey{schema, query, on.rights}); p != nil {
		return p, nil
	}
	p := &preparedStatement{
		engine: e, query: query, scope: schema, rights: on.rights, relations: map[string]*relation{rulesKey: of},
		mentions: []mention{{MainSchema, rulesTable, rulesKey}},
	}
	if p.db, err = on.take(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.conn, err = p.db.Connect(); err != nil {
		return nil, err
	}
	if p.parsed, err = p.conn.Parse(query); err != nil {
		return nil, err
	}
	if err = p.bind(ctx); err != nil {
		return nil, err
	}
	if err = checkResult(p.statement.Schema(), query); err != nil {
		return nil, err
	}
	p.filters = p.lazyFilters(p.parsed)
	return p, nil
}

// checkResult returns an error for a mask that is null without being the word NULL.
func checkResult(result *arrow.Schema, query string) error {
	for _, f := range result.Fields()[1:] {
		if f.Type.ID() == arrow.NULL {
			return fmt.Errorf("%s: NULL has to be written as such", query)
		}
	}
	return nil
}

// idleRules are statements of expressions that nobody uses now.
type idleRules struct {
	mu         sync.Mutex
	statements []*preparedStatement // the most recently used last
	closed     bool
}

// take returns an idle statement, or nil.
func (r *idleRules) take(key ruleKey) *preparedStatement {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.statements, func(p *preparedStatement) bool {
		return p.query == key.text && p.scope == key.schema && p.rights == key.rights && p.conn.Usable() && p.resume()
	})
	if i < 0 {
		return nil
	}
	p := r.statements[i]
	r.statements = slices.Delete(r.statements, i, i+1)
	return p
}

// put keeps a statement for the next use.
func (r *idleRules) put(p *preparedStatement) {
	p.rest()
	r.mu.Lock()
	if !r.closed {
		r.statements, p = append(r.statements, p), nil
		if len(r.statements) > maxIdleRules {
			p = r.statements[0]
			r.statements = slices.Delete(r.statements, 0, 1)
		}
	}
	r.mu.Unlock()
	if p != nil {
		p.close()
	}
}

// close closes all statements, and those that are put later.
func (r *idleRules) close() {
	r.mu.Lock()
	idle := r.statements
	r.statements, r.closed = nil, true
	r.mu.Unlock()
	closeAll(idle)
}

// close ends the DuckDBs of rules, which nobody uses any more.
func (r *rules) close() error {
	r.idle.close()
	if r.databases == nil {
		return nil
	}
	return r.databases.source.Close()
}
