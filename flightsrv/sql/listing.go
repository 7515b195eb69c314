package sql

import (
	"context"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"google.golang.org/protobuf/proto"
)

// listing is a command whose answer has a fixed schema.
type listing struct {
	schema *arrow.Schema
	rows   func(ctx context.Context, s *Server) (arrow.Record, error)
}

func listingOf(m proto.Message) (listing, error) {
	switch m := m.(type) {
	case *pb.CommandGetCatalogs:
		return catalogs(), nil
	case *pb.CommandGetDbSchemas:
		return schemas(m), nil
	case *pb.CommandGetTables:
		return tables(m), nil
	case *pb.CommandGetTableTypes:
		return tableTypes(), nil
	case *pb.CommandGetSqlInfo:
		return sqlInfo(m), nil
	case *pb.CommandGetXdbcTypeInfo:
		return typeInfo(m), nil
	}
	if l, ok := keys(m); ok {
		return l, nil
	}
	return listing{}, unsupportedCommand(m)
}

// record builds the only record of a listing.
func record(schema *arrow.Schema, fill func(b *array.RecordBuilder)) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	fill(b)
	return b.NewRecord()
}

// singleRecord is a record as the rows of a ticket.
type singleRecord struct {
	rec    arrow.Record // nil after it was returned
	schema *arrow.Schema
}

func (l *singleRecord) Schema() *arrow.Schema { return l.schema }

func (l *singleRecord) Next() (arrow.Record, error) {
	if l.rec == nil {
		return nil, io.EOF
	}
	rec := l.rec
	l.rec = nil
	return rec, nil
}

// Retain returns nil: the garbage collector keeps the record.
func (l *singleRecord) Retain() (release func()) { return nil }

func (l *singleRecord) Close() {
	if l.rec != nil {
		l.rec.Release()
		l.rec = nil
	}
}
