// Package catalog serves the tables of the data files below some roots. It joins its parts:
//
//	tree     which files there are, and whether they changed
//	job      which table of a file is requested: format, options, columns
//	load     the table of a file: from the archive, or parsed
//	tables   one parse for all callers, and the cache of tables
//	persist  what outlives the process: parsed tables, and a record of each file
//	dataset  many files that are one table
//	scan     which rows and columns of a table a caller receives
//	restrict the part of a table that a caller may know
//	poll     parses that clients wait for by asking again
//	inbox    what clients send: files to parse, and tables to store
//
// Tables are immutable. A table that is evicted stays valid for its holders.
package catalog

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/catalog/dataset"
	"github.com/vibeflight/vibeflight/catalog/inbox"
	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/load"
	"github.com/vibeflight/vibeflight/catalog/persist"
	"github.com/vibeflight/vibeflight/catalog/poll"
	"github.com/vibeflight/vibeflight/catalog/restrict"
	"github.com/vibeflight/vibeflight/catalog/sharedcache"
	"github.com/vibeflight/vibeflight/catalog/store/shared"
	"github.com/vibeflight/vibeflight/catalog/tables"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Config configures a Catalog. Formats, and Roots or Datasets, are required.
type Config struct {
	Roots    []Root
	Datasets []Dataset
	Writable *Root // in which clients store tables; served like the others; nil: none (--writable)
	Formats  readers.Registry
	Engines  Engines             // nil: the CPU engines
	Parsing  func() (end func()) // called when a parse begins; may be nil
	Parsed   func(ParseReport)   // called when a parse has ended; may be nil
	Queue    tables.ParseQueue   // chooses the parses that run; nil: tables.MaxParses, in the order of their calls
	// MemoryBytes bounds the cached tables, and is Limits.Memory if that is 0. 0:
	// DefaultMemoryBytes; < 0: no table is cached (--memory).
	MemoryBytes int64
	// MaxUnpacked bounds the bytes that a packed file unpacks to. 0:
	// source.DefaultMaxUnpackedBytes (--max-unpacked-bytes).
	MaxUnpacked int64
	// MaxSent bounds the files that clients send and that are parsed at a time. They share
	// MemoryBytes. 0: DefaultMaxSent (--max-exchanges).
	MaxSent        int
	MaxStoredBytes int64 // of a file that a client stores; 0: DefaultMaxStoredBytes (--max-put-bytes)
	MaxFileBytes   int64 // larger files are not parsed; 0: no limit (--max-file-bytes)
	Limits         readers.Limits
	Options        func(name string) map[string]any // the operator's options for a file; a ticket's win; may be nil
	Log            zerolog.Logger
	CacheDir       string // where parsed tables outlive the process; "": none (--cache-dir)
	CacheBytes     int64  // of them on disk; 0: DefaultCacheBytes (--cache-bytes)
	// SharedCache has the tables of all servers of a fleet, or is nil. Close closes it. It needs
	// CacheDir (--cache-store).
	SharedCache *sharedcache.Cache
	Fleet       *Fleet        // of which this server is a replica; nil: it is alone
	Rescan      time.Duration // between readings of all folders; 0: DefaultRescan
	Store       OpenStore     // opens roots that are URLs; nil: there are none
	// Shared has records that other servers have too; nil: none. It needs CacheDir, and stays open
	// (--store).
	Shared *shared.Remote
	// Restricted catalogs show callers what the scope of their context allows, and nothing without
	// a scope. Others show everything to a context without a scope (--grants).
	Restricted bool
}

// Defaults of Config.
const (
	DefaultMemoryBytes    = 1 << 30
	DefaultCacheBytes     = 32 << 30
	DefaultRescan         = 10 * time.Second
	DefaultMaxParses      = tables.MaxParses
	DefaultMaxSent        = inbox.DefaultMaxSent
	DefaultMaxStoredBytes = inbox.DefaultMaxStoredBytes
)

// maxUploads is the number of tables that are saved at a time with a shared cache.
const maxUploads = 4

// minMemory is the smallest default of Limits.Memory.
const minMemory = 512 << 20

// withDefaults fills in the defaults.
func (cfg Config) withDefaults() Config {
	if cfg.Writable != nil {
		cfg.Roots = append(slices.Clone(cfg.Roots), *cfg.Writable)
	}
	cfg.MemoryBytes = cmp.Or(cfg.MemoryBytes, DefaultMemoryBytes)
	if cfg.Rescan <= 0 {
		cfg.Rescan = DefaultRescan
	}
	cfg.Limits.Memory = cmp.Or(cfg.Limits.Memory, max(cfg.MemoryBytes, minMemory))
	return cfg
}

