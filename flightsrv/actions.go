package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
)

// action is one of the server's own actions: a JSON body in, one JSON body out.
type action struct {
	name, doc string
	run       func(s *service, ctx context.Context, body []byte) (any, error)
}

var actions = []action{
	{"refresh", `looks at the roots now; body empty; gives {"entries": n}`, (*service).refresh},
	{
		"evict", `forgets the parsed tables of an entry; body {"name": "…"} or the name; gives {"evicted": n}`,
		(*service).evict,
	},
	{
		"describe", `parses an entry if need be and says what it is; body {"name": "…", "options": {…}} or the name`,
		(*service).describe,
	},
	{"stats", `counts of the catalog, its cache, its engines, SQL and the process; body empty`, (*service).stats},
}

// writing is the actions that a server has of which a folder is writable.
var writing = []action{
	{
		"drop", `removes a table that a client has stored; body {"name": "…"} or the name; gives {"dropped": "…"}`,
		(*service).drop,
	},
}

// actions gives those of this server.
func (s *service) actions() []action {
	if s.cfg.Catalog.Writable() {
		return slices.Concat(actions, writing)
	}
	return actions
}

// ListActions names the actions.
func (s *service) ListActions(_ *flight.Empty, stream flight.FlightService_ListActionsServer) error {
	var all []*flight.ActionType
	for _, a := range s.actions() {
		all = append(all, &flight.ActionType{Type: a.name, Description: a.doc})
	}
	for _, a := range messageActions {
		all = append(all, &flight.ActionType{Type: a.name, Description: a.doc})
	}
	if s.sql != nil {
		all = append(all, sql.Actions()...)
	}
	for _, a := range all {
		if err := stream.Send(a); err != nil {
			return err
		}
	}
	return nil
}

// DoAction runs one.
func (s *service) DoAction(req *flight.Action, stream flight.FlightService_DoActionServer) error {
	if sql.HasAction(req.GetType()) {
		return s.actSQL(req, stream)
	}
	if known, err := s.actMessage(req, stream); known {
		return err
	}
	actions := s.actions()
	i := slices.IndexFunc(actions, func(a action) bool { return a.name == req.GetType() })
	if i < 0 {
		return &unservedError{fmt.Sprintf("action %q: unknown; known are %s", clip(req.GetType(), 100),
			actionNames(actions))}
	}
	answer, err := runAction(stream.Context(), s, actions[i], req.GetBody())
	if err != nil {
		return err
	}
	body, err := jsonBody(answer)
	if err != nil {
		return err
	}
	return stream.Send(&flight.Result{Body: body})
}

func runAction(ctx context.Context, s *service, a action, body []byte) (any, error) {
	answer, err := a.run(s, ctx, body)
	var at *TicketError
	if errors.As(err, &at) {
		return nil, fmt.Errorf("action %s: %w", a.name, err)
	}
	return answer, err
}

func actionNames(actions []action) string {
	var names []string
	for _, a := range actions {
		names = append(names, a.name)
	}
	for _, a := range messageActions {
		names = append(names, a.name)
	}
	return strings.Join(names, ", ")
}

func (s *service) refresh(ctx context.Context, body []byte) (any, error) {
	if err := wantNothing(body); err != nil {
		return nil, err
	}
	if err := s.cfg.Catalog.Refresh(ctx); err != nil {
		return nil, err
	}
	return map[string]int{"entries": len(s.cfg.Catalog.List("", ""))}, nil
}

func (s *service) evict(ctx context.Context, body []byte) (any, error) {
	t, err := nameOf(body, "name")
	if err != nil {
		return nil, err
	}
	callOf(ctx).name = t.Name
	// A file that is gone may still have tables.
	n, err := s.cfg.Catalog.Evict(ctx, t.Name)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		if _, err := s.cfg.Catalog.Lookup(t.Name); err != nil {
			return nil, err
		}
	}
	return map[string]int{"evicted": n}, nil
}

func (s *service) describe(ctx context.Context, body []byte) (any, error) {
	t, err := nameOf(body, "name", "options", "version")
	if err != nil {
		return nil, err
	}
	o, err := s.open(ctx, t)
	if err != nil {
		return nil, err
	}
	defer o.Release()
	return describe(o.TableRef, o.scan.Schema()), nil
}

func (s *service) stats(_ context.Context, body []byte) (any, error) {
	if err := wantNothing(body); err != nil {
		return nil, err
	}
	out := stats{Stats: s.cfg.Catalog.Stats(), Connections: s.load.now(), Process: processNow()}
	if s.sql != nil {
		of := s.sql.Stats()
		out.SQL = &of
	}
	return out, nil
}

// stats is what the action stats answers.
type stats struct {
	catalog.Stats
	SQL         *sql.Stats  `json:"sql,omitempty"` // nil: there is none
	Connections connections `json:"connections"`
	Process     process     `json:"process"`
}

// wantNothing accepts no body and the empty object.
func wantNothing(body []byte) error {
	if len(body) == 0 {
		return nil
	}
	return readObject(body, nil)
}

// nameOf reads a body as a ticket of which only some fields make sense.
func nameOf(body []byte, fields ...string) (Ticket, error) {
	t, err := parseTicket(body)
	if err != nil || body[0] != '{' {
		return t, err
	}
	ms, err := members(body)
	if err != nil {
		return Ticket{}, err
	}
	for _, m := range ms {
		if !slices.Contains(fields, m.key) {
			return Ticket{}, &TicketError{m.key, fmt.Errorf("is unknown here; known are %s",
				strings.Join(fields, ", "))}
		}
	}
	return t, nil
}
