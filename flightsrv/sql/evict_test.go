package sql

import (
	"context"
	"errors"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"google.golang.org/grpc/peer"
)

// from is the context of a call of a client at an address.
func from(t *testing.T, ip string, port int) context.Context {
	t.Helper()
	return peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.ParseIP(ip), Port: port}})
}

func TestClientOf(t *testing.T) {
	for _, c := range []struct{ a, b string }{
		{"10.0.0.1", "::ffff:10.0.0.1"}, {"2001:db8::1", "2001:db8::ffff:1"}, {"::1", "::2"},
	} {
		if a, b := clientOf(from(t, c.a, 1)), clientOf(from(t, c.b, 2)); a != b || a == "" {
			t.Errorf("%s is %q, %s is %q", c.a, a, c.b, b)
		}
	}
	if a, b := clientOf(from(t, "10.0.0.1", 1)), clientOf(from(t, "10.0.0.2", 1)); a == b {
		t.Errorf("two addresses are %q", a)
	}
	unix := peer.NewContext(t.Context(), &peer.Peer{Addr: &net.UnixAddr{Net: "unix"}})
	if a, b := clientOf(unix), clientOf(t.Context()); a != "" || b != "" {
		t.Errorf("%q, %q", a, b)
	}
}

func ticketOf(info *flight.FlightInfo) []byte { return info.GetEndpoint()[0].GetTicket().GetTicket() }

// wantLost checks that a handle is unknown because it was given up, or else that it is not.
func wantLost(t *testing.T, what string, err error, lost bool) {
	t.Helper()
	var handle *HandleError
	switch {
	case !lost && err != nil:
		t.Errorf("%s: %v", what, err)
	case lost && (!errors.As(err, &handle) || !handle.Evicted):
		t.Errorf("%s: %v, want that it was given up", what, err)
	}
}

// TestShareOfResults fills the server from one client. Others get results all the same, and the
// client loses its oldest ones.
func TestShareOfResults(t *testing.T) {
	e := &still{}
	s := New(e, false)
	defer s.Close()
	greedy := from(t, "10.0.0.1", 1)
	d := descriptor(t)
	var tickets [][]byte
	info := func(ctx context.Context) []byte {
		t.Helper()
		got, err := s.Info(ctx, d)
		if err != nil {
			t.Fatal(err)
		}
		return ticketOf(got)
	}
	for range maxResults {
		tickets = append(tickets, info(greedy))
	}
	const others = 100
	var theirs [][]byte
	for i := range others {
		theirs = append(theirs, info(from(t, "10.0.1."+strconv.Itoa(i), i)))
	}
	for range 10 {
		tickets = append(tickets, info(greedy))
	}
	if len(s.results) != maxResults || e.open != maxResults {
		t.Errorf("%d results, %d statements", len(s.results), e.open)
	}
	for _, ticket := range theirs {
		wantLost(t, "another's", s.Renew(t.Context(), ticket), false)
	}
	for i, ticket := range tickets {
		wantLost(t, strconv.Itoa(i), s.Renew(t.Context(), ticket), i < others+10)
	}
	_, err := s.Get(greedy, tickets[0])
	wantLost(t, "fetch", err, true)
}

// TestShareOfFetches fills the server with results that are being fetched. The client that has them
// all gets no more, and others do.
func TestShareOfFetches(t *testing.T) {
	e := &still{}
	s := New(e, false)
	defer s.Close()
	greedy, d := from(t, "10.0.0.1", 1), descriptor(t)
	var fetches []Result
	for range maxResults {
		info, err := s.Info(greedy, d)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Get(greedy, ticketOf(info))
		if err != nil {
			t.Fatal(err)
		}
		fetches = append(fetches, r)
	}
	var limit *LimitError
	if _, err := s.Info(greedy, d); !errors.As(err, &limit) {
		t.Errorf("one more: %v", err)
	}
	if _, err := s.Info(from(t, "10.0.0.2", 1), d); err != nil {
		t.Errorf("another client: %v", err)
	}
	ended := 0
	for _, r := range fetches {
		if err := context.Cause(r.(*resultRows).ctx); err != nil {
			if !errors.As(err, &limit) {
				t.Errorf("ended by %v", err)
			}
			ended++
		}
		r.Close()
	}
	if ended != 1 {
		t.Errorf("%d fetches are ended", ended)
	}
}

