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

// touchInterval is how far the time of use on the disk may lag behind.
const touchInterval = time.Minute

// errForeign says that something has the name of a table and is not one of ours. It is left alone.
var errForeign = errors.New("not a regular file")

// Held is a table's file that somebody uses, which keeps this Dir from evicting it. It is for
// reading.
//
// Another server may evict it nevertheless, and Drop removes it: then it stays readable, and its
// bytes stay on the disk, until it is released.
type Held struct {
	files.File
	dir      *Dir
	key      Key
	path     string
	released atomic.Bool
}

// Name is the path of the file.
func (h *Held) Name() string { return h.path }

// Release ends the use and closes the file; mappings of it stay. More than once is as good as once.
func (h *Held) Release() { _ = h.Close() } // what was only read is not lost by an error here

// Close is Release.
func (h *Held) Close() error {
	if h.released.Swap(true) {
		return nil
	}
	h.dir.unpin(h.key)
	return h.File.Close()
}

// Get opens the file of a key, if there is one, and counts as a use. Something else of that name is
// an error.
func (d *Dir) Get(k Key) (*Held, bool, error) {
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

// hold opens the file of a key, or gives nil if there is none.
func (d *Dir) hold(k Key) (*Held, error) {
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
	return &Held{File: f, dir: d, key: k, path: d.tablePath(k)}, nil
}

// openTable opens the file of a key and makes sure that it is a file.
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

// pin keeps whatever there is of a key from being evicted, before it is opened. It gives false if
// it is being evicted already.
func (d *Dir) pin(k Key) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.index[k]
	if e == nil {
		e = &entry{missing: true}
		d.index[k] = e
	}
	if e.going {
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

// use notes a use of a file as it was found, on the disk too if the time there is stale.
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

// Drop removes the table of a key, because it is damaged. Whoever holds it can still read it.
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
