package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/vibeflight/vibeflight/catalog/restrict"
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
	checked   map[ruleKey][]int // columns that an expression reads
	idle      idleRules
}

// ruleRun is where expressions are computed.
type ruleRun struct {
	take   func(ctx context.Context) (*database, error) // the exclusive use of a DuckDB
	rights string                                       // of the callers of that DuckDB; "": it has none
	idle   *idleRules
}

// ofRules is where the rules of restricted tables are computed.
func (e *Engine) ofRules() ruleRun { return ruleRun{take: e.takeForRules, idle: &e.rules.idle} }

// ofCaller is where the filters of a caller's requests are computed: no query waits for them, so that
// they need no DuckDBs of their own.
func (e *Engine) ofCaller(ctx context.Context) ruleRun {
	rights := e.cfg.Catalog.Scope(ctx).Key()
	return ruleRun{
		take: func(ctx context.Context) (*database, error) { return e.databases.take(ctx, rights) }, rights: rights,
		idle: &e.filters,
	}
}

// Filters returns what computes the filters of requests.
func (e *Engine) Filters() restrict.Evaluator { return callerFilters{e} }

// callerFilters computes the filters of requests. It implements restrict.Evaluator.
type callerFilters struct{ *Engine }

// Filter implements restrict.Evaluator.
func (r callerFilters) Filter(ctx context.Context, t *readers.Table, predicate string) ([][]int32, error) {
	return r.filter(ctx, r.ofCaller(ctx), t, predicate)
}

// ruleKey identifies an expression, or a query of expressions, over a table with certain columns, for
// callers of some rights.
type ruleKey struct{ schema, text, rights string }

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
	kept, err := e.filter(ctx, e.ofRules(), t, predicate)
	return kept, inRule(predicate, err)
}

// inRule returns the error of a rule with its text.
func inRule(expression string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("rule %q: %w", expression, err)
}

// filter returns the rows of each batch for which a predicate is true, ascending.
func (e *Engine) filter(ctx context.Context, on ruleRun, t *readers.Table, predicate string) ([][]int32, error) {
	kept := make([][]int32, len(t.Batches))
	of := newRuleRelation(t)
	if _, err := e.check(ctx, on, of, predicate); err != nil {
		return nil, err
	}
	head := fmt.Sprintf("SELECT %s FROM %s WHERE (", quoteName(of.numberName()), rulesTable)
	err := e.evaluate(ctx, on, of, t, head+predicate+"\n)", func(rec arrow.Record) error {
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
	return kept, within(err, len(head), predicate)
}

// Compute implements restrict.Evaluator.
func (e *Engine) Compute(ctx context.Context, t *readers.Table, masks []restrict.Mask) ([]arrow.Array, error) {
	of := newRuleRelation(t)
	query := "SELECT " + quoteName(of.numberName())
	for _, m := range masks {
		if _, err := e.check(ctx, e.ofRules(), of, m.Expression); err != nil {
			return nil, inRule(m.Expression, err)
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
	err := e.evaluate(ctx, e.ofRules(), of, t, query, func(rec arrow.Record) error {
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
