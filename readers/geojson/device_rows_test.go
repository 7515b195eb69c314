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

// featureFile returns what feature gives, one after the other.
func featureFile(features int, sequence bool, feature func(i int) string) string {
	list := make([]string, features)
	for i := range list {
		list[i] = feature(i)
	}
	if sequence {
		return strings.Join(list, "\n")
	}
	return `{"type":"FeatureCollection","features":[` + strings.Join(list, " ,\n") + "]}"
}

// featureWith returns a Feature with these properties and, after a comma each, further members of
// it and of its geometry.
func featureWith(properties, members, geometry string) string {
	return fmt.Sprintf(`{"type":"Feature","properties":{%s},"geometry":{"type":"Point","coordinates":[1.5,-2]%s}%s}`,
		properties, geometry, members)
}

// seldom returns one of texts about every n-th time, from feature 100 on: none of the rows that are
// read first have it.
func seldom(i, n int, texts ...string) string {
	if i < 100 || i%n != 0 {
		return ""
	}
	return texts[i/n%len(texts)]
}

// memberTests are features whose members are not those that every feature has.
var memberTests = []struct {
	name    string
	feature func(i int) string
	refused string // why chunks are, if any is
}{
	{"bbox of features", func(i int) string {
		return featureWith(fmt.Sprintf(`"n":%d`, i), fmt.Sprintf(`,"bbox" : [1, %d ,-3.5e1 ,4]`, i), "")
	}, ""},
	{"bbox of geometries", func(i int) string {
		return featureWith(fmt.Sprintf(`"n":%d`, i), "", seldom(i, 3, `,"bbox":[1,2,3,4]`, `,"bbox":null`,
			`,"bbox":"none"`))
	}, ""},
	{"bbox of any value", func(i int) string {
		return featureWith(fmt.Sprintf(`"n":%d`, i), seldom(i, 3, `,"bbox":{"a":[{}, "]"],"b":null}`,
			`,"bbox":[]`, `,"bbox":7`, `,"bbox":[[["x"]]]`, `,"bbox":"\""`), "")
	}, ""},
	{"foreign members of features", func(i int) string {
		return featureWith(fmt.Sprintf(`"n":%d`, i),
			fmt.Sprintf(`,"source":"s%d","version" : %d,"coordinates":[[1],{}],"geometries":0`, i, i), "")
	}, ""},
	{"foreign members of some", func(i int) string {
		return featureWith(fmt.Sprintf(`"n":%d`, i), seldom(i, 7, `,"a":{"type":[1,2],"b":{}}`,
			`,"b":null,"c":[]`, `,"":""`, `,"geometri":{"type":"x","geometry":{"type":7}}`), "")
	}, ""},
	{"foreign members of geometries", func(i int) string {
		return featureWith(fmt.Sprintf(`"n":%d`, i), seldom(i, 5, `,"a":1`),
			seldom(i, 3, `,"a":1,"properties":null`, `,"geometry":"x","id":7`, `,"crs":true`))
	}, ""},
	{"foreign members that come twice", func(i int) string {
		return featureWith(fmt.Sprintf(`"n":%d`, i), seldom(i, 7, `,"a":1,"b":[2],"a":3`),
			seldom(i, 11, `,"a":1,"a":2`))
	}, ""},
	{"foreign members with properties", func(i int) string {
		return featureWith(fmt.Sprintf(`"n":%d,"a":%d`, i, i)+seldom(i, 3, `,"late":1`),
			seldom(i, 7, `,"a":1,"late":[]`), "")
	}, ""},
	{"properties named as members", func(i int) string {
		return featureWith(fmt.Sprintf(`"type":%d,"id":"x","bbox":true,"coordinates":1.5`, i)+
			seldom(i, 3, `,"geometry":1`, `,"properties":2`), seldom(i, 4, `,"id":7`), "")
	}, ""},
	{"new properties", func(i int) string {
		return featureWith(fmt.Sprintf(`"n":%d`, i)+seldom(i, 3, `,"c":1`, `,"b":2,"a":"x"`, `,"a":null`,
			`,"é":1.5`), "", "")
	}, ""},
	{"many new properties", func(i int) string {
		late := ""
		if i > 100 {
			for k := range 40 {
				late += fmt.Sprintf(`,"%s%d":%d`, strings.Repeat("k", k), i/60, i)
			}
		}
		return featureWith(fmt.Sprintf(`"n":%d`, i)+late, "", "")
	}, ""},
	{"no properties first", func(i int) string { return featureWith(seldom(i, 3, `"a":1`, `"b":"x"`), "", "") }, ""},
	{"names with escapes", func(i int) string {
		return featureWith(fmt.Sprintf(`"n\u00e4me":%d`, i)+seldom(i, 3, `,"\u006eew":1`, `,"new":2`,
			`,"\"\\\n":3`, `,"\ud800":4`, `,"\ud801":5`), seldom(i, 7, `,"f\u006f":1`, `,"fo":[1]`,
			`,"b\u0062ox":[{}]`), "")
	}, ""},
	{"names with backslashes", func(i int) string {
		return featureWith(`"a\\b":1`+seldom(i, 3, `,"a\b":"x"`, `,"a\\\\b":1.5`),
			seldom(i, 7, `,"a\b":1`, `,"a\\b":1`), "")
	}, ""},
	{"members that every feature has, with escapes", func(i int) string {
		if i%5 == 3 && i > 100 {
			return `{"type":"Feature","prop\u0065rties":{"a":7,"l\u0061te":1},"geom\u0065try":{"t\u0079pe":"Point","c\u006fordinates":[1,2]},"\u0069d":5}`
		}
		return `{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[1.5,-2]},"id":7}`
	}, ""},
	{"one name, two spellings", func(i int) string {
		return featureWith(`"a":1`+seldom(i, 60, `,"\u0061":2`), "", "")
	}, "a name that comes twice"},
	{"a name twice", func(i int) string {
		return featureWith(`"a":1`+seldom(i, 60, `,"a":2`), "", "")
	}, "a name that comes twice"},
	{"a name each", func(i int) string {
		late := ""
		if i > 100 {
			for k := range 12 {
				late += fmt.Sprintf(`,"f%d":1`, 12*i+k)
			}
		}
		return featureWith(`"a":1`, late, "")
	}, "many new names"},
	{"many columns and short rows", func(i int) string {
		properties := `"k":1`
		for k := range 1500 {
			if i == 0 {
				properties += fmt.Sprintf(`,"k%d":1`, k)
			}
		}
		return featureWith(properties, "", "")
	}, "more columns than rows have text for"},
	{"deep values", func(i int) string {
		return featureWith(`"a":1`, seldom(i, 50, `,"deep":`+strings.Repeat("[", 50)+strings.Repeat("]", 50)), "")
	}, ""},
	{"values that are too deep", func(i int) string {
		return featureWith(`"a":1`, seldom(i, 50, `,"deep":`+strings.Repeat("[", 70)+strings.Repeat("]", 70)), "")
	}, "an ignored value that is not JSON, or too deep"},
}

