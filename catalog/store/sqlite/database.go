package sqlite

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

	"github.com/vibeflight/vibeflight/catalog/store/internal/row"
)

const (
	busyTimeout = 5 * time.Second // how long a writer waits for another process
	readers     = 2               // connections for Get, All and Prune, each with some MiB of memory
)

// database is an open database file of the current version.
//
// Writes use their own connection. They queue here and not in SQLite's busy handler, and a Get does
// not wait for the fsync of a checkpoint.
type database struct {
	path  string
	file  fs.FileInfo // of the file when it was opened
	write *sql.DB
	read  *sql.DB
}

// errUnusable is wrapped by errors for files that are damaged, of another program, or of a newer
// version.
var errUnusable = errors.New("not a usable store")

// damaged reports whether an error means that the file does not contain what was written to it.
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

// openDatabase opens the database at path, creates it if necessary, and migrates it with the steps.
// The caller holds the lock.
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

// fileMode keeps what is known about files as private as the files may be.
const fileMode = 0o600

// touch creates the file if necessary, and checks it. It returns an error for a file that cannot be
// written, which SQLite would open for reading.
//
//	0                     16    20         21
//	| SQLite format 3 \0  | …   | reserved | …
//
// Our databases reserve no bytes of their pages. With 8 reserved bytes SQLite stores checksums of
// pages, which detect a flipped bit. But the driver v0.35.6 (and the code of v0.36.0) then panics
// when a connection checkpoints the writes of another one: vfsUnfetch calls a nil mapper. So rows
// have their own checksums, and such a file is not opened.
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
		// The sidecars belong to a file that was removed. Its log must not be replayed into this
		// one.
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

// connect returns a pool of at most n connections to the database at path. It opens none of them
// yet.
func connect(path string, n int, pragmas string) (*sql.DB, error) {
	name := url.URL{
		Scheme: "file", Path: path,
		// modeof makes the log as private as the database.
		RawQuery: url.Values{"modeof": {path}, "_txlock": {"immediate"}}.Encode(),
	}
	db, err := driver.Open(name.String(), func(c *sqlite3.Conn) error {
		if err := c.BusyTimeout(busyTimeout); err != nil {
			return err
		}
		c.Limit(sqlite3.LIMIT_LENGTH, row.MaxValueBytes)
		return c.Exec(`PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; ` + pragmas)
	})
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// prepare checks that the file is a complete database of ours in a known version, and migrates it
// to the current version.
func (d *database) prepare(ctx context.Context, steps []string) error {
	version, err := d.version(ctx, len(steps))
	if err != nil {
		return rejected(err)
	}
	if err := d.check(ctx); err != nil {
		return err
	}
	if err := migrate(ctx, d.write, version, steps); err != nil {
		return rejected(err)
	}
	if _, err := d.write.ExecContext(ctx, `SELECT id, sum, `+row.Columns+` FROM record LIMIT 0`); err != nil {
		return rejected(err)
	}
	var mode string
	if err := d.write.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode); err != nil {
		return rejected(err)
	}
	if mode != "wal" {
		return fmt.Errorf("the file system lets SQLite keep no write-ahead log, journal mode is %s", mode)
	}
	// A header may forbid writing, which only a write detects. This statement changes nothing, and
	// so needs no space on the disk.
	_, err = d.write.ExecContext(ctx, `DELETE FROM record WHERE id IS NULL`)
	return rejected(err)
}

// version returns how many of the known steps were applied to the database: 0 if it is empty. It
// returns an error for any other database.
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

// rejected wraps errUnusable around an error if the database, as it was found, does not accept our
// statement. The file was opened for writing, so READONLY means that its header forbids writing.
func rejected(err error) error {
	for _, code := range []error{sqlite3.ERROR, sqlite3.CONSTRAINT, sqlite3.READONLY} {
		if errors.Is(err, code) {
			return fmt.Errorf("%w: %w", errUnusable, err)
		}
	}
	return err
}

// check reads the whole database and checks that its pages are consistent. The values of a row are
// checked when it is read.
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

// moved reports whether the path no longer names the open file: another process set it aside, or it
// was removed.
func (d *database) moved() bool {
	info, err := os.Stat(d.path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !os.SameFile(info, d.file)
}

// close waits for the calls in progress. The last connection to a database that was not moved
// checkpoints its log.
func (d *database) close() error { return errors.Join(d.read.Close(), d.write.Close()) }
