// Package result prints and writes rows for get and sql: the first ones as a table, all of them as
// JSON lines or CSV, or to a file.
package result

import (
	"context"
	"io"
	"os"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
	"github.com/vibeflight/vibeflight/flightsrv/export"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// Query runs a query or a ticket, and returns its rows.
type Query func(p *output.Progress) (target.RowStream, error)

// Limit returns the first n rows; all of them for n < 0.
func Limit(rows target.RowStream, n int64) target.RowStream {
	if n < 0 || rows == nil {
		return rows
	}
	return &firstRows{rows, n}
}

// firstRows are the first rows of a stream.
type firstRows struct {
	target.RowStream
	left int64
}

func (r *firstRows) Rows() int64 { return -1 }

func (r *firstRows) Next(ctx context.Context) (arrow.Record, error) {
	if r.left == 0 {
		return nil, io.EOF
	}
	rec, err := r.RowStream.Next(ctx)
	if err != nil || rec.NumRows() <= r.left {
		if err == nil {
			r.left -= rec.NumRows()
		}
		return rec, err
	}
	defer rec.Release()
	n := r.left
	r.left = 0
	return rec.NewSlice(0, n), nil
}

// WriteFile writes the rows of a query to a file, or to stdout.
func WriteFile(ctx context.Context, std output.Stdio, ask Query, path string, format export.Format,
	compression ticket.Compression,
) error {
	p := output.NewProgress(std.Err, "sql", " rows")
	defer p.Close()
	return WriteTo(std, path, format, func(out []*os.File) error {
		rows, err := ask(p)
		if err != nil {
			return err
		}
		defer rows.Close()
		return WriteRows(ctx, rows, out, path, format, compression, p)
	})
}

// Print prints rows as they come. label names them in the progress.
func Print(ctx context.Context, std output.Stdio, label string, ask Query, format func(io.Writer,
	*arrow.Schema) (export.Writer, error),
) error {
	p := output.NewProgress(std.Err, label, " rows")
	rows, err := ask(p)
	p.Close() // it would be drawn between rows on a terminal
	if err != nil {
		return err
	}
	defer rows.Close()
	w, err := format(std.Out, rows.Schema())
	if err != nil {
		return err
	}
	return copyRows(ctx, rows, w, "stdout", p)
}
