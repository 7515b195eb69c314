package sql_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/flight/flightsql"
	pb "github.com/apache/arrow/go/v17/arrow/flight/gen/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
)

func option(text string) *flight.SessionOptionValue {
	return &flight.SessionOptionValue{OptionValue: &pb.SessionOptionValue_StringValue{StringValue: text}}
}

func TestSession(t *testing.T) {
	f := serveFake(t)
	f.fake.schemas = make(chan string, 1)
	ctx := t.Context()
	c := dial(t, f.addr, flight.NewClientCookieMiddleware())
	defer c.Close()
	uses := func(c *flightsql.Client, want string) {
		t.Helper()
		info, err := c.Execute(ctx, "rows=1")
		if err != nil {
			t.Fatal(err)
		}
		if got := <-f.fake.schemas; got != want {
			t.Errorf("names are looked up in %q, want %q", got, want)
		}
		if _, err := c.CancelFlightInfo(ctx, &flight.CancelFlightInfoRequest{Info: info}); err != nil {
			t.Error(err)
		}
	}
	has := func(schema string) {
		t.Helper()
		got, err := c.GetSessionOptions(ctx, &flight.GetSessionOptionsRequest{})
		if err != nil || got.SessionOptions["schema"].GetStringValue() != schema ||
			got.SessionOptions["catalog"].GetStringValue() != "vibeflight" {
			t.Errorf("got %v, %v; want %s", got, err, schema)
		}
	}
	set := func(options map[string]*flight.SessionOptionValue) map[string]pb.SetSessionOptionsResult_ErrorValue {
		t.Helper()
		got, err := c.SetSessionOptions(ctx, &flight.SetSessionOptionsRequest{SessionOptions: options})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]pb.SetSessionOptionsResult_ErrorValue{}
		for name, e := range got.Errors {
			out[name] = e.Value
		}
		return out
	}
	uses(c, "")
	has("main")
	errs := set(map[string]*flight.SessionOptionValue{
		"schema": option("counties"), "catalog": option("vibeflight"),
		"speed": option("high"),
	})
	if len(errs) != 1 || errs["speed"] != pb.SetSessionOptionsResult_INVALID_NAME {
		t.Errorf("errors %v", errs)
	}
	has("counties")
	uses(c, "counties")
	uses(f.client, "") // another client's
	number := &flight.SessionOptionValue{OptionValue: &pb.SessionOptionValue_Int64Value{Int64Value: 1}}
	for name, v := range map[string]*flight.SessionOptionValue{"schema": option("nowhere"), "catalog": number} {
		if errs := set(map[string]*flight.SessionOptionValue{
			name: v,
		}); errs[name] != pb.SetSessionOptionsResult_INVALID_VALUE {
			t.Errorf("%s: errors %v", name, errs)
		}
	}
	has("counties")
	set(map[string]*flight.SessionOptionValue{"schema": {}})
	has("main")
	set(map[string]*flight.SessionOptionValue{"schema": option("counties")})
	for range 2 { // the second time there is none
		closed, err := c.CloseSession(ctx, &flight.CloseSessionRequest{})
		if err != nil || closed.Status != pb.CloseSessionResult_CLOSED {
			t.Errorf("CloseSession: %v, %v", closed, err)
		}
	}
	has("main")
	uses(c, "")
}

func TestUnknownSession(t *testing.T) {
	f := serveFake(t)
	ctx := metadata.NewOutgoingContext(t.Context(), metadata.Pairs("cookie", "arrow_flight_session_id=0123; other=x"))
	_, err := f.client.Execute(ctx, "rows=1")
	wantStatus(t, err, codes.NotFound, "session")
	for _, odd := range []string{"", ";", "arrow_flight_session_id", "\"", "a=b"} {
		ctx := metadata.NewOutgoingContext(context.Background(), metadata.Pairs("cookie", odd))
		info, err := f.client.Execute(ctx, "rows=1")
		if err != nil {
			t.Errorf("cookie %q: %v", odd, err)
			continue
		}
		recs, err := f.fetch(t, info)
		if rowCount(recs) != 1 || err != nil {
			t.Errorf("cookie %q: %v", odd, err)
		}
	}
}
