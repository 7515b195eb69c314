package engine

import (
	"cmp"
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/flightsrv/sql/worker"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// CatalogName is the name of the only catalog (database) that clients see.
const CatalogName = "vibeflight"

// MainSchema is the schema of the files in the root.
const MainSchema = "main"

// DefaultMemoryBytes is the default of Config.MemoryBytes.
const DefaultMemoryBytes = 1 << 30

// Config is the catalog to query, and the limits. Catalog is required.
type Config struct {
	Catalog *catalog.Catalog
	// of all queries together; 0: DefaultMemoryBytes; half as much in addition for geometries as
	// WKB (--sql-memory)
	MemoryBytes int64
	Threads     int    // of all queries together; 0: one per core (--sql-threads)
	SpillDir    string // folder for what does not fit; "": such a query fails (--sql-spill-dir)
	SpillBytes  int64  // maximum in SpillDir; 0: 90 % of the free space (--sql-spill-bytes)
	// folder with spatial.duckdb_extension; "": core functions only (--duckdb-extensions)
	Extensions string
	Log        zerolog.Logger

	QueryBytes int64 // of memory of one query in a worker; 0: MemoryBytes (--query-memory)
	// Workers is how many processes run DuckDB, each for one statement at a time; 0: DuckDB runs in
	// this process.
	Workers int
	Command []string // path of the program that calls ServeWorker, with its arguments; nil: none
	Env     []string // of workers
}

// Engine runs queries over a catalog. It is safe for use by several goroutines.
type Engine struct {
	cfg       Config
	databases databases
	derived   *derivedCache
	idle      idleStatements
	lists     lists
	count     counters
	rules     rules
	filters   idleRules // of requests
	info      func() Info
	readAll   bool // no batch and no row is skipped, for comparisons in tests

	ctx  context.Context // ends with Close
	end  context.CancelCauseFunc
	busy sync.WaitGroup // calls of Prepare and open rows; Close waits for them

	mu         sync.Mutex
	closed     bool
	statements map[*Statement]struct{} // that are open
}

// Stats are the engine's numbers since it was opened.
type Stats struct {
	Statements     int   `json:"statements"`       // open now
	Queries        int64 `json:"queries"`          // begun
	Failed         int64 `json:"failed"`           // of them, with an error
	BatchesRead    int64 `json:"batches_read"`     // of tables
	BatchesLeftOut int64 `json:"batches_left_out"` // because no row of them could match
	GeometryBytes  int64 `json:"geometry_bytes"`   // of geometries kept as WKB
}

type counters struct{ queries, failed, read, leftOut atomic.Int64 }

// Open starts DuckDB. The caller closes the engine before the catalog. Without cgo, the error is
// ErrNoSQL.
func Open(cfg Config) (*Engine, error) {
	cfg.MemoryBytes = cmp.Or(cfg.MemoryBytes, DefaultMemoryBytes)
	e := &Engine{
		cfg: cfg, derived: newDerivedCache(cfg.MemoryBytes/2, cfg.Workers > 0),
		statements: map[*Statement]struct{}{},
	}
	if cfg.Catalog.Scope(context.Background()) != access.All && cfg.Workers == 0 { // it is restricted
		return nil, errShared
	}
	e.ctx, e.end = context.WithCancelCause(context.Background())
	spatial := FindSpatial(cfg.Extensions)
	source, err := e.open(cfg, spatial)
	if err != nil && spatial != "" && !errors.Is(err, ErrNoSQL) {
		cfg.Log.Warn().Err(err).Str("file", spatial).Msg(
			"SQL has the core functions only, without those of the spatial extension",
		)
		spatial = ""
		source, err = e.open(cfg, spatial)
	}
	if err != nil {
		e.end(err)
		return nil, err
	}
	e.databases = databases{source: source, known: map[worker.Database]*database{}}
	e.info = sync.OnceValue(e.readInfo)
	e.rules.spatial = spatial
	cfg.Catalog.SetEvaluator(e, e.Filters())
	return e, nil
}

// errShared is the error of an engine that would run the statements of all callers on one DuckDB. Its
// own listings name the views of all statements.
var errShared = errors.New("SQL with grants needs worker processes")

// open starts DuckDB, in this process or in workers.
func (e *Engine) open(cfg Config, spatial string) (worker.Source, error) {
	if cfg.Workers == 0 {
		return worker.Embedded(duck.Config{
			MemoryBytes: cfg.MemoryBytes, Threads: cfg.Threads, SpillDir: cfg.SpillDir, SpillBytes: cfg.SpillBytes,
			Spatial: spatial, Macros: declarations, CRS: crsMetadata,
		}, e.resolve)
	}
	pool, err := worker.NewPool(worker.Config{
		Command: cfg.Command, Env: cfg.Env, Max: cfg.Workers, Warm: warmWorkers,
		MemoryBytes: cfg.MemoryBytes, QueryBytes: cfg.QueryBytes,
		Threads: cmp.Or(cfg.Threads, runtime.GOMAXPROCS(0)), SpillDir: cfg.SpillDir,
		SpillBytes: cfg.SpillBytes,
		Spatial:    spatial, Macros: declarations, Locate: locate, Log: cfg.Log,
	}, e.resolve)
	if err != nil {
		return nil, err
	}
	return pool, nil
}

// warmWorkers is how many unused workers are kept.
const warmWorkers = 2

// locate finds the file of the cache that contains a buffer.
func locate(buffer []byte) (worker.File, int64, bool) {
	f, at, ok := catalog.MappedFile(buffer)
	return worker.File(f), at, ok
}

// ServeWorker runs a worker process: it answers the queries of the engine that started it, until
// that engine ends.
func ServeWorker() error {
	return worker.Serve(os.NewFile(worker.Socket, "server"), crsMetadata)
}

// Close interrupts the queries in progress, waits until their rows are closed, closes all
// statements, and stops DuckDB.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.mu.Unlock()
	e.cfg.Catalog.SetEvaluator(nil, nil)
	e.end(ErrClosed)
	e.busy.Wait()
	e.mu.Lock()
	left := e.statements
	e.statements = map[*Statement]struct{}{}
	e.mu.Unlock()
	e.idle.close()
	e.filters.close()
	for s := range left {
		s.closeStatements()
	}
	return errors.Join(e.rules.close(), e.databases.source.Close())
}

