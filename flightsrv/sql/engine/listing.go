package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// DuckDB's own listings have the views that queries have created: some of the entries, under the
// names in those queries. So the functions after SHOW TABLES and information_schema are macros
// here, over three tables that the engine fills when they are read. Unqualified names are looked up
// in the database of the views before DuckDB's own.

// The keys of these tables. No entry has such a name, since no name begins with a slash.
const (
	schemasKey = "/schemas"
	tablesKey  = "/tables"
	columnsKey = "/columns"
)

// declarations make DuckDB's functions list the catalog, with the columns of DuckDB 1.5.
var declarations = []string{
	`CREATE MACRO main.duckdb_schemas() AS TABLE
SELECT oid, 'vibeflight' AS database_name, NULL::BIGINT AS database_oid, schema_name,
    NULL::VARCHAR AS "comment", MAP {}::MAP(VARCHAR, VARCHAR) AS tags,
  schema_name = 'main' AS internal, NULL::VARCHAR AS "sql" FROM vibeflight_scan('/schemas')
UNION ALL SELECT oid, database_name, database_oid, schema_name, "comment", tags, internal, "sql"
    FROM system.main.duckdb_schemas() WHERE database_name <> 'vibeflight'`,
	`CREATE MACRO main.duckdb_tables() AS TABLE
SELECT 'vibeflight' AS database_name, NULL::BIGINT AS database_oid, schema_name, schema_oid, table_name,
    table_oid, NULL::VARCHAR AS "comment",
  MAP {}::MAP(VARCHAR, VARCHAR) AS tags, false AS internal, false AS "temporary", false AS has_primary_key,
    NULL::BIGINT AS estimated_size,
  NULL::BIGINT AS column_count, 0::BIGINT AS index_count, 0::BIGINT AS check_constraint_count,
    NULL::VARCHAR AS "sql" FROM vibeflight_scan('/tables')`,
	`CREATE MACRO main.duckdb_columns() AS TABLE
SELECT 'vibeflight' AS database_name, NULL::BIGINT AS database_oid, schema_name, schema_oid, table_name,
    table_oid, column_name, column_index,
  NULL::VARCHAR AS "comment", false AS internal, NULL::VARCHAR AS column_default, true AS is_nullable,
    data_type, NULL::BIGINT AS data_type_id,
  NULL::INTEGER AS character_maximum_length, numeric_precision, CASE WHEN numeric_precision IS NOT NULL
    THEN 10 END AS numeric_precision_radix, numeric_scale
FROM vibeflight_scan('/columns')`,
	`CREATE MACRO main.duckdb_views() AS TABLE SELECT * FROM system.main.duckdb_views()
    WHERE database_name <> 'vibeflight'`,
}

var (
	schemasSchema = listingSchema("oid int64, schema_name text")
	tablesSchema  = listingSchema("schema_name text, table_name text, schema_oid int64, table_oid int64")
	columnsSchema = listingSchema("schema_name text, table_name text, schema_oid int64, table_oid int64, " +
		"column_name text, column_index int32, data_type text, " +
		"numeric_precision int32, numeric_scale int32")
)

