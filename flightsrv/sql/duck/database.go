//go:build cgo

package duck

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// Database is one DuckDB in memory that holds views and no data. Its methods may be called by
// several goroutines.
type Database struct {
	cfg     Config
	resolve Resolver
	handles atomic.Int64 // what DuckDB holds of Go's
	conns   atomic.Int64 // open connections

	mu    sync.Mutex
	now   *instance
	views map[viewName]string // their keys
}

type viewName struct{ schema, name string }

// Open starts DuckDB with what cfg allows, loads the spatial extension if cfg names its file, and
// locks the settings. The error of a spatial extension that cannot be loaded says why. Close ends
// it.
func Open(cfg Config, resolve Resolver) (*Database, error) {
	d := &Database{cfg: cfg, resolve: resolve, views: make(map[viewName]string)}
	var err error
	d.now, err = newInstance(d)
	return d, err
}

// Close ends DuckDB. Connections have to be closed before.
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

// View makes name in schema stand for what the resolver gives for key, from the next query on. The
// schema is made where it is missing, "" is DuckDB's default one, main. The resolver is not asked
// yet.
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

// DropView takes away what View has made. A view that there is not is no error.
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

// Connect returns a connection, for one goroutine at a time. One that gave an error of kind Internal
// may be of no more use: a new one is.
func (d *Database) Connect() (*Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.heal(); err != nil {
		return nil, err
	}
	return d.now.connect()
}

// heal starts DuckDB anew if a mistake of its own has made it refuse everything that follows. What
// still runs on the old one ends with its connections.
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

// LibraryVersion is DuckDB's, such as v1.5.5.
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
