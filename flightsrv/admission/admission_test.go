package admission

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/peer"

	"github.com/vibeflight/vibeflight/flightsrv/auth"
)

// TestTurns has 63 users with one request each, who come after one user with a hundred. They are
// served next, each after one request of the greedy user at most.
func TestTurns(t *testing.T) {
	for _, c := range []struct {
		name         string
		total, limit int
	}{
		{"all users share one place", 1, 0},
		{"all users share four places", 4, 0},
		{"a limit for each user", 4, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := &Gate{what: "calls", total: c.total}
			var order []string
			var leaves []func()
			waits := map[string][]chan struct{}{}
			enter := func(user string) {
				turn, err := g.enqueue(user, c.limit)
				if err != nil {
					t.Fatal(err)
				}
				if turn == nil {
					order = append(order, user)
					leaves = append(leaves, func() { g.leave(user) })
					return
				}
				waits[user] = append(waits[user], turn)
			}
			for range 100 {
				enter("greedy")
			}
			for i := range 63 {
				enter(fmt.Sprint("user", i))
			}
			// Each end starts the next one: what has started is found by its closed channel.
			for len(leaves) > 0 {
				leaves[0]()
				leaves = leaves[1:]
				for user, turns := range waits {
					for len(turns) > 0 {
						select {
						case <-turns[0]:
							turns = turns[1:]
							order = append(order, user)
							leaves = append(leaves, func() { g.leave(user) })
							continue
						default:
						}
						break
					}
					waits[user] = turns
				}
			}
			if len(order) != 163 {
				t.Fatalf("%d of 163 requests ran", len(order))
			}
			last, greedy := 0, 0
			for i, user := range order {
				if user == "greedy" {
					greedy++
				} else if last = i; user != fmt.Sprint("user", i-greedy) && c.total == 1 {
					t.Errorf("request %d is of %s, which did not come next", i, user)
				}
			}
			before := 0 // greedy requests that started before the last of the others
			for _, user := range order[:last] {
				if user == "greedy" {
					before++
				}
			}
			if limit := c.total + 1; before > limit {
				t.Errorf("%d requests of the greedy user ran before the others, want at most %d: %v", before, limit,
					order[:last])
			}
			if n := g.Gauge(); n != (Gauge{}) || len(g.users) != 0 || len(g.line.values) != 0 {
				t.Errorf("%+v and %d users are left", n, len(g.users))
			}
		})
	}
}

// TestGateLimits checks the errors of waiting: too many, too long, the end of the context.
func TestGateLimits(t *testing.T) {
	want := func(err error, words ...string) {
		t.Helper()
		var limit *LimitError
		if !errors.As(err, &limit) {
			t.Fatalf("got %v, want a LimitError", err)
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q does not contain %q", err, w)
			}
		}
	}
	g := &Gate{
		what: "calls", flag: "--max-calls", userFlag: "--user-calls", total: 8,
		queue: Queue{User: 2, All: 3, Time: time.Hour},
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	leave, err := g.Enter(ctx, "ann", 1)
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 3)
	enter := func(user string) {
		go func() {
			_, err := g.Enter(ctx, user, 1)
			waiting <- err
		}()
	}
	enter("ann")
	enter("ann")
	until(t, func() bool { return g.Gauge().Waiting == 2 })
	_, err = g.Enter(ctx, "ann", 1)
	want(err, `2 of "ann" wait`, "--user-waiting", "1 may run at a time, the limit of --user-calls")

	other, err := g.Enter(ctx, "bob", 1) // others run
	if err != nil {
		t.Fatal(err)
	}
	enter("bob")
	until(t, func() bool { return g.Gauge().Waiting == 3 })
	third, err := g.Enter(ctx, "cem", 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.Enter(ctx, "cem", 1)
	want(err, "3 of all users wait", "--max-streams")

	reason := errors.New("the client has left")
	cancel(reason)
	for range 3 {
		if err := <-waiting; !errors.Is(err, reason) {
			t.Errorf("got %v", err)
		}
	}
	g.queue.Time = time.Millisecond
	_, err = g.Enter(t.Context(), "ann", 1)
	want(err, "--queue-timeout", "1ms", "1 may run at a time, the limit of --user-calls")
	leave()
	other()
	third()
	if n := g.Gauge(); n != (Gauge{}) || len(g.users) != 0 {
		t.Errorf("%+v and %d users are left", n, len(g.users))
	}
}

