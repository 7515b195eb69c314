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
	"github.com/vibeflight/vibeflight/catalog/access"
	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
	"github.com/vibeflight/vibeflight/flightsrv/sql/worker"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
)

// preparedStatement is a statement on a connection of its own. It has one run at a time.
type preparedStatement struct {
	engine           *Engine
	query, schema    string
	privilege        access.Privilege // that the caller needs on the tables
	rights           string           // of the caller; those of other rights have their own database
	scope            string           // scopeOf the caller; those of other scopes have their own statement
	db               *database
	idle             bool // other statements may use the database
	conn             worker.Conn
	parsed           *duck.Query
	mentions, hidden []mention // what its names mean, and the names without a meaning
	statement        worker.Statement
	relations        map[string]*relation // by entry
	filters          func(ctx context.Context) map[string]filter
	direct           *directColumns // nil: DuckDB computes the result
	// of the preparation, until the first run has its own, so that parsed tables stay parsed; nil
	// after that
	leases map[string]*lease
	failed bool // a run failed: the statement is not reused
	lists  bool // it reads one of the engine's listings
}

// statementRun is the value that callbacks of DuckDB find in their context: the tables of a run.
type statementRun struct {
	engine    *Engine
	relations map[string]*relation
	leases    map[string]*lease
	filters   map[string]filter
	args      arguments
	lists     atomic.Bool // a listing was bound
	report    *Report     // nil: none is wanted

	mu   sync.Mutex
	pins map[*batchCache]*geoarrow.Geometry // what DuckDB reads in place
}

type runKey struct{}

func (r *statementRun) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, runKey{}, r)
}

// runOf returns the run of a context, or nil.
func runOf(ctx context.Context) *statementRun {
	r, _ := ctx.Value(runKey{}).(*statementRun)
	return r
}

