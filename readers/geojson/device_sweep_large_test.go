package geojson

import (
	"context"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/slots"
	"github.com/vibeflight/vibeflight/readers/source"
)

// TestDeviceLarge reads the files that VIBEFLIGHT_SWEEP_FILES names, between colons, with a device
// as the server has it and with the CPU engine, and compares the tables whole. The device may leave
// none of their chunks: generated files have nothing odd. Without files it reads a small one of its
// own.
func TestDeviceLarge(t *testing.T) {
	files := filepath.SplitList(os.Getenv("VIBEFLIGHT_SWEEP_FILES"))
	var config slots.Config
	if len(files) == 0 {
		files, config.Memory = []string{largeOwn(t)}, 16<<20 // for chunks of 1 MiB
	}
	d := readertest.NewDeviceOn(t, Format(), config, readertest.Kernels(t))
	seed := maphash.MakeSeed()
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			before := d.Counts()
			got, rows := digest(t, seed, file, d.Parser)
			want, _ := digest(t, seed, file, Format().CPU)
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("got %s, want %s", got[i], want[i])
				}
			}
			if len(got) != len(want) {
				t.Fatalf("got %d slices, want %d", len(got), len(want))
			}
			after := d.Counts()
			chunks, refused := after.Chunks-before.Chunks, after.Refused-before.Refused
			t.Logf("%d rows, %d slices the same; %d chunks accepted, %d refused", rows, len(got), chunks, refused)
			if chunks == 0 || refused > 0 {
				t.Errorf("%d chunks accepted, %d refused: %s", chunks, refused, after.Reason)
			}
		})
	}
}

// largeOwn returns a file of some chunks of a MiB.
func largeOwn(t *testing.T) string {
	t.Helper()
	text := []byte(`{"type":"FeatureCollection","features":[`)
	for i := 0; len(text) < 5<<20; i++ {
		if i > 0 {
			text = append(text, ",\n"...)
		}
		x, y := float64(i%3600)/10-180, float64(i%1700)/10-85
		text = fmt.Appendf(text, `{"type":"Feature","properties":{"n":%d,"height":%g,"name":"Weg %d"},"geometry":{"type":"LineString","coordinates":[[%g,%g],[%g,%g]]}}`,
			i, float64(i%97)/4, i%1000, x, y, y, x)
	}
	path := filepath.Join(t.TempDir(), "own.geojson")
	if err := os.WriteFile(path, append(text, "]}"...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// digest reads a file and gives a line for each slice of the table, with its hash, and for all that
// is next to them.
func digest(t *testing.T, seed maphash.Seed, file string, parser func(readers.Layout) readers.Parser) (lines []string,
	rows int64,
) {
	t.Helper()
	ctx := context.Background()
	src, err := source.Open(filepath.Base(file), file)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	layout, err := Format().Open(ctx, src, readers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := readers.Read(ctx, Format(), parser(layout), src, readers.Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readertest.CompareResident(table); err != nil {
		t.Fatal(err)
	}
	_ = table.Measure(context.Background())
	table.Summary.BytesRead = 0  // some bytes are read twice, by engines and workers in their own way
	table.Summary.Resident = nil // the CPU engine has none
	lines = append(lines, fmt.Sprintf("%s of %d rows, %d bytes, starts %v, spans %s, crs %+v", table.Format,
		table.Rows, table.Bytes, table.Starts, readertest.Places(table), table.CRS),
		fmt.Sprintf("types %q, %d positions", table.GeometryTypes, table.Positions),
		fmt.Sprintf("%+v, %d rounded, %d replaced", table.Summary, table.RoundedIntegers, table.ReplacedCharacters))
	of, slots := make([][]string, len(table.Batches)), make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for i, b := range table.Batches {
		slots <- struct{}{}
		wait.Go(func() {
			of[i] = hashes(seed, fmt.Sprintf("batch %d", i), b)
			<-slots
		})
	}
	wait.Wait()
	return append(lines, slices.Concat(of...)...), table.Rows
}

// raw is the memory of a slice.
func raw[T any](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))
}

// hashes are those of all slices of a batch.
func hashes(seed maphash.Seed, batch string, c *geoarrow.Columns) (lines []string) {
	add := func(name string, items int, bytes []byte) {
		lines = append(lines, fmt.Sprintf("%s %s: %d items, hash %x", batch, name, items, maphash.Bytes(seed, bytes)))
	}
	var column func(a *geoarrow.Column, name string)
	column = func(a *geoarrow.Column, name string) {
		lines = append(lines, fmt.Sprintf("%s %s: role %d, %s, JSON %t, mixed %t, %d nulls, %d rounded, %d replaced",
			batch, name, a.Role, a.Type, a.JSON, a.Mixed, a.Nulls, a.Rounded, a.Replaced))
		add(name+" valid", len(a.Valid), a.Valid)
		add(name+" offsets", len(a.Offsets), raw(a.Offsets))
		add(name+" values", len(a.Values), a.Values)
		if a.Child != nil {
			column(a.Child, name+" item")
		}
	}
	for i := range c.Attributes {
		column(&c.Attributes[i], c.Attributes[i].Name)
	}
	if g := c.Geometry; g != nil {
		lines = append(lines, fmt.Sprintf("%s geometry: %d rows, kind %v, dim %v, %d nulls", batch, g.Rows,
			g.Kind, g.Dim, g.Nulls))
		add("valid", len(g.Valid), g.Valid)
		add("kinds", len(g.Kinds), raw(g.Kinds))
		add("geoms", len(g.Geoms), raw(g.Geoms))
		add("parts", len(g.Parts), raw(g.Parts))
		add("rings", len(g.Rings), raw(g.Rings))
		for i, ordinates := range [][]float64{g.X, g.Y, g.Z, g.M} {
			add("xyzm"[i:i+1], len(ordinates), raw(ordinates))
		}
		add("offsets", len(g.Offsets), raw(g.Offsets))
		add("wkb", len(g.WKB), g.WKB)
	}
	return lines
}
