package lease

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/catalog/fleet"
)

// Lease is a lease of this replica, which is renewed until Release. The methods of nil do nothing: it
// is the lease of work that is done without one.
type Lease struct {
	keeper   *Keeper
	progress func() float64
	stop     context.CancelFunc
	stopped  chan struct{} // closed when the lease is not renewed any more
	once     sync.Once

	mu    sync.Mutex
	lease fleet.Lease
	lost  bool
}

// acquire takes the lease of some work for this replica, or returns errHeld. earlier is the lease that
// the caller waited for, if any.
func (k *Keeper) acquire(ctx context.Context, w *Work, earlier fleet.Lease) (*Lease, error) {
	var l fleet.Lease
	asked := time.Now()
	err := k.ask(ctx, func(ctx context.Context) (err error) {
		var ok bool
		l, ok, err = k.cfg.Leases.Acquire(ctx, w.Key, k.cfg.ID, w.Name)
		if err == nil && !ok {
			err = errHeld
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	renewals, stop := context.WithCancel(context.Background())
	h := &Lease{keeper: k, progress: w.Progress, stop: stop, stopped: make(chan struct{}), lease: l}
	// An owner that releases its lease does so before it expires, by the clock of the store.
	now := l.Expires.Add(-fleet.LeaseTime)
	k.count(func(s *Stats) {
		s.Held++
		s.Acquired++
		if earlier.Epoch > 0 && !earlier.Expires.After(now) {
			s.Takeovers++
		}
	})
	go h.renew(renewals, asked)
	return h, nil
}

// Stored returns the lease as the store has it, and false if the work is done without one.
func (h *Lease) Stored() (fleet.Lease, bool) {
	if h == nil {
		return fleet.Lease{}, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lease, true
}

// Lost reports whether another replica may have the lease now. The work may go on, but what it
// writes must not replace what the other replica has written.
func (h *Lease) Lost() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}

// Release ends the renewals and frees the lease for others. Calls after the first do nothing.
func (h *Lease) Release() {
	if h == nil {
		return
	}
	h.once.Do(func() {
		h.stop()
		<-h.stopped
		k := h.keeper
		k.count(func(s *Stats) { s.Held-- })
		if l, _ := h.Stored(); !h.Lost() {
			// If the store is away, the lease expires.
			_ = k.ask(context.Background(), func(ctx context.Context) error { return k.cfg.Leases.Release(ctx, l) })
		}
	})
}

// renew renews the lease until ctx ends or another replica has it. The lease also counts as lost
// when it was not renewed for as long as it lasts, by the clock of this host: the store may be away.
func (h *Lease) renew(ctx context.Context, renewed time.Time) {
	defer close(h.stopped)
	k := h.keeper
	tick := time.NewTicker(k.times.Renew)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		l, _ := h.Stored()
		l.Progress = h.progress()
		asked := time.Now()
		err := k.insist(ctx, func(ctx context.Context) error { return k.cfg.Leases.Renew(ctx, l) })
		switch {
		case err == nil:
			renewed = asked
			h.keep(l)
		case errors.Is(err, fleet.ErrLost):
			h.lose()
			return
		case time.Since(renewed) >= k.times.Lease:
			h.lose()
		}
	}
}

// keep notes a renewal.
func (h *Lease) keep(l fleet.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lease.Progress, h.lost = l.Progress, false
}

func (h *Lease) lose() {
	h.mu.Lock()
	was, name := h.lost, h.lease.Name
	h.lost = true
	h.mu.Unlock()
	if !was {
		h.keeper.count(func(s *Stats) { s.Lost++ })
		h.keeper.cfg.Log.Warn().Str("name", name).
			Msg("the lease of a parse is lost: another replica may parse the file too")
	}
}
