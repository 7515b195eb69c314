// Package server runs a server with the configuration of serve, from the first scan of its files to
// its end.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/engines"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/host"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/localfile"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/settings"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/sqlengine"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/units"
	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/usage"
	"github.com/vibeflight/vibeflight/flightsrv"
	"github.com/vibeflight/vibeflight/flightsrv/admission"
	"github.com/vibeflight/vibeflight/flightsrv/grants"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
	"github.com/vibeflight/vibeflight/flightsrv/web"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/resident"
)

// Config is the configuration of a server. Each field is a flag, and an environment variable of its
// name.
type Config struct {
	Config          string     // file with settings, by the names of the flags; empty: none
	Data            []string   // roots as DIR or ALIAS=DIR, or as URLs; at least one
	Unlisted        []string   // roots whose files are found by their names alone, in the form of Data
	Refresh         []string   // intervals of lists, as DURATION or ALIAS=DURATION
	Dataset         []string   // many files as one table, as NAME=GLOB
	Listen          []string   // host:port or unix:///path; default 127.0.0.1:8815
	Advertise       []string   // locations in FlightInfo; empty: clients use their connection
	Insecure        bool       // listen beyond this machine without TLS and login
	TLSCert, TLSKey string     // files, PEM; none: no TLS
	Grants          string     // file of what callers may do, TOML; empty: everything
	Memory          units.Size // of parsed tables; 0: a quarter of what the process may have
	CacheDir        string     // where parsed tables are kept; empty or none: nowhere
	CacheBytes      units.Size // maximum size of the cache; default catalog.DefaultCacheBytes
	CacheStore      cacheStoreFlags
	Store           storeFlags
	MaxFileBytes    units.Size // larger files are not parsed; 0: no limit
	MaxMessageBytes units.Size // of a message with a single row
	MaxConnections  int        // maximum of open connections
	MaxStreams      int        // maximum of open calls, over all connections
	Limits          limitFlags
	Fleet           fleetFlags
	Exchange        exchangeFlags
	Login           loginFlags
	Writable        string        // where clients may store tables, as DIR or ALIAS=DIR; empty: nowhere
	MaxPutBytes     units.Size    // of a file that a client stores
	Drain           time.Duration // how long calls in progress may take at the end; default 10 s
	DrainDelay      time.Duration // from NOT_SERVING of health checks to that end
	Parse           localfile.LimitFlags
	BatchRows       int    // rows of a record batch; default 65,536
	Engine          string // auto, cuda or cpu
	GPU             engines.Flags
	SQL             sqlengine.Flags
	NoSQL           bool   // no Flight SQL
	OnError         string // fail or skip
	CRS84As         string // name of OGC:CRS84: that, or EPSG:4326
	Observe         observeFlags
	HTTP            httpFlags
	LogLevel        string // trace to error; default info
	LogFormat       string // auto, console or json
	ExitWithStdin   bool   // the end of standard input ends the server
	Stdio           output.Stdio

	File    settings.File // what Config says besides flags
	Version string        // of the program
	// called when the server answers, with the URI of its first address and that of HTTP; nil: nothing
	Ready func(flight, http string)

	announce  bool            // print the address on standard output
	named     bool            // the folders of Data are arguments, or the current folder
	http      *web.Listener   // nil: none
	gpuTables *resident.Store // that clients of this machine read on a GPU; nil: none
	reload    reloads
	stop      func()         // ends Serve
	hangups   chan os.Signal // SIGHUP; nil: it is ignored
	terminal  bool           // the process had a controlling terminal at its start
}

