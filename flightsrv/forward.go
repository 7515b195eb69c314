package flightsrv

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	fleetstore "github.com/vibeflight/vibeflight/catalog/fleet"
	"github.com/vibeflight/vibeflight/flightsrv/auth"
	"github.com/vibeflight/vibeflight/flightsrv/fleet"
	"github.com/vibeflight/vibeflight/flightsrv/frame"
	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/wire"
)

// Handles and sessions of Flight SQL begin with the tag of the replica that made them. A call that
// reaches another one is forwarded, with the caller's own credential: the replica with the handle
// decides what the caller may do. Only replicas that the store has named are called, and a call is
// forwarded once at most.

// remote is what another replica has.
type remote struct {
	fleetstore.Replica
	has fleet.Subject
}

// certificateError is the error of a call that can't be forwarded because of the caller's login.
type certificateError struct{ to remote }

func (e *certificateError) Error() string {
	return fmt.Sprintf("replica %s has %s, and the login by a certificate can't be passed on to it: log in by a "+
		"password or a token, or call that replica", e.to.ID, e.to.has)
}

// remoteOf returns the replica that has a handle; nil if this one answers. handle may be nil.
func (s *service) remoteOf(ctx context.Context, has fleet.Subject, handle []byte) (*remote, error) {
	if s.fleet == nil || handle == nil || isForwarded(ctx) {
		return nil, nil //nolint:nilnil // this replica answers
	}
	r, gone := s.fleet.Made(handle)
	switch {
	case r == nil:
		return nil, nil //nolint:nilnil // this replica knows the handle, or answers that it is unknown
	case gone:
		return nil, &fleet.UnreachableError{Replica: r.ID, Has: has}
	}
	to := remote{*r, has}
	if c := callOf(ctx).caller; c != nil && c.Method == auth.Certificate {
		return nil, &certificateError{to}
	}
	return &to, nil
}

// isForwarded reports whether another replica has forwarded a call, or a client says so: then it gets
// what this replica has itself.
func isForwarded(ctx context.Context) bool {
	return len(metadata.ValueFromIncomingContext(ctx, fleet.HopHeader)) > 0
}

// remoteOfCommand returns the replica that a command, or a ticket, of Flight SQL is for; nil: this
// one.
func (s *service) remoteOfCommand(ctx context.Context, b []byte) (*remote, error) {
	name := sql.Name(b)
	switch {
	case name == "TicketStatementQuery":
		return s.remoteOf(ctx, fleet.Result, sql.HandleOf(b))
	case sql.UsesSession(name):
		return s.remoteOf(ctx, fleet.Session, sql.SessionOf(ctx))
	}
	return s.remoteOf(ctx, fleet.Statement, sql.HandleOf(b))
}

// remoteOfAction is remoteOfCommand for an action.
func (s *service) remoteOfAction(ctx context.Context, req *flight.Action) (*remote, error) {
	switch name := req.GetType(); {
	case sql.UsesSession(name):
		return s.remoteOf(ctx, fleet.Session, sql.SessionOf(ctx))
	case sql.HasAction(name):
		return s.remoteOf(ctx, fleet.Statement, sql.HandleOfAction(name, req.GetBody()))
	case name == flight.CancelFlightInfoActionType:
		var m flight.CancelFlightInfoRequest
		if readMessage(req.GetBody(), &m) == nil {
			return s.remoteOf(ctx, fleet.Result, sql.HandleOfInfo(m.GetInfo()))
		}
	case name == flight.RenewFlightEndpointActionType:
		var m flight.RenewFlightEndpointRequest
		if readMessage(req.GetBody(), &m) == nil {
			return s.remoteOf(ctx, fleet.Result, sql.HandleOf(m.GetEndpoint().GetTicket().GetTicket()))
		}
	}
	return nil, nil //nolint:nilnil // this replica answers
}

// forwards records that a call is forwarded.
func (s *service) forwards(ctx context.Context, to *remote) {
	callOf(ctx).forwardedTo = to.ID
	s.cfg.Telemetry.Metrics.Forwarded("sent")
}

// forwardUnary forwards a call with one message in each direction.
func forwardUnary[Out any](ctx context.Context, s *service, to *remote, method string, in any) (*Out, error) {
	s.forwards(ctx, to)
	out := new(Out)
	head, err := s.peers.Invoke(ctx, to.Replica, to.has, flightPrefix+method, in, out)
	if err != nil {
		return nil, err
	}
	return out, setCookies(ctx, head)
}

// setCookies passes the cookies of an answer on.
func setCookies(ctx context.Context, head metadata.MD) error {
	if all := head.Get("set-cookie"); len(all) > 0 {
		return grpc.SetHeader(ctx, metadata.MD{"set-cookie": all})
	}
	return nil
}

