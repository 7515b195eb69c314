package admission

import (
	"context"
	"sync"
	"time"
)

// writes bounds the large writes to sockets at a time: one for each core, and for each user a
// quarter of them while there are other users.
//
// Such a write is a copy in the kernel. Without a bound, a user with a hundred connections has a
// hundred threads in the kernel, and the threads of other users wait for a core.
type writes struct {
	gate  Gate // its total is the number of cores
	users neighbors
}

// enter waits until the user may write. The caller calls leave once.
func (w *writes) enter(user string, now time.Time) (leave func()) {
	limit := w.gate.total
	if w.users.seen(user, now) {
		limit = max(1, limit/4)
	}
	leave, err := w.gate.Enter(context.Background(), user, limit)
	if err != nil {
		panic(err) // the waiting has no bound
	}
	return leave
}

// neighbors finds out whether several users share the server.
type neighbors struct {
	mu     sync.Mutex
	user   string    // that was seen last
	last   time.Time // when it was seen
	others time.Time // when another user was seen last
}

// neighborTime is how long a user counts after it was seen.
const neighborTime = time.Second

// seen records a call or a write of a user, and reports whether another user was seen recently.
func (n *neighbors) seen(user string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if user != n.user {
		n.user, n.others = user, n.last
	}
	n.last = now
	return now.Sub(n.others) < neighborTime
}
