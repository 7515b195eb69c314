package readers

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Batcher makes the chunks of a Parser out of parts that end anywhere: the same chunks as one worker gives, since a chunk ends where Limits.BatchRows
// and Limits.BatchBytes say. It copies rows, with several goroutines, so that the memory of parts serves again.
type Batcher struct {
	ctx    context.Context
	parser Parser
	src    *source.File
	limits Limits
	emit   func(Chunk) error

	parts   []*heldPart // with rows that are in no chunk
	rows    int         // of them
	row     int64       // number of the first one
	crew    *crew[*geoarrow.Arena]
	waiting []chan batched // chunks on their way, in order
}

// heldPart is a part that chunks are made of.
type heldPart struct {
	Part
	from int          // rows before are in chunks
	uses atomic.Int32 // by chunks on their way, and one while it has rows in none
}

func (p *heldPart) done() {
	if p.uses.Add(-1) == 0 {
		p.release()
	}
}

// run is some rows of a part.
type run struct {
	part     *heldPart
	from, to int
}

// batched is a chunk or why there is none.
type batched struct {
	chunk  Chunk
	err    error
	caught *caught
}

// NewBatcher begins with row number row. emit gets the chunks in order, from within Add and Close. The caller calls Close in any case.
func NewBatcher(ctx context.Context, p Parser, src *source.File, row int64, limits Limits, emit func(Chunk) error) *Batcher {
	b := &Batcher{ctx: ctx, parser: p, src: src, limits: limits.WithDefaults(), emit: emit, row: row}
	b.crew = newCrew(b.limits.Workers, b.mostWaiting(), func() *geoarrow.Arena { return &geoarrow.Arena{} })
	return b
}

// mostWaiting is how many chunks may be on their way: some more than are made at a time.
func (b *Batcher) mostWaiting() int { return b.limits.Workers + 1 }

// Add takes the next part.
func (b *Batcher) Add(p Part) error {
	if p.Columns == nil || p.Columns.Rows == 0 {
		p.release()
		return nil
	}
	held := &heldPart{Part: p}
	held.uses.Store(1)
	b.parts = append(b.parts, held)
	b.rows += p.Columns.Rows
	for {
		n := b.full()
		if n == 0 {
			return b.deliver(b.mostWaiting() - 1)
		}
		if err := b.cut(n); err != nil {
			return err
		}
	}
}

// Finish makes a chunk of the rows that are left and waits for all chunks.
func (b *Batcher) Finish() error {
	if b.rows > 0 {
		if err := b.cut(b.rows); err != nil {
			return err
		}
	}
	return b.deliver(0)
}

// Close ends the goroutines. Without Finish before it, rows are lost.
func (b *Batcher) Close() { b.crew.close() }

// full is how many rows the next chunk has if its end is known, else 0.
func (b *Batcher) full() int {
	limit := int64(math.MaxInt64)
	rows := 0
	for _, p := range b.parts {
		starts := p.Starts[p.from:]
		if rows == 0 {
			limit = starts[0] + b.limits.BatchBytes
		}
		byText, _ := slices.BinarySearch(starts, limit)
		byRows := b.limits.BatchRows - rows
		if byText < len(starts) || byRows <= len(starts) {
			return rows + min(byText, byRows)
		}
		rows += len(starts)
	}
	return 0
}

// cut has a chunk made of the next n rows.
func (b *Batcher) cut(n int) error {
	if err := b.deliver(b.mostWaiting() - 1); err != nil {
		return err
	}
	chunk := Chunk{Span: Span{From: b.parts[0].Starts[b.parts[0].from], Row: b.row, Inside: true, State: b.parts[0].State}}
	b.row += int64(n)
	b.rows -= n
	var runs []run
	for n > 0 {
		p := b.parts[0]
		k := min(n, len(p.Starts)-p.from)
		runs = append(runs, run{p, p.from, p.from + k})
		p.from += k
		n -= k
		if p.from == len(p.Starts) {
			chunk.Span.To = p.Next
			b.parts = b.parts[1:] // and its first use goes over to the run
		} else {
			chunk.Span.To = p.Starts[p.from]
			p.uses.Add(1)
		}
	}
	out := make(chan batched, 1)
	b.waiting = append(b.waiting, out)
	b.crew.urgent <- func(mem *geoarrow.Arena) {
		made := batched{chunk: chunk, caught: &caught{}}
		defer func() { out <- made }()
		defer made.caught.recover()
		made.chunk.Columns, made.err = b.assemble(mem, chunk, runs)
		for _, r := range runs {
			r.part.done()
		}
	}
	return nil
}

// deliver emits the chunks that are ready, and waits for the first ones until no more than left are on their way.
func (b *Batcher) deliver(left int) error {
	for len(b.waiting) > 0 {
		var made batched
		if len(b.waiting) > left {
			made = <-b.waiting[0]
		} else {
			select {
			case made = <-b.waiting[0]:
			default:
				return nil
			}
		}
		b.waiting = b.waiting[1:]
		made.caught.repeat()
		if made.err != nil {
			return made.err
		}
		if err := b.emit(made.chunk); err != nil {
			return err
		}
	}
	return nil
}

// assemble gives the rows of the runs one behind the other, in memory of their own, with types that hold all of them.
func (b *Batcher) assemble(mem *geoarrow.Arena, chunk Chunk, runs []run) (*geoarrow.Columns, error) {
	// A part is read again, where that must be, as a whole.
	limits := b.limits.Unbatched()
	limits.Workers = 1
	j := joiner{ctx: b.ctx, parser: b.parser, src: b.src, limits: limits}
	for _, r := range runs {
		span := Span{From: r.part.Start, To: r.part.Next, Inside: true, State: r.part.State, Text: r.part.Text}
		if err := j.add(Chunk{Columns: r.part.Columns, Span: span}); err != nil {
			return nil, err
		}
	}
	order := slices.Clone(j.order)
	slices.SortStableFunc(order, func(a, b geoarrow.ColumnID) int { return cmp.Compare(b.Role, a.Role) })
	wide, err := j.unify(order)
	if err != nil {
		return nil, err
	}
	for i, r := range runs {
		wide[i] = wide[i].Slice(r.from, r.to)
	}
	out, err := geoarrow.Concat(mem, wide)
	if err != nil {
		return nil, tooLarge(b.src.Name, chunk.Span.Row, err, b.limits)
	}
	for i, id := range order {
		out.Attributes[i].Facts = j.facts[id]
	}
	return out, nil
}
