package kml_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/kml"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// deviceChunks are so small that most files are several chunks, down to some Placemarks.
var deviceChunks = []int64{500, 1200, 3000}

// TestDeviceGolden reads the files of testdata in chunks of every size, and again with their
// Placemarks ten times.
func TestDeviceGolden(t *testing.T) {
	list := readertest.Devices(t, kml.Format(), deviceChunks)
	names, err := filepath.Glob(filepath.Join("testdata", "*.kml"))
	if err != nil || len(names) < 15 {
		t.Fatalf("%d files in testdata: %v", len(names), err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts := [][]byte{text}
		if from, to := bytes.Index(text, []byte("<Placemark")),
			bytes.LastIndex(text, []byte("</Placemark>")); from >= 0 && to > from {
			to += len("</Placemark>")
			texts = append(texts, slices.Concat(text[:from], bytes.Repeat(text[from:to], 10), text[to:]))
		}
		for _, d := range list {
			for i, text := range texts {
				in := readertest.Input{
					Name: filepath.Base(name), Text: text,
					Limits: readers.Limits{BatchRows: 1 + 7*i},
				}
				readertest.Same(t, kml.Format(), in, []int{0}, readertest.OnDevice(d))
			}
		}
	}
	readertest.Accepted(t, list, deviceChunks, 50, 0.1)
}

// TestDeviceSplits has chunks begin and end at every byte of a small file.
func TestDeviceSplits(t *testing.T) {
	k := readertest.Kernels(t)
	rows := pm("<name>a &amp; b</name>", point("1.5,2")) +
		"\r\n<Placemark id=\"p\"><description><![CDATA[<Placemark>]]></description></Placemark>" +
		pm(`<ExtendedData><Data name="é"><value></value></Data></ExtendedData>`, line(" 1,2,3\n4,5 ")) + "<Placemark/>"
	text := []byte(doc(rows, rows, rows))
	for chunk := range int64(len(text) / 2) {
		if testing.Short() && chunk%80 > 0 {
			continue
		}
		t.Run(fmt.Sprint(chunk+1), func(t *testing.T) { // a device's memory is free again afterwards
			d := readertest.DeviceOn(t, kml.Format(), slots.Config{Plan: slots.Plan{
				ChunkBytes: chunk + 1,
				Slots:      2, Work: 2,
			}}, k)
			for cut := range 3 {
				readertest.Same(t, kml.Format(), readertest.Input{Name: "a.kml", Text: text[:len(text)-cut*40]},
					[]int{0}, readertest.OnDevice(d))
			}
		})
	}
}

// TestDeviceSweep holds what devices make of random files against what the CPU engine makes of
// them: tables, counts and errors, to the letter. A third of the files are those of TestSweep, of
// which half are broken; the others are ordinary, some of them with one mistake.
func TestDeviceSweep(t *testing.T) {
	documents, first := readertest.SweepRange(t, 100)
	list := readertest.Devices(t, kml.Format(), deviceChunks)
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
				tables.Add(sameOnDevice(t, list[(i+i/3)%len(list)], first+i))
			}
		})
	}
	wait.Wait()
	t.Logf("%d documents, %d of them tables", documents, tables.Load())
	readertest.Accepted(t, list, deviceChunks, int64(documents), 0.1)
}

// sameOnDevice reads the file of a seed by a device and by the CPU engine. It gives 1 if it is a
// table, else 0.
func sameOnDevice(t *testing.T, d readers.Engine, seed int) int64 {
	how, text := sweepOnDevice(uint64(seed))
	in := readertest.Input{Name: "dir/a.kml", Text: text, Options: how.options, Limits: how.limits}
	probe := &silent{TB: t}
	if readertest.Same(probe, how.format(), in, []int{0}, how.variant(readertest.OnDevice(d))); probe.failed {
		readertest.Same(t, how.format(), in, []int{0}, how.variant(readertest.OnDevice(d)))
		t.Errorf("%+v: VIBEFLIGHT_SWEEP=1 VIBEFLIGHT_SWEEP_SEED=%d reads it again", how, seed)
	}
	readertest.Projected(t, how.format(), in, readertest.Some(uint64(seed)), how.variant(readertest.OnDevice(d)))
	if _, err := readertest.Parse(t, how.format(), in); err != nil {
		if _, wrong := readertest.Place(err); wrong != nil && !errors.Is(err, readers.ErrNoLayer) {
			t.Error(wrong)
		}
		return 0
	}
	return 1
}

