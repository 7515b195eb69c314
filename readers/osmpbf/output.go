package osmpbf

import (
	"context"
	"errors"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/internal/parallel"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/source"
)

// output makes batches of the parts of a parse, in order.
type output struct {
	sinks   rows.Pool[*sink]
	sum     readers.Summary
	batcher *readers.Batcher
	chunks  *parallel.Output
	window  [2]int64 // rows that are wanted; of a span
	row     int64    // number of the next row
	size    int64    // of the rows so far
}

// part is some rows of a blob.
type part struct {
	sink  *sink
	fault *rowFault // of the row that follows
}

// rowFault is an error of a row whose number is not known yet.
type rowFault struct{ err error }

// errEnough ends a parse of a span whose rows are complete.
var errEnough = errors.New("the rows are there")

// allRows are more than any file has.
const allRows = 1<<63 - 1

// sizePerByte is the size of the rows, about, for each byte of a file, at most. By it the batches
// estimate how many rows follow.
const sizePerByte = 8

// newOutput returns an output for a request.
func newOutput(ctx context.Context, c parser, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) *output {
	o := &output{window: [2]int64{0, allRows}}
	limits := req.Limits
	if req.Span.Inside { // the rows of the span are one chunk
		o.window = [2]int64{req.Span.Row, req.Span.Row + int64(req.Span.State)}
		limits = limits.Unbatched()
	}
	data := c.file().data
	o.chunks = parallel.NewOutput(emit)
	req.Span.To, req.Limits = sizePerByte*src.Size, limits
	o.batcher = readers.NewBatcher(ctx, c, src, req, func(chunk readers.Chunk) error {
		// Rows are not where their bytes are: the whole file says what they are.
		chunk.Span.From, chunk.Span.To = data, src.Size
		chunk.Span.State = uint64(chunk.Columns.Rows)
		return o.chunks.Emit(chunk)
	})
	o.batcher.Inline = true
	return o
}

// add adds the next part.
func (o *output) add(p part) error {
	k := p.sink
	n := int64(k.Rows)
	from, to := max(0, o.window[0]-o.row), min(n, o.window[1]-o.row)
	k.Deviations.Shift(o.row)
	k.AddTo(&o.sum)
	o.row += n
	if from >= to {
		o.sinks.Give(k)
	} else if err := o.put(k, from, to); err != nil {
		return err
	}
	switch {
	case o.row >= o.window[1]:
		return errEnough
	case p.fault != nil:
		return atRow(p.fault.err, o.row)
	}
	return nil
}

// put passes rows of a sink on.
func (o *output) put(k *sink, from, to int64) error {
	columns, err := k.Columns(0)
	if err != nil {
		return err
	}
	starts := k.Starts[from:to]
	if from > 0 || to < int64(k.Rows) {
		columns = columns.Slice(int(from), int(to))
	}
	for i := range starts {
		starts[i] += o.size
	}
	o.size += k.size
	p := readers.Part{
		Start: starts[0], Next: o.size, To: o.size, Columns: columns, Starts: starts, Rows: to - from,
		Release: func() { o.sinks.Give(k) },
	}
	return o.batcher.Add(p)
}

// atRow sets the row of an error, if it is one of a row.
func atRow(err error, row int64) error {
	var limit *readers.LimitError
	var e *readers.ParseError
	switch {
	case errors.As(err, &limit):
		if errors.As(limit.Err, &e) {
			e.Row = row
		}
	case errors.As(err, &e) && e.Row >= 0:
		e.Row = row
	}
	return err
}
