package kml_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/kml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// devices are engines with chunks so small that most files are several chunks, down to some
// Placemarks.
func devices(t *testing.T) readertest.Devices {
	return readertest.NewDevices(t, kml.Format(), 500, 1200, 3000)
}

// TestDeviceGolden reads the files of testdata as they are, and with their Placemarks ten times.
func TestDeviceGolden(t *testing.T) {
	list := devices(t)
	list.Golden(t, func(in readertest.Input) []readertest.Input {
		in.Limits.BatchRows = 1
		longer := in
		longer.Limits.BatchRows = 8
		from, to := bytes.Index(in.Text, []byte("<Placemark")), bytes.LastIndex(in.Text, []byte("</Placemark>"))
		if from < 0 || to < from {
			return []readertest.Input{in}
		}
		to += len("</Placemark>")
		longer.Text = slices.Concat(in.Text[:from], bytes.Repeat(in.Text[from:to], 10), in.Text[to:])
		return []readertest.Input{in, longer}
	})
	list.Accepted(t, 50, 0.1)
}

// TestDeviceSplits has chunks begin and end at every byte of a small file.
func TestDeviceSplits(t *testing.T) {
	rows := pm("<name>a &amp; b</name>", point("1.5,2")) +
		"\r\n<Placemark id=\"p\"><description><![CDATA[<Placemark>]]></description></Placemark>" +
		pm(`<ExtendedData><Data name="é"><value></value></Data></ExtendedData>`, line(" 1,2,3\n4,5 ")) + "<Placemark/>"
	in := readertest.Input{Name: "a.kml", Text: []byte(doc(rows, rows, rows))}
	readertest.DeviceSplits(t, kml.Format(), in, 80, 40, 80)
}

// TestDeviceSweep reads the files of TestSweep, of which half are invalid. Twice as many are
// ordinary, some of them with one mistake.
func TestDeviceSweep(t *testing.T) {
	readertest.Sweep{Format: kml.Format(), Documents: 100, Document: sweepOnDevice}.Device(t, devices(t), 1, 0.1)
}

// sweepOnDevice is the file of a seed.
func sweepOnDevice(seed uint64) readertest.Input {
	if seed%3 == 0 {
		return newSweepDocument(seed)
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
	text := o.file(1 + r.IntN(30))
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
	in := readertest.Input{Name: "dir/a.kml", Text: text, Limits: readers.Limits{BatchRows: 1 + r.IntN(50)}}
	if r.IntN(6) == 0 {
		in.Options = map[string]any{"on_error": "skip"}
	}
	if r.IntN(10) == 0 {
		in.Limits.MaxFeatureBytes = 100 + r.Int64N(1000)
	}
	if r.IntN(10) == 0 {
		in.Limits.MaxDepth = 5 + r.IntN(20)
	}
	return in
}

// TestDeviceMutants has one mistake, at each byte.
func TestDeviceMutants(t *testing.T) {
	rows := pm("<name>a &amp; b</name>", point("1.5,2,-3e1")) + "\n" +
		pm(`<ExtendedData><Data name="é"><value>7</value></Data></ExtendedData>`, line(" 1,2,3\n4,5,6 "))
	text := []byte(doc(rows, rows, rows, rows))
	from := bytes.Index(text, []byte(rows)) + len(rows)
	from += bytes.Index(text[from:], []byte(rows))
	d := readertest.NewDevice(t, kml.Format(), int64(len(rows)))
	d.Mutants(t, readertest.Input{Name: "a.kml", Text: text}, from, from+len(rows), "<>/&;\" ,1-e\n")
}
