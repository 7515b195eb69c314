package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/admission"
	"github.com/vibeflight/vibeflight/flightsrv/fleet"
	"github.com/vibeflight/vibeflight/flightsrv/internal/excerpt"
	"github.com/vibeflight/vibeflight/flightsrv/internal/process"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// action is one of the server's own actions. Its body and its answer are JSON.
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
	{
		"share", `offers the cached file of a whole table to a client of this machine, on the socket next to that of ` +
			`the calls; body {"name": "…", "options": {…}, "version": "…"} or the name; gives {"key": "…", …}`,
		(*service).share,
	},
	{
		"share-device", `offers a whole table in the memory of a GPU, as share does; body as that of share; gives ` +
			`{"key": "…", …}`,
		(*service).shareDevice,
	},
	{"stats", `counts of the catalog, its cache, its engines, SQL and the process; body empty`, (*service).stats},
}

// writeActions are the additional actions of a server with a writable folder.
var writeActions = []action{
	{
		"drop", `removes a table that a client has stored; body {"name": "…"} or the name; gives {"dropped": "…"}`,
		(*service).drop,
	},
}

// actions returns the actions of this server.
func (s *service) actions() []action {
	if s.cfg.Catalog.Writable() {
		return slices.Concat(actions, writeActions, adminActions)
	}
	return slices.Concat(actions, adminActions)
}

// ListActions lists the actions of the server, of Flight and of Flight SQL.
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

// DoAction runs an action.
func (s *service) DoAction(req *flight.Action, stream flight.FlightService_DoActionServer) error {
	callOf(stream.Context()).action = req.GetType()
	if forwarded, err := s.forwardAction(req, stream); forwarded {
		return err
	}
	if sql.HasAction(req.GetType()) {
		return s.runSQLAction(req, stream)
	}
	if known, err := s.runMessageAction(req, stream); known {
		return err
	}
	actions := s.actions()
	i := slices.IndexFunc(actions, func(a action) bool { return a.name == req.GetType() })
	if i < 0 {
		return &unimplementedError{fmt.Sprintf("action %q: unknown; known are %s", excerpt.Clip(req.GetType(), 100),
			actionNames(actions))}
	}
	answer, err := runAction(stream.Context(), s, actions[i], req.GetBody())
	if err != nil {
		return err
	}
	body, err := metadata.Marshal(answer)
	if err != nil {
		return err
	}
	return stream.Send(&flight.Result{Body: []byte(s.cfg.Catalog.WithoutPaths(string(body)))})
}

func runAction(ctx context.Context, s *service, a action, body []byte) (any, error) {
	answer, err := a.run(s, ctx, body)
	var at *ticket.Error
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
	if err := ticket.ParseEmpty(body); err != nil {
		return nil, err
	}
	if err := s.cfg.Catalog.Refresh(ctx); err != nil {
		return nil, err
	}
	n := 0
	for range s.cfg.Catalog.Entries(ctx, "", "") {
		n++
	}
	return map[string]int{"entries": n}, nil
}

func (s *service) evict(ctx context.Context, body []byte) (any, error) {
	t, err := ticket.ParseName(body, "name")
	if err != nil {
		return nil, err
	}
	callOf(ctx).name = t.Name
	// A file that was removed may still have tables.
	var missing *catalog.NotFoundError
	if err := s.resolve(ctx, &t); err != nil && !errors.As(err, &missing) {
		return nil, err
	}
	n, err := s.cfg.Catalog.Evict(ctx, t.Name)
	if err != nil {
		return nil, err
	}
	return map[string]int{"evicted": n}, nil
}

func (s *service) describe(ctx context.Context, body []byte) (any, error) {
	t, err := ticket.ParseName(body, "name", "options", "version")
	if err == nil {
		err = s.resolve(ctx, &t)
	}
	if err != nil {
		return nil, err
	}
	o, err := s.open(ctx, access.Describe, t)
	if err != nil {
		return nil, err
	}
	defer o.Release()
	d := metadata.Describe(o.Table, o.scan.Schema(), o.Cached)
	d.Name, d.Version, d.FileBytes, d.Modified = o.Entry.Name, o.Version, o.Entry.Size, o.Entry.Modified
	d.Identity = o.Entry.Identity.Kind()
	d.Layers = catalog.LayersOf(s.cfg.Catalog.Scope(ctx), o.Entry, d.Layers)
	all := access.KnowsAll(s.cfg.Catalog.Scope(ctx), t.Name)
	if !all { // these quote values and names in the file
		d.Table, d.Links, d.Foreign = d.Table.WithoutDetails(), nil, map[string]int64{}
	}
	if info := catalog.DatasetInfo(o.TableRef); info != nil {
		d.Dataset = &metadata.Dataset{Files: info.Files, Skipped: info.Skipped}
		if !all {
			return d, nil
		}
		for _, f := range info.First {
			d.Dataset.First = append(d.Dataset.First, metadata.SkippedFile(f))
		}
	}
	return d, nil
}

func (s *service) stats(ctx context.Context, body []byte) (any, error) {
	if err := ticket.ParseEmpty(body); err != nil {
		return nil, err
	}
	if err := access.Check(s.cfg.Catalog.Scope(ctx), access.Admin, access.Server); err != nil {
		return nil, err
	}
	out := stats{
		Stats: s.cfg.Catalog.Stats(), Connections: s.load.now(), Admission: s.cfg.Admission.Stats(),
		Process: process.Read(),
	}
	if s.sql != nil {
		of := s.sql.Stats()
		out.SQL = &of
	}
	if s.fleet != nil {
		of := s.fleet.Stats()
		out.Fleet = &of
	}
	return out, nil
}

// stats is the answer of the action stats.
type stats struct {
	catalog.Stats
	SQL         *sql.Stats      `json:"sql,omitempty"`   // nil: the server has no SQL
	Fleet       *fleet.Stats    `json:"fleet,omitempty"` // nil: the server is alone
	Connections connections     `json:"connections"`
	Admission   admission.Stats `json:"admission"`
	Process     process.Stats   `json:"process"`
}
