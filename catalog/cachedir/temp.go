package cachedir

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"

	"github.com/vibeflight/vibeflight/catalog/internal/files"
)

// Temp is the file of a table that is being written. Its owner calls Commit or Abort. Several
// goroutines may write.
type Temp struct {
	files.File
	dir *Dir

	sparse int64 // size of a file that is written in any order; 0: the file grows from its start

	// Guarded by dir.mu.
	reserved int64 // maximum size of the file, in bytes
	written  int64 // end of the written bytes, which the disk has already provided
	claimed  int64 // bytes that calls of a sparse file have written or are writing
	ended    bool  // by Commit or Abort
}

// createAttempts is how often create tries again after another server removed its new file.
const createAttempts = 16

// Create creates a temporary file with an expected size of need bytes, and evicts tables to make
// space. It returns a *FullError if there is not enough space.
func (d *Dir) Create(need int64) (*Temp, error) {
	t := &Temp{dir: d}
	if err := d.reserve(t, max(0, need)); err != nil {
		return nil, err
	}
	f, err := d.create()
	if err != nil {
		d.forget(t)
		return nil, err
	}
	d.mu.Lock()
	t.File = f
	closed := d.closed
	d.mu.Unlock()
	if closed {
		return nil, errors.Join(ErrClosed, t.Abort())
	}
	return t, nil
}

// CreateSparse creates a temporary file of the given size, without content. It takes the space of
// what is written to it, in any order and once for each byte. It returns a *FullError if the whole
// file exceeds the budget.
func (d *Dir) CreateSparse(size int64) (*Temp, error) {
	if size > d.budget {
		return nil, &FullError{Need: size, Budget: d.budget}
	}
	t, err := d.Create(0)
	if err != nil {
		return nil, err
	}
	t.sparse = size
	if err := t.File.Truncate(size); err != nil {
		return nil, errors.Join(fmt.Errorf("make a file of the cache: %w", err), t.Abort())
	}
	return t, nil
}

// sparseStep is the unit of the reservations for a sparse file.
const sparseStep = 4 << 20

// writeSparse writes a part of a sparse file.
func (t *Temp) writeSparse(p []byte, off int64) (n int, err error) {
	claim := func(bytes int64) int64 {
		t.dir.mu.Lock()
		defer t.dir.mu.Unlock()
		t.claimed += bytes
		return t.claimed
	}
	need := claim(int64(len(p)))
	err = t.Reserve(min(t.sparse, (need+sparseStep-1)/sparseStep*sparseStep))
	if full := (*FullError)(nil); errors.As(err, &full) {
		err = t.Reserve(need)
	}
	if err == nil {
		n, err = t.File.WriteAt(p, off)
	}
	if n < len(p) {
		claim(int64(n - len(p)))
	}
	t.dir.mu.Lock()
	defer t.dir.mu.Unlock()
	t.written = min(t.reserved, t.written+int64(n))
	return n, err
}

// create creates a temporary file and locks it.
func (d *Dir) create() (files.File, error) {
	for range createAttempts {
		path := d.tempPath(rand.Uint64())
		f, err := d.fs.Create(path)
		if err != nil {
			return nil, fmt.Errorf("make a file of the cache: %w", err)
		}
		mine, err := d.lock(f)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock a file of the cache: %w", err), d.discard(f))
		}
		if mine {
			return f, nil
		}
		_ = f.Close() // the server that locked it removes it
	}
	return nil, fmt.Errorf("make a file of the cache: others removed %d of them", createAttempts)
}

