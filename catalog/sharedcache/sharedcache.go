// Package sharedcache has parsed tables where all servers of a fleet reach them: in a folder that
// they mount, or in a bucket. A table is an immutable file, as package tablefile writes it.
//
//	tables/<64 hex digits of the key>.arrow   a complete table
//	used/<64 hex digits of the key>           its last use; in buckets only
//
// A table is stored unless there is one of its key, and appears as a whole. Readers fetch ranges of
// exactly the object that they opened.
//
// The shared cache costs sharing, never a read. Requests have deadlines. When the store is away,
// nothing is requested until a request in the background is answered.
package sharedcache

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/fleet"
)

// Key is the digest of everything that determines a table, as cachedir.Key is.
type Key = fleet.TableKey

// Store keeps the files of tables. It is safe for concurrent use. Its calls end soon after ctx does.
type Store interface {
	// Put stores a file of size bytes. The error wraps fs.ErrExist if there is one of the key.
	Put(ctx context.Context, k Key, content io.ReaderAt, size int64) error
	// Open opens the file of a key. The error wraps fs.ErrNotExist if the store does not have it.
	Open(ctx context.Context, k Key) (Object, error)
	// Touch records a use of a file now.
	Touch(ctx context.Context, k Key) error
	// List calls yield for each file. An error of yield ends the list, and is returned.
	List(ctx context.Context, yield func(Info) error) error
	// Remove removes a file. A missing file is not an error.
	Remove(ctx context.Context, k Key) error
	// Sweep removes what writers that died have left, and uses of files that do not exist.
	Sweep(ctx context.Context) error
	Close() error
}

// Object is one version of a file. It is safe for concurrent use.
type Object interface {
	Size() int64
	// Fetch writes bytes [from, end) to the same offsets of to.
	Fetch(ctx context.Context, to io.WriterAt, from, end int64) error
	Close() error
}

// Info describes a file.
type Info struct {
	Key   Key
	Bytes int64
	Used  time.Time // last use, to touchInterval
}

const (
	tablesFolder = "tables"
	usedFolder   = "used"
	tableSuffix  = ".arrow"
)

func tableName(k Key) string { return hex.EncodeToString(k[:]) + tableSuffix }

// parseKey parses 64 lower-case hexadecimal digits.
func parseKey(digits string) (k Key, ok bool) {
	if len(digits) != 2*len(k) || strings.ToLower(digits) != digits {
		return k, false
	}
	_, err := hex.Decode(k[:], []byte(digits))
	return k, err == nil
}

// parseTableName returns the key in the name of a file.
func parseTableName(name string) (k Key, ok bool) {
	digits, ok := strings.CutSuffix(name, tableSuffix)
	if !ok {
		return k, false
	}
	return parseKey(digits)
}

// Config configures a Cache. The zero value has the defaults.
type Config struct {
	Bytes  int64         // budget of all tables; 0: no limit (--cache-store-bytes)
	Expiry time.Duration // after the last use; 0: never (--cache-store-expiry)
	// Timeout bounds how long a read waits for an answer of the store. 0: DefaultTimeout.
	Timeout time.Duration
	Log     zerolog.Logger
	// Leases lets one server of a fleet at a time remove tables, under the ID Owner. nil: each may.
	Leases fleet.Leases
	Owner  string
}

// DefaultTimeout is the default of Config.Timeout.
const DefaultTimeout = 5 * time.Second

// touchInterval is the time between two records of the use of a table by this process.
const touchInterval = 10 * time.Minute

// Cache is a shared cache as one server uses it. It is safe for concurrent use.
type Cache struct {
	store Store
	name  string // of the store, for messages
	cfg   Config
	now   func() time.Time

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup
	uses   chan Key // to be recorded

	mu      sync.Mutex
	touched map[Key]time.Time // last record of a use

	breaker breaker
	count   counters
}

type counters struct {
	hits, misses, fetched, uploads, uploaded, failures, skipped, expired atomic.Int64
}

