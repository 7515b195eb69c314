package admission

import (
	"context"
	"sync"
	"time"
)

// buckets are the token buckets of users, by name.
type buckets struct {
	mu    sync.Mutex
	users map[string]*bucket
}

// bucket is the bytes that a user may send now. It fills by rate, and holds at most a second of it. A
// debt is paid before the next byte.
type bucket struct {
	bytes float64 // at the time at; negative: a debt
	at    time.Time
}

// maxBuckets is the number of buckets from which full ones are removed.
const maxBuckets = 1024

// reserve takes n bytes from the bucket of a user, and returns how long to wait before they are sent.
func (b *buckets) reserve(user string, n int, rate int64, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.users[user]
	if u == nil {
		if b.users == nil {
			b.users = map[string]*bucket{}
		}
		if len(b.users) >= maxBuckets {
			b.removeFull(rate, now)
		}
		u = &bucket{bytes: float64(rate), at: now}
		b.users[user] = u
	}
	u.bytes = min(float64(rate), u.bytes+now.Sub(u.at).Seconds()*float64(rate)) - float64(n)
	u.at = now
	if u.bytes >= 0 {
		return 0
	}
	return time.Duration(-u.bytes / float64(rate) * float64(time.Second))
}

// removeFull removes the buckets that are full: a new one is the same.
func (b *buckets) removeFull(rate int64, now time.Time) {
	for user, u := range b.users {
		if u.bytes+now.Sub(u.at).Seconds()*float64(rate) >= float64(rate) {
			delete(b.users, user)
		}
	}
}

// wait waits until the user may send n bytes, or ctx ends. No lock is held meanwhile.
func (b *buckets) wait(ctx context.Context, user string, n int, rate int64) error {
	d := b.reserve(user, n, rate, time.Now())
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
