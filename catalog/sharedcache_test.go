package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/catalog/sharedcache"
)

// poisonFS fills the parts of a file that were never written with garbage instead of zeros. A reader
// of bytes that were not fetched then gives wrong rows.
type poisonFS struct{ files.OS }

func (poisonFS) Create(name string) (files.File, error) {
	f, err := files.OS{}.Create(name)
	return poisonFile{f}, err
}

type poisonFile struct{ files.File }

func (f poisonFile) Truncate(size int64) error {
	if err := f.File.Truncate(size); err != nil {
		return err
	}
	_, err := f.File.WriteAt(bytes.Repeat([]byte{0xdb}, int(size)), 0)
	return err
}

// fleetWorld has servers that share data files and a shared cache. Each has a cache folder.
type fleetWorld struct {
	*world
	shared string
	store  func(sharedcache.Store) sharedcache.Store // changes the store of the next server; may be nil
	config sharedcache.Config
}

func newFleetWorld(t *testing.T, change ...func(*Config)) *fleetWorld {
	t.Helper()
	w := &fleetWorld{world: newWorld(t, change...), shared: t.TempDir()}
	w.fs = poisonFS{}
	w.config = sharedcache.Config{Timeout: 5 * time.Second, Log: zerolog.Nop()}
	inner := w.world.change
	w.world.change = func(c *Config) {
		inner(c)
		store, err := sharedcache.Folder(w.shared, 0)
		must(t, err)
		if w.store != nil {
			store = w.store(store)
		}
		c.SharedCache = sharedcache.New(store, "the store", w.config)
	}
	return w
}

// server opens a catalog with an empty cache folder.
func (w *fleetWorld) server() *Catalog {
	w.t.Helper()
	w.cache = w.t.TempDir()
	return w.open()
}

// objects returns the paths of the tables in the shared cache.
func (w *fleetWorld) objects() []string {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.shared, "tables", "*.arrow"))
	must(w.t, err)
	return found
}

func TestSharedCache(t *testing.T) {
	w := newFleetWorld(t, small)
	w.write("a.rows", textOf(1, 3000))
	w.write("b.rows", textOf(2, 10))
	first := w.server()
	w.wantAll(first, "a.rows")
	want := w.want(first, "a.rows", "7")
	w.wantAll(first, "b.rows")
	w.close(first)
	w.wantParses(3)
	if n := len(w.objects()); n != 3 {
		t.Fatalf("the shared cache has %d tables, want 3", n)
	}
	second := w.server()
	w.wantAll(second, "a.rows")
	got := w.want(second, "a.rows", "7")
	w.wantAll(second, "b.rows")
	w.wantParses(0)
	want.cached, got.cached = false, false
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the second server answers %v, want %v", got, want)
	}
	// tables that were read completely are kept, byte by byte
	eventually(t, "complete tables in the folder", func() error {
		if n := second.Stats().Cache.Fetched; n != 3 {
			return fmt.Errorf("%d tables", n)
		}
		return nil
	})
	for _, path := range w.tables() {
		here, err := os.ReadFile(path)
		must(t, err)
		there, err := os.ReadFile(filepath.Join(w.shared, "tables", filepath.Base(path)))
		must(t, err)
		if !bytes.Equal(here, there) {
			t.Errorf("%s is not the file of the shared cache", filepath.Base(path))
		}
	}
	s := second.Stats()
	if s.SharedCache.Hits != 3 || s.SharedCache.FetchedBytes == 0 || s.SharedCache.Uploads != 0 ||
		s.Cache.Fetched != 3 {
		t.Errorf("stats %+v, %+v", s.SharedCache, s.Cache)
	}
	w.close(second)
	// the kept tables need no shared cache
	must(t, os.RemoveAll(filepath.Join(w.shared, "tables")))
	second = w.open()
	w.wantAll(second, "a.rows")
	w.close(second)
	w.wantParses(0)
	w.wantTidy()
}

// TestSharedCacheAfterLocalEviction finds tables in the shared cache that have no room in the folder
// of a server any more.
func TestSharedCacheAfterLocalEviction(t *testing.T) {
	w := newFleetWorld(t, memory(-1))
	const n = 6
	for i := range n {
		w.write(fmt.Sprintf("%d.rows", i), textOf(i, 2000))
	}
	c := w.server()
	w.want(c, "0.rows")
	c.awaitSaves()
	info, err := os.Stat(w.tables()[0])
	must(t, err)
	w.close(c)
	inner := w.world.change
	w.world.change = func(cfg *Config) { inner(cfg); cfg.CacheBytes = info.Size() * 5 / 2 }
	c = w.server()
	for i := range n {
		w.want(c, fmt.Sprintf("%d.rows", i))
		c.awaitSaves()
	}
	w.wantParses(n)
	for range 2 {
		for i := range n {
			w.wantAll(c, fmt.Sprintf("%d.rows", i))
		}
	}
	w.wantParses(0)
	w.close(c)
	w.wantTidy()
}

