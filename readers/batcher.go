package readers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Batcher makes the chunks of a Parser out of parts that end anywhere: the same chunks as one worker gives, since a chunk ends where Limits.BatchRows
// and Limits.BatchBytes say. The rows are copied as soon as they come, each chunk by a goroutine of its own, so that the memory of the parts serves again.
type Batcher struct {
	ctx    context.Context
	parser Parser
	src    *source.File
	limits Limits
	to     int64 // end of the file
	emit   func(Chunk) error

	open    *batch   // that takes rows now; nil if its first one is still to come
	row     int64    // number of the next row
	waiting []*batch // chunks on their way, in order, the open one last
}

// batch is a chunk on its way.
type batch struct {
	span Span
	rows int
	runs chan run
	done chan struct{} // closed when what follows is set

	columns *geoarrow.Columns
	err     error
	caught  caught
}

// run is some rows of a part.
type run struct {
	part     *heldPart
	from, to int
	end      int64 // offset behind them
}

// heldPart is a part of which rows are copied to several chunks.
type heldPart struct {
	Part
	uses atomic.Int32
}

func (p *heldPart) done() {
	if p.uses.Add(-1) == 0 {
		p.release()
	}
}

// NewBatcher begins with row number row of a file that ends at to. emit gets the chunks in order, from within Add and Finish. The caller calls Close
// in any case.
func NewBatcher(ctx context.Context, p Parser, src *source.File, row, to int64, limits Limits, emit func(Chunk) error) *Batcher {
	return &Batcher{ctx: ctx, parser: p, src: src, limits: limits.WithDefaults(), to: to, emit: emit, row: row}
}

// Add takes the next part.
func (b *Batcher) Add(p Part) error {
	if p.Columns == nil || p.Columns.Rows == 0 {
		p.release()
		return nil
	}
	held := &heldPart{Part: p}
	held.uses.Store(1)
	defer held.done()
	for from := 0; from < len(p.Starts); {
		if b.open == nil {
			if err := b.begin(p, from); err != nil {
				return err
			}
		}
		to, full := b.bound(p.Starts, from)
		if to > from {
			b.give(held, from, to)
		}
		if full {
			b.end()
		}
		from = to
	}
	return b.deliver(b.mostWaiting())
}

// mostWaiting is how many chunks may be on their way.
func (b *Batcher) mostWaiting() int { return b.limits.Workers + 1 }

// begin opens a chunk with row i of a part.
func (b *Batcher) begin(p Part, i int) error {
	if err := b.deliver(b.mostWaiting() - 1); err != nil {
		return err
	}
	b.open = &batch{
		span: Span{From: p.Starts[i], Row: b.row, Inside: true, State: p.State},
		runs: make(chan run, 1), done: make(chan struct{}),
	}
	b.waiting = append(b.waiting, b.open)
	go b.assemble(b.open)
	return nil
}

// bound is where the rows of the open chunk end among those of a part from row from on, and whether the chunk is full with them.
func (b *Batcher) bound(starts []int64, from int) (to int, full bool) {
	byText, _ := slices.BinarySearch(starts[from:], b.open.span.From+b.limits.BatchBytes)
	byRows := b.limits.BatchRows - b.open.rows
	n := min(byText, byRows, len(starts)-from)
	return from + n, n == byRows || from+n < len(starts)
}

// give has rows of a part copied to the open chunk.
func (b *Batcher) give(p *heldPart, from, to int) {
	r := run{part: p, from: from, to: to, end: p.To}
	if to < len(p.Starts) {
		r.end = p.Starts[to]
	}
	p.uses.Add(1)
	b.open.span.To = r.end
	b.open.rows += to - from
	b.row += int64(to - from)
	b.open.runs <- r
}

// end closes the open chunk.
func (b *Batcher) end() {
	close(b.open.runs)
	b.open = nil
}

// Finish ends the last chunk and waits for all of them.
func (b *Batcher) Finish() error {
	if b.open != nil {
		b.end()
	}
	return b.deliver(0)
}

// Close waits for the goroutines. Without Finish before it, rows are lost.
func (b *Batcher) Close() {
	if b.open != nil {
		b.end()
	}
	for _, c := range b.waiting {
		<-c.done
	}
}

// deliver emits the chunks that are ready, and waits for the first ones until no more than left are on their way.
func (b *Batcher) deliver(left int) error {
	for len(b.waiting) > 0 && b.waiting[0] != b.open {
		c := b.waiting[0]
		if len(b.waiting) > left {
			<-c.done
		} else {
			select {
			case <-c.done:
			default:
				return nil
			}
		}
		b.waiting = b.waiting[1:]
		c.caught.repeat()
		if c.err != nil {
			return c.err
		}
		if err := b.emit(Chunk{Columns: c.columns, Span: c.span}); err != nil {
			return err
		}
	}
	return nil
}

// assemble makes a chunk of the runs that come.
func (b *Batcher) assemble(c *batch) {
	defer close(c.done)
	defer func() {
		for r := range c.runs { // after an error
			r.part.done()
		}
	}()
	defer c.caught.recover()
	a := assembly{Batcher: b, memory: &geoarrow.Arena{Late: true}}
	for r := range c.runs {
		err := a.add(r)
		r.part.done()
		if errors.Is(err, geoarrow.ErrBatchTooLarge) {
			err = tooLarge(b.src.Name, c.span.Row, err, b.limits)
		}
		if err != nil {
			c.err = err
			return
		}
	}
	c.columns, c.err = a.finish(c.span.Row)
}

// assembly is the rows of one chunk. Most often all parts have the same columns of the same types, and their rows make one piece; else a piece
// ends where that changes, and the pieces are widened to one another in the end.
type assembly struct {
	*Batcher
	memory *geoarrow.Arena
	pieces []Chunk
	rows   geoarrow.Joined // of the piece at hand
	span   Span
}

func (a *assembly) add(r run) error {
	columns, from, to := r.part.Columns, r.from, r.to
	span := Span{From: r.part.Starts[from], To: r.end, Inside: true, State: r.part.State, Text: r.part.Text}
	if to-from < columns.Rows && counts(columns) {
		// What a part counts does not say in which of its rows.
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
		a.rows = geoarrow.Joined{Memory: a.memory}
		a.span = span
		if len(a.pieces) == 0 {
			a.rows.Reserve(columns, a.expected(r))
		}
	}
	a.span.To = r.end
	return a.rows.Append(columns, from, to)
}

// expected is how many rows the chunk will have if they go on as long as those of its first run.
func (a *assembly) expected(r run) float64 {
	from := r.part.Starts[r.from]
	rows, bytes, left := float64(r.to-r.from), float64(r.end-from), float64(min(a.to-from, a.limits.BatchBytes))
	return max(rows, min(float64(a.limits.BatchRows), rows*left/bytes))
}

// counts reports whether any column counts something over its rows.
func counts(c *geoarrow.Columns) bool {
	return slices.ContainsFunc(c.Attributes, func(a geoarrow.Column) bool { return a.Rounded > 0 || a.Replaced > 0 })
}

// again parses so many rows of a part once more.
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
	a.rows, a.span = geoarrow.Joined{}, Span{}
}

// finish gives the rows with types that hold all of them.
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
	out, err := geoarrow.Concat(a.memory, wide)
	if err != nil {
		return nil, tooLarge(a.src.Name, row, err, a.limits)
	}
	for i, id := range order {
		out.Attributes[i].Facts = j.facts[id]
	}
	return out, nil
}
