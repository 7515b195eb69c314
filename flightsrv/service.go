package flightsrv

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/catalog/access"
	fleetstore "github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/flightsrv/fleet"
	"github.com/vibeflight/vibeflight/flightsrv/internal/errorlog"
	"github.com/vibeflight/vibeflight/flightsrv/share"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// service answers the Flight calls. Its methods return plain errors, which the interceptors convert
// to statuses.
type service struct {
	flight.BaseFlightServer
	cfg          Config
	sql          *sql.Server   // nil: no SQL
	puts         chan struct{} // one for each table that is being stored
	shares       *share.Desk   // nil: the server listens on no unix socket
	load         clientLoad
	active       activeCalls
	requests     sync.RWMutex       // each request by HTTP has a read lock
	clientErrors errorlog.Sampler   // that are logged
	slow         *slowLog           // nil: none
	locations    []*flight.Location // of every endpoint without a fleet; empty: clients use their connection
	fleet        *fleet.Fleet       // nil: this server is alone
	peers        *fleet.Peers       // nil: this server is alone
	// key of a table in the fleet, as catalog.TableKeys returns it; nil: this server is alone
	tableKey func(catalog.Entry, map[string]any) (fleetstore.TableKey, bool)
}

// tableScan is the table that a ticket names, and the scan of the ticket's selection.
type tableScan struct {
	*catalog.TableRef
	scan *catalog.Scan
}

// resolve sets the name of a ticket to that of the entry that it means, for a call with the ticket.
func (s *service) resolve(ctx context.Context, t *ticket.Ticket) error {
	callOf(ctx).selects(*t)
	name, err := s.cfg.Catalog.Resolve(ctx, access.Read, t.Name)
	if err != nil {
		return err
	}
	t.Name = name
	return nil
}

// open returns the table, parsed if necessary, and the scan of t, for a caller that needs the
// privilege p. The caller releases it.
func (s *service) open(ctx context.Context, p access.Privilege, t ticket.Ticket) (tableScan, error) {
	callOf(ctx).selects(t)
	ref, err := s.cfg.Catalog.TableFor(ctx, p, t.Request())
	if err != nil {
		return tableScan{}, err
	}
	return s.scan(ref, t)
}

// openInfo returns what is known of the table and of t's selection without rows, or else opens it.
// With parse, it also starts a missing parse.
func (s *service) openInfo(ctx context.Context, t ticket.Ticket, parse bool) (tableScan, error) {
	callOf(ctx).selects(t)
	ref, scan, err := s.cfg.Catalog.Describe(ctx, t.Request(), s.cfg.selection(t), parse)
	return tableScan{ref, scan}, err
}

// scan returns a table and the scan of t. It releases the table on error.
func (s *service) scan(ref *catalog.TableRef, t ticket.Ticket) (tableScan, error) {
	scan, err := ref.Scan(s.cfg.selection(t))
	if err != nil {
		ref.Release()
		return tableScan{}, err
	}
	return tableScan{ref, scan}, nil
}

// DoPut binds the parameters of SQL statements and, with a writable folder, stores tables. The
// first message says which.
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
	ok, err := s.isSQL(ctx, cmd)
	if err != nil {
		return err
	}
	if !ok {
		return errReadOnly
	}
	if to, err := s.remoteOfCommand(ctx, cmd); err != nil {
		return err
	} else if to != nil {
		return s.forwardPut(to, first, stream)
	}
	answer, err := s.sql.Put(ctx, first, stream)
	if err != nil {
		return err
	}
	return stream.Send(&flight.PutResult{AppMetadata: answer})
}

var errReadOnly = &unimplementedError{"DoPut: this server is read-only: it was started without --writable"}

// selection returns the selection of a ticket, with the server's name of OGC:CRS84, and with what
// transforms positions.
func (c *Config) selection(t ticket.Ticket) catalog.Selection {
	sel := t.Selection()
	sel.CRS84As = c.CRS84As
	if sel.CRS != "" {
		sel.Transformer = sql.TransformerOf(c.SQL)
	}
	return sel
}
