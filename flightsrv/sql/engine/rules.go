package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/flightsrv/sql/worker"
	"github.com/vibeflight/vibeflight/readers"
)

// The engine computes the filters and masks of restricted tables: it implements
// restrict.Evaluator. A rule is an expression over the columns of one table. It has no subquery, and
// the same value each time, so that what it gives can be cached.
//
// A query that reads a restricted table waits for its rules. So these run on DuckDBs of their own,
// which never wait for a query.

// rules are the statements that compute expressions.
type rules struct {
	spatial string

	mu        sync.Mutex
	databases *databases // nil until the first use
	functions map[string]string
	checked   map[ruleKey][]int    // columns that an expression reads
	idle      []*preparedStatement // the most recently used last
	closed    bool
}

// ruleKey identifies an expression, or a query of expressions, over a table with certain columns.
type ruleKey struct{ schema, text string }

const (
	rulesKey       = "/rows" // of the table in rules; no entry has such a name
	rulesTable     = "rows"
	rulesMemory    = 256 << 20
	maxRuleWorkers = 2
	maxIdleRules   = 16
	maxChecked     = 1024
	maxMacroDepth  = 8
)

// Filter implements restrict.Evaluator.
func (e *Engine) Filter(ctx context.Context, t *readers.Table, predicate string) ([][]int32, error) {
	kept := make([][]int32, len(t.Batches))
	of := newRuleRelation(t)
	if _, err := e.check(ctx, of, predicate); err != nil {
		return nil, err
	}
	query := fmt.Sprintf("SELECT %s FROM %s WHERE (%s\n)", quoteName(of.numberName()), rulesTable, predicate)
	err := e.evaluate(ctx, of, t, query, func(rec arrow.Record) error {
		for _, row := range rec.Column(0).(*array.Int64).Int64Values() {
			i, exact := slices.BinarySearch(t.Starts, row)
			if !exact {
				i--
			}
			for i+1 < len(kept) && t.Starts[i+1] == row { // batches without rows
				i++
			}
			kept[i] = append(kept[i], int32(row-t.Starts[i]))
		}
		return nil
	})
	for _, rows := range kept {
		slices.Sort(rows)
	}
	return kept, err
}

