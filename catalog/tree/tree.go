// Package tree lists the data files below some root folders and follows their changes.
//
// The name of a file is its path relative to its root, separated by '/', after the root's alias.
// '#', '%' and bytes that are not UTF-8 are written as %XX. Hidden files and folders have no name.
// Neither has a file that only a symbolic link out of its root leads to.
//
// The tree follows its roots by inotify. Because inotify misses network file systems and is limited
// in number, the tree also reads all folders at an interval. Lookup always examines the file
// itself, so its answer never depends on either.
package tree

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/nearest"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Config configures a Tree. Roots, Formats and Rescan are required.
type Config struct {
	Roots   []Root
	Formats readers.Registry
	Options func(name string) map[string]any // the operator's options for a file; may be nil
	Rescan  time.Duration                    // between two readings of all folders
	Log     zerolog.Logger
	Store   OpenStore // of roots with a URL; nil: there are none

	Datasets []Dataset // many files that are one table each

	// Layers reports the layers of files that an earlier process has parsed, by Entry.Location; may
	// be nil.
	Layers func(ctx context.Context, each func(location string, id source.Identity, layers []string)) error
	// Changed is called with the current identity of a file that has changed.
	Changed func(name string, now source.Identity)
	// Removed is called with the name of a file that no longer exists.
	Removed func(name string)
}

// ErrClosed is the error of a catalog that was closed.
var ErrClosed = errors.New("the catalog is closed")

// Tree is the list of data files below some roots. It is safe for concurrent use.
type Tree struct {
	cfg     Config
	formats []string // their names, in the order of cfg.Formats
	mounts  []*Mount
	watch   *watch
	index   atomic.Pointer[index]

	ctx  context.Context // canceled by Close
	stop context.CancelFunc

	scanMu     sync.Mutex // held by the walk under way; guards folders, unreadable, collided
	folders    folders
	unreadable map[place]bool  // folders that were logged, each once
	collided   map[string]bool // names that were logged

	indexMu sync.Mutex           // serializes changes of index; guards layers
	layers  map[string]layerList // by Entry.Location

	scans     atomic.Int64
	scanTime  atomic.Int64 // of the last walk over all folders, in nanoseconds
	scanBegan atomic.Int64 // of the walk under way, Unix time in nanoseconds; 0: none
}

// Open lists the files below the roots and begins to follow them. Two files of the same name below
// different roots are an error. The caller closes the tree; ctx bounds Open alone.
func Open(ctx context.Context, cfg Config) (*Tree, error) {
	mounts, err := openMounts(ctx, cfg.Roots, cfg.Store)
	if err != nil {
		return nil, err
	}
	t := &Tree{
		cfg: cfg, mounts: mounts, folders: folders{}, unreadable: map[place]bool{},
		collided: map[string]bool{}, layers: map[string]layerList{},
	}
	for _, f := range cfg.Formats {
		t.formats = append(t.formats, f.Name)
	}
	t.index.Store(&index{})
	t.ctx, t.stop = context.WithCancel(context.Background())
	t.recall(ctx)
	t.watch = newWatch(t)
	var collision error
	if err = t.listStores(ctx); err != nil {
		_ = t.Close()
		return nil, err
	}
	err = t.rescan(ctx, func(first, second Entry) {
		if collision == nil {
			collision = fmt.Errorf("two of the roots and datasets have an entry %q: %s and %s: "+
				"give a root an alias (ALIAS=DIR)", first.Name, first.Path, second.Path)
		}
	})
	if err = errors.Join(err, collision, t.lonely()); err != nil {
		_ = t.Close()
		return nil, err
	}
	t.watch.start()
	for _, m := range t.mounts {
		if m.store != nil && !m.NamedOnly {
			t.watch.wg.Go(func() { t.followStore(t.ctx, m) })
		}
	}
	return t, nil
}

