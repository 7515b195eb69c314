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

// deviceFile returns features that begin alike, one kind of geometry, and what make gives as
// properties.
func deviceFile(r *rand.Rand, features int, sequence bool, shape func() string, properties func(i int) string) string {
	var b strings.Builder
	separator := ",\n"
	if sequence {
		separator = "\n"
	} else {
		b.WriteString(`{"type":"FeatureCollection","name":"x","features":[`)
	}
	for i := range features {
		if i > 0 {
			b.WriteString(separator)
		}
		space, id := strings.Repeat(" ", r.IntN(3)), ""
		switch {
		case features%2 == 0 && r.IntN(9) > 0:
			id = fmt.Sprintf(`,"id" : %d`, i*7-30)
		case r.IntN(9) == 0:
			id = `,"id":null`
		}
		fmt.Fprintf(&b, `{"type":"Feature","properties":{%s},%s"geometry":%s%s%s}`, properties(i), space,
			space, shape(), id)
	}
	if !sequence {
		b.WriteString("]}")
	}
	return b.String()
}

// degrees returns ordinates as files have them.
func degrees(r *rand.Rand) string {
	return fmt.Sprintf("%.*f", r.IntN(15), r.Float64()*360-180)
}

func point(r *rand.Rand) string { return "[" + degrees(r) + "," + degrees(r) + "]" }

// many returns some of what one gives, between brackets.
func many(r *rand.Rand, least int, one func() string) string {
	all := make([]string, least+r.IntN(4))
	for i := range all {
		all[i] = one()
	}
	return "[" + strings.Join(all, [...]string{",", ", ", " ,\n"}[r.IntN(3)]) + "]"
}

// shapeOf returns geometries of one kind.
func shapeOf(r *rand.Rand, kind string) func() string {
	position := func() string { return point(r) }
	line := func() string { return many(r, 0, position) }
	polygon := func() string { return many(r, 0, line) }
	coordinates := map[string]func() string{
		"Point": position, "LineString": line, "MultiPoint": line, "Polygon": polygon, "MultiLineString": polygon,
		"MultiPolygon": func() string { return many(r, 0, polygon) },
	}[kind]
	return func() string {
		if r.IntN(8) == 0 {
			return "null"
		}
		return fmt.Sprintf(`{"type":%q,"coordinates":%s}`, kind, coordinates())
	}
}

// TestDeviceAcceptsOrdinaryFiles holds the tables of the device against those of the CPU engine,
// and has it refuse nothing.
func TestDeviceAcceptsOrdinaryFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	for _, kind := range []string{"Point", "LineString", "MultiPoint", "Polygon", "MultiLineString", "MultiPolygon"} {
		for _, name := range []string{"a.geojson", "a.geojsonl"} {
			t.Run(kind+" "+name, func(t *testing.T) {
				d := readertest.NewDevice(t, geojson.Format(), 7<<10)
				words := []string{`"plain"`, `"é\u00e9 \"\\"`, `""`, "null", `"\ud83d\ude00"`}
				text := deviceFile(r, 300+len(name)%2, name == "a.geojsonl", shapeOf(r, kind), func(i int) string {
					return fmt.Sprintf(`"n":%d,"wide":%d, "f" : %g ,"b":%t,"s":%s,"none":null,"day":"2024-02-%02d","at":"2024-03-01T10:%02d:00.25Z"`,
						i-400, i*i*i*100, r.NormFloat64(), i%3 == 0, words[r.IntN(len(words))], 1+i%29, i%60)
				})
				in := readertest.Input{Name: name, Text: []byte(text), Limits: readers.Limits{BatchRows: 100}}
				d.Accepts(t, 3, in)
			})
		}
	}
}

