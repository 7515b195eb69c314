package sql_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

func TestStatementQuery(t *testing.T) {
	f := serveFake(t)
	info, err := f.client.Execute(t.Context(), "rows=2500 pad=3")
	if err != nil {
		t.Fatal(err)
	}
	if info.TotalRecords != -1 || info.TotalBytes != -1 || len(info.Endpoint[0].Location) != 0 {
		t.Errorf("got %v", info)
	}
	recs, err := f.fetch(t, info)
	if n := rowCount(recs); err != nil || n != 2500 {
		t.Errorf("%d rows, %v", n, err)
	}
	_, err = f.fetch(t, info)
	wantStatus(t, err, codes.NotFound, "fetched")
	f.nothingOpen(t)

	schema, err := f.client.GetExecuteSchema(t.Context(), "rows=1")
	if err != nil {
		t.Fatal(err)
	}
	got, err := flight.DeserializeSchema(schema.Schema, memory.DefaultAllocator)
	if err != nil || got.NumFields() != 2 || got.Field(1).Name != "s" {
		t.Errorf("GetSchema: %v, %v", got, err)
	}
	f.nothingOpen(t)
}

// nothingOpen waits until the engine has nothing open.
func (f *fixture) nothingOpen(t testing.TB) {
	t.Helper()
	eventually(t, "nothing is open", func() bool { return f.fake.statements.Load() == 0 && f.fake.rows.Load() == 0 })
}

func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so: %s", what)
		}
	}
}

func TestLargeMessagesAreCut(t *testing.T) {
	f := serveFake(t)
	info, err := f.client.Execute(t.Context(), "rows=1000 pad=40000")
	if err != nil {
		t.Fatal(err)
	}
	stream, err := f.client.Client.DoGet(t.Context(), info.Endpoint[0].Ticket)
	if err != nil {
		t.Fatal(err)
	}
	messages := 0
	for {
		d, err := stream.Recv()
		if err != nil {
			break
		}
		messages++
		if n := len(d.DataHeader) + len(d.DataBody); n >= 15<<20 {
			t.Errorf("a message of %d bytes", n)
		}
	}
	if messages != 1+4 {
		t.Errorf("%d messages", messages)
	}
}

func TestErrorsOfQueries(t *testing.T) {
	f := serveFake(t)
	for _, c := range []struct {
		name, query string
		code        codes.Code
		words       []string
	}{
		{"syntax", "SELEKT", codes.InvalidArgument, []string{"syntax error", "SELEKT"}},
		{"unknown table", "fail=name", codes.NotFound, []string{"florida", "florida.geojson"}},
		{"value", "rows=1 fail=query", codes.InvalidArgument, []string{"convert"}},
		{"value on the way", "rows=5000 fail=next", codes.InvalidArgument, []string{"Overflow"}},
		{"memory", "fail=memory", codes.ResourceExhausted, []string{"--sql-memory"}},
		{"changed", "fail=changed", codes.FailedPrecondition, []string{"v1"}},
		{"other columns", "rows=1 fail=schema", codes.FailedPrecondition, []string{"columns"}},
		{"parameters", "params=1", codes.InvalidArgument, []string{"1 parameter", "prepare"}},
		{"panic in prepare", "fail=prepare", codes.Internal, []string{"defect"}},
		{"panic on the way", "rows=5000 fail=panic", codes.Internal, []string{"defect"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			info, err := f.client.Execute(t.Context(), c.query)
			if err == nil {
				var recs []arrow.Record
				recs, err = f.fetch(t, info)
				rowCount(recs)
			}
			wantStatus(t, err, c.code, c.words...)
			f.nothingOpen(t)
		})
	}
}

