package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/flightsrv/sql/worker"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// prepared is a statement on a connection of its own: one run of it at a time.
type prepared struct {
	engine        *Engine
	query, schema string
	home          *home
	resting       bool // the home is not its own now
	conn          worker.Conn
	parsed        *duck.Query
	found, hidden []mention // what its names mean, and which must not mean anything
	statement     worker.Statement
	relations     map[string]*relation // by entry
	filters       func(ctx context.Context) map[string]filter
	taken         *plainColumns // nil: DuckDB makes the result
	// of the time of preparing, until the first run has its own: what was parsed stays parsed; nil
	// then
	leases map[string]*lease
	failed bool // a run did: nobody else gets it
	lists  bool // it reads one of the engine's listings
}

// run is what DuckDB's calls back find in their context: the tables of one run of a statement.
type run struct {
	engine    *Engine
	relations map[string]*relation
	leases    map[string]*lease
	filters   map[string]filter
	args      arguments
	lists     atomic.Bool // a listing was bound

	mu   sync.Mutex
	pins map[*batchCache]*geoarrow.Geometry // what DuckDB reads where it is
}

type runKey struct{}

func (r *run) in(ctx context.Context) context.Context { return context.WithValue(ctx, runKey{}, r) }

// runOf gives the run that a context is of, or nil.
func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

