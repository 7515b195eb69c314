package dbf_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers/dbf"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// deviceChunks are so small that most tables are several chunks, down to a record.
var deviceChunks = []int64{60, 200, 700, 2000}

// TestDeviceGolden reads the files of testdata in chunks of every size, and again with their
// records several times, if they are few.
func TestDeviceGolden(t *testing.T) {
	list := readertest.Devices(t, dbf.Format(), deviceChunks)
	names, err := filepath.Glob(filepath.Join("testdata", "*.dbf"))
	if err != nil || len(names) < 20 {
		t.Fatalf("%d files in testdata, error %v", len(names), err)
	}
	for _, name := range names {
		in := goldenInput(t, name)
		for _, d := range list {
			readertest.Same(t, dbf.Format(), in, []int{0}, readertest.OnDevice(d))
			again := in
			again.Text, again.Limits.BatchRows = repeated(in.Text, 1+6000/(1+len(in.Text))), 8
			readertest.Same(t, dbf.Format(), again, []int{0}, readertest.OnDevice(d))
		}
	}
	readertest.Accepted(t, list, deviceChunks, 150, 0.5)
}

// goldenInput returns a file of testdata with its siblings and options.
func goldenInput(t *testing.T, name string) readertest.Input {
	t.Helper()
	in := readertest.Input{Name: filepath.Base(name), Siblings: map[string][]byte{}}
	read := func(ext string) []byte {
		text, err := os.ReadFile(strings.TrimSuffix(name, ".dbf") + ext)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return text
	}
	in.Text = read(".dbf")
	for _, ext := range dbf.Format().Siblings {
		if text := read(ext); text != nil {
			in.Siblings[ext] = text
		}
	}
	if text := read(".options"); text != nil {
		if err := json.Unmarshal(text, &in.Options); err != nil {
			t.Fatal(err)
		}
	}
	return in
}

// repeated returns a table with its records n times, if its header is one.
func repeated(text []byte, times int) []byte {
	if len(text) < 32 {
		return text
	}
	count, start, length := int(binary.LittleEndian.Uint32(text[4:])), int(binary.LittleEndian.Uint16(text[8:])),
		int(binary.LittleEndian.Uint16(text[10:]))
	if start+count*length > len(text) {
		return text
	}
	out := slices.Concat(text[:start], bytes.Repeat(text[start:start+count*length], times))
	binary.LittleEndian.PutUint32(out[4:], uint32(count*times))
	return out
}

// TestDeviceSplits has chunks begin and end at every byte of a small table, which is cut off at
// some.
func TestDeviceSplits(t *testing.T) {
	k := readertest.Kernels(t)
	text := table{
		fields: []field{{"N", 'N', 4, 1}, {"C", 'C', 5, 0}, {"L", 'L', 1, 0}},
		records: []string{
			"  1.5ab   T", "*xxxx     ?", " -2.0 c d F", "     12345?", " ****     t",
			" 1e1     xY",
		},
	}.bytes()
	records := len(text) - int(binary.LittleEndian.Uint16(text[8:]))
	for chunk := int64(1); chunk <= int64(records/2); chunk++ {
		t.Run(fmt.Sprint(chunk), func(t *testing.T) { // a device's memory is free again afterwards
			d := readertest.DeviceOn(t, dbf.Format(), slots.Config{Plan: slots.Plan{
				ChunkBytes: chunk,
				Slots:      2, Work: 2,
			}}, k)
			for cut := range 2 {
				in := readertest.Input{
					Name: "a.dbf", Text: text[:len(text)-cut],
					Options: map[string]any{"on_error": "skip"},
				}
				readertest.Same(t, dbf.Format(), in, []int{0}, readertest.OnDevice(d))
			}
		})
	}
}

// TestDeviceSweep holds what devices make of random tables against what the CPU engine makes of
// them: tables, counts and errors, to the letter. Some have fields that devices leave alone, some
// are broken.
func TestDeviceSweep(t *testing.T) {
	list := readertest.Devices(t, dbf.Format(), deviceChunks)
	documents := int64(0)
	readertest.Sweep(t, 2000, func(seed uint64) bool {
		documents++
		r := rand.New(rand.NewPCG(seed, 14))
		in := sweepInput(r, "CNNFDL", "CNNFDLIBYTVX@+OMQG"[:15+r.IntN(2)*3], 40)
		if r.IntN(2) == 0 {
			in.Limits.BatchRows = 1 + r.IntN(30)
		}
		if r.IntN(8) == 0 {
			in.Options["memo"] = "ignore"
		}
		d := readertest.OnDevice(list[r.IntN(len(list))])
		readertest.Same(t, dbf.Format(), in, []int{0}, d)
		readertest.Projected(t, dbf.Format(), in, readertest.Some(seed), d)
		_, err := readertest.Parse(t, dbf.Format(), in)
		return err == nil
	})
	readertest.Accepted(t, list, deviceChunks, documents, 0.5)
}

// TestDeviceMutants has one mistake, at each byte. Left out or put in, a byte moves all that
// follows.
func TestDeviceMutants(t *testing.T) {
	text := longer(everyType(rand.New(rand.NewPCG(7, 3)), 2, "ab", " c "), 8)
	head, length := int(binary.LittleEndian.Uint16(text[8:])), int(binary.LittleEndian.Uint16(text[10:]))
	d := readertest.Device(t, dbf.Format(), int64(2*length))
	readertest.Mutants(t, dbf.Format(), readertest.Input{Name: "a.dbf", Text: text}, head+2*length,
		head+4*length, " *.-+1e9T\x00\xff", d)
}
