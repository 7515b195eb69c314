//go:build cgo

package duck

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Plan gives DuckDB's physical plan of a query with the parameters of one row of args, as its EXPLAIN (FORMAT json) writes it. Nothing is run.
func (c *Conn) Plan(ctx context.Context, query string, args arrow.Record, row int) ([]byte, error) {
	s, err := c.prepareAfter(ctx, "EXPLAIN (FORMAT json) ", query)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	r, err := s.Query(ctx, args, row)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	rec, err := r.Next(ctx)
	if err != nil {
		return nil, err
	}
	defer rec.Release()
	return []byte(rec.Column(1).(*array.String).Value(0)), nil
}
