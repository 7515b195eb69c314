package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/tablefile"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// archive is what outlives the process: the files of parsed tables, and what is known of each data
// file. Both lie below --cache-dir; what is lost of them costs time and nothing else.
type archive struct {
	dir    *cachedir.Dir
	store  store.Store
	recent *recordCache
	limits readers.Limits
	log    zerolog.Logger

	closeIdle func() bool   // closes a table that nobody uses, if there is one
	digests   chan struct{} // files that are digested

	mu   sync.Mutex
	lost map[cachedir.Key]bool // damaged tables that can't be removed: nobody opens them

	loads, saves, saveErrors, damaged, extensions atomic.Int64
}

// tablesFolder is where the files of tables lie, below the folder of the cache.
const tablesFolder = "tables"

// openArchive opens the folder, and makes what is not there.
func openArchive(fsys files.FS, path string, budget int64, limits readers.Limits,
	log zerolog.Logger,
) (*archive, error) {
	dir, err := cachedir.Open(fsys, filepath.Join(path, tablesFolder), budget, log)
	if err != nil {
		return nil, err
	}
	known, err := store.OpenSQLite(filepath.Join(path, "catalog.sqlite"), log)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return &archive{
		dir: dir, store: known, recent: newRecent(), limits: limits.WithDefaults(), log: log, closeIdle: func() bool {
			return false
		},
		digests: make(chan struct{}, maxParses), lost: map[cachedir.Key]bool{},
	}, nil
}

func (a *archive) close() error { return errors.Join(a.store.Close(), a.dir.Close()) }

// tableKey names the table that a content gives: what else it is a function of stands in the job
// and in the limits, but for the number of workers and the length of a row's text, which make no
// other table.
func (a *archive) tableKey(j job, content source.Digest) cachedir.Key {
	h := sha256.New()
	// the same bytes may be an archive of two kinds, which have two main members
	packing, _ := source.PackingOf(j.entry.Path)
	h.Write([]byte("vibeflight table 3\n" + j.format.Name + "\n" + string(packing) + "\n"))
	h.Write(content[:])
	h.Write(j.key.options[:])
	l := &a.limits
	for _, n := range []int64{int64(j.format.Version), int64(l.BatchRows), int64(l.MaxDepth), int64(l.MaxColumns)} {
		_ = binary.Write(h, binary.LittleEndian, n) // a hash takes everything
	}
	return cachedir.Key(h.Sum(nil))
}

// storeKey names what is known of the file: by its place, since names of the catalog depend on the
// server's roots.
func storeKey(j job) store.Key { return store.Key{Name: storeName(j.entry), Options: j.key.options} }

func storeName(e Entry) string {
	path, err := filepath.Abs(e.Path)
	if err != nil {
		path = e.Path
	}
	if !utf8.ValidString(path) {
		path = strconv.QuoteToASCII(path)
	}
	return path
}

// recorded is what the store says of the file that a job is about.
func (a *archive) recorded(ctx context.Context, j job) *fileRecord {
	changes := a.recent.begin()
	if r := a.recent.of(j); r != nil {
		return r
	}
	r, ok, err := a.store.Get(ctx, storeKey(j))
	if err != nil && ctx.Err() == nil {
		a.log.Warn().Err(err).Str("name", j.entry.Name).Msg("what is known of the file can't be read")
	}
	if err != nil || !ok || r.Content == nil || r.Format != j.format.Name || r.FormatVersion != j.format.Version {
		return nil
	}
	x := &fileRecord{Record: r}
	a.recent.keep(x, changes)
	return x
}

// find gives the table of a job if it lies in the cache. A file that changed its time and not its
// size may hold what it held before: that is looked at.
func (a *archive) find(ctx context.Context, j job, r *fileRecord) *tableData {
	if r == nil || r.Identity.Size != j.entry.Size {
		return nil
	}
	content := source.Digest(r.Content)
	key := a.tableKey(j, content)
	same := r.Identity == j.entry.Identity
	if !same && !a.holds(ctx, j, content, key) {
		return nil
	}
	l := a.open(j, key)
	if l != nil {
		a.loads.Add(1)
	}
	if l != nil && !same {
		again := r.Record
		again.Identity = j.entry.Identity
		a.put(ctx, again)
	}
	return l
}

// has reports whether a table lies in the cache.
func (a *archive) has(key cachedir.Key) bool {
	held, ok, err := a.dir.Get(key)
	if err != nil || !ok {
		return false
	}
	held.Release()
	return true
}

// holds reports whether the file has a content whose table is in the cache.
func (a *archive) holds(ctx context.Context, j job, want source.Digest, key cachedir.Key) bool {
	held, ok, err := a.dir.Get(key)
	if err != nil || !ok {
		return false
	}
	defer held.Release()
	content, _, err := a.digest(ctx, j)
	return err == nil && content == want
}

// grown gives the table of what the file held before rows were appended to it, if that lies in the
// cache.
func (a *archive) grown(ctx context.Context, j job, r *fileRecord, src *source.File) *tableData {
	if src.Packed() || r == nil || r.Identity.Size >= src.Size { // of a packed file the digest is that of other bytes
		return nil
	}
	l := a.open(j, a.tableKey(j, source.Digest(r.Content)))
	if l == nil {
		return nil
	}
	a.loads.Add(1)
	if l.table.Summary.Appendable {
		blocks, err := src.Blocks(ctx, 0, r.Identity.Size, a.limits.Workers)
		if err == nil && source.DigestOf(r.Identity.Size, blocks) == source.Digest(r.Content) {
			return l
		}
	}
	l.release()
	return nil
}

