package result

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/target"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/flightsrv/export"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
)

// View is how the rows of a query are shown.
type View struct {
	Limit    int64  // the most rows
	Expanded bool   // a line for each value
	Count    bool   // count the rows beyond the limit, for a second
	More     string // how to see more rows
	Pager    string // command for what is longer than the terminal; empty: none
}

// countFor is how long the rows are counted that are not shown.
const countFor = time.Second

// ShowQuery prints the first rows of a query as a table.
func ShowQuery(ctx context.Context, std output.Stdio, ask Query, view View) error {
	p := output.NewProgress(std.Err, "sql", "")
	a, err := readAnswer(ctx, ask, view, p)
	p.Close()
	if err != nil {
		return err
	}
	var w bytes.Buffer
	columns := len(a.grid.Header)
	if width := output.TerminalWidth(std.Out); view.Expanded {
		a.writeExpanded(&w, width)
	} else if columns, err = a.grid.Write(&w, width); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(&w, a.summary(view.More, columns)) // to memory
	return output.Page(std.Out, view.Pager, w.Bytes())
}

// answer is the first rows of a result.
type answer struct {
	grid  *output.Grid // its first row is the columns' types
	more  bool         // there are more rows
	total int64        // of all rows that were counted; 0: not counted
	whole bool         // total is all of them
}

const typeRow = 1

// summary says how many rows there are, and what the table leaves out.
func (a *answer) summary(hint string, columns int) string {
	shown := units.Count(int64(len(a.grid.Rows) - typeRow))
	text := "rows: " + shown
	switch {
	case a.more && a.total > 0 && a.whole:
		text = "rows: the first " + shown + " of " + units.Count(a.total) + ", " + hint
	case a.more && a.total > 0:
		text = "rows: the first " + shown + " of more than " + units.Count(a.total) + ", " + hint
	case a.more:
		text = "rows: the first " + shown + ", " + hint
	}
	if columns < len(a.grid.Header) {
		text += fmt.Sprintf("; the first %d of %d columns", columns, len(a.grid.Header))
	}
	return text
}

// writeExpanded writes each row as lines of a column and its value.
func (a *answer) writeExpanded(w *bytes.Buffer, width int) {
	names := 0
	for _, name := range a.grid.Header {
		names = max(names, utf8.RuneCountInString(name))
	}
	for i, row := range a.grid.Rows[typeRow:] {
		fmt.Fprintf(w, "row %s\n", units.Count(int64(i+1)))
		for k, value := range row {
			name := a.grid.Header[k]
			if width > names+gap {
				value = output.Clip(value, width-names-gap)
			}
			fmt.Fprintf(w, "%s%s%s\n", name, strings.Repeat(" ", names-utf8.RuneCountInString(name)+gap), value)
		}
	}
}

const gap = 2 // spaces after a column's name

// readAnswer reads the first rows.
func readAnswer(ctx context.Context, ask Query, view View, p *output.Progress) (*answer, error) {
	rows, err := ask(p)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	a := &answer{grid: &output.Grid{}}
	known := rows.Rows()
	var types []string
	for _, f := range rows.Schema().Fields() {
		a.grid.Header = append(a.grid.Header, output.Clip(output.OneLine(f.Name), cellRunes))
		a.grid.Right = append(a.grid.Right, arrow.IsPrimitive(f.Type.ID()) && f.Type.ID() != arrow.BOOL)
		c := metadata.ColumnOf(f)
		types = append(types, output.Clip(c.TypeName(), cellRunes))
	}
	a.grid.Rows = append(a.grid.Rows, types)
	cell := cellRunes
	if view.Expanded {
		cell = expandedRunes
	}
	limit := view.Limit
	for {
		rec, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return a, nil
		}
		if err != nil {
			return nil, err
		}
		take := min(rec.NumRows(), limit)
		a.more = rec.NumRows() > take
		limit -= take
		err = addRows(a.grid, rec, int(take), cell)
		a.total += rec.NumRows()
		rec.Release()
		switch {
		case err != nil:
			return nil, err
		case !a.more:
		case known >= 0:
			a.total, a.whole = known, true
			return a, nil
		case view.Count:
			a.whole, err = countOn(ctx, rows, &a.total)
			return a, err
		default:
			a.total = 0
			return a, nil
		}
	}
}

// expandedRunes is the maximum width of a value that has a line of its own.
const expandedRunes = 1000

// countOn counts rows for a while. whole reports whether it came to the end.
func countOn(ctx context.Context, rows target.RowStream, total *int64) (whole bool, err error) {
	for start := time.Now(); time.Since(start) < countFor; {
		rec, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		*total += rec.NumRows()
		rec.Release()
	}
	return false, nil
}

// addRows appends the first rows of a record.
func addRows(g *output.Grid, rec arrow.Record, rows, width int) error {
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
			cells = append(cells, output.Clip(output.OneLine(output.Clip(string(text), 4*width)), width))
		}
		g.Rows = append(g.Rows, cells)
	}
	return nil
}
