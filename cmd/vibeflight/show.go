package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// cellRunes is how wide a cell gets, in characters.
const cellRunes = 40

// show prints the rows of a ticket as a table, and how many there are beside them.
func show(ctx context.Context, std stdio, from target, t ticket.Ticket) error {
	p := newProgress(std.err, t.Name, "")
	d, g, err := head(ctx, from, t, p)
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
	if _, err := fmt.Fprintln(w, summary(t, int64(len(g.rows)-typeRow), d.Rows, columns, len(g.header))); err != nil {
		return err
	}
	return w.Flush()
}

// head reads the rows of a ticket; the first row of the grid holds the columns' types.
func head(ctx context.Context, from target, t ticket.Ticket, p *progress) (*description, *grid, error) {
	d, err := from.describe(ctx, t.Name, t.Options, p)
	if err != nil {
		return nil, nil, err
	}
	rows, err := from.scan(ctx, t, p)
	if err != nil {
		return nil, nil, err
	}
	defer rows.close()
	g := &grid{}
	var types []string
	for _, f := range rows.schema().Fields() {
		g.header = append(g.header, clip(oneLine(f.Name), cellRunes))
		g.right = append(g.right, arrow.IsPrimitive(f.Type.ID()) && f.Type.ID() != arrow.BOOL)
		types = append(types, clip(d.typeOf(f), cellRunes))
	}
	g.rows = append(g.rows, types)
	for {
		rec, err := rows.next(ctx)
		if errors.Is(err, io.EOF) {
			return d, g, nil
		}
		if err != nil {
			return nil, nil, err
		}
		g.rows = append(g.rows, cells(rec)...)
		rec.Release()
	}
}

// typeOf is the type of a column in the entry itself: what is shown may be another one.
func (d *description) typeOf(f arrow.Field) string {
	for _, c := range d.Columns {
		if c.Name == f.Name {
			return c.typeName()
		}
	}
	return f.Type.String()
}

// cells are the record's values as text.
func cells(rec arrow.Record) [][]string {
	rows := make([][]string, rec.NumRows())
	for i := range rows {
		for _, column := range rec.Columns() {
			text := "null"
			if column.IsValid(i) {
				text = column.ValueStr(i)
			}
			rows[i] = append(rows[i], clip(oneLine(clip(text, 4*cellRunes)), cellRunes))
		}
	}
	return rows
}

// summary says what the table above it leaves out.
func summary(t ticket.Ticket, shown, all int64, columns, allColumns int) string {
	var text string
	switch selected := t.BBox != nil || t.Rows != nil; {
	case all == 0:
		text = "the file has no rows"
	case selected && shown == 0 && *t.Limit > 0:
		text = "none of the file's " + humanCount(all) + " rows is selected"
	case selected:
		text = "the first " + humanCount(shown) + " of the rows selected; the file has " + humanCount(all)
	case shown == all:
		text = "rows: all " + humanCount(all)
	default:
		text = "rows: the first " + humanCount(shown) + " of " + humanCount(all)
	}
	if columns < allColumns {
		text += fmt.Sprintf("; the first %d of %d columns, --columns chooses", columns, allColumns)
	}
	return text
}
