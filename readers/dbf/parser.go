package dbf

import (
	"context"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/device"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/source"
)

// parser is the CPU engine.
type parser struct {
	header     *Header
	blockBytes int
	device     *device.Engine // the GPU engine, or nil
}

// Parse reads all records, or those of a span that an earlier Parse emitted.
func (c parser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	if err := req.Limits.CheckColumns(src.Name, len(c.header.Fields)); err != nil {
		return readers.Summary{}, err
	}
	pool := &readerPool{header: c.header, src: src, limits: req.Limits, blockBytes: c.blockBytes}
	if req.Span.Inside {
		return c.again(ctx, pool, req.Span, emit)
	}
	sum := readers.Summary{BytesRead: c.header.Start}
	sum.Deviations.Append(c.header.Deviations())
	out := parallel.NewOutput(emit)
	if err := c.records(ctx, pool, req, &sum, out.Emit); err != nil {
		return readers.Summary{}, err
	}
	sum.Add(&readers.Summary{Skipped: c.header.Missing()}) // they come after all others
	empty := func() (*geoarrow.Columns, error) {           // the types that the header declares
		r, err := pool.take()
		if err != nil {
			return nil, err
		}
		run, err := r.Read(ctx, 0, 0)
		return run.Columns, err
	}
	if err := out.Finish(req.Span, empty); err != nil {
		return readers.Summary{}, err
	}
	return sum, nil
}

// records reads all records with several workers, whose guesses are never wrong.
func (c parser) records(ctx context.Context, pool *readerPool, req readers.Request, sum *readers.Summary,
	emit func(readers.Chunk) error,
) error {
	limits, span := req.Limits.WithDefaults(), c.header.span()
	var engine *device.Engine
	if c.header.OnDevice() {
		engine = c.device.For(span, &limits)
	}
	req.Span.To = span.To
	r := parallel.Start(ctx, parallel.Config{
		Parser: c, Source: pool.src, Request: req, Limits: limits, Engine: engine, Summary: sum, Emit: emit,
	})
	defer r.Close()
	if c.header.Records > 0 {
		size, err := c.partBytes(pool, limits.PartBytes)
		if err != nil {
			return err
		}
		parts := readers.Parts{
			From: span.From, To: span.To, Size: size, Workers: limits.Workers,
			Reader: func() readers.PartReader { return partReader{ctx, c.header, pool} },
		}
		chunks := func() device.Chunks { return deviceChunks{c.header} }
		if _, _, err := r.Read(parts, chunks); err != nil {
			return err
		}
	}
	return r.Finish()
}

// again reads the records of one chunk, into memory of its own.
func (c parser) again(ctx context.Context, pool *readerPool, span readers.Span,
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

// recordAt returns the first record that begins at or after an offset, or the number of records.
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

// partBytes returns the part size in bytes of the table, given that size including memos.
func (c parser) partBytes(pool *readerPool, bytes int64) (int64, error) {
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
	pool   *readerPool
}

// Guess reads the records that begin between two offsets.
func (r partReader) Guess(from, stop int64) readers.Part {
	part, err := r.Read(from, stop, 0)
	part.Failed = err != nil
	return part
}

// Read reads the records that begin between two offsets, whose numbers follow from these.
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
		Columns: run.Columns, Starts: run.Starts, SiblingBytes: run.SiblingBytes, Rows: end - first,
		Summary: readers.Summary{BytesRead: run.Bytes, Skipped: run.Skipped, Deviations: run.Deviations},
		Release: func() { r.pool.give(reader) },
	}, nil
}
