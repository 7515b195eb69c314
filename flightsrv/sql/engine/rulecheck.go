package engine

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/flightsrv/sql/worker"
	"github.com/vibeflight/vibeflight/readers"
)

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

// RuleError is the error of an expression that no rule can have, whatever the table's columns are.
type RuleError struct{ Err error }

func (e *RuleError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *RuleError) Unwrap() error { return e.Err }

// CheckRule returns a [RuleError] for an expression that no rule can have. The columns that it names
// are not checked. Another error says that it could not be checked.
func (e *Engine) CheckRule(ctx context.Context, expression string) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.busy.Done()
	db, err := e.takeForRules(ctx)
	if err != nil {
		return err
	}
	defer db.Rest()
	conn, err := db.Connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	functions, err := e.functions(ctx, conn)
	if err != nil {
		return err
	}
	x, err := parseExpression(conn, expression)
	if err == nil {
		err = checkFunctions(conn, functions, x.Functions, 0)
	}
	of := new(duck.Error)
	if errors.As(err, &of) && of.Kind != duck.Internal && of.Kind != duck.Interrupted && of.Kind != duck.Memory ||
		errors.Is(err, errRuleFunction) {
		return &RuleError{err}
	}
	return err
}

// errRuleFunction is the reason why a function is not allowed in a rule.
var errRuleFunction = errors.New("a rule must have the same value each time")

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
			return fmt.Errorf("the function %s is not allowed: %w", name, errRuleFunction)
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
