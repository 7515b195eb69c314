package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vibeflight/vibeflight/readers/remote"
	"github.com/vibeflight/vibeflight/readers/source"
)

// A root in an object store, or on a web server, is listed as a whole: once in Open, then at an
// interval, and when Lookup sees a file that the list does not have. No object is read for a list,
// so that files whose name does not tell their format are not listed; Lookup finds them.

// DefaultStoreRefresh is the default of Root.Refresh.
const DefaultStoreRefresh = time.Minute

// storeRoot is a root in a store.
type storeRoot struct {
	root  *remote.Root
	every time.Duration
	wake  chan struct{}

	mu      sync.Mutex // held by the list under way
	listing atomic.Pointer[listing]
	stats   recentStats
}

// StoreStats are the numbers of a root in a store.
type StoreStats struct {
	Root string `json:"root"` // its URL, without user, password and options
	remote.Stats
}

func newStoreRoot(r *remote.Root, every time.Duration) *storeRoot {
	if every <= 0 {
		every = DefaultStoreRefresh
	}
	s := &storeRoot{root: r, every: every, wake: make(chan struct{}, 1)}
	s.listing.Store(&listing{})
	return s
}

// suspect has the store listed again soon.
func (s *storeRoot) suspect() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// listed returns the object of a key, as of the last list.
func (s *storeRoot) listed(key string) (remote.Object, bool) {
	f, ok := s.listing.Load().find(escape(key))
	return f.object(key), ok
}

func (f file) object(key string) remote.Object {
	return remote.Object{Key: key, Size: f.identity.Size, Modified: f.modified, Version: f.identity.Object}
}

// fileOf returns what a list tells about an object.
func fileOf(o remote.Object) file {
	id := source.Identity{Size: o.Size, Object: o.Version}
	if o.Version == "date" {
		id.Mtime = o.Modified.UnixNano()
	}
	return file{identity: id, modified: o.Modified}
}

// list lists the store of a mount. Objects come sorted by key from most stores; those that do not
// are kept until the end.
func (t *Tree) list(ctx context.Context, m *Mount) error {
	s := m.store
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.listing.Load()
	b := t.newBuilder(old)
	var late []namedFile
	garbage := newGarbage()
	err := s.root.List(ctx, "", func(o remote.Object) error {
		garbage.collect()
		name := escape(o.Key)
		if _, ok := m.Rel(m.head() + name); !ok {
			return nil // hidden, or not a path
		}
		f := fileOf(o)
		f.format = t.formatOfName(m.name(o.Key), o.Key)
		if name < b.last() {
			late = append(late, namedFile{name, f})
		} else {
			b.addObject(name, o.Key, f)
		}
		return nil
	})
	if err != nil {
		return err
	}
	l := b.finish()
	if len(late) > 0 {
		l = t.mix(old, l, late)
	}
	s.listing.Store(l)
	return nil
}

// mix returns a listing with more files. Of two with the same name, the last one counts.
func (t *Tree) mix(old, l *listing, late []namedFile) *listing {
	slices.SortStableFunc(late, func(a, b namedFile) int { return strings.Compare(a.name, b.name) })
	b := t.newBuilder(old)
	add := func(name string, f file) {
		rel, _ := unescape(name)
		f.identity, f.sibling = f.identity.With(nil), false
		b.addObject(name, rel, f)
	}
	for c := newCursor(nil, l, spot{}); c.valid; c.step() {
		for len(late) > 0 && late[0].name < c.name {
			add(late[0].name, late[0].file)
			late = late[1:]
		}
		add(c.name, c.file())
	}
	for _, f := range late {
		add(f.name, f.file)
	}
	return b.finish()
}

// formatOfName returns the format of a file by its name, or by the operator's options for it.
func (t *Tree) formatOfName(name, rel string) string {
	if named := t.formatOfOptions(name); named != "" {
		return named
	}
	f, ok, _ := t.cfg.Formats.OfName(rel)
	if !ok {
		return ""
	}
	return f.Name
}

// listStores lists all stores, and then publishes what they have.
func (t *Tree) listStores(ctx context.Context) error {
	var errs []error
	for _, m := range t.mounts {
		if m.store != nil && !m.NamedOnly {
			errs = append(errs, t.list(ctx, m))
		}
	}
	return errors.Join(errs...)
}

// followStore lists the store of a mount at its interval until ctx ends.
func (t *Tree) followStore(ctx context.Context, m *Mount) {
	s := m.store
	poll := time.NewTimer(s.every)
	defer poll.Stop()
	rest := debounce
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		case <-s.wake:
			if !sleep(ctx, rest) {
				return
			}
		}
		begin := time.Now()
		err := t.list(ctx, m)
		took := time.Since(begin)
		rest = max(longestRest, 10*took)
		poll.Reset(max(s.every, 10*took))
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			t.cfg.Log.Warn().Err(err).Str("root", m.path(".")).Msg("the list of the store stays as it was")
			continue
		}
		t.publishStore(m)
	}
}

