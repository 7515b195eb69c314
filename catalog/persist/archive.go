// Package persist keeps what outlives the process: parsed tables as files that are mapped, and what
// is known of each data file. Losing any of it costs time and nothing else.
package persist

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/internal/files"
	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/lease"
	"github.com/vibeflight/vibeflight/catalog/sharedcache"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/store/shared"
	"github.com/vibeflight/vibeflight/catalog/store/sqlite"
	"github.com/vibeflight/vibeflight/catalog/tablefile"
	"github.com/vibeflight/vibeflight/catalog/tree"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Archive has the files of parsed tables and a record of each data file, both below --cache-dir. An
// archive without a folder keeps the records of the files parsed last in memory, and no tables.
type Archive struct {
	path   string         // of the folder; "": none
	dir    *cachedir.Dir  // nil: without a folder
	store  store.Store    // nil: without a folder
	common *shared.Remote // whose records the store has too; nil: those of this server alone
	recent *recordCache
	keys   tableKeys
	limits readers.Limits
	log    zerolog.Logger
	shared *sharedcache.Cache // nil: none

	ctx        context.Context // of fetches from the shared cache; ends with Close
	cancel     context.CancelFunc
	background sync.WaitGroup // files that were fetched and are being committed

	closeIdle func() bool   // closes an unused mapped table, if there is one
	digests   chan struct{} // limits the files that are digested at a time

	mu   sync.Mutex
	lost map[cachedir.Key]bool // damaged tables that cannot be removed, and are not opened again
	// tables of the shared cache that are not opened before a time, because that failed
	avoided map[cachedir.Key]time.Time

	loads, saves, saveErrors, damaged, extensions, fetched atomic.Int64

	committing atomic.Int64 // fetched files that are being committed
}

const (
	tablesFolder = "tables" // below the folder of the cache
	maxDigests   = 8        // files digested at a time
)

// InMemory returns an archive without a folder.
func InMemory(limits readers.Limits) *Archive {
	return &Archive{recent: newRecordCache(), limits: limits.WithDefaults(), log: zerolog.Nop()}
}

// Open opens the archive in a folder, which it makes if needed. budget bounds the bytes of tables.
func Open(fsys files.FS, path string, budget int64, limits readers.Limits,
	log zerolog.Logger,
) (*Archive, error) {
	dir, err := cachedir.Open(fsys, filepath.Join(path, tablesFolder), budget, log)
	if err != nil {
		return nil, err
	}
	known, err := sqlite.Open(filepath.Join(path, "catalog.sqlite"), log)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	a := &Archive{
		path: path, dir: dir, store: known, recent: newRecordCache(), limits: limits.WithDefaults(), log: log,
		closeIdle: func() bool { return false },
		digests:   make(chan struct{}, maxDigests), lost: map[cachedir.Key]bool{},
		avoided: map[cachedir.Key]time.Time{},
	}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a, nil
}

// Close closes the folder. Tables that are in use stay valid.
func (a *Archive) Close() error {
	var err error
	if a.OnDisk() {
		a.mu.Lock()
		a.cancel()
		a.mu.Unlock()
		a.background.Wait()
		err = errors.Join(a.store.Close(), a.dir.Close())
	}
	if a.shared != nil {
		err = errors.Join(err, a.shared.Close())
	}
	return err
}

// OnDisk reports whether the archive has a folder, and so keeps tables.
func (a *Archive) OnDisk() bool { return a.dir != nil }

// Path returns the folder of the archive, or "".
func (a *Archive) Path() string { return a.path }

// SetCloseIdle sets the function that closes an unused mapped table to make room in the folder. It
// returns false if there is no such table.
func (a *Archive) SetCloseIdle(f func() bool) { a.closeIdle = f }

// Store returns the store of records, or nil without a folder.
func (a *Archive) Store() store.Store { return a.store }

// ShareRecords joins the store of records with one that other servers use too. It is called once,
// before the archive is used, and does nothing without a folder.
func (a *Archive) ShareRecords(r *shared.Remote) {
	if a.OnDisk() {
		a.common, a.store = r, r.Join(a.store)
	}
}

// Dir returns the folder of tables, or nil.
func (a *Archive) Dir() *cachedir.Dir { return a.dir }

