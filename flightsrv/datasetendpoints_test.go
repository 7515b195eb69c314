package flightsrv

import (
	"encoding/json"
	"testing"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/flightsrv/metadata"
	"github.com/vibeflight/vibeflight/flightsrv/ticket"
)

// TestDatasetEndpoints divides a table as a dataset of 3 endpoints. Each says exactly how many rows
// its ticket gives.
func TestDatasetEndpoints(t *testing.T) {
	f := serve(t, map[string]string{"big.fake": "rows=600000"})
	h, err := f.catalog.Table(t.Context(), catalog.Request{Name: "big.fake"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	for _, c := range []struct {
		name      string
		bbox      *[4]float64
		limit     *int64
		bytes     int64
		endpoints int
		rows      int64
	}{
		{"whole", nil, nil, 3 * datasetEndpointBytes, 3, 600_000},
		{"small", nil, nil, 1, 1, 600_000},
		{"box", &[4]float64{100_000, -400_000, 400_000, 0}, nil, 3 * datasetEndpointBytes, 3, 300_001},
		{"nothing", &[4]float64{-9, -9, -8, -8}, nil, 3 * datasetEndpointBytes, 1, 0},
		{"limit", nil, new(int64), 3 * datasetEndpointBytes, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			scan, err := catalog.NewScan(h.Table, catalog.Selection{BBox: c.bbox, Limit: c.limit})
			if err != nil {
				t.Fatal(err)
			}
			rows, err := scan.Rows(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			asked := ticket.Ticket{Name: "big.fake", BBox: c.bbox, Limit: c.limit}
			list, err := (&service{}).datasetEndpoints(t.Context(), asked, h.Table, scan, rows, c.bytes)
			if err != nil || len(list) != c.endpoints {
				t.Fatalf("%d endpoints, %v, want %d", len(list), err, c.endpoints)
			}
			var all int64
			for _, e := range list {
				var about metadata.Endpoint
				if err := json.Unmarshal(e.GetAppMetadata(), &about); err != nil {
					t.Fatal(err)
				}
				all += about.Rows
				g, err := f.get(t, string(e.GetTicket().GetTicket()))
				noBox := about.Rows == 0 && c.bbox != nil
				if err != nil || int64(len(g.numbers)) != about.Rows || (about.BBox == nil) != noBox {
					t.Errorf("app_metadata %s for %d rows, %v", e.GetAppMetadata(), len(g.numbers), err)
				}
			}
			if all != c.rows {
				t.Errorf("%d rows, want %d", all, c.rows)
			}
		})
	}
}
