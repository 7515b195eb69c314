package flightsrv

import (
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Two clients poll for one parse: it ends when both have cancelled.
func TestCancelOfPolls(t *testing.T) {
	f := serve(t, map[string]string{"slow.fake": "fail=slow", "a.fake": "rows=10"})
	polls := make(chan *flight.PollInfo)
	for range 2 {
		go func() {
			poll, err := f.client.PollFlightInfo(t.Context(), pathOf("slow.fake"))
			if err != nil {
				t.Error(err)
			}
			polls <- poll
		}()
	}
	first, second := <-polls, <-polls
	if first == nil || second == nil {
		t.FailNow()
	}
	if left := time.Until(first.GetExpirationTime().AsTime()); left < time.Second || left > time.Hour {
		t.Errorf("the poll expires in %v", left)
	}
	for _, c := range []struct {
		name    string
		info    *flight.FlightInfo
		want    flight.CancelStatus
		parsing int
	}{
		{"one of two", first.GetInfo(), flight.CancelStatusCancelled, 1},
		{"the same again", first.GetInfo(), flight.CancelStatusNotCancellable, 1},
		{"the other", second.GetInfo(), flight.CancelStatusCancelled, 0},
		{"a table that is there", f.info(t, pathOf("a.fake")), flight.CancelStatusNotCancellable, 0},
		{"a command", f.info(t, cmdOf(`{"name":"a.fake","limit":1}`)), flight.CancelStatusNotCancellable, 0},
		{"nothing", &flight.FlightInfo{}, flight.CancelStatusNotCancellable, 0},
	} {
		got, err := f.client.CancelFlightInfo(t.Context(), &flight.CancelFlightInfoRequest{Info: c.info})
		if err != nil || got.GetStatus() != c.want {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
		if n := f.catalog.Stats().Parsing; n != c.parsing {
			t.Errorf("%s: %d parses go on, want %d", c.name, n, c.parsing)
		}
	}
	_, err := f.client.CancelFlightInfo(t.Context(), &flight.CancelFlightInfoRequest{})
	wantStatus(t, err, codes.InvalidArgument, "CancelFlightInfo", "info")
	_, err = f.client.CancelFlightInfo(t.Context(), &flight.CancelFlightInfoRequest{Info: &flight.FlightInfo{FlightDescriptor: cmdOf(`{"nam":"x"}`)}})
	wantStatus(t, err, codes.InvalidArgument, "nam")

	// The descriptor of a poll is for polls.
	again := first.GetFlightDescriptor()
	if !strings.Contains(string(again.GetCmd()), `"poll":`) {
		t.Errorf("the descriptor is %s", again.GetCmd())
	}
	_, err = f.client.GetFlightInfo(t.Context(), again)
	wantStatus(t, err, codes.InvalidArgument, "poll")
	_, err = f.get(t, string(again.GetCmd()))
	wantStatus(t, err, codes.InvalidArgument, "poll")
	// One of which nobody knows any more begins another one.
	poll, err := f.client.PollFlightInfo(t.Context(), cmdOf(`{"name":"a.fake","limit":3,"poll":"forgotten"}`))
	if err != nil || poll.GetFlightDescriptor() != nil || poll.GetInfo().GetTotalRecords() != 3 ||
		string(poll.GetInfo().GetFlightDescriptor().GetCmd()) != `{"name":"a.fake","limit":3}` {
		t.Errorf("got %v, %v", poll, err)
	}
}

func TestRenewFlightEndpoint(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=10"}, func(c *Config) { c.Advertise = []string{"data.example:8815"} })
	endpoint := f.info(t, pathOf("a.fake")).Endpoint[0]
	if endpoint.ExpirationTime != nil {
		t.Errorf("it expires at %v", endpoint.ExpirationTime)
	}
	asked := proto.Clone(endpoint).(*flight.FlightEndpoint)
	asked.ExpirationTime = timestamppb.Now()
	renew := func() (*flight.FlightEndpoint, error) {
		return f.client.RenewFlightEndpoint(t.Context(), &flight.RenewFlightEndpointRequest{Endpoint: asked})
	}
	got, err := renew()
	if err != nil || !proto.Equal(got, endpoint) {
		t.Errorf("got %v, %v, want %v", got, err, endpoint)
	}
	if n := f.catalog.Stats().Misses; n != 1 {
		t.Errorf("%d tables were not there, want 1", n)
	}
	f.write(t, "a.fake", "rows=11")
	_, err = renew()
	wantStatus(t, err, codes.FailedPrecondition, "a.fake")
	asked.Ticket.Ticket = []byte("b.fake")
	_, err = renew()
	wantStatus(t, err, codes.NotFound, "b.fake")
	asked.Ticket = nil
	_, err = renew()
	wantStatus(t, err, codes.InvalidArgument, "RenewFlightEndpoint", "name")
}
