package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/flightsrv"
)

// asking runs a query and gives its rows.
type asking func() (rowStream, error)

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
func writeAnswer(ctx context.Context, std stdio, ask asking, path string, packed flightsrv.Compression) error {
	p := newProgress(std.err, "sql", " rows")
	defer p.close()
	return writeTo(std, path, func(file *os.File) error {
		rows, err := ask()
		if err != nil {
			return err
		}
		defer rows.close()
		if !isParquet(path) {
			return writeRows(ctx, rows, file, path, packed, p)
		}
		w, err := newParquet(file, rows.schema(), packed)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return copyRows(ctx, rows, w, p)
	})
}

// printAnswer prints the rows of a query as they come.
func printAnswer(ctx context.Context, std stdio, ask asking, format func(*bufio.Writer, *arrow.Schema) (recordWriter, error)) error {
	p := newProgress(std.err, "sql", " rows")
	rows, err := ask()
	p.close() // it would come between the rows where both are a terminal
	if err != nil {
		return err
	}
	defer rows.close()
	w, err := format(bufio.NewWriterSize(std.out, 64<<10), rows.schema())
	if err != nil {
		return err
	}
	return copyRows(ctx, rows, w, p)
}

// jsonLines prints an object a line.
type jsonLines struct {
	w    *bufio.Writer
	line []byte
}

func newJSONLines(w *bufio.Writer, schema *arrow.Schema) (recordWriter, error) {
	return &jsonLines{w: w}, distinctNames(schema, "--json")
}

// distinctNames refuses columns of one name where a reader would see but one of them.
func distinctNames(schema *arrow.Schema, where string) error {
	for _, f := range schema.Fields() {
		if len(schema.FieldIndices(f.Name)) > 1 {
			return fmt.Errorf("%s: two columns are called %q; give one another name with AS", where, f.Name)
		}
	}
	return nil
}

func (j *jsonLines) Write(rec arrow.Record) error {
	row := array.RecordToStructArray(rec)
	defer row.Release()
	for i := range row.Len() {
		var err error
		if j.line, err = appendObject(j.line[:0], row, i); err != nil {
			return err
		}
		if _, err := j.w.Write(append(j.line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (j *jsonLines) Close() error { return j.w.Flush() }

// csvLines prints CSV as RFC 4180 has it. A null is nothing at all, an empty text is "".
type csvLines struct {
	w          *bufio.Writer
	line, cell []byte
}

func newCSV(w *bufio.Writer, schema *arrow.Schema) (recordWriter, error) {
	c := &csvLines{w: w}
	for i, f := range schema.Fields() {
		c.add(i, []byte(f.Name))
	}
	return c, c.end()
}

func (c *csvLines) Write(rec arrow.Record) error {
	for row := range int(rec.NumRows()) {
		for i, column := range rec.Columns() {
			if isNull(column, row) {
				c.separate(i)
				continue
			}
			var err error
			if c.cell, err = appendText(c.cell[:0], rec.Schema().Field(i), column, row); err != nil {
				return err
			}
			c.add(i, c.cell)
		}
		if err := c.end(); err != nil {
			return err
		}
	}
	return nil
}

func (c *csvLines) separate(i int) {
	if i > 0 {
		c.line = append(c.line, ',')
	}
}

// add appends a cell, in quotes where it needs them.
func (c *csvLines) add(i int, cell []byte) {
	c.separate(i)
	text := string(cell)
	if text != "" && !strings.ContainsAny(text, ",\"\r\n") {
		c.line = append(c.line, text...)
		return
	}
	c.line = append(c.line, '"')
	c.line = append(c.line, strings.ReplaceAll(text, `"`, `""`)...)
	c.line = append(c.line, '"')
}

// end writes the line.
func (c *csvLines) end() error {
	_, err := c.w.Write(append(c.line, "\r\n"...))
	c.line = c.line[:0]
	return err
}

func (c *csvLines) Close() error { return c.w.Flush() }
