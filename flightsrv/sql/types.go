package sql

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql/schema_ref"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
)

// sqlType describes a type of DuckDB for XDBC.
type sqlType struct {
	name     string
	code     pb.XdbcDataType
	size     int32  // digits of a number, else characters as text; 0: no limit
	quote    string // around a literal; "": none
	params   []string
	unsigned bool
	maxScale int32 // -1: it has no scale
	radix    int32 // 0: not a number
}

// sqlTypes is sorted by code. For each code, the closest type comes first, as XDBC requires.
var sqlTypes = []sqlType{
	{name: "BOOLEAN", code: pb.XdbcDataType_XDBC_BIT, size: 1, maxScale: -1},
	{name: "TINYINT", code: pb.XdbcDataType_XDBC_TINYINT, size: 3, radix: 10},
	{name: "UTINYINT", code: pb.XdbcDataType_XDBC_TINYINT, size: 3, radix: 10, unsigned: true},
	{name: "BIGINT", code: pb.XdbcDataType_XDBC_BIGINT, size: 19, radix: 10},
	{name: "UBIGINT", code: pb.XdbcDataType_XDBC_BIGINT, size: 20, radix: 10, unsigned: true},
	{name: "BLOB", code: pb.XdbcDataType_XDBC_VARBINARY, quote: "'", maxScale: -1},
	{name: "GEOMETRY", code: pb.XdbcDataType_XDBC_VARBINARY, quote: "'", maxScale: -1},
	{
		name: "DECIMAL", code: pb.XdbcDataType_XDBC_DECIMAL, size: 38, radix: 10,
		params:   []string{"precision", "scale"},
		maxScale: 38,
	},
	{name: "HUGEINT", code: pb.XdbcDataType_XDBC_DECIMAL, size: 39, radix: 10},
	{name: "UHUGEINT", code: pb.XdbcDataType_XDBC_DECIMAL, size: 39, radix: 10, unsigned: true},
	{name: "INTEGER", code: pb.XdbcDataType_XDBC_INTEGER, size: 10, radix: 10},
	{name: "UINTEGER", code: pb.XdbcDataType_XDBC_INTEGER, size: 10, radix: 10, unsigned: true},
	{name: "SMALLINT", code: pb.XdbcDataType_XDBC_SMALLINT, size: 5, radix: 10},
	{name: "USMALLINT", code: pb.XdbcDataType_XDBC_SMALLINT, size: 5, radix: 10, unsigned: true},
	{name: "FLOAT", code: pb.XdbcDataType_XDBC_REAL, size: 24, radix: 2, maxScale: -1},
	{name: "DOUBLE", code: pb.XdbcDataType_XDBC_DOUBLE, size: 53, radix: 2, maxScale: -1},
	{name: "INTERVAL", code: pb.XdbcDataType_XDBC_INTERVAL, quote: "'", maxScale: -1},
	{name: "VARCHAR", code: pb.XdbcDataType_XDBC_VARCHAR, quote: "'", params: []string{"length"}, maxScale: -1},
	{name: "JSON", code: pb.XdbcDataType_XDBC_VARCHAR, quote: "'", maxScale: -1},
	{name: "UUID", code: pb.XdbcDataType_XDBC_VARCHAR, size: 36, quote: "'", maxScale: -1},
	{name: "DATE", code: pb.XdbcDataType_XDBC_DATE, size: 10, quote: "'", maxScale: -1},
	{name: "TIME", code: pb.XdbcDataType_XDBC_TIME, size: 15, quote: "'", maxScale: 6},
	{name: "TIMESTAMP", code: pb.XdbcDataType_XDBC_TIMESTAMP, size: 26, quote: "'", maxScale: 6},
	{name: "TIMESTAMP WITH TIME ZONE", code: pb.XdbcDataType_XDBC_TIMESTAMP, size: 32, quote: "'", maxScale: 6},
	{name: "TIMESTAMP_S", code: pb.XdbcDataType_XDBC_TIMESTAMP, size: 19, quote: "'"},
	{name: "TIMESTAMP_MS", code: pb.XdbcDataType_XDBC_TIMESTAMP, size: 23, quote: "'", maxScale: 3},
	{name: "TIMESTAMP_NS", code: pb.XdbcDataType_XDBC_TIMESTAMP, size: 29, quote: "'", maxScale: 9},
}

// temporal returns XDBC's code for all dates and times, and the subcode of a type.
var temporal = map[pb.XdbcDataType]pb.XdbcDatetimeSubcode{
	pb.XdbcDataType_XDBC_DATE:      pb.XdbcDatetimeSubcode_XDBC_SUBCODE_DATE,
	pb.XdbcDataType_XDBC_TIME:      pb.XdbcDatetimeSubcode_XDBC_SUBCODE_TIME,
	pb.XdbcDataType_XDBC_TIMESTAMP: pb.XdbcDatetimeSubcode_XDBC_SUBCODE_TIMESTAMP,
}

func typeInfo(m *pb.CommandGetXdbcTypeInfo) listing {
	return listing{schema_ref.XdbcTypeInfo, func(context.Context, *Server) (arrow.Record, error) {
		return record(schema_ref.XdbcTypeInfo, func(b *array.RecordBuilder) {
			for _, t := range sqlTypes {
				if m.DataType == nil || *m.DataType == int32(t.code) { //nolint:protogetter // no type is not type 0
					t.append(b)
				}
			}
		}), nil
	}}
}

// append adds a row; see CommandGetXdbcTypeInfo in FlightSql.proto.
func (t sqlType) append(b *array.RecordBuilder) {
	set := func(i int, text string, ok bool) {
		if !ok {
			b.Field(i).AppendNull()
			return
		}
		b.Field(i).(*array.StringBuilder).Append(text)
	}
	number := func(i int, n int32, ok bool) {
		if !ok {
			b.Field(i).AppendNull()
			return
		}
		b.Field(i).(*array.Int32Builder).Append(n)
	}
	flag := func(i int, v bool) { b.Field(i).(*array.BooleanBuilder).Append(v) }

	isText := t.code == pb.XdbcDataType_XDBC_VARCHAR
	kind, isTemporal := temporal[t.code]
	sqlCode := t.code
	if isTemporal {
		sqlCode = pb.XdbcDataType_XDBC_DATETIME
	}
	searchable := pb.Searchable_SEARCHABLE_BASIC
	if isText {
		searchable = pb.Searchable_SEARCHABLE_FULL
	}
	set(0, t.name, true)
	number(1, int32(t.code), true)
	number(2, t.size, t.size > 0)
	set(3, t.quote, t.quote != "")
	set(4, t.quote, t.quote != "")
	params := b.Field(5).(*array.ListBuilder)
	params.Append(true)
	for _, p := range t.params {
		params.ValueBuilder().(*array.StringBuilder).Append(p)
	}
	number(6, int32(pb.Nullable_NULLABILITY_NULLABLE), true)
	flag(7, isText)
	number(8, int32(searchable), true)
	flag(9, t.unsigned)
	flag(10, false)
	flag(11, false)
	set(12, t.name, true)
	number(13, 0, t.maxScale >= 0)
	number(14, t.maxScale, t.maxScale >= 0)
	number(15, int32(sqlCode), true)
	number(16, int32(kind), isTemporal)
	number(17, t.radix, t.radix > 0)
	b.Field(18).AppendNull()
}
