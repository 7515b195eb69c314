package flightsrv

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/rs/zerolog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/vibeflight/vibeflight/flightsrv/audit"
	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/fleet"
	"github.com/vibeflight/vibeflight/flightsrv/frame"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
)

// counter is an engine whose queries are the number of rows: "5" gives 0 to 4, as "n". "? 5" has a
// parameter, which is added to them. "slow 5" is prepared when release is closed. The schema of the
// session is the name of the column.
type counter struct {
	oneRow
	release chan struct{}
}

func (c counter) Prepare(ctx context.Context, query, schema string) (sql.Statement, error) {
	s := &countQuery{schema: schema}
	if rest, ok := strings.CutPrefix(query, "slow "); ok {
		select {
		case <-c.release:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		query = rest
	}
	query, s.bound = strings.CutPrefix(query, "? ")
	if _, err := fmt.Sscan(query, &s.rows); err != nil {
		return nil, &engine.Error{Message: "not a number", Position: -1}
	}
	return s, nil
}

func (counter) Tables(context.Context) []engine.Table { return []engine.Table{{Schema: "places"}} }

// countQuery is a query of counter, and its rows.
type countQuery struct {
	oneRow
	schema string
	bound  bool
	rows   int64
	first  int64
	next   int64
}

func (s *countQuery) Schema() *arrow.Schema {
	name := "n"
	if s.schema != "" {
		name = s.schema
	}
	return arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.PrimitiveTypes.Int64}}, nil)
}

func (s *countQuery) Parameters() *arrow.Schema {
	if !s.bound {
		return arrow.NewSchema(nil, nil)
	}
	return arrow.NewSchema([]arrow.Field{{Name: "1", Type: arrow.PrimitiveTypes.Int64}}, nil)
}

func (s *countQuery) Query(_ context.Context, args arrow.Record, row int) (sql.Rows, error) {
	run := *s
	if args != nil {
		run.first = args.Column(0).(*array.Int64).Value(row)
	}
	return &run, nil
}

func (s *countQuery) Next(context.Context) (arrow.Record, error) {
	if s.next == s.rows {
		return nil, io.EOF
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, s.Schema())
	defer b.Release()
	for n := min(s.rows-s.next, 50_000); n > 0; n-- {
		b.Field(0).(*array.Int64Builder).Append(s.first + s.next)
		s.next++
	}
	return b.NewRecord(), nil
}

// anyOf encodes a message as Flight SQL sends it.
func anyOf(t *testing.T, m proto.Message) []byte {
	t.Helper()
	a, err := anypb.New(m)
	if err != nil {
		t.Fatal(err)
	}
	b, err := proto.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func command(t *testing.T, m proto.Message) *flight.FlightDescriptor {
	t.Helper()
	return &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: anyOf(t, m)}
}

func query(t *testing.T, text string) *flight.FlightDescriptor {
	t.Helper()
	return command(t, &pb.CommandStatementQuery{Query: text})
}

func serveCounters(t *testing.T, n int, change ...func(*Config)) *replicas {
	t.Helper()
	return serveFleet(t, n, nil, append([]func(*Config){func(c *Config) { c.SQL = counter{} }}, change...)...)
}

// fetch returns the values of a ticket.
func (f *fixture) fetch(ctx context.Context, ticket []byte) (values []int64, err error) {
	stream, err := f.client.DoGet(ctx, &flight.Ticket{Ticket: ticket})
	if err != nil {
		return nil, err
	}
	r, err := flight.NewRecordReader(stream)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	for r.Next() {
		values = append(values, r.Record().Column(0).(*array.Int64).Int64Values()...)
	}
	return values, r.Err()
}

// run runs an action, and returns the body of its answer.
func (f *fixture) run(ctx context.Context, name string, body []byte, o ...grpc.CallOption) ([]byte, error) {
	stream, err := f.client.DoAction(ctx, &flight.Action{Type: name, Body: body}, o...)
	if err != nil {
		return nil, err
	}
	r, err := stream.Recv()
	if err != nil {
		return nil, err
	}
	_, err = stream.Recv()
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("after the answer: %w", err)
	}
	return r.GetBody(), nil
}

