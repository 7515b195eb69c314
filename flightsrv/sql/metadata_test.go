package sql_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql/schema_ref"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

func ptr[T any](v T) *T { return &v }

// list reads a listing as lines of texts, fields separated by '|', null as (null).
func (f *fixture) list(t testing.TB, info *flight.FlightInfo, err error, schema *arrow.Schema) []string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	recs, err := f.fetch(t, info)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{}
	for _, rec := range recs {
		if !rec.Schema().Equal(schema) {
			t.Errorf("schema %v, want %v", rec.Schema(), schema)
		}
		for row := range int(rec.NumRows()) {
			var fields []string
			for _, c := range rec.Columns() {
				fields = append(fields, c.ValueStr(row))
			}
			lines = append(lines, strings.Join(fields, "|"))
		}
		rec.Release()
	}
	return lines
}

func wantLines(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestCatalogsAndSchemas(t *testing.T) {
	f := serveFake(t)
	ctx := t.Context()
	info, err := f.client.GetCatalogs(ctx)
	wantLines(t, f.list(t, info, err, schema_ref.Catalogs), "vibeflight")
	info, err = f.client.GetTableTypes(ctx)
	wantLines(t, f.list(t, info, err, schema_ref.TableTypes), "TABLE")
	for _, c := range []struct {
		name string
		opts *flightsql.GetDBSchemasOpts
		want []string
	}{
		{"all", &flightsql.GetDBSchemasOpts{}, []string{"vibeflight|counties", "vibeflight|main"}},
		{
			"of the catalog", &flightsql.GetDBSchemasOpts{Catalog: ptr("vibeflight")},
			[]string{"vibeflight|counties", "vibeflight|main"},
		},
		{"of none", &flightsql.GetDBSchemasOpts{Catalog: ptr("")}, nil},
		{"of another", &flightsql.GetDBSchemasOpts{Catalog: ptr("vibe%")}, nil},
		{"pattern", &flightsql.GetDBSchemasOpts{DbSchemaFilterPattern: ptr("c%")}, []string{"vibeflight|counties"}},
		{"empty pattern", &flightsql.GetDBSchemasOpts{DbSchemaFilterPattern: ptr("")}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			info, err := f.client.GetDBSchemas(ctx, c.opts)
			wantLines(t, f.list(t, info, err, schema_ref.DBSchemas), c.want...)
		})
	}
}

