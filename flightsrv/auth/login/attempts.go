package login

import (
	"sync"
	"time"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
)

const (
	maxFailures   = 20              // that an address may have at once
	failureEvery  = 3 * time.Second // after which it may have another one
	maxAtOnce     = 32              // passwords of an address that are verified or wait for it
	maxAddresses  = 4096            // of which failures are counted; all others are counted together
	otherAddress  = "other"
	sweepInterval = time.Second
)

// attempts limits the passwords that an address may try.
type attempts struct {
	now func() time.Time

	mu        sync.Mutex
	addresses map[string]*attemptCount
	swept     time.Time
}

// attemptCount is what an address has tried. Failures decrease with time.
type attemptCount struct {
	failures float64
	since    time.Time // when failures was computed
	running  int
}

func (c *attemptCount) update(now time.Time) {
	c.failures = max(0, c.failures-float64(now.Sub(c.since))/float64(failureEvery))
	c.since = now
}

// begin counts an attempt, or returns an error if there are too many. The caller calls end.
func (a *attempts) begin(address string) (end func(failed bool), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.countOf(address)
	if c.failures >= maxFailures {
		return nil, &auth.LimitError{Reason: "too many failed logins from this address: try again in some seconds"}
	}
	if c.running >= maxAtOnce {
		return nil, &auth.LimitError{Reason: "too many logins at once from this address: try again in some seconds"}
	}
	c.running++
	return func(failed bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		c.running--
		if failed {
			c.update(a.now())
			c.failures++
		}
	}, nil
}

// countOf returns the count of an address. The number of counts is bounded.
func (a *attempts) countOf(address string) *attemptCount {
	now := a.now()
	c := a.addresses[address]
	if c == nil && len(a.addresses) >= maxAddresses {
		if now.Sub(a.swept) >= sweepInterval {
			a.sweep(now)
		}
		if len(a.addresses) >= maxAddresses {
			address = otherAddress
			c = a.addresses[address]
		}
	}
	if c == nil {
		c = &attemptCount{since: now}
		if a.addresses == nil {
			a.addresses = map[string]*attemptCount{}
		}
		a.addresses[address] = c
	}
	c.update(now)
	return c
}

// sweep forgets addresses without failures.
func (a *attempts) sweep(now time.Time) {
	a.swept = now
	for address, c := range a.addresses {
		if c.update(now); c.failures == 0 && c.running == 0 {
			delete(a.addresses, address)
		}
	}
}
