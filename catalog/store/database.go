package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
)

const (
	busyTimeout = 5 * time.Second // how long a writer waits for one of another process
	// of one text or blob: what a damaged length can make us allocate, and the largest that Put
	// takes
	maxValueBytes = 64 << 20
	readers       = 2 // connections for Get, All and Prune, each some MiB of memory
)

// database is one open database file, of the current version.
//
// Writes go through a connection of their own, so that they queue here and not in SQLite's busy
// handler, and so that a Get does not wait for the fsync of a checkpoint.
type database struct {
	path  string
	file  fs.FileInfo // of the file when it was opened
	write *sql.DB
	read  *sql.DB
}

// errUnusable is the cause of the error when a file is no database of ours: damaged, another
// program's, of a newer version.
var errUnusable = errors.New("not a usable store")

// damaged says whether an error means that the file does not hold what was written to it.
func damaged(err error) bool {
	for _, code := range []error{
		errUnusable, sqlite3.CORRUPT, sqlite3.NOTADB, sqlite3.IOERR_DATA,
		sqlite3.IOERR_CORRUPTFS,
	} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// openDatabase opens the database at path, makes it if there is none, and brings it to the version
// of the steps. The caller holds the lock.
func openDatabase(ctx context.Context, path string, steps []string) (*database, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := touch(path)
	if err != nil {
		return nil, err
	}
	d := &database{path: path, file: info}
	if d.write, err = connect(path, 1, `PRAGMA synchronous = NORMAL`); err != nil {
		return nil, err
	}
	if d.read, err = connect(path, readers, `PRAGMA query_only = ON`); err != nil {
		return nil, errors.Join(err, d.write.Close())
	}
	if err := d.prepare(ctx, steps); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// fileMode keeps what is known of files as private as they may be.
const fileMode = 0o600

// touch makes the file if there is none, and looks at it. A file that we could not write gives an
// error here; SQLite would open it for reading.
//
//	0                     16    20         21
//	| SQLite format 3 \0  | …   | reserved | …
//
// A database of ours reserves no bytes of its pages. One with 8 has SQLite's checksums of pages,
// which would tell a flipped bit, but with which the driver panics in v0.35.6 (the code of v0.36.0
// reads the same), when a connection checkpoints what another one wrote: vfsUnfetch calls a mapper
// that is nil. So rows have checksums of their own, and such a file is not even opened.
func touch(path string) (fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	if info.Size() == 0 {
		// What lies beside belonged to a file that was removed. Its log must not be replayed into
		// this one.
		return info, removeSidecars(path)
	}
	var reserved [1]byte
	if _, err := f.ReadAt(reserved[:], 20); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if reserved[0] != 0 {
		return nil, fmt.Errorf("%w: it reserves %d bytes of each page", errUnusable, reserved[0])
	}
	return info, nil
}

// connect gives connections to the database at path. None is opened yet.
func connect(path string, most int, pragmas string) (*sql.DB, error) {
	name := url.URL{
		Scheme: "file", Path: path,
		// modeof: the log is as private as the database
		RawQuery: url.Values{"modeof": {path}, "_txlock": {"immediate"}}.Encode(),
	}
	db, err := driver.Open(name.String(), func(c *sqlite3.Conn) error {
		if err := c.BusyTimeout(busyTimeout); err != nil {
			return err
		}
		c.Limit(sqlite3.LIMIT_LENGTH, maxValueBytes)
		return c.Exec(`PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; ` + pragmas)
	})
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	return db, nil
}

// prepare looks whether the file is ours, of a version that we know and whole, and brings it to the
// current one.
func (d *database) prepare(ctx context.Context, steps []string) error {
	version, err := d.version(ctx, len(steps))
	if err != nil {
		return refused(err)
	}
	if err := d.check(ctx); err != nil {
		return err
	}
	if err := migrate(ctx, d.write, version, steps); err != nil {
		return refused(err)
	}
	if _, err := d.write.ExecContext(ctx, `SELECT id, sum, `+columns+` FROM record LIMIT 0`); err != nil {
		return refused(err)
	}
	var mode string
	if err := d.write.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode); err != nil {
		return refused(err)
	}
	if mode != "wal" {
		return fmt.Errorf("the file system lets SQLite keep no write-ahead log, journal mode is %s", mode)
	}
	// A header may forbid to write. Nothing tells but a write; this one changes nothing, and so
	// costs no place.
	_, err = d.write.ExecContext(ctx, `DELETE FROM record WHERE id IS NULL`)
	return refused(err)
}

// version gives how many steps lead to the database as it is: 0 for an empty one. One that no first
// steps of known ones lead to gives an error.
func (d *database) version(ctx context.Context, known int) (int, error) {
	var owner, version, tables int
	err := d.write.QueryRowContext(ctx, `SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id a, pragma_user_version v`).Scan(&owner, &version, &tables)
	switch {
	case err != nil:
		return 0, err
	case owner == 0 && version == 0 && tables == 0:
		return 0, nil
	case owner != applicationID:
		return 0, fmt.Errorf("%w: it is of another application, 0x%08x", errUnusable, uint32(owner))
	case version < 1 || version > known:
		return 0, fmt.Errorf("%w: it is of version %d, known are 1 to %d", errUnusable, version, known)
	}
	return version, nil
}

// refused says of an error that the database, as it was found, does not take a statement of ours,
// if that is so. Read-only is one whose header says so, since the file was opened for writing.
func refused(err error) error {
	for _, code := range []error{sqlite3.ERROR, sqlite3.CONSTRAINT, sqlite3.READONLY} {
		if errors.Is(err, code) {
			return fmt.Errorf("%w: %w", errUnusable, err)
		}
	}
	return err
}

// check reads the whole database and looks whether its pages fit each other. Whether a row has the
// values that were put is seen when it is read.
func (d *database) check(ctx context.Context) error {
	var verdict string
	if err := d.write.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", errUnusable, verdict)
	}
	return nil
}

// moved says whether another file, or none, is now at the path: another process set ours aside, or
// somebody cleaned up.
func (d *database) moved() bool {
	info, err := os.Stat(d.path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !os.SameFile(info, d.file)
}

// close waits for what is under way. The last one to close a database that did not move writes its
// log into it.
func (d *database) close() error { return errors.Join(d.read.Close(), d.write.Close()) }