// Layers calls each with the layers of every file that was parsed by the present version of its
// format, by tree.Entry.Location.
func (a *Archive) Layers(ctx context.Context, formats readers.Registry,
	each func(location string, id source.Identity, layers []string),
) error {
	layered := func(f readers.Format) bool { return f.Layered }
	if !a.OnDisk() || !slices.ContainsFunc(formats, layered) {
		return nil
	}
	return a.store.Layered(ctx, func(r store.Record) error {
		if f, ok := formats.ByName(r.Format); ok && f.Version == r.FormatVersion {
			each(r.Name, r.Identity, r.Layers)
		}
		return nil
	})
}

// tableKey returns the key of the table of a content. Besides the content, a table is a function of
// the job and of the limits, except for the number of workers and the length of a row's text.
func (a *Archive) tableKey(j job.Job, content source.Digest) cachedir.Key {
	h := sha256.New()
	// the same bytes may be an archive of two kinds, which have two main members
	packing, _ := source.PackingOf(j.Entry.Path)
	h.Write([]byte("vibeflight table 3\n" + j.Format.Name + "\n" + string(packing) + "\n"))
	h.Write(content[:])
	h.Write(j.Key.Options[:])
	l := &a.limits
	for _, n := range []int64{int64(j.Format.Version), int64(l.BatchRows), int64(l.MaxDepth), int64(l.MaxColumns)} {
		_ = binary.Write(h, binary.LittleEndian, n) // a hash takes everything
	}
	return cachedir.Key(h.Sum(nil))
}

// WorkKey identifies the parse of a job among the replicas of a fleet. As the key of its table it has
// all that shows in the table, but the location and the identity of the file in place of its content.
func (a *Archive) WorkKey(j job.Job) fleet.WorkKey {
	if j.Maker != nil {
		return fleet.WorkKey(a.tableKey(j, j.Maker.Digest()))
	}
	file := []byte("vibeflight work 1\n" + j.Entry.Location() + "\n")
	return fleet.WorkKey(a.tableKey(j, sha256.Sum256(j.Entry.Identity.Append(file))))
}

// StoreKey is the key of the file's record: by its location, because names of the catalog depend on
// the server's roots.
func StoreKey(j job.Job) store.Key {
	return store.Key{Name: j.Entry.Location(), Options: j.Key.Options}
}

// Recorded returns the record of the job's file, as far as its format and options go, or nil. The
// file may have changed since.
func (a *Archive) Recorded(ctx context.Context, j job.Job) *Record {
	changes := a.recent.begin()
	if r := a.recent.of(j); r != nil || !a.OnDisk() {
		return r
	}
	r, ok, err := a.store.Get(ctx, StoreKey(j))
	if err != nil && ctx.Err() == nil {
		a.log.Warn().Err(err).Str("name", j.Entry.Name).Msg("what is known of the file can't be read")
	}
	if err != nil || !ok || r.Content == nil || r.Format != j.Format.Name || r.FormatVersion != j.Format.Version {
		return nil
	}
	x := &Record{Record: r}
	a.recent.keep(x, changes)
	return x
}

// Find returns the table of a job if it is in the folder or in the shared cache, or nil. r is the
// file's record. A file whose time has changed and whose size has not may have the same content: it
// is digested. With a shared cache, so is a file without a record, unless all servers share records:
// then no server has parsed the file. waited means that another replica may just have done so.
func (a *Archive) Find(ctx context.Context, j job.Job, r *Record, waited bool) *Data {
	if !a.OnDisk() {
		return nil
	}
	if j.Maker != nil {
		return a.loaded(a.open(ctx, j, a.tableKey(j, j.Maker.Digest())))
	}
	if r != nil && r.Identity.Size == j.Entry.Size {
		content := source.Digest(r.Content)
		key := a.tableKey(j, content)
		same := r.Identity == j.Entry.Identity
		if same || a.sameContent(ctx, j, content, key) {
			l := a.loaded(a.open(ctx, j, key))
			if l != nil {
				a.keys.add(j, key)
			}
			if l != nil && !same {
				again := r.Record
				again.Identity = j.Entry.Identity
				a.Put(ctx, again)
			}
			return l
		}
	}
	if r == nil && !waited && a.common != nil && !a.common.Away() {
		return nil
	}
	return a.loaded(a.findContent(ctx, j, r))
}

// loaded counts a table, unless it is nil.
func (a *Archive) loaded(l *Data) *Data {
	if l != nil {
		a.loads.Add(1)
	}
	return l
}

// has reports whether a table is in the folder.
func (a *Archive) has(key cachedir.Key) bool {
	held, ok, err := a.dir.Get(key)
	if err != nil || !ok {
		return false
	}
	held.Release()
	return true
}

