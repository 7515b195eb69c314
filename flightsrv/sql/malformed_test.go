package sql_test

import (
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

func bytesOf(s string) io.Reader { return strings.NewReader(s) }

func commandBytes(t testing.TB, m proto.Message) []byte {
	t.Helper()
	a, err := anypb.New(m)
	if err != nil {
		t.Fatal(err)
	}
	b, err := proto.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func preparedQuery(handle []byte) proto.Message {
	return &pb.CommandPreparedStatementQuery{PreparedStatementHandle: handle}
}

func statementTicket(handle []byte) proto.Message {
	return &pb.TicketStatementQuery{StatementHandle: handle}
}

// act runs an action and gives its first result.
func (f *fixture) act(t testing.TB, name string, body []byte) ([]byte, error) {
	t.Helper()
	stream, err := f.client.Client.DoAction(t.Context(), &flight.Action{Type: name, Body: body})
	if err != nil {
		return nil, err
	}
	r, err := stream.Recv()
	return r.GetBody(), err
}

func (f *fixture) close(t testing.TB, handle []byte) error {
	t.Helper()
	_, err := f.act(t, flightsql.ClosePreparedStatementActionType,
		commandBytes(t, &pb.ActionClosePreparedStatementRequest{PreparedStatementHandle: handle}))
	return err
}

// lives checks that the server still answers.
func (f *fixture) lives(t testing.TB) {
	t.Helper()
	info, err := f.client.Execute(t.Context(), "rows=1")
	if err != nil {
		t.Fatal(err)
	}
	recs, err := f.fetch(t, info)
	if n := rowCount(recs); n != 1 || err != nil {
		t.Errorf("afterwards: %d rows, %v", n, err)
	}
}

const urlPrefix = "type.googleapis.com/arrow.flight.protocol.sql."

// TestMalformedCommands sends commands, tickets and bodies of actions that no client sends. Each is an
// error that says so.
func TestMalformedCommands(t *testing.T) {
	f := serveFake(t)
	long := strings.Repeat("x", 2<<20)
	any := func(url string, value []byte) []byte {
		b, err := proto.Marshal(&anypb.Any{TypeUrl: url, Value: value})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		name string
		b    []byte
		info codes.Code
		get  codes.Code
	}{
		{"unknown message", any(urlPrefix+"CommandDance", nil), codes.InvalidArgument, codes.InvalidArgument},
		{
			"message that does not parse", any(urlPrefix+"CommandStatementQuery", []byte("\x0a\x7fshort")),
			codes.InvalidArgument, codes.InvalidArgument,
		},
		{
			"text that is not UTF-8", any(urlPrefix+"CommandStatementQuery", []byte("\x0a\x01\xff")),
			codes.InvalidArgument, codes.InvalidArgument,
		},
		{
			"query in a ticket", commandBytes(t, &pb.CommandStatementQuery{Query: "rows=1"}), codes.OK,
			codes.InvalidArgument,
		},
		{"empty query", commandBytes(t, &pb.CommandStatementQuery{}), codes.OK, codes.InvalidArgument},
		{
			"long query", commandBytes(t, &pb.CommandStatementQuery{Query: long}), codes.InvalidArgument,
			codes.InvalidArgument,
		},
		{
			"transaction", commandBytes(t, &pb.CommandStatementQuery{Query: "rows=1", TransactionId: []byte("t")}),
			codes.InvalidArgument, codes.InvalidArgument,
		},
		{"update", commandBytes(t, &pb.CommandStatementUpdate{Query: "x"}), codes.Unimplemented, codes.Unimplemented},
		{"ingest", commandBytes(t, &pb.CommandStatementIngest{Table: "x"}), codes.Unimplemented, codes.Unimplemented},
		{"substrait", commandBytes(t, &pb.CommandStatementSubstraitPlan{}), codes.Unimplemented, codes.Unimplemented},
		{"handle of nothing", commandBytes(t, preparedQuery(nil)), codes.NotFound, codes.NotFound},
		{"enormous handle", commandBytes(t, preparedQuery([]byte(long))), codes.NotFound, codes.NotFound},
		{"ticket of nothing", commandBytes(t, statementTicket(nil)), codes.InvalidArgument, codes.NotFound},
		{"enormous ticket", commandBytes(t, statementTicket([]byte(long))), codes.InvalidArgument, codes.NotFound},
		{
			"an action's message", commandBytes(t, &pb.ActionBeginTransactionRequest{}), codes.InvalidArgument,
			codes.InvalidArgument,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: c.b}
			_, err := f.client.Client.GetFlightInfo(t.Context(), d)
			wantStatus(t, err, c.info)
			_, err = f.client.Client.GetSchema(t.Context(), d)
			wantStatus(t, err, c.info)
			stream, err := f.client.Client.DoGet(t.Context(), &flight.Ticket{Ticket: c.b})
			if err == nil {
				_, err = stream.Recv()
			}
			wantStatus(t, err, c.get)
		})
	}
	for _, name := range []string{
		"CreatePreparedStatement", "ClosePreparedStatement", "CancelQuery", "CancelFlightInfo",
		"SetSessionOptions", "GetSessionOptions", "CloseSession",
		"BeginTransaction", "EndTransaction", "BeginSavepoint", "EndSavepoint", "CreatePreparedSubstraitPlan",
	} {
		for _, body := range []string{
			"\xff\xff\xff", "\x0a\x7fshort", "{}", "\x0a\x02\xff\xff",
			string(any(urlPrefix+"CommandDance", []byte("x"))),
		} {
			_, err := f.act(t, name, []byte(body))
			code := status.Code(err)
			if code != codes.InvalidArgument && code != codes.Unimplemented && err != nil {
				t.Errorf("%s %q: %v", name, body, err)
			}
		}
	}
	f.lives(t)
}

