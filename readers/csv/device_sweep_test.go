package csv_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/csv"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// devices are engines with chunks so small that most files are several chunks, down to a record or
// two.
func devices(t *testing.T) readertest.Devices {
	return readertest.NewDevices(t, csv.Format(), 60, 200, 700, 2000)
}

// TestDeviceGolden reads the files of testdata as they are, and with their records ten times.
func TestDeviceGolden(t *testing.T) {
	list := devices(t)
	list.Golden(t, func(in readertest.Input) []readertest.Input {
		in.Limits.BatchRows = 1
		longer := in
		longer.Limits.BatchRows = 8
		head := bytes.IndexByte(in.Text, '\n') + 1
		if head == 0 {
			return []readertest.Input{in}
		}
		longer.Text = slices.Concat(in.Text[:head], bytes.Repeat(in.Text[head:], 10))
		return []readertest.Input{in, longer}
	})
	list.Accepted(t, 150, 0.4)
}

// TestDeviceSplits has chunks begin and end at every byte of a small file.
func TestDeviceSplits(t *testing.T) {
	text := []byte("x,y,s,n\r\n1,2,\"a\r\n\"\"b\"\"\",5\r\n\r\n,,\"\",\n-0,.5,é,007\r3,4,\"1,2,\n3,4\",7\n1,1,,")
	text = slices.Concat(text, []byte("\n"), bytes.Repeat(text[9:], 2))
	readertest.DeviceSplits(t, csv.Format(), readertest.Input{Name: "a.csv", Text: text}, 4, 1, 2)
}

// TestDeviceSweep reads the files of TestSweep, of which half are invalid. As many are ordinary,
// some of them with one mistake.
func TestDeviceSweep(t *testing.T) {
	readertest.Sweep{Format: csv.Format(), Documents: 2000, Document: sweepOnDevice}.Device(t, devices(t), 1, 0.4)
}

// sweepOnDevice returns the file of a seed.
func sweepOnDevice(seed uint64) readertest.Input {
	if seed%2 == 0 {
		return newSweepDocument(seed)
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
			d := readertest.NewDevice(t, csv.Format(), int64(len(c.rows)))
			in := readertest.Input{Name: "a.csv", Text: []byte(c.head + strings.Repeat(c.rows, 4))}
			from := len(c.head) + len(c.rows)
			d.Mutants(t, in, from, from+len(c.rows), ",;\"\n\r 1.-e(\xff")
		})
	}
}
