package flightsrv

import (
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

// datasetEndpoints returns the tickets that together select the rows of a dataset, in order. Each
// says how many rows of the dataset it is for, and their bounding box.
func (s *service) datasetEndpoints(t ticket.Ticket, table *readers.Table, scan *catalog.Scan,
	bytes int64,
) ([]*flight.FlightEndpoint, error) {
	batches := scan.Batches()
	if t.Limit != nil || len(batches) == 0 {
		return []*flight.FlightEndpoint{s.endpoint(t)}, nil
	}
	all := scan.BatchBytes()
	sizes := make([]int64, len(batches))
	for i, k := range batches {
		sizes[i] = all[k]
	}
	n := min(max(1, (bytes+datasetEndpointBytes-1)/datasetEndpointBytes), maxDatasetEndpoints)
	bounds := splitBatches(sizes, int(n))
	var out []*flight.FlightEndpoint
	for i := range bounds[1:] {
		first, last := batches[bounds[i]], batches[bounds[i+1]-1]
		part := t
		part.Rows = &[2]int64{table.Starts[first], table.Starts[last+1]}
		e := s.endpoint(part)
		var err error
		e.AppMetadata, err = metadata.Marshal(endpointOf(table, batches[bounds[i]:bounds[i+1]]))
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	if len(out) == 1 {
		out[0].Ticket.Ticket = t.Encode()
	}
	return out, nil
}

// endpointOf describes some batches of a table.
func endpointOf(table *readers.Table, batches []int) metadata.Endpoint {
	var e metadata.Endpoint
	for _, i := range batches {
		e.Rows += table.Starts[i+1] - table.Starts[i]
		box := table.Boxes[i]
		switch {
		case box[0] > box[2]: // no positions
		case e.BBox == nil:
			e.BBox = &box
		default:
			e.BBox = &[4]float64{
				min(e.BBox[0], box[0]), min(e.BBox[1], box[1]), max(e.BBox[2], box[2]), max(e.BBox[3], box[3]),
			}
		}
	}
	e.BBox = metadata.Finite(e.BBox)
	return e
}
