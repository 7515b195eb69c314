package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/vibeflight/vibeflight/flightsrv/admission"
	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/internal/excerpt"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
)

// activeCall is a call in progress, as an administrator sees it.
type activeCall struct {
	id      int64
	user    string
	address string
	method  string
	start   time.Time
	limits  admission.Limits // of the user
	cancel  context.CancelCauseFunc
	request atomic.Pointer[any] // the first message; nil: none has come
	waits   atomic.Bool         // for its turn
	rows    atomic.Int64        // that were sent
	bytes   atomic.Int64        // of the messages that were sent
	leave   func()              // ends the call's use of the admission; nil: it has none. For the handler.
}

// activeCalls are the calls in progress.
type activeCalls struct {
	mu   sync.Mutex
	last int64
	all  map[int64]*activeCall
}

// endError is the reason for which the server ends a call.
type endError struct {
	what        string
	unavailable bool // the call can be repeated
}

func (e *endError) Error() string { return e.what }

var (
	errKilled    = &endError{what: "the call was ended by an administrator"}
	errGoingAway = &endError{"the server is going away: call again; that reaches another server, or this one after " +
		"its restart", true}
)

// add registers the call of a user. The returned context can be ended by [activeCalls.kill]: the
// client gets the status at once, even if its call does not react. The caller calls end once.
func (a *activeCalls) add(ctx context.Context, c *call, u *admission.User) (_ context.Context, end func()) {
	v := &activeCall{user: u.Name, limits: u.Limits, method: c.method, start: c.start}
	if p, ok := peer.FromContext(ctx); ok {
		v.address = p.Addr.String()
	}
	ctx, v.cancel = context.WithCancelCause(admission.With(ctx, u))
	unhook := context.AfterFunc(ctx, func() { endStream(ctx) })
	a.mu.Lock()
	if a.all == nil {
		a.all = map[int64]*activeCall{}
	}
	a.last++
	v.id = a.last
	a.all[v.id] = v
	a.mu.Unlock()
	c.active = v
	return ctx, func() {
		unhook()
		v.cancel(nil)
		a.mu.Lock()
		delete(a.all, v.id)
		a.mu.Unlock()
		if v.leave != nil {
			v.leave()
		}
	}
}

// endStream sends the status of a call that the server ends. Without it, a handler that sends to a
// client that does not read would never return: gRPC has no other way to end a stream. It has no
// effect on a stream that has ended.
func endStream(ctx context.Context) {
	cause := context.Cause(ctx)
	var ended *endError
	if !errors.As(cause, &ended) && !errors.Is(cause, auth.ErrUnauthenticated) {
		return
	}
	if s, ok := grpc.ServerTransportStreamFromContext(ctx).(statusWriter); ok {
		writeStatus(s, cause)
	}
}

// list returns the calls in progress in the order of their start.
func (a *activeCalls) list() []*activeCall {
	a.mu.Lock()
	all := make([]*activeCall, 0, len(a.all))
	for _, v := range a.all {
		all = append(all, v)
	}
	a.mu.Unlock()
	slices.SortFunc(all, func(x, y *activeCall) int { return int(x.id - y.id) })
	return all
}

// kill ends the calls that match, and returns their number.
func (a *activeCalls) kill(why error, match func(*activeCall) bool) (killed int) {
	for _, v := range a.list() {
		if match(v) {
			v.cancel(why)
			killed++
		}
	}
	return killed
}

// admit waits for the turn of a call whose first message has come. The call leaves at its end.
// Messages that end something do not wait.
func (s *service) admit(ctx context.Context, request any) (err error) {
	v := callOf(ctx).active
	if v == nil || v.request.Load() != nil {
		return nil
	}
	v.request.Store(&request)
	if a, ok := request.(*flight.Action); ok && endsSomething(a.GetType()) {
		return nil
	}
	v.waits.Store(true)
	c := callOf(ctx)
	waits := time.Now()
	v.leave, err = s.cfg.Admission.Call(ctx)
	v.waits.Store(false)
	c.began = time.Now()
	s.cfg.Telemetry.Metrics.CallQueued(ctx, c.began.Sub(waits))
	return err
}

// addRows adds rows that are sent next. It returns an error if the answer has too many.
func (c *call) addRows(n int64) error {
	c.rows += n
	if c.active == nil {
		return nil
	}
	c.active.rows.Store(c.rows)
	if limit := c.active.limits.ResultRows; limit > 0 && c.rows > limit {
		return &admission.LimitError{
			Flag: "max-result-rows",
			What: fmt.Sprintf("the answer has more rows than the %d of --max-result-rows: ask for fewer, with a box "+
				"or a limit", limit),
		}
	}
	return nil
}

// activeQuery is a call in progress in the answer of the action queries.
type activeQuery struct {
	ID      string    `json:"id"`
	User    string    `json:"user"` // who has logged in, or the client's address
	Address string    `json:"address"`
	Method  string    `json:"method"`
	Name    string    `json:"name,omitempty"` // of the entry, the command or the action
	SQL     string    `json:"sql,omitempty"`
	State   string    `json:"state"` // waiting or running
	Start   time.Time `json:"start"`
	Seconds float64   `json:"seconds"` // since then
	Rows    int64     `json:"rows"`    // that were sent
	Bytes   int64     `json:"bytes"`   // that were sent
}

// maxListedText bounds the text of a statement and of a name in a list.
const maxListedText = 500

func (v *activeCall) describeID() string { return strconv.FormatInt(v.id, 10) }

func (v *activeCall) describe(now time.Time, queries *sql.Server) activeQuery {
	q := activeQuery{
		ID: v.describeID(), User: v.user, Address: v.address,
		Method: v.method[strings.LastIndexByte(v.method, '/')+1:], State: "running", Start: v.start,
		Seconds: now.Sub(v.start).Seconds(), Rows: v.rows.Load(), Bytes: v.bytes.Load(),
	}
	request := v.request.Load()
	if request == nil || v.waits.Load() {
		q.State = "waiting"
	}
	if request != nil {
		q.Name, q.SQL = describeRequest(*request)
		if t, ok := (*request).(*flight.Ticket); ok && queries != nil && runsQuery(q.Name) {
			q.SQL = queries.QueryText(t.GetTicket())
		}
	}
	q.Name, q.SQL = excerpt.Clip(q.Name, maxListedText), excerpt.Clip(q.SQL, maxListedText)
	return q
}

// describeRequest returns the name of the entry, command or action of a request, and its statement.
func describeRequest(request any) (name, statement string) {
	switch m := request.(type) {
	case *httpcall.Request:
		return m.Name, m.SQL
	case *flight.Ticket:
		return describeTicket(m.GetTicket())
	case *flight.FlightDescriptor:
		return describeDescriptor(m)
	case *flight.FlightData:
		return describeDescriptor(m.GetFlightDescriptor())
	case *flight.Action:
		return m.GetType(), sql.Text(m.GetBody())
	}
	return "", ""
}

func describeDescriptor(d *flight.FlightDescriptor) (name, statement string) {
	if d.GetType() == flight.DescriptorPATH {
		return strings.Join(d.GetPath(), "/"), ""
	}
	return describeTicket(d.GetCmd())
}

func describeTicket(b []byte) (name, statement string) {
	if name := sql.Name(b); name != "" {
		return name, sql.Text(b)
	}
	t, err := ticket.Parse(b)
	if err != nil {
		return "", ""
	}
	return t.Name, ""
}
