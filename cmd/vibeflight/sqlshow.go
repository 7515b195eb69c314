package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/export"
)

// showAnswer prints the first rows of a query as a table.
func showAnswer(ctx context.Context, std stdio, ask asking, limit int64) error {
	p := newProgress(std.err, "sql", "")
	g, more, err := answerGrid(ctx, ask, limit, p)
	p.close()
	if err != nil {
		return err
	}
	w := bufio.NewWriter(std.out)
	columns, err := g.write(w, terminalWidth(std.out))
	if err != nil {
		return err
	}
	const typeRow = 1
	text := "rows: " + humanCount(int64(len(g.rows)-typeRow))
	if more {
		text = "rows: the first " + humanCount(int64(len(g.rows)-typeRow)) + ", --limit shows more"
	}
	if columns < len(g.header) {
		text += fmt.Sprintf("; the first %d of %d columns", columns, len(g.header))
	}
	if _, err := fmt.Fprintln(w, text); err != nil {
		return err
	}
	return w.Flush()
}

// answerGrid reads the first rows; the first row of the grid holds the columns' types. It says
// whether there are more.
func answerGrid(ctx context.Context, ask asking, limit int64, p *progress) (g *grid, more bool, err error) {
	rows, err := ask(p)
	if err != nil {
		return nil, false, err
	}
	defer rows.close()
	g = &grid{}
	var types []string
	for _, f := range rows.schema().Fields() {
		g.header = append(g.header, clip(oneLine(f.Name), cellRunes))
		g.right = append(g.right, arrow.IsPrimitive(f.Type.ID()) && f.Type.ID() != arrow.BOOL)
		c := columnInfo{Type: f.Type.String(), Metadata: f.Metadata.ToMap()}
		types = append(types, clip(c.typeName(), cellRunes))
	}
	g.rows = append(g.rows, types)
	for {
		rec, err := rows.next(ctx)
		if errors.Is(err, io.EOF) {
			return g, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		take := min(rec.NumRows(), limit)
		more = rec.NumRows() > take
		limit -= take
		err = g.add(rec, int(take))
		rec.Release()
		if err != nil || more {
			return g, more, err
		}
	}
}

// add appends the first rows of a record.
func (g *grid) add(rec arrow.Record, rows int) error {
	for row := range rows {
		var cells []string
		for i, column := range rec.Columns() {
			text := []byte("null")
			if !export.IsNull(column, row) {
				var err error
				if text, err = export.AppendText(nil, rec.Schema().Field(i), column, row); err != nil {
					return err
				}
			}
			cells = append(cells, clip(oneLine(clip(string(text), 4*cellRunes)), cellRunes))
		}
		g.rows = append(g.rows, cells)
	}
	return nil
}
