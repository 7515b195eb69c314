package flightsrv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/source"
)

// layeredFormat is fakeFormat in files that have a layer Stops, of which the recipe is, and one
// called A#B of no rows.
func layeredFormat() readers.Format {
	f := fakeFormat()
	f.Name, f.Extensions, f.Layered = "layered", []string{".layered"}, true
	f.CPU = func(l readers.Layout) readers.Parser {
		return layeredParser{fakeParser{l.Dialect.(recipe), l.Options, l.Columns}, l.Layer}
	}
	return f
}

type layeredParser struct {
	fakeParser
	layer string
}

func (p layeredParser) Parse(ctx context.Context, src *source.File, req readers.Request,
	emit func(readers.Chunk) error,
) (readers.Summary, error) {
	layers := []string{"Stops", "A#B"}
	switch p.layer {
	case "", layers[0]:
	case layers[1]:
		p.rows = 0
	default:
		return readers.Summary{}, &readers.NoLayerError{Name: src.Name, Layer: p.layer, Layers: layers}
	}
	sum, err := p.fakeParser.Parse(ctx, src, req, emit)
	sum.Layers = layers
	return sum, err
}

// listed returns the names and row counts that ListFlights tells.
func (f *fixture) listed(t *testing.T) []string {
	t.Helper()
	stream, err := f.client.ListFlights(t.Context(), &flight.Criteria{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for {
		info, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprint(info.FlightDescriptor.Path[0], " ", info.TotalRecords))
	}
}

func TestLayers(t *testing.T) {
	f := serve(t, map[string]string{"trips.layered": "rows=3", "b.fake": "rows=2"})
	want := func(names ...string) {
		t.Helper()
		if got := f.listed(t); !slices.Equal(got, names) {
			t.Errorf("listed %q, want %q", got, names)
		}
	}
	want("b.fake -1", "trips.layered -1")

	// The first call for a layer that is not there tells those that are; the second one knows.
	for range 2 {
		_, err := f.get(t, "trips.layered#Stop")
		if s := status.Convert(err); s.Code() != codes.NotFound || !strings.Contains(s.Message(),
			`"trips.layered#Stops"`) {
			t.Errorf("error %v, want NotFound with the closest names", err)
		}
		want("b.fake -1", "trips.layered#A%23B -1", "trips.layered#Stops -1")
	}
	for name, rows := range map[string]int64{"trips.layered": 3, "trips.layered#Stops": 3, "trips.layered#A%23B": 0} {
		info, err := f.client.GetFlightInfo(t.Context(), &flight.FlightDescriptor{
			Type: flight.DescriptorPATH,
			Path: []string{name},
		})
		if err != nil {
			t.Fatal(err)
		}
		g, err := f.get(t, string(info.Endpoint[0].Ticket.Ticket))
		if err != nil || g.rows != rows || info.TotalRecords != rows {
			t.Errorf("%s: %d rows, %d announced, %v, want %d", name, g.rows, info.TotalRecords, err, rows)
		}
	}
	want("b.fake -1", "trips.layered#A%23B 0", "trips.layered#Stops 3")

	stream, err := f.client.DoAction(t.Context(), &flight.Action{Type: "describe", Body: []byte("trips.layered#A%23B")})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var d metadata.Description
	if err := json.Unmarshal(answer.Body, &d); err != nil || d.Name != "trips.layered#A%23B" ||
		!slices.Equal(d.Layers, []string{"Stops", "A#B"}) {
		t.Errorf("described as %s with the layers %q, %v", d.Name, d.Layers, err)
	}
}
