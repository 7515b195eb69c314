package engine

import (
	"context"
	"sync"

	"github.com/vibeflight/vibeflight/flightsrv/sql/worker"
)

// database is a DuckDB with its views.
type database struct {
	worker.Database
	views views
}

// databases are the DuckDBs that statements are prepared on.
type databases struct {
	source worker.Source

	mu    sync.Mutex
	known map[worker.Database]*database
}

// take returns the exclusive use of a database.
func (h *databases) take(ctx context.Context) (*database, error) {
	db, err := h.source.Take(ctx)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.known[db]
	if known == nil {
		for other := range h.known {
			if !other.Alive() {
				delete(h.known, other)
			}
		}
		known = &database{Database: db, views: newViews()}
		h.known[db] = known
	}
	return known, nil
}
