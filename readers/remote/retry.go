package remote

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// The waits between attempts: random up to a bound that doubles from firstWait to maxWait.
const (
	firstWait = 50 * time.Millisecond
	maxWait   = 5 * time.Second
	maxDenied = 2 // attempts that are repeated although access was denied
	// maxEncoded is the number of encoded answers in a row after which a request is repeated: a proxy
	// may have compressed them.
	maxEncoded = 2
)

// retry is the state of one request that may be repeated. The attempts share one deadline, which
// progress moves.
type retry struct {
	deadline time.Duration // without progress
	until    time.Time
	attempts int
	denied   int // of them, since the last progress
	encoded  int // of them, since the last progress
	bound    time.Duration
}

func newRetry(deadline time.Duration) *retry {
	return &retry{deadline: deadline, until: time.Now().Add(deadline), bound: firstWait}
}

// progress begins the deadline anew.
func (r *retry) progress() {
	r.until = time.Now().Add(r.deadline)
	r.bound = firstWait
	r.denied, r.encoded = 0, 0
}

// again waits before the next attempt. It returns the error of the request if there is none: err
// is not of a kind that passes, or the deadline would be over.
func (r *retry) again(ctx context.Context, err error) error {
	r.attempts++
	kind, after := kindOf(err)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch kind {
	case Transient, Throttled:
	case Denied: // an expired token is renewed
		if r.denied++; r.denied > maxDenied {
			return err
		}
	case Encoded:
		if r.encoded++; r.encoded > maxEncoded {
			return err
		}
	default:
		return err
	}
	wait := max(after, time.Duration(rand.Int64N(int64(r.bound)))+1)
	r.bound = min(2*r.bound, maxWait)
	if time.Now().Add(wait).After(r.until) {
		return fmt.Errorf("%w (%d attempts in %v): the store is overloaded or cannot be reached; try again later",
			err, r.attempts, r.deadline)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