func TestPrepared(t *testing.T) {
	f := serveFake(t)
	ctx := t.Context()
	p, err := f.client.Prepare(ctx, "rows=2 params=2")
	if err != nil {
		t.Fatal(err)
	}
	if p.DatasetSchema() == nil || p.DatasetSchema().NumFields() != 4 || p.ParameterSchema() == nil ||
		p.ParameterSchema().NumFields() != 2 {
		t.Fatalf("schemas %v, %v", p.DatasetSchema(), p.ParameterSchema())
	}
	if len(p.Handle()) != 16 {
		t.Errorf("a handle of %d bytes", len(p.Handle()))
	}
	_, err = p.Execute(ctx)
	wantStatus(t, err, codes.InvalidArgument, "2 parameters", "DoPut")

	p.SetParameters(args(t, `[{"a":7,"b":"x"},{"a":8,"b":"y"},{"a":9,"b":null}]`, arrow.PrimitiveTypes.Int32,
		arrow.BinaryTypes.String))
	info, err := p.Execute(ctx)
	if err != nil {
		t.Fatal(err)
	}
	// What is bound later, and the end of the statement, is nothing to a result that was begun.
	p.SetParameters(args(t, `[{"a":1,"b":2}]`, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64))
	other, err := p.Execute(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(ctx); err != nil {
		t.Fatal(err)
	}
	recs, err := f.fetch(t, info)
	if got, want := column(recs, 2), []string{"7", "7", "8", "8", "9", "9"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	recs, err = f.fetch(t, other)
	if got, want := column(recs, 3), []string{"2", "2"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	f.nothingOpen(t)
}

// args is a record of columns a, b, … of these types.
func args(t testing.TB, json string, types ...arrow.DataType) arrow.Record {
	t.Helper()
	var fields []arrow.Field
	for i, typ := range types {
		fields = append(fields, arrow.Field{Name: string(rune('a' + i)), Type: typ, Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	if err := b.UnmarshalJSON([]byte(json)); err == nil {
		return b.NewRecord()
	}
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, bytesOf(json))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func TestPreparedTicketIsTheCommandToo(t *testing.T) {
	f := serveFake(t)
	p, err := f.client.Prepare(t.Context(), "rows=3")
	if err != nil {
		t.Fatal(err)
	}
	ticket := commandBytes(t, preparedQuery(p.Handle()))
	r, err := f.client.DoGet(t.Context(), &flight.Ticket{Ticket: ticket})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	n := int64(0)
	for r.Next() {
		n += r.Record().NumRows()
	}
	if n != 3 || r.Err() != nil {
		t.Errorf("%d rows, %v", n, r.Err())
	}
	schema, err := p.GetSchema(t.Context())
	if err != nil || len(schema.Schema) == 0 {
		t.Errorf("GetSchema: %v", err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.nothingOpen(t)
}

func TestBindingIsChecked(t *testing.T) {
	f := serveFake(t)
	ctx := t.Context()
	p, err := f.client.Prepare(ctx, "rows=1 params=2")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		rec   arrow.Record
		words []string
	}{
		{"too few", args(t, `[{"a":1}]`, arrow.PrimitiveTypes.Int64), []string{"2 parameters", "1 column"}},
		{"too many", args(t, `[{"a":1,"b":2,"c":3}]`, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64,
			arrow.PrimitiveTypes.Int64), []string{"3 columns"}},
		{
			"wrong type", args(t, `[{"a":true,"b":2}]`, arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int64),
			[]string{"parameter 1", "a number"},
		},
		{
			"nested", args(t, `[{"a":1,"b":[2]}]`, arrow.PrimitiveTypes.Int64,
				arrow.ListOf(arrow.PrimitiveTypes.Int64)),
			[]string{"nested"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.SetParameters(c.rec)
			_, err := p.Execute(ctx)
			wantStatus(t, err, codes.InvalidArgument, c.words...)
		})
	}
	// No row is no run.
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int64},
		{Name: "b", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	empty, err := array.NewRecordReader(schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.SetRecordReader(empty)
	info, err := p.Execute(ctx)
	if err != nil {
		t.Fatal(err)
	}
	recs, err := f.fetch(t, info)
	if n := rowCount(recs); n != 0 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestClosedHandle(t *testing.T) {
	f := serveFake(t)
	ctx := t.Context()
	p, err := f.client.Prepare(ctx, "rows=1")
	if err != nil {
		t.Fatal(err)
	}
	handle := p.Handle()
	if err := p.Close(ctx); err != nil {
		t.Fatal(err)
	}
	d := &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: commandBytes(t, preparedQuery(handle))}
	_, err = f.client.Client.GetFlightInfo(ctx, d)
	wantStatus(t, err, codes.NotFound, "prepared statement")
	_, err = f.client.Client.GetSchema(ctx, d)
	wantStatus(t, err, codes.NotFound)
	if err := f.close(t, handle); err != nil {
		t.Errorf("closing again: %v", err)
	}
	wantStatus(t, f.close(t, []byte("short")), codes.InvalidArgument, "5 bytes")
	wantStatus(t, f.close(t, make([]byte, 1<<20)), codes.InvalidArgument, "bytes")
}

func TestCancel(t *testing.T) {
	f := serveFake(t)
	ctx := t.Context()
	info, err := f.client.Execute(ctx, "rows=5000 block=next")
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.client.DoGet(ctx, info.Endpoint[0].Ticket)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if !r.Next() {
		t.Fatal(r.Err())
	}
	got, err := f.client.CancelQuery(ctx, info) //nolint:staticcheck // it is what is tested
	if err != nil || got != flightsql.CancelResultCancelled {
		t.Errorf("CancelQuery: %v, %v", got, err)
	}
	for r.Next() {
	}
	wantStatus(t, r.Err(), codes.Canceled, "CancelQuery")
	f.nothingOpen(t)

	for _, query := range []string{"rows=1", "rows=1 "} {
		info, err := f.client.Execute(ctx, query)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []flight.CancelStatus{flight.CancelStatusCancelled, flight.CancelStatusNotCancellable} {
			got, err := f.client.CancelFlightInfo(ctx, &flight.CancelFlightInfoRequest{Info: info})
			if err != nil || got.Status != want {
				t.Errorf("CancelFlightInfo %d: %v, %v; want %v", i, got, err, want)
			}
		}
		_, err = f.fetch(t, info)
		wantStatus(t, err, codes.NotFound)
	}
	f.nothingOpen(t)
}

// TestLeaveMidStream has 200 clients leave in the middle of a result, by a word or by cutting the
// connection. Nothing may remain.
func TestLeaveMidStream(t *testing.T) {
	f := serveFake(t)
	leave := func(n int) {
		var wg sync.WaitGroup
		slots := make(chan struct{}, 20)
		for i := range n {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				client := f.client
				if i%10 == 0 {
					client = dial(t, f.addr)
					defer client.Close()
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				query := "rows=200000 pad=100"
				if i%2 == 0 {
					query = "rows=5000 block=next"
				}
				info, err := client.Execute(ctx, query)
				if err != nil {
					t.Errorf("client %d: %v", i, err)
					return
				}
				stream, err := client.Client.DoGet(ctx, info.Endpoint[0].Ticket)
				for range 2 {
					if err == nil {
						_, err = stream.Recv()
					}
				}
				if err != nil {
					t.Errorf("client %d: %v", i, err)
				}
			})
		}
		wg.Wait()
	}
	leave(20)
	f.nothingOpen(t)
	before := runtime.NumGoroutine()
	leave(200)
	f.nothingOpen(t)
	eventually(t, "the goroutines are gone", func() bool { return runtime.NumGoroutine() <= before+5 })
}

// TestSlowClientsDoNotBlockOthers has more clients than places stop in the middle of their results.
func TestSlowClientsDoNotBlockOthers(t *testing.T) {
	f := serveFake(t)
	for i := range max(64, 8*runtime.GOMAXPROCS(0)) {
		info, err := f.client.Execute(t.Context(), "rows=1000000 pad=100")
		if err != nil {
			t.Fatal(err)
		}
		stream, err := f.client.Client.DoGet(t.Context(), info.Endpoint[0].Ticket)
		if err == nil {
			_, err = stream.Recv()
		}
		if err != nil {
			t.Fatalf("client %d: %v", i, err)
		}
	}
	info, err := f.client.Execute(t.Context(), "rows=10")
	if err != nil {
		t.Fatal(err)
	}
	recs, err := f.fetch(t, info)
	if n := rowCount(recs); n != 10 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestHandlesAreBounded(t *testing.T) {
	f := serveFake(t)
	ctx := t.Context()
	const most = 1024
	var infos []*flight.FlightInfo
	for range most + 2 {
		info, err := f.client.Execute(ctx, "rows=1")
		if err != nil {
			t.Fatal(err)
		}
		infos = append(infos, info)
	}
	if n := f.fake.statements.Load(); n != most {
		t.Errorf("%d results are kept", n)
	}
	for i, info := range infos[:4] {
		recs, err := f.fetch(t, info)
		if i < 2 {
			wantStatus(t, err, codes.NotFound, "share", "oldest")
		} else if rowCount(recs) != 1 || err != nil {
			t.Errorf("a result among many: %v", err)
		}
	}
	var handles [][]byte
	for range most + 1 {
		p, err := f.client.Prepare(ctx, "rows=1")
		if err != nil {
			t.Fatal(err)
		}
		handles = append(handles, p.Handle())
	}
	for i, handle := range handles[:2] {
		d := &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: commandBytes(t, preparedQuery(handle))}
		_, err := f.client.Client.GetFlightInfo(ctx, d)
		if i == 0 {
			wantStatus(t, err, codes.NotFound, "prepared statement", "share")
		} else if err != nil {
			t.Error(err)
		}
	}
}

func TestPoll(t *testing.T) {
	f := serveFake(t)
	ctx := t.Context()
	poll, err := f.client.ExecutePoll(ctx, "rows=3 block=prepare", nil)
	if err != nil || poll.FlightDescriptor == nil || len(poll.Info.Endpoint) != 0 {
		t.Fatalf("while it goes on: %v, %v", poll, err)
	}
	close(f.fake.gate)
	poll, err = f.client.ExecutePoll(ctx, "", poll.FlightDescriptor)
	if err != nil || poll.FlightDescriptor != nil || poll.GetProgress() != 1 {
		t.Fatalf("when it is done: %v, %v", poll, err)
	}
	recs, err := f.fetch(t, poll.Info)
	if n := rowCount(recs); n != 3 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	f.nothingOpen(t)
	for query, code := range map[string]codes.Code{"nonsense": codes.InvalidArgument, "fail=prepare": codes.Internal} {
		_, err = f.client.ExecutePoll(ctx, query, nil)
		wantStatus(t, err, code)
	}
	again := &flight.FlightDescriptor{
		Type: flight.DescriptorCMD,
		Cmd:  commandBytes(t, statementTicket(make([]byte, 16))),
	}
	_, err = f.client.Client.PollFlightInfo(ctx, again)
	wantStatus(t, err, codes.NotFound, "poll")
	p, err := f.client.Prepare(ctx, "rows=3")
	if err != nil {
		t.Fatal(err)
	}
	poll, err = p.ExecutePoll(ctx, nil)
	if err != nil || poll.GetProgress() != 1 || len(poll.Info.Endpoint) != 1 {
		t.Errorf("of a prepared statement: %v, %v", poll, err)
	}
}

// A poll is cancelled before and after the end of the preparation.
func TestCancelOfPolls(t *testing.T) {
	f := serveFake(t)
	ctx := t.Context()
	for _, prepared := range []bool{false, true} {
		poll, err := f.client.ExecutePoll(ctx, "rows=3 block=prepare", nil)
		if err != nil || poll.FlightDescriptor == nil || poll.ExpirationTime == nil {
			t.Fatalf("while it goes on: %v, %v", poll, err)
		}
		if prepared {
			close(f.fake.gate)
			eventually(t, "the query is prepared", func() bool {
				stats, err := f.act(t, "stats", nil)
				return err == nil && strings.Contains(string(stats), `"results":1`)
			})
		}
		for _, want := range []flight.CancelStatus{flight.CancelStatusCancelled, flight.CancelStatusNotCancellable} {
			got, err := f.client.CancelFlightInfo(ctx, &flight.CancelFlightInfoRequest{Info: poll.Info})
			if err != nil || got.Status != want {
				t.Errorf("CancelFlightInfo: %v, %v; want %v", got, err, want)
			}
		}
		f.nothingOpen(t)
		_, err = f.client.ExecutePoll(ctx, "", poll.FlightDescriptor)
		wantStatus(t, err, codes.NotFound, "poll")
	}
}

// A result that waits to be fetched can be kept for longer, one that was fetched can't.
func TestRenewFlightEndpoint(t *testing.T) {
	f := serveFake(t)
	ctx := t.Context()
	info, err := f.client.Execute(ctx, "rows=3")
	if err != nil {
		t.Fatal(err)
	}
	renew := func() (*flight.FlightEndpoint, error) {
		return f.client.RenewFlightEndpoint(ctx, &flight.RenewFlightEndpointRequest{Endpoint: info.Endpoint[0]})
	}
	got, err := renew()
	if err != nil || !proto.Equal(got, info.Endpoint[0]) {
		t.Errorf("got %v, %v", got, err)
	}
	if recs, err := f.fetch(t, info); err != nil || rowCount(recs) != 3 {
		t.Error(err)
	}
	_, err = renew()
	wantStatus(t, err, codes.NotFound, "result")
	tables, err := f.client.GetTableTypes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	info = tables
	if got, err := renew(); err != nil || !proto.Equal(got, info.Endpoint[0]) {
		t.Errorf("a listing: %v, %v", got, err)
	}
}

func TestDeadline(t *testing.T) {
	f := serveFake(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := f.client.Execute(ctx, "block=prepare")
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("got %v", err)
	}
	f.nothingOpen(t)
}
