package shared

import (
	"context"
	"errors"
	"sync"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/store"
)

// writers is the number of records that are written at a time after an outage.
const writers = 4

// isMissed reports whether the database missed a change of a key.
func (s *Records) isMissed(key store.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.missed[key]
	return ok
}

// miss records that the database misses the last change of a key. It is written when the database
// is back.
func (s *Records) miss(key store.Key) {
	s.mu.Lock()
	s.changes++
	if _, ok := s.missed[key]; ok || len(s.missed) < s.max {
		s.missed[key] = s.changes
	} else {
		s.overflow = true
	}
	s.mu.Unlock()
	if s.remote.away.Load() {
		return // the end of the outage calls catchUp
	}
	s.remote.mu.Lock()
	defer s.remote.mu.Unlock()
	if !s.remote.away.Load() {
		s.catchUp()
	}
}

func (s *Records) pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.missed)
}

// catchUp writes what the database missed, in the background. The caller holds the lock of the
// remote.
func (s *Records) catchUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writing || s.remote.closed || len(s.missed) == 0 && !s.overflow {
		return
	}
	s.writing = true
	s.remote.wg.Go(s.write)
}

// write writes what the database missed, until there is nothing left or the database is away.
func (s *Records) write() {
	ctx := s.remote.ctx
	for {
		s.mu.Lock()
		all := s.overflow
		s.overflow = false
		batch := make(map[store.Key]uint64, len(s.missed))
		for key, change := range s.missed {
			batch[key] = change
		}
		if len(batch) == 0 && !all {
			s.writing = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		err := s.writeBatch(ctx, batch)
		if err == nil && all {
			err = s.writeAll(ctx)
		}
		if err != nil {
			s.mu.Lock()
			s.writing = false
			s.overflow = s.overflow || all
			s.mu.Unlock()
			s.retry(err)
			return
		}
	}
}

// retry begins anew if the database is back already. After an error of the local store the next
// change does so.
func (s *Records) retry(err error) {
	if !errors.Is(err, fleet.ErrAway) {
		if s.remote.ctx.Err() == nil && !errors.Is(err, store.ErrClosed) {
			s.remote.log.Warn().Err(err).Msg("what the shared store missed cannot be read")
		}
		return
	}
	s.remote.mu.Lock()
	defer s.remote.mu.Unlock()
	if !s.remote.away.Load() && s.remote.records[s] {
		s.catchUp()
	}
}

// writeBatch writes keys as the local store has them. A key that has changed meanwhile is still
// missed.
func (s *Records) writeBatch(ctx context.Context, batch map[store.Key]uint64) error {
	keys := make(chan store.Key)
	return s.inParallel(ctx, func(ctx context.Context) error {
		for key := range keys {
			if err := s.writeKey(ctx, key, batch[key]); err != nil {
				return err
			}
		}
		return nil
	}, func(ctx context.Context) error {
		defer close(keys)
		for key := range batch {
			select {
			case keys <- key:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
}

func (s *Records) writeKey(ctx context.Context, key store.Key, change uint64) error {
	r, ok, err := s.local.Get(ctx, key)
	if err != nil {
		return err
	}
	err = s.remote.do(ctx, func() error {
		if ok {
			return s.remote.db.PutNewer(ctx, r)
		}
		return s.remote.db.Delete(ctx, key)
	})
	if err := s.written(ctx, key, err); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.missed[key] == change {
		delete(s.missed, key)
	}
	return nil
}

// written counts a record that was written or rejected. It returns the other errors.
func (s *Records) written(ctx context.Context, key store.Key, err error) error {
	switch {
	case err == nil:
		s.remote.late.Add(1)
	case errors.Is(err, fleet.ErrAway) || errors.Is(err, store.ErrClosed) || ctx.Err() != nil:
		return err
	default:
		s.remote.rejected.Add(1)
		s.remote.log.Warn().Err(err).Str("name", key.Name).Msg("the shared store does not accept a record")
	}
	return nil
}

// writeAll writes all records of the local store.
func (s *Records) writeAll(ctx context.Context) error {
	records := make(chan store.Record)
	return s.inParallel(ctx, func(ctx context.Context) error {
		for r := range records {
			err := s.remote.do(ctx, func() error { return s.remote.db.PutNewer(ctx, r) })
			if err := s.written(ctx, r.Key, err); err != nil {
				return err
			}
		}
		return nil
	}, func(ctx context.Context) error {
		defer close(records)
		return s.local.All(ctx, func(r store.Record) error {
			select {
			case records <- r:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
}

// inParallel runs a producer and several consumers, and ends all of them after the first error,
// which it returns.
func (s *Records) inParallel(ctx context.Context, consume, produce func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			if err := consume(ctx); err != nil {
				cancel(err)
			}
		})
	}
	if err := produce(ctx); err != nil {
		cancel(err)
	}
	wg.Wait()
	return context.Cause(ctx)
}