// Catalog is the entries below some roots and their parsed tables. It is safe for concurrent use.
type Catalog struct {
	cfg      Config
	archive  *persist.Archive
	tables   *tables.Cache
	tree     *tree.Tree
	datasets *dataset.Sets
	loader   *load.Loader
	polls    *poll.Polls
	inbox    *inbox.Inbox
	parts    *restrict.Tables // that callers may know
	filtered *restrict.Tables // that the filters of requests leave
	indexes  nameIndexes

	ctx  context.Context // canceled by Close
	stop context.CancelFunc
	wg   sync.WaitGroup
	once sync.Once
}

// Open lists the files below the roots and begins to follow them. Two files of the same name below
// different roots are an error. The caller closes the catalog; ctx bounds Open alone.
func Open(ctx context.Context, cfg Config) (*Catalog, error) { return open(ctx, cfg, files.OS{}) }

// open is Open with the file system of the cache.
func open(ctx context.Context, cfg Config, fsys files.FS) (*Catalog, error) {
	cfg = cfg.withDefaults()
	resolved, err := dataset.Resolve(cfg.Datasets, cfg.Roots)
	if err != nil {
		return nil, err
	}
	if cfg.Roots = resolved.Roots; len(cfg.Roots) == 0 {
		return nil, errors.New("no folder to serve")
	}
	c := &Catalog{cfg: cfg, archive: openArchive(cfg, fsys)}
	cfg.Limits.TempDir = c.archive.Path()
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.tables = tables.New(c.ctx, tables.Config{
		Budget: cfg.MemoryBytes, Queue: cfg.Queue, Archive: c.archive, Log: cfg.Log, Saves: saves(cfg),
		Load: func(ctx context.Context, f *tables.Call, j job.Job) (*persist.Data, bool, error) {
			return c.loader.Load(ctx, f, j)
		},
		Loaded: c.setLayers,
		Failed: func(k job.Key, err error) { c.polls.Failed(k, err) },
	})
	c.loader = load.New(c.ctx, load.Config{
		Formats: cfg.Formats, Engines: cfg.Engines, Parsing: cfg.Parsing, Parsed: cfg.Parsed, Limits: cfg.Limits,
		MemoryBytes: cfg.MemoryBytes, MaxUnpacked: cfg.MaxUnpacked, Archive: c.archive,
		Slot: c.tables.Slot, Begin: c.tables.Begin, Log: cfg.Log, Leases: cfg.Fleet.keeper(cfg.Log),
	})
	c.parts = restrict.New(restrict.Config{Limits: cfg.Limits, Log: cfg.Log})
	c.filtered = restrict.New(restrict.Config{Limits: cfg.Limits, Log: cfg.Log, Requested: true})
	c.datasets = dataset.New(dataset.Config{
		Formats: cfg.Formats, Options: cfg.Options, Loader: c.loader, Cache: c.tables, Archive: c.archive,
		Limits: cfg.Limits, MaxFileBytes: cfg.MaxFileBytes, Log: cfg.Log,
		Suspect: func(e *Entry) { c.tree.SuspectMember(e) },
	}, resolved)
	c.polls = poll.New(c.ctx, c.progress)
	if err := c.openTree(ctx, resolved.Datasets); err != nil {
		_ = c.Close()
		return nil, err
	}
	c.wg.Go(c.warm)
	return c, nil
}

// saves returns the number of tables that are saved at a time. An upload to the shared cache mostly
// waits for the network.
func saves(cfg Config) int {
	if cfg.SharedCache == nil {
		return 1
	}
	return maxUploads
}

// openArchive opens the cache folder. If it cannot be used, tables are parsed again after a
// restart, and the files are served all the same.
func openArchive(cfg Config, fsys files.FS) *persist.Archive {
	if cfg.CacheDir == "" {
		a := persist.InMemory(cfg.Limits)
		a.Share(cfg.SharedCache)
		return a
	}
	budget := cmp.Or(cfg.CacheBytes, DefaultCacheBytes)
	a, err := persist.Open(fsys, cfg.CacheDir, budget, cfg.Limits, cfg.Log)
	if err != nil {
		cfg.Log.Warn().Err(err).Str("folder", cfg.CacheDir).
			Msg("there is no cache on disk: tables are parsed again after a restart")
		a = persist.InMemory(cfg.Limits)
	}
	a.Share(cfg.SharedCache)
	if cfg.Shared != nil {
		a.ShareRecords(cfg.Shared)
	}
	return a
}

