package persist

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"golang.org/x/sync/errgroup"

	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// maxBoundBytes is the length of the longest text that is kept as a column's minimum or maximum. A
// longer one is left out, because a prefix of the maximum is less than it.
const maxBoundBytes = 256

// columnStats returns the statistics of each column: the attributes in their order, then the
// geometry, which has no minimum and maximum. The type is the extension type if a column has one,
// as "geoarrow.polygon", else Arrow's, as "int64".
//
// The given number of workers share the batches. Errors are those of Table.Check and of ctx; a
// panic over a batch is an error too.
func columnStats(ctx context.Context, t *readers.Table, workers int) ([]store.ColumnStats, error) {
	bounds, err := columnBounds(ctx, t, workers)
	if err != nil {
		return nil, err
	}
	return statsOf(t, bounds), nil
}

// statsOf returns the statistics of each column. bounds has the minimum and the maximum of each
// attribute in each batch; nil: they are not known.
func statsOf(t *readers.Table, bounds [][]geoarrow.Value) []store.ColumnStats {
	fields := geoarrow.Schema(t.Batches[0], t.CRS, geoarrow.Encoding{}).Fields()
	stats := make([]store.ColumnStats, len(fields))
	for k, f := range fields {
		stats[k] = store.ColumnStats{Name: f.Name, Type: typeText(f)}
		for _, b := range t.Batches {
			stats[k].Nulls += int64(nullsOf(b, k))
		}
		if k < len(bounds) && len(bounds[k]) > 0 {
			stats[k].Min = boundText(slices.MinFunc(bounds[k], geoarrow.Value.Compare), f.Type)
			stats[k].Max = boundText(slices.MaxFunc(bounds[k], geoarrow.Value.Compare), f.Type)
		}
	}
	return stats
}

// columnBounds returns the minimum and the maximum of each attribute in each batch, in any order.
// Texts are parts of the batches.
func columnBounds(ctx context.Context, t *readers.Table, workers int) ([][]geoarrow.Value, error) {
	all := make([][]geoarrow.Value, len(t.Batches[0].Attributes))
	var mu sync.Mutex // guards all
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, workers))
	for i, b := range t.Batches {
		g.Go(func() (err error) {
			defer func() {
				if r := recover(); r != nil {
					err = fmt.Errorf("statistics of batch %d: internal error: %v\n%s", i, r, debug.Stack())
				}
			}()
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if t.Check != nil {
				if err := t.Check(i); err != nil {
					return err
				}
			}
			for k := range b.Attributes {
				low, high, ok := b.Attributes[k].Range(b.Rows)
				if ok {
					mu.Lock()
					all[k] = append(all[k], low, high)
					mu.Unlock()
				}
			}
			return nil
		})
	}
	return all, g.Wait()
}

func typeText(f arrow.Field) string {
	if name, ok := f.Metadata.GetValue("ARROW:extension:name"); ok {
		return name
	}
	return f.Type.String()
}

// nullsOf returns the number of rows of a batch that are null in a column; the geometry is the
// column after the attributes.
func nullsOf(b *geoarrow.Columns, column int) int {
	if column == len(b.Attributes) {
		return b.Geometry.Nulls
	}
	return b.Attributes[column].Nulls
}

func boundText(v geoarrow.Value, t arrow.DataType) *string {
	if len(v.Bytes) > maxBoundBytes {
		return nil
	}
	text := v.Text(t)
	return &text
}
