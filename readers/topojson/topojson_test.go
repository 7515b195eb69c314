package topojson_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/topojson"
)

// windows is the engine with windows of any size.
var windows = readertest.Variant{Name: "windows", Parser: topojson.Windowed}

// portable is windows without what only some processors have.
var portable = readertest.Variant{Name: "portable", Parser: topojson.Portable}

// parallel is the engine with 2 to 16 workers and parts of any size.
var parallel = readertest.Variant{Name: "parallel", Parser: topojson.Parallel}

func TestFormat(t *testing.T) { readertest.Run(t, topojson.Format(), windows, portable, parallel) }

func FuzzFormat(f *testing.F) { readertest.Fuzz(f, topojson.Format(), windows, parallel) }

// TestLayers reads each layer of a file, and one that it does not have.
func TestLayers(t *testing.T) {
	text, err := os.ReadFile("testdata/layers.topojson")
	if err != nil {
		t.Fatal(err)
	}
	layers := []string{"c", "e", "TopoJSON"}
	for layer, rows := range map[string]int64{"": 1, "c": 1, "e": 0, "TopoJSON": 3} {
		t.Run(layer, func(t *testing.T) {
			in := readertest.Input{Name: "a.topojson", Text: text, Layer: layer}
			table, err := readertest.Check(t, topojson.Format(), in)
			if err != nil {
				t.Fatal(err)
			}
			if table.Rows != rows || !slices.Equal(table.Summary.Layers, layers) {
				t.Errorf("got %d rows of the layers %q, want %d of %q", table.Rows, table.Summary.Layers, rows, layers)
			}
			readertest.Same(t, topojson.Format(), in, []int{1, 7, 50, 150}, windows, parallel)
		})
	}
}

// TestNoLayer: a layer that the file does not have is an error with those that it has.
func TestNoLayer(t *testing.T) {
	text, err := os.ReadFile("testdata/layers.topojson")
	if err != nil {
		t.Fatal(err)
	}
	_, err = readertest.Parse(t, topojson.Format(), readertest.Input{Name: "a.topojson", Text: text, Layer: "C"})
	if missing := (*readers.NoLayerError)(nil); !errors.As(err, &missing) ||
		!slices.Equal(missing.Layers, []string{"c", "e", "TopoJSON"}) {
		t.Fatalf("got %v", err)
	}
}

// TestRepeatedArcs: a small file that would make a table of any size is refused.
func TestRepeatedArcs(t *testing.T) {
	var text bytes.Buffer
	text.WriteString(`{"type":"Topology","arcs":[[`)
	for i := range 100_000 {
		fmt.Fprintf(&text, "[%d,0],", i%2)
	}
	text.WriteString(`[0,0]]],"objects":{"a":{"type":"GeometryCollection","geometries":[{"type":"LineString","arcs":[0`)
	for range 1000 {
		text.WriteString(",0")
	}
	text.WriteString("]}]}}}")
	in := readertest.Input{Name: "a.topojson", Text: text.Bytes()}
	_, err := readertest.Parse(t, topojson.Format(), in)
	if limit := (*readers.LimitError)(nil); !errors.As(err, &limit) {
		t.Fatalf("got %v, want a limit", err)
	}
}