// wkb gives the geometries of a batch as WKB. Those that last stay where they are until the run is
// dropped.
func (r *run) wkb(batch *geoarrow.Columns) (g *geoarrow.Geometry, lasting bool, err error) {
	g, d, err := r.engine.beside.pin(batch)
	if d == nil {
		return g, false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pins[d] != nil { // by another scan of the same table
		r.engine.beside.unpin(d)
		return g, true, nil
	}
	if r.pins == nil {
		r.pins = map[*batchCache]*geoarrow.Geometry{}
	}
	r.pins[d] = g
	return g, true, nil
}

// drop lets the tables and the arguments go.
func (r *run) drop() {
	for d := range r.pins {
		r.engine.beside.unpin(d)
	}
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

// prepare prepares a query on a connection of its own, where nobody left a statement of it.
func (e *Engine) prepare(ctx context.Context, query, schema string) (_ *prepared, err error) {
	if p := e.spares.take(query, schema); p != nil {
		if p.renew(ctx) {
			return p, nil
		}
		p.close()
	}
	p := &prepared{
		engine: e, query: query, schema: schema, relations: map[string]*relation{},
		leases: map[string]*lease{},
	}
	if p.home, err = e.homes.take(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.conn, err = p.home.Connect(); err != nil {
		return nil, err
	}
	if p.parsed, err = p.conn.Parse(query); err != nil {
		return nil, err
	}
	var unknown error
	if p.found, p.hidden, unknown, err = e.mentions(p.parsed.References(), schema); err != nil {
		return nil, err
	}
	if err := p.parse(ctx); err != nil {
		return nil, err
	}
	err = p.bind(ctx)
	var wrong *Error
	if unknown != nil && errors.As(err, &wrong) && wrong.Kind == duck.Name {
		err = unknown
	}
	if err != nil {
		return nil, err
	}
	p.filters = p.planned(p.parsed)
	p.taken = p.takes(p.parsed)
	return p, nil
}

// renew takes the tables for a statement that was prepared before, and reports whether it is what
// its text would be prepared as now: its names mean the same files, in the same versions.
func (p *prepared) renew(ctx context.Context) bool {
	found, hidden, _, err := p.engine.mentions(p.parsed.References(), p.schema)
	if err != nil || !slices.Equal(found, p.found) || !slices.Equal(hidden, p.hidden) {
		return false
	}
	p.leases, err = p.take(ctx)
	return err == nil
}

// parse takes the tables of the names. Others use the DuckDB while files are parsed for them.
func (p *prepared) parse(ctx context.Context) (err error) {
	p.rest()
	if err := p.find(ctx); err != nil {
		return err
	}
	if p.resume() {
		return nil
	}
	p.conn.Close()
	p.conn = nil
	home, err := p.engine.homes.take(ctx)
	if err != nil {
		return err
	}
	p.home, p.resting = home, false
	p.conn, err = home.Connect()
	return err
}

// find takes the tables of the names.
func (p *prepared) find(ctx context.Context) error {
	for _, m := range p.found {
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

// take takes the tables again, in the versions that the statement knows.
func (p *prepared) take(ctx context.Context) (map[string]*lease, error) {
	leases := map[string]*lease{}
	for entry, of := range p.relations {
		l, err := take(ctx, p.engine.cfg.Catalog, entry, of.version)
		if err != nil {
			dropAll(leases)
			return nil, err
		}
		leases[entry] = l
	}
	return leases, nil
}

// bind has DuckDB prepare the query over the tables.
func (p *prepared) bind(ctx context.Context) error {
	run := &run{engine: p.engine, relations: p.relations, leases: p.leases}
	return p.home.views.bound(p.home, p.found, p.hidden, func() (err error) {
		if slices.ContainsFunc(p.found, func(m mention) bool { return strings.EqualFold(m.schema, p.schema) }) {
			if err := p.conn.Use(p.schema); err != nil {
				return err
			}
		}
		p.statement, err = p.conn.Prepare(run.in(ctx), p.parsed)
		p.lists = run.lists.Load()
		return err
	})
}

// planned finds what the query asks of its tables, with the first run: many statements are prepared
// for their schema alone. Where that can't be found, all rows are read.
func (p *prepared) planned(query *duck.Query) func(ctx context.Context) map[string]filter {
	var found map[string]filter
	asked := len(p.relations) == 0 && !p.lists || p.engine.whole || !query.Filters()
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

// momentary are the functions that give one value throughout a run of a statement and another one
// in the next. The plan has the value of the moment it was made at in their place, so that a query
// which asks for the time of day has to read all rows. Before it is optimized, the plan shows the
// functions that are called, those in macros too.
var momentary = regexp.MustCompile(`"name":"(age|current_date|current_database|current_schemas?|get_current_time(stamp)?|in_search_path|now|today|transaction_timestamp|txid_current)"`)

func (p *prepared) plan(ctx context.Context, query *duck.Query) (map[string]filter, error) {
	written, optimized, err := p.conn.Plan(ctx, query)
	if err != nil {
		return nil, err
	}
	if name := momentary.FindSubmatch(written); name != nil {
		return nil, fmt.Errorf("%s is another value in each run", name[1])
	}
	plans, err := readPlan(optimized)
	if err != nil {
		return nil, err
	}
	parameters := map[string]int{}
	for i, f := range p.statement.Parameters().Fields() {
		parameters[f.Name] = i
	}
	relations := maps.Clone(p.relations)
	if p.lists {
		relations[columnsKey] = p.engine.listing(columnsKey).relation()
	}
	return filters(plans, relations, parameters), nil
}

// run begins a run of the statement.
func (p *prepared) run(ctx context.Context, args arguments) (*Rows, error) {
	leases, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	r := &run{engine: p.engine, relations: p.relations, leases: leases, args: args}
	if args.of != nil { // a scan may begin after others have ended
		args.of.Retain()
	}
	dropAll(p.leases)
	p.leases = nil
	ctx = r.in(ctx)
	rows, err := p.rows(ctx, r)
	if err != nil {
		r.drop()
		return nil, err
	}
	return &Rows{prepared: p, run: r, rows: rows}, nil
}

func (p *prepared) rows(ctx context.Context, r *run) (result, error) {
	if p.taken != nil {
		rows, err := p.taken.rows(ctx, p.statement.Schema())
		if err != nil {
			return nil, err
		}
		p.rest() // the rows are the table's: DuckDB has no part in them
		return rows, nil
	}
	r.filters = p.filters(ctx)
	rows, err := p.statement.Query(ctx, r.args.of, r.args.row)
	if err != nil {
		return nil, err
	}
	return rows, nil
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
	p.rest()
}

// rest lets others use the DuckDB that the statement is prepared on.
func (p *prepared) rest() {
	if !p.resting {
		p.resting = true
		p.home.Rest()
	}
}

// resume reports whether the DuckDB is the statement's own again: it is there, and nobody else uses
// it.
func (p *prepared) resume() bool {
	if p.resting && p.conn.Usable() && p.home.Resume() {
		p.resting = false
	}
	return !p.resting
}
