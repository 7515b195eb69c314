package admission

import (
	"testing"
	"time"
)

// TestWrites has a user write alone, then next to another one, then alone again.
func TestWrites(t *testing.T) {
	const cores = 8
	w := writes{gate: Gate{total: cores}}
	now := time.Unix(1000, 0)
	var leaves []func()
	enter := func(user string, n int) { // fails by the time limit of the test if one of them waits
		for range n {
			leaves = append(leaves, w.enter(user, now))
		}
	}
	leave := func(n int) {
		for range n {
			leaves[0]()
			leaves = leaves[1:]
		}
	}
	enter("ann", cores)
	leave(cores)

	w.users.seen("bob", now) // calls
	enter("ann", cores/4)
	waits := make(chan func())
	go func() { waits <- w.enter("ann", now) }()
	until(t, func() bool { return w.gate.Gauge() == Gauge{Running: cores / 4, Waiting: 1} })
	enter("bob", cores/4) // ann's writes do not delay bob's
	leave(1)
	leaves = append(leaves, <-waits)
	leave(len(leaves))

	now = now.Add(neighborTime)
	enter("ann", cores)
	go func() { waits <- w.enter("cem", now) }()
	until(t, func() bool { return w.gate.Gauge() == Gauge{Running: cores, Waiting: 1} })
	go func() { waits <- w.enter("ann", now) }()
	until(t, func() bool { return w.gate.Gauge() == Gauge{Running: cores, Waiting: 2} })
	leave(1) // cem is the first in the line
	leaves = append(leaves, <-waits)
	if n := w.gate.users["cem"].running; n != 1 {
		t.Errorf("%d writes of the other user run, want 1", n)
	}
	leave(len(leaves) - 1) // the last one is cem's
	leaves = append(leaves, <-waits)
	leave(len(leaves))
	if n := w.gate.Gauge(); n != (Gauge{}) || len(w.gate.users) != 0 {
		t.Errorf("%+v and %d users are left", n, len(w.gate.users))
	}
}

// TestNeighbors checks when a user counts as alone.
func TestNeighbors(t *testing.T) {
	var n neighbors
	start := time.Unix(1000, 0)
	for _, c := range []struct {
		after  time.Duration
		user   string
		shared bool
	}{
		{0, "", false}, // a client of a unix socket
		{0, "", false},
		{0, "ann", true},
		{neighborTime - 1, "ann", true},
		{neighborTime, "ann", false},
		{neighborTime, "bob", true},
		{2*neighborTime - 1, "ann", true},
		{2 * neighborTime, "ann", false},
		{4 * neighborTime, "bob", false},
	} {
		if got := n.seen(c.user, start.Add(c.after)); got != c.shared {
			t.Errorf("%q after %v: got shared %v, want %v", c.user, c.after, got, c.shared)
		}
	}
}
