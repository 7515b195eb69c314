package persist

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/vibeflight/vibeflight/catalog/cachedir"
	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/sharedcache"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/catalog/tablefile"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// ErrUnfetched is wrapped by errors of tables whose rows cannot be fetched from the shared cache.
var ErrUnfetched = tablefile.ErrUnfetched

// Share makes the archive look for tables in a shared cache, and store them there. It is called
// before the archive is used. An archive without a folder ignores it. Close closes the shared cache.
func (a *Archive) Share(c *sharedcache.Cache) { a.shared = c }

// Shared returns the shared cache, or nil.
func (a *Archive) Shared() *sharedcache.Cache { return a.shared }

// avoidTime is how long a table of the shared cache that could not be used is not opened again.
const avoidTime = time.Minute

// avoid makes the archive ignore the shared file of a key for a while.
func (a *Archive) avoid(key cachedir.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for k, until := range a.avoided {
		if now.After(until) {
			delete(a.avoided, k)
		}
	}
	a.avoided[key] = now.Add(avoidTime)
}

// uses reports whether the shared file of a key may be opened.
func (a *Archive) uses(key cachedir.Key) bool {
	if a.shared == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Now().After(a.avoided[key])
}

// remoteTable is the shared file that a table is fetched from.
type remoteTable struct {
	archive  *Archive
	table    *sharedcache.Table
	released bool // guarded by Data.mu
	// of the data file, without the bounds of its columns, which need all rows; nil: it is complete
	record *store.Record
}

// openShared opens the table of a key in the shared cache, or returns nil. Its batches are fetched
// when they are read.
func (a *Archive) openShared(ctx context.Context, j job.Job, key cachedir.Key) *Data {
	if !a.uses(key) {
		return nil
	}
	remote, err := a.shared.Open(ctx, fleet.TableKey(key))
	if err != nil {
		return nil // counted, and logged once for each outage
	}
	l := &Data{cacheKey: key, remote: &remoteTable{archive: a, table: remote}}
	if err = a.mapShared(l, j); err == nil {
		l.Table = l.file.Table()
		return l
	}
	_ = remote.Close()
	if l.temp != nil {
		_ = l.temp.Abort()
	}
	var full *cachedir.FullError
	switch {
	case errors.As(err, &full), ctx.Err() != nil, a.ctx.Err() != nil: // the file is parsed
	case errors.Is(err, readers.ErrDamaged):
		a.removeShared(j.Entry.Name, key, err)
	default:
		a.log.Warn().Err(err).Str("name", j.Entry.Name).Msg("a table of the shared cache can't be opened")
	}
	return nil
}

// mapShared maps a file of the folder that is filled from the shared file of l.
func (a *Archive) mapShared(l *Data, j job.Job) error {
	err := a.withRoom(func() (err error) {
		l.temp, err = a.dir.CreateSparse(l.remote.table.Size())
		return err
	})
	if err != nil {
		return err
	}
	l.file, err = tablefile.OpenRemote(a.ctx, sparseTemp{l.temp, a}, l.remote.table, func() { a.keepFetched(j, l) })
	return err
}

// sparseTemp is a temporary file of the cache whose bytes are fetched. To make room for it, unused
// tables are closed.
type sparseTemp struct {
	*cachedir.Temp
	archive *Archive
}

// WriteAt implements io.WriterAt.
func (t sparseTemp) WriteAt(p []byte, off int64) (n int, err error) {
	err = t.archive.withRoom(func() (err error) {
		n, err = t.Temp.WriteAt(p, off)
		return err
	})
	return n, err
}

// keepFetched keeps a table whose batches were all fetched: it fetches the rest of its file and commits
// it, in the background.
func (a *Archive) keepFetched(j job.Job, l *Data) {
	if !a.enter() {
		return
	}
	l.file.Retain()
	go func() {
		defer a.background.Done()
		defer l.file.Release()
		if err := l.file.FetchRest(); err == nil { // else a search gives the error
			a.commitFetched(j, l)
		}
	}()
}

