// Package postgres keeps records, leases and replicas in PostgreSQL, for the servers of a fleet.
//
// All tables are in the schema vibeflight, which the first server makes. A call waits for the
// database until its deadline and no longer. It uses no state of a session, so PgBouncer may pool
// transactions. Errors of a database that does not answer wrap fleet.ErrAway. No error and no name
// has the password.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/catalog/store"
)

// DefaultTimeout bounds a statement, with the time to connect.
const DefaultTimeout = 2 * time.Second

// maxConns bounds the connections of a server, unless the URL has pool_max_conns. Statements are
// short, and a fleet shares the database.
const maxConns = 8

// Store is a store of records and of a fleet in one database. It connects when it is used.
type Store struct {
	name    string
	timeout time.Duration
	limit   string // statement_timeout of the server in ms, which is shorter
	steps   []string
	pool    *pgxpool.Pool
	log     zerolog.Logger

	closed    atomic.Bool
	ready     atomic.Bool // the schema has the current version
	migrating sync.Mutex

	purged atomic.Int64 // time of the last purge, Unix in ns
}

var (
	_ store.Store = (*Store)(nil)
	_ fleet.Store = (*Store)(nil)
)

// Open returns the store at a URL postgres://user@host/database, which may have the parameters of
// libpq, such as sslmode, and those of pgxpool. The environment has defaults (PGPASSWORD,
// PGPASSFILE). Open does not connect. timeout bounds each statement; 0 is DefaultTimeout. The caller
// closes the store.
func Open(ctx context.Context, address string, timeout time.Duration, log zerolog.Logger) (*Store, error) {
	return open(ctx, address, timeout, log, migrations())
}

func open(ctx context.Context, address string, timeout time.Duration, log zerolog.Logger, steps []string) (
	*Store, error,
) {
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("the URL of the store: %s", reason(err))
	}
	c := cfg.ConnConfig
	c.DefaultQueryExecMode = pgx.QueryExecModeExec // no prepared statements, which a pool would lose
	c.StatementCacheCapacity, c.DescriptionCacheCapacity = 0, 0
	c.ConnectTimeout = timeout
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "vibeflight"
	}
	if !strings.Contains(address, "pool_max_conns") {
		cfg.MaxConns = maxConns
	}
	cfg.PingTimeout = timeout
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("the URL of the store: %s", reason(err))
	}
	name := fmt.Sprintf("postgres://%s:%d/%s", c.Host, c.Port, c.Database)
	return &Store{
		name: name, timeout: timeout, limit: strconv.FormatInt(max(1, (timeout*9/10).Milliseconds()), 10),
		steps: steps, pool: pool, log: log.With().Str("store", name).Logger(),
	}, nil
}

// reason returns why a URL is not accepted, without any part of the URL.
func reason(err error) string {
	inner := errors.Unwrap(err)
	if urlError := new(url.Error); inner == nil || errors.As(err, &urlError) {
		return "it is not a valid URL"
	}
	return inner.Error()
}

// Name returns the address of the database, without user and password.
func (s *Store) Name() string { return s.name }

// Close closes the store after the calls in progress.
func (s *Store) Close() error {
	if !s.closed.Swap(true) {
		s.pool.Close()
	}
	return nil
}

// statement is a statement with its arguments, and what receives its rows.
type statement struct {
	sql  string
	args []any
	rows func(pgx.Rows) error // nil: they are ignored
}

// one scans the only row of a statement, or none.
func one(found *bool, targets ...any) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		*found = false
		for rows.Next() {
			*found = true
			if err := rows.Scan(targets...); err != nil {
				return err
			}
		}
		return nil
	}
}

// run executes statements in one transaction, once the schema is ready, and returns the number of
// rows that the last one affected. It tries again if a connection of the pool turned out to be
// broken. So the statements have the same effect if they are executed twice.
func (s *Store) run(ctx context.Context, statements ...statement) (int64, error) {
	return s.try(ctx, 2, statements)
}

// runOnce is run for statements that may be executed once only.
func (s *Store) runOnce(ctx context.Context, statements ...statement) (int64, error) {
	return s.try(ctx, 1, statements)
}

func (s *Store) try(parent context.Context, tries int, statements []statement) (n int64, err error) {
	if s.closed.Load() {
		return 0, store.ErrClosed
	}
	ctx, cancel := context.WithTimeout(parent, s.timeout)
	defer cancel()
	if err := s.prepare(ctx); err != nil {
		return 0, s.wrap(parent, err)
	}
	for try := 1; ; try++ {
		n, err = s.batch(ctx, statements)
		if err == nil || ctx.Err() != nil || !broken(err) || try >= tries && !pgconn.SafeToRetry(err) || try > 2 {
			return n, s.wrap(parent, err)
		}
		s.pool.Reset() // its other connections are probably broken too
	}
}

// batch sends all statements at once. The server executes them in one transaction, and bounds each.
func (s *Store) batch(ctx context.Context, statements []statement) (n int64, err error) {
	b := &pgx.Batch{}
	b.Queue(`SELECT set_config('statement_timeout', $1, true)`, s.limit)
	for _, st := range statements {
		b.Queue(st.sql, st.args...)
	}
	results := s.pool.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, results.Close()) }()
	if _, err := results.Exec(); err != nil {
		return 0, err
	}
	for _, st := range statements {
		rows, err := results.Query()
		if err == nil && st.rows != nil {
			err = st.rows(rows)
		}
		if rows != nil {
			rows.Close()
			err = errors.Join(err, rows.Err())
			n = rows.CommandTag().RowsAffected()
		}
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}

// broken reports whether an error is one of a connection, and not the answer to a statement.
func broken(err error) bool {
	answer := new(pgconn.PgError)
	if !errors.As(err, &answer) {
		return true
	}
	return answer.Code == "57P01" || strings.HasPrefix(answer.Code, "08")
}

// classes of SQLSTATE that depend on the statement, or on others at the same time. With any other
// error the database as a whole is not usable.
var ofStatement = []string{
	"21", "22", "23", // data and constraints
	"40", "55P03", // conflicts
	"54", // limits of the program
}

// wrap adds the name of the store to an error, and fleet.ErrAway unless it is about a statement or
// the caller's context.
func (s *Store) wrap(parent context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case parent.Err() != nil:
		return fmt.Errorf("%s: %w", s.name, parent.Err())
	case s.closed.Load():
		return store.ErrClosed
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: no answer within %v: %w", s.name, s.timeout, fleet.ErrAway)
	}
	answer := new(pgconn.PgError)
	if errors.As(err, &answer) {
		switch answer.Code {
		case "42P01", "3F000", "42703": // no such table, schema or column: another hand changed it
			s.ready.Store(false)
		}
		for _, class := range ofStatement {
			if strings.HasPrefix(answer.Code, class) {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	return fmt.Errorf("%s: %w: %w", s.name, fleet.ErrAway, err)
}
