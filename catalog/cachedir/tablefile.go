package cachedir

import (
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
)

// touchInterval is how old the time of use on the disk may be before it is updated.
const touchInterval = time.Minute

// errForeign is the error for a name of a table that is not a regular file. Such a file is left
// alone.
var errForeign = errors.New("not a regular file")

// TableFile is an open file of a table, for reading. This Dir does not evict the file before it is
// released.
//
// Another server may still evict it, and Drop removes it. It then stays readable, and its bytes
// stay on the disk, until it is released.
type TableFile struct {
	files.File
	dir      *Dir
	key      Key
	path     string
	released atomic.Bool
}

// Name returns the path of the file.
func (h *TableFile) Name() string { return h.path }

// Release ends the use and closes the file. Its mappings stay valid. Calls after the first do
// nothing.
func (h *TableFile) Release() { _ = h.Close() } // an error after reading loses nothing

// Close is Release with the error of closing the file.
func (h *TableFile) Close() error {
	if h.released.Swap(true) {
		return nil
	}
	h.dir.unpin(h.key)
	return h.File.Close()
}

// Get opens the file of a key, if there is one, and records the use. It returns an error if the
// name is not that of a regular file.
func (d *Dir) Get(k Key) (*TableFile, bool, error) {
	d.mu.Lock()
	closed := d.closed
	d.mu.Unlock()
	if closed {
		return nil, false, ErrClosed
	}
	h, err := d.hold(k)
	if err != nil {
		return nil, false, fmt.Errorf("open a table of the cache: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if h == nil {
		d.count.misses++
	} else {
		d.count.hits++
	}
	return h, h != nil, nil
}

// hold opens the file of a key. It returns nil if there is no such file.
func (d *Dir) hold(k Key) (*TableFile, error) {
	if !d.pin(k) {
		return nil, nil
	}
	f, info, err := d.openTable(k)
	if err != nil {
		d.mu.Lock()
		if errors.Is(err, fs.ErrNotExist) {
			d.index[k].missing, err = true, nil
		}
		d.mu.Unlock()
		d.unpin(k)
		return nil, err
	}
	d.use(k, info)
	return &TableFile{File: f, dir: d, key: k, path: d.tablePath(k)}, nil
}

// openTable opens the file of a key and checks that it is a regular file.
func (d *Dir) openTable(k Key) (files.File, fs.FileInfo, error) {
	path := d.tablePath(k)
	f, err := d.fs.Open(path)
	if errors.Is(err, syscall.ELOOP) { // a link, which Open does not follow
		return nil, nil, fmt.Errorf("%s is %w", path, errForeign)
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is %w", path, errForeign)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// pin protects the key from eviction, before its file is opened. It returns false if an eviction of
// the key has begun.
func (d *Dir) pin(k Key) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.index[k]
	if e == nil {
		e = &entry{missing: true}
		d.index[k] = e
	}
	if e.evicting {
		return false
	}
	e.holds++
	return true
}

func (d *Dir) unpin(k Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.index[k]
	e.holds--
	if e.missing {
		d.lose(k, e)
	}
}

// use records a use of a file, and updates its time on the disk if that is stale.
func (d *Dir) use(k Key, info fs.FileInfo) {
	d.mu.Lock()
	e := d.index[k]
	e.missing, e.bytes, e.mtime, e.used = false, info.Size(), info.ModTime(), d.tick()
	at := time.Unix(0, e.used)
	d.mu.Unlock()
	if at.Sub(info.ModTime()).Abs() >= touchInterval {
		d.touch(k, at)
	}
}

// Drop removes a damaged table. Files that are open stay readable.
func (d *Dir) Drop(k Key) error {
	d.room.Lock()
	defer d.room.Unlock()
	path := d.tablePath(k)
	info, err := d.fs.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is %w", path, errForeign)
	}
	if err == nil {
		err = d.fs.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop a table of the cache: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.index[k]; e != nil {
		d.lose(k, e)
	}
	return nil
}
