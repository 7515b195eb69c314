package shared

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/store"
)

// maxMissed bounds the keys of records that the database missed. If there are more, all records of
// the local store are written.
const maxMissed = 1 << 16 // about 10 MB

// Records are the records of a local store and of a shared database, as one store. A record is read
// from the database, or from the local store if the database is away or does not have it. Both get
// what is put. So a server that is alone knows what it has ever read or put.
type Records struct {
	remote *Remote
	local  store.Store
	max    int // maxMissed; less in tests

	// order has a lock for each part of the keys: one call at a time changes a key in the local
	// store. No call of the database holds it.
	order [64]sync.Mutex
	seed  maphash.Seed

	mu       sync.Mutex
	missed   map[store.Key]uint64 // keys that differ in the database, with the number of the change
	changes  uint64
	overflow bool // all records of the local store are written: there may be more than maxMissed
	writing  bool // a goroutine writes what was missed
	closed   bool
}

var _ store.Store = (*Records)(nil)

// Join returns the records of a local store, which it owns, and of the remote. If the database is
// away, it gets all records of the local store when it is back: a former process may have put some
// of them during the same outage.
func (r *Remote) Join(local store.Store) *Records {
	s := &Records{
		remote: r, local: local, max: maxMissed, seed: maphash.MakeSeed(), missed: map[store.Key]uint64{},
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records[s] = true
	s.overflow = r.away.Load()
	return s
}

// Close closes the local store. The remote stays open.
func (s *Records) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.remote.mu.Lock()
	delete(s.remote.records, s)
	s.remote.mu.Unlock()
	return s.local.Close()
}

// do calls the database, unless it is away.
func (s *Records) do(ctx context.Context, call func() error) error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return store.ErrClosed
	}
	return s.remote.do(ctx, call)
}

// lock locks a key for changes in the local store.
func (s *Records) lock(key store.Key) *sync.Mutex {
	m := &s.order[maphash.Comparable(s.seed, key)%uint64(len(s.order))]
	m.Lock()
	return m
}

// Get returns the record of a key.
func (s *Records) Get(ctx context.Context, key store.Key) (store.Record, bool, error) {
	if !s.isMissed(key) {
		var found store.Record
		var ok bool
		err := s.do(ctx, func() (err error) {
			found, ok, err = s.remote.db.Get(ctx, key)
			return err
		})
		switch {
		case ctx.Err() != nil:
			return store.Record{}, false, ctx.Err()
		case err == nil && ok:
			s.remote.hits.Add(1)
			s.remember(ctx, found)
			return found, true, nil
		}
	}
	found, ok, err := s.local.Get(ctx, key)
	if ok {
		s.remote.localHits.Add(1)
	}
	return found, ok, err
}

// remember puts a record of the database into the local store, for the time when the database is
// away. An error costs no more than that.
func (s *Records) remember(ctx context.Context, r store.Record) {
	defer s.lock(r.Key).Unlock()
	if s.isMissed(r.Key) {
		return
	}
	if old, ok, err := s.local.Get(ctx, r.Key); err != nil || ok && sameParse(old, r) {
		return
	}
	_ = s.local.Put(ctx, r)
}

// sameParse reports whether two records are of the same parse.
func sameParse(a, b store.Record) bool {
	return a.ParsedAt.Equal(b.ParsedAt) && a.Identity == b.Identity && a.Format == b.Format &&
		a.FormatVersion == b.FormatVersion && a.LastError == b.LastError && bytes.Equal(a.Content, b.Content)
}

// Put stores a record. The database gets it later if it is away.
func (s *Records) Put(ctx context.Context, r store.Record) error {
	return s.change(ctx, r.Key,
		func() error { return s.local.Put(ctx, r) },
		func() error { return s.remote.db.Put(ctx, r) })
}

// Delete removes the record of a key, in the database later if it is away.
func (s *Records) Delete(ctx context.Context, key store.Key) error {
	return s.change(ctx, key,
		func() error { return s.local.Delete(ctx, key) },
		func() error { return s.remote.db.Delete(ctx, key) })
}

// change changes a key in the local store, and then in the database.
func (s *Records) change(ctx context.Context, key store.Key, local, remote func() error) error {
	m := s.lock(key)
	err := local()
	missed := err == nil && s.isMissed(key)
	if missed {
		s.miss(key) // the changes of a key are written in their order
	}
	m.Unlock()
	if err != nil || missed {
		return err
	}
	s.afterwards(ctx, key, s.do(ctx, remote))
	return nil
}

// afterwards records the result of a change in the database, after that of the local store.
func (s *Records) afterwards(ctx context.Context, key store.Key, err error) {
	switch {
	case err == nil:
	case errors.Is(err, fleet.ErrAway) || errors.Is(err, store.ErrClosed) || ctx.Err() != nil:
		s.miss(key)
	default:
		s.remote.rejected.Add(1)
		s.remote.log.Warn().Err(err).Str("name", key.Name).Msg("the shared store does not accept a record")
	}
}

