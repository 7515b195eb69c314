package flightsrv

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/vibeflight/vibeflight/catalog"
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
	_, err = f.client.CancelFlightInfo(t.Context(),
		&flight.CancelFlightInfoRequest{Info: &flight.FlightInfo{FlightDescriptor: cmdOf(`{"nam":"x"}`)}})
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
	// An unknown poll starts another one.
	poll, err := f.client.PollFlightInfo(t.Context(), cmdOf(`{"name":"a.fake","limit":3,"poll":"forgotten"}`))
	if err != nil || poll.GetFlightDescriptor() != nil || poll.GetInfo().GetTotalRecords() != 3 ||
		string(poll.GetInfo().GetFlightDescriptor().GetCmd()) != `{"name":"a.fake","limit":3}` {
		t.Errorf("got %v, %v", poll, err)
	}
}

func TestRenewFlightEndpoint(t *testing.T) {
	f := serve(t, map[string]string{"a.fake": "rows=10"}, func(c *Config) {
		c.Advertise = []string{"data.example:8815"}
	})
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

// TestLostTable has the table of a file go from the cache: GetFlightInfo, GetSchema and
// PollFlightInfo say what they said, and parse nothing.
func TestLostTable(t *testing.T) {
	first := serveCatalog(t, map[string]string{"a.fake": "rows=400000 pad=8"}, catalog.Config{CacheDir: t.TempDir()})
	before := first.info(t, pathOf("a.fake"))
	schema, err := first.client.GetSchema(t.Context(), pathOf("a.fake"))
	if err != nil {
		t.Fatal(err)
	}
	for first.catalog.Stats().Cache.Saves == 0 {
		time.Sleep(time.Millisecond)
	}
	tables, err := filepath.Glob(filepath.Join(first.cache, "tables", "*.arrow"))
	if err != nil || len(tables) != 1 {
		t.Fatalf("tables %q, %v", tables, err)
	}
	if err := os.Remove(tables[0]); err != nil {
		t.Fatal(err)
	}

	f := serveCatalog(t, nil, catalog.Config{CacheDir: first.cache, Roots: []catalog.Root{{Dir: first.dir}}})
	again, err := f.client.GetSchema(t.Context(), pathOf("a.fake"))
	if err != nil || !bytes.Equal(again.GetSchema(), schema.GetSchema()) {
		t.Errorf("the schema is another one, %v", err)
	}
	boxed, err := f.client.GetSchema(t.Context(), cmdOf(`{"name":"a.fake","bbox":[0,-10,10,0]}`))
	if err != nil || !bytes.Equal(boxed.GetSchema(), schema.GetSchema()) {
		t.Errorf("the schema of a box is another one, %v", err)
	}
	if s := f.catalog.Stats(); s.Parses != 0 || s.Parsing != 0 || s.Cache.Parts != 0 {
		t.Errorf("%d parses, %d under way, %d parts, for the schema, want none", s.Parses, s.Parsing, s.Cache.Parts)
	}
	poll, err := f.client.PollFlightInfo(t.Context(), pathOf("a.fake"))
	if err != nil || poll.GetProgress() != 1 || poll.GetFlightDescriptor() != nil {
		t.Fatalf("the poll gives %v, %v", poll, err)
	}
	if len(before.GetEndpoint()) < 2 {
		t.Errorf("%d endpoints, want several", len(before.GetEndpoint()))
	}
	for name, info := range map[string]*flight.FlightInfo{
		"GetFlightInfo":  f.info(t, pathOf("a.fake")),
		"PollFlightInfo": poll.GetInfo(),
	} {
		for _, one := range []*flight.FlightInfo{info, before} {
			one.AppMetadata = nil // it says whether the table is there
			for _, e := range one.GetEndpoint() {
				e.AppMetadata = nil // its box is not known without the table
			}
		}
		if !proto.Equal(info, before) {
			t.Errorf("%s gives\n%v\nwant\n%v", name, info, before)
		}
	}
}
