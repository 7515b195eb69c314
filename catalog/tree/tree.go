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
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/internal/nearest"
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
	cfg    Config
	mounts []*Mount
	watch  *watch
	index  atomic.Pointer[index]

	ctx  context.Context // canceled by Close
	stop context.CancelFunc

	scanMu     sync.Mutex // held by the walk under way; guards folders, unreadable, collided
	folders    folders
	unreadable map[place]bool  // folders that were logged, each once
	collided   map[string]bool // names that were logged

	indexMu sync.Mutex           // serializes changes of index; guards layers
	layers  map[string]layerList // by Entry.Location

	scans    atomic.Int64
	scanTime atomic.Int64 // of the last walk over all folders, in nanoseconds
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
	if err = errors.Join(err, collision); err != nil {
		_ = t.Close()
		return nil, err
	}
	t.watch.start()
	for _, m := range t.mounts {
		if m.store != nil {
			t.watch.wg.Go(func() { t.followStore(t.ctx, m) })
		}
	}
	return t, nil
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

// List returns the entries whose names begin with prefix, sorted by name, as of the last walk. It
// reads no file. The slice is shared and must not be modified.
func (t *Tree) List(prefix string) []*Entry { return t.index.Load().from(prefix) }

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
func (t *Tree) NotFound(name string) error { return t.NotFoundAmong(name, t.index.Load().names) }

// NotFoundAmong is NotFound where only the given names exist. They are sorted.
func (t *Tree) NotFoundAmong(name string, names []string) error {
	return &NotFoundError{Name: name, Closest: nearest.Paths(name, names, 3)}
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
		Entries: len(t.index.Load().names), Scans: t.scans.Load(),
		ScanTime: time.Duration(t.scanTime.Load()), Unwatched: t.watch.unwatched(),
	}
}

// rescan reads all folders.
func (t *Tree) rescan(ctx context.Context, collide func(first, second Entry)) error {
	t.scanMu.Lock()
	defer t.scanMu.Unlock()
	begin := time.Now()
	all := folders{}
	for _, m := range t.mounts {
		if m.store != nil {
			m.store.add(all, m)
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

// publish replaces the index, and reports the files that changed or were removed.
func (t *Tree) publish(all folders, whole bool, collide func(first, second Entry)) {
	t.folders = all
	t.watch.follow(all, whole)
	x := t.indexOf(all, collide)
	t.indexMu.Lock()
	t.expand(x)
	old := t.index.Swap(x)
	t.indexMu.Unlock()
	for name, e := range old.files {
		now, ok := x.files[name]
		if !ok {
			t.cfg.Removed(name)
		} else if now.Identity != e.Identity {
			t.cfg.Changed(name, now.Identity)
		}
	}
}

func (t *Tree) logCollision(first, second Entry) {
	if !t.collided[second.Path] {
		t.collided[second.Path] = true
		t.cfg.Log.Warn().Str("name", first.Name).Str("served", first.Path).Str("hidden", second.Path).
			Msg("two entries have this name; the first one is served")
	}
}
