// Package catalog knows which files lie below the roots, what they are called, whether they
// changed, and which of them are parsed.
//
// A name is a path relative to a root, '/'-separated, the root's alias in front; '#', '%' and bytes
// that are no UTF-8 are written %XX. Hidden files and folders have no name, nor has what only a
// link out of the root leads to. The catalog follows its roots by inotify and, because that misses
// network file systems and is limited in number, by looking at all folders every so often; whoever
// asks for a name gets the file as it is at that moment in any case.
//
// Parsed tables are kept within a budget of bytes. They are immutable: what is dropped stays valid
// for those who hold it.
package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Config says what to serve. Roots and Formats are needed.
type Config struct {
	Roots    []Root
	Writable *Root // where clients store tables; served like the others; nil: nowhere (--writable)
	Formats  readers.Registry
	Engines  Engines             // who parses; nil: the CPU engines
	Parsing  func() (end func()) // is told when a parse begins, and when it is over; may be nil
	// of parsed tables kept, and what Limits.Memory is if it is 0; 0: DefaultMemoryBytes; < 0: none
	// is kept (--memory)
	MemoryBytes int64
	// bytes that a packed file unpacks to; 0: source.DefaultMaxUnpackedBytes (--max-unpacked-bytes)
	MaxUnpacked int64
	// files that clients send and that are parsed at the same time, which share MemoryBytes; 0:
	// DefaultMaxSent (--max-exchanges)
	MaxSent        int
	MaxStoredBytes int64 // of a file that a client stores; 0: DefaultMaxStoredBytes (--max-put-bytes)
	MaxFileBytes   int64 // larger files are not parsed; 0: no limit (--max-file-bytes)
	Limits         readers.Limits
	Options        func(name string) map[string]any // the operator's options for a file; a ticket's win; may be nil
	Log            zerolog.Logger
	CacheDir       string        // where parsed tables outlive the process; "": nowhere (--cache-dir)
	CacheBytes     int64         // of them on disk; 0: DefaultCacheBytes (--cache-bytes)
	Rescan         time.Duration // between looks at all folders, which find what the watch can't see; default 10 s
}

// parsing says that a parse begins; end is called when it is over.
func (c *Catalog) parsing() (end func()) {
	if c.cfg.Parsing == nil {
		return func() {}
	}
	return c.cfg.Parsing()
}

// Defaults of Config.
const (
	DefaultMemoryBytes = 1 << 30
	DefaultCacheBytes  = 32 << 30
	DefaultRescan      = 10 * time.Second
)

// leastMemory is what a parse may take in any case, beside the tables that are kept.
const leastMemory = 512 << 20

// Catalog is the entries below some roots and their parsed tables. It is safe for use by several
// goroutines.
type Catalog struct {
	cfg      Config
	roots    []*root
	writable *root // the last of roots; nil: none is
	storing  turns // commits, by the name of the file
	tables   *tables
	archive  *archive      // nil: what is parsed ends with the process
	recent   *recordCache  // that of archive if there is one
	parts    atomic.Int64  // tickets for which a part of a file was parsed
	saving   chan struct{} // tables that may be saved at the same time
	sending  chan struct{} // files that clients may send at the same time
	watch    *watch
	index    atomic.Pointer[index]

	ctx  context.Context // ends with the catalog
	stop context.CancelFunc
	wg   sync.WaitGroup
	once sync.Once

	saves sync.WaitGroup

	pollWait, pollLease time.Duration // as the constants say; tests have less time

	scanMu sync.Mutex // one walk at a time
	tree   tree
	// unreadable are the folders that the log warned of, so that each is told once.
	unreadable map[place]bool
	indexMu    sync.Mutex           // of changes of index
	layers     map[string]layerList // by storeName
	collided   map[string]bool      // names that were logged
	scans      atomic.Int64
	scanTime   atomic.Int64 // of the last walk over all folders, nanoseconds

	// readers.Read; tests replace it
	read func(context.Context, readers.Format, readers.Parser, *source.File, readers.Limits,
		readers.Keeper) (*readers.Table, error)
}

// Open lists the files below the roots and begins to follow them. Two files of the same name below
// different roots are an error. The caller closes the catalog; ctx bounds Open alone.
func Open(ctx context.Context, cfg Config) (*Catalog, error) { return open(ctx, cfg, files.OS{}) }