// PutHeld stores a record while a lease has its owner and epoch. It returns fleet.ErrLost if the
// lease has others, and then stores nothing. If the database is away, the record is put as by Put.
func (s *Records) PutHeld(ctx context.Context, r store.Record, l fleet.Lease) error {
	err := s.do(ctx, func() error { return s.remote.db.PutHeld(ctx, r, l) })
	if errors.Is(err, fleet.ErrLost) {
		return err
	}
	defer s.lock(r.Key).Unlock()
	if err := s.local.Put(ctx, r); err != nil {
		return err
	}
	s.afterwards(ctx, r.Key, err)
	return nil
}

// Newest returns the records of the files that were parsed last.
func (s *Records) Newest(ctx context.Context, n int) (records []store.Record, err error) {
	err = s.do(ctx, func() error {
		records, err = s.remote.db.Newest(ctx, n)
		return err
	})
	switch {
	case err == nil:
		return records, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return s.local.Newest(ctx, n)
}

// Prune removes the records of the names for which keep returns false, from both stores.
func (s *Records) Prune(ctx context.Context, keep func(name string) bool) (int, error) {
	answers := map[string]bool{}
	once := func(name string) bool {
		answer, ok := answers[name]
		if !ok {
			answer = keep(name)
			answers[name] = answer
		}
		return answer
	}
	var n int
	err := s.do(ctx, func() (err error) {
		n, err = s.remote.db.Prune(ctx, once)
		return err
	})
	if err != nil && ctx.Err() != nil {
		return n, ctx.Err()
	}
	local, err := s.local.Prune(ctx, once)
	return max(n, local), err
}

// All calls yield for each record. It goes on with those of the local store if the database goes
// away meanwhile.
func (s *Records) All(ctx context.Context, yield func(store.Record) error) error {
	return s.list(ctx, yield, store.Store.All, func(store.Record) bool { return true })
}

// Layered calls yield for each record that has layers, as All does.
func (s *Records) Layered(ctx context.Context, yield func(store.Record) error) error {
	return s.list(ctx, yield, store.Store.Layered, func(r store.Record) bool { return len(r.Layers) > 0 })
}

// Of calls yield for each record of a name, as All does.
func (s *Records) Of(ctx context.Context, name string, yield func(store.Record) error) error {
	of := func(from store.Store, ctx context.Context, yield func(store.Record) error) error {
		return from.Of(ctx, name, yield)
	}
	return s.list(ctx, yield, of, func(r store.Record) bool { return r.Name == name })
}

// list calls yield for each record that a listing has and that meets a condition. The records that
// the database missed are those of the local store.
func (s *Records) list(ctx context.Context, yield func(store.Record) error,
	listing func(store.Store, context.Context, func(store.Record) error) error, meets func(store.Record) bool,
) error {
	missed := s.missedKeys()
	var last *store.Key // of the record that was yielded or skipped last
	var stopped error   // by yield
	pass := func(r store.Record) error {
		last = &r.Key
		stopped = yield(r)
		return stopped
	}
	// passMissed yields the missed records up to a key, or all.
	passMissed := func(end *store.Key) error {
		for len(missed) > 0 && (end == nil || compare(missed[0], *end) <= 0) {
			key := missed[0]
			missed = missed[1:]
			r, ok, err := s.local.Get(ctx, key)
			if err != nil {
				stopped = err
				return err
			}
			if ok && meets(r) {
				if err := pass(r); err != nil {
					return err
				}
			}
			last = &key
		}
		return nil
	}
	err := s.do(ctx, func() error {
		err := listing(s.remote.db, ctx, func(r store.Record) error {
			if err := passMissed(&r.Key); err != nil {
				return err
			}
			if last != nil && *last == r.Key {
				return nil // the database missed a change of it
			}
			return pass(r)
		})
		if err == nil {
			err = passMissed(nil)
		}
		if stopped != nil {
			return nil
		}
		return err
	})
	switch {
	case stopped != nil:
		return stopped
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return listing(s.local, ctx, func(r store.Record) error {
		if last != nil && compare(r.Key, *last) <= 0 {
			return nil
		}
		return yield(r)
	})
}

// compare orders keys as listings do.
func compare(a, b store.Key) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), bytes.Compare(a.Options[:], b.Options[:]))
}

// missedKeys returns the keys that the database missed, in order.
func (s *Records) missedKeys() []store.Key {
	s.mu.Lock()
	keys := make([]store.Key, 0, len(s.missed))
	for key := range s.missed {
		keys = append(keys, key)
	}
	s.mu.Unlock()
	slices.SortFunc(keys, compare)
	return keys
}
