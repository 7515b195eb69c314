package admission

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Gate bounds what runs at a time, in all and of each user. The rest waits, and users take turns. It
// is safe for use by several goroutines.
type Gate struct {
	what     string // in the plural
	flag     string // of the bound for all users
	userFlag string
	total    int // that run at a time; 0: no bound
	queue    Queue

	mu      sync.Mutex
	running int
	users   map[string]*gateUser
	line    Line[chan struct{}]
}

// Queue bounds the waiting for a gate.
type Queue struct {
	All, User int           // that wait at a time, of all users and of each; 0: no bound
	Time      time.Duration // of one; 0: no bound
}

// gateUser is a user that has something running or waiting.
type gateUser struct {
	running int
	limit   int // the latest; 0: no bound
}

// Gauge is the present state of a gate.
type Gauge struct {
	Running int `json:"running"`
	Waiting int `json:"waiting"`
}

// Gauge returns the present state.
func (g *Gate) Gauge() Gauge {
	g.mu.Lock()
	defer g.mu.Unlock()
	return Gauge{g.running, g.line.Len()}
}

// Enter waits until the user's turn comes. limit bounds what runs of this user; 0 is no bound. The
// caller calls leave once. The error is a *LimitError, or the cause of the end of ctx.
func (g *Gate) Enter(ctx context.Context, user string, limit int) (leave func(), err error) {
	turn, err := g.enqueue(user, limit)
	if err != nil {
		return nil, err
	}
	leave = func() { g.leave(user) }
	if turn == nil {
		return leave, nil
	}
	var late <-chan time.Time
	if g.queue.Time > 0 {
		timer := time.NewTimer(g.queue.Time)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-turn:
		return leave, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late:
		err = &LimitError{"queue-timeout", fmt.Sprintf("%s: the turn of %s did not come within %v, the limit of "+
			"--queue-timeout%s: call again later", g.what, quoted(user), g.queue.Time, g.bound(limit))}
	}
	if !g.giveUp(user, turn) { // the turn came at the same time
		g.leave(user)
	}
	return nil, err
}

// enqueue starts at once and returns nil, or returns the channel that is closed when the turn comes.
func (g *Gate) enqueue(user string, limit int) (turn chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	u := g.users[user]
	if u == nil {
		u = &gateUser{}
		if g.users == nil {
			g.users = map[string]*gateUser{}
		}
		g.users[user] = u
	}
	u.limit = limit
	// If the gate has room, those that wait have reached the limit of their user.
	if g.hasRoom() && u.hasRoom() && g.line.Of(user) == 0 {
		g.running++
		u.running++
		return nil, nil
	}
	waiting := g.line.Of(user)
	if g.queue.User > 0 && waiting >= g.queue.User {
		return nil, &LimitError{"user-waiting", fmt.Sprintf("%s: %d of %s wait, the limit of --user-waiting%s: call "+
			"again later", g.what, waiting, quoted(user), g.bound(limit))}
	}
	if g.queue.All > 0 && g.line.Len() >= g.queue.All {
		g.forget(user)
		return nil, &LimitError{"max-streams", fmt.Sprintf("%s: %d of all users wait, half of --max-streams: "+
			"call again later", g.what, g.line.Len())}
	}
	turn = make(chan struct{})
	g.line.Push(user, turn)
	return turn, nil
}

func (g *Gate) hasRoom() bool { return g.total == 0 || g.running < g.total }

func (u *gateUser) hasRoom() bool { return u.limit == 0 || u.running < u.limit }

// leave ends one use, and starts those whose turn has come.
func (g *Gate) leave(user string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	g.users[user].running--
	for g.hasRoom() {
		next, turn, ok := g.line.Pop(func(user string) bool { return g.users[user].hasRoom() })
		if !ok {
			break
		}
		g.running++
		g.users[next].running++
		close(turn)
	}
	g.forget(user)
}

// giveUp ends the waiting for a turn. It reports false if the turn has come.
func (g *Gate) giveUp(user string, turn chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	waited := g.line.Remove(user, turn)
	g.forget(user)
	return waited
}

// bound describes what may run at a time, for error messages.
func (g *Gate) bound(limit int) string {
	switch {
	case limit > 0 && (g.total == 0 || limit <= g.total):
		return fmt.Sprintf("; %d may run at a time, the limit of %s", limit, g.userFlag)
	case g.total > 0:
		return fmt.Sprintf("; %d of all users may run at a time, the limit of %s", g.total, g.flag)
	}
	return ""
}

// forget removes a user with nothing running or waiting. Gate.mu is held.
func (g *Gate) forget(user string) {
	if u := g.users[user]; u != nil && u.running == 0 && g.line.Of(user) == 0 {
		delete(g.users, user)
	}
}

func quoted(user string) string {
	if user == "" {
		return "this client"
	}
	return fmt.Sprintf("%q", user)
}

// LimitError is the error of a call above a limit of its user, or of all users.
type LimitError struct {
	Flag string // that sets the limit, without dashes
	What string
}

func (e *LimitError) Error() string { return e.What }
