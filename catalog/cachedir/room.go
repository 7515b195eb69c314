package cachedir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// diskReserve is the space that stays free on the disk for other files, such as logs and the
// catalog's database.
const diskReserve = 64 << 20

// FullError says that a file cannot be written, even if all unused tables were evicted.
type FullError struct {
	Need   int64 // size of the file to write
	InUse  int64 // bytes of tables in use, and of other files being written
	Budget int64 // maximum size of the folder, in bytes
	Free   int64 // bytes that the disk can take, without diskReserve
	Cause  error // why tables could not be evicted, if an eviction failed
}

func (e *FullError) Error() string {
	text := fmt.Sprintf("no room for a table of %d bytes: %d of the cache's %d are in use, and the disk has %d free",
		e.Need, e.InUse, e.Budget, e.Free)
	if e.Cause != nil {
		text += "; " + e.Cause.Error()
	}
	return text
}

func (e *FullError) Unwrap() error { return e.Cause }

// account is the use of the budget and the disk, without one file being written.
type account struct {
	inUse    int64 // bytes in use or being written, which cannot be evicted
	idle     int64 // bytes that can be evicted
	promised int64 // part of inUse that other files being written have not yet used on the disk
}

// account counts all files but t, which may be nil. The caller holds d.mu.
func (d *Dir) account(t *Temp) account {
	a := account{inUse: d.others}
	for _, e := range d.index {
		if e.holds > 0 || e.missing {
			a.inUse += e.bytes
		} else {
			a.idle += e.bytes
		}
	}
	for other := range d.temps {
		if other != t {
			a.inUse += other.reserved
			a.promised += other.reserved - other.written
		}
	}
	return a
}

// reserve lets t grow to the given size. If necessary it evicts the least recently used tables. It
// evicts nothing if that would not be enough.
func (d *Dir) reserve(t *Temp, to int64) error {
	free, err := d.free()
	if err != nil {
		return err
	}
	if ok, err := d.book(t, to, free, true); ok || err != nil {
		return err
	}
	d.room.Lock()
	defer d.room.Unlock()
	if err := d.scan(); err != nil {
		return err
	}
	d.mu.Lock()
	a := d.account(t)
	possible := to <= d.budget-a.inUse && to-t.written <= free+a.idle-a.promised
	d.mu.Unlock()
	full := &FullError{Need: to, InUse: a.inUse, Budget: d.budget, Free: free}
	if !possible {
		return full
	}
	// An eviction may free less of the disk than the size of the file, because another server may
	// have it open. So the free space is read again each time.
	for idle := d.idle(); ; idle = idle[1:] {
		if full.Free, err = d.free(); err != nil {
			return err
		}
		if ok, err := d.book(t, to, full.Free, false); ok || err != nil {
			return err
		}
		if len(idle) == 0 {
			return full
		}
		if err := d.evict(idle[0]); err != nil {
			full.Cause = err
		}
	}
}

// book makes the reservation if the index shows enough space. If fresh is set, it does so only with
// a recent listing.
func (d *Dir) book(t *Temp, to, free int64, fresh bool) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false, ErrClosed
	}
	if fresh && !d.fresh() {
		return false, nil
	}
	a := d.account(t)
	if to > d.budget-a.inUse-a.idle || to-t.written > free-a.promised {
		return false, nil
	}
	t.reserved = max(t.reserved, to)
	d.temps[t] = struct{}{}
	return true, nil
}

// free returns how many bytes the disk can take. It creates the folder if it was removed.
func (d *Dir) free() (int64, error) {
	free, err := d.fs.Free(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := d.fs.MkdirAll(d.path); err != nil {
			return 0, fmt.Errorf("make the cache folder: %w", err)
		}
		free, err = d.fs.Free(d.path)
	}
	if err != nil {
		return 0, fmt.Errorf("ask for the free space of the cache: %w", err)
	}
	return max(0, free-diskReserve), nil
}

// idle returns the tables that this Dir does not use, the least recently used first.
func (d *Dir) idle() []Key {
	d.mu.Lock()
	defer d.mu.Unlock()
	var keys []Key
	for k, e := range d.index {
		if e.holds == 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b Key) int {
		return cmp.Or(cmp.Compare(d.index[a].used, d.index[b].used), slices.Compare(a[:], b[:]))
	})
	return keys
}

// trim evicts tables until the rest fits in the budget. The caller holds d.room.
func (d *Dir) trim() {
	for _, k := range d.idle() {
		d.mu.Lock()
		a := d.account(nil)
		d.mu.Unlock()
		if a.inUse+a.idle <= d.budget {
			return
		}
		if err := d.evict(k); err != nil {
			d.log.Warn().Err(err).Msg("a table beyond the budget stays")
		}
	}
}

// evict removes a table to free its space, unless a new use began. The caller holds d.room.
func (d *Dir) evict(k Key) error {
	bytes, removed, err := d.remove(k)
	if err != nil {
		return fmt.Errorf("evict a table: %w", err)
	}
	if removed {
		d.mu.Lock()
		d.count.evictions++
		d.count.evicted += bytes
		d.mu.Unlock()
		d.log.Debug().Stringer("table", k).Int64("bytes", bytes).Msg("evicted a table")
	}
	return nil
}

// remove removes a table, unless it is in use or gone. The caller holds d.room.
func (d *Dir) remove(k Key) (bytes int64, removed bool, err error) {
	d.mu.Lock()
	e := d.index[k]
	if e == nil || e.holds > 0 {
		d.mu.Unlock()
		return 0, false, nil
	}
	e.evicting = true
	d.mu.Unlock()

	err = d.fs.Remove(d.tablePath(k))

	d.mu.Lock()
	defer d.mu.Unlock()
	e.evicting = false
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, false, err
	}
	d.lose(k, e)
	return e.bytes, err == nil, nil
}

// Clear removes all tables that this Dir does not use, and returns their number and size. An error
// does not stop it.
func (d *Dir) Clear() (tables int, bytes int64, err error) {
	d.room.Lock()
	defer d.room.Unlock()
	if err := d.scan(); err != nil {
		return 0, 0, err
	}
	var errs []error
	for _, k := range d.idle() {
		n, removed, err := d.remove(k)
		if err != nil {
			errs = append(errs, fmt.Errorf("clear the cache: %w", err))
		}
		if removed {
			tables++
			bytes += n
		}
	}
	return tables, bytes, errors.Join(errs...)
}
