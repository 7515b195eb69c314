package gml_test

import (
	"bytes"
	"encoding/json"
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
	"github.com/vibeflight/vibeflight/readers/gml"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// deviceChunks are so small that most files are several chunks, down to a feature or two.
var deviceChunks = []int64{700, 1500, 4000}

// TestDeviceGolden reads the files of testdata, without their schemas, in chunks of every size, and
// again with their members ten times.
func TestDeviceGolden(t *testing.T) {
	list := readertest.Devices(t, gml.Format(), deviceChunks)
	names, err := filepath.Glob(filepath.Join("testdata", "*.gml"))
	if err != nil || len(names) < 12 {
		t.Fatalf("%d files in testdata: %v", len(names), err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		in := readertest.Input{Name: filepath.Base(name)}
		if options, err := os.ReadFile(strings.TrimSuffix(name, ".gml") + ".options"); err == nil {
			if err := json.Unmarshal(options, &in.Options); err != nil {
				t.Fatal(err)
			}
		}
		for _, d := range list {
			for i, text := range [][]byte{text, tenTimes(text)} {
				in.Text, in.Limits = text, readers.Limits{BatchRows: 1 + 7*i}
				readertest.Same(t, gml.Format(), in, []int{0}, readertest.OnDevice(d))
			}
		}
	}
	readertest.Accepted(t, list, deviceChunks, 40, 0.1)
}

// tenTimes returns a collection with its members ten times.
func tenTimes(text []byte) []byte {
	for _, member := range []string{"featureMember>", "member>"} {
		end := bytes.LastIndex(text, []byte(member))
		if end < 0 {
			continue
		}
		end += len(member)
		at := bytes.Index(text, []byte(member))
		from := bytes.LastIndexByte(text[:at], '<')
		return slices.Concat(text[:from], bytes.Repeat(text[from:end], 10), text[end:])
	}
	return text
}

// TestDeviceSplits has chunks begin and end at every byte of a small file.
func TestDeviceSplits(t *testing.T) {
	k := readertest.Kernels(t)
	members := `<m:member><f gml:id="f.1"><a>1</a><g><Point srsName="EPSG:4326"><pos>1 2</pos></Point></g><b>x &amp; é</b></f></m:member>` + "\r\n" +
		`<m:member><f gml:id="f.2"><a>2</a><b><![CDATA[<f>]]></b></f></m:member><m:member><f gml:id="f.3"><a/></f></m:member>`
	text := []byte("<FeatureCollection>" + strings.Repeat(members, 3) + "</FeatureCollection>")
	for chunk := range int64(len(text) / 2) {
		if testing.Short() && chunk%32 > 0 {
			continue
		}
		t.Run(fmt.Sprint(chunk+1), func(t *testing.T) { // a device's memory is free again afterwards
			d := readertest.DeviceOn(t, gml.Format(), slots.Config{Plan: slots.Plan{
				ChunkBytes: chunk + 1,
				Slots:      2, Work: 2,
			}}, k)
			for cut := range 3 {
				readertest.Same(t, gml.Format(), readertest.Input{Name: "a.gml", Text: text[:len(text)-cut*40]},
					[]int{0}, readertest.OnDevice(d))
			}
		})
	}
}

// TestDeviceSweep holds what devices make of random files against what the CPU engine makes of
// them: tables, counts and errors, to the letter. A third of the files are those of TestSweep, of
// which half are broken; the others are ordinary, some of them with one mistake.
func TestDeviceSweep(t *testing.T) {
	documents, first := readertest.SweepRange(t, 400)
	list := readertest.Devices(t, gml.Format(), deviceChunks)
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
				f, in := sweepOnDevice(uint64(first + i))
				tables.Add(sameOnDevice(t, f, in, list[i/3%len(list)], first+i))
			}
		})
	}
	wait.Wait()
	t.Logf("%d documents, %d of them tables", documents, tables.Load())
	readertest.Accepted(t, list, deviceChunks, int64(documents), 0.4)
}

// sameOnDevice reads the file of a seed by a device and by the CPU engine. It gives 1 if it is a
// table, else 0.
func sameOnDevice(t *testing.T, how readCase, in readertest.Input, d readers.Engine, seed int) int64 {
	f, silent := how.format(), &silent{TB: t}
	onDevice := how.variant(readertest.OnDevice(d))
	if readertest.Same(silent, f, in, []int{0}, onDevice); silent.failed {
		readertest.Same(t, f, in, []int{0}, onDevice)
		t.Errorf("options %v, limits %+v: VIBEFLIGHT_SWEEP=1 VIBEFLIGHT_SWEEP_SEED=%d reads it again",
			in.Options, in.Limits, seed)
	}
	readertest.Projected(t, f, in, readertest.Some(uint64(seed)), onDevice)
	if _, err := readertest.Parse(t, f, in); err != nil {
		return 0
	}
	return 1
}

// sweepOnDevice returns the file of a seed, and how it is read.
func sweepOnDevice(seed uint64) (readCase, readertest.Input) {
	if seed%3 == 0 {
		d := newSweepDocument(seed)
		return d.how, d.input()
	}
	r := rand.New(rand.NewPCG(seed, 12))
	text := deviceFile(r, 1+r.IntN(30))
	if r.IntN(2) == 0 {
		at := r.IntN(len(text))
		odd := []string{
			"<", ">", "&", "\"", "\x00", "</f>", "/>", "]]>", "<!---->", "<![CDATA[x]]>",
			"<a>", "\xff", ",", " ", "1", "-", "x", "<f>", "1e999", "9007199254740993", "&lt;", "é", "\r",
		}
		text = slices.Concat(text[:at], []byte(odd[r.IntN(len(odd))]), text[at+r.IntN(min(3, len(text)-at)):])
	}
	in := readertest.Input{
		Name: "dir/a.gml", Text: text, Limits: readers.Limits{BatchRows: 1 + r.IntN(50)},
		Options: map[string]any{},
	}
	if r.IntN(2) == 0 {
		in.Options["on_error"] = []string{"skip", "null", "repair"}[r.IntN(3)]
	}
	if r.IntN(4) == 0 {
		in.Options["axis_order"] = []string{"xy", "yx"}[r.IntN(2)]
	}
	return readCase{options: in.Options, limits: in.Limits}, in
}