// Define adds the flags of serve to f.
func (c *Config) Define(f *pflag.FlagSet) {
	f.StringVar(&c.Config, "config", "", "`file` with settings by the names of these flags, and options for files, "+
		"in TOML")
	c.MaxMessageBytes = flightsrv.DefaultMaxMessageBytes
	f.StringArrayVar(&c.Data, "data", nil, "folder or file to serve, as `DIR` or ALIAS=DIR, or the URL of a folder: "+
		"s3://, gs://, az://, https://; may repeat")
	f.StringArrayVar(&c.Unlisted, "unlisted", nil, "folder whose files have entries that are found by their names and "+
		"never listed, hidden files too, as `DIR` or ALIAS=DIR, or the URL of one; may repeat")
	f.StringArrayVar(&c.Refresh, "refresh-interval", nil,
		"time between two lists of a URL of --data, as `DURATION` or ALIAS=DURATION; may repeat; default 1m")
	f.StringArrayVar(&c.Dataset, "dataset", nil,
		"many files as one table, as `NAME=GLOB`, where * and ? stop at / and ** does not; may repeat")
	f.StringArrayVar(&c.Listen, "listen", []string{flightsrv.DefaultListen},
		"`address`, as HOST:PORT or unix:///PATH; may repeat")
	f.StringArrayVar(&c.Advertise, "advertise", nil,
		"location that clients are sent to for rows, as HOST:PORT, grpc://HOST:PORT, grpc+tls://HOST:PORT or "+
			"unix:///PATH; may repeat")
	f.BoolVar(&c.Insecure, "insecure", false,
		"listen on addresses beyond this machine although there is no login or no TLS")
	f.StringVar(&c.TLSCert, "tls-cert", "", "`file`, PEM, of the server's certificate and those that sign it: "+
		"HOST:PORT is served by TLS; read again when it changes")
	f.StringVar(&c.TLSKey, "tls-key", "", "`file`, PEM, of the certificate's key")
	f.StringVar(&c.Grants, "grants", "", "`file`, TOML, of what callers may see and do; read again when it changes; "+
		"needs a login method")
	f.Var(&c.Memory, "memory", "memory for parsed tables, as 4GiB; 0 is a quarter of the machine's")
	settings.CacheDirFlag(f, &c.CacheDir, "`folder` where parsed tables outlive the server; none is for no cache")
	c.CacheBytes = catalog.DefaultCacheBytes
	f.Var(&c.CacheBytes, "cache-bytes", "how much that folder may hold")
	c.CacheStore.flags(f)
	c.Store.flags(f)
	f.Var(&c.MaxFileBytes, "max-file-bytes", "largest file that is parsed, as 10GiB; 0 is no limit")
	f.Var(&c.MaxMessageBytes, "max-message-bytes", "largest message for a row that is wider than the usual 15 MiB")
	f.IntVar(&c.MaxConnections, "max-connections", flightsrv.DefaultMaxConnections,
		"how many connections may be open; those beyond are closed at once")
	f.IntVar(&c.MaxStreams, "max-streams", flightsrv.DefaultMaxStreams,
		"how many calls may be open, over all connections; those beyond are ResourceExhausted")
	c.Limits.flags(f)
	c.Fleet.flags(f)
	c.Exchange.flags(f)
	c.Login.flags(f)
	f.StringVar(&c.Writable, "writable", "",
		"folder in which clients may store tables (DoPut, bulk ingestion), as DIR or ALIAS=DIR; it is made if need "+
			"be, and served as those of --data are")
	c.MaxPutBytes = catalog.DefaultMaxStoredBytes
	f.Var(&c.MaxPutBytes, "max-put-bytes", "largest table that a client may store")
	f.DurationVar(&c.Drain, "drain", flightsrv.DefaultDrain,
		"how long calls that are under way may take when the server is to stop")
	f.DurationVar(&c.DrainDelay, "drain-delay", 0,
		"how long the server then goes on before it refuses new calls, while its health checks report NOT_SERVING; 5s "+
			"lets load balancers notice")
	c.Parse.Define(f)
	f.IntVar(&c.BatchRows, "batch-rows", readers.DefaultBatchRows, "rows of a record batch")
	f.StringVar(&c.Engine, "engine", "auto",
		"engine that parses: cpu; cuda (GPUs, for the formats that they read); or auto: GPUs, if there are any, "+
			"files from "+
			"a size on that is measured on this machine")
	c.GPU.Define(f)
	c.SQL.Define(f)
	f.IntVar(&c.SQL.Workers, "sql-workers", 0,
		"processes for SQL, each for one statement at a time; 0 is two per core, at least 8")
	f.Var(&c.SQL.QueryMemory, "query-memory", "memory for one SQL query, as 512MiB; 0 is all of --sql-memory")
	f.BoolVar(&c.NoSQL, "no-sql", false, "answer no SQL")
	f.StringVar(&c.OnError, "on-error", "fail",
		"what a malformed feature does: fail the file, be left out (skip), keep its row with the bad value null "+
			"(null), "+
			"or be repaired where one reading is obvious (repair); all but fail are counted")
	f.StringVar(&c.CRS84As, "crs84-as", geoarrow.CRS84.String(),
		"what the reference system of GeoJSON and KML is called, unless a ticket says: OGC:CRS84 or EPSG:4326; "+
			"longitude is first in both")
	c.HTTP.flags(f)
	c.Observe.flags(f)
	f.BoolVar(&c.ExitWithStdin, "exit-with-stdin", false, "end as by SIGTERM when standard input ends, so that "+
		"the server does not outlive the program that started it; print the address on standard output; remove "+
		"the folder of a unix socket if it is empty then")
	f.StringVar(&c.LogLevel, "log-level", "info", "lowest level that is logged: trace, debug, info, warn, error")
	f.StringVar(&c.LogFormat, "log-format", "auto", "auto, console or json; auto is console on a terminal, else json")
}

