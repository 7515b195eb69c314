package engine

import (
	"context"
	"sync"

	"github.com/vibeflight/vibeflight/flightsrv/sql/worker"
)

// home is a DuckDB, and the views that it has.
type home struct {
	worker.Database
	views views
}

// homes are the DuckDBs that statements are prepared on.
type homes struct {
	source worker.Source

	mu sync.Mutex
	of map[worker.Database]*home
}

// take gives the exclusive use of one.
func (h *homes) take(ctx context.Context) (*home, error) {
	db, err := h.source.Take(ctx)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.of[db]
	if known == nil {
		for other := range h.of {
			if !other.Alive() {
				delete(h.of, other)
			}
		}
		known = &home{Database: db, views: newViews()}
		h.of[db] = known
	}
	return known, nil
}
