// Package sqlengine opens the SQL engine with the configuration of the flags, over the catalog of a
// server or over files of this machine. The engine spills to a folder that only this process uses.
package sqlengine

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
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
)

// Flags are the limits of queries, with and without a server.
type Flags struct {
	memory  units.Size // of all queries together; default engine.DefaultMemoryBytes
	threads int        // of all queries together; 0: one per core
	// folder for results that do not fit, for the time of a query; empty: the default of Open;
	// none: nowhere
	spillDir   string
	spillBytes units.Size // maximum in it; 0: nine tenths of the free space
	Workers    int        // processes of a server, each for one statement at a time; 0: two per core, at least 8
	// of one query of a server; 0: memory
	QueryMemory units.Size
	Extensions  string // folder with spatial.duckdb_extension; empty: the first of Places that has it
}

// Define adds the flags to f.
func (c *Flags) Define(f *pflag.FlagSet) {
	c.memory = engine.DefaultMemoryBytes
	f.Var(&c.memory, "sql-memory", "memory for SQL queries, all together; half as much again for geometries as they "+
		"read them")
	f.IntVar(&c.threads, "sql-threads", 0, "threads of a SQL query; 0 is one per core")
	f.StringVar(&c.spillDir, "sql-spill-dir", "",
		"`folder` for what a query can't hold in memory; none is for none (default: below the cache folder)")
	f.Var(&c.spillBytes, "sql-spill-bytes", "how much of that may lie there; 0 is nine tenths of the free room")
	extensionsFlag(f, &c.Extensions)
}

func extensionsFlag(f *pflag.FlagSet, folder *string) {
	f.StringVar(folder, "duckdb-extensions", "", "`folder` with "+SpatialFile+", which has the ST_ "+
		"functions of SQL; "+NoExtensions+" is for none (default: where the Python package "+
		"duckdb-extension-spatial puts it)")
}

// SpatialFile is the file in the folder of --duckdb-extensions.
const SpatialFile = "spatial.duckdb_extension"

// Check refuses invalid values.
func (c *Flags) Check() error {
	switch {
	case c.memory < 1:
		return usage.Errorf("--sql-memory: %v is less than 1 byte", c.memory)
	case c.threads < 0:
		return usage.Errorf("--sql-threads: %d is less than 0", c.threads)
	case c.Workers < 0:
		return usage.Errorf("--sql-workers: %d is less than 0", c.Workers)
	case c.QueryMemory < 0:
		return usage.Errorf("--query-memory: %v is less than 0", c.QueryMemory)
	case c.spillBytes < 0:
		return usage.Errorf("--sql-spill-bytes: %v is less than 0", c.spillBytes)
	}
	return nil
}

// Engine is the SQL engine with its spill folder.
type Engine struct {
	*engine.Engine
	spill *spillDir // nil: none
}

// Open starts the engine over a catalog. It spills to the folder of the flag or, by default, below
// the folder spill; nowhere if that is empty or can't be created. With workers, each statement runs
// in a process of its own. The caller closes the engine before the catalog. In a build without SQL,
// the error is engine.ErrNoSQL.
func (c *Flags) Open(files *catalog.Catalog, spill string, workers bool,
	log zerolog.Logger,
) (*Engine, error) {
	if duck.LibraryVersion() == "" {
		return nil, engine.ErrNoSQL // and no folder
	}
	e := &Engine{}
	cfg := engine.Config{
		Catalog: files, MemoryBytes: int64(c.memory), Threads: c.threads,
		QueryBytes: min(int64(c.QueryMemory), int64(c.memory)),
		SpillBytes: int64(c.spillBytes), Extensions: c.ExtensionFolder(), Log: log,
	}
	if c.spillDir != "" {
		spill = settings.CacheDir(c.spillDir)
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
	cfg.SpillDir = e.SpillsTo()
	if workers {
		exe, err := os.Executable()
		if err != nil {
			return nil, errors.Join(err, e.spill.close())
		}
		cfg.Workers = cmp.Or(c.Workers, max(8, 2*runtime.GOMAXPROCS(0)))
		cfg.Command = []string{exe, WorkerCommand}
	}
	var err error
	if e.Engine, err = engine.Open(cfg); err != nil {
		return nil, errors.Join(err, e.spill.close())
	}
	return e, nil
}

// SpillsTo returns the spill folder; empty for none.
func (e *Engine) SpillsTo() string {
	if e.spill == nil {
		return ""
	}
	return e.spill.path
}

// Close ends the queries in progress.
func (e *Engine) Close() error { return errors.Join(e.Engine.Close(), e.spill.close()) }

// SpillBelow returns the parent of spill folders in a cache folder; empty without one.
func SpillBelow(cacheDir string) string {
	if cacheDir == "" {
		return ""
	}
	return filepath.Join(cacheDir, "spill")
}

// WorkerCommand is the command that runs a worker process of serve.
const WorkerCommand = "sql-worker"
