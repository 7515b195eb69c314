package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// applicationID identifies our databases in the header of the file, for us and for file(1): "vflt".
const applicationID = 0x76666c74

// migrations returns the steps from an empty database to the current version. Step i leads from
// version i to i+1, which SQLite stores as user_version. Released steps do not change: a new
// version adds a step and a file in testdata. A step adds indexes and columns that may be NULL. If
// stored values have to change, it deletes the rows, because their checksums would no longer match.
func migrations() []string {
	return []string{
		// Rows do not depend on byte order or word size, so a database can be copied to another
		// host. Times are in nanoseconds; parsed_at is since the epoch. device and inode are the
		// bits of a uint64.
		`CREATE TABLE record (
			id             INTEGER PRIMARY KEY,
			name           TEXT NOT NULL,
			options        BLOB NOT NULL, -- 32 bytes
			size           INTEGER NOT NULL,
			mtime          INTEGER NOT NULL,
			ctime          INTEGER NOT NULL,
			device         INTEGER NOT NULL,
			inode          INTEGER NOT NULL,
			content        BLOB,          -- 32 bytes
			format         TEXT NOT NULL,
			format_version INTEGER NOT NULL,
			rows           INTEGER NOT NULL,
			table_bytes    INTEGER NOT NULL,
			bbox           BLOB,          -- 4 float64, little-endian
			engine         TEXT NOT NULL,
			parse_time     INTEGER NOT NULL,
			parsed_at      INTEGER,
			geometry_types TEXT NOT NULL, -- JSON: texts
			options_json   TEXT NOT NULL,
			crs            TEXT NOT NULL,
			last_error     TEXT NOT NULL,
			"schema"       BLOB,
			columns        TEXT NOT NULL, -- JSON: objects with name, type, nulls, min, max
			blocks         BLOB,
			sum            BLOB NOT NULL, -- 16 bytes
			UNIQUE (name, options)
		) STRICT`,
		`ALTER TABLE record ADD COLUMN shape BLOB`,
		`ALTER TABLE record ADD COLUMN siblings BLOB; -- 16 bytes
		ALTER TABLE record ADD COLUMN layers TEXT;    -- JSON: texts
		CREATE INDEX layered ON record (name, options) WHERE layers IS NOT NULL`,
		`ALTER TABLE record ADD COLUMN object TEXT`,
	}
}

// migrate applies the missing steps to a database of a version, each in its own transaction.
func migrate(ctx context.Context, db *sql.DB, version int, steps []string) error {
	for ; version < len(steps); version++ {
		if err := step(ctx, db, version+1, steps[version]); err != nil {
			return fmt.Errorf("migration to version %d: %w", version+1, err)
		}
	}
	return nil
}

func step(ctx context.Context, db *sql.DB, to int, statements string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	for _, s := range []string{
		statements,
		fmt.Sprintf(`PRAGMA application_id = %d`, applicationID),
		fmt.Sprintf(`PRAGMA user_version = %d`, to),
	} {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return tx.Commit()
}
