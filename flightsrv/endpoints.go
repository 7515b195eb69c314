package flightsrv

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/readers"
)

// A table that exceeds one of these limits is sent over 2 to 16 endpoints.
const (
	endpointRows  = 262_144
	endpointBytes = 64 << 20
	maxEndpoints  = 16
)

// endpoints returns the tickets that together select the rows of t, in order. rows and bytes are
// the size of the selection of scan.
func (s *service) endpoints(ctx context.Context, t ticket.Ticket, table *readers.Table, scan *catalog.Scan,
	rows, bytes int64, at placement,
) ([]*flight.FlightEndpoint, error) {
	n := endpointCount(rows, bytes)
	if t.Limit != nil || n == 1 || len(table.Batches) == 1 {
		e, err := describedEndpoint(t, at.of(0), metadata.OfEndpoint(rows, boxOf(table, scan, scan.Batches())))
		return []*flight.FlightEndpoint{e}, err
	}
	counts, err := scan.BatchRows(ctx)
	if err != nil {
		return nil, err
	}
	selected := scan.Batches()
	var out []*flight.FlightEndpoint
	bounds := splitBatches(scan.BatchBytes(), n)
	at = at.spread(len(bounds) - 1)
	for i := range bounds[1:] {
		part := t
		part.Rows = &[2]int64{table.Starts[bounds[i]], table.Starts[bounds[i+1]]}
		rows = 0
		for _, count := range counts[bounds[i]:bounds[i+1]] {
			rows += count
		}
		from, _ := slices.BinarySearch(selected, bounds[i])
		to, _ := slices.BinarySearch(selected, bounds[i+1])
		e, err := describedEndpoint(part, at.of(i), metadata.OfEndpoint(rows, boxOf(table, scan, selected[from:to])))
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func endpoint(t ticket.Ticket, at []*flight.Location) *flight.FlightEndpoint {
	return &flight.FlightEndpoint{Ticket: &flight.Ticket{Ticket: t.Encode()}, Location: at}
}

// describedEndpoint is endpoint with app_metadata.
func describedEndpoint(t ticket.Ticket, at []*flight.Location, about metadata.Endpoint) (
	*flight.FlightEndpoint, error,
) {
	body, err := metadata.Marshal(about)
	if err != nil {
		return nil, err
	}
	e := endpoint(t, at)
	e.AppMetadata = body
	return e, nil
}

// boxOf returns a box that contains the geometries of some batches, given by number. It is nil if
// these have no position, if the boxes of the table's batches are not known, or if they are in another
// reference system than the rows.
func boxOf(table *readers.Table, scan *catalog.Scan, batches []int) *[4]float64 {
	if len(table.Boxes) == 0 || len(batches) == 0 || scan.Reprojects() {
		return nil
	}
	box := table.Boxes[batches[0]]
	for _, i := range batches[1:] {
		b := table.Boxes[i]
		box = [4]float64{min(box[0], b[0]), min(box[1], b[1]), max(box[2], b[2]), max(box[3], b[3])}
	}
	if box[0] > box[2] {
		return nil
	}
	for i := range box {
		box[i] += 0 // -0 becomes 0
	}
	return &box
}

func endpointCount(rows, bytes int64) int {
	n := max((rows+endpointRows-1)/endpointRows, (bytes+endpointBytes-1)/endpointBytes, 1)
	return int(min(n, maxEndpoints))
}

// splitBatches cuts batches of the given sizes into n runs of about equal size, or into runs of one
// batch if there are fewer than n. It returns the bounds of the runs: 0, …, len(sizes).
func splitBatches(sizes []int64, n int) []int {
	n = min(n, len(sizes))
	var total int64
	for _, s := range sizes {
		total += s
	}
	bounds := []int{0}
	var before int64 // bytes of the batches that precede batch i
	for i, s := range sizes {
		cuts := len(bounds)
		// A bound precedes batch i if the wanted cut is nearer to its start than to its end. No run
		// is empty: a run must begin when as many batches are left as runs.
		wanted := total / int64(n) * int64(cuts)
		must := len(sizes)-i == n-cuts
		if cuts < n && i > bounds[cuts-1] && (must || before+s/2 >= wanted) {
			bounds = append(bounds, i)
		}
		before += s
	}
	return append(bounds, len(sizes))
}

// A dataset is sent over endpoints of about datasetEndpointBytes each, however large it is.
const (
	datasetEndpointBytes = 128 << 20
	maxDatasetEndpoints  = 16_384
)

// datasetEndpoints returns the tickets that together select the rows of a dataset, in order. rows and
// bytes are the size of the selection of scan.
func (s *service) datasetEndpoints(ctx context.Context, t ticket.Ticket, table *readers.Table,
	scan *catalog.Scan, rows, bytes int64,
) ([]*flight.FlightEndpoint, error) {
	batches := scan.Batches()
	n := min(max(1, (bytes+datasetEndpointBytes-1)/datasetEndpointBytes), maxDatasetEndpoints)
	if t.Limit != nil || len(batches) == 0 || n == 1 {
		e, err := describedEndpoint(t, s.placementByName(t, "").of(0),
			metadata.OfEndpoint(rows, boxOf(table, scan, batches)))
		return []*flight.FlightEndpoint{e}, err
	}
	counts, err := scan.BatchRows(ctx)
	if err != nil {
		return nil, err
	}
	all := scan.BatchBytes()
	sizes := make([]int64, len(batches))
	for i, k := range batches {
		sizes[i] = all[k]
	}
	bounds := splitBatches(sizes, int(n))
	parts := datasetParts(all)
	var out []*flight.FlightEndpoint
	for i := range bounds[1:] {
		run := batches[bounds[i]:bounds[i+1]]
		part := t
		part.Rows = &[2]int64{table.Starts[run[0]], table.Starts[run[len(run)-1]+1]}
		selected := int64(0)
		for _, k := range run {
			selected += counts[k]
		}
		at := s.placementByName(t, strconv.Itoa(parts(run[0]))).of(0)
		e, err := describedEndpoint(part, at, metadata.OfEndpoint(selected, boxOf(table, scan, run)))
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// datasetParts returns a function that numbers the parts of a dataset by a batch in them. The parts
// are the endpoints without a selection. So the replica that has loaded the files of a part is the
// first location of an endpoint that begins there, whatever the selection.
func datasetParts(sizes []int64) func(batch int) int {
	var total int64
	for _, n := range sizes {
		total += n
	}
	n := min(max(1, (total+datasetEndpointBytes-1)/datasetEndpointBytes), maxDatasetEndpoints)
	bounds := splitBatches(sizes, int(n))
	return func(batch int) int {
		i, found := slices.BinarySearch(bounds, batch)
		if found {
			return i
		}
		return i - 1
	}
}

// sameConnection is the location of a client's own connection (Flight.proto,
// FlightEndpoint.location).
const sameConnection = "arrow-flight-reuse-connection://?"

// parseLocations converts the values of --advertise to the URIs of Flight. A host and port without
// a scheme use TLS if this server does.
func parseLocations(advertise []string, encrypted bool) ([]*flight.Location, error) {
	var out []*flight.Location
	for _, a := range advertise {
		uri := a
		switch scheme, path, ok := strings.Cut(a, "://"); {
		case !ok && encrypted:
			uri = "grpc+tls://" + a
		case !ok:
			uri = "grpc+tcp://" + a
		case scheme == "unix": // as in --listen; Flight has another scheme
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
