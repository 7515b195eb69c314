package flightsrv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/rs/zerolog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"github.com/vibeflight/vibeflight/flightsrv/audit"
	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/telemetry"
	"github.com/vibeflight/vibeflight/internal/system/process"
)

// measured returns telemetry with /metrics.
func measured(t testing.TB) *telemetry.Telemetry {
	t.Helper()
	tel, err := telemetry.New(context.Background(), telemetry.Config{Prometheus: true, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tel.Shutdown(context.Background()) })
	return tel
}

// scrape returns the series of /metrics.
func scrape(t testing.TB, tel *telemetry.Telemetry) []string {
	t.Helper()
	w := httptest.NewRecorder()
	tel.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	var series []string
	for line := range strings.Lines(w.Body.String()) {
		if !strings.HasPrefix(line, "#") {
			series = append(series, strings.TrimSpace(line))
		}
	}
	return series
}

// anyUser accepts the user that the header x-user names.
type anyUser struct{}

func (anyUser) Authenticate(ctx context.Context) (*auth.Principal, error) {
	user := metadata.ValueFromIncomingContext(ctx, "x-user")
	if len(user) == 0 {
		return nil, &auth.Error{Reason: "no user"}
	}
	return &auth.Principal{Name: user[0], Groups: []string{"g-" + user[0]}, Method: "token"}, nil
}

func (anyUser) Handshake(context.Context) (*auth.Principal, string, error) {
	return nil, "", errors.New("none")
}

func (anyUser) Watch(ctx context.Context, _ *auth.Principal) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

