package target

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// Remote is a server.
type Remote struct {
	address string
	conn    *grpc.ClientConn
	client  flight.Client
}

// Close closes the connection.
func (r *Remote) Close() { _ = r.client.Close() } // a connection that only read loses nothing

func (r *Remote) list(ctx context.Context, prefix, format string) ([]Entry, error) {
	expression, err := json.Marshal(map[string]string{"prefix": prefix, "format": format})
	if prefix == "" && format == "" {
		expression = nil
	}
	if err != nil {
		return nil, err
	}
	stream, err := r.client.ListFlights(ctx, &flight.Criteria{Expression: expression})
	if err != nil {
		return nil, r.problem(err)
	}
	var entries []Entry
	for {
		info, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return nil, r.problem(err)
		}
		e := Entry{Name: strings.Join(info.GetFlightDescriptor().GetPath(), "/")}
		if n := info.GetTotalRecords(); n >= 0 {
			e.Rows = &n
		}
		var f metadata.Table
		if text := info.GetAppMetadata(); len(text) > 0 {
			if err := json.Unmarshal(text, &f); err != nil {
				return nil, fmt.Errorf("%s: app_metadata of %s: %w", r.address, e.Name, err)
			}
		}
		e.Format = f.Format
		entries = append(entries, e)
	}
}

// Describe runs the action describe. It polls first if p is visible, to show how far the parse is.
func (r *Remote) Describe(
	ctx context.Context, name string, options map[string]any, p *output.Progress,
) (*metadata.Description, error) {
	if p.Visible() {
		if _, err := r.poll(ctx, ticket.Ticket{Name: name, Options: options}, p); err != nil {
			return nil, err
		}
	}
	stream, err := r.client.DoAction(ctx, &flight.Action{Type: "describe", Body: ticket.Ticket{
		Name:    name,
		Options: options,
	}.Encode()})
	if err != nil {
		return nil, r.problem(err)
	}
	answer, err := stream.Recv()
	if err != nil {
		return nil, r.problem(err)
	}
	if err := flight.ReadUntilEOF(stream); err != nil {
		return nil, r.problem(err)
	}
	d := &metadata.Description{}
	if err := json.Unmarshal(answer.GetBody(), d); err != nil {
		return nil, fmt.Errorf("%s: describe: %w", r.address, err)
	}
	return d, nil
}

// Act runs an action of the server whose body and answer are JSON. A nil body is empty.
func (r *Remote) Act(ctx context.Context, kind string, body, answer any) error {
	action := &flight.Action{Type: kind}
	if body != nil {
		var err error
		if action.Body, err = json.Marshal(body); err != nil {
			return err
		}
	}
	stream, err := r.client.DoAction(ctx, action)
	if err != nil {
		return r.problem(err)
	}
	result, err := stream.Recv()
	if err != nil {
		return r.problem(err)
	}
	if err := json.Unmarshal(result.GetBody(), answer); err != nil {
		return fmt.Errorf("%s: %s: %w", r.address, kind, err)
	}
	return nil
}

// info requests the FlightInfo of a ticket without rows. If p is visible, it polls to show the
// progress of the parse. Otherwise, the parse ends at once if the client leaves.
func (r *Remote) info(ctx context.Context, t ticket.Ticket, p *output.Progress) (*flight.FlightInfo, error) {
	if p.Visible() {
		return r.poll(ctx, t, p)
	}
	info, err := r.client.GetFlightInfo(ctx, &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: t.Encode()})
	return info, r.problem(err)
}

// poll polls until there is a FlightInfo. The server waits for progress before it answers, so poll
// does not.
func (r *Remote) poll(ctx context.Context, t ticket.Ticket, p *output.Progress) (*flight.FlightInfo, error) {
	next := &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: t.Encode()}
	for {
		answer, err := r.client.PollFlightInfo(ctx, next)
		if err != nil {
			return nil, r.problem(err)
		}
		if next = answer.GetFlightDescriptor(); next == nil {
			return answer.GetInfo(), nil
		}
		part := answer.GetProgress()
		p.Parsing(func() float64 { return part })
	}
}

