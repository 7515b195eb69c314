package catalog

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/vibeflight/vibeflight/catalog/store"
	"github.com/vibeflight/vibeflight/readers"
)

// mostRecent is of how many files it is in memory what is known of them: up to a few hundred KB
// each.
const mostRecent = 32

// recordCache is what is known of the files that were asked for last: what the store says of them,
// so that the first batch of a lost table does not wait for it, or what the last parse has found,
// where there is no store. Other processes may change the store: who takes something from here
// looks whether it is of the file as it is, and then it says what the store does.
type recordCache struct {
	mu      sync.Mutex
	list    []*fileRecord       // the last one first
	changes int                 // of the store by this process
	owed    map[store.Key]int64 // bytes of files that were read in parts since they were last parsed
}

func newRecent() *recordCache { return &recordCache{owed: map[store.Key]int64{}} }

// of gives what is known of a file, of the columns that the job is about at least, or nil.
func (r *recordCache) of(j job) *fileRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := storeKey(j)
	i := slices.IndexFunc(r.list, func(x *fileRecord) bool {
		return x.Key == key && x.Format == j.format.Name && x.Identity == j.entry.Identity &&
			x.columns.Covers(j.columns)
	})
	if i < 0 {
		return nil
	}
	found := r.list[i]
	copy(r.list[1:], r.list[:i])
	r.list[0] = found
	return found
}

// begin is called before the store is read.
func (r *recordCache) begin() (changes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes
}

// keep keeps what the store said behind begin, unless the store was changed meanwhile.
func (r *recordCache) keep(x *fileRecord, changes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if changes != r.changes {
		return
	}
	r.list = slices.DeleteFunc(r.list, func(old *fileRecord) bool {
		return old.Key == x.Key && (old.Identity != x.Identity || x.columns.Covers(old.columns))
	})
	r.list = slices.Insert(r.list[:min(len(r.list), mostRecent-1)], 0, x)
}

// drop forgets a file of which the store is about to say something else, or has just begun to.
func (r *recordCache) drop(key store.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes++
	r.list = slices.DeleteFunc(r.list, func(x *fileRecord) bool { return x.Key == key })
}

// forget drops all that is known of the file of a name.
func (r *recordCache) forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = slices.DeleteFunc(r.list, func(x *fileRecord) bool { return x.Name == name })
}

// noteTable keeps what a parse has found, where there is no cache on disk that would.
func (c *Catalog) noteTable(j job, t *readers.Table) {
	limits := c.cfg.Limits.WithDefaults()
	k := knownOf(t, limits)
	if !k.Fits(limits) {
		return
	}
	k.bbox = t.BBox
	r := store.Record{Key: storeKey(j), Identity: j.entry.Identity, Format: j.format.Name}
	c.recent.keep(&fileRecord{Record: r, columns: j.columns, known: k}, c.recent.begin())
}

// remember keeps what was stored last. What can't be read is read again by who needs it.
func (a *archive) remember(ctx context.Context, formats readers.Registry) {
	changes := a.recent.begin()
	newest, err := a.store.Newest(ctx, mostRecent)
	if err != nil {
		return
	}
	for _, r := range slices.Backward(newest) {
		f, ok := formats.ByName(r.Format)
		if !ok || r.Content == nil || r.FormatVersion != f.Version || !filepath.IsAbs(r.Name) {
			continue
		}
		x := &fileRecord{Record: r}
		x.know(a.recordKey(f, r.Name, r), a.limits)
		a.recent.keep(x, changes)
	}
}