func TestSharedCacheDamage(t *testing.T) {
	w := newFleetWorld(t)
	w.write("a.rows", textOf(1, 700))
	c := w.server()
	w.wantAll(c, "a.rows")
	w.close(c)
	path := w.objects()[0]
	text, err := os.ReadFile(path)
	must(t, err)
	w.wantParses(1)
	for _, d := range damages(text) {
		t.Run(d.name, func(t *testing.T) {
			w.t = t
			d.befall(t, path, text)
			c := w.server()
			w.wantAll(c, "a.rows")
			w.close(c)
			want := int64(0)
			if d.harmful {
				want = 1
			}
			w.wantParses(want)
			c = w.server() // the parse has stored the table again
			w.wantAll(c, "a.rows")
			w.close(c)
			w.wantParses(0)
			w.wantTidy()
		})
	}
}

// faultStore is a store whose answers can be changed.
type faultStore struct {
	sharedcache.Store
	fail  atomic.Bool                         // every request fails
	hang  atomic.Bool                         // requests wait for their deadline
	fetch atomic.Pointer[func(n int64) error] // is called at fetch n, from 1 on
	n     atomic.Int64
}

var errStore = errors.New("the store is on fire")

func (s *faultStore) fault(ctx context.Context) error {
	if s.hang.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if s.fail.Load() {
		return errStore
	}
	return nil
}

func (s *faultStore) Open(ctx context.Context, k sharedcache.Key) (sharedcache.Object, error) {
	if err := s.fault(ctx); err != nil {
		return nil, err
	}
	o, err := s.Store.Open(ctx, k)
	if err != nil {
		return nil, err
	}
	return faultObject{o, s}, nil
}

func (s *faultStore) Put(ctx context.Context, k sharedcache.Key, content io.ReaderAt, size int64) error {
	if err := s.fault(ctx); err != nil {
		return err
	}
	return s.Store.Put(ctx, k, content, size)
}

func (s *faultStore) Remove(ctx context.Context, k sharedcache.Key) error {
	if err := s.fault(ctx); err != nil {
		return err
	}
	return s.Store.Remove(ctx, k)
}

type faultObject struct {
	sharedcache.Object
	store *faultStore
}

func (o faultObject) Fetch(ctx context.Context, to io.WriterAt, from, end int64) error {
	if err := o.store.fault(ctx); err != nil {
		return err
	}
	if f := o.store.fetch.Load(); f != nil {
		if err := (*f)(o.store.n.Add(1)); err != nil {
			return err
		}
	}
	return o.Object.Fetch(ctx, to, from, end)
}

// faults makes the store of the next servers one with faults.
func (w *fleetWorld) faults() *faultStore {
	s := &faultStore{}
	w.store = func(inner sharedcache.Store) sharedcache.Store {
		s.Store = inner
		return s
	}
	return s
}

// manyRows is a file whose table is fetched by many requests.
func manyRows() string { return textOf(3, 60_000) }

// TestSharedCacheFailsInTheMiddleOfAScan lets a fetch fail at each point of a scan. The rows are
// those of the file all the same.
func TestSharedCacheFailsInTheMiddleOfAScan(t *testing.T) {
	w := newFleetWorld(t)
	w.write("a.rows", manyRows())
	rows := rowsOfText(w.read("a.rows"), 0)
	c := w.server()
	w.want(c, "a.rows")
	w.close(c)
	w.wantParses(1)
	for _, sel := range []Selection{{}, {BBox: everywhere}} {
		want := rows
		if sel.BBox != nil {
			want = withGeometry(rows)
		}
		for at := int64(1); ; at += 2 {
			store := w.faults()
			fetch := func(n int64) error {
				if n >= at {
					return errStore
				}
				return nil
			}
			store.fetch.Store(&fetch)
			c := w.server()
			h, err := c.Table(t.Context(), Request{Name: "a.rows"})
			must(t, err)
			must(t, sameRows(t.Context(), h, sel, want))
			h.Release()
			w.close(c)
			if parses := w.format.parses.Swap(0); parses == 0 {
				if at == 1 {
					t.Error("the first fetch failed without a parse")
				}
				break
			} else if parses > 1 {
				t.Errorf("failure at fetch %d: %d parses", at, parses)
			}
			w.wantTidy()
		}
	}
}

// TestSharedCacheAndFileAway removes the data file while its table is fetched, and the store fails.
func TestSharedCacheAndFileAway(t *testing.T) {
	w := newFleetWorld(t)
	w.write("a.rows", manyRows())
	c := w.server()
	w.want(c, "a.rows")
	w.close(c)
	store := w.faults()
	c = w.server()
	h, err := c.Table(t.Context(), Request{Name: "a.rows"})
	must(t, err)
	must(t, os.Rename(w.path("a.rows"), w.path("gone")))
	store.fail.Store(true)
	err = sameRows(t.Context(), h, Selection{}, rowsOfText(w.read("gone"), 0))
	if err == nil || !strings.Contains(err.Error(), "a.rows") || !strings.Contains(err.Error(), errStore.Error()) {
		t.Errorf("error %v, want one that names the file and the store", err)
	}
	h.Release()
	w.close(c)
	w.wantTidy()
}