// openTree lists the files, and opens the inbox in the writable root.
func (c *Catalog) openTree(ctx context.Context, datasets []tree.Dataset) (err error) {
	cfg := c.cfg
	c.tree, err = tree.Open(ctx, tree.Config{
		Roots: cfg.Roots, Formats: cfg.Formats, Options: cfg.Options, Rescan: cfg.Rescan, Log: cfg.Log,
		Store:    cfg.Store,
		Datasets: datasets,
		Layers: func(ctx context.Context, each func(string, source.Identity, []string)) error {
			return c.archive.Layers(ctx, cfg.Formats, each)
		},
		Changed: c.tables.DropOthers,
		Removed: func(name string) { c.tables.Evict(name, nil) },
	})
	if err != nil {
		return err
	}
	for _, d := range datasets {
		if e, err := c.tree.Lookup(ctx, d.Name); err == nil && e.MemberCount() == 0 {
			cfg.Log.Warn().Str("name", d.Name).Msg("no file matches the patterns of the dataset")
		}
	}
	var writable *tree.Mount
	for _, m := range c.tree.Mounts() {
		if cfg.Writable != nil && m.Root == *cfg.Writable {
			writable = m
		}
	}
	c.inbox, err = inbox.New(c.ctx, inbox.Config{
		Formats: cfg.Formats, Options: cfg.Options, Limits: cfg.Limits, MaxSent: cfg.MaxSent,
		MaxStoredBytes: cfg.MaxStoredBytes, Loader: c.loader, Cache: c.tables, Tree: c.tree, Evict: c.evict,
		Known: c.Known,
	}, writable)
	return err
}

// warm does in advance what the first call would wait for: it unpacks the definitions of CRSs, and
// reads the newest records and those of datasets.
func (c *Catalog) warm() {
	geoarrow.CRS84.PROJJSON()
	c.archive.Warm(c.ctx, c.cfg.Formats)
	c.datasets.Warm(c.ctx)
}

// Close ends all parses and waits for them. Tables with holders stay valid.
func (c *Catalog) Close() error {
	var err error
	c.once.Do(func() {
		c.stop()
		c.tables.Close()
		c.polls.Close()
		if c.tree != nil {
			err = c.tree.Close()
		}
		c.wg.Wait()
		err = errors.Join(err, c.archive.Close())
	})
	return err
}

// Saved waits until every parsed table is in the cache on disk, or could not be written, or ctx
// ends. No table may be requested meanwhile. Close does not wait for that.
func (c *Catalog) Saved(ctx context.Context) { c.tables.Saved(ctx) }

// Entries returns the entries that the caller may describe, whose names begin with prefix and that
// are of the format, "" being any, sorted by name, as of the last walk. It reads no file. Each entry
// is made when the loop comes to it, because there may be a million.
func (c *Catalog) Entries(ctx context.Context, prefix, format string) iter.Seq[*Entry] {
	found, s := c.tree.Entries(prefix), c.Scope(ctx)
	if format == "" && s == access.All {
		return found
	}
	return func(yield func(*Entry) bool) {
		for e := range found {
			if (format == "" || e.Format == format) && s.Allows(access.Describe, e.Name) && !yield(e) {
				return
			}
		}
	}
}

// Count returns the number of entries, for any caller, and how often they have changed.
func (c *Catalog) Count() (n int, changes uint64) { return c.tree.Count() }

// Refresh reads all folders now. It needs the privilege Admin on the server.
func (c *Catalog) Refresh(ctx context.Context) error {
	if err := access.Check(c.Scope(ctx), access.Admin, access.Server); err != nil {
		return err
	}
	return c.tree.Refresh(ctx)
}

// Lookup returns the entry of a name as its file is now, or a *NotFoundError.
func (c *Catalog) Lookup(ctx context.Context, name string) (Entry, error) {
	if err := c.allow(ctx, access.Describe, name); err != nil {
		return Entry{}, err
	}
	e, err := c.tree.Lookup(ctx, name)
	return e, c.Known(ctx, name, err)
}

// FormatOf returns the name of the format that a file's name implies, or "".
func (c *Catalog) FormatOf(name string) string {
	f, _ := c.cfg.Formats.ByExtension(name)
	return f.Name
}
