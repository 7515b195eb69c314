//go:build cgo && linux && (amd64 || arm64)

package duck

import (
	"context"
	"errors"
	"fmt"
	"sync"

	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// Conn is a connection to the database. Statements are prepared on it, and it runs one of them at a
// time. It is for one goroutine at a time.
type Conn struct {
	in      *instance
	id      uint64
	conn    duckdb.Connection
	options duckdb.ArrowOptions
	rows    *Rows // of the running statement
	call    *call // in progress; nil: none, and its context is not held
}

// A call is a method of a connection or a statement while it runs. Callbacks of DuckDB's threads
// belong to it.
type call struct {
	ctx       context.Context
	declaring bool // a view is being created: nothing is resolved
	crs       crsNames

	mu  sync.Mutex
	err error // the first error of Go code that DuckDB called
}

// fail keeps the first error, which the caller gets, and returns its text for DuckDB.
func (c *call) fail(err error) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	return err.Error()
}

// error returns the error of Go code, or that of the context, in preference to DuckDB's text of
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

// error returns the error of a call for an error of DuckDB.
func (c *Conn) error(call *call, duck error) error { return call.error(c.in.noteBroken(duck)) }

// begin starts a call with a context and the reference systems of a statement.
func (c *Conn) begin(ctx context.Context, crs crsNames) *call {
	c.call = &call{ctx: ctx, crs: crs}
	return c.call
}

func (c *Conn) end() { c.call = nil }

// interruptAtEnd interrupts the connection at the end of ctx. The caller calls stop before it uses
// the connection otherwise.
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

// discardQuery makes DuckDB free the state of a query that failed or was not read to its end.
// DuckDB frees it when the connection does anything else, even parse an empty text.
func (c *Conn) discardQuery() {
	var none duckdb.PreparedStatement
	duckdb.Prepare(c.conn, "", &none)
	duckdb.DestroyPrepare(&none)
}

// Usable reports whether the connection's DuckDB works. After an internal error, DuckDB refuses
// everything.
func (c *Conn) Usable() bool { return !c.in.broken.Load() }

// Close closes the connection, and ends what runs on it. Its statements must be closed before.
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

// run executes a statement of this package.
func (c *Conn) run(statement string) error {
	var res duckdb.Result
	defer duckdb.DestroyResult(&res)
	if duckdb.Query(c.conn, statement, &res) == duckdb.StateError {
		return c.in.noteBroken(parseError(duckdb.ResultError(&res)))
	}
	return nil
}

// declare runs statements about views. Their names are not resolved meanwhile.
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

// define creates macros. DuckDB binds the names in them.
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

// noteBroken records that DuckDB no longer works if err is a fatal error, and returns err.
func (in *instance) noteBroken(err error) error {
	var e *Error
	if errors.As(err, &e) && e.fatal {
		in.broken.Store(true)
	}
	return err
}
