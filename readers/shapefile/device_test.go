package shapefile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/lanes"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/shapefile"
)

// deviceChunks are so small that most files are several chunks, down to a record.
var deviceChunks = []int64{60, 300, 1000, 4000}

// withIndex gives an input the .shx that its records say, as far as they follow each other.
func withIndex(in readertest.Input) readertest.Input {
	var entries []uint32
	for at := 100; at+8 <= len(in.Text); {
		content := 2 * int(big.Uint32(in.Text[at+4:]))
		entries = append(entries, uint32(at), uint32(content))
		at += 8 + content
	}
	siblings := map[string][]byte{".shx": shx(entries...)}
	for ext, text := range in.Siblings {
		if ext != ".shx" {
			siblings[ext] = text
		}
	}
	in.Siblings = siblings
	return in
}

// goldenInput is a file of testdata with its siblings and options.
func goldenInput(t *testing.T, name string) readertest.Input {
	t.Helper()
	in := readertest.Input{Name: filepath.Base(name), Siblings: map[string][]byte{}}
	read := func(ext string) []byte {
		text, err := os.ReadFile(strings.TrimSuffix(name, ".shp") + ext)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return text
	}
	in.Text = read(".shp")
	for _, ext := range shapefile.Format().Siblings {
		if text := read(ext); text != nil {
			in.Siblings[ext] = text
		}
	}
	if text := read(".options"); text != nil {
		if err := json.Unmarshal(text, &in.Options); err != nil {
			t.Fatal(err)
		}
	}
	return withIndex(in)
}

// repeated is a shapefile with its records so many times, if they follow each other.
func repeated(in readertest.Input, times int) readertest.Input {
	if len(in.Text) < 104 {
		return in
	}
	head, records := in.Text[:100], in.Text[100:]
	number := big.Uint32(records)
	text := slices.Clone(head)
	for range times {
		for at := 0; at < len(records); {
			if at+8 > len(records) || at+8+2*int(big.Uint32(records[at+4:])) > len(records) {
				return in
			}
			end := at + 8 + 2*int(big.Uint32(records[at+4:]))
			text = append(big.AppendUint32(text, number), records[at+4:end]...)
			at = end
			number++
		}
	}
	in.Text = text
	if table := in.Siblings[".dbf"]; table != nil {
		start, length, count := int(little.Uint16(table[8:])), int(little.Uint16(table[10:])), int(little.Uint32(table[4:]))
		if start+count*length > len(table) {
			return in
		}
		more := slices.Clone(table[:start])
		for range times {
			more = append(more, table[start:start+count*length]...)
		}
		little.PutUint32(more[4:], uint32(count*times))
		in = withIndex(in) // a map of its own
		in.Siblings[".dbf"] = more
	}
	return withIndex(in)
}

// TestDeviceGolden reads the files of testdata in chunks of every size, and again with their records several times.
func TestDeviceGolden(t *testing.T) {
	list := readertest.Devices(t, shapefile.Format(), deviceChunks)
	names, err := filepath.Glob(filepath.Join("testdata", "*.shp"))
	if err != nil || len(names) < 15 {
		t.Fatalf("%d files in testdata, error %v", len(names), err)
	}
	for _, name := range names {
		in := goldenInput(t, name)
		for _, d := range list {
			readertest.Same(t, shapefile.Format(), in, []int{0}, readertest.OnDevice(d))
			again := repeated(in, 1+6000/(1+len(in.Text)))
			again.Limits.BatchRows = 8
			readertest.Same(t, shapefile.Format(), again, []int{0}, readertest.OnDevice(d))
		}
	}
	readertest.Accepted(t, list, deviceChunks, 150, 0.5)
}

// TestDeviceSplits has chunks begin and end at every byte of a small file, which is cut off at some.
func TestDeviceSplits(t *testing.T) {
	k := readertest.Kernels(t)
	whole := readertest.Input{
		Name:     "a.shp",
		Text:     shp(polygon, parts(polygon, []xy{square(0, 0, 9), hole(1, 1, 1)}), nothing, parts(polygon, []xy{square(0, 0, 1), square(5, 5, 1)}), parts(polygon, nil), parts(polygon, []xy{square(3, 3, 3)})),
		Siblings: map[string][]byte{".dbf": number("   1", "*  2", "  -3", "   4", "   5")[".dbf"]},
		Options:  map[string]any{"on_error": "skip"},
	}
	for chunk := int64(1); chunk <= int64(len(whole.Text)/2); chunk += 1 + chunk/20 {
		t.Run(fmt.Sprint(chunk), func(t *testing.T) { // a card's memory is free again afterwards
			d := readertest.DeviceOn(t, shapefile.Format(), lanes.Config{Plan: lanes.Plan{ChunkBytes: chunk, Lanes: 2, Work: 2}}, k)
			for cut := range 2 {
				in := withIndex(whole)
				in.Text = in.Text[:len(in.Text)-cut]
				readertest.Same(t, shapefile.Format(), in, []int{0}, readertest.OnDevice(d))
			}
		})
	}
}

// TestDeviceSweep holds what cards make of random shapefiles against what the CPU engine makes of them: tables, counts and errors, to the letter. Some have
// attributes that cards leave alone, some are broken, and some have a .shx that says something else.
func TestDeviceSweep(t *testing.T) {
	list := readertest.Devices(t, shapefile.Format(), deviceChunks)
	documents := int64(0)
	readertest.Sweep(t, 2000, func(seed uint64) bool {
		documents++
		r := rand.New(rand.NewPCG(seed, 27))
		in := sweepInput(r)
		if r.IntN(8) > 0 {
			in = withIndex(in)
		}
		if r.IntN(8) > 0 {
			in.Options["memo"] = "ignore"
		}
		if r.IntN(8) == 0 {
			in.Options["include_deleted"] = "true"
		}
		if n := len(in.Text); n > 100 && r.IntN(4) == 0 { // behind the back of the .shx
			in.Text = slices.Clone(in.Text)
			in.Text[100+r.IntN(n-100)] = byte(r.IntN(4) * r.IntN(64))
		}
		if r.IntN(2) == 0 {
			in.Limits.BatchRows = 1 + r.IntN(30)
		}
		d := readertest.OnDevice(list[r.IntN(len(list))])
		readertest.Same(t, shapefile.Format(), in, []int{0}, d)
		readertest.Projected(t, shapefile.Format(), in, readertest.Some(seed), d)
		_, err := readertest.Parse(t, shapefile.Format(), in)
		return err == nil
	})
	readertest.Accepted(t, list, deviceChunks, documents, 0.5)
}