// examineObject makes the entry at rel of a store from the object as it is now. known is the entry
// in the index, if any.
func (t *Tree) examineObject(ctx context.Context, m *Mount, rel string, known Entry) (Entry, error) {
	ctx, end := t.whileOpen(ctx)
	defer end()
	s := m.store
	if _, listed := s.listed(rel); !listed && known.mount == m {
		known = Entry{}
	}
	o, err := s.stats.stat(ctx, s.root, rel)
	if err != nil {
		return Entry{}, err
	}
	f := fileOf(o)
	if f.format, f.tables = known.Format, known.tables; known.mount != m || known.Identity.With(nil) != f.identity {
		if err := t.recognizeObject(ctx, &f, m, rel, o); err != nil {
			return Entry{}, err
		}
	}
	if f.format == "" {
		return Entry{}, fmt.Errorf("%s: not a known format: %w", rel, fs.ErrNotExist)
	}
	return t.objectWithSiblings(m, rel, f)
}

// whileOpen returns a context that also ends when the tree is closed. The caller calls end.
func (t *Tree) whileOpen(ctx context.Context) (both context.Context, end func()) {
	both, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(t.ctx, cancel)
	return both, func() {
		stop()
		cancel()
	}
}

// recognizeObject is recognize for an object.
func (t *Tree) recognizeObject(ctx context.Context, f *file, m *Mount, rel string, o remote.Object) error {
	f.tables = nil
	if f.format = t.formatOfOptions(m.name(rel)); f.format != "" {
		return nil
	}
	return t.inspect(f, rel, func() (*source.File, error) {
		return source.OpenFrom(m.folder(ctx, parent(rel), o), rel, path.Base(rel))
	})
}

// objectWithSiblings is withSiblings for an object. Siblings are those of the last list.
func (t *Tree) objectWithSiblings(m *Mount, rel string, f file) (Entry, error) {
	for _, main := range t.cfg.Formats.MainsOf(rel) {
		if _, ok := m.store.listed(main); ok {
			return Entry{}, fmt.Errorf("%s: belongs to %s: %w", rel, main, fs.ErrNotExist)
		}
	}
	if format, _ := t.cfg.Formats.ByName(f.format); len(format.Siblings) > 0 {
		f.identity = f.identity.With(m.store.listing.Load().siblingsOf(rel, format.Siblings))
	}
	return m.entry(rel, f), nil
}

// folder returns a folder of the store, in which object main has the given version and the others
// have that of the last list. Reads end with ctx.
func (m *Mount) folder(ctx context.Context, rel string, main remote.Object) source.Folder {
	return remote.Folder{
		Context: ctx, Root: m.store.root, Dir: rel,
		Listed: func(key string) (remote.Object, bool) {
			if key == main.Key {
				return main, true
			}
			return m.store.listed(key)
		},
	}
}

// statAge is how long the description of an object is used again: the calls of one client follow
// each other.
const statAge = time.Second

// recentStats are the descriptions of objects that were looked up last.
type recentStats struct {
	mu     sync.Mutex
	recent map[string]recentStat
}

type recentStat struct {
	at     time.Time
	object remote.Object
	err    error
}

// maxRecentStats bounds the descriptions that are kept.
const maxRecentStats = 4096

func (r *recentStats) stat(ctx context.Context, root *remote.Root, key string) (remote.Object, error) {
	r.mu.Lock()
	known, ok := r.recent[key]
	r.mu.Unlock()
	if ok && time.Since(known.at) < statAge {
		return known.object, known.err
	}
	o, err := root.Stat(ctx, key)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.recent == nil || len(r.recent) >= maxRecentStats {
		r.recent = map[string]recentStat{}
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		r.recent[key] = recentStat{time.Now(), o, err}
	} else {
		delete(r.recent, key)
	}
	return o, err
}

// forget drops the description of an object that turned out to have changed.
func (r *recentStats) forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.recent, key)
}

// SuspectMember is Suspect for a file of a dataset, whose version is that of the last list. The store
// is listed again soon.
func (t *Tree) SuspectMember(e *Entry) {
	if e.mount == nil || e.mount.store == nil {
		return
	}
	e.mount.store.stats.forget(e.rel)
	e.mount.store.suspect()
}

// Suspect is called when the file of an entry turned out to have changed. The next Lookup sees the
// present version, and that of its siblings.
func (t *Tree) Suspect(ctx context.Context, e Entry) error {
	if e.mount == nil || e.mount.store == nil {
		return nil
	}
	s := e.mount.store
	s.stats.forget(e.rel)
	if format, _ := t.cfg.Formats.ByName(e.Format); len(format.Siblings) > 0 && !e.mount.NamedOnly {
		return t.list(ctx, e.mount)
	}
	s.suspect()
	return nil
}