// TestSharedCacheAway expects that a store that does not answer costs one timeout, and no read.
func TestSharedCacheAway(t *testing.T) {
	w := newFleetWorld(t)
	w.config.Timeout = 200 * time.Millisecond
	for i := range 20 {
		w.write(fmt.Sprintf("%d.rows", i), textOf(i, 50))
	}
	var log bytes.Buffer
	w.config.Log = zerolog.New(&log)
	store := w.faults()
	c := w.server()
	store.hang.Store(true)
	began := time.Now()
	for i := range 20 {
		w.want(c, fmt.Sprintf("%d.rows", i))
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("20 reads took %v", took)
	}
	c.awaitSaves()
	if s := c.Stats().SharedCache; !s.Away || s.Failures == 0 || s.Skipped == 0 {
		t.Errorf("stats %+v", s)
	}
	store.hang.Store(false)
	eventually(t, "an answer", func() error {
		if c.Stats().SharedCache.Away {
			return errors.New("the store is away")
		}
		return nil
	})
	w.write("new.rows", textOf(99, 50))
	w.want(c, "new.rows")
	c.awaitSaves()
	if n := len(w.objects()); n == 0 {
		t.Error("no table was stored after the outage")
	}
	w.close(c)
	if n := strings.Count(log.String(), "is away"); n != 1 {
		t.Errorf("the outage was logged %d times:\n%s", n, &log)
	}
}

func TestSharedCacheEvictedByName(t *testing.T) {
	w := newFleetWorld(t)
	w.write("a.rows", textOf(1, 300))
	c := w.server()
	w.want(c, "a.rows")
	c.awaitSaves()
	n, err := c.Evict(t.Context(), "a.rows")
	must(t, err)
	if n != 1 || len(w.objects()) != 0 {
		t.Errorf("%d tables evicted, %d are in the shared cache", n, len(w.objects()))
	}
	w.wantTables(0)
	w.close(c)
}

// TestSharedCacheGrown reads only the rows that were appended to a file whose former table another
// server has stored.
func TestSharedCacheGrown(t *testing.T) {
	w := newFleetWorld(t)
	w.write("a.rows", textOf(1, 3000))
	c := w.server()
	w.want(c, "a.rows")
	w.close(c)
	w.wantParses(1)
	c = w.server()
	w.want(c, "a.rows") // learns the record
	f, err := os.OpenFile(w.path("a.rows"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(textOf(2, 100))
	must(t, errors.Join(err, f.Close()))
	w.want(c, "a.rows")
	w.close(c)
	w.wantParses(0)
	if w.format.tails.Load() == 0 {
		t.Error("no appended rows were parsed")
	}
	w.wantTidy()
}

// TestSharedCacheLosesTablesInUse removes the tables of the shared cache while they are read.
func TestSharedCacheLosesTablesInUse(t *testing.T) {
	w := newFleetWorld(t)
	w.write("a.rows", manyRows())
	rows := rowsOfText(w.read("a.rows"), 0)
	c := w.server()
	w.want(c, "a.rows")
	w.close(c)
	w.wantParses(1)
	c = w.server()
	h, err := c.Table(t.Context(), Request{Name: "a.rows"})
	must(t, err)
	scanBy(t, h, Selection{}, rows, 3, func() {
		for _, path := range w.objects() { // as another server does: it unlinks them
			must(t, os.Remove(path))
		}
	})
	h.Release()
	w.close(c)
	w.wantParses(0)
	// truncated in place, which only an accident does
	w.wantTidy()
	c = w.server()
	w.want(c, "a.rows")
	w.close(c)
	w.wantParses(1)
	c = w.server()
	h, err = c.Table(t.Context(), Request{Name: "a.rows"})
	must(t, err)
	scanBy(t, h, Selection{}, rows, 3, func() {
		for _, path := range w.objects() {
			must(t, os.Truncate(path, 1000))
		}
	})
	h.Release()
	w.close(c)
	w.wantTidy()
}

// TestSharedCacheCannotBeWritten serves files although the shared cache cannot be written.
func TestSharedCacheCannotBeWritten(t *testing.T) {
	w := newFleetWorld(t)
	w.write("a.rows", textOf(1, 300))
	store := w.faults()
	c := w.server()
	store.fail.Store(true)
	w.wantAll(c, "a.rows")
	w.close(c)
	w.wantParses(1)
	w.wantTables(1)
	if n := len(w.objects()); n != 0 {
		t.Errorf("the shared cache has %d tables", n)
	}
}