// sameContent reports whether the file has the content, and its table is in the folder.
func (a *Archive) sameContent(ctx context.Context, j job.Job, want source.Digest, key cachedir.Key) bool {
	held, ok, err := a.dir.Get(key)
	if err != nil || !ok {
		return false
	}
	defer held.Release()
	content, _, err := a.digest(ctx, j)
	return err == nil && content == want
}

// Grown returns the table of the job's file as it was before rows were appended to it, if that is
// in the folder, or nil.
func (a *Archive) Grown(ctx context.Context, j job.Job, r *Record, src *source.File) *Data {
	// of a packed file the digest is that of other bytes
	if !a.OnDisk() || src.Packed() || r == nil || r.Identity.Size >= src.Size || src.Identity.Remote() {
		return nil
	}
	l := a.open(ctx, j, a.tableKey(j, source.Digest(r.Content)))
	if l == nil {
		return nil
	}
	a.loads.Add(1)
	if l.Table.Summary.Appendable {
		blocks, err := src.Blocks(ctx, 0, r.Identity.Size, a.limits.Workers)
		if err == nil && source.DigestOf(r.Identity.Size, blocks) == source.Digest(r.Content) {
			return l
		}
	}
	l.Release()
	return nil
}

// CountExtension counts a parse of only what was appended to a file.
func (a *Archive) CountExtension() { a.extensions.Add(1) }

// digest reads the job's file and its siblings. It returns an error if the file has changed, or
// changes meanwhile. The version of an object stands for its content: it is not read.
func (a *Archive) digest(ctx context.Context, j job.Job) (content source.Digest, blocks []byte, err error) {
	if j.Entry.Identity.Remote() {
		version := "vibeflight object 1\n" + j.Entry.Location() + "\n" + j.Entry.Identity.Version()
		return sha256.Sum256([]byte(version)), nil, nil
	}
	select {
	case a.digests <- struct{}{}:
		defer func() { <-a.digests }()
	case <-ctx.Done():
		return content, nil, ctx.Err()
	}
	src, err := j.Entry.Open(ctx, j.Format)
	if err != nil {
		return content, nil, err
	}
	defer src.Close()
	if src.Identity != j.Entry.Identity {
		return content, nil, fmt.Errorf("%s: %w", j.Entry.Name, source.ErrChanged)
	}
	if !source.AwaitClockTick(ctx, src) {
		return content, nil, ctx.Err()
	}
	if blocks, err = src.Blocks(ctx, 0, src.Size, a.limits.Workers); err != nil {
		return content, nil, err
	}
	content = source.DigestOf(src.Size, blocks)
	others, isBundle := j.Format.Siblings, false
	if members := src.MemberNames(); members != nil {
		others, isBundle = members, true
	}
	for _, ext := range others {
		sibling, err := other(src, ext, isBundle)
		if err != nil {
			return content, nil, err
		}
		if sibling == nil || sibling == src {
			continue
		}
		its, err := sibling.Blocks(ctx, 0, sibling.Size, a.limits.Workers)
		if err != nil {
			return content, nil, err
		}
		content = content.With(ext, source.DigestOf(sibling.Size, its))
	}
	return content, blocks, src.Unchanged()
}

// other returns the sibling of an extension, or the member of a bundle.
func other(src *source.File, name string, isBundle bool) (*source.File, error) {
	if isBundle {
		return src.Member(name)
	}
	return src.Sibling(name)
}

// open maps the table of a key: from the folder, or else from the shared cache. It returns nil if
// neither has it. A damaged file is removed.
func (a *Archive) open(ctx context.Context, j job.Job, key cachedir.Key) *Data {
	if l := a.openLocal(j, key); l != nil {
		if a.shared != nil {
			a.shared.Use(fleet.TableKey(key))
		}
		return l
	}
	return a.openShared(ctx, j, key)
}

// openLocal is open for the folder alone.
func (a *Archive) openLocal(j job.Job, key cachedir.Key) *Data {
	a.mu.Lock()
	lost := a.lost[key]
	a.mu.Unlock()
	if lost {
		return nil
	}
	held, ok, err := a.dir.Get(key)
	if err != nil || !ok {
		if err != nil {
			a.log.Warn().Err(err).Str("name", j.Entry.Name).Msg("a table of the cache can't be opened")
		}
		return nil
	}
	f, err := tablefile.Open(held)
	if err != nil {
		held.Release()
		if errors.Is(err, readers.ErrDamaged) {
			a.remove(j.Entry.Name, key, err)
		} else {
			a.log.Warn().Err(err).Str("name", j.Entry.Name).Msg("a table of the cache can't be opened")
		}
		return nil
	}
	return &Data{Table: f.Table(), file: f, held: held, cacheKey: key}
}

