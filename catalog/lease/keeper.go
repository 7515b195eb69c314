// Package lease lets one replica of a fleet do a piece of work while the others wait for it. The
// replica that does the work has a lease, which it renews until the result is stored.
//
// The store of the leases may be away. Then each replica does the work itself.
package lease

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/fleet"
)

// Times are the times of a Keeper. A field that is 0 has its default.
type Times struct {
	Lease   time.Duration // after which a lease that is not renewed is free; fleet.LeaseTime
	Renew   time.Duration // between renewals; fleet.RenewTime
	MinPoll time.Duration // between the first questions of a caller that waits; 100 ms
	MaxPoll time.Duration // between the later ones; 250 ms
	Call    time.Duration // deadline of a call of the store; fleet.RenewTime
	// Patience is how long a caller that waits for another replica keeps on waiting while the store is
	// away; 2 s.
	Patience time.Duration
}

const (
	minPoll  = 100 * time.Millisecond
	maxPoll  = 250 * time.Millisecond
	patience = 2 * time.Second
)

func (t Times) withDefaults() Times {
	for _, f := range [...]struct {
		field *time.Duration
		value time.Duration
	}{
		{&t.Lease, fleet.LeaseTime},
		{&t.Renew, fleet.RenewTime},
		{&t.MinPoll, minPoll},
		{&t.MaxPoll, maxPoll},
		{&t.Call, fleet.RenewTime},
		{&t.Patience, patience},
	} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	return t
}

// Config configures a Keeper. ID and Leases are required.
type Config struct {
	ID     string // of this replica
	Leases fleet.Leases
	Times  Times
	Log    zerolog.Logger
}

// Stats are the numbers of a Keeper since New.
type Stats struct {
	Held        int   `json:"held"`        // leases of this replica now
	Waiting     int   `json:"waiting"`     // callers that wait for another replica now
	Acquired    int64 `json:"acquired"`    // leases that this replica got
	Waits       int64 `json:"waits"`       // how often a caller waited for another replica
	Takeovers   int64 `json:"takeovers"`   // acquired leases whose earlier owner did not renew them
	Lost        int64 `json:"lost"`        // leases that expired, or that another replica took over
	Unavailable int64 `json:"unavailable"` // work done without a lease, because the store was away
}

// Keeper acquires, renews and releases the leases of one replica. It is safe for concurrent use.
type Keeper struct {
	cfg    Config
	times  Times
	asleep atomic.Int64 // callers between two questions

	mu     sync.Mutex
	stats  Stats
	outage outage
}

// outage is what is known of a store that is away. The zero value: the store answers.
type outage struct {
	away  bool
	pause time.Duration // between the last question and the next one
	next  time.Time     // when one caller asks again
}

// The store is asked again after pauses that double.
const (
	minPause = 250 * time.Millisecond
	maxPause = 30 * time.Second
)

// New returns a keeper without leases.
func New(cfg Config) *Keeper { return &Keeper{cfg: cfg, times: cfg.Times.withDefaults()} }

// Stats returns the current numbers.
func (k *Keeper) Stats() Stats {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stats
}

// count changes the numbers.
func (k *Keeper) count(change func(*Stats)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(&k.stats)
}

// ask calls the store with a deadline. While the store is away, one caller asks in each pause, and
// the others get fleet.ErrAway at once.
func (k *Keeper) ask(ctx context.Context, call func(context.Context) error) error {
	if !k.mayAsk() {
		return fleet.ErrAway
	}
	return k.insist(ctx, call)
}

// mayAsk reports whether the store is to be asked.
func (k *Keeper) mayAsk() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	o, now := &k.outage, time.Now()
	if o.away && now.Before(o.next) {
		return false
	}
	if o.away {
		o.pause = min(2*o.pause, maxPause)
		o.next = now.Add(o.pause)
	}
	return true
}

// insist is ask also while the store is away.
func (k *Keeper) insist(ctx context.Context, call func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, k.times.Call)
	defer cancel()
	err := call(limited)
	switch {
	case err == nil || errors.Is(err, fleet.ErrLost) || errors.Is(err, errHeld):
		k.answered()
	case ctx.Err() != nil: // that says nothing of the store
		return ctx.Err()
	default:
		k.failed(err)
	}
	return err
}

// answered ends an outage.
func (k *Keeper) answered() {
	k.mu.Lock()
	was := k.outage
	k.outage = outage{}
	k.mu.Unlock()
	if was.away {
		k.cfg.Log.Info().Msg("the store of the fleet answers again: one replica parses each file for all")
	}
}

// failed begins an outage.
func (k *Keeper) failed(err error) {
	k.mu.Lock()
	was := k.outage
	if !was.away {
		k.outage = outage{away: true, pause: minPause, next: time.Now().Add(minPause)}
	}
	k.mu.Unlock()
	if !was.away {
		k.cfg.Log.Warn().Err(err).Msg("the store of the fleet is away: this replica parses files itself")
	}
}
