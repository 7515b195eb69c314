package flightsrv

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/admission"
	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/readers"
)

// bigTable is a table that no client's window holds: a stream of it waits for its reader.
var bigTable = map[string]string{"big.fake": "rows=60000 pad=1000", "a.fake": "rows=10"}

// unread begins a DoGet and reads the schema only.
func (f *fixture) unread(t *testing.T, client flight.Client, name string) flight.FlightService_DoGetClient {
	t.Helper()
	stream, err := client.DoGet(t.Context(), &flight.Ticket{Ticket: []byte(name)})
	if err == nil {
		_, err = stream.Recv()
	}
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// rest reads a stream to its end.
func rest(stream interface {
	Recv() (*flight.FlightData, error)
},
) error {
	for {
		if _, err := stream.Recv(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// act runs an action and decodes its answer.
func act(t *testing.T, client flight.Client, kind, body string, answer any) error {
	t.Helper()
	stream, err := client.DoAction(t.Context(), &flight.Action{Type: kind, Body: []byte(body)})
	if err != nil {
		return err
	}
	result, err := stream.Recv()
	if err != nil {
		return err
	}
	return json.Unmarshal(result.Body, answer)
}

func healthOf(t *testing.T, conn *grpc.ClientConn) (grpc_health_v1.HealthCheckResponse_ServingStatus, error) {
	t.Helper()
	answer, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	return answer.GetStatus(), err
}

// TestDrainSteps follows the steps of a drain: NOT_SERVING while calls still work, refused calls, a stream
// that ends in time.
func TestDrainSteps(t *testing.T) {
	f := serve(t, bigTable, func(c *Config) { c.DrainDelay, c.Drain = 2*time.Second, time.Minute })
	conn, err := grpc.NewClient(f.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if s, err := healthOf(t, conn); err != nil || s != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Fatalf("%v, %v", s, err)
	}
	stream := f.unread(t, f.client, "big.fake")
	ended := make(chan struct{})
	go func() {
		f.server.drain()
		close(ended)
	}()
	until(t, "health checks report NOT_SERVING", func() bool {
		s, err := healthOf(t, conn)
		return err == nil && s == grpc_health_v1.HealthCheckResponse_NOT_SERVING
	})
	late := dial(t, f.addr) // a new client during the delay
	defer late.Close()
	info, err := late.GetFlightInfo(t.Context(), pathOf("a.fake"))
	if err != nil || info.TotalRecords != 10 {
		t.Errorf("a call during the delay: %v", err)
	}
	until(t, "new calls are refused", func() bool {
		_, err := f.client.GetFlightInfo(t.Context(), pathOf("a.fake"))
		if err != nil && status.Code(err) != codes.Unavailable {
			t.Fatal(err)
		}
		return err != nil
	})
	select {
	case <-ended:
		t.Fatal("the drain ended before the stream")
	default:
	}
	if err := rest(stream); err != nil {
		t.Errorf("the stream in progress: %v", err)
	}
	<-ended
}

// TestNewCallsAreRefused refuses a call on a connection that does not know of the drain yet.
func TestNewCallsAreRefused(t *testing.T) {
	f := serve(t, bigTable)
	f.info(t, pathOf("a.fake"))
	f.server.load.goingAway.Store(true)
	_, err := f.client.GetFlightInfo(t.Context(), pathOf("a.fake"))
	wantStatus(t, err, codes.Unavailable, "going away", "call again")
}

// stubborn is a format whose parse ignores its context.
func stubborn(begun chan struct{}, end chan struct{}) readers.Format {
	f := fakeFormat()
	inner := f.CPU
	f.CPU = func(l readers.Layout) readers.Parser {
		begun <- struct{}{}
		<-end
		return inner(l)
	}
	return f
}

// TestDrainOfStuckCalls has a client that does not read, and a parse that ignores its context. Serve
// returns after Config.Drain all the same, and both clients learn that they may call again.
func TestDrainOfStuckCalls(t *testing.T) {
	begun, end := make(chan struct{}, 1), make(chan struct{})
	stuck := stubborn(begun, end)
	stuck.Name, stuck.Extensions = "stuck", []string{".stuck"}
	f := serveCatalog(t, map[string]string{"big.fake": bigTable["big.fake"], "a.stuck": "rows=1"}, catalog.Config{
		Formats: readers.Registry{fakeFormat(), stuck},
	}, func(c *Config) { c.Drain = 200 * time.Millisecond })
	t.Cleanup(func() { close(end) }) // before the catalog is closed, which waits for it
	parsed := make(chan error, 1)
	go func() {
		_, err := f.client.GetFlightInfo(t.Context(), pathOf("a.stuck"))
		parsed <- err
	}()
	<-begun
	other := dial(t, f.addr)
	defer other.Close()
	stream := f.unread(t, other, "big.fake")
	until(t, "the stream waits for its client", func() bool { return f.server.active.list()[1].bytes.Load() > 0 })
	began := time.Now()
	f.server.drain()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the drain took %v", took)
	}
	for _, err := range []error{<-parsed, rest(stream)} {
		if status.Code(err) != codes.Unavailable {
			t.Errorf("got %v", err)
		}
	}
}

// TestKill ends a stream whose client does not read, and a parse that ignores its context.
func TestKill(t *testing.T) {
	begun, end := make(chan struct{}, 1), make(chan struct{})
	stuck := stubborn(begun, end)
	stuck.Name, stuck.Extensions = "stuck", []string{".stuck"}
	f := serveCatalog(t, map[string]string{"big.fake": bigTable["big.fake"], "a.stuck": "rows=1"}, catalog.Config{
		Formats: readers.Registry{fakeFormat(), stuck},
	})
	t.Cleanup(func() { close(end) })
	other := dial(t, f.addr)
	defer other.Close()
	stream := f.unread(t, other, "big.fake")
	parsed := make(chan error, 1)
	go func() {
		_, err := f.client.GetFlightInfo(t.Context(), pathOf("a.stuck"))
		parsed <- err
	}()
	<-begun

	var list struct{ Queries []activeQuery }
	queries := func() []activeQuery {
		t.Helper()
		if err := act(t, f.client, "queries", "", &list); err != nil {
			t.Fatal(err)
		}
		return list.Queries
	}
	until(t, "both calls are listed", func() bool { return len(queries()) == 2 && list.Queries[0].Rows > 0 })
	q := list.Queries[0]
	if q.Method != "DoGet" || q.Name != "big.fake" || q.User != "127.0.0.1" || q.State != "running" || q.Bytes == 0 ||
		!strings.HasPrefix(q.Address, "127.0.0.1:") || time.Since(q.Start) > time.Minute {
		t.Errorf("%+v", q)
	}
	if q := list.Queries[1]; q.Method != "GetFlightInfo" || q.Name != "a.stuck" {
		t.Errorf("%+v", q)
	}

	var answer struct{ Killed int }
	if err := act(t, f.client, "kill", `{"id": "`+q.ID+`"}`, &answer); err != nil || answer.Killed != 1 {
		t.Fatalf("%+v, %v", answer, err)
	}
	until(t, "the handler of the stream has returned", func() bool { return len(queries()) == 1 })
	wantStatus(t, rest(stream), codes.Aborted, "ended by an administrator")

	if err := act(t, f.client, "kill", `{"user": "127.0.0.1"}`, &answer); err != nil || answer.Killed != 1 {
		t.Fatalf("%+v, %v", answer, err)
	}
	wantStatus(t, <-parsed, codes.Aborted, "ended by an administrator")
	for _, body := range []string{"", "{}", `{"id": 7}`, `{"id": "1", "user": "a"}`} {
		wantStatus(t, act(t, f.client, "kill", body, &answer), codes.InvalidArgument)
	}
	if err := act(t, f.client, "kill", `{"id": "999"}`, &answer); err != nil || answer.Killed != 0 {
		t.Errorf("%+v, %v", answer, err)
	}
	wantStatus(t, act(t, f.client, "drain", "", &answer), codes.Unimplemented)
}

// TestDrainAction ends the context of Serve.
func TestDrainAction(t *testing.T) {
	stopped := make(chan struct{})
	f := serve(t, bigTable, func(c *Config) { c.Stop = func() { close(stopped) } })
	var answer map[string]bool
	if err := act(t, f.client, "drain", "", &answer); err != nil || !answer["draining"] {
		t.Fatalf("%v, %v", answer, err)
	}
	<-stopped
}

// fakeLogin identifies a caller by its header "authorization".
type fakeLogin struct{}

func (fakeLogin) Authenticate(ctx context.Context) (*auth.Principal, error) {
	name := headerOf(ctx, "authorization")
	if name == "" {
		return nil, &auth.Error{Reason: "no credential"}
	}
	return &auth.Principal{Name: name, Groups: []string{"group-" + name}}, nil
}

func (fakeLogin) Handshake(context.Context) (*auth.Principal, string, error) { return nil, "", nil }

func (fakeLogin) Watch(ctx context.Context, _ *auth.Principal) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

type fakeGrants struct{}

func (fakeGrants) Scope(p *auth.Principal) access.Scope {
	if p.Name == "root" {
		return access.All
	}
	return access.None
}

// TestAdministrators checks who may run the actions for administrators.
func TestAdministrators(t *testing.T) {
	f := serveCatalog(t, bigTable, catalog.Config{Restricted: true},
		func(c *Config) { c.Login, c.Grants = fakeLogin{}, fakeGrants{} })
	for _, a := range []struct{ kind, body string }{
		{"queries", ""}, {"sessions", ""}, {"kill", `{"id": "1"}`}, {"drain", ""},
	} {
		for user, want := range map[string]codes.Code{
			"ann": codes.PermissionDenied, "": codes.Unauthenticated,
			"root": map[bool]codes.Code{true: codes.Unimplemented}[a.kind == "drain"],
		} {
			ctx := withHeader(t.Context(), "authorization", user)
			stream, err := f.client.DoAction(ctx, &flight.Action{Type: a.kind, Body: []byte(a.body)})
			if err == nil {
				_, err = stream.Recv()
			}
			if status.Code(err) != want {
				t.Errorf("%s by %q: %v, want %v", a.kind, user, err, want)
			}
		}
	}
}

// TestTurnsOfCalls lets one call of a user run at a time. Another user's call does not wait for those
// of the first one, which wait, and are refused beyond a number.
func TestTurnsOfCalls(t *testing.T) {
	f := serve(t, bigTable, func(c *Config) {
		c.Login = fakeLogin{}
		c.Admission = admission.New(admission.Config{
			Limits: admission.Limits{Calls: 1}, MaxCalls: 2,
			Queue: admission.Queue{User: 3, Time: time.Minute},
		})
	})
	as := func(user string) context.Context { return withHeader(t.Context(), "authorization", user) }
	stream, err := f.client.DoGet(as("greedy"), &flight.Ticket{Ticket: []byte("big.fake")})
	if err == nil {
		_, err = stream.Recv()
	}
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := f.client.GetFlightInfo(as("greedy"), pathOf("a.fake"))
			waiting <- err
		}()
	}
	until(t, "three calls wait", func() bool { return f.server.cfg.Admission.Stats().Calls.Waiting == 3 })
	_, err = f.client.GetFlightInfo(as("greedy"), pathOf("a.fake"))
	wantStatus(t, err, codes.ResourceExhausted, "--user-waiting", "1 may run at a time, the limit of --user-calls")
	for range 10 {
		if _, err := f.client.GetFlightInfo(as("ann"), pathOf("a.fake")); err != nil {
			t.Fatal(err)
		}
	}
	if n := f.server.cfg.Admission.Stats().Calls; n != (admission.Gauge{Running: 1, Waiting: 3}) {
		t.Errorf("%+v", n)
	}
	var list struct{ Sessions []openOfUser }
	if err := actAs(f.client, as("ann"), "sessions", &list); err != nil || len(list.Sessions) != 1 ||
		list.Sessions[0].User != "greedy" || list.Sessions[0].Calls != 4 {
		t.Errorf("%+v, %v", list, err)
	}
	if err := rest(stream); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := <-waiting; err != nil {
			t.Error(err)
		}
	}
	until(t, "nothing runs", func() bool { return f.server.cfg.Admission.Stats() == admission.Stats{} })
}

