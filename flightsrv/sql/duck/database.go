//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// Database is a DuckDB in memory that holds views and no data. Several goroutines may call its
// methods.
type Database struct {
	cfg     Config
	resolve Resolver
	handles atomic.Int64 // values of Go that DuckDB holds
	conns   atomic.Int64 // open connections

	mu    sync.Mutex
	now   *instance
	views map[viewName]string // their keys
}

type viewName struct{ schema, name string }

// Open starts DuckDB with the limits of cfg, loads the spatial extension if cfg names its file, and
// locks the settings. The error of a spatial extension that can't be loaded states the reason.
// Close ends DuckDB.
func Open(cfg Config, resolve Resolver) (*Database, error) {
	d := &Database{cfg: cfg, resolve: resolve, views: make(map[viewName]string)}
	var err error
	d.now, err = newInstance(d)
	return d, err
}

// Close ends DuckDB. Its connections must be closed before.
func (d *Database) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now.close()
	if n := d.conns.Load(); n > 0 {
		return fmt.Errorf("%d connections of the database are still open", n)
	}
	if n := d.handles.Load(); n != 0 {
		return fmt.Errorf("DuckDB has ended, and %d of its tables and scans are still open", n)
	}
	return nil
}

// Spatial reports whether the spatial extension is loaded, with its ST_ functions.
func (d *Database) Spatial() bool { return d.cfg.Spatial != "" }

// View makes name in schema mean the relation of key, from the next query on. It creates a missing
// schema; "" is DuckDB's default one, main. It does not call the resolver.
func (d *Database) View(schema, name, key string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.heal(); err != nil {
		return err
	}
	v := viewName{orMain(schema), name}
	if err := d.now.view(v, key); err != nil {
		return err
	}
	d.views[v] = key
	return nil
}

// DropView removes a view of [Database.View]. A missing view is not an error.
func (d *Database) DropView(schema, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.heal(); err != nil {
		return err
	}
	v := viewName{orMain(schema), name}
	delete(d.views, v)
	return d.now.admin.declare("DROP VIEW IF EXISTS " + v.quoted())
}

// Connect returns a connection, for one goroutine at a time. A connection may no longer work after
// an error of kind Internal, but a new one does.
func (d *Database) Connect() (*Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.heal(); err != nil {
		return nil, err
	}
	return d.now.connect()
}

// heal starts a new DuckDB if an internal error has made the old one refuse everything. Connections
// to the old one run until they are closed.
func (d *Database) heal() error {
	if !d.now.broken.Load() {
		return nil
	}
	next, err := newInstance(d)
	if err != nil {
		return err
	}
	for v, key := range d.views {
		if err := next.view(v, key); err != nil {
			next.close()
			return err
		}
	}
	d.now.close()
	d.now = next
	return nil
}

// LibraryVersion is DuckDB's version, such as v1.5.5.
func LibraryVersion() string { return duckdb.LibraryVersion() }

func orMain(schema string) string {
	if schema == "" {
		return "main"
	}
	return schema
}

func (v viewName) quoted() string { return quoteName(v.schema) + "." + quoteName(v.name) }

func quoteName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
