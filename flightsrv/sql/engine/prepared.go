package engine

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// prepared is a statement on a connection of its own: one run of it at a time.
type prepared struct {
	engine    *Engine
	conn      *duck.Conn
	statement *duck.Statement
	relations map[string]*relation // by entry
	filters   func(ctx context.Context) map[string]filter
	leases    map[string]*lease // of the time of preparing, until the first run has its own: what was parsed stays parsed; nil then
}

// run is what DuckDB's calls back find in their context: the tables of one run of a statement.
type run struct {
	engine    *Engine
	relations map[string]*relation
	leases    map[string]*lease
	filters   map[string]filter
	args      arguments
}

type runKey struct{}

func (r *run) in(ctx context.Context) context.Context { return context.WithValue(ctx, runKey{}, r) }

// runOf gives the run that a context is of, or nil.
func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

// drop lets the tables and the arguments go.
func (r *run) drop() {
	dropAll(r.leases)
	if r.args.of != nil {
		r.args.of.Release()
	}
}

func dropAll(leases map[string]*lease) {
	for _, l := range leases {
		l.drop()
	}
}

// stale is the error for a table that the statement was not prepared with.
func stale(entry string) error {
	return &catalog.ChangedError{Name: entry, Want: "none", Have: "another one"}
}

// prepare prepares a query on a new connection.
func (e *Engine) prepare(ctx context.Context, query, schema string) (_ *prepared, err error) {
	p := &prepared{engine: e, relations: map[string]*relation{}, leases: map[string]*lease{}}
	if p.conn, err = e.db.Connect(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	refs, err := p.conn.References(query)
	if err != nil {
		return nil, err
	}
	found, hidden, unknown, err := e.mentions(refs, schema)
	if err != nil {
		return nil, err
	}
	if err := p.find(ctx, found); err != nil {
		return nil, err
	}
	run := &run{engine: e, relations: p.relations, leases: p.leases}
	err = e.views.bound(e.db, found, hidden, func() (err error) {
		if slices.ContainsFunc(found, func(m mention) bool { return strings.EqualFold(m.schema, schema) }) {
			if err := p.conn.Use(schema); err != nil {
				return err
			}
		}
		p.statement, err = p.conn.Prepare(run.in(ctx), query)
		return err
	})
	var wrong *Error
	if unknown != nil && errors.As(err, &wrong) && wrong.Kind == duck.Name {
		return nil, unknown
	}
	if err != nil {
		return nil, err
	}
	p.filters = p.planned(query)
	return p, nil
}

// find takes the tables of the names.
func (p *prepared) find(ctx context.Context, mentions []mention) error {
	for _, m := range mentions {
		if p.relations[m.entry] != nil {
			continue
		}
		l, err := take(ctx, p.engine.cfg.Catalog, m.entry, "")
		if err != nil {
			return err
		}
		p.leases[m.entry] = l
		p.relations[m.entry] = newRelation(m.entry, l)
	}
	return nil
}

// planned finds what the query asks of its tables, with the first run: many statements are prepared for their schema alone. Where that can't be found, all
// rows are read.
func (p *prepared) planned(query string) func(ctx context.Context) map[string]filter {
	var found map[string]filter
	asked := len(p.relations) == 0 || p.engine.whole
	return func(ctx context.Context) map[string]filter {
		if !asked {
			var err error
			if found, err = p.plan(ctx, query); err != nil {
				p.engine.cfg.Log.Debug().Err(err).Msg("the query reads all of its tables")
			}
			asked = ctx.Err() == nil
		}
		return found
	}
}

func (p *prepared) plan(ctx context.Context, query string) (map[string]filter, error) {
	text, err := p.planOf(ctx, query)
	if err != nil {
		return nil, err
	}
	plans, err := readPlan([]byte(text))
	if err != nil {
		return nil, err
	}
	parameters := map[string]int{}
	for i, f := range p.statement.Parameters().Fields() {
		parameters[f.Name] = i
	}
	return filters(plans, p.relations, parameters), nil
}

// momentary are the functions that give one value throughout a run of a statement and another one in the next. The plan has the value of the moment it was
// made at in their place, so that a query which asks for the time of day has to read all rows.
var momentary = regexp.MustCompile(`"name":"(age|current_date|current_database|current_schemas?|get_current_time(stamp)?|in_search_path|now|today|transaction_timestamp|txid_current)"`)

// planOf gives DuckDB's plan of a query, or an error if it may not be the plan of the next run. Before it is optimized it shows the functions that are called,
// those in macros too.
func (p *prepared) planOf(ctx context.Context, query string) (string, error) {
	written, err := p.ask(ctx, "SELECT json_serialize_plan("+literal(query)+")::VARCHAR")
	if err != nil {
		return "", err
	}
	if name := momentary.FindStringSubmatch(written); name != nil {
		return "", fmt.Errorf("%s is another value in each run", name[1])
	}
	return p.ask(ctx, "SELECT json_serialize_plan("+literal(query)+", optimize := true)::VARCHAR")
}

// ask gives the one text that a query of this package's own gives.
func (p *prepared) ask(ctx context.Context, query string) (string, error) {
	s, err := p.conn.Prepare(ctx, query)
	if err != nil {
		return "", err
	}
	defer s.Close()
	rows, err := s.Query(ctx, nil, 0)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	rec, err := rows.Next(ctx)
	if err != nil {
		return "", err
	}
	defer rec.Release()
	text, ok := rec.Column(0).(*array.String)
	if !ok || rec.NumRows() != 1 || text.IsNull(0) {
		return "", errors.New("DuckDB gives no plan")
	}
	return text.Value(0), nil
}

// run begins a run of the statement.
func (p *prepared) run(ctx context.Context, args arguments) (*Rows, error) {
	r := &run{engine: p.engine, relations: p.relations, leases: map[string]*lease{}, args: args}
	if args.of != nil { // a scan may begin after others have ended
		args.of.Retain()
	}
	for entry, of := range p.relations {
		l, err := take(ctx, p.engine.cfg.Catalog, entry, of.version)
		if err != nil {
			r.drop()
			return nil, err
		}
		r.leases[entry] = l
	}
	dropAll(p.leases)
	p.leases = nil
	ctx = r.in(ctx)
	r.filters = p.filters(ctx)
	rows, err := p.statement.Query(ctx, args.of, args.row)
	if err != nil {
		r.drop()
		return nil, err
	}
	return &Rows{prepared: p, run: r, rows: rows}, nil
}

// close ends the statement and its connection.
func (p *prepared) close() {
	if p.statement != nil {
		p.statement.Close()
	}
	if p.conn != nil {
		p.conn.Close()
	}
	dropAll(p.leases)
	p.leases = nil
}

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
