package gml_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/gml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// devices are engines with chunks so small that most files are several chunks, down to a feature or
// two.
func devices(t *testing.T) readertest.Devices {
	return readertest.NewDevices(t, gml.Format(), 700, 1500, 4000)
}

// TestDeviceGolden reads the files of testdata as they are and without their schemas, the latter
// with their members ten times too.
func TestDeviceGolden(t *testing.T) {
	list := devices(t)
	list.Golden(t, func(in readertest.Input) []readertest.Input {
		in.Limits.BatchRows = 1
		alone := in
		alone.Siblings = nil
		longer := alone
		longer.Text, longer.Limits.BatchRows = tenTimes(in.Text), 8
		if len(in.Siblings) == 0 {
			return []readertest.Input{in, longer}
		}
		return []readertest.Input{in, alone, longer}
	})
	list.Accepted(t, 40, 0.1)
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
	members := `<m:member><f gml:id="f.1"><a>1</a><g><Point srsName="EPSG:4326"><pos>1 2</pos></Point></g><b>x &amp; é</b></f></m:member>` + "\r\n" +
		`<m:member><f gml:id="f.2"><a>2</a><b><![CDATA[<f>]]></b></f></m:member><m:member><f gml:id="f.3"><a/></f></m:member>`
	text := []byte("<FeatureCollection>" + strings.Repeat(members, 3) + "</FeatureCollection>")
	readertest.DeviceSplits(t, gml.Format(), readertest.Input{Name: "a.gml", Text: text}, 32, 40, 80)
}

// TestDeviceSweep reads the files of TestSweep, of which half are invalid. Twice as many are
// ordinary, some of them with one mistake.
func TestDeviceSweep(t *testing.T) {
	readertest.Sweep{Format: gml.Format(), Documents: 400, Document: sweepOnDevice}.Device(t, devices(t), 1, 0.4)
}

// sweepOnDevice is the file of a seed.
func sweepOnDevice(seed uint64) readertest.Input {
	if seed%3 == 0 {
		return newSweepDocument(seed)
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
	return in
}
