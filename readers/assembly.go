package readers

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
	"github.com/vibeflight/vibeflight/readers/timeline"
)

// assemble makes a chunk of the runs that it receives.
func (c *batch) assemble() {
	defer close(c.done)
	defer func() {
		for r := range c.runs { // after a panic
			r.part.done()
		}
	}()
	defer c.caught.recover()
	for r := range c.runs {
		c.add(r)
	}
	c.finish()
}

// addAll copies the rows of runs. last says that the chunk has all its rows then.
func (c *batch) addAll(runs []run, last bool) {
	defer func() { releaseAll(runs) }() // after a panic
	defer c.caught.recover()
	for len(runs) > 0 {
		r := runs[0]
		runs = runs[1:]
		c.add(r)
	}
	if last {
		c.finish()
	}
}

// add copies the rows of a run, unless those before it had an error.
func (c *batch) add(r run) {
	defer r.part.done()
	if c.err != nil || c.caught.what != nil {
		return
	}
	a := &c.copied
	copied := timeline.Of(a.ctx).Begin("copy to a batch", r.part.Start)
	c.err = a.add(r)
	copied()
	if errors.Is(c.err, geoarrow.ErrBatchTooLarge) {
		c.err = tooLarge(a.src.Name, c.span.Row, c.err, a.limits)
	}
}

// finish sets the chunk's columns, or the error.
func (c *batch) finish() {
	if c.err == nil && c.caught.what == nil {
		c.columns, c.err = c.copied.finish(c.span.Row)
	}
	c.copied = assembly{}
}

// assembly is the rows of one chunk. Usually all parts have the same columns of the same types, and
// their rows make one piece. Otherwise a piece ends where the columns change, and at the end all
// pieces are widened to common types.
type assembly struct {
	*Batcher
	memory *geoarrow.Arena
	pieces []Chunk
	rows   geoarrow.Concatenation // of the current piece
	span   Span
}

func (a *assembly) add(r run) error {
	columns, from, to := r.part.Columns, r.from, r.to
	span := Span{
		From: r.part.Starts[from], To: r.end, Inside: true, State: r.part.stateAt(from), CRS: r.part.CRS,
		Text: r.part.Text,
	}
	if to-from < columns.Rows && counts(columns) {
		// A part's counts do not tell which of its rows they are for.
		var err error
		if columns, err = a.again(span, to-from); err != nil {
			return err
		}
		from, to = 0, columns.Rows
	}
	if !a.rows.Fits(columns) || !slices.Equal(a.span.Text, span.Text) {
		a.endPiece()
	}
	if a.rows.Rows() == 0 {
		a.rows = geoarrow.Concatenation{Memory: a.memory}
		a.span = span
		if len(a.pieces) == 0 {
			a.rows.Reserve(columns, a.expected(r, len(columns.Attributes)))
		}
	}
	a.span.To = r.end
	return a.rows.Append(columns, from, to)
}

// expected returns the number of rows that the chunk will have, within the limits, if they are like
// those of its first run.
func (a *assembly) expected(r run, columns int) float64 {
	from := r.part.Starts[r.from]
	rows := float64(r.to - r.from)
	byText := rows * float64(a.to-from) / float64(r.end-from)
	byBytes := rows * float64(a.limits.BatchBytes) / float64(r.bytes)
	byCells := float64(a.limits.Memory / 2 / cellBytes / int64(max(1, columns)))
	return max(rows, min(float64(a.limits.BatchRows), byText, byBytes, byCells))
}

// counts reports whether any column counts something over its rows.
func counts(c *geoarrow.Columns) bool {
	return slices.ContainsFunc(c.Attributes, func(a geoarrow.Column) bool { return a.Rounded > 0 || a.Replaced > 0 })
}

// again parses n rows of a part once more.
func (a *assembly) again(span Span, rows int) (*geoarrow.Columns, error) {
	limits := a.limits.Unbatched()
	limits.Workers = 1
	var out *geoarrow.Columns
	_, err := a.parser.Parse(a.ctx, a.src, Request{Span: span, Limits: limits}, func(c Chunk) error {
		out = c.Columns
		return nil
	})
	if err == nil && (out == nil || out.Rows != rows) {
		err = fmt.Errorf("%s: %w: the rows at byte %d", a.src.Name, source.ErrChanged, span.From)
	}
	return out, err
}

func (a *assembly) endPiece() {
	if a.rows.Rows() > 0 {
		a.pieces = append(a.pieces, Chunk{Columns: a.rows.Columns(), Span: a.span})
	}
	a.rows, a.span = geoarrow.Concatenation{}, Span{}
}

// finish returns the rows with types that hold all of them.
func (a *assembly) finish(row int64) (*geoarrow.Columns, error) {
	a.endPiece()
	if len(a.pieces) == 1 {
		return a.pieces[0].Columns, nil
	}
	limits := a.limits.Unbatched()
	limits.Workers = 1
	j := joiner{ctx: a.ctx, parser: a.parser, src: a.src, limits: limits}
	for _, p := range a.pieces {
		if err := j.add(p); err != nil {
			return nil, err
		}
	}
	order := slices.Clone(j.order)
	slices.SortStableFunc(order, func(a, b geoarrow.ColumnID) int { return cmp.Compare(b.Role, a.Role) })
	wide, err := j.unify(order)
	if err != nil {
		return nil, err
	}
	out, err := geoarrow.Extend(a.memory, wide)
	if err != nil {
		return nil, tooLarge(a.src.Name, row, err, a.limits)
	}
	for i, id := range order {
		out.Attributes[i].Facts = j.facts[id]
	}
	return out, nil
}