// enter begins an operation that Close waits for; busy.Done ends it.
func (e *Engine) enter() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	e.busy.Add(1)
	return nil
}

// withEngine returns a context that also ends with the engine.
func (e *Engine) withEngine(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.ctx, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(context.Canceled)
	}
}

// Stats returns the current numbers.
func (e *Engine) Stats() Stats {
	e.mu.Lock()
	statements := len(e.statements)
	e.mu.Unlock()
	return Stats{
		Statements: statements, Queries: e.count.queries.Load(), Failed: e.count.failed.Load(),
		BatchesRead: e.count.read.Load(), BatchesLeftOut: e.count.leftOut.Load(), GeometryBytes: e.derived.size(),
	}
}

// TableSchema returns the schema of a table that the caller may describe, as of SELECT *. It parses
// the file on first use.
//
// Errors are those of catalog.Catalog.Table, and those of DuckDB for a table that it can't have.
func (e *Engine) TableSchema(ctx context.Context, t Table) (*arrow.Schema, error) {
	s, err := e.prepareFor(ctx, access.Describe, "SELECT * FROM "+quoteName(MainSchema)+"."+quoteName(t.Entry), "")
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Schema(), nil
}

// resolve returns the relation for the key of a view, in the run of a statement.
func (e *Engine) resolve(ctx context.Context, key string) (duck.Relation, error) {
	run := runOf(ctx)
	if l := e.listing(key); l != nil {
		if run != nil {
			run.lists.Store(true)
		}
		return l, nil
	}
	if run == nil {
		return nil, errors.New("a table outside of a statement")
	}
	if r := run.relations[key]; r != nil {
		return r, nil
	}
	if _, err := e.cfg.Catalog.Lookup(ctx, key); err != nil {
		return nil, err
	}
	return nil, changedError(key)
}

// encoding is the encoding of geometries between the engine and DuckDB.
var encoding = geoarrow.Encoding{Geometry: geoarrow.AsWKB}

// crsMetadata returns the extension metadata of a reference system that a query names by its code.
func crsMetadata(code string) string {
	authority, number, _ := strings.Cut(code, ":")
	return geoarrow.CRS{Authority: authority, Code: number}.Metadata()
}
