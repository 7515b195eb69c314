package result

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// cellRunes is the maximum width of a cell in characters.
const cellRunes = 40

// ShowTicket prints the rows of a ticket as a table, and the total number of rows.
func ShowTicket(ctx context.Context, std output.Stdio, from target.Target, t ticket.Ticket) error {
	p := output.NewProgress(std.Err, t.Name, "")
	d, g, err := head(ctx, from, t, p)
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
	if _, err := fmt.Fprintln(w, summary(t, int64(len(g.Rows)-typeRow), d.Rows, columns, len(g.Header))); err != nil {
		return err
	}
	return w.Flush()
}

// head reads the rows of a ticket. The first row of the grid is the columns' types.
func head(
	ctx context.Context, from target.Target, t ticket.Ticket, p *output.Progress,
) (*metadata.Description, *output.Grid, error) {
	d, err := from.Describe(ctx, t.Name, t.Options, p)
	if err != nil {
		return nil, nil, err
	}
	rows, err := from.Scan(ctx, t, p)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	g := &output.Grid{}
	var types []string
	for _, f := range rows.Schema().Fields() {
		g.Header = append(g.Header, output.Clip(output.OneLine(f.Name), cellRunes))
		g.Right = append(g.Right, arrow.IsPrimitive(f.Type.ID()) && f.Type.ID() != arrow.BOOL)
		types = append(types, output.Clip(typeOf(d, f), cellRunes))
	}
	g.Rows = append(g.Rows, types)
	for {
		rec, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return d, g, nil
		}
		if err != nil {
			return nil, nil, err
		}
		g.Rows = append(g.Rows, cells(rec)...)
		rec.Release()
	}
}

// typeOf returns the type of a column in the entry, which may differ from the type that is shown.
func typeOf(d *metadata.Description, f arrow.Field) string {
	for _, c := range d.Columns {
		if c.Name == f.Name {
			return c.TypeName()
		}
	}
	return f.Type.String()
}

// cells returns the record's values as text.
func cells(rec arrow.Record) [][]string {
	rows := make([][]string, rec.NumRows())
	for i := range rows {
		for _, column := range rec.Columns() {
			text := "null"
			if column.IsValid(i) {
				text = column.ValueStr(i)
			}
			rows[i] = append(rows[i], output.Clip(output.OneLine(output.Clip(text, 4*cellRunes)), cellRunes))
		}
	}
	return rows
}

// summary describes what the table leaves out.
func summary(t ticket.Ticket, shown, all int64, columns, allColumns int) string {
	var text string
	switch selected := t.BBox != nil || t.Rows != nil || t.Where != ""; {
	case all == 0:
		text = "the file has no rows"
	case selected && shown == 0 && *t.Limit > 0:
		text = "none of the file's " + units.Count(all) + " rows is selected"
	case selected:
		text = "the first " + units.Count(shown) + " of the rows selected; the file has " + units.Count(all)
	case shown == all:
		text = "rows: all " + units.Count(all)
	default:
		text = "rows: the first " + units.Count(shown) + " of " + units.Count(all)
	}
	if columns < allColumns {
		text += fmt.Sprintf("; the first %d of %d columns, --columns chooses", columns, allColumns)
	}
	return text
}
