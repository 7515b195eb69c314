//go:build cgo

package duck

import (
	"context"
	"errors"
	"fmt"
	"sync"

	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// Conn is a connection to the database: statements are prepared on it, and one of them runs at a
// time. It is for one goroutine at a time.
type Conn struct {
	in      *instance
	id      uint64
	conn    duckdb.Connection
	options duckdb.ArrowOptions
	rows    *Rows // of the statement that runs
	call    *call // under way; nil: there is none, and nothing of its context is held
}

// A call is a method of a connection or a statement while it runs: what DuckDB's threads call back
// belongs to it.
type call struct {
	ctx       context.Context
	declaring bool // a view is being made: nothing is resolved
	crs       crsNames

	mu  sync.Mutex
	err error // the first error of Go code below DuckDB
}

// fail keeps the first error, which is what the caller will get, and gives its text for DuckDB.
func (c *call) fail(err error) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	return err.Error()
}

// error prefers an error of Go code, which keeps its type, and the context's, to DuckDB's text of
// them.
func (c *call) error(duck error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	if err := context.Cause(c.ctx); err != nil {
		return err
	}
	return duck
}

// error is what a call returns for an error of DuckDB's.
func (c *Conn) error(call *call, duck error) error { return call.error(c.in.noteBroken(duck)) }

// begin makes ctx the one of all that follows on the connection, on behalf of a statement with
// these reference systems.
func (c *Conn) begin(ctx context.Context, crs crsNames) *call {
	c.call = &call{ctx: ctx, crs: crs}
	return c.call
}

func (c *Conn) end() { c.call = nil }

// interruptAtEnd has the end of ctx end what runs on the connection. The caller calls what it gives
// before the connection does something else.
func (c *Conn) interruptAtEnd(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		duckdb.Interrupt(c.conn)
		close(done)
	})
	return func() {
		if !cancel() {
			<-done
		}
	}
}

// discardQuery has DuckDB give up what it keeps of a query that has failed or was not read to its end: it
// does so when the connection does something else, and be it to find that there is no statement in
// a text.
func (c *Conn) discardQuery() {
	var none duckdb.PreparedStatement
	duckdb.Prepare(c.conn, "", &none)
	duckdb.DestroyPrepare(&none)
}

// Usable reports whether the connection's DuckDB is of use: a mistake of its own makes one refuse
// all that follows.
func (c *Conn) Usable() bool { return !c.in.broken.Load() }

// Close ends the connection, and what runs on it. Its statements have to be closed before.
func (c *Conn) Close() {
	if c.conn.Ptr == nil {
		return
	}
	if c.rows != nil {
		c.rows.Close()
	}
	c.in.mu.Lock()
	delete(c.in.conns, c.id)
	c.in.mu.Unlock()
	c.in.database.conns.Add(-1)
	duckdb.DestroyArrowOptions(&c.options)
	duckdb.Disconnect(&c.conn)
}

// run executes a statement of this package's own.
func (c *Conn) run(statement string) error {
	var res duckdb.Result
	defer duckdb.DestroyResult(&res)
	if duckdb.Query(c.conn, statement, &res) == duckdb.StateError {
		return c.in.noteBroken(parseError(duckdb.ResultError(&res)))
	}
	return nil
}

// declare runs statements about views, whose names stand for nothing meanwhile.
func (c *Conn) declare(statements ...string) error {
	c.call = &call{ctx: context.Background(), declaring: true}
	defer c.end()
	for _, s := range statements {
		if err := c.run(s); err != nil {
			return err
		}
	}
	return nil
}

// define makes macros, for which DuckDB binds the names in them.
func (c *Conn) define(macros []string) error {
	call := c.begin(context.Background(), newCRSNames(c.in.database.cfg))
	defer c.end()
	for _, m := range macros {
		if err := c.run(m); err != nil {
			return fmt.Errorf("%s: %w", m, call.error(err))
		}
	}
	return nil
}

// noteBroken remembers that DuckDB is no longer of use, if that is what an error says, and gives the
// error.
func (in *instance) noteBroken(err error) error {
	var e *Error
	if errors.As(err, &e) && e.fatal {
		in.broken.Store(true)
	}
	return err
}
