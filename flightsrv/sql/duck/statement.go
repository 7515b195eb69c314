//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// Statement is a prepared query. It belongs to its connection.
type Statement struct {
	conn       *Conn
	prepared   duckdb.PreparedStatement
	schema     *arrow.Schema
	parameters *arrow.Schema
	crs        crsNames
	huge       bool // the query names HUGEINT, so its results are HUGEINT
}

// Parse parses a text with one query. Anything else is an [Error] of kind Syntax or Denied.
func (c *Conn) Parse(text string) (*Query, error) { return c.in.parser.query(text) }

// Prepare prepares a query, and resolves its names with ctx. It ends the rows of an earlier Query
// on the connection. The caller closes the statement.
//
// DuckDB can't be interrupted meanwhile: the end of ctx ends only what its Resolver waits for.
func (c *Conn) Prepare(ctx context.Context, query *Query) (*Statement, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if c.rows != nil {
		c.rows.Close()
	}
	s := &Statement{conn: c, crs: newCRSNames(c.in.database.cfg), huge: query.saysHuge()}
	call := c.begin(ctx, s.crs)
	defer c.end()
	// The lookup of a geometry's reference system, for its Arrow type, needs a transaction.
	err := c.run("BEGIN")
	if err == nil {
		err = s.prepare(query.text)
		if end := c.run("ROLLBACK"); err == nil {
			err = end
		}
	}
	if err != nil {
		s.Close()
		return nil, c.error(call, err)
	}
	return s, nil
}

func (s *Statement) prepare(query string) (err error) {
	if s.prepared, err = s.conn.prepare(query); err != nil {
		return err
	}
	return s.describe()
}

// prepare prepares a text that holds one statement.
func (c *Conn) prepare(query string) (duckdb.PreparedStatement, error) {
	var prepared duckdb.PreparedStatement
	if duckdb.Prepare(c.conn, query, &prepared) == duckdb.StateError {
		err := parseError(duckdb.PrepareError(prepared))
		duckdb.DestroyPrepare(&prepared)
		return prepared, err
	}
	switch t := duckdb.PreparedStatementType(prepared); t {
	case duckdb.StatementTypeSelect, duckdb.StatementTypeExplain:
		return prepared, nil
	default:
		duckdb.DestroyPrepare(&prepared)
		return prepared, denied("only queries are allowed here, not DuckDB's statement type %d", t)
	}
}

// describe finds the types of the result and of the parameters.
func (s *Statement) describe() (err error) {
	columns := int(duckdb.PreparedStatementColumnCount(s.prepared))
	var names []string
	var types []duckdb.LogicalType
	defer func() { destroyTypes(types) }()
	for i := range duckdb.IdxT(columns) {
		names = append(names, duckdb.PreparedStatementColumnName(s.prepared, i))
		types = append(types, duckdb.PreparedStatementColumnLogicalType(s.prepared, i))
	}
	if s.schema, _, err = s.conn.schema(types, names, s.huge); err != nil {
		return err
	}
	s.parameters, err = s.describeParameters()
	return err
}

func (s *Statement) describeParameters() (*arrow.Schema, error) {
	var names []string
	var types []duckdb.LogicalType
	defer func() { destroyTypes(types) }()
	for i := range duckdb.NParams(s.prepared) {
		names = append(names, duckdb.ParameterName(s.prepared, i+1))
		types = append(types, duckdb.ParamLogicalType(s.prepared, i+1))
	}
	schema, _, err := s.conn.schema(types, names, true)
	return schema, err
}

func destroyTypes(types []duckdb.LogicalType) {
	for i := range types {
		duckdb.DestroyLogicalType(&types[i])
	}
}

// Schema returns the columns of the result, as far as they are known without parameters. The type
// of a column that depends on a parameter may be null.
func (s *Statement) Schema() *arrow.Schema { return s.schema }

// Parameters returns a field for each parameter, in the order of their numbers; its type is null if
// any type will do.
func (s *Statement) Parameters() *arrow.Schema { return s.parameters }

// Close closes the statement and its rows.
func (s *Statement) Close() {
	if r := s.conn.rows; r != nil && r.statement == s {
		r.Close()
	}
	duckdb.DestroyPrepare(&s.prepared)
}

// Query runs the statement with the parameters of a row of args; args is nil without parameters. It
// returns when the first rows exist. It ends the rows of an earlier Query on the connection. The
// end of ctx ends the query. The caller closes the rows.
func (s *Statement) Query(ctx context.Context, args arrow.Record, row int) (*Rows, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if s.conn.rows != nil {
		s.conn.rows.Close()
	}
	if err := s.bind(args, row); err != nil {
		return nil, err
	}
	return s.run(ctx)
}

// run runs the statement with its bound parameters.
func (s *Statement) run(ctx context.Context) (*Rows, error) {
	r := &Rows{statement: s, call: s.conn.begin(ctx, s.crs)}
	s.conn.rows = r
	if err := r.start(ctx); err != nil {
		r.Close()
		return nil, s.conn.error(r.call, err)
	}
	return r, nil
}
