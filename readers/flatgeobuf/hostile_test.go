package flatgeobuf_test

import (
	"bytes"
	"testing"

	"github.com/gogama/flatgeobuf/flatgeobuf/flat"

	"github.com/vibeflight/vibeflight/readers/flatgeobuf"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestFlippedBits flips each bit of a file, and sets each of its bytes to its least and greatest:
// what comes is a table or an error with a place in the file.
func TestFlippedBits(t *testing.T) {
	text := fgbFile{
		kind: unknown, columns: []fgbColumn{{"n", flat.ColumnTypeInt}, {"s", flat.ColumnTypeString}},
		count: 2, nodes: 16, crs: &fgbCRS{org: "EPSG", code: 4326},
		features: [][]byte{
			feature(&shape{
				kind: collection,
				parts: []shape{
					{kind: multiPolygon, parts: []shape{{xy: ring(0), ends: []uint32{4}}}},
					{kind: point, xy: []float64{1, 2}, z: []float64{3}},
				},
			}, value(0, int32(1)), value(1, "a")),
			feature(&shape{kind: multiLineString, xy: append(ring(0), ring(5)...), ends: []uint32{4, 8}}),
		},
	}.bytes()
	step := 1
	if testing.Short() {
		step = 7
	}
	for at := 0; at < len(text); at += step {
		for _, with := range []byte{1, 2, 4, 8, 16, 32, 64, 128, text[at], ^text[at]} {
			in := readertest.Input{Name: "a.fgb", Text: bytes.Clone(text)}
			in.Text[at] ^= with
			in.Options = map[string]any{"on_error": []string{"fail", "skip", "null"}[at%3]}
			if _, _ = readertest.Check(t, flatgeobuf.Format(), in); t.Failed() {
				t.Fatalf("byte %d: %#x became %#x", at, text[at], in.Text[at])
			}
		}
	}
}
