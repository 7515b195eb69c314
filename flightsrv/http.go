package flightsrv

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/vibeflight/vibeflight/flightsrv/internal/excerpt"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
	"github.com/vibeflight/vibeflight/readers"
)

// httpPrefix begins the methods of requests by HTTP.
const httpPrefix = "/http."

// Calls returns what runs requests by HTTP as calls of the server.
func (s *Server) Calls() httpcall.Server { return httpCalls{s.service} }

// httpCalls runs requests by HTTP with the login, the limits and the logs of Flight.
type httpCalls struct{ *service }

// Run implements httpcall.Server. The request occupies one of the calls that may be open.
func (s httpCalls) Run(ctx context.Context, r httpcall.Request,
	do func(context.Context, httpcall.Call) error,
) (err error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return s.callError(r.Name, err)
	}
	defer leave()
	ctx, c, end, err := s.begin(ctx, httpPrefix+r.Method)
	c.name, c.sql = r.Name, r.SQL
	defer end()
	defer func() {
		if err = panicOr(recover(), err); err != nil {
			err = s.callError(c.name, causeOr(ctx, err))
		}
		_ = s.finish(ctx, c, err)
	}()
	if err != nil {
		return err
	}
	if err := s.admit(ctx, &r); err != nil {
		return err
	}
	return do(ctx, &requestCall{call: c, service: s.service})
}

// callError converts an error for the client.
func (s httpCalls) callError(name string, err error) error {
	var e *httpcall.Error
	if errors.As(err, &e) {
		return err
	}
	status, code := httpStatusOf(err)
	e = &httpcall.Error{Status: status, Code: code, Detail: s.clientText(name, err), Err: err}
	var at *readers.ParseError
	if errors.As(err, &at) && strings.Contains(messageOf(name, err), at.Error()) {
		e.Position = at
	}
	return e
}

// Login implements httpcall.Server.
func (s httpCalls) Login(ctx context.Context) (user, token string, err error) {
	if s.cfg.Login == nil {
		return "", "", nil
	}
	c := &call{method: httpPrefix + "session", start: time.Now()}
	defer func() { _ = s.finish(ctx, c, err) }()
	c.caller, token, err = s.cfg.Login.Handshake(ctx)
	s.countAuthentication(c.caller)
	if err != nil {
		return "", "", s.callError("", err)
	}
	return c.caller.Name, token, nil
}

// HasLogin implements httpcall.Server.
func (s httpCalls) HasLogin() bool { return s.cfg.Login != nil }

// requestCall is an httpcall.Call.
type requestCall struct {
	*call
	service *service
}

func (c *requestCall) Selects(t ticket.Ticket) { c.selects(t) }

func (c *requestCall) Opened() { c.isOpen() }

func (c *requestCall) AddRows(n int64) error { return c.addRows(n) }

func (c *requestCall) Send(ctx context.Context, n int) error {
	if err := c.service.cfg.Admission.Send(ctx, n); err != nil {
		return err
	}
	c.sentBatch()
	c.bytes += int64(n)
	c.active.bytes.Add(int64(n))
	return nil
}

// BeginQuery implements httpcall.Call.
func (c *requestCall) BeginQuery(ctx context.Context, query string) (context.Context, httpcall.Clock, func(), error) {
	c.sql = query
	var request any = &httpcall.Request{Name: c.name, SQL: query}
	c.active.request.Store(&request)
	leave, err := c.service.cfg.Admission.Query(ctx)
	if err != nil {
		return ctx, nil, nil, err
	}
	ctx, clock := newQueryClock(ctx)
	c.query = new(engine.Report)
	return engine.WithReport(ctx, c.query), clock, func() {
		clock.stop()
		leave()
	}, nil
}

// Action implements httpcall.Call. It has the actions of the server alone.
func (c *requestCall) Action(ctx context.Context, name string, body []byte) (any, error) {
	actions := c.service.actions()
	i := slices.IndexFunc(actions, func(a action) bool { return a.name == name })
	if i < 0 {
		return nil, &httpcall.Error{
			Status: http.StatusNotFound, Code: "UNIMPLEMENTED",
			Detail: "action " + excerpt.Clip(name, 100) + ": unknown; known are " + actionNames(actions),
		}
	}
	c.action = name
	return runAction(ctx, c.service, actions[i], body)
}

// enter takes a slot for a request. The drain waits for those that have one.
func (s httpCalls) enter(ctx context.Context) (leave func(), err error) {
	if !s.requests.TryRLock() { // the drain waits for the lock
		return nil, errGoingAway
	}
	if s.load.goingAway.Load() {
		s.requests.RUnlock()
		return nil, errGoingAway
	}
	if !acquire(&s.load.streams, s.load.maxStreams) {
		s.requests.RUnlock()
		return nil, s.load.refuse(ctx)
	}
	return func() {
		s.load.streams.Add(-1)
		s.requests.RUnlock()
	}, nil
}