// New returns a cache in a store, which Close closes. name is that of the store, for messages.
func New(store Store, name string, cfg Config) *Cache {
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	c := &Cache{
		store: store, name: name, cfg: cfg, now: time.Now,
		uses: make(chan Key, 256), touched: map[Key]time.Time{},
	}
	c.cfg.Log = cfg.Log.With().Str("cache_store", name).Logger()
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.wg.Go(c.recordUses)
	if cfg.Bytes > 0 || cfg.Expiry > 0 {
		c.wg.Go(c.expireRegularly)
	}
	return c
}

// Close ends all requests and closes the store.
func (c *Cache) Close() error {
	c.cancel()
	c.wg.Wait()
	return c.store.Close()
}

// Name returns the name of the store.
func (c *Cache) Name() string { return c.name }

// ErrAway is the error of calls while the store is away.
var ErrAway = errors.New("the shared cache does not answer")

// Away reports whether the store does not answer, so that requests fail at once.
func (c *Cache) Away() bool { return c.breaker.open() }

// Answers reports whether a request would be made. A caller that gives up because the store is away
// counts as a request that was not made.
func (c *Cache) Answers() bool {
	if !c.breaker.open() {
		return true
	}
	c.count.skipped.Add(1)
	return false
}

// do makes a request, unless the store is away. An error that says something about the store, and
// not about one file or the caller, makes it away.
func (c *Cache) do(ctx context.Context, request func(ctx context.Context) error) error {
	if !c.Answers() {
		return ErrAway
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	err := request(ctx)
	c.judge(ctx, err)
	return err
}

// judge counts a failed request, and opens the breaker if the store does not answer.
func (c *Cache) judge(ctx context.Context, err error) {
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) || isLocal(err) ||
		errors.Is(err, fs.ErrClosed) || // the table was closed meanwhile
		c.ctx.Err() != nil || ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return
	}
	c.count.failures.Add(1)
	if changed(err) { // the object, not the store
		return
	}
	wait, first := c.breaker.fail()
	if first {
		c.cfg.Log.Warn().Err(err).Msg("the shared cache is away: data files are parsed instead")
	}
	if wait > 0 {
		c.wg.Go(func() { c.probe(wait) })
	}
}

// probe asks the store until it answers.
func (c *Cache) probe(wait time.Duration) {
	began, before := c.now(), c.count.skipped.Load()
	for {
		select {
		case <-time.After(wait):
		case <-c.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(c.ctx, c.cfg.Timeout)
		o, err := c.store.Open(ctx, Key{})
		cancel()
		if err == nil {
			_ = o.Close()
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			skipped := c.count.skipped.Load() - before
			c.breaker.succeed()
			c.cfg.Log.Info().Dur("away_ms", c.now().Sub(began)).Int64("skipped", skipped).
				Msg("the shared cache answers again")
			return
		}
		if c.ctx.Err() != nil {
			return
		}
		c.count.failures.Add(1)
		wait, _ = c.breaker.fail()
	}
}

// Table is an open table of the shared cache. It is safe for concurrent use.
type Table struct {
	cache  *Cache
	key    Key
	object Object
}

// Open opens a table. The error wraps fs.ErrNotExist if the store does not have it, and is ErrAway
// while the store is away.
func (c *Cache) Open(ctx context.Context, k Key) (*Table, error) {
	t := &Table{cache: c, key: k}
	err := c.do(ctx, func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
		defer cancel()
		t.object, err = c.store.Open(ctx, k)
		return err
	})
	if err != nil {
		c.count.misses.Add(1)
		return nil, err
	}
	c.count.hits.Add(1)
	c.Use(k)
	return t, nil
}

// Size returns the size of the table's file.
func (t *Table) Size() int64 { return t.object.Size() }

// Fetch writes bytes [from, end) of the file to the same offsets of to.
func (t *Table) Fetch(ctx context.Context, to io.WriterAt, from, end int64) error {
	c := t.cache
	counted := &localWriter{to: to}
	err := c.do(ctx, func(ctx context.Context) error {
		err := t.object.Fetch(ctx, counted, from, end)
		if local := counted.failed(); local != nil {
			return local
		}
		return err
	})
	c.count.fetched.Add(counted.bytes.Load())
	if err == nil {
		c.Use(t.key)
	}
	return err
}

