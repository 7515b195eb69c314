package flightsrv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/flight"
	"google.golang.org/grpc/codes"

	"github.com/vibeflight/vibeflight/catalog"
	"github.com/vibeflight/vibeflight/readers/all"
)

// TestNoHostPaths has datasets of files that are below no root, and so are named by their paths.
func TestNoHostPaths(t *testing.T) {
	outside := t.TempDir()
	for name, text := range map[string]string{
		"m1.csv": "a\n1\n", "m2.csv": "a,b\n1\n", "n1.geojson": `{"type":"FeatureCollection","features":[{"a":nope}]}`,
	} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := serveCatalog(t, nil, catalog.Config{
		Formats: all.Formats(),
		Datasets: []catalog.Dataset{
			{Name: "misfit", Files: []string{filepath.Join(outside, "m*.csv")}},
			{Name: "broken", Files: []string{filepath.Join(outside, "n*.geojson")}},
		},
	})
	for name, word := range map[string]string{"misfit": "m2.csv", "broken": "n1.geojson"} {
		_, err := f.get(t, name)
		wantStatus(t, err, codes.InvalidArgument, word)
		stream, failed := f.client.DoAction(t.Context(), &flight.Action{Type: "describe", Body: []byte(name)})
		if failed != nil {
			t.Fatal(failed)
		}
		_, failed = stream.Recv()
		for _, e := range []error{err, failed} {
			if e == nil || strings.Contains(e.Error(), outside) {
				t.Errorf("%s: %v", name, e)
			}
		}
	}
}
