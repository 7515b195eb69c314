package worker

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/vibeflight/vibeflight/flightsrv/sql/duck"
)

// Embedded is DuckDB in this process, for programs that run the queries of their own user.
func Embedded(cfg duck.Config, resolve duck.Resolver) (Source, error) {
	db, err := duck.Open(cfg, resolve)
	if err != nil {
		return nil, err
	}
	return embeddedDatabase{db}, nil
}

type embeddedDatabase struct{ *duck.Database }

func (e embeddedDatabase) Take(context.Context, func(Database) bool) (Database, error) { return e, nil }

func (e embeddedDatabase) Version() string { return duck.LibraryVersion() }
func (e embeddedDatabase) Rest()           {}
func (e embeddedDatabase) Resume() bool    { return true }

func (e embeddedDatabase) Alive() bool { return true }

func (e embeddedDatabase) End() bool { return false }

func (e embeddedDatabase) Connect() (Conn, error) {
	c, err := e.Database.Connect()
	if err != nil {
		return nil, err
	}
	return embeddedConn{c}, nil
}

type embeddedConn struct{ *duck.Conn }

func (c embeddedConn) Prepare(ctx context.Context, query *duck.Query) (Statement, error) {
	s, err := c.Conn.Prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return embeddedStatement{s}, nil
}

type embeddedStatement struct{ *duck.Statement }

func (s embeddedStatement) Query(ctx context.Context, args arrow.Record, row int) (Rows, error) {
	r, err := s.Statement.Query(ctx, args, row)
	if err != nil {
		return nil, err
	}
	return embeddedRows{r}, nil
}

type embeddedRows struct{ *duck.Rows }

// Retain returns nil: records are on Go's heap.
func (embeddedRows) Retain() func() { return nil }
