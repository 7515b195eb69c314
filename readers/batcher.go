package readers

import (
	"cmp"
	"context"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
	"github.com/vibeflight/vibeflight/readers/timeline"
)

// Batcher assembles a Parser's chunks from parts that end anywhere. Chunks end where
// Limits.BatchRows and Limits.BatchBytes say, so they are the chunks that one worker emits. Rows
// are copied as soon as possible after Add, so that the memory of the parts can be reused.
type Batcher struct {
	// Inline leaves the rows to the goroutines that parse: parts are short, and their rows are in
	// the caches of these cores. During Parts.Read its workers copy them, several chunks at a time
	// (see backlog.go); otherwise Add does. Without it a goroutine copies each chunk: parts are as
	// long as chunks, and there are cores for several. It is set before the first Add.
	Inline bool

	ctx    context.Context
	parser Parser
	src    *source.File
	limits Limits
	to     int64 // end of the file
	emit   func(Chunk) error

	columns *ColumnSet // of the parts that were added

	first        bool   // no chunk was emitted yet, and a caller waits for the first one
	open         *batch // being filled; nil if it has no row yet
	row          int64  // number of the next row
	siblingBytes int64  // bytes in sibling files of the rows of earlier parts
	failed       error  // of a chunk, or of emit; no chunk follows

	// chunks in flight, in order, the open one last; only the goroutine that adds parts changes it
	waiting []*batch

	// These are for Inline.
	shared   bool         // workers of a Parts copy the rows
	mu       sync.Mutex   // for waiting and the backlogs
	uncopied atomic.Int64 // runs
}

// firstHelpers is how many goroutines help to copy a chunk that a caller waits for, while no worker
// parses. Four threads saturate a host's memory.
const firstHelpers = 3

// batch is a chunk in flight.
type batch struct {
	span  Span
	rows  int
	from  int64 // offset of the first row, plus the siblings' bytes of all earlier rows
	bytes int64 // of the rows, those included
	names *ColumnSet
	runs  chan run      // to the goroutine that copies them; nil: they come into the backlog
	done  chan struct{} // closed when columns, err and caught are set

	backlog backlog

	// These are for the goroutine that copies rows, until done is closed.
	copied  assembly // the rows so far
	columns *geoarrow.Columns
	err     error
	caught  caught
}

// size estimates the bytes that the rows take.
func (c *batch) size() int64 { return max(c.bytes, cellBytes*int64(c.rows)*int64(c.names.Len())) }

// run is some rows of a part.
type run struct {
	part     *heldPart
	from, to int
	end      int64 // offset after them
	bytes    int64 // of them, with those in sibling files
}

// heldPart is a part whose rows are copied to several chunks.
type heldPart struct {
	Part
	uses atomic.Int32
}

func (p *heldPart) done() {
	if p.uses.Add(-1) == 0 {
		p.release()
	}
}

// NewBatcher returns a batcher for the rows of a request, whose span ends at the end of the rows or
// of the file. Add and Finish call emit with the chunks, in order. The caller always calls Close.
func NewBatcher(ctx context.Context, p Parser, src *source.File, req Request, emit func(Chunk) error) *Batcher {
	return &Batcher{
		ctx: ctx, parser: p, src: src, limits: req.Limits.WithDefaults(), to: req.Span.To, emit: emit,
		row: req.Span.Row, first: req.First != nil, columns: NewColumnSet(req.Limits),
	}
}

// Add adds the next part.
func (b *Batcher) Add(p Part) error {
	if p.Columns == nil || p.Columns.Rows == 0 {
		p.release()
		return nil
	}
	b.columns.Add(p.Columns)
	held := &heldPart{Part: p}
	held.uses.Store(1)
	defer held.done()
	for from := 0; from < len(p.Starts); {
		if b.open == nil {
			if err := b.begin(p, from); err != nil {
				return err
			}
		}
		to, full := b.bound(&p, from)
		if to > from {
			if err := b.give(held, from, to); err != nil {
				return err
			}
		}
		if full {
			b.end()
		}
		if full && b.first { // the caller that adds the next part may wait for another that has this chunk
			b.first = false
			if err := b.deliver(0); err != nil {
				return err
			}
		}
		from = to
	}
	if p.SiblingBytes != nil {
		b.siblingBytes += p.SiblingBytes[len(p.SiblingBytes)-1]
	}
	return b.deliver(b.maxWaiting())
}

// Columns are those of the parts that were added. The goroutine that adds parts may read them.
func (b *Batcher) Columns() *ColumnSet { return b.columns }