// lonely returns an error for a root of one file that is no entry.
func (t *Tree) lonely() error {
	x := t.index.Load()
	for i, m := range t.mounts {
		if m.Only != "" && x.listing(i).entries == 0 {
			return fmt.Errorf("%s: no file of a known format, or a part of another file, or a link out of its folder",
				m.path(m.Only))
		}
	}
	return nil
}

// Close ends the watch and closes the roots.
func (t *Tree) Close() error {
	t.stop()
	err := t.watch.close()
	for _, m := range t.mounts {
		m.close()
	}
	return err
}

// StopInotify stops the watch, as if inotify were not available. The folders are still read at the
// interval.
func (t *Tree) StopInotify() error {
	if t.watch.fs == nil {
		return nil
	}
	return t.watch.fs.Close()
}

// Mounts returns the open roots in the order of Config.Roots.
func (t *Tree) Mounts() []*Mount { return t.mounts }

// Entries returns the entries whose names begin with prefix, sorted by name, as of the last walk. It
// reads no file. Each entry is made when the loop comes to it.
func (t *Tree) Entries(prefix string) iter.Seq[*Entry] { return t.index.Load().from(prefix) }

// Count returns the number of entries, and how often they have changed.
func (t *Tree) Count() (n int, changes uint64) {
	x := t.index.Load()
	return x.count(), x.number
}

// setIndex replaces the index; t.indexMu is held.
func (t *Tree) setIndex(x *index) {
	x.number = t.index.Load().number + 1
	t.index.Store(x)
}

// Refresh reads all folders, and lists all stores, now.
func (t *Tree) Refresh(ctx context.Context) error {
	if t.ctx.Err() != nil {
		return ErrClosed
	}
	if err := t.listStores(ctx); err != nil {
		return err
	}
	return t.rescan(ctx, t.logCollision)
}

// NotFound returns the error for a name that no entry has.
func (t *Tree) NotFound(name string) error {
	return t.NotFoundAmong(name, func(string) bool { return true })
}

// NotFoundAmong is NotFound where only some names exist.
func (t *Tree) NotFoundAmong(name string, exists func(name string) bool) error {
	near := t.index.Load().neighbors(name, nearest.MaxCompared, exists)
	return &NotFoundError{Name: name, Closest: nearest.Paths(name, near, 3)}
}

// Stats are the numbers of a Tree since Open.
type Stats struct {
	Roots, Entries int
	Scans          int64         // walks over all folders
	ScanTime       time.Duration // of the last one
	Unwatched      int           // folders that inotify does not watch
	Layered        int           // files whose layers are known
	Stores         []StoreStats  // of the roots in stores
}

// Stats returns the current numbers.
func (t *Tree) Stats() Stats {
	t.indexMu.Lock()
	layered := len(t.layers)
	t.indexMu.Unlock()
	var stores []StoreStats
	for _, m := range t.mounts {
		if m.store != nil {
			stores = append(stores, StoreStats{m.place(), m.store.root.Stats()})
		}
	}
	return Stats{
		Layered: layered, Stores: stores, Roots: len(t.mounts),
		Entries: t.index.Load().count(), Scans: t.scans.Load(),
		ScanTime: time.Duration(t.scanTime.Load()), Unwatched: t.watch.unwatched(),
	}
}

// Scanning returns how long the walk in progress has taken; 0 between walks.
func (t *Tree) Scanning() time.Duration {
	if began := t.scanBegan.Load(); began != 0 {
		return max(1, time.Since(time.Unix(0, began)))
	}
	return 0
}

// rescan reads all folders.
func (t *Tree) rescan(ctx context.Context, collide func(first, second Entry)) error {
	t.scanMu.Lock()
	defer t.scanMu.Unlock()
	begin := time.Now()
	t.scanBegan.Store(begin.UnixNano())
	defer t.scanBegan.Store(0)
	all := folders{}
	for _, m := range t.mounts {
		if m.store != nil || m.NamedOnly {
			continue
		}
		if err := t.walk(ctx, all, t.folders, place{m, "."}, nil, 0); err != nil {
			return err
		}
	}
	t.publish(all, true, collide)
	t.scans.Add(1)
	t.scanTime.Store(int64(time.Since(begin)))
	return nil
}

