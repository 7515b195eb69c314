package csv_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// deviceChunks are so small that most files are several chunks, down to a record or two.
var deviceChunks = []int64{60, 200, 700, 2000}

// TestDeviceGolden reads the files of testdata in chunks of every size, and again with their
// records ten times.
func TestDeviceGolden(t *testing.T) {
	list := readertest.Devices(t, csv.Format(), deviceChunks)
	var names []string
	for _, ext := range csv.Format().Extensions {
		found, err := filepath.Glob(filepath.Join("testdata", "*"+ext))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	if len(names) < 50 {
		t.Fatalf("%d files in testdata", len(names))
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts := [][]byte{text}
		if head := bytes.IndexByte(text, '\n') + 1; head > 0 {
			texts = append(texts, slices.Concat(text[:head], bytes.Repeat(text[head:], 10)))
		}
		for _, d := range list {
			for i, text := range texts {
				in := readertest.Input{
					Name: filepath.Base(name), Text: text, Options: goldenOptions(t, name),
					Limits: readers.Limits{BatchRows: 1 + 7*i},
				}
				readertest.Same(t, csv.Format(), in, []int{0}, readertest.OnDevice(d))
			}
		}
	}
	readertest.Accepted(t, list, deviceChunks, 150, 0.4)
}

// TestDeviceSplits has chunks begin and end at every byte of a small file.
func TestDeviceSplits(t *testing.T) {
	k := readertest.Kernels(t)
	text := []byte("x,y,s,n\r\n1,2,\"a\r\n\"\"b\"\"\",5\r\n\r\n,,\"\",\n-0,.5,é,007\r3,4,\"1,2,\n3,4\",7\n1,1,,")
	text = slices.Concat(text, []byte("\n"), bytes.Repeat(text[9:], 2))
	for chunk := range int64(len(text) / 2) {
		if testing.Short() && chunk%4 > 0 {
			continue
		}
		t.Run(fmt.Sprint(chunk+1), func(t *testing.T) { // a device's memory is free again afterwards
			d := readertest.DeviceOn(t, csv.Format(), slots.Config{Plan: slots.Plan{
				ChunkBytes: chunk + 1,
				Slots:      2, Work: 2,
			}}, k)
			for cut := range 3 {
				readertest.Same(t, csv.Format(), readertest.Input{Name: "a.csv", Text: text[:len(text)-cut]},
					[]int{0}, readertest.OnDevice(d))
			}
		})
	}
}

// TestDeviceSweep holds what devices make of random files against what the CPU engine makes of
// them: tables, counts and errors, to the letter. Half of the files are those of TestSweep, of
// which half are broken; the others are ordinary, some of them with one mistake.
func TestDeviceSweep(t *testing.T) {
	documents, first := readertest.SweepRange(t, 2000)
	list := readertest.Devices(t, csv.Format(), deviceChunks)
	var (
		next, tables atomic.Int64
		wait         sync.WaitGroup
	)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for !t.Failed() {
				i := int(next.Add(1)) - 1
				if i >= documents {
					return
				}
				// a column of that name may not be there
				if in := sweepOnDevice(uint64(first + i)); hasOptions(t, csv.Format(), in) {
					tables.Add(sameOnDevice(t, in, list[i/2%len(list)], first+i))
				}
			}
		})
	}
	wait.Wait()
	t.Logf("%d documents, %d of them tables", documents, tables.Load())
	readertest.Accepted(t, list, deviceChunks, int64(documents), 0.4)
}

// sameOnDevice reads the file of a seed by a device and by the CPU engine. It gives 1 if it is a
// table, else 0.
func sameOnDevice(t *testing.T, in readertest.Input, d readers.Engine, seed int) int64 {
	silent := &silent{TB: t}
	if readertest.Same(silent, csv.Format(), in, []int{0}, readertest.OnDevice(d)); silent.failed {
		readertest.Same(t, csv.Format(), in, []int{0}, readertest.OnDevice(d))
		t.Errorf("options %v, limits %+v: VIBEFLIGHT_SWEEP=1 VIBEFLIGHT_SWEEP_SEED=%d reads it again",
			in.Options, in.Limits, seed)
	}
	readertest.Projected(t, csv.Format(), in, readertest.Some(uint64(seed)), readertest.OnDevice(d))
	if _, err := readertest.Parse(t, csv.Format(), in); err != nil {
		return 0
	}
	return 1
}

// sweepOnDevice returns the file of a seed.
func sweepOnDevice(seed uint64) readertest.Input {
	if seed%2 == 0 {
		d := newSweepDocument(seed)
		return readertest.Input{Name: "a.csv", Text: d.text, Options: d.options, Limits: d.limits}
	}
	r := rand.New(rand.NewPCG(seed, 12))
	delimiter := []string{",", ",", ";", "\t"}[r.IntN(4)]
	text := deviceFile(r, 1+r.IntN(40), delimiter, []string{"\n", "\r\n", "\r", "\n\n"}[r.IntN(4)])
	if r.IntN(3) == 0 {
		at := r.IntN(len(text))
		odd := []string{
			`"`, `""`, delimiter, "\n", "\r", "\x00", "\xff", "x", " ", "-", "1e999",
			"9007199254740993", "nan", "inf",
		}
		text = slices.Concat(text[:at], []byte(odd[r.IntN(len(odd))]), text[at+r.IntN(min(3, len(text)-at)):])
	}
	in := readertest.Input{
		Name: "a.csv", Text: text, Limits: readers.Limits{BatchRows: 1 + r.IntN(50)},
		Options: map[string]any{},
	}
	for _, o := range []struct {
		name  string
		value any
	}{
		{"on_error", []string{"skip", "null", "repair"}[r.IntN(3)]},
		{"ragged", "pad"},
		{"types", "string"},
		{"keep_geometry_columns", true},
		{"geometry", "none"},
		{"header", r.IntN(2) == 0},
	} {
		if r.IntN(6) == 0 {
			in.Options[o.name] = o.value
		}
	}
	return in
}

// goldenOptions are those of a file of testdata.
func goldenOptions(t *testing.T, name string) (options map[string]any) {
	t.Helper()
	text, err := os.ReadFile(strings.TrimSuffix(name, filepath.Ext(name)) + ".options")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, &options)
	}
	if err != nil {
		t.Fatal(err)
	}
	return options
}

// TestDeviceMutants has one mistake, at each byte.
func TestDeviceMutants(t *testing.T) {
	for _, c := range []struct{ name, head, rows string }{
		{
			"points", "id,name,lon,lat,v,d,b\n",
			"1,\"a \"\"b\"\", c\",1.5,-2.25,7,2024-01-02,true\r\n-2,é,,,1e3,,false\n3,\"x\n,y\",-0,.5,.25,2024-12-31,\n",
		},
		{"WKT", "a;geom\n", "1;\"POLYGON((0 0,1 0, 1 1,0 0))\"\n;POINT(1 2)\n3;\n4;MULTIPOINT((1 2),EMPTY)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := readertest.Device(t, csv.Format(), int64(len(c.rows)))
			in := readertest.Input{Name: "a.csv", Text: []byte(c.head + strings.Repeat(c.rows, 4))}
			from := len(c.head) + len(c.rows)
			readertest.Mutants(t, csv.Format(), in, from, from+len(c.rows), ",;\"\n\r 1.-e(\xff", d)
		})
	}
}