func TestRefused(t *testing.T) {
	f := serveFake(t)
	ctx := t.Context()
	_, err := f.client.BeginTransaction(ctx)
	wantStatus(t, err, codes.Unimplemented, "transactions")
	_, err = f.client.ExecuteUpdate(ctx, "CREATE TABLE x (a int)")
	wantStatus(t, err, codes.Unimplemented, "read-only")
	for name, m := range map[string]proto.Message{
		"EndTransaction": &pb.ActionEndTransactionRequest{}, "BeginSavepoint": &pb.ActionBeginSavepointRequest{},
		"EndSavepoint":                &pb.ActionEndSavepointRequest{},
		"CreatePreparedSubstraitPlan": &pb.ActionCreatePreparedSubstraitPlanRequest{},
	} {
		_, err := f.act(t, name, commandBytes(t, m))
		wantStatus(t, err, codes.Unimplemented, "this server")
	}
	rec := args(t, `[{"a":1}]`, arrow.PrimitiveTypes.Int64)
	err = f.put(t, &flight.FlightDescriptor{
		Type: flight.DescriptorCMD,
		Cmd:  commandBytes(t, &pb.CommandStatementIngest{Table: "x"}),
	}, messages(t, rec)...)
	wantStatus(t, err, codes.Unimplemented, "writable")
}

