package flightsrv

import (
	"context"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow/flight"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/readers"
)

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
		e, err := describedEndpoint(t, s.placementByName(t, "").of(0), metadata.OfEndpoint(rows, boxOf(table, batches)))
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
		e, err := describedEndpoint(part, at, metadata.OfEndpoint(selected, boxOf(table, run)))
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