// forwardStream forwards a call whose request is one message, and sends what comes back as it is.
func (s *service) forwardStream(to *remote, method string, in any, stream grpc.ServerStream) error {
	ctx := stream.Context()
	s.forwards(ctx, to)
	call, err := s.peers.Stream(ctx, to.Replica, to.has, flightPrefix+method)
	if err != nil {
		return err
	}
	defer call.End()
	if err := errors.Join(notEOF(call.SendMsg(in)), call.CloseSend()); err != nil {
		return err
	}
	return s.passAnswer(call, stream)
}

// forwardAction forwards an action. It reports false if this replica runs it.
func (s *service) forwardAction(req *flight.Action, stream flight.FlightService_DoActionServer) (bool, error) {
	to, err := s.remoteOfAction(stream.Context(), req)
	if to != nil {
		c := callOf(stream.Context())
		c.name, c.sql = req.GetType(), sql.Text(req.GetBody())
		err = s.forwardStream(to, "DoAction", req, stream)
	}
	if lost := new(fleet.UnreachableError); errors.As(err, &lost) && forgets(req.GetType()) {
		return false, nil
	}
	return to != nil || err != nil, err
}

// forgets reports whether an action gives up what a replica has, or replaces it. If that replica is
// lost, the action succeeds without it.
func forgets(name string) bool {
	switch name {
	case flight.SetSessionOptionsActionType, flight.CloseSessionActionType, flightsql.ClosePreparedStatementActionType:
		return true
	}
	return false
}

// notEOF hides the error of a call that has ended: receiving returns its status.
func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// passAnswer sends the messages of another replica to the client.
func (s *service) passAnswer(call *fleet.Call, stream grpc.ServerStream) error {
	ctx := stream.Context()
	c, over := callOf(ctx), wire.Of(ctx)
	for first := true; ; first = false {
		var m fleet.Message
		err := call.RecvMsg(&m)
		if first && err == nil {
			head, failed := call.Header()
			if err = failed; err == nil {
				err = setCookies(ctx, head)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			m.Free()
			return err
		}
		if first {
			c.isOpen()
		}
		f := frame.OfParts(m.Parts())
		f.Bind(over, m.Free)
		c.bytes += int64(f.Size())
		if err := c.send(stream, f); err != nil {
			return err
		}
		if !first { // which is the schema
			c.sentBatch()
		}
	}
}

// forwardPut forwards an upload: its first message, and those that follow as they are.
func (s *service) forwardPut(to *remote, first *flight.FlightData, stream flight.FlightService_DoPutServer) error {
	ctx := stream.Context()
	s.forwards(ctx, to)
	call, err := s.peers.Stream(ctx, to.Replica, to.has, flightPrefix+"DoPut")
	if err != nil {
		return err
	}
	defer call.End()
	var next any = first
	for {
		switch err := call.SendMsg(next); {
		case errors.Is(err, io.EOF): // the other replica has answered
			sql.Drain(stream)
			return s.passAnswer(call, stream)
		case err != nil:
			return err
		}
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		next = m
	}
	if err := call.CloseSend(); err != nil {
		return err
	}
	return s.passAnswer(call, stream)
}

// elsewhere returns the ID of a replica that has the table of a ticket on its disk, if this one would
// have to parse the file for it; else "". With a shared cache each replica gets the table from there.
func (s *service) elsewhere(ctx context.Context, t ticket.Ticket) string {
	if s.fleet == nil || s.cfg.SharesTables {
		return ""
	}
	e, err := s.cfg.Catalog.Lookup(ctx, t.Name)
	if err != nil {
		return "" // reading the table gives the error
	}
	key, ok := s.tableKey(e, t.Options)
	if !ok {
		return ""
	}
	id := s.fleet.Keeper(ctx, &key)
	if id == "" {
		return ""
	}
	if to, err := s.remoteOf(ctx, fleet.Table, []byte(fleet.Tag(id))); err != nil || to == nil {
		return "" // it can't be called for this caller: the file is parsed
	}
	return id
}

// forwardTicket sends the rows that the replica with an ID has for the ticket of a table: only that
// one has the table. The call is forwarded with the caller's own credential.
func (s *service) forwardTicket(id string, ticket *flight.Ticket, stream grpc.ServerStream) error {
	to, err := s.remoteOf(stream.Context(), fleet.Table, []byte(fleet.Tag(id)))
	if err != nil {
		return err
	}
	if to == nil {
		return &fleet.UnreachableError{Replica: id, Has: fleet.Table}
	}
	return s.forwardStream(to, "DoGet", ticket, stream)
}

// forwardedBy returns the replica that says it has forwarded a call; "" if it is not of the fleet.
func (s *service) forwardedBy(ctx context.Context) string {
	if s.fleet == nil {
		return ""
	}
	ids := metadata.ValueFromIncomingContext(ctx, fleet.HopHeader)
	if len(ids) != 1 || !s.fleet.Callable(ids[0]) {
		return ""
	}
	return ids[0]
}
