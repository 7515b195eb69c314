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

// decoyFile is a collection whose properties, foreign members and strings look like features.
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

// TestDecoys reads files in which most of what looks like a feature is none, in parts of many sizes.
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

// TestLowestError breaks a file at random places: of several errors the first one counts, with any number of workers.
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
	values := []string{`1`, `2.5`, `"00501"`, `true`, `"2024-02-29"`, `"2024-02-29T10:00:00Z"`, `[1,2]`, `["a"]`, `[]`, `{"a":1}`, `null`, `9007199254740993`, `1e400`, `"\ud800"`}
	shapes := []string{`null`, `{"type":"Point","coordinates":[1,2]}`, `{"type":"MultiPoint","coordinates":[[1,2,3]]}`, `{"type":"LineString","coordinates":[[0,0],[1,1]]}`, `{"type":"Polygon","coordinates":[]}`}
	r := rand.New(rand.NewPCG(4, 3))
	for range 150 {
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
		in := readertest.Input{Name: "a.geojsonl", Text: []byte(strings.Join(rows, "\n")), Limits: readers.Limits{BatchRows: 1 + r.IntN(12)}}
		readertest.Same(t, geojson.Format(), in, []int{1, 90 + r.IntN(100), 200 + r.IntN(400)}, parallel)
	}
}
