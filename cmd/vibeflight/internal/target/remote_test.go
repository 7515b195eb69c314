package target

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/vibeflight/vibeflight/cmd/vibeflight/internal/output"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// parser is a server whose file is parsed in three looks.
type parser struct {
	flight.BaseFlightServer
	looks int
}

func (p *parser) PollFlightInfo(_ context.Context, d *flight.FlightDescriptor) (*flight.PollInfo, error) {
	t, err := ticket.Parse(d.GetCmd())
	if err != nil || t.Name != "a.geojson" {
		return nil, status.Errorf(codes.NotFound, "no entry %q", t.Name)
	}
	p.looks++
	part := float64(p.looks) / 4
	if p.looks < 3 {
		return &flight.PollInfo{FlightDescriptor: d, Progress: &part}, nil
	}
	return &flight.PollInfo{Info: &flight.FlightInfo{TotalRecords: 7}, Progress: &part}, nil
}

func TestPoll(t *testing.T) {
	server := flight.NewServerWithMiddleware(nil)
	if err := server.Init("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	p := &parser{}
	server.RegisterFlightService(p)
	done := make(chan error, 1)
	go func() { done <- server.Serve() }()
	defer func() {
		server.Shutdown()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	r, err := (&Server{Address: server.Addr().String()}).Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()

	shown := &output.Progress{}
	info, err := r.poll(t.Context(), ticket.Ticket{Name: "a.geojson"}, shown)
	if err != nil || info.GetTotalRecords() != 7 || p.looks != 3 {
		t.Errorf("got %v, %v after %d looks, want 7 rows after 3", info, err, p.looks)
	}
	if part, ok := shown.Parsed(); !ok || part != 0.5 {
		t.Errorf("the last part that was shown is not 0.5")
	}
	if _, err := r.poll(t.Context(), ticket.Ticket{Name: "b.geojson"}, shown); err == nil ||
		err.Error() != `no entry "b.geojson"` {
		t.Errorf("got %v", err)
	}
}

// TestAddressOfHTTP calls a server of HTTP. The error says which address is wanted.
func TestAddressOfHTTP(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	r, err := (&Server{Address: web.Listener.Addr().String()}).Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err = r.list(t.Context(), "", ""); err == nil || !strings.Contains(err.Error(), "not --http") {
		t.Errorf("error %v", err)
	}
}