// renewAll reads the folders at places, and the folders with links to files, because a change of
// the linked file does not show in them.
func (t *Tree) renewAll(ctx context.Context, places map[place]bool) error {
	t.scanMu.Lock()
	defer t.scanMu.Unlock()
	t.scanBegan.Store(time.Now().UnixNano())
	defer t.scanBegan.Store(0)
	for p, f := range t.folders {
		if f.hasLinks {
			places[p] = true
		}
	}
	for p := range places {
		if err := t.renew(ctx, t.folders, p); err != nil {
			return err
		}
	}
	t.publish(t.folders, false, t.logCollision)
	return nil
}

// Relist reads the folders on the way to a file of a root, so that List has the file, or no longer
// has it.
func (t *Tree) Relist(ctx context.Context, m *Mount, rel string) error {
	places := map[place]bool{}
	for at := parent(rel); ; at = parent(at) {
		places[place{m, at}] = true
		if at == "." {
			return t.renewAll(ctx, places)
		}
	}
}

// publish replaces the folders, and the index.
func (t *Tree) publish(all folders, whole bool, collide func(first, second Entry)) {
	t.folders = all
	t.watch.follow(all, whole)
	old := t.index.Load()
	listings := make([]*listing, len(t.mounts))
	for i, m := range t.mounts {
		if m.store != nil {
			listings[i] = m.store.listing.Load()
		} else {
			listings[i] = t.listingOf(m, all, old.listing(i))
		}
	}
	t.publishIndex(old, listings, collide)
}

// publishStore replaces the listing of a root in a store in the index.
func (t *Tree) publishStore(m *Mount) {
	t.scanMu.Lock()
	defer t.scanMu.Unlock()
	old := t.index.Load()
	listings := slices.Clone(old.listings)
	listings[slices.Index(t.mounts, m)] = m.store.listing.Load()
	t.publishIndex(old, listings, t.logCollision)
}

// publishIndex replaces the index unless the listings are the old ones, and reports the entries that
// changed or were removed.
func (t *Tree) publishIndex(old *index, listings []*listing, collide func(first, second Entry)) {
	if slices.Equal(old.listings, listings) {
		return
	}
	x := t.indexOf(listings, collide)
	t.indexMu.Lock()
	t.expand(x)
	t.setIndex(x)
	t.indexMu.Unlock()
	report := func(name string) {
		was, ok := old.find(name)
		if !ok {
			return
		}
		if now, ok := x.find(name); !ok {
			t.cfg.Removed(name)
		} else if now.Identity != was.Identity {
			t.cfg.Changed(name, now.Identity)
		}
	}
	for i, l := range old.listings {
		l.differ(listings[i], func(name string) { report(t.mounts[i].head() + name) })
	}
	for name := range old.datasets {
		report(name)
	}
}

// listingOf returns the listing of a folder of this host.
func (t *Tree) listingOf(m *Mount, all folders, old *listing) *listing {
	type found struct {
		name, base string
		folder     *folder
	}
	var files []found
	for p, f := range all {
		if p.mount != m {
			continue
		}
		for base, file := range f.files {
			rel := path.Join(p.rel, base)
			if file.format != "" && !file.sibling && len(rel) <= MaxNameBytes { // else Rel refuses it
				files = append(files, found{escape(rel), base, f})
			}
		}
	}
	slices.SortFunc(files, func(a, b found) int { return strings.Compare(a.name, b.name) })
	b := t.newBuilder(old)
	for i := range files {
		b.add(files[i].name, files[i].folder.files[files[i].base])
	}
	return b.finish()
}

func (t *Tree) logCollision(first, second Entry) {
	if !t.collided[second.Path] {
		t.collided[second.Path] = true
		t.cfg.Log.Warn().Str("name", first.Name).Str("served", first.Path).Str("hidden", second.Path).
			Msg("two entries have this name; the first one is served")
	}
}