// wkb returns the geometries of a batch as WKB. Lasting ones stay in place until the run is
// released.
func (r *statementRun) wkb(batch *geoarrow.Columns) (g *geoarrow.Geometry, lasting bool, err error) {
	g, d, err := r.engine.derived.pin(batch)
	if d == nil {
		return g, false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pins[d] != nil { // by another scan of the same table
		r.engine.derived.unpin(d)
		return g, true, nil
	}
	if r.pins == nil {
		r.pins = map[*batchCache]*geoarrow.Geometry{}
	}
	r.pins[d] = g
	return g, true, nil
}

// release releases the tables and the arguments.
func (r *statementRun) release() {
	for d := range r.pins {
		r.engine.derived.unpin(d)
	}
	releaseAll(r.leases)
	if r.args.record != nil {
		r.args.record.Release()
	}
}

func releaseAll(leases map[string]*lease) {
	for _, l := range leases {
		l.release()
	}
}

// changedError is the error for a table that the statement was not prepared with.
func changedError(entry string) error {
	return &catalog.ChangedError{Name: entry, Want: "none", Have: "another one"}
}

// prepare prepares a query on a new connection, unless an idle statement of it exists.
func (e *Engine) prepare(ctx context.Context, privilege access.Privilege, query, schema string) (
	_ *preparedStatement, err error,
) {
	scope := scopeOf(ctx, e.cfg.Catalog, privilege)
	if p := e.idle.take(scope, query, schema); p != nil {
		if p.revalidate(ctx) {
			return p, nil
		}
		p.close()
	}
	p := &preparedStatement{
		engine: e, query: query, schema: schema, privilege: privilege, scope: scope,
		rights:    e.cfg.Catalog.Scope(ctx).Key(),
		relations: map[string]*relation{}, leases: map[string]*lease{},
	}
	if p.db, err = e.databases.take(ctx, p.rights); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.conn, err = p.db.Connect(); err != nil {
		return nil, err
	}
	if p.parsed, err = p.conn.Parse(query); err != nil {
		return nil, err
	}
	var unknown error
	p.mentions, p.hidden, unknown, err = e.mentions(ctx, privilege, p.parsed.References(), schema)
	if err != nil {
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
	p.filters = p.lazyFilters(p.parsed)
	p.direct = p.directColumns(p.parsed)
	return p, nil
}

// revalidate leases the tables of a statement that was prepared before. It reports whether the
// statement is still current: its names mean the same files, in the same versions.
func (p *preparedStatement) revalidate(ctx context.Context) bool {
	found, hidden, _, err := p.engine.mentions(ctx, p.privilege, p.parsed.References(), p.schema)
	if err != nil || !slices.Equal(found, p.mentions) || !slices.Equal(hidden, p.hidden) {
		return false
	}
	p.leases, err = p.leaseTables(ctx)
	return err == nil
}

// parse leases the tables of the names. Other statements use the database while files are parsed.
func (p *preparedStatement) parse(ctx context.Context) (err error) {
	p.rest()
	if err := p.findTables(ctx); err != nil {
		return err
	}
	if p.resume() {
		return nil
	}
	p.conn.Close()
	p.conn = nil
	home, err := p.engine.databases.take(ctx, p.rights)
	if err != nil {
		return err
	}
	p.db, p.idle = home, false
	p.conn, err = home.Connect()
	return err
}

// findTables leases the tables of the names.
func (p *preparedStatement) findTables(ctx context.Context) error {
	for _, m := range p.mentions {
		if p.relations[m.entry] != nil {
			continue
		}
		l, err := leaseTable(ctx, p.engine.cfg.Catalog, p.privilege, m.entry, "")
		if err != nil {
			return err
		}
		p.leases[m.entry] = l
		p.relations[m.entry] = newRelation(m.entry, l)
	}
	return nil
}

// leaseTables leases the tables again, in the versions of the statement.
func (p *preparedStatement) leaseTables(ctx context.Context) (map[string]*lease, error) {
	leases := map[string]*lease{}
	for entry, of := range p.relations {
		l, err := leaseTable(ctx, p.engine.cfg.Catalog, p.privilege, entry, of.version)
		if err != nil {
			releaseAll(leases)
			return nil, err
		}
		leases[entry] = l
	}
	return leases, nil
}

// bind prepares the query over the tables with DuckDB.
func (p *preparedStatement) bind(ctx context.Context) error {
	run := &statementRun{engine: p.engine, relations: p.relations, leases: p.leases}
	return p.db.views.bindWith(p.db, p.mentions, p.hidden, func() (err error) {
		if slices.ContainsFunc(p.mentions, func(m mention) bool { return strings.EqualFold(m.schema, p.schema) }) {
			if err := p.conn.Use(p.schema); err != nil {
				return err
			}
		}
		p.statement, err = p.conn.Prepare(run.context(ctx), p.parsed)
		p.lists = run.lists.Load()
		return err
	})
}

// lazyFilters finds the filters of the tables with the first run: many statements are prepared for
// their schema alone. All rows are read if the filters can't be found.
func (p *preparedStatement) lazyFilters(query *duck.Query) func(ctx context.Context) map[string]filter {
	var found map[string]filter
	asked := len(p.relations) == 0 && !p.lists || p.engine.readAll || !query.Filters()
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

// volatileFunctions are the functions with the same value throughout a run and another one in the
// next. The optimized plan has their values at the time of planning, so a query with one of them
// must read all rows. The plan before optimization shows the calls, also those in macros.
var volatileFunctions = regexp.MustCompile(`"name":"(age|current_date|current_database|current_schemas?|` +
	`get_current_time(stamp)?|in_search_path|now|today|transaction_timestamp|txid_current)"`)

func (p *preparedStatement) plan(ctx context.Context, query *duck.Query) (map[string]filter, error) {
	written, optimized, err := p.conn.Plan(ctx, query)
	if err != nil {
		return nil, err
	}
	if name := volatileFunctions.FindSubmatch(written); name != nil {
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

// run starts a run of the statement.
func (p *preparedStatement) run(ctx context.Context, args arguments) (*Rows, error) {
	leases, err := p.leaseTables(ctx)
	if err != nil {
		return nil, err
	}
	r := &statementRun{
		engine: p.engine, relations: p.relations, leases: leases, args: args, report: reportOf(ctx),
	}
	if args.record != nil { // a scan may begin after others have ended
		args.record.Retain()
	}
	releaseAll(p.leases)
	p.leases = nil
	ctx = r.context(ctx)
	rows, err := p.rows(ctx, r)
	if err != nil {
		r.release()
		return nil, err
	}
	return &Rows{prepared: p, run: r, rows: rows}, nil
}

func (p *preparedStatement) rows(ctx context.Context, r *statementRun) (result, error) {
	if p.direct != nil {
		rows, err := p.direct.rows(ctx, p.statement.Schema())
		if err != nil {
			return nil, err
		}
		p.rest() // the rows are the table's own
		return rows, nil
	}
	r.filters = p.filters(ctx)
	rows, err := p.statement.Query(ctx, r.args.record, r.args.row)
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// close closes the statement and its connection.
func (p *preparedStatement) close() {
	if p.statement != nil {
		p.statement.Close()
	}
	if p.conn != nil {
		p.conn.Close()
	}
	releaseAll(p.leases)
	p.leases = nil
	p.rest()
}

// rest lets other statements use the database.
func (p *preparedStatement) rest() {
	if !p.idle {
		p.idle = true
		p.db.Rest()
	}
}

// resume takes the database back. It reports false if it is gone, in use, or used for callers of other rights now.
func (p *preparedStatement) resume() bool {
	if p.idle && p.conn.Usable() && p.db.Resume() {
		p.idle = false
		if !p.db.isOf(p.rights) {
			p.rest()
		}
	}
	return !p.idle
}
