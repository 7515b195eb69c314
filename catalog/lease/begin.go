package lease

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/vibeflight/vibeflight/catalog/fleet"
)

// Work is a piece of work that one replica does for all. The functions are required.
type Work struct {
	Key  fleet.WorkKey
	Name string // for people
	// Done reports whether the result is there. It is called when another replica may have finished.
	// waited tells that the caller has waited for one, so that a thorough search is worth its time.
	Done func(ctx context.Context, waited bool) bool
	// Slot waits until this replica may do the work. No slot is held while another replica works.
	Slot func(ctx context.Context) (free func(), err error)
	// Progress returns the share of the work that this replica has done, from 0 to 1.
	Progress func() float64
	// Waits is called with the progress of the replica that does the work, or with 0 when it ends.
	Waits func(progress float64)
}

// Turn is the turn of this replica to do some work.
type Turn struct {
	Free  func() // frees the slot
	Lease *Lease // nil: the work is done without a lease
}

// Begin returns when it is the turn of this replica to do the work, or with nil when the result is
// there. It waits while another replica does the work. The caller frees the slot and releases the
// lease. A nil Keeper waits for a slot and nothing else.
func (k *Keeper) Begin(ctx context.Context, w *Work) (*Turn, error) {
	if k == nil {
		return withoutLease(ctx, w)
	}
	var earlier fleet.Lease // that the caller waited for last
	for {
		l, ok, err := k.holder(ctx, w.Key)
		if ok {
			if earlier, err = k.wait(ctx, w, l); err == nil {
				if w.Done(ctx, true) {
					return nil, nil
				}
				continue
			}
		}
		if err != nil {
			return k.unavailable(ctx, w, err)
		}
		free, err := k.slot(ctx, w)
		if errors.Is(err, errHeld) {
			continue
		} else if err != nil {
			return nil, err
		}
		turn, err := k.take(ctx, w, earlier, free)
		if !errors.Is(err, errHeld) {
			return turn, err
		}
	}
}

// withoutLease waits for a slot.
func withoutLease(ctx context.Context, w *Work) (*Turn, error) {
	free, err := w.Slot(ctx)
	if err != nil {
		return nil, err
	}
	return &Turn{Free: free}, nil
}

// unavailable is withoutLease after an error of the store.
func (k *Keeper) unavailable(ctx context.Context, w *Work, err error) (*Turn, error) {
	if ctx.Err() != nil {
		return nil, err
	}
	k.count(func(s *Stats) { s.Unavailable++ })
	return withoutLease(ctx, w)
}

// errHeld says that another call has the lease.
var errHeld = errors.New("another replica has the lease")

// holder returns the lease of a key if a replica has it.
func (k *Keeper) holder(ctx context.Context, key fleet.WorkKey) (l fleet.Lease, ok bool, err error) {
	err = k.ask(ctx, func(ctx context.Context) (err error) {
		l, ok, err = k.cfg.Leases.Holder(ctx, key)
		return err
	})
	return l, ok && err == nil, err
}

// take acquires the lease for a caller that has a slot, and frees the slot if it is not used. The
// result is nil if another replica has done the work meanwhile.
func (k *Keeper) take(ctx context.Context, w *Work, earlier fleet.Lease, free func()) (turn *Turn, err error) {
	var held *Lease
	defer func() {
		if turn == nil {
			held.Release()
			free()
		}
	}()
	held, err = k.acquire(ctx, w, earlier)
	switch {
	case err == nil && w.Done(ctx, false):
		return nil, nil
	case err == nil:
	case errors.Is(err, errHeld) || ctx.Err() != nil:
		return nil, err
	default:
		k.count(func(s *Stats) { s.Unavailable++ })
	}
	return &Turn{free, held}, nil
}

// slot waits for a slot, and returns errHeld if another replica gets the lease meanwhile.
func (k *Keeper) slot(ctx context.Context, w *Work) (free func(), err error) {
	waiting, stop := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for k.sleep(waiting, k.times.MaxPoll) == nil {
			if _, ok, _ := k.holder(waiting, w.Key); ok {
				stop(errHeld)
			}
		}
	}()
	free, err = w.Slot(waiting)
	cause := context.Cause(waiting)
	stop(nil)
	<-watched
	if err != nil && ctx.Err() == nil && errors.Is(cause, errHeld) {
		err = errHeld
	}
	return free, err
}

// wait waits until the owner of a lease has released it or has not renewed it. It returns the lease
// as it was last, or the error of a store that is away for too long.
func (k *Keeper) wait(ctx context.Context, w *Work, l fleet.Lease) (last fleet.Lease, err error) {
	k.count(func(s *Stats) { s.Waits++; s.Waiting++ })
	defer k.count(func(s *Stats) { s.Waiting-- })
	defer w.Waits(0)
	var away time.Time // since when the store does not answer; zero: it does
	for pause := k.times.MinPoll; ; pause = min(pause+pause/4, k.times.MaxPoll) {
		w.Waits(l.Progress)
		if err := k.sleep(ctx, pause); err != nil {
			return l, err
		}
		next, ok, err := k.holder(ctx, w.Key)
		switch {
		case err == nil && ok && next.Epoch == l.Epoch:
			l, away = next, time.Time{}
		case err == nil:
			return l, nil
		case ctx.Err() != nil:
			return l, err
		case away.IsZero():
			away = time.Now()
		case time.Since(away) >= k.times.Patience:
			return l, err
		}
	}
}

// manyWaiting is the number of callers from which on each of them asks less often.
const manyWaiting = 32

// sleep waits for about a pause. With many callers that wait it is longer, so that the number of
// questions in a second is bounded.
func (k *Keeper) sleep(ctx context.Context, pause time.Duration) error {
	n := k.asleep.Add(1)
	defer k.asleep.Add(-1)
	if n > manyWaiting {
		pause = pause * time.Duration(n) / manyWaiting
	}
	pause = pause*3/4 + rand.N(pause/2+1)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
