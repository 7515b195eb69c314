package geojson_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geojson"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// decoys are values that hold what features begin with, where none begins.
var decoys = []string{
	`"},{\"type\":\"Feature\",\"geometry\":null}"`,
	`{"type":"Feature","properties":{"n":7},"geometry":null}`,
	`[{"type":"Feature","properties":{"n":7},"geometry":{"type":"Point","coordinates":[1,2]}},{"type":"Feature","properties":{},"geometry":null}]`,
	`{"features":[{"type":"Feature","properties":{"n":7},"geometry":null}]}`,
	`"]}"`, `"\\"`, `"\""`, `"{\"type\":\"Feature\",\"properties\":{\"n\":7"`, `7`, `-0.5`, `null`, `"x"`,
}

// decoyFile returns a collection whose properties, foreign members and strings look like features.
func decoyFile(r *rand.Rand, features int, sequence bool) string {
	var b strings.Builder
	separator := ",\n"
	if sequence {
		separator = "\n"
	} else {
		b.WriteString(`{"type":"FeatureCollection","note":` + decoys[1] + `,"features":[`)
	}
	for i := range features {
		if i > 0 {
			b.WriteString(separator)
		}
		fmt.Fprintf(&b, `{"type":"Feature","properties":{"n":%d,"decoy":%s},"geometry":{"type":"Point","coordinates":[%d,%g]}`, i, decoys[r.IntN(len(decoys))], i, r.NormFloat64())
		if r.IntN(4) == 0 {
			fmt.Fprintf(&b, `,"related":%s`, decoys[r.IntN(len(decoys))])
		}
		b.WriteByte('}')
	}
	if !sequence {
		b.WriteString(`],"more":` + decoys[2] + `}`)
	}
	return b.String()
}

// TestDecoys reads files in which most of what looks like a feature is none, in parts of many
// sizes.
func TestDecoys(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for _, name := range []string{"decoys.geojson", "decoys.geojsonl"} {
		for range 20 {
			in := readertest.Input{Name: name, Text: []byte(decoyFile(r, 1+r.IntN(60), name == "decoys.geojsonl"))}
			in.Limits.BatchRows = 1 + r.IntN(40)
			if r.IntN(2) == 0 {
				in.Limits.BatchBytes = 1 + r.Int64N(3000)
			}
			var sizes []int
			for range 40 {
				sizes = append(sizes, 1+r.IntN(len(in.Text)/2))
			}
			readertest.Same(t, geojson.Format(), in, sizes, parallel)
		}
	}
}

// TestLowestError breaks a file at random places: of several errors the first one counts, with any
// number of workers.
func TestLowestError(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for range 200 {
		name := []string{"broken.geojson", "broken.geojsonl"}[r.IntN(2)]
		text := []byte(decoyFile(r, 40, name == "broken.geojsonl"))
		for range 1 + r.IntN(3) {
			text[r.IntN(len(text))] = `{}[]",:x0`[r.IntN(9)]
		}
		in := readertest.Input{Name: name, Text: text}
		if r.IntN(3) == 0 {
			in.Options = map[string]any{"on_error": "skip"}
		}
		readertest.Same(t, geojson.Format(), in, []int{16 + r.IntN(200), 200 + r.IntN(1000)}, parallel)
	}
}

// TestColumnsAcrossParts has types, names and kinds change in the middle of batches and parts.
func TestColumnsAcrossParts(t *testing.T) {
	values := []string{
		`1`, `2.5`, `"00501"`, `true`, `"2024-02-29"`, `"2024-02-29T10:00:00Z"`, `[1,2]`,
		`["a"]`, `[]`, `{"a":1}`, `null`, `9007199254740993`, `1e400`, `"\ud800"`,
	}
	shapes := []string{
		`null`, `{"type":"Point","coordinates":[1,2]}`, `{"type":"MultiPoint","coordinates":[[1,2,3]]}`,
		`{"type":"LineString","coordinates":[[0,0],[1,1]]}`, `{"type":"Polygon","coordinates":[]}`,
	}
	r := rand.New(rand.NewPCG(4, 3))
	runs := 150
	if testing.Short() {
		runs = 60
	}
	for range runs {
		var rows []string
		few, kinds := 1+r.IntN(4), 1+r.IntN(len(shapes))
		for i := range 30 {
			if i%7 == 0 {
				few = 1 + r.IntN(len(values))
			}
			row := `{"type":"Feature","properties":{`
			for c := range 1 + r.IntN(3) {
				if c > 0 {
					row += ","
				}
				row += fmt.Sprintf(`"c%d":%s`, c, values[r.IntN(few)])
			}
			rows = append(rows, row+`},"geometry":`+shapes[r.IntN(kinds)]+"}")
		}
		in := readertest.Input{
			Name: "a.geojsonl", Text: []byte(strings.Join(rows, "\n")),
			Limits: readers.Limits{BatchRows: 1 + r.IntN(12)},
		}
		readertest.Same(t, geojson.Format(), in, []int{1, 90 + r.IntN(100), 200 + r.IntN(400)}, parallel)
	}
}