// digest reads the file that the job is about, and its siblings. A file that is another one now, or
// becomes one meanwhile, is an error.
func (a *archive) digest(ctx context.Context, j job) (content source.Digest, blocks []byte, err error) {
	select {
	case a.digests <- struct{}{}:
		defer func() { <-a.digests }()
	case <-ctx.Done():
		return content, nil, ctx.Err()
	}
	src, err := j.entry.read(j.format.Siblings)
	if err != nil {
		return content, nil, err
	}
	defer src.Close()
	if src.Identity != j.entry.Identity {
		return content, nil, fmt.Errorf("%s: %w", j.entry.Name, source.ErrChanged)
	}
	if !awaitClockTick(ctx, src) {
		return content, nil, ctx.Err()
	}
	if blocks, err = src.Blocks(ctx, 0, src.Size, a.limits.Workers); err != nil {
		return content, nil, err
	}
	content = source.DigestOf(src.Size, blocks)
	for _, ext := range j.format.Siblings {
		beside, err := src.Sibling(ext)
		if err != nil {
			return content, nil, err
		}
		if beside == nil {
			continue
		}
		its, err := beside.Blocks(ctx, 0, beside.Size, a.limits.Workers)
		if err != nil {
			return content, nil, err
		}
		content = content.With(ext, source.DigestOf(beside.Size, its))
	}
	return content, blocks, src.Unchanged()
}

// open maps the table of a key. A damaged one is removed.
func (a *archive) open(j job, key cachedir.Key) *tableData {
	a.mu.Lock()
	lost := a.lost[key]
	a.mu.Unlock()
	if lost {
		return nil
	}
	held, ok, err := a.dir.Get(key)
	if err != nil || !ok {
		if err != nil {
			a.log.Warn().Err(err).Str("name", j.entry.Name).Msg("a table of the cache can't be opened")
		}
		return nil
	}
	f, err := tablefile.Open(held)
	if err != nil {
		held.Release()
		if errors.Is(err, readers.ErrDamaged) {
			a.drop(j.entry.Name, key, err)
		} else {
			a.log.Warn().Err(err).Str("name", j.entry.Name).Msg("a table of the cache can't be opened")
		}
		return nil
	}
	return &tableData{table: f.Table(), file: f, held: held, cacheKey: key}
}

// drop removes the file of a damaged table.
func (a *archive) drop(name string, key cachedir.Key, why error) {
	a.damaged.Add(1)
	a.log.Warn().Err(why).Str("name", name).Msg("a table of the cache is damaged; the file is parsed again")
	if err := a.dir.Drop(key); err != nil {
		a.log.Warn().Err(err).Str("name", name).Msg("a damaged table of the cache can't be removed")
		a.mu.Lock()
		defer a.mu.Unlock()
		a.lost[key] = true
	}
}

// fail notes why a file could not be parsed.
func (a *archive) fail(ctx context.Context, j job, why error) {
	a.put(ctx, store.Record{
		Key: storeKey(j), Identity: j.entry.Identity, Format: j.format.Name, FormatVersion: j.format.Version,
		OptionsJSON: j.options.JSON(),
		ParsedAt:    time.Now(), LastError: why.Error(),
	})
}

func (a *archive) put(ctx context.Context, r store.Record) {
	defer a.recent.drop(r.Key)
	if err := a.store.Put(ctx, r); err != nil && ctx.Err() == nil {
		a.log.Warn().Err(err).Str("file", r.Name).Msg("what is known of a file can't be stored")
	}
}

// forget removes the table of a job from the cache, and what is known of it.
func (a *archive) forget(ctx context.Context, j job) error {
	r, ok, err := a.store.Get(ctx, storeKey(j))
	if err != nil || !ok {
		return err
	}
	return a.forgetRecord(ctx, j.format, j.entry.Path, r)
}

func (a *archive) forgetRecord(ctx context.Context, f readers.Format, path string, r store.Record) error {
	defer a.recent.drop(r.Key)
	var err error
	if r.Content != nil {
		err = a.dir.Drop(a.recordKey(f, path, r))
	}
	return errors.Join(err, a.store.Delete(ctx, r.Key))
}

// recordKey is the tableKey of what the file at path gave when it was parsed last.
func (a *archive) recordKey(f readers.Format, path string, r store.Record) cachedir.Key {
	f.Version = r.FormatVersion
	return a.tableKey(job{format: f, entry: Entry{Path: path}, key: key{options: r.Options}}, source.Digest(r.Content))
}

// forgetFile removes the tables of a file from the cache, and what is known of them; only those of
// a layer if layer is not nil, "" being the first one. It gives the options of each table.
func (a *archive) forgetFile(ctx context.Context, formats readers.Registry, e Entry, layer *string) (tables [][32]byte,
	err error,
) {
	var errs []error
	err = a.store.Of(ctx, storeName(e), func(r store.Record) error {
		f, ok := formats.ByName(r.Format)
		if layer != nil && !recordIs(f, r, *layer) {
			return nil
		}
		if ok && r.Content != nil {
			tables = append(tables, r.Options)
		}
		errs = append(errs, a.forgetRecord(ctx, f, e.Path, r))
		return nil
	})
	return tables, errors.Join(err, errors.Join(errs...))
}
