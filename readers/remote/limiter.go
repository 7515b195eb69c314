package remote

import (
	"context"
	"sync"
	"time"
)

// limiter bounds the requests in flight to one store. The bound falls by half when the store asks
// for fewer requests, at most once per answered round, and rises by one after as many successes as
// it allows: additive increase, multiplicative decrease.
type limiter struct {
	max int

	mu      sync.Mutex
	limit   float64
	active  int
	lowered time.Time
	waiting []chan struct{}
}

// pause is the shortest time between two decreases: answers to requests of one round count once.
const pause = 200 * time.Millisecond

func newLimiter(max int) *limiter { return &limiter{max: max, limit: float64(max)} }

// acquire waits until a request may be made.
func (l *limiter) acquire(ctx context.Context) error {
	l.mu.Lock()
	if l.active < int(l.limit) && len(l.waiting) == 0 {
		l.active++
		l.mu.Unlock()
		return ctx.Err()
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	l.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		for i, w := range l.waiting {
			if w == turn {
				l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
				return ctx.Err()
			}
		}
		l.active-- // the turn came at the same time
		l.next()
		return ctx.Err()
	}
}

// release ends a request. throttled reports that the store asked for fewer.
func (l *limiter) release(throttled bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active--
	now := time.Now()
	switch {
	case !throttled:
		l.limit = min(float64(l.max), l.limit+1/l.limit)
	case now.Sub(l.lowered) >= pause:
		l.limit, l.lowered = max(1, l.limit/2), now
	}
	l.next()
}

// next gives the free places to the requests that have waited longest; l.mu is held.
func (l *limiter) next() {
	for len(l.waiting) > 0 && l.active < int(l.limit) {
		close(l.waiting[0])
		l.waiting = l.waiting[1:]
		l.active++
	}
}
