package tree

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// debounce is how long the watch gathers events before it looks: editors and copies come with
	// several.
	debounce = 50 * time.Millisecond
	// longestRest is between two looks at what changes all the time: with it and the look itself, a
	// change in a folder of 100,000 files is seen within 2 s.
	longestRest = time.Second
	// maxPending is how many changed folders are remembered one by one; with more, all folders are
	// read.
	maxPending = 10_000
)

// watch decides which folders the tree reads again. It watches each folder once, under one of its
// paths, whatever the number of links to it. Changes that inotify does not report are found by
// reading all folders every Config.Rescan.
type watch struct {
	tree *Tree
	fs   *fsnotify.Watcher // nil: inotify is not available
	wg   sync.WaitGroup

	wake chan struct{}

	mu       sync.Mutex // not held during calls of fs, which may wait for its events to be taken
	paths    map[folderID]string
	ids      map[string]folderID
	places   map[folderID][]place
	reported map[string]bool // paths with an event
	suspects map[place]bool
	full     bool
	warned   bool
	missing  int // folders that are not watched
}

func newWatch(t *Tree) *watch {
	w := &watch{
		tree: t, wake: make(chan struct{}, 1), paths: map[folderID]string{}, ids: map[string]folderID{},
		reported: map[string]bool{}, suspects: map[place]bool{},
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		w.warn(err)
		return w
	}
	w.fs = watcher
	w.wg.Go(w.listen)
	return w
}

func (w *watch) start() { w.wg.Go(func() { w.run(w.tree.ctx) }) }

// close waits for the watch to end; the tree's context has ended.
func (w *watch) close() error {
	var err error
	if w.fs != nil {
		err = w.fs.Close()
	}
	w.wg.Wait()
	return err
}

// listen receives the events of fsnotify without ever waiting for a walk.
func (w *watch) listen() {
	events, errs := w.fs.Events, w.fs.Errors
	for events != nil || errs != nil {
		select {
		case ev, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			if ev.Name == "" {
				continue
			}
			w.mu.Lock()
			w.reported[filepath.Dir(ev.Name)] = true
			w.reported[ev.Name] = true
			if ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename) {
				w.forget(ev.Name) // the watch of a folder that went ends by itself
			}
			w.full = w.full || len(w.reported) > maxPending
			w.mu.Unlock()
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				w.tree.cfg.Log.Warn().Err(err).Msg("watch of the data folders: reading all of them")
			}
			w.mu.Lock()
			w.full = true
			w.mu.Unlock()
		}
		w.signal()
	}
}

// forget drops a watched path; w.mu is held. Its places are read again, which watches them anew.
func (w *watch) forget(path string) {
	id, ok := w.ids[path]
	if !ok {
		return
	}
	delete(w.ids, path)
	delete(w.paths, id)
	for _, p := range w.places[id] {
		w.suspects[p] = true
	}
}

// suspect has a folder read again.
func (w *watch) suspect(p place) {
	if p.mount.store != nil {
		p.mount.store.suspect()
		return
	}
	w.mu.Lock()
	w.suspects[p] = true
	w.mu.Unlock()
	w.signal()
}

func (w *watch) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run reads what changed until ctx ends. It rests ten times as long as a look took, but not longer
// than longestRest, so that a busy folder costs a tenth of a core, unless it is a very large one.
func (w *watch) run(ctx context.Context) {
	poll := time.NewTimer(w.tree.cfg.Rescan)
	defer poll.Stop()
	rest := debounce
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
			w.mu.Lock()
			w.full = true
			w.mu.Unlock()
		case <-w.wake:
			if !sleep(ctx, rest) {
				return
			}
		}
		begin := time.Now()
		all, places := w.take()
		var err error
		if all {
			err = w.tree.rescan(ctx, w.tree.logCollision)
		} else if len(places) > 0 {
			err = w.tree.renewAll(ctx, places)
		}
		if err != nil && ctx.Err() == nil {
			w.tree.cfg.Log.Warn().Err(err).Msg(
				"look at the data folders; the list of entries stays as it was until the next look",
			)
		}
		took := time.Since(begin)
		rest = min(max(debounce, 10*took), longestRest)
		if all {
			poll.Reset(max(w.tree.cfg.Rescan, 20*took))
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// take gives what is to be read, and forgets it.
func (w *watch) take() (all bool, places map[place]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, places = w.full, w.suspects
	for path := range w.reported {
		for _, p := range w.places[w.ids[path]] {
			places[p] = true
		}
	}
	w.full, w.suspects, w.reported = false, map[place]bool{}, map[string]bool{}
	return all, places
}

// add watches a folder unless it is watched already.
func (w *watch) add(id folderID, path string) {
	if w.fs == nil {
		return
	}
	w.mu.Lock()
	_, watched := w.paths[id]
	other, taken := w.ids[path]
	if !watched && taken {
		delete(w.ids, path)
		delete(w.paths, other)
	}
	w.mu.Unlock()
	if watched {
		return
	}
	if taken {
		_ = w.fs.Remove(path) // another folder was there; it is gone, or follow finds its new path
	}
	if err := w.fs.Add(path); err != nil {
		if !errors.Is(err, fs.ErrNotExist) && w.tree.ctx.Err() == nil {
			w.warn(err)
		}
		return
	}
	w.mu.Lock()
	w.paths[id], w.ids[path] = path, id
	w.mu.Unlock()
}

// warn says once that not everything is watched.
func (w *watch) warn(err error) {
	w.mu.Lock()
	first := !w.warned
	w.warned = true
	w.mu.Unlock()
	if first {
		w.tree.cfg.Log.Warn().Err(err).Dur("every", w.tree.cfg.Rescan).
			Msg("some data folders can't be watched and are looked at every so often instead; see " +
				"fs.inotify.max_user_watches")
	}
}

// follow makes the watches those of the folders of t: folders that went are no longer watched,
// folders that moved are watched under a path that they have. After a look at all folders, watches
// that fsnotify lost are forgotten too, so that the next look sets them again.
func (w *watch) follow(all folders, whole bool) {
	places := map[folderID][]place{}
	for p, f := range all {
		if p.mount.store != nil {
			continue
		}
		places[f.id] = append(places[f.id], p)
	}
	var have []string
	if whole && w.fs != nil {
		have = w.fs.WatchList()
		slices.Sort(have)
	}
	var gone []string
	w.mu.Lock()
	w.places = places
	for id, path := range w.paths {
		if _, listed := slices.BinarySearch(have, path); whole && !listed {
			w.forget(path)
			continue
		}
		if slices.ContainsFunc(places[id], func(p place) bool { return p.mount.path(p.rel) == path }) {
			continue
		}
		gone = append(gone, path)
		w.forget(path)
	}
	w.missing = 0
	for id := range places {
		if _, ok := w.paths[id]; !ok {
			w.missing++
		}
	}
	again := len(w.suspects) > 0
	w.mu.Unlock()
	for _, path := range gone {
		_ = w.fs.Remove(path)
	}
	if again {
		w.signal()
	}
}

// unwatched is how many folders only the looks at all folders follow.
func (w *watch) unwatched() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.missing
}
