//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow/array"
)

// Plan returns DuckDB's logical plan of a query before and after optimization, as
// json_serialize_plan writes it. Either may be an error in JSON. Nothing is run. It ends the rows
// of an earlier Query on the connection.
func (c *Conn) Plan(ctx context.Context, query *Query) (written, optimized []byte, err error) {
	text := quoteText(query.text)
	s, err := c.Prepare(ctx, &Query{text: "SELECT json_serialize_plan(" + text + ")::VARCHAR, json_serialize_plan(" +
		text + ", optimize := true)::VARCHAR"})
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	rows, err := s.Query(ctx, nil, 0)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	rec, err := rows.Next(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer rec.Release()
	return []byte(rec.Column(0).(*array.String).Value(0)), []byte(rec.Column(1).(*array.String).Value(0)), nil
}
