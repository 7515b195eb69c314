package result

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/flightsrv/export"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
)

// ShowQuery prints the first rows of a query as a table.
func ShowQuery(ctx context.Context, std output.Stdio, ask Query, limit int64) error {
	p := output.NewProgress(std.Err, "sql", "")
	g, more, err := answerGrid(ctx, ask, limit, p)
	p.Close()
	if err != nil {
		return err
	}
	w := bufio.NewWriter(std.Out)
	columns, err := g.Write(w, output.TerminalWidth(std.Out))
	if err != nil {
		return err
	}
	const typeRow = 1
	text := "rows: " + units.Count(int64(len(g.Rows)-typeRow))
	if more {
		text = "rows: the first " + units.Count(int64(len(g.Rows)-typeRow)) + ", --limit shows more"
	}
	if columns < len(g.Header) {
		text += fmt.Sprintf("; the first %d of %d columns", columns, len(g.Header))
	}
	if _, err := fmt.Fprintln(w, text); err != nil {
		return err
	}
	return w.Flush()
}

// answerGrid reads the first rows. The first row of the grid is the columns' types. more reports
// whether there are more rows.
func answerGrid(
	ctx context.Context, ask Query, limit int64, p *output.Progress,
) (g *output.Grid, more bool, err error) {
	rows, err := ask(p)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	g = &output.Grid{}
	var types []string
	for _, f := range rows.Schema().Fields() {
		g.Header = append(g.Header, output.Clip(output.OneLine(f.Name), cellRunes))
		g.Right = append(g.Right, arrow.IsPrimitive(f.Type.ID()) && f.Type.ID() != arrow.BOOL)
		c := metadata.ColumnOf(f)
		types = append(types, output.Clip(c.TypeName(), cellRunes))
	}
	g.Rows = append(g.Rows, types)
	for {
		rec, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return g, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		take := min(rec.NumRows(), limit)
		more = rec.NumRows() > take
		limit -= take
		err = addRows(g, rec, int(take))
		rec.Release()
		if err != nil || more {
			return g, more, err
		}
	}
}

// addRows appends the first rows of a record.
func addRows(g *output.Grid, rec arrow.Record, rows int) error {
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
			cells = append(cells, output.Clip(output.OneLine(output.Clip(string(text), 4*cellRunes)), cellRunes))
		}
		g.Rows = append(g.Rows, cells)
	}
	return nil
}