// TestResultsThroughAnyReplica prepares queries with one replica, and fetches their rows through each.
func TestResultsThroughAnyReplica(t *testing.T) {
	f := serveCounters(t, 4)
	for i, x := range f.all {
		for k, through := range f.all {
			const rows = 3_000_000
			info := x.info(t, query(t, fmt.Sprint(rows)))
			if len(info.Endpoint[0].Location) != 0 {
				t.Errorf("locations %v: a result is fetched over the client's connection", uris(info))
			}
			got, err := through.fetch(t.Context(), info.Endpoint[0].Ticket.Ticket)
			if err != nil || len(got) != rows || got[rows-1] != rows-1 {
				t.Fatalf("from r%d through r%d: %d rows, %v", i, k, len(got), err)
			}
			_, err = through.fetch(t.Context(), info.Endpoint[0].Ticket.Ticket)
			wantStatus(t, err, codes.NotFound, "result: the handle is unknown")
		}
	}
}

// TestMessagesPassUnchanged compares what a replica sends with what comes through another one.
func TestMessagesPassUnchanged(t *testing.T) {
	f := serveCounters(t, 2)
	messages := func(x *fixture) (all [][]byte) {
		ticket := f.all[0].info(t, query(t, "200000")).Endpoint[0].Ticket
		stream, err := x.client.DoGet(t.Context(), ticket)
		if err != nil {
			t.Fatal(err)
		}
		for {
			d, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return all
			}
			if err != nil {
				t.Fatal(err)
			}
			b, err := proto.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b)
		}
	}
	want, got := messages(f.all[0]), messages(f.all[1])
	if len(want) != 5 || len(got) != len(want) {
		t.Fatalf("%d messages, through another replica %d", len(want), len(got))
	}
	for i := range want {
		if !bytes.Equal(want[i], got[i]) {
			t.Errorf("message %d differs", i)
		}
	}
}