// commitFetched commits a file of which everything was fetched and verified.
func (a *Archive) commitFetched(j job.Job, l *Data) {
	held, err := l.temp.Commit(l.cacheKey)
	if err != nil {
		if !errors.Is(err, fs.ErrClosed) && !errors.Is(err, cachedir.ErrClosed) { // else it was released
			a.log.Warn().Err(err).Str("name", j.Entry.Name).Msg("a table of the shared cache can't be kept")
		}
		return
	}
	a.fetched.Add(1)
	if r := l.remote.record; r != nil {
		if columns, err := columnStats(a.ctx, l.Table, 1); err == nil {
			complete := *r
			complete.Columns = columns
			a.Put(a.ctx, complete)
		}
	}
	l.mu.Lock()
	released := l.remote.released
	if !released {
		l.held = held
	}
	l.mu.Unlock()
	if released {
		held.Release()
	}
}

// enter counts work that Close waits for. It returns false after Close.
func (a *Archive) enter() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ctx.Err() != nil {
		return false
	}
	a.background.Add(1)
	return true
}

// findContent returns the table of a file that was not parsed by this server, if the shared cache
// has one of the same content, or nil. r is the file's record; may be nil.
func (a *Archive) findContent(ctx context.Context, j job.Job, r *Record) *Data {
	if a.shared == nil || !a.shared.Answers() {
		return nil
	}
	content, blocks, err := a.digest(ctx, j)
	if err != nil {
		return nil
	}
	l := a.open(ctx, j, a.tableKey(j, content))
	if l == nil {
		return nil
	}
	if r != nil && source.Digest(r.Content) == content {
		again := r.Record
		again.Identity = j.Entry.Identity
		a.Put(ctx, again)
		return l
	}
	known, err := newRecord(j, l.Table, statsOf(l.Table, nil), a.limits)
	if err != nil {
		return l
	}
	known.Content, known.Blocks = content[:], blocks
	if l.remote != nil {
		l.remote.record = &known
	}
	a.Put(ctx, known)
	return l
}

// upload stores a table that was just committed in the shared cache, unless that has it. An error
// costs other servers a parse.
func (a *Archive) upload(ctx context.Context, name string, key cachedir.Key) {
	if a.shared == nil || !a.shared.Answers() {
		return
	}
	held, ok, err := a.dir.Get(key)
	if err != nil || !ok {
		return // evicted already
	}
	defer held.Release()
	info, err := held.Stat()
	if err == nil {
		err = a.shared.Put(ctx, fleet.TableKey(key), held, info.Size())
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, sharedcache.ErrAway) {
		a.log.Warn().Err(err).Str("name", name).Msg("the parsed table is not in the shared cache")
	}
}

// removeShared removes a damaged table from the shared cache.
func (a *Archive) removeShared(name string, key cachedir.Key, why error) {
	a.avoid(key)
	if errors.Is(why, ErrUnfetched) {
		a.log.Warn().Err(why).Str("name", name).
			Msg("a table of the shared cache can't be fetched; the file is parsed")
		return
	}
	a.damaged.Add(1)
	a.log.Warn().Err(why).Str("name", name).
		Msg("a table of the shared cache is damaged; the file is parsed again")
	if err := a.shared.Remove(a.ctx, fleet.TableKey(key)); err != nil {
		a.log.Warn().Err(err).Str("name", name).Msg("a damaged table of the shared cache can't be removed")
	}
}

// forgetShared removes the table of a key from the shared cache, for the administrator.
func (a *Archive) forgetShared(ctx context.Context, key cachedir.Key) error {
	if a.shared == nil {
		return nil
	}
	return a.shared.Remove(ctx, fleet.TableKey(key))
}

// Reaches reports whether the described table is in the folder or in the shared cache.
func (a *Archive) Reaches(ctx context.Context, k *Meta) bool {
	if a.Has(k) {
		return true
	}
	if !a.OnDisk() || !a.uses(k.key) {
		return false
	}
	t, err := a.shared.Open(ctx, fleet.TableKey(k.key))
	if err != nil {
		return false
	}
	_ = t.Close()
	return true
}

// ForgetMadeEverywhere is ForgetMade, and removes the table from the shared cache too.
func (a *Archive) ForgetMadeEverywhere(ctx context.Context, j job.Job) error {
	if !a.OnDisk() {
		return nil
	}
	return errors.Join(a.ForgetMade(j), a.forgetShared(ctx, a.tableKey(j, j.Maker.Digest())))
}
