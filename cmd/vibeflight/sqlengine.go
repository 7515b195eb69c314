package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
)

// engineConfig is what queries may use of the machine, on a server and without one.
type engineConfig struct {
	memory  byteSize // of all queries together; default engine.DefaultMemoryBytes
	threads int      // of all queries together; 0: one a core
	// where results that do not fit are written for the time of a query; empty: where who opens the
	// engine says; none: nowhere
	spillDir   string
	spillBytes byteSize // the most that may lie there; 0: nine tenths of the room
	workers    int      // processes of a server, each for one statement at a time; 0: two a core, at least 8
	extensions string   // folder with spatial.duckdb_extension; empty: core functions only
}

func (c *engineConfig) flags(f *pflag.FlagSet) {
	c.memory = engine.DefaultMemoryBytes
	f.Var(&c.memory, "sql-memory", "memory for SQL queries, all together; half as much again for geometries as they "+
		"read them")
	f.IntVar(&c.threads, "sql-threads", 0, "threads of a SQL query; 0 is one a core")
	f.StringVar(&c.spillDir, "sql-spill-dir", "",
		"`folder` for what a query can't hold in memory; none is for none (default: below the cache folder)")
	f.Var(&c.spillBytes, "sql-spill-bytes", "how much of that may lie there; 0 is nine tenths of the free room")
	extensionsFlag(f, &c.extensions)
}

func extensionsFlag(f *pflag.FlagSet, folder *string) {
	f.StringVar(folder, "duckdb-extensions", "", "`folder` with "+spatialFile+", which has the ST_ functions of SQL")
}

// spatialFile is what --duckdb-extensions holds.
const spatialFile = "spatial.duckdb_extension"

// check refuses values that no engine can work with.
func (c *engineConfig) check() error {
	switch {
	case c.memory < 1:
		return wrongUsage("--sql-memory: %v is less than 1 byte", c.memory)
	case c.threads < 0:
		return wrongUsage("--sql-threads: %d is less than 0", c.threads)
	case c.workers < 0:
		return wrongUsage("--sql-workers: %d is less than 0", c.workers)
	case c.spillBytes < 0:
		return wrongUsage("--sql-spill-bytes: %v is less than 0", c.spillBytes)
	}
	return nil
}

// sqlEngine is the engine of SQL with the folder that it spills to.
type sqlEngine struct {
	*engine.Engine
	spill *spillDir // nil: there is none
}

// open starts the engine over a catalog. What does not fit is written to the flag's folder or,
// unless the flag says one, below the folder spill: nowhere if that is empty or can't be made. With
// workers, each statement runs in a process of its own. The caller closes the engine before the
// catalog. A build without SQL gives engine.ErrNoSQL.
func (c *engineConfig) open(files *catalog.Catalog, spill string, workers bool,
	log zerolog.Logger,
) (*sqlEngine, error) {
	e := &sqlEngine{}
	cfg := engine.Config{
		Catalog: files, MemoryBytes: int64(c.memory), Threads: c.threads,
		SpillBytes: int64(c.spillBytes), Extensions: c.extensions, Log: log,
	}
	if c.spillDir != "" {
		spill = folder(c.spillDir)
	}
	if spill != "" {
		var err error
		e.spill, err = newSpillDir(spill)
		if err != nil && c.spillDir != "" {
			return nil, fmt.Errorf("--sql-spill-dir: %w", err)
		}
		if err != nil {
			log.Warn().Err(err).Msg("SQL queries can't spill: one that needs more than --sql-memory fails; " +
				"--sql-spill-dir names another folder")
		}
	}
	cfg.SpillDir = e.spillsTo()
	if workers {
		exe, err := os.Executable()
		if err != nil {
			return nil, errors.Join(err, e.spill.close())
		}
		cfg.Workers = cmp.Or(c.workers, max(8, 2*runtime.GOMAXPROCS(0)))
		cfg.Command = []string{exe, workerCommand}
	}
	var err error
	if e.Engine, err = engine.Open(cfg); err != nil {
		return nil, errors.Join(err, e.spill.close())
	}
	return e, nil
}

// spillsTo is the folder, empty for none.
func (e *sqlEngine) spillsTo() string {
	if e.spill == nil {
		return ""
	}
	return e.spill.path
}

// close ends the queries under way.
func (e *sqlEngine) close() error { return errors.Join(e.Engine.Close(), e.spill.close()) }

// spillBelow is where queries spill that have a cache folder, empty where there is none.
func spillBelow(cacheDir string) string {
	if cacheDir == "" {
		return ""
	}
	return filepath.Join(cacheDir, "spill")
}