// sweepOnDevice returns the file of a seed.
func sweepOnDevice(seed uint64) (how readCase, text []byte) {
	if seed%3 == 0 {
		d := newSweepDocument(seed)
		return d.how, d.text
	}
	r := rand.New(rand.NewPCG(seed, 12))
	o := ordinary{Rand: r, prefix: []string{"", "", "kml:"}[r.IntN(3)], pretty: r.IntN(2) == 0, data: untyped}
	shapes := []func(*ordinary) string{
		points, lines, polygons, many(points), many(lines), many(polygons),
		many(points, lines, polygons), func(*ordinary) string { return "" },
	}
	for range 1 + r.IntN(3) {
		o.geometries = append(o.geometries, shapes[r.IntN(len(shapes))])
	}
	if r.IntN(2) == 0 {
		o.data = typed
	}
	text = o.file(1 + r.IntN(30))
	replaced := [][2]string{
		{"Palm", "&amp;"},
		{"Blvd", "\r\n"},
		{"styleUrl", "Snippet"},
		{"#s</", "s</"},
		{" & more", ""},
		{"<![CDATA[", "<![CDATA[]]><![CDATA["},
		{"\"i\"", "\"s\""},
		{"T10:00:00Z", ""},
		{"2024-03-0", "2024-0"},
		{"type=\"int\"", "type=\"bool\""},
		{"type=\"double\"", "type=\"what\""},
		{"type=\"float\"", "type=\"int\""},
		{",0 ", " "},
		{">1<", ">0<"},
		{"absolute", ""},
		{"id=\"p1", "id=\"&lt;"},
		{"0.", "."},
		{"tessellate", "extrude"},
		{"displayName", "value"},
		{"Folder", "Document"},
		{"<name>rows</name>", ""},
		{"\n", "\r\n"},
		{"outerBoundaryIs", "innerBoundaryIs"},
		{"Point>", "LineString>"},
		{"Data name=\"code\"", "Data name=\"Name\""},
	}
	for range r.IntN(3) {
		x := replaced[r.IntN(len(replaced))]
		text = bytes.ReplaceAll(text, []byte(x[0]), []byte(x[1]))
	}
	if r.IntN(3) == 0 {
		at := r.IntN(len(text))
		odd := []string{
			"<", ">", "&", "&amp;", "\"", "\x00", "\xff", "</", "/>", "]]>", "<![CDATA[",
			"<!--", "<a>", "<a/>", "</a>", "<Placemark>", "</Placemark>", ",", " ", "\n", "1", "-", "1e999",
			"é", "\xef\xbf\xbe", "<name/>", "e", "nan",
		}
		text = slices.Concat(text[:at], []byte(odd[r.IntN(len(odd))]), text[at+r.IntN(min(3, len(text)-at)):])
	}
	how.limits.BatchRows = 1 + r.IntN(50)
	if r.IntN(6) == 0 {
		how.options = map[string]any{"on_error": "skip"}
	}
	if r.IntN(10) == 0 {
		how.limits.MaxFeatureBytes = 100 + r.Int64N(1000)
	}
	if r.IntN(10) == 0 {
		how.limits.MaxDepth = 5 + r.IntN(20)
	}
	return how, text
}

// TestDeviceMutants has one mistake, at each byte.
func TestDeviceMutants(t *testing.T) {
	rows := pm("<name>a &amp; b</name>", point("1.5,2,-3e1")) + "\n" +
		pm(`<ExtendedData><Data name="é"><value>7</value></Data></ExtendedData>`, line(" 1,2,3\n4,5,6 "))
	text := []byte(doc(rows, rows, rows, rows))
	from := bytes.Index(text, []byte(rows)) + len(rows)
	from += bytes.Index(text[from:], []byte(rows))
	d := readertest.Device(t, kml.Format(), int64(len(rows)))
	readertest.Mutants(t, kml.Format(), readertest.Input{Name: "a.kml", Text: text}, from, from+len(rows),
		"<>/&;\" ,1-e\n", d)
}
