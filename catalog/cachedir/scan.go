package cachedir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/vibeflight/vibeflight/internal/system"
)

// scanInterval is the maximum age of a listing that a reservation relies on.
const scanInterval = 3 * time.Second

// fresh reports whether the index is recent enough for a reservation or for Stats. The caller holds
// d.mu.
func (d *Dir) fresh() bool {
	age := d.now().Sub(d.listed)
	return age >= 0 && age <= scanInterval
}

// file is a table in a listing.
type file struct {
	key   Key
	bytes int64
	mtime time.Time
}

// scan lists the folder, removes temporary files whose writers died, and updates the index. The
// caller holds d.room.
func (d *Dir) scan() error {
	at := d.now()
	names, err := d.fs.ReadDir(d.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a folder that was removed has no files
		return fmt.Errorf("list the cache folder: %w", err)
	}
	var tables []file
	var others int64
	for _, name := range names {
		key, isTable := tableKey(name.Name())
		if !name.Type().IsRegular() || !isTable && !isTemp(name.Name()) {
			continue
		}
		info, err := name.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed after the listing
		case err != nil:
			return fmt.Errorf("list the cache folder: %w", err)
		case isTable:
			tables = append(tables, file{key, info.Size(), info.ModTime()})
		case !d.owns(name.Name()) && !d.sweep(name.Name()):
			others += bytesOnDisk(info)
		}
	}
	for _, f := range d.merge(tables, others, at) {
		d.touch(f.key, f.mtime)
	}
	return nil
}

// bytesOnDisk returns the bytes that a file takes on the disk, at most its size: a file that is
// fetched in parts has holes.
func bytesOnDisk(info fs.FileInfo) int64 {
	if st, ok := system.StatOf(info); ok {
		return min(info.Size(), st.Allocated)
	}
	return info.Size()
}

// owns reports whether this Dir writes the temporary file.
func (d *Dir) owns(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for t := range d.temps {
		if t.File != nil && t.Name() == filepath.Join(d.path, name) {
			return true
		}
	}
	return false
}

// sweep removes a temporary file that is not locked, and reports whether it is gone.
//
// Its writer may have created it and not locked it yet. That writer then finds it locked or gone,
// and creates another one: see Dir.create.
func (d *Dir) sweep(name string) bool {
	path := filepath.Join(d.path, name)
	f, err := d.fs.Open(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	if mine, err := f.Lock(); err != nil || !mine {
		return false
	}
	if err := d.fs.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.log.Warn().Err(err).Msg("a temporary file of a writer that died stays")
		return false
	}
	d.log.Debug().Str("file", name).Msg("removed a temporary file of a writer that died")
	return true
}

// merge updates the index from a listing.
//
// A changed modification time is a use by another server, or by an earlier process. A time in the
// future counts as now. merge returns these files with the time to set on the disk, so that they do
// not count as now at every start.
func (d *Dir) merge(tables []file, others int64, at time.Time) (future []file) {
	slices.SortFunc(tables, func(a, b file) int { // keeps the order of files from the future
		return cmp.Or(a.mtime.Compare(b.mtime), slices.Compare(a.key[:], b.key[:]))
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	latest := max(d.lastTick, d.now().UnixNano())
	present := make(map[Key]bool, len(tables))
	for _, f := range tables {
		present[f.key] = true
		e := d.index[f.key]
		if e == nil {
			e = &entry{}
			d.index[f.key] = e
		}
		e.missing, e.bytes = false, f.bytes
		if f.mtime.Equal(e.mtime) {
			continue
		}
		e.mtime = f.mtime
		if f.mtime.After(time.Unix(0, latest)) {
			e.used = d.tick()
			future = append(future, file{key: f.key, mtime: time.Unix(0, e.used)})
		} else {
			e.used = max(e.used, f.mtime.UnixNano())
		}
	}
	for k, e := range d.index {
		if !present[k] {
			d.lose(k, e)
		}
	}
	d.others, d.listed = others, at
	return future
}

// lose records that the file of the key is gone. Its bytes stay on the disk while a TableFile uses
// it. The caller holds d.mu.
func (d *Dir) lose(k Key, e *entry) {
	e.missing = true
	if e.holds == 0 {
		delete(d.index, k)
	}
}

// touch writes a time of use to the disk. An error is harmless: it only changes the order of
// eviction after a restart.
func (d *Dir) touch(k Key, at time.Time) {
	if err := d.fs.Touch(d.tablePath(k), at); err != nil {
		d.log.Debug().Err(err).Msg("the time of a use is not kept")
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.index[k]; e != nil {
		e.mtime = at
	}
}
