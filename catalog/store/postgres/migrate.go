package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrNewer says that a newer version of the program has changed the schema.
var ErrNewer = errors.New("the schema of the store is newer than this program")

// migrations returns the steps from an empty database to the current version. Released steps do not
// change: a new version adds a step. Servers of the former version go on meanwhile, so a step adds
// tables, indexes, and columns that may be NULL.
//
// Names of records may be longer than what an index accepts. So the primary key has the head of a
// name, for the order, and its digest. Names are ordered by their bytes.
func migrations() []string {
	return []string{
		`CREATE TABLE vibeflight.record (
			head           TEXT COLLATE "C" NOT NULL, -- first headBytes of the name, or fewer
			digest         BYTEA NOT NULL,            -- SHA-256 of the name
			bytes          BIGINT NOT NULL,           -- of all texts and blobs
			name           TEXT COLLATE "C" NOT NULL,
			options        BYTEA NOT NULL,
			size           BIGINT NOT NULL,
			mtime          BIGINT NOT NULL,
			ctime          BIGINT NOT NULL,
			device         BIGINT NOT NULL,
			inode          BIGINT NOT NULL,
			content        BYTEA,
			format         TEXT NOT NULL,
			format_version BIGINT NOT NULL,
			rows           BIGINT NOT NULL,
			table_bytes    BIGINT NOT NULL,
			bbox           BYTEA,
			engine         TEXT NOT NULL,
			parse_time     BIGINT NOT NULL,
			parsed_at      BIGINT,
			geometry_types TEXT NOT NULL,
			options_json   TEXT NOT NULL,
			crs            TEXT NOT NULL,
			last_error     TEXT NOT NULL,
			"schema"       BYTEA,
			columns        TEXT NOT NULL,
			blocks         BYTEA,
			shape          BYTEA,
			siblings       BYTEA,
			layers         TEXT,
			object         TEXT,
			sum            BYTEA NOT NULL,
			PRIMARY KEY (head, digest, options)
		);
		CREATE INDEX record_newest ON vibeflight.record (parsed_at DESC NULLS LAST);
		CREATE INDEX record_layered ON vibeflight.record (head) WHERE layers IS NOT NULL;

		CREATE TABLE vibeflight.lease (
			key        BYTEA PRIMARY KEY,
			owner      TEXT NOT NULL,      -- '': it was released
			epoch      BIGINT NOT NULL,    -- increases; at least the time of the acquisition in µs
			expires_at TIMESTAMPTZ NOT NULL,
			progress   DOUBLE PRECISION NOT NULL,
			name       TEXT NOT NULL
		);
		CREATE INDEX lease_expired ON vibeflight.lease (expires_at);

		CREATE TABLE vibeflight.replica (
			id        TEXT COLLATE "C" PRIMARY KEY,
			locations TEXT[] NOT NULL,
			load      BIGINT NOT NULL,
			seen      TIMESTAMPTZ NOT NULL
		);
		CREATE TABLE vibeflight.keeper (
			table_key BYTEA NOT NULL,
			replica   TEXT COLLATE "C" NOT NULL REFERENCES vibeflight.replica ON DELETE CASCADE,
			PRIMARY KEY (table_key, replica)
		);
		CREATE INDEX keeper_replica ON vibeflight.keeper (replica)`,
	}
}

// Prepare connects, and migrates the schema if needed. Every call does so first, but a server calls
// it to learn early whether the database is usable.
func (s *Store) Prepare(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	s.ready.Store(false)
	return s.wrap(ctx, s.prepare(limited))
}

// prepare returns when the schema has the current version. One caller at a time migrates.
func (s *Store) prepare(ctx context.Context) error {
	if s.ready.Load() {
		return ctx.Err()
	}
	s.migrating.Lock()
	defer s.migrating.Unlock()
	if s.ready.Load() || ctx.Err() != nil {
		return ctx.Err()
	}
	version, err := s.version(ctx)
	if err == nil && version < len(s.steps) {
		err = s.migrate()
	} else if version > len(s.steps) {
		err = newer(version, len(s.steps))
	}
	if err == nil {
		s.ready.Store(true)
	}
	return err
}

func newer(version, known int) error {
	return fmt.Errorf("%w: it is of version %d, known are 1 to %d", ErrNewer, version, known)
}

// version returns the number of steps that were applied to the database.
func (s *Store) version(ctx context.Context) (version int, err error) {
	err = s.pool.QueryRow(ctx, `SELECT version FROM vibeflight.version`).Scan(&version)
	switch {
	case errors.Is(err, pgx.ErrNoRows) || hasCode(err, "42P01"):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return version, nil
}

func hasCode(err error, codes ...string) bool {
	answer := new(pgconn.PgError)
	if !errors.As(err, &answer) {
		return false
	}
	for _, code := range codes {
		if answer.Code == code {
			return true
		}
	}
	return false
}

// migrateTime bounds a migration. It may make an index of a large table, so it does not end with
// the call that began it.
const migrateTime = time.Minute

// migrate applies the missing steps in one transaction. Other servers may do so at the same time:
// they wait for the only row of the table of the version.
func (s *Store) migrate() error {
	ctx, cancel := context.WithTimeout(context.Background(), migrateTime)
	defer cancel()
	if err := s.found(ctx); err != nil {
		return fmt.Errorf("make the schema: %w", err)
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		limit := strconv.FormatInt(migrateTime.Milliseconds(), 10)
		if _, err := tx.Exec(ctx, `SELECT set_config('statement_timeout', $1, true)`, limit); err != nil {
			return err
		}
		var version int
		if err := tx.QueryRow(ctx, `SELECT version FROM vibeflight.version FOR UPDATE`).Scan(&version); err != nil {
			return err
		}
		if version > len(s.steps) {
			return newer(version, len(s.steps))
		}
		for i := version; i < len(s.steps); i++ {
			if _, err := tx.Exec(ctx, s.steps[i]); err != nil {
				return fmt.Errorf("migration to version %d: %w", i+1, err)
			}
		}
		_, err := tx.Exec(ctx, `UPDATE vibeflight.version SET version = $1`, len(s.steps))
		return err
	})
}

// found makes the schema and the table of its version. IF NOT EXISTS does not keep two servers from
// making them at the same time: one of them then tries again.
func (s *Store) found(ctx context.Context) error {
	for try := 1; ; try++ {
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			var exists bool
			err := tx.QueryRow(ctx, `SELECT to_regnamespace('vibeflight') IS NOT NULL`).Scan(&exists)
			if err != nil {
				return err
			}
			if !exists { // the user of an existing schema may lack the right to make one
				if _, err := tx.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS vibeflight`); err != nil {
					return err
				}
			}
			if _, err := tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS vibeflight.version (
				single  BOOLEAN PRIMARY KEY DEFAULT true CHECK (single),
				version INTEGER NOT NULL
			)`); err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `INSERT INTO vibeflight.version (version) VALUES (0) ON CONFLICT DO NOTHING`)
			return err
		})
		if try == 10 || !hasCode(err, "23505", "42P06", "42P07", "42710") {
			return err
		}
	}
}
