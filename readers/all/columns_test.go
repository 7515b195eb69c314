package all_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/all"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// columnGrowth is a file each of whose rows has two values, one of a column of its own. bad is a
// malformed row.
type columnGrowth struct {
	name, head, row, between, tail, bad string
	leading                             int  // columns that every table has
	names                               bool // the place of a column too many is that of its name
}

var growings = []columnGrowth{
	{
		name: "a.geojson", head: `{"type":"FeatureCollection","features":[`,
		row:     `{"type":"Feature","geometry":null,"properties":{"n":1,"n%d":2}}`,
		between: ",", tail: "]}", bad: `{"type":"Feature","geometry":7}`, names: true,
	},
	{
		name: "a.geojsonl", row: `{"type":"Feature","geometry":null,"properties":{"n":1,"n%d":2}}`,
		between: "\n", bad: `{"type":"Feature","geometry":7}`, names: true,
	},
	{
		name: "a.kml", head: "<kml><Document>", tail: "</Document></kml>", leading: 12,
		row: `<Placemark><ExtendedData><Data name="n"><value>1</value></Data>` +
			`<Data name="n%d"><value>2</value></Data></ExtendedData></Placemark>`,
		bad: "<Placemark><Point><coordinates>x</coordinates></Point></Placemark>",
	},
	{
		name: "a.gml", head: `<c xmlns:gml="http://www.opengis.net/gml">`, tail: "</c>",
		row: "<gml:featureMember><f><g><gml:Point><gml:pos>1 " +
			"2</gml:pos></gml:Point></g><n>1</n><n%d>2</n%[1]d></f></gml:featureMember>",
		bad: "<gml:featureMember><f><gml:Point><gml:pos>x</gml:pos></gml:Point></f></gml:featureMember>",
	},
	{
		name: "a.gpx", head: "<gpx>", tail: "</gpx>", leading: 23,
		row: `<wpt lat="1" lon="2"><extensions><n>1</n><n%d>2</n%[1]d></extensions></wpt>`,
		bad: `<wpt lat="x" lon="2"/>`,
	},
}

// text returns the file with a malformed row at a number, or none if that is negative, and the
// offset at which row number at begins.
func (g columnGrowth) text(rows, bad, at int) (string, int64) {
	var b strings.Builder
	b.WriteString(g.head)
	var offset int64
	for i := range rows {
		if i > 0 {
			b.WriteString(g.between)
		}
		if i == at {
			offset = int64(b.Len())
		}
		if i == bad {
			b.WriteString(g.bad)
			continue
		}
		row := fmt.Sprintf(g.row, i)
		if i == at && g.names {
			offset += int64(strings.Index(row, fmt.Sprintf(`"n%d"`, i)))
		}
		b.WriteString(row)
	}
	b.WriteString(g.tail)
	return b.String(), offset
}

// TestMaxColumns: the row with the first column too many is named, however a file is divided,
// unless a malformed row comes first.
func TestMaxColumns(t *testing.T) {
	const rows, full = 400, 250 // full is the first row whose column is one too many
	divisions := []readers.Limits{
		{Workers: 1},
		{Workers: 1, BatchRows: 7},
		{Workers: 3, PartBytes: 2000},
		{Workers: 3, PartBytes: 900, BatchRows: 50},
		{Workers: 2, PartBytes: 17_000},
	}
	for _, g := range growings {
		f, _ := all.Formats().ByExtension(g.name)
		for i, limits := range divisions {
			for _, mode := range []string{"fail", "skip", "null"} {
				for _, bad := range []int{-1, full - 1, full + 1} {
					if mode != "fail" && bad >= 0 {
						continue
					}
					t.Run(fmt.Sprintf("%s/%d/%s/%d", g.name, i, mode, bad), func(t *testing.T) {
						missing := 0
						if bad == full-1 {
							missing = 1
						}
						limits := limits
						limits.MaxColumns = g.leading + 1 + full - missing
						text, offset := g.text(rows, bad, full)
						in := readertest.Input{
							Name: g.name, Text: []byte(text), Limits: limits,
							Options: map[string]any{"on_error": mode},
						}
						_, err := readertest.Parse(t, f, in)
						limit, place := (*readers.LimitError)(nil), (*readers.ParseError)(nil)
						if !errors.As(err, &place) {
							t.Fatalf("got %v, want a place", err)
						}
						if isLimit := errors.As(err, &limit); isLimit == (bad == full-1) {
							t.Fatalf("got %v, with row %d malformed", err, bad)
						}
						if bad == full-1 {
							return
						}
						if limit.Flag != "--max-columns" || limit.Limit != int64(limits.MaxColumns) {
							t.Errorf("got %v, want a limit of --max-columns", err)
						}
						if place.Row != full {
							t.Errorf("got row %d, want %d: %v", place.Row, full, err)
						}
						if g.names && place.Offset != offset {
							t.Errorf("got byte %d, want %d: %v", place.Offset, offset, err)
						}
						in.Limits.MaxColumns = g.leading + 1 + rows
						if bad >= 0 {
							return
						}
						if _, err := readertest.Parse(t, f, in); err != nil {
							t.Errorf("with enough columns: %v", err)
						}
					})
				}
			}
		}
	}
}

// TestMaxColumnsOfHeader: a header of too many columns is refused as such.
func TestMaxColumnsOfHeader(t *testing.T) {
	f, _ := all.Formats().ByExtension("a.csv")
	in := readertest.Input{
		Name: "a.csv", Text: []byte("a,b,c\n1,2,3\n"), Limits: readers.Limits{MaxColumns: 2},
	}
	const want = "a.csv: header of 3 columns: the number of columns is beyond the limit 2 of --max-columns"
	if _, err := readertest.Parse(t, f, in); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	in.Limits.MaxColumns = 3
	if _, err := readertest.Parse(t, f, in); err != nil {
		t.Error(err)
	}
}

// TestMaxColumnsOnDevice: the GPU engine gives the error of the CPU engine.
func TestMaxColumnsOnDevice(t *testing.T) {
	for _, g := range growings {
		t.Run(g.name, func(t *testing.T) {
			f, _ := all.Formats().ByExtension(g.name)
			if f.GPU == nil {
				return
			}
			d := readertest.NewDevice(t, f, 3<<10)
			const rows, full = 300, 200
			same := strings.Replace(g.row, "n%d", "m", 1)
			same = strings.Replace(same, "n%[1]d", "m", 1)
			var b strings.Builder
			b.WriteString(g.head)
			for i := range rows {
				if i > 0 {
					b.WriteString(g.between)
				}
				if i < full || i > full+5 {
					b.WriteString(same)
				} else {
					fmt.Fprintf(&b, g.row, i)
				}
			}
			b.WriteString(g.tail)
			in := readertest.Input{Name: g.name, Text: []byte(b.String())}
			in.Limits = readers.Limits{MaxColumns: g.leading + 2 + 3, BatchRows: 90}
			_, err := readertest.Parse(t, f, in)
			if place := (*readers.ParseError)(nil); !errors.As(err, &place) || place.Row != full+3 {
				t.Fatalf("got %v, want row %d", err, full+3)
			}
			d.Same(t, in)
			if c := d.Counts(); c.Chunks == 0 {
				t.Errorf("the device read no chunk: %s", c.Reason)
			}
		})
	}
}
