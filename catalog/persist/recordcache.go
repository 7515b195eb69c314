package persist

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/vibeflight/vibeflight/catalog/job"
	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/readers"
)

const (
	// maxRecords is the number of records kept in memory: up to a few hundred KB each.
	maxRecords = 32
	// partShare bounds reading a part of a file instead of all of it: at most 1/partShare.
	partShare = 4
)

// recordCache is an LRU of the records of files. With it, the first batch of a lost table does not
// wait for the store; without a store it has the results of the last parses. Other processes may
// change the store: a record is valid only for a file of the same identity.
type recordCache struct {
	mu      sync.Mutex
	list    []*Record           // most recently used first
	changes int                 // of the store by this process
	owed    map[store.Key]int64 // bytes of files that were read in parts since they were last parsed
}

func newRecordCache() *recordCache { return &recordCache{owed: map[store.Key]int64{}} }

// of returns the record of the job's file, with at least the job's columns, or nil.
func (r *recordCache) of(j job.Job) *Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := StoreKey(j)
	i := slices.IndexFunc(r.list, func(x *Record) bool {
		return x.Key == key && x.Format == j.Format.Name && x.Identity == j.Entry.Identity &&
			x.columns.Covers(j.Columns)
	})
	if i < 0 {
		return nil
	}
	found := r.list[i]
	copy(r.list[1:], r.list[:i])
	r.list[0] = found
	return found
}

// begin is called before the store is read. Its result is for keep.
func (r *recordCache) begin() (changes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes
}

// keep adds a record that was read after begin, unless the store was changed meanwhile.
func (r *recordCache) keep(x *Record, changes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if changes != r.changes {
		return
	}
	r.list = slices.DeleteFunc(r.list, func(old *Record) bool {
		return old.Key == x.Key && (old.Identity != x.Identity || x.columns.Covers(old.columns))
	})
	r.list = slices.Insert(r.list[:min(len(r.list), maxRecords-1)], 0, x)
}

// drop removes a record when the store changes.
func (r *recordCache) drop(key store.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes++
	r.list = slices.DeleteFunc(r.list, func(x *Record) bool { return x.Key == key })
}

// forget removes all records of a file.
func (r *recordCache) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = slices.DeleteFunc(r.list, func(x *Record) bool { return x.Name == name })
}

// Lends reports whether the given bytes of the job's file may be read instead of all of it. Once
// the parts add up to the size of the file, the file is parsed instead, so that reading parts never
// costs more than twice a parse.
func (a *Archive) Lends(j job.Job, bytes int64) bool {
	r := a.recent
	k, size := StoreKey(j), j.Entry.Size
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes > size/partShare || r.owed[k]+bytes > size {
		delete(r.owed, k)
		return false
	}
	r.owed[k] += bytes
	return true
}

// Note records the result of a parse in an archive that has no folder.
func (a *Archive) Note(j job.Job, t *readers.Table) {
	if a.OnDisk() {
		return
	}
	k := metaOf(t, a.limits)
	if !k.Fits(a.limits) {
		return
	}
	k.BBox = t.BBox
	r := store.Record{Key: StoreKey(j), Identity: j.Entry.Identity, Format: j.Format.Name}
	a.recent.keep(&Record{Record: r, columns: j.Columns, meta: k}, a.recent.begin())
}

// CachedRecords returns the number of records in memory that have the places of batches.
func (a *Archive) CachedRecords() (n int) {
	a.recent.mu.Lock()
	defer a.recent.mu.Unlock()
	for _, r := range a.recent.list {
		if r.meta != nil && len(r.meta.Spans) > 0 {
			n++
		}
	}
	return n
}

// Warm reads the newest records into memory. Records that cannot be read now are read again when
// they are needed.
func (a *Archive) Warm(ctx context.Context, formats readers.Registry) {
	if !a.OnDisk() {
		return
	}
	changes := a.recent.begin()
	newest, err := a.store.Newest(ctx, maxRecords)
	if err != nil {
		return
	}
	for _, r := range slices.Backward(newest) {
		f, ok := formats.ByName(r.Format)
		if !ok || r.Content == nil || r.FormatVersion != f.Version || !filepath.IsAbs(r.Name) {
			continue
		}
		x := &Record{Record: r}
		x.decode(a.RecordKey(f, r.Name, r), a.limits)
		a.recent.keep(x, changes)
	}
}