// lock locks a new file. It returns false if sweep, in any server, has already locked or removed
// the file.
func (d *Dir) lock(f files.File) (bool, error) {
	if mine, err := f.Lock(); err != nil || !mine {
		return false, err
	}
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := d.fs.Stat(f.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(info, named), err
}

// Reserve announces that the file will grow to the given size, and evicts tables to make space. It
// returns a *FullError if there is not enough space. Earlier reservations stay valid.
func (t *Temp) Reserve(bytes int64) error {
	t.dir.mu.Lock()
	ended, reserved := t.ended, t.reserved
	t.dir.mu.Unlock()
	if ended {
		return &fs.PathError{Op: "write", Path: t.Name(), Err: fs.ErrClosed}
	}
	if bytes <= reserved {
		return nil
	}
	return t.dir.reserve(t, bytes)
}

// WriteAt writes p at off. It first reserves what exceeds the reservation.
func (t *Temp) WriteAt(p []byte, off int64) (int, error) {
	if t.sparse > 0 {
		return t.writeSparse(p, off)
	}
	if err := t.Reserve(off + int64(len(p))); err != nil {
		return 0, err
	}
	n, err := t.File.WriteAt(p, off)
	t.dir.mu.Lock()
	defer t.dir.mu.Unlock()
	t.written = max(t.written, off+int64(n))
	return n, err
}

// Truncate sets the length of the file. It first reserves what exceeds the reservation.
func (t *Temp) Truncate(size int64) error {
	if err := t.Reserve(size); err != nil {
		return err
	}
	if err := t.File.Truncate(size); err != nil {
		return err
	}
	t.dir.mu.Lock()
	defer t.dir.mu.Unlock()
	t.written = min(t.written, size)
	return nil
}

// Commit makes the file the table of a key and syncs it. It returns the table as Get does; the
// caller releases it. Writes to t end.
//
// If another server has written the table in the meantime, Commit returns that file and removes its
// own. After an error the new file is removed and the folder is unchanged, as far as the disk
// allows. A file that cannot be removed is either a complete table or removed by a later Open.
func (t *Temp) Commit(k Key) (*TableFile, error) {
	if !t.end() {
		return nil, &fs.PathError{Op: "commit", Path: t.Name(), Err: fs.ErrClosed}
	}
	h, mine, err := t.rename(k)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("commit a table: %w", err), t.drop())
	}
	if !mine {
		if err := t.drop(); err != nil {
			t.dir.log.Warn().Err(err).Msg("a file of a table that was already there stays")
		}
	}
	// also for another server's file, whose name may not be synced yet
	err = t.dir.fs.SyncDir(t.dir.path)
	if err == nil {
		return h, nil
	}
	if mine {
		err = errors.Join(err, t.dir.Drop(k))
	}
	return nil, errors.Join(fmt.Errorf("commit a table: %w", err), h.Close())
}

// rename syncs the file and renames it to the name of a table. If a table of this name exists, it
// opens that one instead. Another server may rename its file between the two steps. Its file is
// then replaced by an equal one.
func (t *Temp) rename(k Key) (h *TableFile, mine bool, err error) {
	if err := t.Sync(); err != nil {
		return nil, false, err
	}
	info, err := t.Stat()
	if err != nil {
		return nil, false, err
	}
	d := t.dir
	d.room.Lock()
	defer d.room.Unlock()
	if h, err := d.hold(k); h != nil || err != nil {
		return h, false, err
	}
	if err := d.fs.Rename(t.Name(), d.tablePath(k)); err != nil {
		return nil, false, err
	}
	d.pin(k) // never false while room is locked
	d.use(k, info)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.temps, t)
	d.count.commits++
	return &TableFile{File: t.File, dir: d, key: k, path: d.tablePath(k)}, true, nil
}

// Abort removes the file. After Commit or Abort it does nothing.
func (t *Temp) Abort() error {
	if !t.end() {
		return nil
	}
	return t.drop()
}

// Close is Abort.
func (t *Temp) Close() error { return t.Abort() }

// end reports whether it is the first call that ends the writing.
func (t *Temp) end() bool {
	t.dir.mu.Lock()
	defer t.dir.mu.Unlock()
	first := !t.ended
	t.ended = true
	return first
}

func (t *Temp) drop() error {
	err := t.dir.discard(t.File)
	t.dir.forget(t)
	return err
}

// discard removes a temporary file. The lock is released after the name is gone.
func (d *Dir) discard(f files.File) error {
	err := d.fs.Remove(f.Name())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // the folder was removed
	}
	return errors.Join(err, f.Close())
}

// forget ends a reservation.
func (d *Dir) forget(t *Temp) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t.ended = true
	delete(d.temps, t)
}