// EngineNames are the values of --engine.
var EngineNames = []string{"auto", "cpu", "cuda"}

// Check refuses invalid values.
func (c *Config) Check() error {
	if err := usage.OneOf("engine", c.Engine, EngineNames...); err != nil {
		return err
	}
	if _, err := c.GPU.Ordinals(); err != nil {
		return err
	}
	if err := usage.OneOf("on-error", c.OnError, "fail", "skip", "null", "repair"); err != nil {
		return err
	}
	if err := usage.OneOf("crs84-as", c.CRS84As, "OGC:CRS84", "EPSG:4326"); err != nil {
		return err
	}
	if err := c.SQL.Check(); err != nil {
		return err
	}
	if err := cmp.Or(c.Exchange.check(), c.Limits.check(), c.Fleet.check()); err != nil {
		return err
	}
	if err := c.Store.check(c.CacheDir); err != nil {
		return err
	}
	if err := c.Login.check(); err != nil {
		return err
	}
	if err := cmp.Or(c.Observe.check(), c.HTTP.check(), c.CacheStore.check(settings.CacheDir(c.CacheDir))); err != nil {
		return err
	}
	switch {
	case c.MaxPutBytes < 1:
		return usage.Errorf("--max-put-bytes: %v is less than 1 byte", c.MaxPutBytes)
	case len(c.Listen) == 0:
		return usage.Errorf("--listen: say where to listen")
	case c.CacheBytes < 1:
		return usage.Errorf("--cache-bytes: %v is less than 1; --cache-dir none is for no cache", c.CacheBytes)
	case c.MaxConnections < 1:
		return usage.Errorf("--max-connections: %d is less than 1", c.MaxConnections)
	case c.MaxStreams < 1:
		return usage.Errorf("--max-streams: %d is less than 1", c.MaxStreams)
	case c.BatchRows < 1:
		return usage.Errorf("--batch-rows: %d is less than 1", c.BatchRows)
	case c.DrainDelay < 0:
		return usage.Errorf("--drain-delay: %v is less than 0", c.DrainDelay)
	case c.Drain <= 0:
		return usage.Errorf("--drain: %v is not greater than 0", c.Drain)
	}
	return nil
}

// Serve serves until ctx ends, and returns after the calls in progress. It ends the process if that
// takes longer than the flags allow. SIGHUP runs Config.reload.
func Serve(ctx context.Context, c *Config, log zerolog.Logger) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer exitAfter(ctx, c.stopTime(), os.Exit, log)()
	c.stop, c.hangups, c.terminal = stop, hangups(), hasTerminal()
	if c.ExitWithStdin {
		defer c.removeFolders()
		go c.exitWithStdin(log)
	}
	watch, err := c.Observe.open(ctx, c.HTTP.address != "", c.Version, log)
	if err != nil {
		return err
	}
	if c.http, err = c.listenHTTP(watch, log); err != nil {
		return errors.Join(err, watch.close())
	}
	err = c.serve(ctx, watch, log)
	if c.ExitWithStdin && errors.Is(err, context.Canceled) {
		err = nil // standard input ended during the start
	}
	return errors.Join(err, closeHTTP(c.http), watch.close())
}

