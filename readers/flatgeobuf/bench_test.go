package flatgeobuf_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gogama/flatgeobuf/flatgeobuf/flat"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/flatgeobuf"
	"github.com/vibeflight/vibeflight/readers/source"
)

// BenchmarkPolygons reads polygons of 5 to 16 positions with three attributes, with one worker.
func BenchmarkPolygons(b *testing.B) {
	const n = 100_000
	f := fgbFile{kind: polygon, columns: []fgbColumn{
		{"id", flat.ColumnTypeInt},
		{"height", flat.ColumnTypeDouble},
		{"name", flat.ColumnTypeString},
	}, count: n}
	for i := range n {
		var s shape
		corners := 4 + i%12
		for k := range corners + 1 {
			at := 2 * math.Pi * float64(k%corners) / float64(corners)
			s.xy = append(s.xy, -80+float64(i%1000)*1e-3+1e-4*math.Sin(at), 25+float64(i/1000)*1e-3+1e-4*math.Cos(at))
		}
		f.features = append(f.features, feature(&s, value(0, int32(i)), value(1, float64(i)*0.37),
			value(2, "Main Street")))
	}
	path := filepath.Join(b.TempDir(), "a.fgb")
	text := f.bytes()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	src, err := source.Open("a.fgb", path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	format := flatgeobuf.Format()
	opts, err := format.ParseOptions(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		layout, err := format.Open(context.Background(), src, opts)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := readers.Read(context.Background(), format, format.CPU(layout), src, readers.Limits{Workers: 1},
			nil); err != nil {
			b.Fatal(err)
		}
	}
}