// maxWaiting returns how many chunks may be in flight: few, as they are large.
func (b *Batcher) maxWaiting() int {
	var size int64
	for i := len(b.waiting) - 1; i >= 0; i-- {
		if size += b.waiting[i].size(); size > b.limits.Memory/8 {
			return min(len(b.waiting)-i, b.limits.Workers+1)
		}
	}
	return b.limits.Workers + 1
}

// place returns where row i of a part begins, or where its rows end, plus the siblings' bytes of
// all earlier rows.
func (b *Batcher) place(p *Part, i int) int64 {
	at := p.To + b.siblingBytes
	if i < len(p.Starts) {
		at = p.Starts[i] + b.siblingBytes
	}
	if i > 0 && p.SiblingBytes != nil {
		at += p.SiblingBytes[i-1]
	}
	return at
}

// begin opens a chunk with row i of a part.
func (b *Batcher) begin(p Part, i int) error {
	if err := b.deliver(b.maxWaiting() - 1); err != nil {
		return err
	}
	b.open = &batch{
		span: Span{From: p.Starts[i], Row: b.row, Inside: true, State: p.stateAt(i), CRS: p.CRS}, from: b.place(&p, i),
		names: NewColumnSet(b.limits),
		done:  make(chan struct{}), copied: assembly{Batcher: b, memory: &geoarrow.Arena{Late: !b.first}},
	}
	if b.first && !b.Inline {
		b.open.copied.memory.Helpers = min(firstHelpers, b.limits.Workers-1)
	}
	b.mu.Lock()
	b.waiting = append(b.waiting, b.open)
	b.mu.Unlock()
	if !b.Inline {
		b.open.runs = make(chan run, 1)
		go b.open.assemble()
	}
	return nil
}

// bound returns the end, in a part from row from on, of the rows that fit the open chunk, and
// whether they fill it.
func (b *Batcher) bound(p *Part, from int) (to int, full bool) {
	left := len(p.Starts) - from
	byText := sort.Search(left, func(k int) bool { return b.place(p, from+k)-b.open.from >= b.limits.BatchBytes })
	byRows := b.limits.BatchRows - b.open.rows
	n := min(byText, byRows)
	return from + n, n == byRows || n < left
}

// give passes rows of a part to the open chunk to be copied, unless they make it too large.
func (b *Batcher) give(p *heldPart, from, to int) error {
	r := run{part: p, from: from, to: to, end: p.To, bytes: b.place(&p.Part, to) - b.place(&p.Part, from)}
	if to < len(p.Starts) {
		r.end = p.Starts[to]
	}
	b.open.span.To, b.open.span.CRS = r.end, cmp.Or(b.open.span.CRS, p.CRS)
	b.open.rows += to - from
	b.open.bytes += r.bytes
	b.open.names.Add(p.Columns)
	b.row += int64(to - from)
	if err := b.limits.CheckCells(b.src.Name, b.open.span.Row, b.open.rows, b.open.names.Len()); err != nil {
		return err
	}
	p.uses.Add(1)
	if b.Inline {
		b.push(b.open, r)
		return nil
	}
	taken := timeline.Of(b.ctx).Begin("wait for a batch to take rows", b.open.span.From)
	b.open.runs <- r
	taken()
	return nil
}

// end completes the open chunk.
func (b *Batcher) end() {
	c := b.open
	b.open = nil
	if c.runs != nil {
		close(c.runs)
		return
	}
	b.complete(c)
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
	if b.Inline {
		b.drop()
		return
	}
	if b.open != nil {
		b.end()
	}
	for _, c := range b.waiting {
		<-c.done
	}
}

// deliver emits the chunks that are ready, and waits for the first ones until at most left are in
// flight.
func (b *Batcher) deliver(left int) error {
	for b.failed == nil && len(b.waiting) > 0 && b.waiting[0] != b.open {
		c := b.waiting[0]
		if !c.isDone() {
			if len(b.waiting) <= left {
				return nil
			}
			b.await(c)
		}
		b.mu.Lock()
		b.waiting = b.waiting[1:]
		b.mu.Unlock()
		c.caught.repeat()
		if b.failed = c.err; c.err == nil {
			b.failed = b.emit(Chunk{Columns: c.columns, Span: c.span})
		}
	}
	return b.failed
}

// await waits for a chunk, and meanwhile copies rows that wait for a worker.
func (b *Batcher) await(c *batch) {
	for b.Inline && !c.isDone() && b.assemble() {
	}
	defer timeline.Of(b.ctx).Begin("wait for a batch", c.span.From)()
	<-c.done
}

func (c *batch) isDone() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}