// Close ends the use of the table.
func (t *Table) Close() error { return t.object.Close() }

// localWriter tells errors of this machine's disk from those of the store.
type localWriter struct {
	to    io.WriterAt
	bytes atomic.Int64
	err   atomic.Pointer[localError]
}

func (w *localWriter) WriteAt(p []byte, off int64) (int, error) {
	n, err := w.to.WriteAt(p, off)
	w.bytes.Add(int64(n))
	if err != nil {
		w.err.CompareAndSwap(nil, &localError{err})
	}
	return n, err
}

func (w *localWriter) failed() error {
	if err := w.err.Load(); err != nil {
		return err
	}
	return nil
}

type localError struct{ error }

func (e *localError) Unwrap() error { return e.error }

func isLocal(err error) bool {
	var local *localError
	return errors.As(err, &local)
}

// Put stores the file of a table, unless there is one of its key.
func (c *Cache) Put(ctx context.Context, k Key, content io.ReaderAt, size int64) error {
	err := c.do(ctx, func(ctx context.Context) error { return c.store.Put(ctx, k, content, size) })
	switch {
	case err == nil:
		c.count.uploads.Add(1)
		c.count.uploaded.Add(size)
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	c.Use(k)
	return nil
}

// Remove removes a table.
func (c *Cache) Remove(ctx context.Context, k Key) error {
	return c.do(ctx, func(ctx context.Context) error { return c.store.Remove(ctx, k) })
}

// List calls yield for each table.
func (c *Cache) List(ctx context.Context, yield func(Info) error) error {
	return c.do(ctx, func(ctx context.Context) error { return c.store.List(ctx, yield) })
}

// maxTouched bounds the map of the last records of uses.
const maxTouched = 100_000

// Use records a use of a table in the background, at most once per touchInterval. A use is lost if
// the store is away or many are waiting.
func (c *Cache) Use(k Key) {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if last, ok := c.touched[k]; ok && now.Sub(last).Abs() < touchInterval || c.breaker.open() {
		return
	}
	if len(c.touched) >= maxTouched {
		clear(c.touched)
	}
	select {
	case c.uses <- k:
		c.touched[k] = now
	default:
	}
}

// recordUses records the uses of tables.
func (c *Cache) recordUses() {
	for {
		select {
		case k := <-c.uses:
			_ = c.do(c.ctx, func(ctx context.Context) error {
				ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
				defer cancel()
				return c.store.Touch(ctx, k)
			})
		case <-c.ctx.Done():
			return
		}
	}
}

// Stats are the numbers of a Cache since New.
type Stats struct {
	Store         string `json:"store"` // without credentials
	Away          bool   `json:"away"`  // it does not answer now
	BudgetBytes   int64  `json:"budget_bytes"`
	Hits          int64  `json:"hits"`           // tables that were opened
	Misses        int64  `json:"misses"`         // tables that were not there, or could not be opened
	FetchedBytes  int64  `json:"fetched_bytes"`  // of tables
	Uploads       int64  `json:"uploads"`        // tables that this server has stored
	UploadedBytes int64  `json:"uploaded_bytes"` // of those
	Failures      int64  `json:"failures"`       // requests that failed
	Skipped       int64  `json:"skipped"`        // requests that were not made while the store was away
	Expired       int64  `json:"expired"`        // tables that this server removed for age or budget
}

// Stats returns the current numbers.
func (c *Cache) Stats() *Stats {
	n := &c.count
	return &Stats{
		Store: c.name, Away: c.Away(), BudgetBytes: c.cfg.Bytes, Hits: n.hits.Load(), Misses: n.misses.Load(),
		FetchedBytes: n.fetched.Load(), Uploads: n.uploads.Load(), UploadedBytes: n.uploaded.Load(),
		Failures: n.failures.Load(), Skipped: n.skipped.Load(), Expired: n.expired.Load(),
	}
}