// TestSeriesAreBounded has many entries, users, names, errors and methods. The number of series stays
// small, and no series has a text of a client.
func TestSeriesAreBounded(t *testing.T) {
	entries, calls := 100_000, 3000
	if testing.Short() {
		entries, calls = 2000, 300
	}
	files := map[string]string{
		"bad.fake": "nonsense", "limit.fake": "rows=3 fail=limit", "int.fake": "rows=3 fail=internal",
	}
	for i := range entries {
		files[fmt.Sprintf("d%d/entry-%d.fake", i%100, i)] = "rows=1"
	}
	tel := measured(t)
	f := serve(t, files, func(c *Config) { c.Telemetry, c.Login = tel, anyUser{} })
	for i := range calls {
		user := fmt.Sprintf("user-%d", i)
		ctx := metadata.AppendToOutgoingContext(t.Context(), "x-user", user)
		name := fmt.Sprintf("d%d/entry-%d.fake", i%100, i)
		switch i % 7 {
		case 0:
			name = "no-" + user
		case 1:
			name = []string{"bad.fake", "limit.fake", "int.fake"}[i/7%3]
		case 2:
			name = fmt.Sprintf(`{"name":%q,"columns":["x%d"]}`, name, i)
		}
		drain(f.client.DoGet(ctx, &flight.Ticket{Ticket: []byte(name)}))
		_, _ = f.client.GetFlightInfo(ctx, cmdOf(name))
		_, _ = f.client.GetSchema(ctx, cmdOf(name))
		drain(f.client.DoAction(ctx, &flight.Action{Type: user}))
		if i%10 == 0 {
			drain(f.client.DoGet(t.Context(), &flight.Ticket{Ticket: []byte(name)})) // no user
			drain(f.client.ListActions(ctx, &flight.Empty{}))
			_, _ = f.client.PollFlightInfo(ctx, cmdOf(name))
		}
	}
	conn, err := grpc.NewClient(f.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for i := range 50 { // methods that do not exist
		_ = conn.Invoke(t.Context(), fmt.Sprintf("/a.B%d/C", i), &flight.Empty{}, &flight.Empty{})
		_ = conn.Invoke(t.Context(), fmt.Sprintf("%sM%d", flightPrefix, i), &flight.Empty{}, &flight.Empty{})
	}
	series := scrape(t, tel)
	t.Logf("%d series", len(series))
	if len(series) > 400 {
		t.Errorf("%d series, more than 400:\n%s", len(series), strings.Join(series, "\n"))
	}
	for _, s := range series {
		if strings.Contains(s, "user-") || strings.Contains(s, "entry-") || strings.Contains(s, ".fake") {
			t.Errorf("a text of a client: %s", s)
		}
	}
	for _, want := range []string{
		fmt.Sprintf("vibeflight_catalog_entries %d", len(files)),
		`vibeflight_authentications_total{method="unknown",outcome="refused"}`,
		`vibeflight_authentications_total{method="token",outcome="ok"}`,
		`vibeflight_calls_total{code="UNAUTHENTICATED",method="DoGet"}`,
		`vibeflight_calls_total{code="RESOURCE_EXHAUSTED",method="DoGet"}`,
		`grpc_server_call_started_total{grpc_method="other"}`,
	} {
		if !slices.ContainsFunc(series, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("no series %s", want)
		}
	}
}

// drain receives all messages of a call.
func drain[M any](stream interface{ Recv() (M, error) }, err error) {
	for err == nil {
		_, err = stream.Recv()
	}
}

// TestAuditLines makes calls of several kinds, and compares their lines in the audit log.
func TestAuditLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit")
	l, err := audit.Open(audit.Config{File: file, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	f := serve(t, map[string]string{"a.fake": "rows=10"}, func(c *Config) { c.Audit, c.Login = l, anyUser{} })
	ctx := metadata.AppendToOutgoingContext(t.Context(), "x-user", "ann", "authorization", "Bearer secret",
		"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	drain(f.client.DoGet(ctx, &flight.Ticket{Ticket: []byte(`{"name":"a.fake","columns":["n"],"bbox":[2,-9,5,0]}`)}))
	drain(f.client.DoGet(ctx, &flight.Ticket{Ticket: []byte("none")}))
	drain(f.client.DoAction(ctx, &flight.Action{Type: "stats"}))
	drain(f.client.ListFlights(t.Context(), &flight.Criteria{})) // without a user
	until(t, "all calls have ended", func() bool { return f.server.load.streams.Load() == 0 })
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("secret")) {
		t.Errorf("a credential: %s", text)
	}
	var lines []audit.Record
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var r audit.Record
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, r)
	}
	if len(lines) != 4 {
		t.Fatalf("%d lines: %s", len(lines), text)
	}
	get := lines[0]
	if get.Method != "DoGet" || get.Entry != "a.fake" || !slices.Equal(get.Columns, []string{"n"}) ||
		get.Box == nil || *get.Box != [4]float64{2, -9, 5, 0} || get.Rows != 4 || get.Bytes == 0 || get.Code != "OK" ||
		get.User != "ann" || !slices.Equal(get.Groups, []string{"g-ann"}) || get.Login != "token" ||
		get.Address == "" || get.Trace != "0af7651916cd43dd8448eb211c80319c" || get.Total <= 0 ||
		!strings.Contains(get.UserAgent, "grpc-go") || time.Since(get.Time) > time.Minute {
		t.Errorf("got %+v", get)
	}
	if sum := get.Queue + get.Open + get.First; get.Open <= 0 || get.First <= 0 || sum > get.Total {
		t.Errorf("phases %v, total %v", sum, get.Total)
	}
	if r := lines[1]; r.Code != "NOT_FOUND" || r.Entry != "none" || r.Error == "" {
		t.Errorf("got %+v", r)
	}
	if r := lines[2]; r.Method != "DoAction" || r.Action != "stats" || r.Code != "OK" {
		t.Errorf("got %+v", r)
	}
	if r := lines[3]; r.Method != "ListFlights" || r.Code != "UNAUTHENTICATED" || r.User != "" {
		t.Errorf("got %+v", r)
	}
}

