package engine

import (
	"context"
	"sync"

	"github.com/vibeflight/vibeflight/flightsrv/sql/worker"
)

// database is a DuckDB with its views. The views are those of callers of equal rights: DuckDB's own
// functions list them by name.
type database struct {
	worker.Database
	views views

	mu     sync.Mutex
	rights string // of the callers of the statements
}

// isOf reports whether the database is used for callers of these rights.
func (d *database) isOf(rights string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rights == rights
}

// change has the database used for callers of these rights: it drops the views of others.
func (d *database) change(rights string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rights == rights {
		return nil
	}
	if err := d.views.clear(d.Database); err != nil {
		return err
	}
	d.rights = rights
	return nil
}

// databases are the DuckDBs that statements are prepared on.
type databases struct {
	source worker.Source

	mu    sync.Mutex
	known map[worker.Database]*database
}

// take returns the exclusive use of a database for callers of these rights.
func (h *databases) take(ctx context.Context, rights string) (*database, error) {
	db, err := h.source.Take(ctx)
	if err != nil {
		return nil, err
	}
	d := h.find(db)
	if err := d.change(rights); err != nil {
		d.Rest()
		return nil, err
	}
	return d, nil
}

// find returns the database of a worker.
func (h *databases) find(db worker.Database) *database {
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
	return known
}