// TestDeviceLeavesTheRest has files that the device refuses in part: the tables and errors are
// those of the CPU engine.
func TestDeviceLeavesTheRest(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	d := readertest.NewDevice(t, geojson.Format(), 3<<10)
	values := []string{
		`1`, `2.5`, `"00501"`, `true`, `"2024-02-29"`, `[1,2]`, `{"a":1}`, `null`,
		`9007199254740993`, `1e400`, `"\ud800"`, `18446744073709551615`, `-0`, `1,"n":2`,
	}
	shapes := []string{
		`{"type":"Polygon","coordinates":[[[0,0],[1,1],[0,0]]]}`, `null`,
		`{"type":"Polygon","coordinates":[[[0,0,0],[1,1,1],[0,0]]]}`,
		`{"type":"MultiPolygon","coordinates":[[[]]]}`, `{"type":"Point","coordinates":[]}`,
		`{"type":"GeometryCollection","geometries":[]}`,
	}
	runs := 60
	if testing.Short() {
		runs = 15
	}
	for run := range runs {
		few, kinds := 1+r.IntN(len(values)), 1+r.IntN(len(shapes))
		if run%3 == 0 { // until a late column comes, the device takes all of it
			few, kinds = 1, 1
		}
		name := []string{"a.geojson", "a.geojsonl"}[r.IntN(2)]
		text := deviceFile(r, 250, name == "a.geojsonl", func() string {
			return shapes[r.IntN(kinds)]
		}, func(i int) string {
			if i > 150 && r.IntN(50) == 0 {
				return `"late":1`
			}
			return fmt.Sprintf(`"n":%d,"v":%s`, i, values[r.IntN(few)])
		})
		in := readertest.Input{Name: name, Text: []byte(text), Limits: readers.Limits{BatchRows: 1 + r.IntN(300)}}
		readertest.Same(t, geojson.Format(), in, []int{0}, d.Variant(),
			readertest.First(d.Variant(), int64(len(text)*(1+run%6)/8), run%4 > 0))
	}
	c := d.Counts()
	accepted, refused, why := c.Chunks, c.Refused, c.Reason
	t.Logf("%d chunks accepted, %d refused, the last because of %s", accepted, refused, why)
	if accepted == 0 || refused == 0 {
		t.Error("want some of both")
	}
}

// TestDeviceErrors breaks files at random bytes.
func TestDeviceErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 3))
	d := readertest.NewDevice(t, geojson.Format(), 3<<10)
	runs := 300
	if testing.Short() {
		runs = 40
	}
	for range runs {
		name := []string{"a.geojson", "a.geojsonl"}[r.IntN(2)]
		text := []byte(deviceFile(r, 80, name == "a.geojsonl", shapeOf(r, "LineString"), func(i int) string {
			return fmt.Sprintf(`"n":%d,"s":"a\\\"é"`, i)
		}))
		for range 1 + r.IntN(2) {
			text[r.IntN(len(text))] = "{}[]\",:x0 -\\\x01\xff\n1e."[r.IntN(18)]
		}
		in := readertest.Input{Name: name, Text: text}
		if r.IntN(3) == 0 {
			in.Options = map[string]any{"on_error": "skip"}
		}
		d.Same(t, in)
	}
}

// TestDeviceBringsBackWhatIsAskedFor compares the bytes that come back from a device for a column
// with those for all.
func TestDeviceBringsBackWhatIsAskedFor(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 9))
	text := deviceFile(r, 401, false, shapeOf(r, "Polygon"), func(i int) string {
		return fmt.Sprintf(`"n":%d,"height":%g,"name":"Main St %d","ok":true,"tags":["a","b"],"more":{"k":[%d]},"words":"%s"`, i, r.Float64(), i, i, strings.Repeat("word ", i%30))
	})
	in := readertest.Input{Name: "a.geojson", Text: []byte(text)}
	back := readertest.BytesBack(t, geojson.Format(), in)
	all := back(nil)
	for _, column := range []string{"n", "height", "name", "ok", "tags", "more"} {
		if one := back([]string{column}); one > all/2 {
			t.Errorf("%d bytes for %s, %d for all columns", one, column, all)
		}
	}
}

// TestDeviceMutants has one mistake, at each byte.
func TestDeviceMutants(t *testing.T) {
	for _, c := range []struct{ name, head, rows, tail string }{
		{
			"a.geojson", `{"type":"FeatureCollection","features":[`,
			`{"type":"Feature","id":1,"geometry":{"type":"Polygon","coordinates":[[[0,0],[1.5,-2e0], [1,1],[0,0]]]},"properties":{"n":-7,"s":"é\n","b":true,"x":{"a":[1,null]}}},` + "\n" +
				`{"type":"Feature","id":2,"geometry":null,"properties":{"n":null,"s":"","b":false,"x":[]}},`,
			`{"type":"Feature","id":3,"geometry":null,"properties":null}]}`,
		},
		{"a.geojsonl", "", `{"type":"Feature","properties":{"n":1},"geometry":{"type":"MultiPoint","coordinates":[[1,2,3],[4,5,6]]}}` + "\n" +
			`{"type":"Feature","properties":{"n":0.5},"geometry":{"type":"Point","coordinates":[]}}` + "\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := readertest.NewDevice(t, geojson.Format(), int64(len(c.rows)))
			from := len(c.head) + len(c.rows)
			in := readertest.Input{Name: c.name, Text: []byte(c.head + strings.Repeat(c.rows, 4) + c.tail)}
			d.Mutants(t, in, from, from+len(c.rows), "{}[],:\"\\ 1-en\n\x01\xff")
		})
	}
}
