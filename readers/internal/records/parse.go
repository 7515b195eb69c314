package records

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sort"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Unit is the word for a row in formats of arrays.
const Unit = "row"

// Batch is some rows of a file, with an array for each field of the schema; nil if it is not
// needed.
type Batch struct {
	Arrays   []arrow.ArrayData
	Rows     int
	From, To int64 // bytes of the file that hold them
	Row      int64 // as in its Load
}

// Load loads a batch. A panic of it is treated as a fault of the file.
type Load struct {
	From  int64 // offset of the batch in the file
	Row   int64 // number of its first row, if earlier batches are omitted; else it may be 0
	Bytes int64 // estimated size
	Do    func() (Batch, error)
}

// Parser makes chunks from batches.
type Parser struct {
	Format  string
	Plan    *Plan
	Columns readers.Projection
	Null    bool // on_error: null or repair: a row's malformed geometry or time is null
	Check   bool // columns that are not requested are read too, so that their defects are errors
	// Loads calls put with each batch of the file, in order. Batches are loaded in parallel.
	// Batches without a row of want may be omitted, if Load.Row is set in later ones.
	Loads func(ctx context.Context, src *source.File, limits readers.Limits, want Rows, put func(Load) error) error
	// Announce announces the bytes of the batches that have a row of want; nil: it is not known
	// where they are.
	Announce func(src *source.File, want ...Rows)
}

// Rows is a half-open range of a file's rows.
type Rows struct{ From, To int64 }

// allRows also meets batches without rows.
var allRows = Rows{-1, math.MaxInt64}

// Meets reports whether one of the n rows from row on is in the range.
func (r Rows) Meets(row, n int64) bool { return row < r.To && n > r.From-row }

// PrefetchRows implements readers.RowPrefetcher.
func (p Parser) PrefetchRows(src *source.File, ranges [][2]int64) {
	if p.Announce == nil {
		return
	}
	want := make([]Rows, len(ranges))
	for i, r := range ranges {
		want[i] = Rows{r[0], r[1]}
	}
	p.Announce(src, want...)
}

// Parse implements readers.Parser.
func (p Parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	if err := req.Limits.CheckColumns(src.Name, len(p.Plan.fields)); err != nil {
		return readers.Summary{}, err
	}
	limits := req.Limits.WithDefaults()
	run := &parse{
		Parser: p, ctx: ctx, src: src, limits: limits, sum: readers.Summary{CRS: p.Plan.CRS},
		emit: emit, want: allRows,
	}
	if req.Span.Inside { // the end of a chunk depends only on its own rows
		run.want = Rows{req.Span.Row, req.Span.Row + int64(limits.BatchRows)}
		run.emit = func(c readers.Chunk) error {
			if err := emit(c); err != nil {
				return err
			}
			return errEnough
		}
	}
	run.chunks = line[chunk]{most: limits.Workers + 1, room: limits.Memory / 8, take: run.taken}
	batches := line[batchResult]{most: limits.Workers + 1, room: limits.Memory / 8, take: run.add}
	defer run.chunks.close()
	defer batches.close()
	var failed error
	ended := p.Loads(ctx, src, limits, run.want, func(l Load) error {
		if failed = ctx.Err(); failed == nil {
			failed = batches.put(l.Bytes, func() (batchResult, error) {
				b, err := p.load(src, limits, l)
				b.Row = l.Row
				return batchResult{b, err}, nil
			})
		}
		return failed
	})
	if ended != nil && failed == nil { // its place is after the batches that were put
		failed = batches.put(0, func() (batchResult, error) { return batchResult{err: ended}, nil })
	}
	if failed == nil {
		failed = batches.finish()
	}
	if failed == nil {
		failed = run.finish()
	}
	if failed != nil && !errors.Is(failed, errEnough) {
		return readers.Summary{}, failed
	}
	run.sum.BytesRead = src.BytesRead()
	return run.sum, nil
}

// batchResult is a batch or an error.
type batchResult struct {
	batch Batch
	err   error
}

// errEnough ends a parse of one chunk.
var errEnough = errors.New("the chunk is there")

