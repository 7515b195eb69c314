package rows

import (
	"fmt"
	"slices"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/window"
)

// Rows is a *Sink, or a type that embeds one and has more state.
type Rows interface {
	Reset()
	Columns(next float64) (*geoarrow.Columns, error)
	Follow(known *readers.ColumnSet)
	Expect(times float64) Sizes
	base() *Sink
}

func (k *Sink) base() *Sink { return k }

// Emit emits the rows of a sink, if there are any, as the chunk that span begins and offset to
// ends, and empties the sink unless it is lent. Then span begins the next one. An error is that of
// emit, or a *readers.LimitError.
func Emit(k Rows, w *window.Window, span *readers.Span, to int64, limits readers.Limits,
	emit func(readers.Chunk) error,
) error {
	sink := k.base()
	if sink.Rows == 0 {
		k.Reset()
		return nil
	}
	var next float64 // maximum size of the next chunk as a fraction of this one
	if sink.Rows >= limits.BatchRows && !sink.Pooled() {
		next = min(1, float64(w.End-to)/float64(to-span.From))
	}
	if err := limits.CheckCells(w.Src.Name, span.Row, sink.Rows, len(sink.Order)); err != nil {
		return err
	}
	columns, err := k.Columns(next)
	if err != nil {
		return &readers.LimitError{
			What: fmt.Sprintf("%s: the rows from %d on (%v)", w.Src.Name, span.Row, err), Flag: "--batch-rows",
			Limit: int64(limits.BatchRows),
		}
	}
	sink.known.Add(columns)
	chunk := readers.Chunk{Columns: columns, Span: *span}
	chunk.Span.To, chunk.Span.Inside, chunk.Span.Text = to, true, slices.Clone(sink.Text)
	if !sink.Pooled() {
		k.Reset()
	}
	span.Row += int64(columns.Rows)
	return emit(chunk)
}

// Foresee allocates memory for the whole first chunk, estimated by the rows of the first window,
// which come from the given bytes, and the n rows of a chunk.
func (k *Sink) Foresee(parsed, bytes int64, batchRows int) {
	if k.foreseen || k.Rows == 0 {
		return
	}
	k.foreseen = true
	k.Reserve(min(float64(batchRows)/float64(k.Rows), float64(bytes)/float64(parsed)))
}