// Remove removes the file of a table that turned out to be damaged.
func (a *Archive) Remove(name string, l *Data, why error) {
	if l.remote != nil {
		a.removeShared(name, l.cacheKey, why)
	}
	if key, ok := l.place(); ok {
		a.remove(name, key, why)
	}
}

func (a *Archive) remove(name string, key cachedir.Key, why error) {
	a.damaged.Add(1)
	a.log.Warn().Err(why).Str("name", name).Msg("a table of the cache is damaged; the file is parsed again")
	if err := a.dir.Drop(key); err != nil {
		a.log.Warn().Err(err).Str("name", name).Msg("a damaged table of the cache can't be removed")
		a.mu.Lock()
		defer a.mu.Unlock()
		a.lost[key] = true
	}
}

// Fail records why a file could not be parsed. held is the lease of the parse, or nil.
func (a *Archive) Fail(ctx context.Context, j job.Job, held *lease.Lease, why error) {
	if !a.OnDisk() {
		return
	}
	a.putHeld(ctx, held, store.Record{
		Key: StoreKey(j), Identity: j.Entry.Identity, Format: j.Format.Name, FormatVersion: j.Format.Version,
		OptionsJSON: j.Options.JSON(),
		ParsedAt:    time.Now(), LastError: why.Error(),
	})
}

// Put stores a record.
func (a *Archive) Put(ctx context.Context, r store.Record) {
	defer a.recent.drop(r.Key)
	if err := a.store.Put(ctx, r); err != nil && ctx.Err() == nil {
		a.log.Warn().Err(err).Str("file", r.Name).Msg("what is known of a file can't be stored")
	}
}

// putHeld stores the record of a parse. A replica that has lost its lease does not replace the record
// of the one that has it now.
func (a *Archive) putHeld(ctx context.Context, held *lease.Lease, r store.Record) {
	l, ok := held.Stored()
	records, isShared := a.store.(*shared.Records)
	if !ok || !isShared {
		a.Put(ctx, r)
		return
	}
	defer a.recent.drop(r.Key)
	err := records.PutHeld(ctx, r, l)
	if err != nil && !errors.Is(err, fleet.ErrLost) && ctx.Err() == nil {
		a.log.Warn().Err(err).Str("file", r.Name).Msg("what is known of a file can't be stored for other replicas")
	}
}

// Forget removes the table of a job and its record, from the shared cache too.
func (a *Archive) Forget(ctx context.Context, j job.Job) error {
	if j.Maker != nil {
		return a.ForgetMadeEverywhere(ctx, j)
	}
	r, ok, err := a.store.Get(ctx, StoreKey(j))
	if err != nil || !ok {
		return err
	}
	return a.forgetRecord(ctx, j.Format, j.Entry.Path, r)
}

func (a *Archive) forgetRecord(ctx context.Context, f readers.Format, path string, r store.Record) error {
	defer a.recent.drop(r.Key)
	var err error
	if r.Content != nil {
		key := a.RecordKey(f, path, r)
		err = errors.Join(a.dir.Drop(key), a.forgetShared(ctx, key))
	}
	return errors.Join(err, a.store.Delete(ctx, r.Key))
}

// RecordKey is the tableKey of the table that the file at path had when it was parsed last.
func (a *Archive) RecordKey(f readers.Format, path string, r store.Record) cachedir.Key {
	f.Version = r.FormatVersion
	j := job.Job{Format: f, Entry: tree.Entry{Path: path}, Key: job.Key{Options: r.Options}}
	return a.tableKey(j, source.Digest(r.Content))
}

// ForgetFile removes the tables of a file and their records; only those of one layer if layer is
// not nil, "" being the first one. It returns the options of each table.
func (a *Archive) ForgetFile(ctx context.Context, formats readers.Registry, e tree.Entry, layer *string) (
	tables [][32]byte, err error,
) {
	if !a.OnDisk() {
		a.recent.forget(e.Location())
		return nil, nil
	}
	var errs []error
	err = a.store.Of(ctx, e.Location(), func(r store.Record) error {
		f, ok := formats.ByName(r.Format)
		if layer != nil && !recordHasLayer(f, r, *layer) {
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
