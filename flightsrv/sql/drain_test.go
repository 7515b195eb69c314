package sql_test

import (
	"context"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc/codes"

	"github.com/vibeflight/vibeflight/flightsrv"
)

// TestDrainOfStubbornQuery ends a server whose query ignores its cancellation. The query does not hold
// the end, and its client learns that it may call again.
func TestDrainOfStubbornQuery(t *testing.T) {
	engine := &fake{gate: make(chan struct{})}
	defer close(engine.gate)
	server, err := flightsrv.New(flightsrv.Config{
		Catalog: openCatalog(t, t.TempDir(), nil), SQL: engine, Listen: []string{"127.0.0.1:0"},
		Drain: 100 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx) }()
	client := dial(t, server.Addrs()[0])
	defer client.Close()
	info, err := client.Execute(t.Context(), "rows=10 block=stubborn")
	if err != nil {
		t.Fatal(err)
	}
	stream, err := client.Client.DoGet(t.Context(), &flight.Ticket{Ticket: info.Endpoint[0].Ticket.Ticket})
	if err == nil {
		_, err = stream.Recv() // the schema
	}
	if err != nil {
		t.Fatal(err)
	}
	stop()
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("Serve waits for the query")
	}
	_, err = stream.Recv()
	wantStatus(t, err, codes.Unavailable, "going away")
}
