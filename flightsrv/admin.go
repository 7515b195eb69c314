package flightsrv

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	"google.golang.org/grpc/peer"

	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// adminActions are the actions for administrators.
var adminActions = []action{
	{"queries", `lists the calls in progress of all users; body empty; for administrators`, (*service).listQueries},
	{
		"sessions", `lists what each user has open: calls, sessions and handles of SQL; body empty; for administrators`,
		(*service).listSessions,
	},
	{
		"kill", `ends calls in progress; body {"id": "…"} or {"user": "…"}; gives {"killed": n}; for administrators`,
		(*service).kill,
	},
	{
		"drain", `ends the server as SIGTERM does; body empty; gives {"draining": true}; for administrators`,
		(*service).drain,
	},
}

// endsSomething reports whether an action frees what the server holds. Such an action does not wait
// for calls in progress, nor do those of administrators.
func endsSomething(name string) bool {
	switch name {
	case flight.CancelFlightInfoActionType, flightsql.CancelQueryActionType,
		flightsql.ClosePreparedStatementActionType, flight.CloseSessionActionType:
		return true
	}
	return slices.ContainsFunc(adminActions, func(a action) bool { return a.name == name })
}

// wholeServer is the name for which a caller needs the privilege Admin to manage the server.
const wholeServer = ""

// forbiddenError is the error of a call that its caller may not make.
type forbiddenError struct{ what string }

func (e *forbiddenError) Error() string { return e.what }

// checkAdmin returns an error unless the caller is an administrator. Without grants, clients of this
// machine are.
func checkAdmin(ctx context.Context) error {
	if scope := access.Of(ctx); scope != nil {
		if !scope.Allows(access.Admin, wholeServer) {
			return &forbiddenError{"this action needs the privilege admin"}
		}
		return nil
	}
	p, ok := peer.FromContext(ctx)
	if !ok {
		return nil // a call within the process
	}
	if at, ok := p.Addr.(*net.TCPAddr); ok && !at.IP.IsLoopback() {
		return &forbiddenError{"this action is for clients of the server's own machine: the server has no grants, " +
			"which could name administrators"}
	}
	return nil
}

func (s *service) listQueries(ctx context.Context, body []byte) (any, error) {
	if err := cmp.Or(checkAdmin(ctx), ticket.ParseEmpty(body)); err != nil {
		return nil, err
	}
	now := time.Now()
	out := []activeQuery{}
	for _, v := range s.active.list() {
		if v != callOf(ctx).active {
			out = append(out, v.describe(now, s.sql))
		}
	}
	return map[string]any{"queries": out}, nil
}

// openOfUser is what a user has open, in the answer of the action sessions.
type openOfUser struct {
	User     string    `json:"user"`
	Calls    int       `json:"calls"`
	Sessions int       `json:"sessions"`
	Prepared int       `json:"prepared"`
	Results  int       `json:"results"`
	Used     time.Time `json:"used"` // when a session or handle was used last, or a call began
}

func (s *service) listSessions(ctx context.Context, body []byte) (any, error) {
	if err := cmp.Or(checkAdmin(ctx), ticket.ParseEmpty(body)); err != nil {
		return nil, err
	}
	users := map[string]*openOfUser{}
	of := func(name string, used time.Time) *openOfUser {
		u := users[name]
		if u == nil {
			u = &openOfUser{User: name}
			users[name] = u
		}
		if used.After(u.Used) {
			u.Used = used
		}
		return u
	}
	for _, v := range s.active.list() {
		if v != callOf(ctx).active {
			of(v.user, v.start).Calls++
		}
	}
	if s.sql != nil {
		for name, held := range s.sql.Users() {
			u := of(name, held.Used)
			u.Sessions, u.Prepared, u.Results = held.Sessions, held.Prepared, held.Results
		}
	}
	out := make([]openOfUser, 0, len(users))
	for _, u := range users {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b openOfUser) int { return cmp.Compare(a.User, b.User) })
	return map[string]any{"sessions": out}, nil
}

func (s *service) kill(ctx context.Context, body []byte) (any, error) {
	if err := checkAdmin(ctx); err != nil {
		return nil, err
	}
	var which struct {
		ID   *string `json:"id"`
		User *string `json:"user"`
	}
	if err := json.Unmarshal(body, &which); err != nil || (which.ID == nil) == (which.User == nil) {
		return nil, &ticket.Error{Err: errors.New(`want {"id": "…"} or {"user": "…"}`)}
	}
	own := callOf(ctx).active
	killed := s.active.kill(errKilled, func(v *activeCall) bool {
		if v == own {
			return false
		}
		if which.ID != nil {
			return v.describeID() == *which.ID
		}
		return v.user == *which.User
	})
	return map[string]int{"killed": killed}, nil
}

func (s *service) drain(ctx context.Context, body []byte) (any, error) {
	if err := cmp.Or(checkAdmin(ctx), ticket.ParseEmpty(body)); err != nil {
		return nil, err
	}
	if s.cfg.Stop == nil {
		return nil, &unimplementedError{"action drain: this server is part of another program, which ends it"}
	}
	s.cfg.Stop()
	return map[string]bool{"draining": true}, nil
}
