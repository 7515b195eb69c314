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

	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/flightsrv/sql/worker"
	"github.com/vibeflight/vibeflight/readers"
)

// Uses implements restrict.Evaluator.
func (e *Engine) Uses(ctx context.Context, t *readers.Table, expressions []string) ([]int, error) {
	var all []int
	of := newRuleRelation(t)
	for _, x := range expressions {
		columns, err := e.check(ctx, e.ofRules(), of, x)
		if err != nil {
			return nil, inRule(x, err)
		}
		all = append(all, columns...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// check returns the columns that an expression reads, or an error if it is not one that a rule may
// have.
func (e *Engine) check(ctx context.Context, on ruleRun, of *relation, expression string) ([]int, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.busy.Done()
	key := ruleKey{schema: of.schema.String(), text: expression}
	e.rules.mu.Lock()
	columns, ok := e.rules.checked[key]
	e.rules.mu.Unlock()
	if ok {
		return columns, nil
	}
	db, err := on.take(ctx)
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
		return nil, err
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
		err = checkFunctions(ctx, conn, functions, x.Functions, 0)
	}
	of := new(duck.Error)
	if errors.As(err, &of) && of.Kind != duck.Internal && of.Kind != duck.Interrupted && of.Kind != duck.Memory ||
		errors.Is(err, errRuleFunction) {
		return &RuleError{err}
	}
	return err
}

// errRuleFunction is the reason why a function is not allowed in a rule.
var errRuleFunction = errors.New("filters and masks have functions of one row with the same value each time")

func (e *Engine) checkWith(ctx context.Context, conn worker.Conn, of *relation, expression string) ([]int, error) {
	x, err := parseExpression(conn, expression)
	if err != nil {
		return nil, err
	}
	columns := []int{}
	for _, c := range x.Columns {
		k := slices.IndexFunc(of.schema.Fields(), func(f arrow.Field) bool { return lower(f.Name) == lower(c.Name) })
		if k < 0 || k == of.number {
			return nil, of.unknownColumn(c)
		}
		columns = append(columns, k)
	}
	functions, err := e.functions(ctx, conn)
	if err != nil {
		return nil, err
	}
	return columns, checkFunctions(ctx, conn, functions, x.Functions, 0)
}

// unknownColumn returns the error for a column that the table of a rule does not have.
func (r *relation) unknownColumn(c duck.Place) error {
	var names []string
	for i, f := range r.schema.Fields() {
		if i != r.number {
			names = append(names, f.Name)
		}
	}
	return &Error{Kind: duck.Name, Message: restrict.NoColumn(c.Name, names).Error(), Position: c.Position}
}

// within returns an error of DuckDB with its position in an expression, which begins at a byte of the
// text that DuckDB has read.
func within(err error, from int, expression string) error {
	var of *Error
	if !errors.As(err, &of) || of.Position < 0 {
		return err
	}
	at := *of
	if at.Position = of.Position - from; at.Position > len(expression) {
		at.Position = len(expression)
	}
	if at.Kind == duck.Syntax && at.Position == len(expression) {
		at.Message = "syntax error at the end"
	}
	at.Position = max(-1, at.Position)
	return &at
}

// parseExpression parses an expression. It is one with and without parentheses around it.
func parseExpression(conn worker.Conn, text string) (*duck.Expression, error) {
	const bare, parenthesized = "SELECT ", "SELECT ("
	// A comment at the end of the text ends with the line.
	query, err := conn.Parse(parenthesized + text + "\n) FROM " + rulesTable)
	if err != nil {
		return nil, within(err, len(parenthesized), text)
	}
	if _, err := conn.Parse(bare + text + "\nFROM " + rulesTable); err != nil {
		return nil, within(err, len(bare), text)
	}
	x, err := query.Expression()
	if err != nil {
		return nil, within(err, len(parenthesized), text)
	}
	for _, places := range [][]duck.Place{x.Columns, x.Functions} {
		for i := range places {
			places[i].Position = max(-1, places[i].Position-len(parenthesized))
		}
	}
	return x, nil
}

// ofTime matches the names of functions whose value depends on when they are called, or by whom,
// whatever DuckDB says of them.
var ofTime = regexp.MustCompile(`^(age|current_.*|get_current_.*|getvariable|in_search_path|now|random|setseed|` +
	`today|transaction_timestamp|txid_current|.*uuid.*|version)$`)

// checkFunctions returns an error for a function that is unknown, or that may have another value in
// the next call. Macros are checked by their definitions.
func checkFunctions(ctx context.Context, conn worker.Conn, known map[string]string, calls []duck.Place, depth int,
) error {
	for _, call := range calls {
		macro, ok := known[call.Name]
		if !ok && depth == 0 {
			if err := unknownFunction(ctx, conn, call); err != nil {
				return err
			}
		}
		switch {
		case !ok || ofTime.MatchString(call.Name) || depth > maxMacroDepth:
			return refusedCall(call, errRuleFunction)
		case macro == "":
			continue
		}
		x, err := parseExpression(conn, macro)
		if err != nil {
			return refusedCall(call, err)
		}
		if err := checkFunctions(ctx, conn, known, x.Functions, depth+1); err != nil {
			return refusedCall(call, errRuleFunction)
		}
	}
	return nil
}

// unknownFunction returns DuckDB's error for a function that it does not have, with the closest one,
// or nil.
func unknownFunction(ctx context.Context, conn worker.Conn, call duck.Place) error {
	query, err := conn.Parse("SELECT " + quoteName(call.Name) + "()")
	if err != nil {
		return nil
	}
	s, err := conn.Prepare(ctx, query)
	if err == nil {
		s.Close()
	}
	var none *Error
	if !errors.As(err, &none) || none.Kind != duck.Name {
		return nil
	}
	return &Error{Kind: duck.Name, Message: none.Message, Position: call.Position}
}

// callError is the error of a call that a rule may not have.
type callError struct{ of, reason error }

func (e *callError) Error() string   { return e.of.Error() }
func (e *callError) Unwrap() []error { return []error{e.of, e.reason} }

func refusedCall(call duck.Place, reason error) error {
	return &callError{&Error{
		Kind: duck.Denied, Position: call.Position,
		Message: fmt.Sprintf("the function %s is not allowed: %v", call.Name, reason),
	}, reason}
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
