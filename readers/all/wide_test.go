package all_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// wide is a file of one record of many columns and many short ones, whose text says nothing of the
// columns that they do not have.
type wide struct {
	name               string
	options            map[string]any
	head, first, field string // field is formatted with the number of a column, twice
	behind             string // the first record
	short, tail        string
	opening, text      string // of a record after the first one, and a value that is no number
}

var wides = []wide{
	{
		name: "a.csv", options: map[string]any{"ragged": "pad", "header": "true", "geometry": "none"},
		field: "n%[1]d,", behind: "n\n", short: "7\n",
	},
	{
		name: "a.geojson", head: `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{`,
		field: `"n%d":%d,`, behind: `"n":1}}`, short: `,{"type":"Feature","geometry":null,"properties":null}`,
		tail:    "]}",
		opening: `,{"type":"Feature","geometry":null,"properties":{`, text: `"x"`,
	},
	{
		name: "a.geojsonl", head: `{"type":"Feature","geometry":null,"properties":{`,
		field: `"n%d":"%d",`, behind: `"n":1}}` + "\n", short: `{"type":"Feature","geometry":null,"properties":null}` +
			"\n",
		opening: `{"type":"Feature","geometry":null,"properties":{`, text: `"x"`,
	},
	{
		name: "a.kml", head: "<kml><Document><Placemark><ExtendedData>",
		field:  `<Data name="n%d"><value>%d</value></Data>`,
		behind: "</ExtendedData></Placemark>", short: "<Placemark/>", tail: "</Document></kml>",
		opening: "<Placemark><ExtendedData>", text: "x",
	},
	{
		name: "a.gml", head: `<c xmlns:gml="http://www.opengis.net/gml"><gml:featureMember><f>`,
		field:  "<n%d>%d</n%[1]d>",
		behind: "</f></gml:featureMember>", short: "<gml:featureMember><f/></gml:featureMember>", tail: "</c>",
		opening: "<gml:featureMember><f>", text: "x",
	},
	{
		name: "a.gpx", head: `<gpx><wpt lat="1" lon="2"><extensions>`,
		field:  "<n%d>%d</n%[1]d>",
		behind: "</extensions></wpt>", short: `<wpt lat="1" lon="2"/>`, tail: "</gpx>",
		opening: `<wpt lat="1" lon="2"><extensions>`, text: "x",
	},
}

func (w wide) input(columns, rows int, limits readers.Limits) (readers.Format, readertest.Input) {
	var text strings.Builder
	text.WriteString(w.head)
	for i := range columns {
		fmt.Fprintf(&text, w.field, i, i)
	}
	text.WriteString(w.behind)
	text.WriteString(strings.Repeat(w.short, rows))
	text.WriteString(w.tail)
	f, _ := all.Formats().ByExtension(w.name)
	return f, readertest.Input{Name: w.name, Text: []byte(text.String()), Options: w.options, Limits: limits}
}

// TestWideBatches: a batch whose cells are beyond what the parse may take is refused before they
// take it, a caller that reads.
func TestWideBatches(t *testing.T) {
	const columns, rows, memory = 8000, 60_000, 64 << 20 // 2 GB of cells
	for _, w := range wides {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s, %d workers", w.name, workers), func(t *testing.T) {
				f, in := w.input(columns, rows, readers.Limits{Workers: workers, PartBytes: 10_000, Memory: memory})
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := readertest.Parse(t, f, in)
				runtime.ReadMemStats(&after)
				if limit := (*readers.LimitError)(nil); !errors.As(err, &limit) || limit.Flag != "--memory" ||
					limit.Limit != memory {
					t.Errorf("got %v, want a limit of --memory", err)
				}
				if got, want := after.TotalAlloc-before.TotalAlloc, uint64(16*memory); got > want {
					t.Errorf("%d bytes were allocated, want at most %d", got, want)
				}
			})
		}
	}
}

// TestWideParts: parts that end early, because their rows have many columns, give the table of one
// worker, and so does one whose columns most batches do not have.
func TestWideParts(t *testing.T) {
	for _, w := range wides {
		t.Run(w.name, func(t *testing.T) {
			var want []byte
			for _, workers := range []int{1, 4} {
				f, in := w.input(1500, 9000, readers.Limits{Workers: workers, PartBytes: 2000, BatchRows: 4000})
				table, err := readertest.Parse(t, f, in)
				if err != nil {
					t.Fatal(err)
				}
				if err := readertest.Canonical(table); err != nil {
					t.Fatal(err)
				}
				got := everything(table)
				if want == nil {
					want = got
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%d workers: %d rows, and another table than one worker gives", workers, table.Rows)
				}
			}
		})
	}
}

// everything returns all slices of the attributes.
func everything(t *readers.Table) []byte {
	var b bytes.Buffer
	for _, batch := range t.Batches {
		for i := range batch.Attributes {
			c := &batch.Attributes[i]
			fmt.Fprintf(&b, "%s %v %d", c.Name, c.Type, c.Nulls)
			b.Write(c.Valid)
			b.Write(geoarrow.AsBytes(c.Offsets))
			b.Write(c.Values)
		}
	}
	return b.Bytes()
}