// load calls l.Do, which may panic in Arrow's code for an invalid file.
func (p Parser) load(src *source.File, limits readers.Limits, l Load) (b Batch, err error) {
	err = Guard(func() error {
		b, err = l.Do()
		return err
	})
	return b, p.Fault(src, limits, l.From, err)
}

// parse is one Parse.
type parse struct {
	Parser
	ctx    context.Context
	src    *source.File
	limits readers.Limits
	sum    readers.Summary
	emit   func(readers.Chunk) error
	chunks line[chunk]

	want  Rows
	open  chunk // takes rows
	row   int64 // number of the first row of the next piece
	some  bool  // a chunk has begun
	bytes int64 // of the open one, estimated
}

// chunk is a chunk in flight.
type chunk struct {
	pieces  []piece
	rows    int
	cut     bool // it is not emitted
	span    readers.Span
	columns *geoarrow.Columns
	odd     readers.Summary
}

// piece is rows of a batch.
type piece struct {
	batch    Batch
	from, to int
	row      int64 // number of the first one
}

// add cuts a batch into pieces of chunks. Errors are in the order of the rows, as if there were one
// worker.
func (p *parse) add(l batchResult) error {
	if l.err != nil {
		return cmp.Or(p.check(), l.err)
	}
	b := l.batch
	p.row = max(p.row, b.Row)
	before := min(int64(b.Rows), max(0, p.want.From-p.row))
	b.Rows = int(min(int64(b.Rows), max(before, p.want.To-p.row)))
	p.row += before
	for from := int(before); from < b.Rows; {
		if p.open.rows == 0 {
			p.open.span = readers.Span{From: b.From, Row: p.row, Inside: true}
		}
		n := min(b.Rows-from, p.limits.BatchRows-p.open.rows)
		room := p.limits.BatchBytes - p.bytes
		// rows, the last of which begins within the limit
		fits := sort.Search(n, func(k int) bool { return p.weigh(b, from, from+k) >= room })
		full := fits < n
		if n = min(n, fits); n == 0 && p.open.rows == 0 {
			n = 1
		}
		if n > 0 {
			p.bytes += p.weigh(b, from, from+n)
			p.open.pieces = append(p.open.pieces, piece{b, from, from + n, p.row})
			p.open.rows += n
			p.open.span.To = b.To
			p.row += int64(n)
			from += n
		}
		if err := p.limits.CheckCells(p.src.Name, p.open.span.Row, p.open.rows, len(p.Plan.fields)+1); err != nil {
			return err
		}
		if full || p.open.rows == p.limits.BatchRows {
			if err := p.end(); err != nil {
				return err
			}
		}
	}
	return p.ctx.Err()
}

// weigh returns the number of bytes of a batch's rows.
func (p *parse) weigh(b Batch, from, to int) int64 {
	var size int64
	for _, a := range b.Arrays {
		if a != nil {
			size += rows{a, from, to}.weigh()
		}
	}
	return size
}

// end queues the conversion of the open chunk.
func (p *parse) end() error {
	c := p.open
	size := p.bytes
	p.open, p.bytes, p.some = chunk{}, 0, true
	return p.chunks.put(size, func() (chunk, error) {
		var err error
		c.columns, err = p.convert(&c)
		return c, err
	})
}

// check looks for errors in the rows so far of an unfinished chunk.
func (p *parse) check() error {
	if p.open.rows > 0 {
		p.open.cut = true
		if err := p.end(); err != nil {
			return err
		}
	}
	return p.chunks.finish()
}

// finish ends the last chunk. A file without rows is one empty chunk.
func (p *parse) finish() error {
	if p.open.rows > 0 || !p.some {
		if err := p.end(); err != nil {
			return err
		}
	}
	return p.chunks.finish()
}

func (p *parse) taken(c chunk) error {
	if c.cut {
		return nil
	}
	p.sum.Add(&c.odd)
	return p.emit(readers.Chunk{Columns: c.columns, Span: c.span})
}

// Rules of deviations.
const (
	RuleGeometry = "bad-geometry" // WKB or WKT that is malformed
	RuleTime     = "bad-time"     // a time that the column does not hold
)