// open is Open with the file system that the tables of the cache lie in.
func open(ctx context.Context, cfg Config, fsys files.FS) (*Catalog, error) {
	if cfg.Writable != nil {
		cfg.Roots = append(slices.Clone(cfg.Roots), *cfg.Writable)
	}
	if len(cfg.Roots) == 0 {
		return nil, errors.New("no folder to serve")
	}
	cfg.MaxStoredBytes = cmp.Or(cfg.MaxStoredBytes, DefaultMaxStoredBytes)
	if cfg.MemoryBytes == 0 {
		cfg.MemoryBytes = DefaultMemoryBytes
	}
	if cfg.MaxSent <= 0 {
		cfg.MaxSent = DefaultMaxSent
	}
	if cfg.Rescan <= 0 {
		cfg.Rescan = DefaultRescan
	}
	if cfg.Limits.Memory == 0 {
		cfg.Limits.Memory = max(cfg.MemoryBytes, leastMemory)
	}
	roots, err := openRoots(cfg.Roots)
	if err != nil {
		return nil, err
	}
	writable, err := openWritable(cfg.Writable, roots)
	if err != nil {
		closeRoots(roots)
		return nil, err
	}
	c := &Catalog{
		cfg: cfg, roots: roots, writable: writable, tree: tree{}, unreadable: map[place]bool{},
		layers: map[string]layerList{}, collided: map[string]bool{}, pollWait: pollWait, pollLease: pollLease,
		read: readers.Read,
	}
	c.index.Store(&index{})
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.tables = newTables(cfg.MemoryBytes)
	c.recent = newRecent()
	c.saving = make(chan struct{}, 1)
	c.sending = make(chan struct{}, cfg.MaxSent)
	if cfg.CacheDir != "" {
		// Whatever is wrong with the cache costs time; the files are served all the same.
		if c.archive, err = openArchive(fsys, cfg.CacheDir, cmp.Or(cfg.CacheBytes, DefaultCacheBytes),
			cfg.Limits, cfg.Log); err != nil {
			cfg.Log.Warn().Err(err).Str("folder",
				cfg.CacheDir).Msg("there is no cache on disk: tables are parsed again after a restart")
		} else {
			c.archive.closeIdle, c.recent = c.tables.closeIdle, c.archive.recent
		}
	}
	c.recall(ctx)
	c.watch = newWatch(c)
	var collision error
	err = c.rescan(ctx, func(first, second Entry) {
		if collision == nil {
			collision = fmt.Errorf("two roots have an entry %q: %s and %s: give one an alias (ALIAS=DIR)",
				first.Name, first.Path, second.Path)
		}
	})
	if err == nil {
		err = collision
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	c.watch.start()
	c.wg.Go(c.warm)
	c.wg.Go(func() { c.tables.returnMemory(c.ctx) })
	return c, nil
}

// warm does what the first call after a start would wait for: the definitions of CRSs are unpacked,
// and the store is asked for what it was told last.
func (c *Catalog) warm() {
	geoarrow.CRS84.PROJJSON()
	if c.archive != nil {
		c.archive.remember(c.ctx, c.cfg.Formats)
	}
}

// Close ends the watch and every parse, and waits for them. Tables that are held stay valid.
func (c *Catalog) Close() error {
	var err error
	c.once.Do(func() {
		c.tables.close()
		c.stop()
		err = c.watch.close()
		c.wg.Wait()
		c.tables.wg.Wait()
		c.tables.drop()
		closeRoots(c.roots)
		if c.archive != nil {
			err = errors.Join(err, c.archive.close())
		}
	})
	return err
}

// Saved waits until every table that was parsed is in the cache, or could not be written, or ctx
// ends: what Close would cut off. Nobody parses meanwhile.
func (c *Catalog) Saved(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		c.saves.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// List gives the entries whose names begin with prefix and that are of the format, "" being any,
// sorted by name, as the last walk saw them. It reads no file. The answer is shared by all who ask:
// nobody writes to it.
func (c *Catalog) List(prefix, format string) []*Entry {
	found := c.index.Load().from(prefix)
	if format == "" {
		return found
	}
	var out []*Entry
	for _, e := range found {
		if e.Format == format {
			out = append(out, e)
		}
	}
	return out
}

// Refresh looks at all folders now.
func (c *Catalog) Refresh(ctx context.Context) error {
	if c.ctx.Err() != nil {
		return ErrClosed
	}
	return c.rescan(ctx, c.logCollision)
}

// rescan reads all folders.
func (c *Catalog) rescan(ctx context.Context, collide func(first, second Entry)) error {
	c.scanMu.Lock()
	defer c.scanMu.Unlock()
	begin := time.Now()
	t := tree{}
	for _, r := range c.roots {
		if err := c.walk(ctx, t, c.tree, place{r, "."}, nil, 0); err != nil {
			return err
		}
	}
	c.publish(t, true, collide)
	c.scans.Add(1)
	c.scanTime.Store(int64(time.Since(begin)))
	return nil
}

// renewAll reads the folders at places, and those with links to files, whose changes do not show in
// them.
func (c *Catalog) renewAll(ctx context.Context, places map[place]bool) error {
	c.scanMu.Lock()
	defer c.scanMu.Unlock()
	for p, f := range c.tree {
		if f.hasLinks {
			places[p] = true
		}
	}
	for p := range places {
		if err := c.renew(ctx, c.tree, p); err != nil {
			return err
		}
	}
	c.publish(c.tree, false, c.logCollision)
	return nil
}

// publish makes t what the catalog knows, and drops the tables of files that changed or went.
func (c *Catalog) publish(t tree, all bool, collide func(first, second Entry)) {
	c.tree = t
	c.watch.follow(t, all)
	x := c.indexOf(t, collide)
	c.indexMu.Lock()
	c.expand(x)
	old := c.index.Swap(x)
	c.indexMu.Unlock()
	for name, e := range old.files {
		now, ok := x.files[name]
		if !ok {
			c.tables.evict(name, nil)
		} else if now.Identity != e.Identity {
			c.tables.dropOthers(name, now.Identity)
		}
	}
}

func (c *Catalog) logCollision(first, second Entry) {
	if !c.collided[second.Path] {
		c.collided[second.Path] = true
		c.cfg.Log.Warn().Str("name", first.Name).Str("served", first.Path).Str("hidden",
			second.Path).Msg("two roots have an entry of this name; the first root's is served")
	}
}