// serve is Serve with the observers.
func (c *Config) serve(ctx context.Context, watch *observers, log zerolog.Logger) (err error) {
	control := c.admission()
	roots, err := c.roots()
	if err != nil {
		return err
	}
	datasets, err := settings.Datasets(c.Dataset, c.File.Datasets)
	if err != nil {
		return usage.Errorf("--dataset: %w", err)
	}
	writable, err := c.writableRoot()
	if err != nil {
		return err
	}
	limits, err := c.Parse.Limits()
	if err != nil {
		return err
	}
	limits.BatchRows = c.BatchRows
	limits.Workers = limits.WithDefaults().Workers // one per core, whatever ExtraProcessor does later
	memory := int64(c.Memory)
	if memory == 0 {
		all, err := host.Memory()
		if err != nil {
			return err
		}
		memory = all / 4
	}
	limits.MaxFeatureBytes = min(limits.MaxFeatureBytes, max(memory/featureShare, minFeatureBytes))
	boundHeap(memory)
	c.CacheDir = settings.CacheDir(c.CacheDir)
	records, err := c.Store.open(ctx, log)
	if err != nil {
		return err
	}
	c.Fleet.open(records)
	if records != nil {
		defer func() { err = errors.Join(err, records.Close()) }()
		c.Fleet.store = records
	}
	engineSet, err := c.GPU.Open(c.Engine, c.CacheDir, limits, log)
	if err != nil {
		return fmt.Errorf("--engine cuda: %w; --engine cpu gives the same tables", err)
	}
	c.gpuTables = engineSet.Tables()
	log.Info().Str("engine", engineSet.Choice()).Strs("devices", engineSet.Devices()).Msg("the engine is chosen")
	tables, err := c.CacheStore.open(ctx, &c.Fleet, log)
	if err != nil {
		return errors.Join(err, engineSet.Close())
	}
	started := time.Now()
	files, err := catalog.Open(ctx, catalog.Config{
		Roots: roots, Datasets: datasets,
		Writable: writable, MaxStoredBytes: int64(c.MaxPutBytes), Formats: all.Formats(),
		Engines: engineSet, Parsing: host.NewExtraProcessor().Parsing, Parsed: watch.Metrics.Parsed,
		Queue:       control,
		MemoryBytes: memory, MaxFileBytes: int64(c.MaxFileBytes),
		MaxUnpacked: int64(c.Parse.UnpackedBytes),
		CacheDir:    c.CacheDir, CacheBytes: int64(c.CacheBytes), MaxSent: c.Exchange.maxFiles,
		SharedCache: tables, Fleet: c.Fleet.leases(),
		Limits:  limits,
		Options: settings.OptionsOf(c.File.Files, map[string]any{"on_error": c.OnError}),
		Log:     log,
		Store:   c.openStore, Shared: records, Restricted: c.Grants != "",
	})
	if err != nil {
		return errors.Join(err, engineSet.Close())
	}
	entries, _ := files.Count()
	if entries == 0 && c.named {
		return errors.Join(c.nothingToServe(), files.Close(), engineSet.Close())
	}
	log.Info().Int("entries", entries).Int64("memory_bytes", memory).Dur("took_ms",
		time.Since(started)).
		Msg("the catalog is read")
	var preparing sync.WaitGroup
	preparing.Go(func() {
		engineSet.Rehearse(ctx)
		engineSet.Measure(ctx)
	})
	c.addReloads(files, control)
	var stopped atomic.Int64 // Unix time in ns; 0: ctx has not ended
	defer context.AfterFunc(ctx, func() { stopped.Store(time.Now().UnixNano()) })()
	err = c.listenWithSQL(ctx, files, watch, control, log)
	c.stop()
	watch.export() // while there are numbers to read
	preparing.Wait()
	last, cancel := context.WithTimeout(context.Background(), c.saveTime(time.Unix(0, stopped.Load())))
	defer cancel()
	files.Saved(last)
	return errors.Join(err, files.Close(), engineSet.Close())
}

// workingMemory is the memory for parses and calls in progress, in addition to the tables.
const workingMemory = 192 << 20

// A row uses to nine times the bytes of its text while it is parsed, in addition to garbage.
const (
	featureShare    = 16      // of --memory, for the text of one row
	minFeatureBytes = 1 << 20 // bytes
)

// boundHeap sets the memory limit of the garbage collector to the tables' budget and the working
// memory. GOMEMLIMIT has precedence.
func boundHeap(tables int64) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(tables + workingMemory)
	}
}

// listenWithSQL serves a catalog, with an SQL engine unless it is disabled or not built in.
func (c *Config) listenWithSQL(ctx context.Context, files *catalog.Catalog, watch *observers,
	control *admission.Control, log zerolog.Logger,
) error {
	if c.NoSQL {
		return c.listen(ctx, files, nil, watch, control, log)
	}
	queries, err := c.SQL.Open(files, sqlengine.SpillBelow(c.CacheDir), true, log)
	if errors.Is(err, engine.ErrNoSQL) {
		log.Warn().Msg(err.Error())
		return c.listen(ctx, files, nil, watch, control, log)
	}
	if err != nil {
		return fmt.Errorf("SQL: %w; --no-sql serves without", err)
	}
	info := queries.Info()
	log.Info().Str("engine", "DuckDB "+info.Version).Bool("spatial", info.Spatial).Str("spills_to",
		queries.SpillsTo()).Msg("SQL is ready")
	return errors.Join(c.listen(ctx, files, queries.Engine, watch, control, log), queries.Close())
}