// TestPreparedThroughAnyReplica makes each call of a prepared statement with another replica.
func TestPreparedThroughAnyReplica(t *testing.T) {
	f := serveCounters(t, 4)
	ctx := t.Context()
	create := anyOf(t, &pb.ActionCreatePreparedStatementRequest{Query: "? 3"})
	created, err := f.all[0].run(ctx, "CreatePreparedStatement", create)
	if err != nil {
		t.Fatal(err)
	}
	var of anypb.Any
	var result pb.ActionCreatePreparedStatementResult
	if err := errors.Join(proto.Unmarshal(created, &of), of.UnmarshalTo(&result)); err != nil {
		t.Fatal(err)
	}
	handle := result.GetPreparedStatementHandle()
	if len(handle) != fleet.TagBytes+16 {
		t.Errorf("the handle has %d bytes", len(handle))
	}
	cmd := command(t, &pb.CommandPreparedStatementQuery{PreparedStatementHandle: handle})
	if err := bindValue(ctx, f.all[1], cmd, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := f.all[2].client.GetSchema(ctx, cmd); err != nil {
		t.Error(err)
	}
	info := f.all[3].info(t, cmd)
	got, err := f.all[1].fetch(ctx, info.Endpoint[0].Ticket.Ticket)
	if want := []int64{100, 101, 102}; err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if got, err := f.all[2].fetch(ctx, cmd.Cmd); err != nil || len(got) != 3 {
		t.Errorf("without a ticket: %v, %v", got, err)
	}
	closing := anyOf(t, &pb.ActionClosePreparedStatementRequest{PreparedStatementHandle: handle})
	for _, x := range []*fixture{f.all[3], f.all[0]} {
		if _, err := x.run(ctx, "ClosePreparedStatement", closing); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	_, err = f.all[2].client.GetFlightInfo(ctx, cmd)
	wantStatus(t, err, codes.NotFound, "prepared statement: the handle is unknown")
	if err := bindValue(ctx, f.all[1], cmd, 1); err == nil {
		t.Error("bound to a closed statement")
	}
}

// bindValue binds a parameter of a prepared statement.
func bindValue(ctx context.Context, x *fixture, d *flight.FlightDescriptor, value int64) error {
	stream, err := x.client.DoPut(ctx)
	if err != nil {
		return err
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, (&countQuery{bound: true}).Parameters())
	defer b.Release()
	b.Field(0).(*array.Int64Builder).Append(value)
	rec := b.NewRecord()
	defer rec.Release()
	w := flight.NewRecordWriter(stream, ipc.WithSchema(rec.Schema()))
	w.SetFlightDescriptor(d)
	err = errors.Join(w.Write(rec), w.Close(), stream.CloseSend())
	for {
		_, failed := stream.Recv()
		if errors.Is(failed, io.EOF) {
			return err
		}
		if failed != nil {
			return failed
		}
	}
}

// TestSessionsThroughAnyReplica sets the schema of a session with one replica, and uses it with others.
func TestSessionsThroughAnyReplica(t *testing.T) {
	f := serveCounters(t, 3)
	set, err := proto.Marshal(&flight.SetSessionOptionsRequest{SessionOptions: map[string]*flight.SessionOptionValue{
		"schema": {OptionValue: &pb.SessionOptionValue_StringValue{StringValue: "places"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var head metadata.MD
	if _, err := f.all[0].run(t.Context(), "SetSessionOptions", set, grpc.Header(&head)); err != nil {
		t.Fatal(err)
	}
	cookie, _, _ := strings.Cut(head.Get("set-cookie")[0], ";")
	ctx := metadata.AppendToOutgoingContext(t.Context(), "cookie", cookie)
	for i, x := range f.all {
		info, err := x.client.GetFlightInfo(ctx, query(t, "1"))
		if err != nil {
			t.Fatal(err)
		}
		if schema, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator); err != nil ||
			schema.Field(0).Name != "places" {
			t.Errorf("r%d: %v, %v", i, schema, err)
		}
	}
	head = nil
	if _, err := f.all[2].run(ctx, "CloseSession", nil, grpc.Header(&head)); err != nil {
		t.Fatal(err)
	}
	if got := head.Get("set-cookie"); len(got) != 1 || !strings.Contains(got[0], "Max-Age=0") {
		t.Errorf("cookies %q", got)
	}
	_, err = f.all[1].client.GetFlightInfo(ctx, query(t, "1"))
	wantStatus(t, err, codes.NotFound, "session: the handle is unknown")
}

// TestPollAndCancelThroughAnyReplica polls, renews and cancels with other replicas.
func TestPollAndCancelThroughAnyReplica(t *testing.T) {
	release := make(chan struct{})
	f := serveFleet(t, 3, nil, func(c *Config) { c.SQL = counter{release: release} })
	ctx := t.Context()
	begin := func() *flight.PollInfo {
		p, err := f.all[0].client.PollFlightInfo(ctx, query(t, "slow 5"))
		if err != nil || p.GetFlightDescriptor() == nil {
			t.Fatalf("%v, %v", p, err)
		}
		return p
	}
	cancelled := begin()
	body, err := proto.Marshal(&flight.CancelFlightInfoRequest{Info: cancelled.Info})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := f.all[1].run(ctx, "CancelFlightInfo", body)
	var result flight.CancelFlightInfoResult
	err = errors.Join(err, proto.Unmarshal(answer, &result))
	if err != nil || result.Status != flight.CancelStatusCancelled {
		t.Errorf("cancel: %v, %v", &result, err)
	}
	_, err = f.all[2].client.PollFlightInfo(ctx, cancelled.FlightDescriptor)
	wantStatus(t, err, codes.NotFound, "poll: the handle is unknown")

	p := begin()
	close(release)
	p, err = f.all[2].client.PollFlightInfo(ctx, p.FlightDescriptor)
	if err != nil || p.FlightDescriptor != nil {
		t.Fatalf("%v, %v", p, err)
	}
	body, err = proto.Marshal(&flight.RenewFlightEndpointRequest{Endpoint: p.Info.Endpoint[0]})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.all[1].run(ctx, "RenewFlightEndpoint", body); err != nil {
		t.Errorf("renew: %v", err)
	}
	if got, err := f.all[1].fetch(ctx, p.Info.Endpoint[0].Ticket.Ticket); err != nil || len(got) != 5 {
		t.Errorf("%v, %v", got, err)
	}

	info, err := proto.Marshal(f.all[2].info(t, query(t, "5")))
	if err != nil {
		t.Fatal(err)
	}
	cancel := anyOf(t, &pb.ActionCancelQueryRequest{Info: info}) //nolint:staticcheck // sent by ADBC
	answer, err = f.all[0].run(ctx, "CancelQuery", cancel)
	var of anypb.Any
	var old pb.ActionCancelQueryResult //nolint:staticcheck // as above
	if err := errors.Join(err, proto.Unmarshal(answer, &of), of.UnmarshalTo(&old)); err != nil ||
		old.Result != pb.ActionCancelQueryResult_CANCEL_RESULT_CANCELLED {
		t.Errorf("CancelQuery: %v, %v", &old, err)
	}
}

// TestLostSession begins another session, and closes a statement, when the replica that had them is
// lost.
func TestLostSession(t *testing.T) {
	f := serveCounters(t, 2)
	var head metadata.MD
	set, err := proto.Marshal(&flight.SetSessionOptionsRequest{SessionOptions: map[string]*flight.SessionOptionValue{
		"schema": {OptionValue: &pb.SessionOptionValue_StringValue{StringValue: "places"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.all[0].run(t.Context(), "SetSessionOptions", set, grpc.Header(&head)); err != nil {
		t.Fatal(err)
	}
	f.all[0].server.grpc.Stop()
	with := func() context.Context {
		cookie, _, _ := strings.Cut(head.Get("set-cookie")[0], ";")
		return metadata.AppendToOutgoingContext(t.Context(), "cookie", cookie)
	}
	_, err = f.all[1].client.GetFlightInfo(with(), query(t, "1"))
	wantStatus(t, err, codes.Unavailable, "replica r0 has the session", "set its options again")
	if _, err := f.all[1].run(with(), "SetSessionOptions", set, grpc.Header(&head)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.all[1].client.GetFlightInfo(with(), query(t, "1")); err != nil {
		t.Errorf("with the new session: %v", err)
	}
	closing := anyOf(t, &pb.ActionClosePreparedStatementRequest{
		PreparedStatementHandle: []byte(fleet.Tag("r0") + "0123456789abcdef"),
	})
	if _, err := f.all[1].run(t.Context(), "ClosePreparedStatement", closing); err != nil {
		t.Errorf("close: %v", err)
	}
}

// TestLostReplica asks for the result of a replica that does not answer, and of one that has left.
func TestLostReplica(t *testing.T) {
	f := serveCounters(t, 3)
	info := f.all[0].info(t, query(t, "5"))
	f.all[0].server.grpc.Stop()
	for range 2 {
		begin := time.Now()
		_, err := f.all[1].fetch(t.Context(), info.Endpoint[0].Ticket.Ticket)
		wantStatus(t, err, codes.Unavailable, "replica r0 has the result", "send the query again")
		if took := time.Since(begin); took > 2*connectTimeoutOfTests {
			t.Errorf("the error took %v", took)
		}
	}
	// A table is not lost with a replica.
	f.all[1].info(t, query(t, "1"))
}

const connectTimeoutOfTests = 3 * time.Second

// TestForgedHandles sends handles that no replica made, and the header of a forwarded call.
func TestForgedHandles(t *testing.T) {
	f := serveCounters(t, 2)
	ticketOf := func(handle string) []byte {
		return anyOf(t, &pb.TicketStatementQuery{StatementHandle: []byte(handle)})
	}
	random := "0123456789abcdef"
	for name, ticket := range map[string][]byte{
		"no tag":            ticketOf(random),
		"empty":             ticketOf(""),
		"short":             ticketOf("r0"),
		"unknown replica":   ticketOf(fleet.Tag("r7") + random),
		"of this replica":   ticketOf(fleet.Tag("r1") + random),
		"of another one":    ticketOf(fleet.Tag("r0") + random),
		"an address":        ticketOf("127.0.0.1:8815" + random),
		"the ID of another": ticketOf("r0" + random),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.all[1].fetch(t.Context(), ticket)
			wantStatus(t, err, codes.NotFound, "result: the handle is unknown")
		})
	}
	// A client that says its call was forwarded gets what the replica has itself.
	good := f.all[0].info(t, query(t, "5")).Endpoint[0].Ticket.Ticket
	for _, by := range []string{"r0", "r1", "r9", "", "grpc://127.0.0.1:1"} {
		_, err := f.all[1].fetch(metadata.AppendToOutgoingContext(t.Context(), fleet.HopHeader, by), good)
		wantStatus(t, err, codes.NotFound, "result: the handle is unknown")
	}
	if got, err := f.all[1].fetch(t.Context(), good); err != nil || len(got) != 5 {
		t.Errorf("%v, %v", got, err)
	}
}

// nameLogin believes the name in the header, by a method.
type nameLogin struct{ method string }

func (n nameLogin) Authenticate(ctx context.Context) (*auth.Principal, error) {
	name, ok := strings.CutPrefix(headerOf(ctx, "authorization"), "Bearer ")
	if !ok {
		return nil, &auth.Error{Reason: "no credential"}
	}
	return &auth.Principal{Name: name, Method: n.method}, nil
}

func (n nameLogin) Handshake(context.Context) (*auth.Principal, string, error) {
	return nil, "", errors.New("not used")
}

func (n nameLogin) Watch(ctx context.Context, _ *auth.Principal) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

// TestForwardedCallsHaveTheCaller checks that the replica with the result knows the caller by its own
// credential: others do not get it, and a certificate is not passed on.
func TestForwardedCallsHaveTheCaller(t *testing.T) {
	f := serveCounters(t, 2, func(c *Config) { c.Login = nameLogin{auth.Token} })
	ann := withHeader(t.Context(), "authorization", "Bearer ann")
	bob := withHeader(t.Context(), "authorization", "Bearer bob")
	info, err := f.all[0].client.GetFlightInfo(ann, query(t, "5"))
	if err != nil {
		t.Fatal(err)
	}
	ticket := info.Endpoint[0].Ticket.Ticket
	_, err = f.all[1].fetch(bob, ticket)
	wantStatus(t, err, codes.NotFound, "result: the handle is unknown")
	_, err = f.all[1].fetch(t.Context(), ticket)
	wantStatus(t, err, codes.Unauthenticated, "no credential")
	if got, err := f.all[1].fetch(ann, ticket); err != nil || len(got) != 5 {
		t.Errorf("%v, %v", got, err)
	}

	c := serveCounters(t, 2, func(c *Config) { c.Login = nameLogin{auth.Certificate} })
	info, err = c.all[0].client.GetFlightInfo(ann, query(t, "5"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.all[1].fetch(ann, info.Endpoint[0].Ticket.Ticket)
	wantStatus(t, err, codes.FailedPrecondition, "replica r0 has the result", "certificate can't be passed on")
}

// TestForwardedCallsAreLogged checks the audit logs of both replicas.
func TestForwardedCallsAreLogged(t *testing.T) {
	dir, n := t.TempDir(), 0
	f := serveCounters(t, 2, func(c *Config) {
		log, err := audit.Open(audit.Config{File: filepath.Join(dir, fmt.Sprint(n)), Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		n++
		t.Cleanup(func() { _ = log.Close(context.Background()) })
		c.Audit = log
	})
	info := f.all[0].info(t, query(t, "5"))
	if _, err := f.all[1].fetch(t.Context(), info.Endpoint[0].Ticket.Ticket); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`"forwarded_by":"r1"`, `"forwarded_to":"r0"`} {
		soon(t, func() bool {
			text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i)))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if strings.Contains(line, want) {
					return strings.Contains(line, `"method":"DoGet"`) && strings.Contains(line, `"code":"OK"`) &&
						!strings.Contains(line, `"bytes":0`)
				}
			}
			return false
		})
	}
}

// TestForwardedCallsEnd checks that a client that leaves ends the query of the other replica.
func TestForwardedCallsEnd(t *testing.T) {
	f := serveCounters(t, 2)
	info := f.all[0].info(t, query(t, "4000000000"))
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := f.all[1].client.DoGet(ctx, info.Endpoint[0].Ticket)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	for _, x := range f.all {
		soon(t, func() bool { return len(x.server.active.list()) == 0 })
	}
	if n := f.all[0].server.service.sql.Stats().Results; n != 0 {
		t.Errorf("%d results are left", n)
	}
}

// TestConnectionsToReplicas checks that connections are shared, and closed when a replica is gone.
func TestConnectionsToReplicas(t *testing.T) {
	f := serveCounters(t, 3)
	peers := f.all[1].server.service.peers
	for range 5 {
		for _, of := range []*fixture{f.all[0], f.all[2]} {
			ticket := of.info(t, query(t, "5")).Endpoint[0].Ticket.Ticket
			if _, err := f.all[1].fetch(t.Context(), ticket); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := peers.Connections(); n != 2 {
		t.Errorf("%d connections to 2 replicas", n)
	}
	peers.Keep(func(id string) bool { return id == "r0" })
	if n := peers.Connections(); n != 1 {
		t.Errorf("%d connections after one has gone", n)
	}
}

// forwarder answers DoGet with what the replica r0 has.
type forwarder struct {
	flight.BaseFlightServer
	service *service
	replica string
}

func (f *forwarder) DoGet(req *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	return f.service.statusError("", f.service.forwardTicket(f.replica, req, stream))
}

// TestTicketOfAnotherReplica forwards the tickets of tables to a replica.
func TestTicketOfAnotherReplica(t *testing.T) {
	f := serveFleet(t, 2, map[string]string{"a.fake": "rows=100000 pad=20"}, func(c *Config) {
		c.Login = nameLogin{auth.Token}
	})
	ann := withHeader(t.Context(), "authorization", "Bearer ann")
	for _, test := range []struct {
		replica string
		header  string
		code    codes.Code
		text    string
	}{
		{"r0", "Bearer ann", codes.OK, ""},
		{"r0", "", codes.Unauthenticated, "no credential"},
		{"r1", "Bearer ann", codes.Unavailable, "replica r1 had the table"},
		{"r9", "Bearer ann", codes.Unavailable, "ask again"},
	} {
		server := grpc.NewServer(grpc.ForceServerCodecV2(frame.NewCodec()))
		flight.RegisterFlightServiceServer(server, &forwarder{service: f.all[1].server.service, replica: test.replica})
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = server.Serve(l) }()
		client := dial(t, l.Addr().String())
		get := func(client flight.Client, ctx context.Context) (all []byte, err error) {
			stream, err := client.DoGet(ctx, &flight.Ticket{Ticket: []byte("a.fake")})
			if err != nil {
				return nil, err
			}
			for {
				d, err := stream.Recv()
				if errors.Is(err, io.EOF) {
					return all, nil
				}
				if err != nil {
					return nil, err
				}
				all = append(append(all, d.DataHeader...), d.DataBody...)
			}
		}
		got, err := get(client, withHeader(t.Context(), "authorization", test.header))
		wantStatus(t, err, test.code, test.text)
		if test.code == codes.OK {
			if want, err := get(f.all[0].client, ann); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, want %d, %v", len(got), len(want), err)
			}
		}
		_ = client.Close()
		server.Stop()
	}
}

// TestForwardOverTLS forwards calls between replicas with certificates of their own.
func TestForwardOverTLS(t *testing.T) {
	for _, trusted := range []bool{true, false} {
		files := newPair(t)
		pool := files.write(t, 1)
		f := serveCounters(t, 2, func(c *Config) {
			c.TLSCert, c.TLSKey = files.cert, files.key
			if trusted {
				c.PeerCA = files.cert
			}
		})
		info, err := dialTLS(t, f.all[0].addr, &tls.Config{RootCAs: pool}).GetFlightInfo(t.Context(), query(t, "5"))
		if err != nil {
			t.Fatal(err)
		}
		through := &fixture{client: dialTLS(t, f.all[1].addr, &tls.Config{RootCAs: pool})}
		got, err := through.fetch(t.Context(), info.Endpoint[0].Ticket.Ticket)
		if !trusted {
			wantStatus(t, err, codes.Unavailable, "replica r0 has the result", "certificate")
		} else if err != nil || len(got) != 5 {
			t.Errorf("%v, %v", got, err)
		}
	}
}
