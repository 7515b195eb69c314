package sql

import (
	"context"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql/schema_ref"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"

	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
)

// sqlInfoValues returns the values of GetSqlInfo by the ids of FlightSql.proto: all that the
// protocol defines, and no others. JDBC fails with a null pointer if one is missing, and if there
// is one that it does not know.
//
// The Go type of a value selects the branch of the union in which clients look for it. Arrow's JDBC
// and ODBC drivers expect the int32 and int64 used here. They read the support of outer joins, an
// ordinal in the protocol, as a set of bits.
func sqlInfoValues(i engine.Info, writable bool) map[pb.SqlInfo]any {
	out := serverFacts(writable)
	maps.Copy(out, languageInfo(i))
	maps.Copy(out, transactionInfo())
	// The limits are 541 to 561, except one flag among them. 0 means no limit, or an unknown one.
	for id := pb.SqlInfo_SQL_MAX_BINARY_LITERAL_LENGTH; id <= pb.SqlInfo_SQL_MAX_USERNAME_LENGTH; id++ {
		if _, ok := out[id]; !ok {
			out[id] = int64(0)
		}
	}
	out[pb.SqlInfo_SQL_MAX_STATEMENT_LENGTH] = int64(maxQueryBytes)
	out[pb.SqlInfo_SQL_MAX_STATEMENTS] = int64(maxPrepared)
	return out
}

// bits is a set of values of an enumeration.
func bits(set ...int32) int32 {
	var b int32
	for _, n := range set {
		b |= 1 << n
	}
	return b
}

func serverFacts(writable bool) map[pb.SqlInfo]any {
	return map[pb.SqlInfo]any{
		pb.SqlInfo_FLIGHT_SQL_SERVER_NAME:                  "vibeflight",
		pb.SqlInfo_FLIGHT_SQL_SERVER_VERSION:               version(),
		pb.SqlInfo_FLIGHT_SQL_SERVER_ARROW_VERSION:         arrow.PkgVersion,
		pb.SqlInfo_FLIGHT_SQL_SERVER_READ_ONLY:             !writable,
		pb.SqlInfo_FLIGHT_SQL_SERVER_SQL:                   true,
		pb.SqlInfo_FLIGHT_SQL_SERVER_SUBSTRAIT:             false,
		pb.SqlInfo_FLIGHT_SQL_SERVER_SUBSTRAIT_MIN_VERSION: "",
		pb.SqlInfo_FLIGHT_SQL_SERVER_SUBSTRAIT_MAX_VERSION: "",
		pb.SqlInfo_FLIGHT_SQL_SERVER_TRANSACTION: int32(
			pb.SqlSupportedTransaction_SQL_SUPPORTED_TRANSACTION_NONE,
		),
		pb.SqlInfo_FLIGHT_SQL_SERVER_CANCEL:                        true,
		pb.SqlInfo_FLIGHT_SQL_SERVER_BULK_INGESTION:                writable,
		pb.SqlInfo_FLIGHT_SQL_SERVER_INGEST_TRANSACTIONS_SUPPORTED: false,
		pb.SqlInfo_FLIGHT_SQL_SERVER_STATEMENT_TIMEOUT:             int32(preparedIdle.Milliseconds()),
		pb.SqlInfo_FLIGHT_SQL_SERVER_TRANSACTION_TIMEOUT:           int32(0),
	}
}