// scheme begins the URI of an address that is not a unix socket.
func (c *Config) scheme() string {
	if c.TLSCert != "" {
		return "grpc+tls://"
	}
	return "grpc://"
}

// location returns the URI of an address.
func (c *Config) location(address string) string {
	if strings.Contains(address, "://") {
		return address
	}
	return c.scheme() + address
}

// policy returns what callers may do; nil: everything.
func (c *Config) policy(queries *engine.Engine, log zerolog.Logger) (flightsrv.Grants, error) {
	if c.Grants == "" {
		return nil, nil
	}
	file, err := grants.Open(c.Grants, checkOfRules(queries, log), log)
	if err != nil {
		return nil, usage.Errorf("--grants: %w", err)
	}
	return file, nil
}

// ruleTime bounds the check of a mask or filter.
const ruleTime = 2 * time.Second

// checkOfRules returns what checks the masks and filters of the grants; nil without SQL. One that can't
// be checked in time is checked when a table needs it.
func checkOfRules(queries *engine.Engine, log zerolog.Logger) func(expression string) error {
	if queries == nil {
		return nil
	}
	return func(expression string) error {
		ctx, cancel := context.WithTimeout(context.Background(), ruleTime)
		defer cancel()
		err := queries.CheckRule(ctx, expression)
		if invalid := new(engine.RuleError); err == nil || errors.As(err, &invalid) {
			return err
		}
		log.Warn().Err(err).Str("expression", expression).Msg("--grants: an expression is not checked yet")
		return nil
	}
}

// listen serves a catalog, and SQL if there is an engine.
func (c *Config) listen(ctx context.Context, files *catalog.Catalog, queries *engine.Engine,
	watch *observers, control *admission.Control, log zerolog.Logger,
) error {
	crs84, _ := geoarrow.ParseCRS(c.CRS84As) // Check accepted it
	policy, err := c.policy(queries, log)
	if err != nil {
		return err
	}
	logins, err := c.Login.open(log)
	if err != nil {
		return err
	}
	cfg := flightsrv.Config{
		Grants: policy,
		Listen: c.Listen, Catalog: files, SQL: sql.Of(queries), Advertise: c.Advertise, Insecure: c.Insecure,
		TLSCert: c.TLSCert, TLSKey: c.TLSKey, TLSClientCA: c.Login.clientCA, TLSClientRequired: c.Login.clientNeeded,
		MaxMessageBytes: int(c.MaxMessageBytes), Drain: c.Drain, DrainDelay: c.DrainDelay, Stop: c.stop,
		Log: log, CRS84As: crs84, Admission: control,
		MaxConnections: c.MaxConnections, MaxStreams: c.MaxStreams,
		MaxExchangeBytes: int64(c.Exchange.bytes), ExchangeTimeout: c.Exchange.timeout,
		Telemetry: watch.Telemetry, Audit: watch.audit, Slow: c.Observe.slow, GPUTables: c.gpuTables,
	}
	c.Fleet.configure(&cfg)
	cfg.SharesTables = c.CacheStore.store != ""
	if logins != nil {
		defer logins.Close()
		cfg.Login = logins
		if c.Insecure && c.TLSCert == "" {
			log.Warn().Msg("--insecure: there is no TLS, so others on the way can read passwords and tokens")
		}
	}
	server, err := flightsrv.New(cfg)
	if err != nil {
		return err
	}
	defer c.serveHTTP(c.http, server, files, sql.Of(queries), watch)()
	for i, address := range server.Addrs() {
		address = c.location(address)
		log.Info().Msg("listening on " + address)
		if i == 0 && c.Ready != nil && c.http != nil {
			c.Ready(address, c.http.URL())
		}
	}
	c.announceOn(server.Addrs(), files)
	notify("READY=1")
	go keepWatchdog(ctx)
	go c.reload.serveHangups(ctx, c.hangups, c.terminal, c.stop, log)
	// The end of the context may reach Serve first, and Serve may return before the function runs.
	// The first of them logs it, once.
	stopping := sync.OnceFunc(func() {
		notifyStopping(c.stopTime())
		log.Info().Msg("stopping after the calls under way; a second signal stops at once")
	})
	defer context.AfterFunc(ctx, stopping)()
	err = server.Serve(ctx)
	if ctx.Err() != nil {
		stopping()
	}
	return err
}
