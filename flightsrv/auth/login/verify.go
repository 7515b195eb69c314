package login

import (
	"context"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/auth/passwords"
)

const (
	memoPeriod = 5 * time.Minute // in which a verified password is not hashed again
	maxWaiting = 64              // logins that wait for a hash
	maxWait    = 5 * time.Second
	hashShare  = 4 // one of that many cores hashes
)

// verifier verifies passwords. Hashes take milliseconds and megabytes each, and so their number is
// bounded. Equal credentials share one.
type verifier struct {
	users    func() *passwords.Users
	now      func() time.Time
	verified *memo[string] // fingerprints of users
	attempts attempts
	running  *semaphore.Weighted
	rest     float64             // after a hash, as a multiple of its time
	waiting  *semaphore.Weighted // running ones too
	same     singleflight.Group
}

func newVerifier(users func() *passwords.Users, now func() time.Time) *verifier {
	cores := runtime.GOMAXPROCS(0)
	hashes := int64(max(1, cores/hashShare))
	return &verifier{
		users: users, now: now, verified: newMemo[string](memoPeriod), attempts: attempts{now: now},
		running: semaphore.NewWeighted(hashes), rest: max(0, float64(hashShare*hashes)/float64(cores)-1),
		waiting: semaphore.NewWeighted(hashes + maxWaiting),
	}
}

var errWrong = &auth.Error{Reason: "wrong user or password"}

// verify returns the user with a name and a password.
func (v *verifier) verify(ctx context.Context, name, password string) (*passwords.User, error) {
	if strings.ContainsRune(name, 0) {
		return nil, errWrong // it would separate the parts of a key
	}
	key := v.verified.keyOf(name, password)
	if fingerprint, ok := v.verified.get(key, v.now()); ok {
		if u := v.users().Find(name); u != nil && u.Fingerprint == fingerprint {
			return u, nil
		}
	}
	end, err := v.attempts.begin(addressOf(ctx))
	if err != nil {
		return nil, err
	}
	// The hash goes on if this caller leaves: others may wait for it.
	result := v.same.DoChan(string(key[:]), func() (any, error) {
		u, err := v.hash(name, password)
		if u != nil {
			v.verified.put(key, u.Fingerprint, v.now())
		}
		return u, err
	})
	select {
	case r := <-result:
		u, _ := r.Val.(*passwords.User)
		end(u == nil && r.Err == nil)
		if r.Err == nil && u == nil {
			return nil, errWrong
		}
		return u, r.Err
	case <-ctx.Done():
		end(true) // as if it had failed: leaving early is no way around the limit
		return nil, ctx.Err()
	}
}

// hash returns the user with a name and a password, or nil.
func (v *verifier) hash(name, password string) (*passwords.User, error) {
	if !v.waiting.TryAcquire(1) {
		return nil, errBusy
	}
	defer v.waiting.Release(1)
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	if err := v.running.Acquire(ctx, 1); err != nil {
		return nil, errBusy
	}
	began := time.Now()
	defer func() {
		// With few cores, the next hash waits, so that calls find a free core.
		time.AfterFunc(time.Duration(v.rest*float64(time.Since(began))), func() { v.running.Release(1) })
	}()
	return v.users().Verify(name, password), nil
}

var errBusy = &auth.LimitError{Reason: "too many logins at once: try again in some seconds"}
