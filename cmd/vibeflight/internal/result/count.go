package result

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
)

// Count counts the rows of a stream as they are read.
func Count(rows target.RowStream, n *int64) target.RowStream {
	if rows == nil {
		return nil
	}
	return &countedRows{rows, n}
}

// countedRows are rows that are counted.
type countedRows struct {
	target.RowStream
	n *int64
}

func (r *countedRows) Next(ctx context.Context) (arrow.Record, error) {
	rec, err := r.RowStream.Next(ctx)
	if err == nil {
		*r.n += rec.NumRows()
	}
	return rec, err
}
