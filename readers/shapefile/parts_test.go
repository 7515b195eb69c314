package shapefile_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/shapefile"
	"github.com/vibeflight/vibeflight/readers/source"
)

// Coordinates that look like records mislead workers, not readers.
func TestDecoys(t *testing.T) {
	var bait []byte
	for i := range 8 { // records without points take 48 bytes, which is 3 pairs
		bait = append(big.AppendUint32(big.AppendUint32(bait, uint32(1+i%4)), 20), several(multiPoint, nil)...)
	}
	var pairs xy
	for ; len(bait) > 0; bait = bait[8:] {
		pairs = append(pairs, math.Float64frombits(little.Uint64(bait)))
	}
	file := shp(multiPoint, several(multiPoint, pairs), nothing, several(multiPoint, xy{1, 2}),
		several(multiPoint, pairs), several(multiPoint, nil))
	in := readertest.Input{Name: "a.shp", Text: file}
	table, err := readertest.Check(t, shapefile.Format(), in)
	if err != nil || table.Rows != 5 || table.Positions != 49 {
		t.Fatalf("%+v, error %v, want 5 rows of 49 positions", table, err)
	}
	readertest.Same(t, shapefile.Format(), in, sizes(len(file)), windows, parallel)
}

// A run of records without shape gives workers nothing to look for.
func TestNothingToGuess(t *testing.T) {
	var contents [][]byte
	for range 200 {
		contents = append(contents, nothing)
	}
	contents[150] = at(point, 1, 2)
	in := readertest.Input{Name: "a.shp", Text: shp(point, contents...)}
	if table, err := readertest.Check(t, shapefile.Format(), in); err != nil || table.Rows != 200 {
		t.Fatalf("%+v, error %v, want 200 rows", table, err)
	}
	readertest.Same(t, shapefile.Format(), in, []int{1, 12, 13, 100, 500, 1000, 2000}, windows, parallel)
}

// opened returns a file and what Open finds in it. The test closes it.
func opened(t *testing.T, text []byte) (*source.File, readers.Layout) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.shp")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return opens(t, path)
}

// opens returns opened of a file that is there.
func opens(t *testing.T, path string) (*source.File, readers.Layout) {
	t.Helper()
	src, err := source.Open("a.shp", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close() })
	opts, err := shapefile.Format().ParseOptions(nil)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := shapefile.Format().Open(t.Context(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	return src, layout
}

func TestCancelled(t *testing.T) {
	src, layout := opened(t, shp(point, at(point, 1, 2)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := shapefile.Format()
	if _, err := readers.Read(ctx, f, f.CPU(layout), src, readers.Limits{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// A file that shrinks while it is read has changed; it is not malformed.
func TestShrunkFile(t *testing.T) {
	src, layout := opened(t, shp(point, at(point, 1, 2), at(point, 3, 4)))
	if err := os.Truncate(src.Path, src.Size-10); err != nil {
		t.Fatal(err)
	}
	f := shapefile.Format()
	if _, err := readers.Read(t.Context(), f, f.CPU(layout), src, readers.Limits{}, nil); !errors.Is(err,
		source.ErrChanged) {
		t.Errorf("got %v, want %v", err, source.ErrChanged)
	}
}

// Records beyond byte 2^31, and 2^32, of a file with holes, which the .shx leads over.
func TestBeyond4GiB(t *testing.T) {
	places := []int64{100, 1<<31 - 2, 1<<31 + 100, 1<<32 - 14, 1<<32 + 1<<31}
	var entries []byte
	path := filepath.Join(t.TempDir(), "a.shp")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(b []byte, at int64) {
		if _, err := f.WriteAt(b, at); err != nil {
			t.Fatal(err)
		}
	}
	write(shp(point), 0)
	for i, place := range places {
		record := shpFrom(1+i, point, at(point, float64(i), 0))[100:]
		write(record, place)
		entries = big.AppendUint32(big.AppendUint32(entries, uint32(place/2)), 10)
	}
	err = errors.Join(f.Close(), os.WriteFile(strings.TrimSuffix(path, "shp")+"shx", join(shp(point), entries), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	src, layout := opens(t, path)
	table, err := readers.Read(t.Context(), shapefile.Format(), shapefile.Format().CPU(layout), src,
		readers.Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "geometry: geoarrow.point xy: POINT (0 0) | POINT (1 0) | POINT (2 0) | POINT (3 0) | POINT (4 0)"
	if got := columns(table); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
