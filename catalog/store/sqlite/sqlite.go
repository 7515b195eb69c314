// Package sqlite keeps records in an SQLite database, for the servers of one host.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/store"
)

// Store is a store in one SQLite database. Several processes of one host may open it. Processes of
// several hosts may not, because network file systems have no shared memory.
//
// The database is a cache of what can be learned again, so it is never repaired. A database that
// turns out to be damaged is set aside as <path>.broken-<n>, at any time, and an empty one replaces
// it, with a warning in the log. The database that was set aside earlier is removed. The same
// applies to a database of another application or of a newer version. A row that does not decode is
// deleted, with a warning too.
type Store struct {
	path  string
	steps []string
	log   zerolog.Logger

	mu     sync.RWMutex // locked for reading by each use of db
	db     *database    // nil after Close, and after a failed attempt to open it
	closed bool
}

var _ store.Store = (*Store)(nil)

// Open opens the store at path in an existing folder. It reads the whole database once, to
// check it. It returns an error if no store is possible there, for example on a full or read-only
// disk. The caller closes the store.
func Open(path string, log zerolog.Logger) (*Store, error) {
	return openWith(path, log, migrations())
}

func openWith(path string, log zerolog.Logger, steps []string) (*Store, error) {
	s := &Store{path: path, steps: steps, log: log.With().Str("store", path).Logger()}
	if err := s.replace(nil, nil); err != nil {
		return nil, err
	}
	return s, nil
}

// Close closes the store after the calls in progress.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	db := s.db
	s.db, s.closed = nil, true
	if db == nil {
		return nil
	}
	return s.wrap(db.close())
}

// errMoved says that the open database is no longer the one at the path.
var errMoved = errors.New("another file took the place of the database")

// do runs op on the open database. If the database has moved or op finds it damaged, do runs op
// once more on a new one.
func (s *Store) do(op func(*database) error) error {
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

func (s *Store) attempt(op func(*database) error) (*database, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.closed:
		return nil, store.ErrClosed
	case s.db == nil || s.db.moved():
		return s.db, errMoved
	}
	return s.db, op(s.db)
}

// replace opens the database at the path in place of old, which returned an error. It does nothing
// if another goroutine has already replaced it.
func (s *Store) replace(old *database, cause error) error {
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
		// It is closed after it was renamed, so SQLite leaves the sidecars alone. They may already
		// belong to another database.
		if err := old.close(); err != nil {
			s.log.Warn().Err(err).Msg("closed the store's former database")
		}
		s.db = nil
	}
	s.db, err = s.open()
	return err
}

// open opens the database at the path. It sets aside a file that is not usable. The caller holds
// s.mu.
func (s *Store) open() (*database, error) {
	// the database must be created completely, even if the caller's context ends
	ctx := context.Background()
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

func (s *Store) setAside(cause error) error {
	to, err := setAside(s.path)
	if err != nil {
		return fmt.Errorf("store %s: set aside (%w): %w", s.path, cause, err)
	}
	s.log.Warn().Err(cause).Str("aside", to).Msg("set the store's database aside and began an empty one")
	return nil
}

func (s *Store) wrap(err error) error {
	if err == nil || errors.Is(err, store.ErrClosed) {
		return err
	}
	return fmt.Errorf("store %s: %w", s.path, err)
}
