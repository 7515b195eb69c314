package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql/schema_ref"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
)

// tableType is the type of all tables. They are base tables, and clients look for this type.
const tableType = "TABLE"

// errorKey is the metadata key of the schema of a table whose file can't be read. Its value is the
// error.
const errorKey = "vibeflight:error"

// texts appends values to the columns, the first one first.
func texts(b *array.RecordBuilder, values ...string) {
	for i, v := range values {
		b.Field(i).(*array.StringBuilder).Append(v)
	}
}

// column is a listing of one text column.
func column(schema *arrow.Schema, values ...string) listing {
	return listing{schema, func(context.Context, *Server) (arrow.Record, error) {
		return record(schema, func(b *array.RecordBuilder) {
			for _, v := range values {
				texts(b, v)
			}
		}), nil
	}}
}

func catalogs() listing { return column(schema_ref.Catalogs, engine.CatalogName) }

func tableTypes() listing { return column(schema_ref.TableTypes, tableType) }

// inCatalog reports whether a filter matches the only catalog. It is a name and not a pattern. The
// empty name means tables without a catalog, and there are none.
func inCatalog(filter *string) bool { return filter == nil || *filter == engine.CatalogName }

// schemaNames returns the schemas that the caller may know, sorted: those that have tables, and that
// of the root.
func (s *Server) schemaNames(ctx context.Context) []string {
	names := []string{engine.MainSchema}
	for _, t := range s.engine.Tables(ctx) {
		names = append(names, t.Schema)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func schemas(m *pb.CommandGetDbSchemas) listing {
	return listing{schema_ref.DBSchemas, func(ctx context.Context, s *Server) (arrow.Record, error) {
		return record(schema_ref.DBSchemas, func(b *array.RecordBuilder) {
			for _, name := range s.schemaNames(ctx) {
				if inCatalog(m.Catalog) && matches(m.DbSchemaFilterPattern,
					name) { //nolint:protogetter // no pattern is not the empty one
					texts(b, engine.CatalogName, name)
				}
			}
		}), nil
	}}
}

func tables(m *pb.CommandGetTables) listing {
	schema := schema_ref.Tables
	if m.GetIncludeSchema() {
		schema = schema_ref.TablesWithIncludedSchema
	}
	return listing{schema, func(ctx context.Context, s *Server) (rec arrow.Record, err error) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		for _, t := range wantedTables(m, s.engine.Tables(ctx)) {
			texts(b, engine.CatalogName, t.Schema, t.Name, tableType)
			if !m.GetIncludeSchema() {
				continue
			}
			columns, err := s.columns(ctx, t)
			if err != nil {
				return nil, err
			}
			b.Field(4).(*array.BinaryBuilder).Append(encodeSchema(columns))
		}
		return b.NewRecord(), nil
	}}
}

// wantedTables returns the tables that match a command. If the pattern matches no name of a table, it
// is compared with what else a query may call tables, which are returned under these names: a client
// that lists the columns of countries means the table that a query calls countries. A name that
// several tables of a schema share matches none of them.
func wantedTables(m *pb.CommandGetTables, all []engine.Table) []engine.Table {
	var in []engine.Table
	for _, t := range all {
		if inCatalog(m.Catalog) && (len(m.GetTableTypes()) == 0 || slices.Contains(m.GetTableTypes(), tableType)) {
			in = append(in, t)
		}
	}
	for _, match := range []func(pattern *string, name string) bool{matches, matchesFold} {
		for _, called := range tableNames {
			if found := called.wanted(m, in, match); len(found) > 0 {
				return found
			}
		}
	}
	return nil
}

// tableName is what a query may call a table.
type tableName func(t engine.Table) engine.Table

// tableNames are the names of tables in the order of precedence.
var tableNames = []tableName{
	func(t engine.Table) engine.Table { return t },
	func(t engine.Table) engine.Table { t.Name = t.Stem(); return t },
	func(t engine.Table) engine.Table { t.Schema, t.Name = engine.MainSchema, t.Entry; return t },
	func(t engine.Table) engine.Table {
		t.Schema, t.Name = engine.MainSchema, t.Entry
		t.Name = t.Stem()
		return t
	},
}

// wanted returns the tables that match by this name.
func (called tableName) wanted(m *pb.CommandGetTables, all []engine.Table,
	match func(pattern *string, name string) bool,
) []engine.Table {
	var found []engine.Table
	times := map[[2]string]int{}
	for _, t := range all {
		t = called(t)
		if !match(m.DbSchemaFilterPattern, t.Schema) { //nolint:protogetter // no pattern is not the empty one
			continue
		}
		times[[2]string{t.Schema, t.Name}]++
		if match(m.TableNameFilterPattern, t.Name) { //nolint:protogetter // as above
			found = append(found, t)
		}
	}
	return slices.DeleteFunc(found, func(t engine.Table) bool { return times[[2]string{t.Schema, t.Name}] > 1 })
}

// columns returns the schema of a table with Flight SQL's metadata of its columns. A file that
// can't be read has no columns, and the schema has the error. So the other tables are listed.
func (s *Server) columns(ctx context.Context, t engine.Table) (*arrow.Schema, error) {
	schema, err := s.engine.TableSchema(ctx, t)
	if ctx.Err() != nil || errors.Is(err, engine.ErrClosed) {
		return nil, fmt.Errorf("%s: %w", t.Entry, err)
	}
	if err != nil {
		metadata := arrow.NewMetadata([]string{errorKey}, []string{err.Error()})
		return arrow.NewSchema(nil, &metadata), nil
	}
	var fields []arrow.Field
	for _, f := range schema.Fields() {
		f.Metadata = describe(f, t)
		fields = append(fields, f)
	}
	metadata := schema.Metadata()
	return arrow.NewSchema(fields, &metadata), nil
}

// describe adds Flight SQL's keys to the metadata of a column.
func describe(f arrow.Field, t engine.Table) arrow.Metadata {
	m := flightsql.NewColumnMetadataBuilder().CatalogName(engine.CatalogName).SchemaName(t.Schema).TableName(
		t.Name,
	).TypeName(engine.TypeName(f)).
		IsAutoIncrement(false).IsCaseSensitive(typeFamilyOf(f.Type) == text).IsReadOnly(true).IsSearchable(true)
	if precision, scale, ok := engine.Digits(f.Type); ok {
		m.Precision(precision).Scale(scale)
	}
	sql := m.Metadata()
	return arrow.NewMetadata(append(slices.Clone(f.Metadata.Keys()), sql.Keys()...),
		append(slices.Clone(f.Metadata.Values()), sql.Values()...))
}

// keys returns the listings of keys. No table has keys.
func keys(m any) (listing, bool) {
	schema := schema_ref.ImportedExportedKeysAndCrossReference
	switch m.(type) {
	case *pb.CommandGetPrimaryKeys:
		schema = schema_ref.PrimaryKeys
	case *pb.CommandGetImportedKeys, *pb.CommandGetExportedKeys, *pb.CommandGetCrossReference:
	default:
		return listing{}, false
	}
	return listing{schema, func(context.Context, *Server) (arrow.Record, error) {
		return record(schema, func(*array.RecordBuilder) {}), nil
	}}, true
}
