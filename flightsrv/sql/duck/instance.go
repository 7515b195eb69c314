//go:build cgo && linux && (amd64 || arm64)

package duck

/*
#include "scan.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"sync/atomic"

	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// instance is a running DuckDB. A new one replaces it after an internal error.
type instance struct {
	database *Database
	db       duckdb.Database
	admin    *Conn // creates views
	parser   *parser
	broken   atomic.Bool

	mu    sync.Mutex
	conns map[uint64]*Conn // by DuckDB's number of the connection
}

func newInstance(d *Database) (*instance, error) {
	in := &instance{database: d, conns: make(map[uint64]*Conn)}
	if err := in.start(d.cfg); err != nil {
		return nil, err
	}
	if err := in.prepare(d.cfg); err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

func (in *instance) start(cfg Config) error {
	var config duckdb.Config
	if duckdb.CreateConfig(&config) == duckdb.StateError {
		return &Error{Kind: Memory, Message: "no memory for DuckDB's settings", Position: -1}
	}
	defer duckdb.DestroyConfig(&config)
	for _, s := range settings(cfg) {
		if duckdb.SetConfig(config, s.name, s.value) == duckdb.StateError {
			return &Error{
				Kind: Value, Message: fmt.Sprintf("DuckDB does not take %q for %s", s.value, s.name),
				Position: -1,
			}
		}
	}
	var text string
	if duckdb.OpenExt(":memory:", &in.db, config, &text) == duckdb.StateError {
		duckdb.Close(&in.db)
		return parseError(text)
	}
	return nil
}

// prepare registers the table function, loads the extension, and locks the settings.
func (in *instance) prepare(cfg Config) (err error) {
	if in.admin, err = in.open(); err != nil {
		return err
	}
	if !C.vf_register(in.admin.conn.Ptr, in.newHandle(in)) {
		return &Error{Kind: Internal, Message: "DuckDB does not take the table function", Position: -1}
	}
	if cfg.Spatial != "" {
		if err := in.admin.run("LOAD " + quoteText(cfg.Spatial)); err != nil {
			return fmt.Errorf("%s: %w", cfg.Spatial, err)
		}
		if err := in.admin.run(eastingFirst); err != nil {
			return fmt.Errorf("%s: %w", eastingFirst, err)
		}
	}
	if limit := spillLimit(cfg); limit != "" {
		if err := in.admin.run(limit); err != nil {
			return fmt.Errorf("%s: %w", limit, err)
		}
	}
	for _, s := range lockdown {
		if err := in.admin.run(s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	if err := in.admin.define(append(definitions(cfg), cfg.Macros...)); err != nil {
		return err
	}
	in.parser, err = newParser(in)
	return err
}

// definitions are the additions of this package to DuckDB's catalog.
func definitions(cfg Config) []string {
	all := []string{crsMacro, settingsMacro}
	if cfg.Spatial != "" {
		all = append(all, geometryType)
	}
	return all
}

func (in *instance) close() {
	if in.parser != nil {
		in.parser.close()
	}
	if in.admin != nil {
		in.admin.Close()
	}
	duckdb.Close(&in.db)
}

// open returns a connection to DuckDB's initial database, before the sandbox detaches it.
func (in *instance) open() (*Conn, error) {
	c := &Conn{in: in}
	if duckdb.Connect(in.db, &c.conn) == duckdb.StateError {
		return nil, &Error{Kind: Internal, Message: "DuckDB gives no connection", Position: -1}
	}
	duckdb.ConnectionGetArrowOptions(c.conn, &c.options)
	var ctx duckdb.ClientContext
	duckdb.ConnectionGetClientContext(c.conn, &ctx)
	c.id = uint64(duckdb.ClientContextGetConnectionId(ctx))
	duckdb.DestroyClientContext(&ctx)
	in.mu.Lock()
	in.conns[c.id] = c
	in.mu.Unlock()
	in.database.conns.Add(1)
	return c, nil
}

// connect returns a connection to the database of the views.
func (in *instance) connect() (*Conn, error) {
	c, err := in.open()
	if err != nil {
		return nil, err
	}
	if err := c.run("USE " + catalogName); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (in *instance) connection(id uint64) *Conn {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.conns[id]
}

func (in *instance) view(v viewName, key string) error {
	return in.admin.declare(
		"CREATE SCHEMA IF NOT EXISTS "+quoteName(v.schema),
		"CREATE OR REPLACE VIEW "+v.quoted()+" AS SELECT * FROM vibeflight_scan("+quoteText(key)+")",
	)
}
