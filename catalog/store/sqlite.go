package store

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/rs/zerolog"
)

// SQLite is a store in one SQLite database. Several processes of one host may have it open; not of
// several, since a network's file system shares no memory.
//
// The database is a cache of what can be learned again, so it is never repaired. One that turns out
// to be damaged, whenever that is, is set aside as <path>.broken-<n>, the one before it is removed,
// and an empty one takes its place, with a warning in the log. So it goes with a database of
// another application or of a newer version. A row that does not decode is deleted, with a warning
// too.
type SQLite struct {
	path  string
	steps []string
	log   zerolog.Logger

	mu     sync.RWMutex // held for reading by each use of db
	db     *database    // nil after Close, and while the last try to open one gave an error
	closed bool
}

var _ Store = (*SQLite)(nil)

// OpenSQLite opens the store at path in a folder that exists. It reads the whole database once, to
// know that it is whole. The error says that there is no store to be had there, on a full or
// read-only disk for instance. The caller closes it.
func OpenSQLite(path string, log zerolog.Logger) (*SQLite, error) {
	return openSQLite(path, log, migrations())
}

func openSQLite(path string, log zerolog.Logger, steps []string) (*SQLite, error) {
	s := &SQLite{path: path, steps: steps, log: log.With().Str("store", path).Logger()}
	if err := s.replace(nil, nil); err != nil {
		return nil, err
	}
	return s, nil
}

// Close ends the store. What is under way ends first.
func (s *SQLite) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	db := s.db
	s.db, s.closed = nil, true
	if db == nil {
		return nil
	}
	return s.wrap(db.close())
}

// errMoved says that the open database is not the one at the path.
var errMoved = errors.New("another file took the place of the database")

// do runs op on the open database, and once more on a new one if the database has moved or op finds
// it damaged.
func (s *SQLite) do(op func(*database) error) error {
	db, err := s.attempt(op)
	if !errors.Is(err, errMoved) && !damaged(err) {
		return s.wrap(err)
	}
	if err := s.replace(db, err); err != nil {
		return err
	}
	_, err = s.attempt(op)
	return s.wrap(err)
}

func (s *SQLite) attempt(op func(*database) error) (*database, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.closed:
		return nil, ErrClosed
	case s.db == nil || s.db.moved():
		return s.db, errMoved
	}
	return s.db, op(s.db)
}

// replace opens the database at the path in place of old, which gave an error. It does nothing if
// another goroutine did it.
func (s *SQLite) replace(old *database, cause error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.db != old {
		return nil
	}
	held, err := lock(s.path)
	if err != nil {
		return s.wrap(err)
	}
	defer held.Close()
	if old != nil {
		if damaged(cause) && !old.moved() {
			if err := s.setAside(cause); err != nil {
				return err
			}
		}
		// Closed after it was renamed, SQLite leaves alone what is beside it, which may be
		// another's by now.
		if err := old.close(); err != nil {
			s.log.Warn().Err(err).Msg("closed the store's former database")
		}
		s.db = nil
	}
	s.db, err = s.open()
	return err
}

// open opens the database at the path. What lies there and is not usable is set aside. The lock is
// held.
func (s *SQLite) open() (*database, error) {
	ctx := context.Background() // a database half made is of no use to whoever comes next
	db, err := openDatabase(ctx, s.path, s.steps)
	if !damaged(err) {
		return db, s.wrap(err)
	}
	if err := s.setAside(err); err != nil {
		return nil, err
	}
	db, err = openDatabase(ctx, s.path, s.steps)
	return db, s.wrap(err)
}

func (s *SQLite) setAside(cause error) error {
	to, err := setAside(s.path)
	if err != nil {
		return fmt.Errorf("store %s: set aside (%w): %w", s.path, cause, err)
	}
	s.log.Warn().Err(cause).Str("aside", to).Msg("set the store's database aside and began an empty one")
	return nil
}

func (s *SQLite) wrap(err error) error {
	if err == nil || errors.Is(err, ErrClosed) {
		return err
	}
	return fmt.Errorf("store %s: %w", s.path, err)
}
