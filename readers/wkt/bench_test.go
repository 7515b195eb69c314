package wkt_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/internal/rows"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/source"
	"github.com/vibeflight/vibeflight/readers/wkt"
)

// column returns polygons.wkt of the comparison with other readers, a geometry a line.
func column(b *testing.B) []byte {
	b.Helper()
	src := readertest.BenchFile(b, "polygons.wkt")
	text, err := io.ReadAll(io.NewSectionReader(src, 0, src.Size))
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// BenchmarkFile reads a file of polygons with one worker, from the page cache to chunks.
func BenchmarkFile(b *testing.B) { benchmark(b, column(b), wkt.Windowed) }

// BenchmarkFilePortable is BenchmarkFile without what only some processors have.
func BenchmarkFilePortable(b *testing.B) { benchmark(b, column(b), wkt.Portable) }

// BenchmarkFileWorkers is BenchmarkFile with a worker for each core.
func BenchmarkFileWorkers(b *testing.B) {
	benchmark(b, column(b), func(l readers.Layout, _ int) readers.Parser { return wkt.Format().CPU(l) })
}

// BenchmarkPoints reads a million points.
func BenchmarkPoints(b *testing.B) {
	benchmark(b, bytes.Repeat([]byte("POINT (-81.415421 29.565149)\nPOINT (5.25 -9.5)\n"), 500_000), wkt.Windowed)
}

// BenchmarkZ reads lines with z.
func BenchmarkZ(b *testing.B) {
	line := "LINESTRING Z (" + string(bytes.Repeat([]byte("-81.415421 29.565149 12.5, "), 30)) + "0 0 0)\n"
	benchmark(b, bytes.Repeat([]byte(line), 20_000), wkt.Windowed)
}

func benchmark(b *testing.B, text []byte, parser func(readers.Layout, int) readers.Parser) {
	path := filepath.Join(b.TempDir(), "a.wkt")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		b.Fatal(err)
	}
	src, err := source.Open("a.wkt", path)
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	f := wkt.Format()
	opts, err := f.ParseOptions(nil)
	if err != nil {
		b.Fatal(err)
	}
	layout, err := f.Open(context.Background(), src, opts)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(src.Size)
	for b.Loop() {
		_, err := parser(layout, 0).Parse(context.Background(), src, readers.Request{Span: readers.Span{To: -1}},
			func(readers.Chunk) error {
				return nil
			})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCell reads the geometries of a megabyte of polygons one by one, from memory.
func BenchmarkCell(b *testing.B) {
	text := append(column(b)[:1<<20], make([]byte, 64)...)
	lines := bytes.SplitAfter(text, []byte{'\n'})
	lines = lines[:len(lines)-1]
	var n int64
	for _, l := range lines {
		n += int64(len(l))
	}
	b.SetBytes(n)
	b.ReportAllocs()
	var g geoarrow.GeometryBuilder
	var shapes rows.Shapes
	var cell wkt.Cell
	for b.Loop() {
		g.Reset()
		for _, l := range lines {
			found, err := cell.Read(&g, &shapes, unsafe.Slice(unsafe.SliceData(l), len(l)+64)[:len(l)])
			if err != nil {
				b.Fatal(err)
			}
			wkt.End(&g, found.Kind)
		}
	}
}