// Compute implements restrict.Evaluator.
func (e *Engine) Compute(ctx context.Context, t *readers.Table, masks []restrict.Mask) ([]arrow.Array, error) {
	of := newRuleRelation(t)
	query := "SELECT " + quoteName(of.numberName())
	for _, m := range masks {
		if _, err := e.check(ctx, of, m.Expression); err != nil {
			return nil, err
		}
		f := of.schema.Field(m.Column)
		if m.Column == of.geometry {
			query += fmt.Sprintf(", (%s\n)", m.Expression)
		} else {
			query += fmt.Sprintf(", CAST((%s\n) AS %s)", m.Expression, TypeName(f))
		}
	}
	query += " FROM " + rulesTable
	var runs []run
	defer func() {
		for _, r := range runs {
			r.release()
		}
	}()
	err := e.evaluate(ctx, of, t, query, func(rec arrow.Record) error {
		r, err := newRun(rec)
		if r.rows > 0 && err == nil {
			runs = append(runs, r)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return joinRuns(runs, len(masks), t.Rows)
}

// run is the values of masks for consecutive rows.
type run struct {
	first, rows int64
	values      []arrow.Array
}

func (r run) release() {
	for _, a := range r.values {
		a.Release()
	}
}

// newRun copies a record of row numbers and values, which is valid until the next one.
func newRun(rec arrow.Record) (r run, err error) {
	numbers := rec.Column(0).(*array.Int64).Int64Values()
	if r.rows = int64(len(numbers)); r.rows == 0 {
		return r, nil
	}
	r.first = numbers[0]
	for i, n := range numbers {
		if n != r.first+int64(i) {
			return r, fmt.Errorf("row %d follows row %d", n, numbers[max(0, i-1)])
		}
	}
	for _, a := range rec.Columns()[1:] {
		c, err := array.Concatenate([]arrow.Array{a}, memory.DefaultAllocator)
		if err != nil {
			r.release()
			return r, err
		}
		r.values = append(r.values, c)
	}
	return r, nil
}

// joinRuns returns the values of all rows, whatever the order of the runs is.
func joinRuns(runs []run, columns int, rows int64) ([]arrow.Array, error) {
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.first, b.first) })
	var next int64
	parts := make([][]arrow.Array, columns)
	for _, r := range runs {
		if r.first != next {
			return nil, fmt.Errorf("row %d follows row %d", r.first, next-1)
		}
		next += r.rows
		for i, a := range r.values {
			parts[i] = append(parts[i], a)
		}
	}
	if next != rows {
		return nil, fmt.Errorf("%d values for %d rows", next, rows)
	}
	out := make([]arrow.Array, columns)
	for i := range out {
		var err error
		if len(parts[i]) == 0 {
			out[i] = array.NewNull(0)
		} else if out[i], err = array.Concatenate(parts[i], memory.DefaultAllocator); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Uses implements restrict.Evaluator.
func (e *Engine) Uses(ctx context.Context, t *readers.Table, expressions []string) ([]int, error) {
	var all []int
	of := newRuleRelation(t)
	for _, x := range expressions {
		columns, err := e.check(ctx, of, x)
		if err != nil {
			return nil, err
		}
		all = append(all, columns...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// newRuleRelation returns the table of a rule: its columns, and the numbers of rows.
func newRuleRelation(t *readers.Table) *relation {
	l := &lease{}
	l.table.Store(t)
	r := newRelation(rulesKey, l)
	name := "row"
	for len(r.schema.FieldIndices(name)) > 0 {
		name += "_"
	}
	r.number, r.rows = r.schema.NumFields(), -1
	fields := append(r.schema.Fields(), arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64})
	r.schema = distinctNames(arrow.NewSchema(fields, nil))
	return r
}

// numberName returns the name of the column of row numbers.
func (r *relation) numberName() string { return r.schema.Field(r.number).Name }

// check returns the columns that an expression reads, or an error if it is not one that a rule may
// have.
func (e *Engine) check(ctx context.Context, of *relation, expression string) ([]int, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.busy.Done()
	key := ruleKey{of.schema.String(), expression}
	e.rules.mu.Lock()
	columns, ok := e.rules.checked[key]
	e.rules.mu.Unlock()
	if ok {
		return columns, nil
	}
	db, err := e.takeForRules(ctx)
	if err != nil {
		return nil, err
	}
	defer db.Rest()
	conn, err := db.Connect()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if columns, err = e.checkWith(ctx, conn, of, expression); err != nil {
		return nil, fmt.Errorf("rule %q: %w", expression, err)
	}
	e.rules.mu.Lock()
	defer e.rules.mu.Unlock()
	if len(e.rules.checked) >= maxChecked || e.rules.checked == nil {
		e.rules.checked = map[ruleKey][]int{}
	}
	e.rules.checked[key] = columns
	return columns, nil
}

func (e *Engine) checkWith(ctx context.Context, conn worker.Conn, of *relation, expression string) ([]int, error) {
	x, err := parseExpression(conn, expression)
	if err != nil {
		return nil, err
	}
	columns := []int{}
	for _, name := range x.Columns {
		k := slices.IndexFunc(of.schema.Fields(), func(f arrow.Field) bool { return lower(f.Name) == lower(name) })
		if k < 0 || k == of.number {
			return nil, fmt.Errorf("the table has no column %q", name)
		}
		columns = append(columns, k)
	}
	functions, err := e.functions(ctx, conn)
	if err != nil {
		return nil, err
	}
	return columns, checkFunctions(conn, functions, x.Functions, 0)
}

// parseExpression parses an expression. It is one with and without parentheses around it.
func parseExpression(conn worker.Conn, text string) (*duck.Expression, error) {
	// A comment at the end of the text ends with the line.
	if _, err := conn.Parse("SELECT " + text + "\nFROM " + rulesTable); err != nil {
		return nil, err
	}
	query, err := conn.Parse("SELECT (" + text + "\n) FROM " + rulesTable)
	if err != nil {
		return nil, err
	}
	return query.Expression()
}

// ofTime matches the names of functions whose value depends on when they are called, or by whom,
// whatever DuckDB says of them.
var ofTime = regexp.MustCompile(`^(age|current_.*|get_current_.*|getvariable|in_search_path|now|random|setseed|` +
	`today|transaction_timestamp|txid_current|.*uuid.*|version)$`)

// checkFunctions returns an error for a function that is unknown, or that may have another value in
// the next call. Macros are checked by their definitions.
func checkFunctions(conn worker.Conn, known map[string]string, names []string, depth int) error {
	for _, name := range names {
		macro, ok := known[name]
		switch {
		case !ok || ofTime.MatchString(name) || depth > maxMacroDepth:
			return fmt.Errorf("the function %s is not allowed: a rule must have the same value each time", name)
		case macro == "":
			continue
		}
		x, err := parseExpression(conn, macro)
		if err != nil {
			return fmt.Errorf("the macro %s is not allowed: %w", name, err)
		}
		if err := checkFunctions(conn, known, x.Functions, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// functions returns the functions that have the same value for the same arguments. The value of a
// macro is its definition.
func (e *Engine) functions(ctx context.Context, conn worker.Conn) (map[string]string, error) {
	e.rules.mu.Lock()
	known := e.rules.functions
	e.rules.mu.Unlock()
	if known != nil {
		return known, nil
	}
	known = map[string]string{}
	query, err := conn.Parse(`SELECT function_name, coalesce(max(macro_definition), '') FROM duckdb_functions()
WHERE function_type IN ('scalar', 'macro') GROUP BY 1
HAVING bool_and(CASE function_type WHEN 'scalar' THEN stability = 'CONSISTENT' ELSE true END) AND
count(DISTINCT function_type || coalesce(macro_definition, '')) = 1`)
	if err != nil {
		return nil, err
	}
	s, err := conn.Prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	rows, err := s.Query(ctx, nil, 0)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	err = eachRecord(ctx, rows, func(rec arrow.Record) error {
		names, macros := rec.Column(0).(*array.String), rec.Column(1).(*array.String)
		for i := range names.Len() {
			known[strings.ToLower(strings.Clone(names.Value(i)))] = strings.Clone(macros.Value(i))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	e.rules.mu.Lock()
	defer e.rules.mu.Unlock()
	e.rules.functions = known
	return known, nil
}

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
func (e *Engine) evaluate(ctx context.Context, of *relation, t *readers.Table, query string,
	each func(arrow.Record) error,
) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.busy.Done()
	ctx, stop := e.withEngine(ctx)
	defer stop()
	p, err := e.prepareRule(ctx, of, query)
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
	e.rules.put(p)
	return nil
}

// prepareRule returns a statement for a query over a table with certain columns.
func (e *Engine) prepareRule(ctx context.Context, of *relation, query string) (_ *preparedStatement, err error) {
	schema := of.schema.String()
	if p := e.rules.take(ruleKey{schema, query}); p != nil {
		return p, nil
	}
	p := &preparedStatement{
		engine: e, query: query, scope: schema, relations: map[string]*relation{rulesKey: of},
		mentions: []mention{{MainSchema, rulesTable, rulesKey}},
	}
	if p.db, err = e.takeForRules(ctx); err != nil {
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

// take returns an idle statement, or nil.
func (r *rules) take(key ruleKey) *preparedStatement {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.idle, func(p *preparedStatement) bool {
		return p.query == key.text && p.scope == key.schema && p.conn.Usable() && p.resume()
	})
	if i < 0 {
		return nil
	}
	p := r.idle[i]
	r.idle = slices.Delete(r.idle, i, i+1)
	return p
}

// put keeps a statement for the next use.
func (r *rules) put(p *preparedStatement) {
	p.rest()
	r.mu.Lock()
	if !r.closed {
		r.idle, p = append(r.idle, p), nil
		if len(r.idle) > maxIdleRules {
			p = r.idle[0]
			r.idle = slices.Delete(r.idle, 0, 1)
		}
	}
	r.mu.Unlock()
	if p != nil {
		p.close()
	}
}

// close ends the DuckDBs of rules, which nobody uses any more.
func (r *rules) close() error {
	r.mu.Lock()
	idle := r.idle
	r.idle, r.closed = nil, true
	r.mu.Unlock()
	closeAll(idle)
	if r.databases == nil {
		return nil
	}
	return r.databases.source.Close()
}
