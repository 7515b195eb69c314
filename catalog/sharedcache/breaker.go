package sharedcache

import (
	"sync"
	"time"
)

// The times between two probes of a store that is away.
const (
	firstProbe = time.Second
	maxProbe   = 30 * time.Second
)

// breaker says whether a store is away. While it is, one goroutine probes the store.
type breaker struct {
	mu   sync.Mutex
	away bool
	wait time.Duration // until the next probe
}

// open reports whether the store is away.
func (b *breaker) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.away
}

// fail records a failure. For the first one of an outage, the caller begins to probe after wait; for
// a failed probe, wait is the time to the next one.
func (b *breaker) fail() (wait time.Duration, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.away {
		b.away, b.wait = true, firstProbe
		return b.wait, true
	}
	b.wait = min(2*b.wait, maxProbe)
	return b.wait, false
}

// succeed ends an outage.
func (b *breaker) succeed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away = false
}