// Scan reads the endpoints of the ticket's FlightInfo one after the other. A ticket with rows is
// sent to DoGet directly, since a command can't have rows.
func (r *Remote) Scan(ctx context.Context, t ticket.Ticket, p *output.Progress) (RowStream, error) {
	s := &remoteRows{remote: r, total: -1}
	if t.Rows != nil {
		s.tickets = []*flight.Ticket{{Ticket: t.Encode()}}
	} else {
		info, err := r.info(ctx, t, p)
		if err != nil {
			return nil, err
		}
		s.total = info.GetTotalRecords()
		for _, e := range info.GetEndpoint() {
			s.tickets = append(s.tickets, e.GetTicket())
		}
	}
	if len(s.tickets) == 0 {
		return nil, fmt.Errorf("%s: the server gave no endpoint for %s", r.address, t.Name)
	}
	// The first stream has the schema.
	return s, s.open(ctx)
}

// remoteRows are the streams of several tickets, one after the other.
type remoteRows struct {
	remote  *Remote
	total   int64
	tickets []*flight.Ticket // not opened yet
	reader  *flight.Reader
	cancel  context.CancelFunc
}

func (s *remoteRows) Schema() *arrow.Schema { return s.reader.Schema() }
func (s *remoteRows) Rows() int64           { return s.total }

func (s *remoteRows) open(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := s.remote.client.DoGet(ctx, s.tickets[0])
	if err != nil {
		cancel()
		return s.remote.problem(err)
	}
	reader, err := flight.NewRecordReader(stream)
	if err != nil {
		cancel()
		return s.remote.problem(err)
	}
	s.tickets, s.reader, s.cancel = s.tickets[1:], reader, cancel
	return nil
}

func (s *remoteRows) Next(ctx context.Context) (arrow.Record, error) {
	for {
		rec, err := s.reader.Read()
		if err == nil {
			rec.Retain()
			return rec, nil
		}
		if !errors.Is(err, io.EOF) {
			return nil, s.remote.problem(err)
		}
		if len(s.tickets) == 0 {
			return nil, io.EOF
		}
		was := s.reader.Schema()
		s.Close()
		if err := s.open(ctx); err != nil {
			return nil, err
		}
		if !was.Equal(s.reader.Schema()) {
			return nil, fmt.Errorf("%s: the endpoints differ in schema", s.remote.address)
		}
	}
}

func (s *remoteRows) Close() {
	if s.reader != nil {
		s.cancel()
		s.reader.Release()
		s.reader = nil
	}
}

// problem describes the error of a call for a person: the server's message, or that it can't be
// reached.
func (r *Remote) problem(err error) error {
	var rpc interface{ GRPCStatus() *status.Status }
	if err == nil || !errors.As(err, &rpc) {
		return err
	}
	s := rpc.GRPCStatus()
	switch s.Code() {
	case codes.Canceled:
		if s.Message() != context.Canceled.Error() { // the server has ended the call, and says why
			return errors.New(s.Message())
		}
		return context.Canceled
	case codes.Unavailable:
		// connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: connect:
		// connection refused"
		message := s.Message()
		if _, cause, ok := strings.Cut(message, "authentication handshake failed: "); ok {
			return fmt.Errorf("%s: no TLS connection: %s; --tls-ca names certificates to trust, and grpc:// asks "+
				"without TLS", r.address, strings.TrimSuffix(cause, `"`))
		}
		if strings.Contains(message, "looked like an HTTP/1") {
			return fmt.Errorf("%s: answers by HTTP/1: --server takes the address of Flight, which --listen of serve "+
				"names, and not --http", r.address)
		}
		if _, cause, ok := strings.Cut(message, "Error while dialing: "); ok {
			message = strings.TrimSuffix(cause, `"`)
		}
		if strings.HasPrefix(message, "the server is going away") {
			return fmt.Errorf("%s: %s", r.address, message)
		}
		return fmt.Errorf("%s: no answer: %s; is the server running?", r.address, message)
	case codes.Unauthenticated:
		return fmt.Errorf("%s: %s; --user and --token log in", r.address, s.Message())
	case codes.Unimplemented:
		return fmt.Errorf("%s: is no vibeflight server: %s", r.address, s.Message())
	}
	return errors.New(s.Message())
}

// Health returns nil if the server's health service says that it serves.
func (r *Remote) Health(ctx context.Context) error {
	reply, err := grpc_health_v1.NewHealthClient(r.conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		return r.problem(err)
	}
	if state := reply.GetStatus(); state != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("%s: %s: a component is stuck, or the server is about to end; its log says which",
			r.address, state)
	}
	return nil
}

// Answers reports whether a vibeflight server answers.
func (r *Remote) Answers(ctx context.Context) bool {
	stream, err := r.client.ListActions(ctx, &flight.Empty{})
	if err != nil {
		return false
	}
	for {
		action, err := stream.Recv()
		if err != nil {
			return false
		}
		if action.GetType() == "describe" {
			return true
		}
	}
}