func TestTables(t *testing.T) {
	f := serveFake(t)
	ctx := t.Context()
	const (
		florida = "vibeflight|counties|florida.geojson|TABLE"
		mine    = "vibeflight|counties|my_file%.csv|TABLE"
		a       = "vibeflight|main|a.csv|TABLE"
		broken  = "vibeflight|main|broken.geojson|TABLE"
	)
	for _, c := range []struct {
		name string
		opts *flightsql.GetTablesOpts
		want []string
	}{
		{"all", &flightsql.GetTablesOpts{}, []string{florida, mine, a, broken}},
		{"of none", &flightsql.GetTablesOpts{Catalog: ptr("")}, nil},
		{
			"of the catalog", &flightsql.GetTablesOpts{Catalog: ptr("vibeflight"), DbSchemaFilterPattern: ptr("main")},
			[]string{a, broken},
		},
		{"percent", &flightsql.GetTablesOpts{TableNameFilterPattern: ptr("%geo%")}, []string{florida, broken}},
		{"underscore", &flightsql.GetTablesOpts{TableNameFilterPattern: ptr("_.csv")}, []string{a}},
		{"escaped", &flightsql.GetTablesOpts{TableNameFilterPattern: ptr(`my\_file\%.csv`)}, []string{mine}},
		{"escape excludes", &flightsql.GetTablesOpts{TableNameFilterPattern: ptr(`\_.csv`)}, nil},
		{"case", &flightsql.GetTablesOpts{TableNameFilterPattern: ptr("FLORIDA%")}, nil},
		{
			"name in another case", &flightsql.GetTablesOpts{TableNameFilterPattern: ptr("FLORIDA.geojson")},
			[]string{"vibeflight|counties|florida.geojson|TABLE"},
		},
		{
			"path", &flightsql.GetTablesOpts{TableNameFilterPattern: ptr("counties/florida.geojson")},
			[]string{"vibeflight|main|counties/florida.geojson|TABLE"},
		},
		{
			"path without extension", &flightsql.GetTablesOpts{TableNameFilterPattern: ptr("Counties/Florida")},
			[]string{"vibeflight|main|counties/florida|TABLE"},
		},
		{"path in a schema", &flightsql.GetTablesOpts{
			DbSchemaFilterPattern: ptr("counties"), TableNameFilterPattern: ptr("counties/florida"),
		}, nil},
		{
			"stem", &flightsql.GetTablesOpts{TableNameFilterPattern: ptr("florida")},
			[]string{"vibeflight|counties|florida|TABLE"},
		},
		{"stem in its schema", &flightsql.GetTablesOpts{
			DbSchemaFilterPattern:  ptr("counties"),
			TableNameFilterPattern: ptr("florida"),
		}, []string{"vibeflight|counties|florida|TABLE"}},
		{"stem in another schema", &flightsql.GetTablesOpts{
			DbSchemaFilterPattern:  ptr("main"),
			TableNameFilterPattern: ptr("florida"),
		}, nil},
		{"type", &flightsql.GetTablesOpts{TableTypes: []string{"VIEW", "TABLE"}}, []string{florida, mine, a, broken}},
		{"other type", &flightsql.GetTablesOpts{TableTypes: []string{"VIEW"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			info, err := f.client.GetTables(ctx, c.opts)
			wantLines(t, f.list(t, info, err, schema_ref.Tables), c.want...)
		})
	}
}

func TestTablesWithSchema(t *testing.T) {
	f := serveFake(t)
	info, err := f.client.GetTables(t.Context(), &flightsql.GetTablesOpts{IncludeSchema: true})
	if err != nil {
		t.Fatal(err)
	}
	recs, err := f.fetch(t, info)
	if err != nil || len(recs) != 1 || recs[0].NumRows() != 4 {
		t.Fatalf("got %v, %v", recs, err)
	}
	defer recs[0].Release()
	schemaOf := func(row int) *arrow.Schema {
		s, err := flight.DeserializeSchema(recs[0].Column(4).(*array.Binary).Value(row), memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := schemaOf(0)
	for _, c := range []struct {
		column    int
		key, want string
	}{
		{0, flightsql.TypeNameKey, "BIGINT"},
		{0, flightsql.CatalogNameKey, "vibeflight"},
		{0, flightsql.SchemaNameKey, "counties"},
		{0, flightsql.TableNameKey, "florida.geojson"},
		{0, flightsql.PrecisionKey, "19"},
		{0, flightsql.IsReadOnlyKey, "1"},
		{0, flightsql.IsAutoIncrementKey, "0"},
		{0, flightsql.IsSearchableKey, "1"},
		{1, flightsql.TypeNameKey, "DECIMAL(9,2)"},
		{1, flightsql.PrecisionKey, "9"},
		{1, flightsql.ScaleKey, "2"},
		{2, flightsql.TypeNameKey, "GEOMETRY"},
		{2, "ARROW:extension:name", "geoarrow.wkb"},
		{2, "ARROW:extension:metadata", `{"crs":"EPSG:4326"}`},
	} {
		if got, _ := s.Field(c.column).Metadata.GetValue(c.key); got != c.want {
			t.Errorf("column %d, %s: got %q, want %q", c.column, c.key, got, c.want)
		}
	}
	metadata := schemaOf(3).Metadata()
	if why, _ := metadata.GetValue("vibeflight:error"); schemaOf(3).NumFields() != 0 ||
		!strings.Contains(why, "byte 17") {
		t.Errorf("of a broken file: %v", schemaOf(3))
	}
}

func TestKeysAreEmpty(t *testing.T) {
	f := serveFake(t)
	ctx := t.Context()
	ref := flightsql.TableRef{Catalog: ptr("vibeflight"), DBSchema: ptr("main"), Table: "a.csv"}
	info, err := f.client.GetPrimaryKeys(ctx, ref)
	wantLines(t, f.list(t, info, err, schema_ref.PrimaryKeys))
	info, err = f.client.GetExportedKeys(ctx, ref)
	wantLines(t, f.list(t, info, err, schema_ref.ExportedKeys))
	info, err = f.client.GetImportedKeys(ctx, ref)
	wantLines(t, f.list(t, info, err, schema_ref.ImportedKeys))
	info, err = f.client.GetCrossReference(ctx, ref, ref)
	wantLines(t, f.list(t, info, err, schema_ref.CrossReference))
}

func TestSchemasOfListings(t *testing.T) {
	f := serveFake(t)
	ctx := t.Context()
	of := func(r *flight.SchemaResult, err error) *arrow.Schema {
		if err != nil {
			t.Fatal(err)
		}
		s, err := flight.DeserializeSchema(r.Schema, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for i, c := range []struct{ got, want *arrow.Schema }{
		{of(f.client.GetCatalogsSchema(ctx)), schema_ref.Catalogs},
		{of(f.client.GetDBSchemasSchema(ctx)), schema_ref.DBSchemas},
		{of(f.client.GetTablesSchema(ctx, &flightsql.GetTablesOpts{})), schema_ref.Tables},
		{
			of(f.client.GetTablesSchema(ctx, &flightsql.GetTablesOpts{IncludeSchema: true})),
			schema_ref.TablesWithIncludedSchema,
		},
		{of(f.client.GetTableTypesSchema(ctx)), schema_ref.TableTypes},
		{of(f.client.GetSqlInfoSchema(ctx)), schema_ref.SqlInfo},
		{of(f.client.GetXdbcTypeInfoSchema(ctx)), schema_ref.XdbcTypeInfo},
		{of(f.client.GetPrimaryKeysSchema(ctx)), schema_ref.PrimaryKeys},
		{of(f.client.GetImportedKeysSchema(ctx)), schema_ref.ImportedKeys},
		{of(f.client.GetExportedKeysSchema(ctx)), schema_ref.ExportedKeys},
		{of(f.client.GetCrossReferenceSchema(ctx)), schema_ref.CrossReference},
	} {
		if !c.got.Equal(c.want) {
			t.Errorf("%d: got %v, want %v", i, c.got, c.want)
		}
	}
}

// sqlInfo returns the values by id.
func (f *fixture) sqlInfo(t testing.TB, ids ...flightsql.SqlInfo) map[uint32]string {
	t.Helper()
	info, err := f.client.GetSqlInfo(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	recs, err := f.fetch(t, info)
	if err != nil {
		t.Fatal(err)
	}
	out := map[uint32]string{}
	last := -1
	for _, rec := range recs {
		for row := range int(rec.NumRows()) {
			id := rec.Column(0).(*array.Uint32).Value(row)
			if int(id) <= last {
				t.Errorf("id %d after %d", id, last)
			}
			last = int(id)
			u := rec.Column(1).(*array.DenseUnion)
			child := u.Field(u.ChildID(row))
			at := int(u.ValueOffset(row))
			if child.IsNull(at) {
				t.Errorf("id %d is null", id)
			}
			out[id] = fmt.Sprintf("%s %s", child.DataType().Name(), child.ValueStr(at))
		}
		rec.Release()
	}
	return out
}

func TestSqlInfo(t *testing.T) {
	f := serveFake(t)
	all := f.sqlInfo(t)
	for id := range uint32(700) {
		_, got := all[id]
		if want := id <= 11 || id == 100 || id == 101 || id >= 500 && id <= 576; got != want {
			t.Errorf("id %d: %v", id, got)
		}
	}
	for id, want := range map[pb.SqlInfo]string{
		0: "utf8 vibeflight", 3: "bool true", 4: "bool true", 5: "bool false", 8: "int32 0", 9: "bool true",
		10: "bool false", 11: "bool false", 100: "int32 3600000", 101: "int32 0",
		500: "bool false", 503: "int64 1", 504: `utf8 "`, 505: "int64 1", 507: "int64 3",
		508: `list ["SELECT","WITH"]`, 509: `list ["abs"]`, 510: `list ["upper"]`,
		511: `list ["version"]`, 512: `list ["age"]`, 513: `utf8 \`, 528: "int32 6", 531: "utf8 catalog",
		532: "bool true", 557: "int64 65536", 562: "int64 0", 563: "bool false",
	} {
		if got := all[uint32(id)]; got != want {
			t.Errorf("%v: got %q, want %q", id, got, want)
		}
	}
	if got := all[517]; !strings.HasPrefix(got, "map ") || len(got) < 100 {
		t.Errorf("conversions: %s", got)
	}
	if got := f.sqlInfo(t, 8, 0, 8, 12, 99999); len(got) != 2 {
		t.Errorf("of some: %v", got)
	}
}

func TestXdbcTypeInfo(t *testing.T) {
	f := serveFake(t)
	ctx := t.Context()
	info, err := f.client.GetXdbcTypeInfo(ctx, nil)
	all := f.list(t, info, err, schema_ref.XdbcTypeInfo)
	if len(all) < 20 {
		t.Errorf("got %v", all)
	}
	code := func(line string) (n int) {
		_, err := fmt.Sscan(strings.Split(line, "|")[1], &n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if !slices.IsSortedFunc(all, func(a, b string) int { return code(a) - code(b) }) {
		t.Errorf("not sorted by data_type: %v", all)
	}
	info, err = f.client.GetXdbcTypeInfo(ctx, ptr(int32(pb.XdbcDataType_XDBC_BIGINT)))
	wantLines(t, f.list(t, info, err, schema_ref.XdbcTypeInfo),
		`BIGINT|-5|19|(null)|(null)|[]|1|false|2|false|false|false|BIGINT|0|0|-5|(null)|10|(null)`,
		`UBIGINT|-5|20|(null)|(null)|[]|1|false|2|true|false|false|UBIGINT|0|0|-5|(null)|10|(null)`)
	info, err = f.client.GetXdbcTypeInfo(ctx, ptr(int32(pb.XdbcDataType_XDBC_TIME)))
	wantLines(t, f.list(t, info, err, schema_ref.XdbcTypeInfo),
		`TIME|92|15|'|'|[]|1|false|2|false|false|false|TIME|0|6|9|2|(null)|(null)`)
	info, err = f.client.GetXdbcTypeInfo(ctx, ptr(int32(0)))
	wantLines(t, f.list(t, info, err, schema_ref.XdbcTypeInfo))
}
