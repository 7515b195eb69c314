package flightsrv

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/vibeflight/vibeflight/flightsrv/sql"
	"github.com/vibeflight/vibeflight/flightsrv/sql/engine"
)

func queryCommand(t *testing.T) *flight.FlightDescriptor {
	t.Helper()
	a, err := anypb.New(&pb.CommandStatementQuery{Query: "SELECT 1"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := proto.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: b}
}

// TestWithoutSQL asks a server without an engine. It says that it has no SQL, and goes on with the
// rest.
func TestWithoutSQL(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=10"})
	ctx := t.Context()
	d := queryCommand(t)
	_, err := f.client.GetFlightInfo(ctx, d)
	wantStatus(t, err, codes.Unimplemented, "CommandStatementQuery", "no SQL", "--no-sql")
	_, err = f.client.GetSchema(ctx, d)
	wantStatus(t, err, codes.Unimplemented, "no SQL")
	_, err = f.client.PollFlightInfo(ctx, d)
	wantStatus(t, err, codes.Unimplemented, "no SQL")
	_, err = f.get(t, string(d.Cmd))
	wantStatus(t, err, codes.Unimplemented, "no SQL")
	put, err := f.client.DoPut(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_ = put.Send(&flight.FlightData{FlightDescriptor: d}) // the answer may be there already
	_, err = put.Recv()
	wantStatus(t, err, codes.Unimplemented, "no SQL")
	_, err = f.client.CloseSession(ctx, &flight.CloseSessionRequest{})
	wantStatus(t, err, codes.Unimplemented, "CloseSession", "no SQL")
	if g, err := f.get(t, "a.fake"); err != nil || g.rows != 10 {
		t.Errorf("afterwards: %v", err)
	}
	if got := actionTypes(t, f); len(got) != len(actions)+len(adminActions)+len(messageActions) {
		t.Errorf("actions %v", got)
	}
}

func actionTypes(t *testing.T, f *fixture) (names []string) {
	t.Helper()
	stream, err := f.client.ListActions(t.Context(), &flight.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		a, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, a.Type)
	}
}

// oneRow is an engine of which every query gives nothing but its schema.
type oneRow struct{ sql.Engine }

func (oneRow) Prepare(context.Context, string, string) (sql.Statement, error) { return oneRow{}, nil }

func (oneRow) Stats() engine.Stats { return engine.Stats{Queries: 7} }

func (oneRow) Schema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, nil)
}
func (oneRow) Parameters() *arrow.Schema       { return arrow.NewSchema(nil, nil) }
func (oneRow) Retain() func()                  { return nil }
func (oneRow) Authorize(context.Context) error { return nil }
func (oneRow) Close()                          {}
func (o oneRow) Query(context.Context, arrow.Record, int) (sql.Rows, error) {
	return o, nil
}
func (oneRow) Next(context.Context) (arrow.Record, error) { return nil, io.EOF }

// TestTicketsDuringSQL requests tickets of SQL and of files from a server with an engine.
func TestTicketsDuringSQL(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=10"}, func(c *Config) { c.SQL = oneRow{} })
	info := f.info(t, queryCommand(t))
	g, err := f.get(t, string(info.Endpoint[0].Ticket.Ticket))
	if err != nil || g.rows != 0 || !sameMessage(info.Schema, g.header) {
		t.Errorf("SQL: %+v, %v", g, err)
	}
	if g, err := f.get(t, "a.fake"); err != nil || g.rows != 10 {
		t.Errorf("file: %v", err)
	}
	schema, err := f.client.GetSchema(t.Context(), queryCommand(t))
	if err != nil || !sameMessage(schema.Schema, g.header) {
		t.Errorf("GetSchema: %v", err)
	}
	want := len(actions) + len(adminActions) + len(messageActions) + len(sql.Actions())
	if got := len(actionTypes(t, f)); got != want {
		t.Errorf("%d actions, want %d", got, want)
	}
}

// TestAnyLogin has a client log in, as tools on JDBC and ADBC do without being required to.
func TestAnyLogin(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=10"})
	ctx, err := f.client.AuthenticateBasicToken(t.Context(), "somebody", "or other")
	if err != nil {
		t.Fatal(err)
	}
	stream, err := f.client.DoGet(ctx, &flight.Ticket{Ticket: []byte("a.fake")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Errorf("a call with the token: %v", err)
	}
}