func until(t *testing.T, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within 20 s")
		}
	}
}

// TestGateTogether enters and cancels from many goroutines: no limit is exceeded, nothing is left.
func TestGateTogether(t *testing.T) {
	g := &Gate{what: "calls", total: 5}
	var mu sync.Mutex
	running := map[string]int{}
	all := 0
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			user := fmt.Sprint(i % 7)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%3 == 0 {
				time.AfterFunc(time.Duration(i)*10*time.Microsecond, cancel)
			}
			leave, err := g.Enter(ctx, user, 2)
			if err != nil {
				return
			}
			mu.Lock()
			running[user]++
			all++
			if running[user] > 2 || all > 5 {
				t.Errorf("%d of %s run, %d of all", running[user], user, all)
			}
			mu.Unlock()
			time.Sleep(50 * time.Microsecond)
			mu.Lock()
			running[user]--
			all--
			mu.Unlock()
			leave()
		})
	}
	wg.Wait()
	if n := g.Gauge(); n != (Gauge{}) || len(g.users) != 0 || g.line.Len() != 0 {
		t.Errorf("%+v and %d users are left", n, len(g.users))
	}
}

// TestBuckets sends at twice the rate of one user, while another one is not delayed.
func TestBuckets(t *testing.T) {
	var b buckets
	now := time.Unix(0, 0)
	const rate = 1000
	if d := b.reserve("a", rate, rate, now); d != 0 {
		t.Errorf("the first second waits %v", d)
	}
	if d := b.reserve("a", 500, rate, now); d != 500*time.Millisecond {
		t.Errorf("the next half second waits %v", d)
	}
	if d := b.reserve("a", 500, rate, now); d != time.Second {
		t.Errorf("another stream of the user waits %v", d)
	}
	if d := b.reserve("b", 500, rate, now); d != 0 {
		t.Errorf("another user waits %v", d)
	}
	if d := b.reserve("a", 500, rate, now.Add(2*time.Second)); d != 0 {
		t.Errorf("it waits %v after the debt was paid", d)
	}
	for i := range 3 * maxBuckets {
		b.reserve(fmt.Sprint(i), 1, rate, now.Add(time.Duration(i)*time.Second))
	}
	if n := len(b.users); n > maxBuckets {
		t.Errorf("%d buckets are kept", n)
	}
}

func TestUserOf(t *testing.T) {
	c := New(Config{
		Limits: Limits{Calls: 4, ResultRows: 10},
		Rules: []Rule{
			{Group: "science", Limits: Limits{Calls: 8, BytesPerSecond: 100}},
			{User: "ann", Limits: Limits{ResultRows: 20}},
			{User: "192.0.2.1", Limits: Limits{Parses: 1}},
		},
	})
	from := peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.ParseIP("192.0.2.1"), Port: 5}})
	for _, w := range []struct {
		p    *auth.Principal
		want User
	}{
		{nil, User{"192.0.2.1", Limits{Calls: 4, ResultRows: 10, Parses: 1}}},
		{&auth.Principal{Name: "bob"}, User{"bob", Limits{Calls: 4, ResultRows: 10}}},
		{
			&auth.Principal{Name: "ann", Groups: []string{"science"}},
			User{"ann", Limits{Calls: 8, ResultRows: 20, BytesPerSecond: 100}},
		},
	} {
		if got := c.UserOf(from, w.p); *got != w.want {
			t.Errorf("%+v: got %+v, want %+v", w.p, *got, w.want)
		}
	}
}

// BenchmarkCall is the cost of admission of one call.
func BenchmarkCall(b *testing.B) {
	c := New(Config{Limits: Limits{Calls: 256}, MaxCalls: 1024})
	p := &auth.Principal{Name: "ann"}
	b.ReportAllocs()
	for b.Loop() {
		ctx := With(b.Context(), c.UserOf(b.Context(), p))
		leave, err := c.Call(ctx)
		if err != nil {
			b.Fatal(err)
		}
		leave()
	}
}