// languageInfo is what DuckDB's SQL supports.
func languageInfo(i engine.Info) map[pb.SqlInfo]any {
	return map[pb.SqlInfo]any{
		pb.SqlInfo_SQL_DDL_CATALOG: false,
		pb.SqlInfo_SQL_DDL_SCHEMA:  false,
		pb.SqlInfo_SQL_DDL_TABLE:   false,
		pb.SqlInfo_SQL_IDENTIFIER_CASE: int64(
			pb.SqlSupportedCaseSensitivity_SQL_CASE_SENSITIVITY_CASE_INSENSITIVE,
		),
		pb.SqlInfo_SQL_IDENTIFIER_QUOTE_CHAR: `"`,
		pb.SqlInfo_SQL_QUOTED_IDENTIFIER_CASE: int64(
			pb.SqlSupportedCaseSensitivity_SQL_CASE_SENSITIVITY_CASE_INSENSITIVE,
		),
		pb.SqlInfo_SQL_ALL_TABLES_ARE_SELECTABLE:                  true,
		pb.SqlInfo_SQL_NULL_ORDERING:                              int64(pb.SqlNullOrdering_SQL_NULLS_SORTED_AT_END),
		pb.SqlInfo_SQL_KEYWORDS:                                   i.Keywords,
		pb.SqlInfo_SQL_NUMERIC_FUNCTIONS:                          i.Numeric,
		pb.SqlInfo_SQL_STRING_FUNCTIONS:                           i.String,
		pb.SqlInfo_SQL_SYSTEM_FUNCTIONS:                           i.System,
		pb.SqlInfo_SQL_DATETIME_FUNCTIONS:                         i.DateTime,
		pb.SqlInfo_SQL_SEARCH_STRING_ESCAPE:                       `\`,
		pb.SqlInfo_SQL_EXTRA_NAME_CHARACTERS:                      "",
		pb.SqlInfo_SQL_SUPPORTS_COLUMN_ALIASING:                   true,
		pb.SqlInfo_SQL_NULL_PLUS_NULL_IS_NULL:                     true,
		pb.SqlInfo_SQL_SUPPORTS_CONVERT:                           conversions(),
		pb.SqlInfo_SQL_SUPPORTS_TABLE_CORRELATION_NAMES:           true,
		pb.SqlInfo_SQL_SUPPORTS_DIFFERENT_TABLE_CORRELATION_NAMES: false,
		pb.SqlInfo_SQL_SUPPORTS_EXPRESSIONS_IN_ORDER_BY:           true,
		pb.SqlInfo_SQL_SUPPORTS_ORDER_BY_UNRELATED:                true,
		pb.SqlInfo_SQL_SUPPORTED_GROUP_BY:                         bits(0, 1),
		pb.SqlInfo_SQL_SUPPORTS_LIKE_ESCAPE_CLAUSE:                true,
		pb.SqlInfo_SQL_SUPPORTS_NON_NULLABLE_COLUMNS:              true,
		pb.SqlInfo_SQL_SUPPORTED_GRAMMAR:                          bits(0, 1),
		pb.SqlInfo_SQL_ANSI92_SUPPORTED_LEVEL:                     bits(0),
		pb.SqlInfo_SQL_SUPPORTS_INTEGRITY_ENHANCEMENT_FACILITY:    false,
		pb.SqlInfo_SQL_OUTER_JOINS_SUPPORT_LEVEL:                  bits(1, 2),
		pb.SqlInfo_SQL_SCHEMA_TERM:                                "schema",
		pb.SqlInfo_SQL_PROCEDURE_TERM:                             "procedure",
		pb.SqlInfo_SQL_CATALOG_TERM:                               "catalog",
		pb.SqlInfo_SQL_CATALOG_AT_START:                           true,
		pb.SqlInfo_SQL_SCHEMAS_SUPPORTED_ACTIONS:                  bits(),
		pb.SqlInfo_SQL_CATALOGS_SUPPORTED_ACTIONS:                 bits(),
		pb.SqlInfo_SQL_SUPPORTED_POSITIONED_COMMANDS:              bits(),
		pb.SqlInfo_SQL_SELECT_FOR_UPDATE_SUPPORTED:                false,
		pb.SqlInfo_SQL_STORED_PROCEDURES_SUPPORTED:                false,
		pb.SqlInfo_SQL_SUPPORTED_SUBQUERIES:                       bits(0, 1, 2, 3),
		pb.SqlInfo_SQL_CORRELATED_SUBQUERIES_SUPPORTED:            true,
		pb.SqlInfo_SQL_SUPPORTED_UNIONS:                           bits(0, 1),
	}
}

// transactionInfo is what result sets and transactions support.
func transactionInfo() map[pb.SqlInfo]any {
	return map[pb.SqlInfo]any{
		pb.SqlInfo_SQL_MAX_ROW_SIZE_INCLUDES_BLOBS: true,
		pb.SqlInfo_SQL_DEFAULT_TRANSACTION_ISOLATION: int64(
			pb.SqlTransactionIsolationLevel_SQL_TRANSACTION_NONE,
		),
		pb.SqlInfo_SQL_TRANSACTIONS_SUPPORTED:                                    false,
		pb.SqlInfo_SQL_SUPPORTED_TRANSACTIONS_ISOLATION_LEVELS:                   bits(0),
		pb.SqlInfo_SQL_DATA_DEFINITION_CAUSES_TRANSACTION_COMMIT:                 false,
		pb.SqlInfo_SQL_DATA_DEFINITIONS_IN_TRANSACTIONS_IGNORED:                  false,
		pb.SqlInfo_SQL_SUPPORTED_RESULT_SET_TYPES:                                bits(0, 1),
		pb.SqlInfo_SQL_SUPPORTED_CONCURRENCIES_FOR_RESULT_SET_UNSPECIFIED:        bits(0, 1),
		pb.SqlInfo_SQL_SUPPORTED_CONCURRENCIES_FOR_RESULT_SET_FORWARD_ONLY:       bits(0, 1),
		pb.SqlInfo_SQL_SUPPORTED_CONCURRENCIES_FOR_RESULT_SET_SCROLL_SENSITIVE:   bits(),
		pb.SqlInfo_SQL_SUPPORTED_CONCURRENCIES_FOR_RESULT_SET_SCROLL_INSENSITIVE: bits(),
		pb.SqlInfo_SQL_BATCH_UPDATES_SUPPORTED:                                   false,
		pb.SqlInfo_SQL_SAVEPOINTS_SUPPORTED:                                      false,
		pb.SqlInfo_SQL_NAMED_PARAMETERS_SUPPORTED:                                false,
		pb.SqlInfo_SQL_LOCATORS_UPDATE_COPY:                                      false,
		pb.SqlInfo_SQL_STORED_FUNCTIONS_USING_CALL_SYNTAX_SUPPORTED:              false,
	}
}

// version is that of the module in this binary; "(devel)" for a build from a working tree.
func version() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "(devel)"
}

// conversions is what CAST supports, in groups of types that convert to each other. Text converts
// to and from each.
func conversions() map[int32][]int32 {
	texts := []pb.SqlSupportsConvert{
		pb.SqlSupportsConvert_SQL_CONVERT_CHAR, pb.SqlSupportsConvert_SQL_CONVERT_VARCHAR,
		pb.SqlSupportsConvert_SQL_CONVERT_LONGVARCHAR,
	}
	numbers := []pb.SqlSupportsConvert{
		pb.SqlSupportsConvert_SQL_CONVERT_BIGINT, pb.SqlSupportsConvert_SQL_CONVERT_BIT,
		pb.SqlSupportsConvert_SQL_CONVERT_DECIMAL,
		pb.SqlSupportsConvert_SQL_CONVERT_FLOAT, pb.SqlSupportsConvert_SQL_CONVERT_INTEGER,
		pb.SqlSupportsConvert_SQL_CONVERT_NUMERIC,
		pb.SqlSupportsConvert_SQL_CONVERT_REAL, pb.SqlSupportsConvert_SQL_CONVERT_SMALLINT,
		pb.SqlSupportsConvert_SQL_CONVERT_TINYINT,
	}
	binaries := []pb.SqlSupportsConvert{
		pb.SqlSupportsConvert_SQL_CONVERT_BINARY, pb.SqlSupportsConvert_SQL_CONVERT_VARBINARY,
		pb.SqlSupportsConvert_SQL_CONVERT_LONGVARBINARY,
	}
	dates := []pb.SqlSupportsConvert{
		pb.SqlSupportsConvert_SQL_CONVERT_DATE,
		pb.SqlSupportsConvert_SQL_CONVERT_TIMESTAMP,
	}
	times := []pb.SqlSupportsConvert{pb.SqlSupportsConvert_SQL_CONVERT_TIME}
	groups := [][]pb.SqlSupportsConvert{numbers, binaries, dates, times}

	out := map[int32][]int32{}
	add := func(from, to []pb.SqlSupportsConvert) {
		for _, f := range from {
			for _, t := range to {
				out[int32(f)] = append(out[int32(f)], int32(t))
			}
		}
	}
	add(texts, texts)
	for _, g := range groups {
		add(g, g)
		add(g, texts)
		add(texts, g)
	}
	add(dates[1:], times) // the time of a timestamp
	for _, to := range out {
		slices.Sort(to)
	}
	return out
}

// sqlInfo lists the values of the wanted ids, or all: sorted, each once. It skips ids that the
// protocol does not define.
func sqlInfo(m *pb.CommandGetSqlInfo) listing {
	return listing{schema_ref.SqlInfo, func(_ context.Context, s *Server) (arrow.Record, error) {
		known := sqlInfoValues(s.engine.Info(), s.writable)
		var ids []pb.SqlInfo
		for id := range known {
			if len(m.GetInfo()) == 0 || slices.Contains(m.GetInfo(), uint32(id)) {
				ids = append(ids, id)
			}
		}
		slices.Sort(ids)
		return record(schema_ref.SqlInfo, func(b *array.RecordBuilder) {
			for _, id := range ids {
				b.Field(0).(*array.Uint32Builder).Append(uint32(id))
				appendInfo(b.Field(1).(*array.DenseUnionBuilder), known[id])
			}
		}), nil
	}}
}

// appendInfo appends a value to the branch of the union for its Go type.
func appendInfo(u *array.DenseUnionBuilder, v any) {
	branch := func(code arrow.UnionTypeCode) array.Builder {
		u.Append(code)
		return u.Child(int(code))
	}
	switch v := v.(type) {
	case string:
		branch(0).(*array.StringBuilder).Append(v)
	case bool:
		branch(1).(*array.BooleanBuilder).Append(v)
	case int64:
		branch(2).(*array.Int64Builder).Append(v)
	case int32:
		branch(3).(*array.Int32Builder).Append(v)
	case []string:
		l := branch(4).(*array.ListBuilder)
		l.Append(true)
		l.ValueBuilder().(*array.StringBuilder).AppendValues(v, nil)
	case map[int32][]int32:
		m := branch(5).(*array.MapBuilder)
		m.Append(true)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			m.KeyBuilder().(*array.Int32Builder).Append(key)
			to := m.ItemBuilder().(*array.ListBuilder)
			to.Append(true)
			to.ValueBuilder().(*array.Int32Builder).AppendValues(v[key], nil)
		}
	}
}
