package dbf

import (
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/source"
)

// parser is the CPU engine.
type parser struct {
	header     *Header
	blockBytes int
	device     *device.Engine // that has cards read chunks of records, or nil
}

// Parse reads all records, or again those of a span that an earlier Parse emitted.
func (c parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	if err := req.Limits.CheckColumns(src.Name, len(c.header.Fields)); err != nil {
		return readers.Summary{}, err
	}
	pool := &pool{header: c.header, src: src, limits: req.Limits, blockBytes: c.blockBytes}
	if req.Span.Inside {
		return c.again(ctx, pool, req.Span, emit)
	}
	sum := readers.Summary{BytesRead: c.header.Start, Skipped: c.header.Missing()}
	sum.Deviations.Append(c.header.Deviations())
	rows := false
	batcher := readers.NewBatcher(ctx, c, src, req.Span.Row, c.header.offset(c.header.Records), req.Limits,
		func(chunk readers.Chunk) error {
			rows = true
			return emit(chunk)
		})
	batcher.Inline = c.device == nil
	defer batcher.Close()
	if c.header.Records > 0 {
		skipped := sum.Skipped
		sum.Skipped = readers.Skipped{}
		err := c.parts(ctx, pool, req, func(p readers.Part) error {
			sum.Add(&p.Summary)
			return batcher.Add(p)
		})
		if err != nil {
			return readers.Summary{}, err
		}
		sum.Add(&readers.Summary{Skipped: skipped}) // behind all others
	}
	if err := batcher.Finish(); err != nil {
		return readers.Summary{}, err
	}
	if rows {
		return sum, nil
	}
	// No row: the columns have the types that the header declares.
	r, err := pool.take()
	if err != nil {
		return readers.Summary{}, err
	}
	run, err := r.Read(ctx, 0, 0)
	if err != nil {
		return readers.Summary{}, err
	}
	return sum, emit(readers.Chunk{Columns: run.Columns})
}

// again reads the records of one chunk. Its memory is the chunk's alone.
func (c parser) again(ctx context.Context, pool *pool, span readers.Span,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	r, err := pool.take()
	if err != nil {
		return readers.Summary{}, err
	}
	from, to := c.header.recordAt(span.From), c.header.recordAt(span.To)
	run, err := r.Read(ctx, from, to)
	if err != nil {
		return readers.Summary{}, err
	}
	return readers.Summary{BytesRead: run.Bytes, Skipped: run.Skipped, Deviations: run.Deviations},
		emit(readers.Chunk{Columns: run.Columns, Span: span})
}

// recordAt is the first record that begins at or behind an offset, or the number of records.
func (h *Header) recordAt(offset int64) int64 {
	if offset <= h.Start {
		return 0
	}
	if offset >= h.offset(h.Records) {
		return h.Records
	}
	length := int64(h.RecordLength)
	return (offset - h.Start + length - 1) / length
}

// parts reads the records with several workers. Their guesses are never wrong.
func (c parser) parts(ctx context.Context, pool *pool, req readers.Request, take func(readers.Part) error) error {
	limits := req.Limits.WithDefaults()
	reader := func() readers.PartReader { return partReader{ctx, c.header, pool} }
	if c.device != nil && c.header.OnCards() && c.device.Share(c.header.span(), &limits) {
		reader = deviceReader(ctx, c.device, c.header, pool.src, reader)
	}
	size, err := c.partBytes(pool, limits.PartBytes)
	if err != nil {
		return err
	}
	parts := readers.Parts{
		From: c.header.Start, To: c.header.offset(c.header.Records), Size: size, Workers: limits.Workers,
		Reader: reader,
	}
	_, _, err = parts.Read(ctx, take)
	return err
}

// partBytes is how much of the table is about so many bytes of records and memos.
func (c parser) partBytes(pool *pool, bytes int64) (int64, error) {
	r, err := pool.take()
	if err != nil {
		return 0, err
	}
	defer pool.give(r)
	if r.memo == nil {
		return bytes, nil
	}
	table := float64(pool.src.Size)
	return max(1, int64(float64(bytes)*table/(table+float64(r.memo.src.Size)))), nil
}

// partReader reads parts of the table for one worker.
type partReader struct {
	ctx    context.Context
	header *Header
	pool   *pool
}

// Guess reads the records that begin from one offset on and before another.
func (r partReader) Guess(from, stop int64) readers.Part {
	part, err := r.Read(from, stop, 0)
	part.Failed = err != nil
	return part
}

// Read is Guess that says what is wrong. Records know their numbers by where they are.
func (r partReader) Read(from, stop, _ int64) (readers.Part, error) {
	reader, err := r.pool.take()
	if err != nil {
		return readers.Part{}, err
	}
	first, end := r.header.recordAt(from), r.header.recordAt(stop)
	run, err := reader.ReadSome(r.ctx, first, end)
	if err != nil {
		r.pool.give(reader)
		return readers.Part{}, err
	}
	end = run.To
	return readers.Part{
		Start: r.header.offset(first), Next: r.header.offset(end), To: r.header.offset(end),
		End:     end == r.header.Records,
		Columns: run.Columns, Starts: run.Starts, Beside: run.Beside, Rows: end - first,
		Summary: readers.Summary{BytesRead: run.Bytes, Skipped: run.Skipped, Deviations: run.Deviations},
		Release: func() { r.pool.give(reader) },
	}, nil
}