func actAs(client flight.Client, ctx context.Context, kind string, answer any) error { //nolint:revive // as act
	stream, err := client.DoAction(ctx, &flight.Action{Type: kind})
	if err != nil {
		return err
	}
	result, err := stream.Recv()
	if err != nil {
		return err
	}
	return json.Unmarshal(result.Body, answer)
}

// TestResultRows ends an answer with more rows than a user may get.
func TestResultRows(t *testing.T) {
	f := serve(t, bigTable, func(c *Config) {
		c.Admission = admission.New(admission.Config{Limits: admission.Limits{ResultRows: 100}})
	})
	if g, err := f.get(t, "a.fake"); err != nil || g.rows != 10 {
		t.Errorf("%v", err)
	}
	if g, err := f.get(t, `{"name": "big.fake", "limit": 100}`); err != nil || g.rows != 100 {
		t.Errorf("%v", err)
	}
	_, err := f.get(t, "big.fake")
	wantStatus(t, err, codes.ResourceExhausted, "100 of --max-result-rows")
}

// TestBytesPerSecond sends 4 s of a user's bytes, on two streams of one connection. Calls of another
// user on this connection are not delayed.
func TestBytesPerSecond(t *testing.T) {
	f := serve(t, map[string]string{"b.fake": "rows=2000 pad=1000", "a.fake": "rows=10"}, func(c *Config) {
		c.Login = fakeLogin{}
		c.Admission = admission.New(admission.Config{Rules: []admission.Rule{
			{User: "slow", Limits: admission.Limits{BytesPerSecond: 1 << 20}},
		}})
	})
	began := time.Now()
	done := make(chan error, 2)
	for range 2 {
		go func() {
			stream, err := f.client.DoGet(withHeader(t.Context(), "authorization", "slow"),
				&flight.Ticket{Ticket: []byte("b.fake")})
			if err == nil {
				err = rest(stream)
			}
			done <- err
		}()
	}
	calls := 0
	for len(done) < 2 {
		ctx, cancel := context.WithTimeout(withHeader(t.Context(), "authorization", "ann"), 20*time.Second)
		if _, err := f.client.GetFlightInfo(ctx, pathOf("a.fake")); err != nil {
			t.Fatal(err)
		}
		cancel()
		calls++
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(began); took < 2*time.Second { // 4 MB, of which 1 MB may be sent at once
		t.Errorf("4 MB at 1 MB/s took %v", took)
	}
	if calls < 20 {
		t.Errorf("%d calls of another user meanwhile", calls)
	}
}

// TestTurnsOfParses lets one file be parsed for a user at a time.
func TestTurnsOfParses(t *testing.T) {
	begun, end := make(chan struct{}, 3), make(chan struct{})
	control := admission.New(admission.Config{
		Rules: []admission.Rule{{User: "greedy", Limits: admission.Limits{Parses: 1}}}, MaxParses: 3,
	})
	f := serveCatalog(t, map[string]string{"a.fake": "rows=1", "b.fake": "rows=1", "c.fake": "rows=1"}, catalog.Config{
		Formats: readers.Registry{stubborn(begun, end)}, Queue: control,
	}, func(c *Config) { c.Login, c.Admission = fakeLogin{}, control })
	done := make(chan error, 3)
	for name, user := range map[string]string{"a.fake": "greedy", "b.fake": "greedy", "c.fake": "ann"} {
		go func() {
			_, err := f.client.GetFlightInfo(withHeader(t.Context(), "authorization", user), pathOf(name))
			done <- err
		}()
	}
	until(t, "one parse of each user runs", func() bool {
		return len(begun) == 2 && control.Stats().Parses == admission.Gauge{Running: 2, Waiting: 1}
	})
	close(end)
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	until(t, "no parse runs", func() bool { return control.Stats().Parses == admission.Gauge{} })
}