// put uploads messages, the first with the descriptor, and gives the error of the answer.
func (f *fixture) put(t testing.TB, d *flight.FlightDescriptor, data ...*flight.FlightData) error {
	t.Helper()
	stream, err := f.client.Client.DoPut(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range data {
		m = proto.Clone(m).(*flight.FlightData)
		if i == 0 {
			m.FlightDescriptor = d
		}
		if stream.Send(m) != nil {
			break // the answer is there already
		}
	}
	_ = stream.CloseSend()
	_, err = stream.Recv()
	return err
}

// collect is a stream that keeps what is written to it.
type collect struct{ data []*flight.FlightData }

func (c *collect) Send(d *flight.FlightData) error {
	c.data = append(c.data, proto.Clone(d).(*flight.FlightData))
	return nil
}

// messages is the schema of a record and the record, as a client sends them.
func messages(t testing.TB, rec arrow.Record, opts ...ipc.Option) []*flight.FlightData {
	t.Helper()
	var c collect
	w := flight.NewRecordWriter(&c, append(opts, ipc.WithSchema(rec.Schema()))...)
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return c.data
}

// TestMalformedUploads sends parameters that are cut, damaged or enormous. Arrow's own Flight SQL server
// ends its process at the first of them.
func TestMalformedUploads(t *testing.T) {
	f := serveFake(t)
	p, err := f.client.Prepare(t.Context(), "rows=1 params=2")
	if err != nil {
		t.Fatal(err)
	}
	d := &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: commandBytes(t, preparedQuery(p.Handle()))}
	rec := args(t, `[{"a":1,"b":"x"},{"a":2,"b":"longer"}]`, arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String)
	good := messages(t, rec)
	if err := f.put(t, d, good...); err != nil {
		t.Fatal(err)
	}
	t.Run("no message", func(t *testing.T) { wantStatus(t, f.put(t, nil), codes.Unimplemented, "DoPut") })
	t.Run("no descriptor", func(t *testing.T) { wantStatus(t, f.put(t, nil, good...), codes.Unimplemented, "DoPut") })
	t.Run("descriptor alone", func(t *testing.T) {
		wantStatus(t, f.put(t, d, &flight.FlightData{}), codes.InvalidArgument, "schema")
	})
	t.Run("batch first", func(t *testing.T) { wantStatus(t, f.put(t, d, good[1:]...), codes.InvalidArgument) })
	t.Run("nonsense", func(t *testing.T) {
		wantStatus(t, f.put(t, d, &flight.FlightData{DataHeader: []byte("nonsense")}), codes.InvalidArgument)
	})
	t.Run("schema twice", func(t *testing.T) { wantStatus(t, f.put(t, d, good[0], good[0]), codes.InvalidArgument) })
	t.Run("unknown handle", func(t *testing.T) {
		other := &flight.FlightDescriptor{
			Type: flight.DescriptorCMD,
			Cmd:  commandBytes(t, preparedQuery(make([]byte, 16))),
		}
		wantStatus(t, f.put(t, other, good...), codes.NotFound)
	})
	t.Run("compressed", func(t *testing.T) {
		wantStatus(t, f.put(t, d, messages(t, rec, ipc.WithLZ4())...), codes.InvalidArgument, "compressed")
	})
	t.Run("too many bytes", func(t *testing.T) {
		big := args(t, `[{"a":1,"b":"`+strings.Repeat("x", 1<<20)+`"}]`, arrow.PrimitiveTypes.Int64,
			arrow.BinaryTypes.String)
		data := messages(t, big)
		for range 5 {
			data = append(data, data[1])
		}
		wantStatus(t, f.put(t, d, data...), codes.ResourceExhausted, "bytes in one binding")
	})
	// Cut anywhere, and with any byte of the headers changed, the answer is a status, and mostly an
	// error.
	for which := range good {
		header := good[which].DataHeader
		for i := range header {
			cut, changed := proto.Clone(good[which]).(*flight.FlightData), proto.Clone(good[which]).(*flight.FlightData)
			cut.DataHeader = header[:i]
			changed.DataHeader[i] ^= 0xff
			for _, m := range []*flight.FlightData{cut, changed} {
				data := []*flight.FlightData{good[0], good[1]}
				data[which] = m
				if err := f.put(t, d, data...); status.Code(err) == codes.Internal ||
					status.Code(err) == codes.Unavailable {
					t.Errorf("message %d, byte %d: %v", which, i, err)
				}
			}
		}
	}
	// The last buffer holds "xlonger", and unused padding.
	for i := range len(good[1].DataBody) - 64 + len("xlonger") {
		cut := proto.Clone(good[1]).(*flight.FlightData)
		cut.DataBody = cut.DataBody[:i]
		wantStatus(t, f.put(t, d, good[0], cut), codes.InvalidArgument)
	}
	f.lives(t)
}
