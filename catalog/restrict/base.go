package restrict

import (
	"context"
	"sync"

	"github.com/vibeflight/vibeflight/catalog/scan"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// baseOf returns the source of a table. Several goroutines may use that of a file, and that of a
// dataset if its Ref is shared.
func baseOf(h *tables.Ref) tables.Source {
	if src := h.Source(); src != nil {
		return src
	}
	b := &fileBase{ref: h, table: h.Table}
	b.sizes.columns, b.sizes.batches = scan.ColumnBytes(h.Table), scan.BatchBytes(h.Table)
	b.retain()
	return b
}

// fileBase is the whole table of a file as a source.
type fileBase struct {
	table *readers.Table // as it was at first; a table that replaces a damaged one is equal
	sizes struct{ columns, batches []int64 }

	mu       sync.Mutex
	ref      *tables.Ref
	known    *readers.Table // whose memory is retained
	retained []func()
}

// retain keeps the memory of the current table until Release, also if a new parse replaces it;
// b.mu is held, or b is new.
func (b *fileBase) retain() {
	if b.ref.Table == b.known {
		return
	}
	b.known = b.ref.Table
	if release := b.ref.Retain(); release != nil {
		b.retained = append(b.retained, release)
	}
}

// Table implements scan.Source.
func (b *fileBase) Table() *readers.Table { return b.table }

// Batch implements scan.Source.
func (b *fileBase) Batch(ctx context.Context, i int) (*geoarrow.Columns, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.retain()
	return b.ref.Batch(ctx, i)
}

// Search implements scan.Source.
func (b *fileBase) Search(ctx context.Context, i int, box [4]float64) ([]int32, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.retain()
	return b.ref.Search(ctx, i, box)
}

// Close implements scan.Source.
func (b *fileBase) Close(context.Context) error { return nil }

// Sizes implements scan.Source.
func (b *fileBase) Sizes() (columns, batches []int64) { return b.sizes.columns, b.sizes.batches }

// Retain implements tables.Source.
func (b *fileBase) Retain() (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ref.Retain()
}

// Release implements tables.Source.
func (b *fileBase) Release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ref.Release()
	for _, release := range b.retained {
		release()
	}
	b.retained = nil
}