func listingSchema(columns string) *arrow.Schema {
	types := map[string]arrow.DataType{
		"text": arrow.BinaryTypes.String, "int32": arrow.PrimitiveTypes.Int32,
		"int64": arrow.PrimitiveTypes.Int64,
	}
	var fields []arrow.Field
	for _, column := range strings.Split(columns, ", ") {
		name, typ, _ := strings.Cut(column, " ")
		fields = append(fields, arrow.Field{Name: name, Type: types[typ], Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

// listing is one of the three tables. Each scan lists the current entries.
type listing struct {
	engine *Engine
	key    string
	schema *arrow.Schema
}

// listing returns the table of a key, or nil.
func (e *Engine) listing(key string) *listing {
	switch key {
	case schemasKey:
		return &listing{e, key, schemasSchema}
	case tablesKey:
		return &listing{e, key, tablesSchema}
	case columnsKey:
		return &listing{e, key, columnsSchema}
	}
	return nil
}

// relation returns the table for the compiler of conditions.
func (l *listing) relation() *relation {
	return &relation{entry: l.key, schema: l.schema, geometry: -1, number: -1}
}

func (l *listing) Schema() *arrow.Schema { return l.schema }
func (l *listing) Rows() int64           { return -1 }
func (l *listing) Release()              {}

func (l *listing) Scan(ctx context.Context, columns []int) (duck.Batches, error) {
	n := l.engine.list(ctx)
	b := &listingScan{ctx: ctx, engine: l.engine, schema: l.schema, columns: columns}
	switch l.key {
	case schemasKey:
		b.fill = func(b *array.RecordBuilder, _ int) error { n.listSchemas(b); return nil }
	case tablesKey:
		b.fill = func(b *array.RecordBuilder, _ int) error { n.listTables(b); return nil }
	default:
		b.tables = n.wanted(runOf(ctx))
		b.fill = func(r *array.RecordBuilder, i int) error { return b.listColumns(r, n, b.tables[i]) }
		return b, nil
	}
	b.tables = []int{0}
	return b, nil
}

// listingScan is a scan of a listing.
type listingScan struct {
	ctx     context.Context
	engine  *Engine
	schema  *arrow.Schema
	columns []int
	tables  []int // a batch for each; numbers of tables in a scan of columns
	fill    func(b *array.RecordBuilder, i int) error
}

func (b *listingScan) Len() int { return len(b.tables) }
func (b *listingScan) Release() {}

func (b *listingScan) Batch(i int) (rec arrow.Record, lasting bool, err error) {
	builder := array.NewRecordBuilder(memory.DefaultAllocator, b.schema)
	defer builder.Release()
	if err := b.fill(builder, i); err != nil {
		return nil, false, err
	}
	all := builder.NewRecord()
	defer all.Release()
	fields := make([]arrow.Field, len(b.columns))
	columns := make([]arrow.Array, len(b.columns))
	for i, k := range b.columns {
		fields[i], columns[i] = b.schema.Field(k), all.Column(k)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, all.NumRows()), false, nil
}

// schemas returns the names of all schemas, sorted. The root's exists even without a table.
func (n *tableList) schemas() []string {
	all := []string{MainSchema}
	for i := range n.tables {
		if schema := n.tables[i].Schema; schema != all[len(all)-1] { // tables are sorted by schema
			all = append(all, schema)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// firstOID is the first number of schemas, and firstTableOID that of tables: above those of
// DuckDB's own catalog.
// of DuckDB's own catalog.
const (
	firstOID      = 1 << 20
	firstTableOID = 1 << 30
)

func (n *tableList) listSchemas(b *array.RecordBuilder) {
	for i, name := range n.schemas() {
		appendRow(b, int64(firstOID+i), name)
	}
}

func (n *tableList) listTables(b *array.RecordBuilder) {
	schemas := n.schemas()
	for i := range n.tables {
		n.appendTable(b, schemas, i)
	}
}

// appendTable appends the columns that identify a table, or a column of it.
func (n *tableList) appendTable(b *array.RecordBuilder, schemas []string, i int) {
	t := &n.tables[i]
	schema, _ := slices.BinarySearch(schemas, t.Schema)
	appendRow(b, t.Schema, t.Name, int64(firstOID+schema), int64(firstTableOID+i))
}

// appendRow appends values to the first columns of a record.
func appendRow(b *array.RecordBuilder, values ...any) {
	for i, v := range values {
		switch v := v.(type) {
		case string:
			b.Field(i).(*array.StringBuilder).Append(v)
		case int64:
			b.Field(i).(*array.Int64Builder).Append(v)
		}
	}
}

// wanted returns the numbers of the tables whose columns a run needs. Each of these tables is
// parsed, so conditions on schema_name or table_name matter.
func (n *tableList) wanted(r *statementRun) []int {
	var is condition
	var args arguments
	if r != nil {
		is, args = r.filters[columnsKey].condition, r.args
	}
	var of []int
	for i := range n.tables {
		if is == nil || is.mayMatch(viewOf(&n.tables[i], args)) {
			of = append(of, i)
		}
	}
	return of
}

// viewOf is a table for conditions on its columns: one value of schema_name and of table_name, and
// any value of the others.
func viewOf(t *Table, args arguments) *batchView {
	columns := &geoarrow.Columns{Rows: 2, Attributes: make([]geoarrow.Column, columnsSchema.NumFields())}
	ranges := map[int]*columnRange{}
	for i := range columns.Attributes {
		columns.Attributes[i].Nulls = 1 // of two rows: nulls and other values
		ranges[i] = &columnRange{}
	}
	for i, name := range []string{t.Schema, t.Name} {
		columns.Attributes[i].Nulls = 0
		text := geoarrow.Value{Bytes: []byte(name)}
		ranges[i] = &columnRange{known: true, low: text, high: text}
	}
	return &batchView{args: args, columns: columns, cache: &batchCache{ranges: ranges}}
}

// listColumns appends the columns of a table. A file that can't be read has none, so that the
// others are listed.
func (b *listingScan) listColumns(r *array.RecordBuilder, n *tableList, i int) error {
	l, err := leaseTable(b.ctx, b.engine.cfg.Catalog, access.Describe, n.tables[i].Entry, "")
	if cause := context.Cause(b.ctx); cause != nil || errors.Is(err, ErrClosed) {
		if err == nil {
			l.release()
		}
		return errors.Join(cause, err)
	}
	if err != nil {
		return nil
	}
	defer l.release()
	schemas := n.schemas()
	for k, f := range newRelation(n.tables[i].Entry, l).schema.Fields() {
		n.appendTable(r, schemas, i)
		r.Field(4).(*array.StringBuilder).Append(f.Name)
		r.Field(5).(*array.Int32Builder).Append(int32(k + 1))
		r.Field(6).(*array.StringBuilder).Append(TypeName(f))
		if precision, scale, ok := Digits(f.Type); ok {
			r.Field(7).(*array.Int32Builder).Append(precision)
			r.Field(8).(*array.Int32Builder).Append(scale)
			continue
		}
		r.Field(7).AppendNull()
		r.Field(8).AppendNull()
	}
	return nil
}
