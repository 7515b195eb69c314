package flightsrv

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/vibeflight/vibeflight/flightsrv/auth/login"
	"github.com/vibeflight/vibeflight/flightsrv/auth/passwords"
)

// loginFlood is what the process of [TestLoginFlood] that sends logins is told, as JSON in a variable
// of its environment.
type loginFlood struct {
	Address   string        // of the server
	Rate      int           // logins per second
	Span      time.Duration // of the flood
	Addresses int           // of the loopback network that it comes from
}

const (
	floodVariable = "VIBEFLIGHT_TEST_FLOOD"
	floodWaiting  = 2000 // logins of the flood that wait for their answers, at most
	floodUsers    = 100
	sessionReads  = 16 // clients with a session
)

// TestLoginFlood has 16 clients with a session token read a small table again and again, alone and
// while another process sends logins by Basic, of which one in ten has the right password.
// VIBEFLIGHT_LOGINS=8s measures the time of the reads next to 10,000 logins per second, or as many as
// VIBEFLIGHT_LOGIN_RATE says; integration/bench/results has the figures. Otherwise it checks that
// reads and logins have the answers that they should have.
func TestLoginFlood(t *testing.T) {
	if text := os.Getenv(floodVariable); text != "" {
		var of loginFlood
		if err := json.Unmarshal([]byte(text), &of); err != nil {
			t.Fatal(err)
		}
		answers, _ := json.Marshal(of.send(t))
		fmt.Printf("\n%s%s\n", floodVariable, answers)
		return
	}
	flood := loginFlood{Rate: 300, Span: 500 * time.Millisecond, Addresses: 4}
	if span, err := time.ParseDuration(os.Getenv("VIBEFLIGHT_LOGINS")); err == nil {
		flood = loginFlood{Rate: 10_000, Span: span, Addresses: 250}
		if n, err := strconv.Atoi(os.Getenv("VIBEFLIGHT_LOGIN_RATE")); err == nil {
			flood.Rate = n
		}
	}
	f := serve(t, map[string]string{"a.fake": "rows=100"}, withSlowLogins(t))
	flood.Address = f.addr
	ctx, err := f.client.AuthenticateBasicToken(t.Context(), "user0", "secret")
	if err != nil {
		t.Fatal(err)
	}
	var clients []flight.Client
	for range sessionReads {
		clients = append(clients, dial(t, f.addr))
	}
	readWithSession(ctx, t, clients, flood.Span/4) // connects
	alone := readWithSession(ctx, t, clients, flood.Span)

	answers := make(chan map[codes.Code]int)
	go func() { answers <- flood.start(t) }()
	time.Sleep(flood.Span / 4) // connects
	crowded := readWithSession(ctx, t, clients, flood.Span/2)
	got := <-answers
	sent := 0
	for code, n := range got {
		sent += n
		if code != codes.OK && code != codes.Unauthenticated && code != codes.ResourceExhausted {
			t.Errorf("%d logins: %v", n, code)
		}
	}
	t.Logf("p50 %v, p99 %v alone; p50 %v, p99 %v next to %.0f logins per second, %v; p99 %.1f times as long",
		quantile(alone, 0.5), quantile(alone, 0.99), quantile(crowded, 0.5), quantile(crowded, 0.99),
		float64(sent)/flood.Span.Seconds(), got,
		float64(quantile(crowded, 0.99))/float64(quantile(alone, 0.99)))
	if len(alone) < sessionReads || len(crowded) < sessionReads || sent == 0 {
		t.Errorf("%d and %d reads, %d logins", len(alone), len(crowded), sent)
	}
}

// withSlowLogins is a change of a Config: the users user0, user1, … have the password secret, with a
// hash as vibeflight user writes it.
func withSlowLogins(t *testing.T) func(*Config) {
	t.Helper()
	hash, err := passwords.NewHash("secret")
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for i := range floodUsers {
		fmt.Fprintf(&lines, "user%d:%s\n", i, hash)
	}
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := login.Open(login.Config{Users: users})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return func(c *Config) { c.Login = l }
}

// readWithSession has each client read a.fake again and again with the credential in ctx, and returns
// the times, sorted.
func readWithSession(ctx context.Context, t *testing.T, clients []flight.Client, span time.Duration) []time.Duration {
	t.Helper()
	var mu sync.Mutex
	var times []time.Duration
	var all sync.WaitGroup
	end := time.Now().Add(span)
	for _, c := range clients {
		all.Go(func() {
			for first := true; first || time.Now().Before(end); first = false {
				time.Sleep(rand.N(20 * time.Millisecond))
				began := time.Now()
				if err := read(ctx, c, "a.fake"); err != nil {
					t.Error(err)
					return
				}
				took := time.Since(began)
				mu.Lock()
				times = append(times, took)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(times)
	return times
}

// start runs a process that sends the logins, and returns the codes of their answers.
func (l loginFlood) start(t *testing.T) map[codes.Code]int {
	text, err := json.Marshal(l)
	if err != nil {
		t.Error(err)
		return nil
	}
	// Of the lowest priority: the server and its readers have the cores as if it ran elsewhere.
	sender := exec.CommandContext(t.Context(), "nice", "-n", "19", os.Args[0], "-test.run=^TestLoginFlood$")
	sender.Env = append(os.Environ(), floodVariable+"="+string(text))
	out, err := sender.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
		return nil
	}
	_, rest, _ := strings.Cut(string(out), "\n"+floodVariable)
	line, _, _ := strings.Cut(rest, "\n")
	var answers map[codes.Code]int
	if err := json.Unmarshal([]byte(line), &answers); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	return answers
}

// send sends the logins, each at its time, and counts the codes of their answers. A login whose time
// comes while floodWaiting others wait for their answers is left out.
func (l loginFlood) send(t *testing.T) map[codes.Code]int {
	var clients []flight.Client
	for i := range l.Addresses {
		clients = append(clients, dialFrom(t, l.Address, fmt.Sprintf("127.0.3.%d", i+1)))
	}
	var mu sync.Mutex
	answers := map[codes.Code]int{}
	var all sync.WaitGroup
	slots := make(chan struct{}, floodWaiting)
	began := time.Now()
	sent := 0
	for ; time.Since(began) < l.Span; time.Sleep(time.Millisecond) {
		for due := int(time.Since(began).Seconds() * float64(l.Rate)); sent < due; sent++ {
			select {
			case slots <- struct{}{}:
			default:
				continue
			}
			all.Go(func() {
				defer func() { <-slots }()
				user, password := fmt.Sprintf("user%d", rand.N(floodUsers)), "secret"
				if rand.N(10) > 0 {
					password = fmt.Sprint(rand.Uint64())
				}
				_, err := clients[rand.N(len(clients))].AuthenticateBasicToken(t.Context(), user, password)
				mu.Lock()
				answers[status.Code(err)]++
				mu.Unlock()
			})
		}
	}
	all.Wait()
	return answers
}