// TestDeviceMembers holds the tables, and the counts of foreign members, against those of the CPU
// engine.
func TestDeviceMembers(t *testing.T) {
	d := readertest.NewDevice(t, geojson.Format(), 7<<10)
	for _, tt := range memberTests {
		for _, name := range []string{"a.geojson", "a.geojsonl"} {
			t.Run(tt.name+" "+name, func(t *testing.T) { checkMembers(t, d, name, tt.feature, tt.refused) })
		}
	}
	crs := func(i int) string { return featureWith(`"n":1`, seldom(i, 20, `,"crs":null`), "") }
	checkMembers(t, d, "a.geojson", crs, "")
	checkMembers(t, d, "a.geojsonl", crs, "a Feature with a crs")
}

// checkMembers has the device read all chunks, or refuse some for a reason.
func checkMembers(t *testing.T, d *readertest.Device, name string, feature func(i int) string, refused string) {
	before := d.Counts()
	in := readertest.Input{
		Name: name, Text: []byte(featureFile(320, name == "a.geojsonl", feature)),
		Limits: readers.Limits{BatchRows: 100},
	}
	d.Same(t, in)
	c := d.Counts()
	accepted, left := c.Chunks-before.Chunks, c.Refused-before.Refused
	if refused == "" && (accepted < 2 || left > 0) || refused != "" && (left == 0 || c.Reason != refused) {
		t.Errorf("%s: %d chunks accepted, %d refused: %q, want %q", name, accepted, left, c.Reason, refused)
	}
}

// TestDeviceMembersErrors breaks files with such members at random bytes.
func TestDeviceMembersErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	d := readertest.NewDevice(t, geojson.Format(), 3<<10)
	runs := 300
	if testing.Short() {
		runs = 40
	}
	values := []string{`[1,2,{"a":[null,"x\n"]}]`, `{"b":[[],{}],"c":-1.5e3}`, `"\u00e9"`, `[{"a":{"b":{}}}]`}
	for range runs {
		name := []string{"a.geojson", "a.geojsonl"}[r.IntN(2)]
		text := []byte(featureFile(90, name == "a.geojsonl", func(i int) string {
			return featureWith(fmt.Sprintf(`"n":%d`, i), `,"bbox":[1,2]`+
				seldom(i, 1, `,"f":`+values[r.IntN(len(values))]), "")
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

// TestDeviceRandomMembers has names, spellings and values drawn at random.
func TestDeviceRandomMembers(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 4))
	d := readertest.NewDevice(t, geojson.Format(), 4<<10)
	names := []string{
		"a", `\u0061`, "b", "type", "id", "bbox", "crs", "geometries", "coordinates", "",
		`\"`, "name", `na\u006de`, "properties",
	}
	values := []string{`1`, `"x"`, `null`, `[1,[2]]`, `{"a":{"a":[]}}`, `{"type":1,"a":2}`, `true`, `[{"id":[0.5]}]`}
	some := func(n int, values []string) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, `,"%s" :%s`, names[r.IntN(len(names))], values[r.IntN(len(values))])
		}
		return b.String()
	}
	runs := 60
	if testing.Short() {
		runs = 12
	}
	for range runs {
		name, often := []string{"a.geojson", "a.geojsonl"}[r.IntN(2)], 1+r.IntN(40)
		text := featureFile(220, name == "a.geojsonl", func(int) string {
			if r.IntN(often) > 0 {
				return featureWith(`"n":1`, "", "")
			}
			return featureWith(`"n":1`+some(r.IntN(3), values[:1]), some(r.IntN(3), values),
				some(r.IntN(2), values[:3]))
		})
		in := readertest.Input{Name: name, Text: []byte(text), Limits: readers.Limits{BatchRows: 1 + r.IntN(300)}}
		d.Same(t, in)
	}
	c := d.Counts()
	t.Logf("%d chunks accepted, %d refused, the last because of %s", c.Chunks, c.Refused, c.Reason)
	if c.Chunks == 0 || c.Refused == 0 {
		t.Error("want some of both")
	}
}
