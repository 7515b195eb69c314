package flightsrv

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers"
)

// A table beyond one of these goes out over several endpoints, at least two and at most sixteen.
const (
	endpointRows  = 262_144
	endpointBytes = 64 << 20
	mostEndpoints = 16
)

// endpoints gives the tickets that together are t's rows, in order. rows and bytes say how much t
// selects of the table, which scan is of.
func (s *service) endpoints(t Ticket, table *readers.Table, scan *catalog.Scan, rows,
	bytes int64,
) []*flight.FlightEndpoint {
	var out []*flight.FlightEndpoint
	n := endpointCount(rows, bytes)
	if t.Limit != nil || n == 1 || len(table.Batches) == 1 {
		return append(out, s.endpoint(t))
	}
	bounds := split(scan.BatchBytes(), n)
	for i := range bounds[1:] {
		part := t
		part.Rows = &[2]int64{table.Starts[bounds[i]], table.Starts[bounds[i+1]]}
		out = append(out, s.endpoint(part))
	}
	return out
}

func (s *service) endpoint(t Ticket) *flight.FlightEndpoint {
	return &flight.FlightEndpoint{Ticket: &flight.Ticket{Ticket: t.Encode()}, Location: s.locations}
}

func endpointCount(rows, bytes int64) int {
	n := max((rows+endpointRows-1)/endpointRows, (bytes+endpointBytes-1)/endpointBytes, 1)
	return int(min(n, mostEndpoints))
}

// split cuts the batches of these sizes into n runs of about equal size, or into runs of one batch
// where there are fewer than n. It gives the runs' bounds: 0, …, len(sizes).
func split(sizes []int64, n int) []int {
	n = min(n, len(sizes))
	var total int64
	for _, s := range sizes {
		total += s
	}
	bounds := []int{0}
	var before int64 // bytes of the batches in front of batch i
	for i, s := range sizes {
		cuts := len(bounds)
		// The bound before batch i is the nearest one to the wanted cut if the middle of the batch
		// lies behind that cut. No run is empty, so a run must begin where the batches left are as
		// many as the runs left.
		wanted := total / int64(n) * int64(cuts)
		must := len(sizes)-i == n-cuts
		if cuts < n && i > bounds[cuts-1] && (must || before+s/2 >= wanted) {
			bounds = append(bounds, i)
		}
		before += s
	}
	return append(bounds, len(sizes))
}

// sameConnection is the location that says: where you asked (Flight.proto,
// FlightEndpoint.location).
const sameConnection = "arrow-flight-reuse-connection://?"

// locationsOf makes URIs, as Flight's clients know them, of what --advertise says. A host and port
// alone are served like ours, by TLS or not.
func locationsOf(advertise []string, encrypted bool) ([]*flight.Location, error) {
	var out []*flight.Location
	for _, a := range advertise {
		uri := a
		switch scheme, path, ok := strings.Cut(a, "://"); {
		case !ok && encrypted:
			uri = "grpc+tls://" + a
		case !ok:
			uri = "grpc+tcp://" + a
		case scheme == "unix": // as in --listen; Flight has another word
			uri = "grpc+unix://" + path
		}
		if !isLocation(uri) {
			return nil, fmt.Errorf("--advertise %q: want host:port, grpc://host:port, grpc+tls://host:port, "+
				"unix:///path or %s", a, sameConnection)
		}
		out = append(out, &flight.Location{Uri: uri})
	}
	return out, nil
}

func isLocation(uri string) bool {
	u, err := url.Parse(uri)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "grpc", "grpc+tcp", "grpc+tls":
		return u.Hostname() != "" && u.Port() != "" && strings.TrimRight(u.Path, "/") == "" && u.RawQuery == ""
	case "grpc+unix":
		return u.Host == "" && len(u.Path) > 1
	}
	return uri == sameConnection
}
