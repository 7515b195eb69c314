package flightsrv

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc/metadata"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/readers"
)

// service answers the Flight calls. Its methods give plain errors, which the interceptors turn to
// statuses.
type service struct {
	flight.BaseFlightServer
	cfg       Config
	sql       *sql.Server   // nil: there is none
	puts      chan struct{} // one for each table that is being stored
	load      load
	mistakes  mistakes           // of clients, as they are logged
	locations []*flight.Location // of every endpoint; empty: the client keeps the connection it has
}

// opened is a table that a ticket names and the part of it that the ticket selects.
type opened struct {
	*catalog.TableRef
	scan *catalog.Scan
}

// open gives the table, parsed if need be, and the scan of t. The caller releases it.
func (s *service) open(ctx context.Context, t Ticket) (opened, error) {
	callOf(ctx).name = t.Name
	held, err := s.cfg.Catalog.Table(ctx, t.request())
	if err != nil {
		return opened{}, err
	}
	return s.scan(held, t)
}

// outline gives what is told of the table and of what t selects, as far as it is known without
// rows; else it is open. parse has the rows on their way all the same.
func (s *service) outline(ctx context.Context, t Ticket, parse bool) (opened, error) {
	callOf(ctx).name = t.Name
	held, scan, err := s.cfg.Catalog.Describe(ctx, t.request(), s.cfg.selection(t), parse)
	return opened{held, scan}, err
}

// request asks for the columns that t selects, and for the geometry, whose bounding box is told
// whatever is selected.
func (t Ticket) request() catalog.Request {
	columns := t.Columns
	if columns != nil {
		columns = append(slices.Clone(columns), readers.GeometryColumn)
	}
	return catalog.Request{Name: t.Name, Options: t.Options, Version: t.Version, Columns: columns}
}

// scan gives a table that is held and the scan of t. It releases the table if there is none.
func (s *service) scan(held *catalog.TableRef, t Ticket) (opened, error) {
	scan, err := s.cfg.Catalog.Scan(held, s.cfg.selection(t))
	if err != nil {
		held.Release()
		return opened{}, err
	}
	return opened{held, scan}, nil
}

// Handshake lets everybody in: this server asks for no login, but drivers that always send a user,
// as tools on JDBC do, want a token for it. The token says nothing, and no call looks at it.
func (s *service) Handshake(stream flight.FlightService_HandshakeServer) error {
	return stream.SendHeader(metadata.Pairs("authorization", "Bearer none"))
}

// DoPut binds the parameters of SQL statements and, where a folder is writable, stores tables. What
// it is to do stands in the first message.
func (s *service) DoPut(stream flight.FlightService_DoPutServer) error {
	first, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return errReadOnly
	}
	if err != nil {
		return err
	}
	ctx := stream.Context()
	cmd := first.GetFlightDescriptor().GetCmd()
	if s.cfg.Catalog.Writable() {
		if sql.Name(cmd) == sql.IngestName {
			return s.ingest(first, stream)
		}
		if sql.Name(cmd) == "" {
			return s.put(first, stream)
		}
	}
	ok, err := s.forSQL(ctx, cmd)
	if err != nil {
		return err
	}
	if !ok {
		return errReadOnly
	}
	answer, err := s.sql.Put(ctx, first, stream)
	if err != nil {
		return err
	}
	return stream.Send(&flight.PutResult{AppMetadata: answer})
}

var errReadOnly = &unservedError{"DoPut: this server is read-only: it was started without --writable"}
