package engine

import (
	"context"
	"sync"

	"github.com/vibeflight/vibeflight/flightsrv/sql/worker"
)

// database is a DuckDB with its views. Its callers have equal rights: DuckDB's own functions list
// the views by name, and values that are null may show memory of earlier queries.
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
	var d *database
	for {
		db, err := h.source.Take(ctx, func(db worker.Database) bool {
			d := h.find(db)
			return d.isOf(rights) || d.isOf("")
		})
		if err != nil {
			return nil, err
		}
		// The memory of a process has what earlier callers have read: DuckDB's answers may show it.
		if d = h.find(db); d.isOf(rights) || d.isOf("") || !d.End() {
			break
		}
	}
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