// TestShareOfHandles fills the server with prepared statements, sessions and polls of one client.
func TestShareOfHandles(t *testing.T) {
	e := &still{}
	s := New(e, false)
	defer s.Close()
	greedy, other := from(t, "10.0.0.1", 1), from(t, "10.0.0.2", 1)
	body, err := pack(&pb.ActionCreatePreparedStatementRequest{Query: "SELECT 1"})
	if err != nil {
		t.Fatal(err)
	}
	prepare := func(ctx context.Context) []byte {
		t.Helper()
		out, err := s.Action(ctx, "CreatePreparedStatement", body)
		if err != nil {
			t.Fatal(err)
		}
		var m pb.ActionCreatePreparedStatementResult
		if err := unmarshalBody(out, &m); err != nil {
			t.Fatal(err)
		}
		return m.GetPreparedStatementHandle()
	}
	session := func(ctx context.Context) string {
		t.Helper()
		token, err := s.setSchema(ctx, "a")
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	first, second, begun := prepare(greedy), prepare(greedy), session(greedy)
	for range maxPrepared - 2 {
		prepare(greedy)
	}
	for range maxSessions - 1 {
		session(greedy)
	}
	last, token := prepare(other), session(other)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range []struct {
		what   string
		handle []byte
		lost   bool
	}{{"first", first, true}, {"second", second, false}, {"other", last, false}} {
		_, err := s.findPrepared(t.Context(), c.handle)
		wantLost(t, c.what, err, c.lost)
	}
	if len(s.prepared) != maxPrepared || e.open != maxPrepared {
		t.Errorf("%d prepared statements, %d open", len(s.prepared), e.open)
	}
	if s.sessions[token] == nil || s.sessions[begun] != nil || len(s.sessions) != maxSessions {
		t.Errorf("%d sessions", len(s.sessions))
	}
	wantLost(t, "session", s.handleError("session", begun), true)
}

// TestShareOfPolls fills the server with polls of one client.
func TestShareOfPolls(t *testing.T) {
	s := New(&still{}, false)
	defer s.Close()
	greedy := from(t, "10.0.0.1", 1)
	s.mu.Lock()
	cancelled := false
	for i := range maxPolls {
		p := &poll{client: clientOf(greedy), cancel: func() {}, used: time.Unix(int64(i), 0)}
		if i == 0 {
			p.cancel = func() { cancelled = true }
		}
		s.polls[strconv.Itoa(i)] = p
	}
	s.mu.Unlock()
	id, p, err := s.addPoll(from(t, "10.0.0.2", 1), descriptor(t))
	if err != nil {
		t.Fatal(err)
	}
	<-p.done
	if _, err := s.findPoll(t.Context(), id); err != nil {
		t.Error(err)
	}
	_, err = s.findPoll(t.Context(), "0")
	wantLost(t, "poll", err, true)
	if !cancelled {
		t.Error("the poll goes on")
	}
	s.mu.Lock()
	s.polls = map[string]*poll{}
	s.mu.Unlock()
}

// TestShareOfParameters has one client bind all that the server keeps. Another can bind some.
func TestShareOfParameters(t *testing.T) {
	e := &parametersEngine{}
	s := New(e, false)
	defer s.Close()
	add := func(client string) *preparedStatement {
		t.Helper()
		stmt, err := e.Prepare(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		p := &preparedStatement{id: newHandle(), client: client, plan: &plan{stmt: stmt, uses: 1}, used: time.Now()}
		if err := s.addPrepared(p); err != nil {
			t.Fatal(err)
		}
		if err := s.bind(p, &binding{bytes: maxParameterBytes}); err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := add("greedy")
	q, err := s.retainBound(t.Context(), []byte(first.id))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.addResult(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	second := add("greedy")
	for range maxBoundBytes/maxParameterBytes - 2 {
		add("greedy")
	}
	other := add("other")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prepared[first.id] != nil || s.results[r.id] != nil || s.prepared[second.id] == nil ||
		s.prepared[other.id] == nil {
		t.Error("the oldest parameters are not those that went")
	}
	if s.boundBytes != maxBoundBytes {
		t.Errorf("%d bytes are bound", s.boundBytes)
	}
	wantLost(t, "statement", s.handleError("prepared statement", first.id), true)
	wantLost(t, "result", s.handleError("result", r.id), true)
}

// TestLostIsBounded checks that the memory of lost handles has an end, and that the last ones are
// known.
func TestLostIsBounded(t *testing.T) {
	var l evictedHandles
	for i := range 3 * maxEvictedHandles {
		l.add(strconv.Itoa(i))
	}
	for i := range 3 * maxEvictedHandles {
		if _, ok := l.ids[strconv.Itoa(i)]; ok != (i >= 2*maxEvictedHandles) {
			t.Fatalf("%d is known: %v", i, ok)
		}
	}
	if len(l.ids) != maxEvictedHandles || len(l.order) != maxEvictedHandles {
		t.Errorf("%d, %d", len(l.ids), len(l.order))
	}
}

// withParameters is an engine whose statements have a parameter.
type parametersEngine struct{ still }

func (e *parametersEngine) Prepare(context.Context, string, string) (Statement, error) {
	e.open++
	return &parametersStatement{stillStatement{engine: &e.still}}, nil
}

type parametersStatement struct{ stillStatement }

func (*parametersStatement) Parameters() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: "1", Type: arrow.PrimitiveTypes.Int64}}, nil)
}
