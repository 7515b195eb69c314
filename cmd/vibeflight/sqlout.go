package main

import (
	"context"
	"io"
	"os"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/export"
	"github.com/vibeflight/vibeflight/flightsrv"
)

// asking runs a query, or a ticket, and gives its rows.
type asking func(p *progress) (rowStream, error)

// limited gives the first n rows; all of them for n < 0.
func limited(rows rowStream, n int64) rowStream {
	if n < 0 || rows == nil {
		return rows
	}
	return &firstRows{rows, n}
}

// firstRows are the first rows of a stream.
type firstRows struct {
	rowStream
	left int64
}

func (r *firstRows) rows() int64 { return -1 }

func (r *firstRows) next(ctx context.Context) (arrow.Record, error) {
	if r.left == 0 {
		return nil, io.EOF
	}
	rec, err := r.rowStream.next(ctx)
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

// writeAnswer writes the rows of a query to a file, or to stdout.
func writeAnswer(ctx context.Context, std stdio, ask asking, path string, format export.Format,
	packed flightsrv.Compression,
) error {
	p := newProgress(std.err, "sql", " rows")
	defer p.close()
	return writeTo(std, path, func(file *os.File) error {
		rows, err := ask(p)
		if err != nil {
			return err
		}
		defer rows.close()
		return writeRows(ctx, rows, file, path, format, packed, p)
	})
}

// printAnswer prints rows as they come; label says in the progress what they are of.
func printAnswer(ctx context.Context, std stdio, label string, ask asking, format func(io.Writer,
	*arrow.Schema) (export.Writer, error),
) error {
	p := newProgress(std.err, label, " rows")
	rows, err := ask(p)
	p.close() // it would come between the rows where both are a terminal
	if err != nil {
		return err
	}
	defer rows.close()
	w, err := format(std.out, rows.schema())
	if err != nil {
		return err
	}
	return copyRows(ctx, rows, w, "stdout", p)
}