// TestStuckComponent turns gRPC's health to NOT_SERVING while a probe hangs.
func TestStuckComponent(t *testing.T) {
	hang := make(chan struct{})
	f := serve(t, nil, func(c *Config) {
		c.components = []telemetry.Component{{
			Name: "x", Every: time.Millisecond, Stale: 20 * time.Millisecond,
			Probe: func(context.Context) error { <-hang; return nil },
		}}
	})
	conn, err := grpc.NewClient(f.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	health := grpc_health_v1.NewHealthClient(conn)
	is := func(want grpc_health_v1.HealthCheckResponse_ServingStatus) func() bool {
		return func() bool {
			got, err := health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
			return err == nil && got.Status == want
		}
	}
	until(t, "not serving", is(grpc_health_v1.HealthCheckResponse_NOT_SERVING))
	close(hang)
	until(t, "serving again", is(grpc_health_v1.HealthCheckResponse_SERVING))
}

// TestCodeNames has a name for each code.
func TestCodeNames(t *testing.T) {
	for c := codes.OK; c <= codes.Unauthenticated; c++ {
		if codeNames[c] == "" {
			t.Errorf("no name for %v", c)
		}
	}
}

// TestObserveAllocates observes a call without an allocation while nothing is observed.
func TestObserveAllocates(t *testing.T) {
	s := &service{cfg: Config{Telemetry: &telemetry.Telemetry{}}}
	c := &call{method: flightPrefix + "DoGet", start: time.Now(), phases: phases{first: time.Now()}}
	if n := testing.AllocsPerRun(100, func() { s.observe(t.Context(), c, "OK", nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// cpuTime returns the CPU time of the process so far.
func cpuTime(b *testing.B) time.Duration {
	used, err := process.CPUTime()
	if err != nil {
		b.Fatal(err)
	}
	return used
}

// BenchmarkObservedGet reads a cached table from several servers in turn: two without login, metrics
// and audit log, of which the second shows the noise, and others with each of them and with all. It
// reports the CPU time per call, of server and client together, and what each adds to the first.
func BenchmarkObservedGet(b *testing.B) {
	for _, size := range []string{"rows=3", "rows=20000 pad=40", "rows=200000 pad=40"} {
		b.Run(strings.ReplaceAll(size, " ", ","), func(b *testing.B) {
			readers := observedReaders(b, map[string]string{"a.fake": size})
			const calls = 10 // in a row
			took := make([]time.Duration, len(readers))
			rounds := 0
			for b.Loop() {
				for _, at := range rand.Perm(len(readers)) {
					begin := cpuTime(b)
					for range calls {
						if err := read(readers[at].ctx, readers[at].client, "a.fake"); err != nil {
							b.Fatal(err)
						}
					}
					if rounds > 0 { // the first round parses and warms up
						took[at] += cpuTime(b) - begin
					}
				}
				rounds++
			}
			b.ReportMetric(0, "ns/op")
			plain := float64(took[0].Microseconds())
			b.ReportMetric(plain/float64(calls*max(1, rounds-1)), "plain-µs/call")
			for i, r := range readers[1:] {
				more := float64(took[i+1].Microseconds()) - plain
				b.ReportMetric(more/float64(calls*max(1, rounds-1)), r.name+"-µs/call")
				b.ReportMetric(100*more/plain, r.name+"-%")
			}
		})
	}
}

// observedReader is a client of a server of BenchmarkObservedGet.
type observedReader struct {
	name   string
	ctx    context.Context //nolint:containedctx // has the client's credential
	client flight.Client
}

// observedReaders starts the servers of BenchmarkObservedGet.
func observedReaders(b *testing.B, files map[string]string) []observedReader {
	metrics := func(c *Config) { c.Telemetry = measured(b) }
	audited := func(c *Config) {
		l, err := audit.Open(audit.Config{File: filepath.Join(b.TempDir(), "audit"), Log: zerolog.Nop()})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = l.Close(context.Background()) })
		c.Audit = l
	}
	token, logins := withTokens(b)
	var all []observedReader
	for _, of := range []struct {
		name       string
		credential string // "session" or "token"
		change     []func(*Config)
	}{
		{"plain", "", nil},
		{"same", "", nil},
		{"metrics", "", []func(*Config){metrics}},
		{"audit", "", []func(*Config){audited}},
		{"session", "session", []func(*Config){logins}},
		{"token", "token", []func(*Config){logins}},
		{"all-session", "session", []func(*Config){metrics, audited, logins}},
		{"all-token", "token", []func(*Config){metrics, audited, logins}},
	} {
		f := serve(b, files, of.change...)
		ctx := b.Context()
		var err error
		switch of.credential {
		case "session":
			ctx, err = f.client.AuthenticateBasicToken(ctx, "alice", "secret")
		case "token":
			ctx = sending(ctx, "Bearer "+token)
		}
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, observedReader{of.name, ctx, f.client})
	}
	return all
}
