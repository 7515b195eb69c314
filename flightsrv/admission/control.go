// Package admission bounds what users may do at a time and in all: calls, parses, SQL queries, bytes
// sent per second, rows of a result, time of a query. What exceeds a number at a time waits, and the
// users that wait take turns. So the hundred requests of one user delay the request of another one by
// one turn.
//
// Large writes to sockets take turns too. Their number depends on the cores.
//
// A user is the caller that has logged in. Without a login it is the client's address.
package admission

import (
	"context"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/peer"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
)

// Limits are the bounds of one user. 0 is no bound.
type Limits struct {
	Calls          int           // that run at a time (--user-calls)
	Queries        int           // of SQL whose rows are computed at a time (--user-queries)
	Parses         int           // of files, at a time (--user-parses)
	BytesPerSecond int64         // of rows sent, over all calls (--user-bytes-per-second)
	ResultRows     int64         // of one answer (--max-result-rows)
	QueryTime      time.Duration // that the server computes for one query (--query-timeout)
}

// Rule replaces limits of a user, or of the members of a group. Its zeros replace nothing.
type Rule struct {
	User, Group string // one of them is empty; without a login, User is the client's address
	Limits
}

// merge replaces the limits that the rule has.
func (l Limits) merge(r Limits) Limits {
	replace(&l.Calls, r.Calls)
	replace(&l.Queries, r.Queries)
	replace(&l.Parses, r.Parses)
	replace(&l.BytesPerSecond, r.BytesPerSecond)
	replace(&l.ResultRows, r.ResultRows)
	replace(&l.QueryTime, r.QueryTime)
	return l
}

func replace[T int | int64 | time.Duration](to *T, v T) {
	if v != 0 {
		*to = v
	}
}

// Config is the limits of a server.
type Config struct {
	Limits        // of each user
	Rules  []Rule // of some users; a later one has precedence
	// bounds of all users
	MaxCalls  int // that run at a time; 0: no bound (--max-calls)
	MaxParses int // at a time; 0: no bound
	Queue     Queue
}

// Defaults of Config.
const (
	DefaultMaxCalls    = 1024
	DefaultUserCalls   = 256
	DefaultUserWaiting = 1000
	DefaultQueueTime   = time.Minute
)

// Control admits what users do. It is safe for use by several goroutines.
type Control struct {
	limits  atomic.Pointer[rules]
	calls   Gate
	queries Gate
	parses  Gate
	sent    buckets
	writes  writes
}

type rules struct {
	all  Limits
	some []Rule
}

// New returns the control of a server.
func New(cfg Config) *Control {
	c := &Control{
		calls: Gate{
			what: "calls", flag: "--max-calls", userFlag: "--user-calls", total: cfg.MaxCalls, queue: cfg.Queue,
		},
		queries: Gate{what: "queries", userFlag: "--user-queries", queue: cfg.Queue},
		// Waiting calls are bounded, and a call waits for few parses.
		parses: Gate{what: "parses", flag: "the number of parses", userFlag: "--user-parses", total: cfg.MaxParses},
	}
	c.writes.gate.total = runtime.GOMAXPROCS(0)
	c.SetLimits(cfg.Limits, cfg.Rules)
	return c
}

// SetLimits replaces the limits of users, for calls that begin later.
func (c *Control) SetLimits(all Limits, some []Rule) { c.limits.Store(&rules{all, some}) }

// User is a user and its limits.
type User struct {
	Name string
	Limits
}

// UserOf returns the user of a call: p, or the client's address if p is nil.
func (c *Control) UserOf(ctx context.Context, p *auth.Principal) *User {
	r := c.limits.Load()
	u := &User{Limits: r.all}
	var groups []string
	if p != nil {
		u.Name, groups = p.Name, p.Groups
	} else {
		u.Name = ClientOf(ctx)
	}
	for _, s := range r.some {
		if s.User != "" && s.User == u.Name || s.Group != "" && slices.Contains(groups, s.Group) {
			u.Limits = u.merge(s.Limits)
		}
	}
	return u
}

// Call begins a call of the context's user. The caller calls leave once.
func (c *Control) Call(ctx context.Context) (leave func(), err error) {
	u := Of(ctx)
	c.writes.users.seen(u.Name, time.Now())
	return c.calls.Enter(ctx, u.Name, u.Calls)
}

// Query begins to compute the rows of a query of the context's user. The caller calls leave once.
func (c *Control) Query(ctx context.Context) (leave func(), err error) {
	u := Of(ctx)
	return c.queries.Enter(ctx, u.Name, u.Queries)
}

// Parse begins a parse for the context's user. The caller calls leave once.
func (c *Control) Parse(ctx context.Context) (leave func(), err error) {
	u := Of(ctx)
	return c.parses.Enter(ctx, u.Name, u.Parses)
}

// Send waits until the context's user may send n bytes. Others are not delayed.
func (c *Control) Send(ctx context.Context, n int) error {
	u := Of(ctx)
	if u.BytesPerSecond == 0 {
		return nil
	}
	return c.sent.wait(ctx, u.Name, n, u.BytesPerSecond)
}

// Write waits until a connection of the user may write much to its socket. The caller calls leave
// once, and soon: the write must not wait for the client.
func (c *Control) Write(user string) (leave func()) { return c.writes.enter(user, time.Now()) }

// Stats is what runs and what waits.
type Stats struct {
	Calls   Gauge `json:"calls"`
	Queries Gauge `json:"queries"`
	Parses  Gauge `json:"parses"`
}

// Stats returns what runs and what waits now.
func (c *Control) Stats() Stats {
	return Stats{c.calls.Gauge(), c.queries.Gauge(), c.parses.Gauge()}
}

type userKey struct{}

// With returns a context with a user.
func With(ctx context.Context, u *User) context.Context { return context.WithValue(ctx, userKey{}, u) }

// Inherit returns own with the user of caller. It is for work that outlives its call.
func (c *Control) Inherit(own, caller context.Context) context.Context { return With(own, Of(caller)) }

var nobody = &User{}

// Of returns the user of a context. The server's own work has a user without a name and without
// limits.
func Of(ctx context.Context) *User {
	if u, ok := ctx.Value(userKey{}).(*User); ok {
		return u
	}
	return nobody
}

// ClientOf identifies the client of a call by its address without the port. An IPv6 client has a
// network of 64 bits, which identifies it. Clients over a unix socket count as one: they all run as
// the server's user.
func ClientOf(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	at, ok := p.Addr.(*net.TCPAddr)
	if !ok {
		return ""
	}
	ip := at.AddrPort().Addr().Unmap()
	if ip.Is6() {
		network := netip.PrefixFrom(ip.WithZone(""), 64)
		return network.Masked().String()
	}
	return ip.String()
}
