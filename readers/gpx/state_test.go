package gpx

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/source"
)

func TestState(t *testing.T) {
	for _, tt := range []struct {
		name  string
		place place
		known bool
	}{
		{"first", place{0, 0, 0}, true},
		{"route", place{7, -1, 12}, true},
		{"largest", place{uncounted - 1, 1<<segmentBits - 2, 1<<numberBits - 1}, true},
		{"many tracks", place{uncounted, 0, 0}, false},
		{"many segments", place{0, 1<<segmentBits - 1, 0}, false},
		{"many positions", place{0, 0, 1 << numberBits}, false},
	} {
		for l := range layers {
			want := state{encoding: 2, header: header{layer: l, v10: l%2 == 0}, place: tt.place}
			got, known := unpackState(want.pack())
			if known != tt.known || known && got != want || got.header != want.header {
				t.Errorf("%s: got %+v, %t, want %+v", tt.name, got, known, want)
			}
		}
	}
}

// TestUncountedState: a span whose state does not have the place of its first row counts the rows
// before it.
func TestUncountedState(t *testing.T) {
	var b strings.Builder
	b.WriteString("<gpx>")
	for i := range 9 {
		fmt.Fprintf(&b, "<trk><trkseg/><trkseg>%s</trkseg></trk>", strings.Repeat(`<trkpt lat="1" lon="2"/>`, i))
	}
	path := filepath.Join(t.TempDir(), "a.gpx")
	if err := os.WriteFile(path, []byte(b.String()+"</gpx>"), 0o666); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open("a.gpx", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	p := parser{layout: readers.Layout{Layer: "track_points"}}
	limits := readers.Limits{BatchRows: 5, Workers: 1}
	parse := func(span readers.Span) (chunks []readers.Chunk) {
		t.Helper()
		req := readers.Request{Span: span, Limits: limits}
		_, err := p.Parse(context.Background(), src, req, func(c readers.Chunk) error {
			chunks = append(chunks, c)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return chunks
	}
	for _, c := range parse(readers.Span{To: -1}) {
		span := c.Span
		span.State |= uncounted << (encodingBits + versionBits + layerBits + numberBits + segmentBits)
		again := parse(span)
		if len(again) != 1 {
			t.Fatalf("%d chunks", len(again))
		}
		for i := range numberColumns {
			got := geoarrow.View[int32](again[0].Columns.Attributes[i].Values)
			if want := geoarrow.View[int32](c.Columns.Attributes[i].Values); !slices.Equal(got, want) {
				t.Errorf("rows from %d on, column %d: got %v, want %v", span.Row, i, got, want)
			}
		}
	}
}