// TestPartsOfOddFiles reads what went wrong once when several workers read it.
func TestPartsOfOddFiles(t *testing.T) {
	skip := map[string]any{"on_error": "skip"}
	const crs = `"crs":{"type":"name","properties":{"name":"EPSG:3857"}}`
	for _, c := range []struct {
		name, file, text string
		options          map[string]any
		rows             int // of a batch
	}{
		{name: "the first row that is not skipped has the crs", file: "a.geojsonl", text: `{"type":"Feature"` +
			"\n" + `{"type":"Feature",` + crs + `}`, options: skip},
		{name: "two roots on one line after a byte order mark", file: "a.geojson", text: "\ufeff" +
			`{"type":"Feature"}{"type":"Feature"}`},
		{
			name: "an error in coordinates before their type", file: "a.geojson",
			text: `[{"type":"Feature","geometry":{"type":"LineString","coordinates":[]}},{"geometry":{"coordinates":[`,
		},
		{
			name: "an error after coordinates before their type", file: "a.geojson",
			text: `[{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[1,2]]]}},{"geometry":{"coordinates":[[`,
		},
		{
			name: "a number is rounded, then the column becomes text", file: "a.geojson", rows: 1,
			text: fc(f("null", "null"), f("null", `{"a":[72036854775805313821]}`), f("null", "{}"),
				f("null", `{"a":false}`), f("null", `{"a":"a"}`)),
		},
		{
			name: "half a surrogate is replaced, then the column becomes JSON", file: "a.geojson", rows: 1,
			text: fc(f("null", "null"), f("null", "{}"), f("null", `{"a":["\ud800"]}`), f("null", `{"a":4}`),
				f("null", "{}")),
		},
		{
			name: "half a surrogate is replaced in the second batch of a part", file: "a.geojson", rows: 2,
			text: fc(f("null", `{"a":1}`), f("null", `{"a":2}`), f("null", `{"a":["`+strings.Repeat("y", 140)+`"]}`),
				f("null", `{"a":"x"}`), f("null", `{"a":"\ud800"}`), f("null", "{}")),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := readertest.Input{
				Name: c.file, Text: []byte(c.text), Options: c.options,
				Limits: readers.Limits{BatchRows: c.rows},
			}
			readertest.Same(t, geojson.Format(), in, sizes(len(c.text)/2), parallel)
		})
	}
}

// TestSpansOfParts: the places of a table's batches do not depend on how many workers read it,
// and each follows the one before.
func TestSpansOfParts(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 100 {
		name := []string{"a.geojson", "a.geojsonl"}[r.IntN(2)]
		in := readertest.Input{
			Name: name, Text: []byte(decoyFile(r, 1+r.IntN(40), name == "a.geojsonl")),
			Limits: readers.Limits{BatchRows: 1 + r.IntN(10)},
		}
		if r.IntN(2) == 0 {
			in.Text[r.IntN(len(in.Text))] = ':'
			in.Options = map[string]any{"on_error": "skip"}
		}
		one, err := readertest.Parse(t, geojson.Format(), in)
		if err != nil {
			continue
		}
		size := 1 + r.IntN(len(in.Text)/2)
		in.Parser = func(l readers.Layout) readers.Parser { return geojson.Parallel(l, size) }
		several, err := readertest.Parse(t, geojson.Format(), in)
		if err != nil {
			t.Fatal(err)
		}
		if one.Summary.Skipped.Count > 0 { // those after the last row may be in its span or not
			several.Spans[len(several.Spans)-1].To = one.Spans[len(one.Spans)-1].To
		}
		if got, want := fmt.Sprint(several.Spans), fmt.Sprint(one.Spans); got != want {
			t.Fatalf("%s\nparts of %d bytes, batches of %d rows, %+v\ngot:  %s\nwant: %s", in.Text, size,
				in.Limits.BatchRows, one.Summary.Skipped, got, want)
		}
		for i, span := range several.Spans[1:] {
			if before := several.Spans[i]; before.To > span.From || before.Row+
				int64(several.Batches[i].Rows) != span.Row {
				t.Fatalf("%s\nparts of %d bytes: batch %d is %+v, the one before %+v", in.Text, size, i+1, span, before)
			}
		}
	}
}

// TestSkippedCRS: a sequence of two CRSs is an error, also under on_error: skip, whatever the size
// of batches and however many of its rows are skipped or read again; the crs of a row that is
// skipped is none.
func TestSkippedCRS(t *testing.T) {
	const crs = `"crs":{"type":"name","properties":{"name":"EPSG:3857"}}`
	row := func(members, value string) string {
		return `{"type":"Feature",` + members + `"properties":{"a":` + value + `}}`
	}
	for _, c := range []struct {
		name   string
		rows   []string
		offset int // of the second CRS; 0: none
	}{
		{"second row", []string{row("", "1"), row(crs+",", "2"), row("", "3")}, 64},
		{"late and read again", []string{
			row("", "1"), row("", "1"), row("", "1"), row(crs+",", "2"),
			row("", "3"), row("", `"x"`),
		}, 144},
		{"the first row is skipped", []string{
			`{"type":"Feature"`, row(crs+",", "1"), row("", "2"),
			row(crs+",", `"x"`),
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := readertest.Input{
				Name: "a.geojsonl", Text: []byte(strings.Join(c.rows, "\n")),
				Options: map[string]any{"on_error": "skip"},
			}
			for rows := 1; rows <= len(c.rows); rows++ {
				in.Limits.BatchRows = rows
				_, err := readertest.Check(t, geojson.Format(), in)
				if c.offset == 0 && err != nil || c.offset > 0 &&
					(err == nil || !strings.Contains(err.Error(), fmt.Sprintf("byte %d,", c.offset))) {
					t.Errorf("%s\nbatches of %d rows: %v, want an error at byte %d (0: none)", in.Text,
						rows, err, c.offset)
				}
				readertest.Same(t, geojson.Format(), in, sizes(len(in.Text)/2), parallel)
			}
		})
	}
}

// TestMissingComma: a member after a missing comma is no member. It must not hide the error of the
// member before, whatever the window shows of it.
func TestMissingComma(t *testing.T) {
	in := readertest.Input{Name: "a.geojson", Text: []byte(`{"type":"Feature","geometry":"""geometry":0`)}
	readertest.Same(t, geojson.Format(), in, sizes(len(in.Text)), windows)
}
