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

// collection returns one of members.
func collection(members ...string) string {
	return `{"type":"GeometryCollection","geometries":[` + strings.Join(members, ",") + `]}`
}

// What collections may be, among rows of other kinds or not.
var collectionShapes = []struct {
	name   string
	shapes []string
}{
	{"point and line", []string{collection(shapeText("Point", "[1,2]"), shapeText("LineString", "[[1,2],[3,4]]"))}},
	{"empty", []string{collection()}},
	{"empty, and others", []string{
		collection(), "null", shapeText("Point", "[1,2]"),
		"{\"geometries\":[ \t],\"type\":\"GeometryCollection\"}", collection(shapeText("Point", "[1,2]")),
	}},
	{"z in a member", []string{
		collection(shapeText("Point", "[1,2,3]"), shapeText("LineString", "[[1,2],[3,4]]")),
		collection(shapeText("Point", "[1,2]")), "null",
	}},
	{"z in a row", []string{collection(shapeText("Point", "[1,2]")), shapeText("Point", "[1,2,3]"), collection()}},
	{"z in both", []string{collection(shapeText("Point", "[]"), shapeText("Point", "[1,2,3,4]"),
		shapeText("MultiPoint", "[[1,2]]")), shapeText("Point", "[1,2,3]")}},
	{"bbox", []string{`{"type":"GeometryCollection","bbox":[1,[{"a":[]}],2],"geometries":[{"bbox":[1,{"b":null}],"type":"Point","coordinates":[1,2]}]}`, shapeText("Point", "[1,2]")}},
	{"all kinds", []string{
		collection(shapeText("Polygon", "[[[0,0],[1,0],[1,1]],[]]"), shapeText("MultiPolygon",
			"[[[[0,0],[1,0],[1,1],[0,0]]],[]]"), shapeText("MultiLineString", "[[[1,2]],[]]")),
		collection(shapeText("LineString", "[]"), shapeText("LineString", "[[1,2,3]]"), shapeText("Polygon", "[]"),
			shapeText("MultiPoint", "[[1,2],[3,4]]"), shapeText("MultiPoint", "[]")),
		shapeText("Polygon", "[[[0,0],[1,0],[1,1],[0,0]]]"), shapeText("LineString", "[[1,2]]"),
		shapeText("Point", "[]"), "null", collection(),
	}},
}

// TestDeviceCollections has collections of depth 1.
func TestDeviceCollections(t *testing.T) {
	d := readertest.NewDevice(t, geojson.Format(), 2<<10)
	for _, tt := range collectionShapes {
		t.Run(tt.name, func(t *testing.T) {
			if !testing.Short() {
				geometriesAccepted(t, d, 180, inTurn(tt.shapes...))
			}
			r := rand.New(rand.NewPCG(6, 33))
			geometriesAccepted(t, d, 141, func(int) string {
				if shape := tt.shapes[r.IntN(len(tt.shapes))]; r.IntN(5) > 0 {
					return shape
				} else {
					return withBlanks(shape)
				}
			})
		})
	}
}

// Collections that the device leaves to the CPU engine, which takes some of them and says what is
// wrong with others.
func TestDeviceRefusesCollections(t *testing.T) {
	d := readertest.NewDevice(t, geojson.Format(), 2<<10)
	point := shapeText("Point", "[1,2]")
	for _, odd := range []string{
		collection(collection(point)), collection(point, ""), collection("", point), collection(point + " " + point),
		collection("null"), collection("1"), collection("[]"),
		`{"type":"GeometryCollection","geometries":{}}`, `{"type":"GeometryCollection","geometries":null}`,
		`{"type":"GeometryCollection"}`, `{"type":"Point","geometries":[],"coordinates":[1,2]}`,
		collection(shapeText("LineString", "[[]]")), collection(shapeText("Point", "[1]")), collection("{}"),
		collection(`{"type":"Point"}`), collection(`{"type":"Poin\u0074","coordinates":[1,2]}`),
		collection(`{"type":"Point","coordinates":[1,2],"type":"Point"}`),
		collection(`{"type":"Point","coordinates":[1,2],"odd":7}`), collection(shapeText("Feature", "[1,2]")),
		collection(shapeText("Point", `[1,"2"]`)), collection(`{"type":"Point","coordinates":[1,2],"bbox":[1,]}`),
		`{"type":"GeometryCollection","geometries":[],"coordinates":[1,2]}`,
	} {
		text := geometryFile(80, false, func(i int) string {
			if i == 50 {
				return odd
			}
			return []string{collection(point, point), point}[i%2]
		})
		t.Run(odd, func(t *testing.T) {
			if accepted, refused, _ := sameGeometries(t, d, "a.geojson", readers.Limits{}, text); accepted == 0 ||
				refused == 0 {
				t.Errorf("%d chunks accepted, %d refused, want some of both", accepted, refused)
			}
		})
	}
}

// Brackets that may just be open, and not.
func TestDeviceCollectionsDepth(t *testing.T) {
	d := readertest.NewDevice(t, geojson.Format(), 2<<10)
	member := shapeText("MultiPolygon", "[[[[1,2],[1,2]]]]")
	for _, shape := range []string{
		collection(member),
		// passed by the CPU engine before it is read, with the brackets of its coordinates
		`{"geometries":[` + member + `],"type":"GeometryCollection"}`,
	} {
		text := geometryFile(80, false, func(int) string { return shape })
		for depth := 3; depth < 13; depth++ {
			accepted, _, why := sameGeometries(t, d, "a.geojson", readers.Limits{MaxDepth: depth}, text)
			if want := depth >= 10; (accepted > 0) != want {
				t.Errorf("%s: %d brackets: %d chunks accepted, want some: %t; %s", shape, depth, accepted, want, why)
			}
		}
	}
}

// generatedGeometry returns one of the shapes of vibeflight gen mixed.
func generatedGeometry(r *rand.Rand, i int) string {
	position := func() string { return fmt.Sprintf("[%.6f,%.6f]", r.Float64()*350-175, r.Float64()*170-85) }
	line := func(least, most int) string {
		all := make([]string, least+r.IntN(most-least))
		for k := range all {
			all[k] = position()
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	polygon := func(most int, hole bool) string {
		first := position()
		rings := "[" + first + "," + line(3, most)[1:]
		rings = rings[:len(rings)-1] + "," + first + "]"
		if hole {
			rings += "," + rings
		}
		return "[" + rings + "]"
	}
	switch percent := r.IntN(100); {
	case percent < 30 && i%3 == 0:
		return shapeText("Point", fmt.Sprintf("[%.7f,%.7f,%.2f]", r.Float64()*350-175, r.Float64()*170-85,
			r.Float64()*100))
	case percent < 30:
		return shapeText("Point", fmt.Sprintf("[%.7g,%.7g]", r.Float64()*350-175, r.Float64()*170-85))
	case percent < 50:
		return shapeText("LineString", line(2, 30))
	case percent < 77:
		return shapeText("Polygon", polygon(15, i%4 == 0))
	case percent < 87:
		parts := make([]string, 1+r.IntN(4))
		for k := range parts {
			parts[k] = polygon(12, i%8 == 0)
		}
		return shapeText("MultiPolygon", "["+strings.Join(parts, ",")+"]")
	case percent < 89:
		return shapeText("MultiPoint", line(2, 30))
	case percent < 91:
		return shapeText("MultiLineString", "["+line(2, 10)+","+line(2, 10)+"]")
	case percent < 95:
		return collection(shapeText("Point", position()), shapeText("LineString", line(2, 3)))
	}
	return "null"
}

// TestDeviceGeneratedMixed has all kinds, as many files have them.
func TestDeviceGeneratedMixed(t *testing.T) {
	d := readertest.NewDevice(t, geojson.Format(), 32<<10)
	r := rand.New(rand.NewPCG(6, 34))
	features := 3000
	if testing.Short() {
		features = 600
	}
	geometriesAccepted(t, d, features, func(i int) string { return generatedGeometry(r, i) })
}

// TestDeviceGeometryErrors breaks files of all kinds at random bytes.
func TestDeviceGeometryErrors(t *testing.T) {
	d := readertest.NewDevice(t, geojson.Format(), 2<<10)
	r := rand.New(rand.NewPCG(6, 35))
	runs := 300
	if testing.Short() {
		runs = 25
	}
	for range runs {
		name := []string{"a.geojson", "a.geojsonl"}[r.IntN(2)]
		list := append(append(oddShapes, mixedShapes...), collectionShapes...)[r.IntN(len(oddShapes)+
			len(mixedShapes)+len(collectionShapes))].shapes
		text := []byte(geometryFile(60, name == "a.geojsonl", func(int) string { return list[r.IntN(len(list))] }))
		for range 1 + r.IntN(2) {
			text[len(text)/4+r.IntN(len(text)*3/4)] = "{}[]\",:x0 -\\\x01\xff\n1e."[r.IntN(18)]
		}
		in := readertest.Input{Name: name, Text: text}
		if r.IntN(3) == 0 {
			in.Options = map[string]any{"on_error": "skip"}
		}
		d.Same(t, in)
	}
	c := d.Counts()
	t.Logf("%d chunks accepted, %d refused", c.Chunks, c.Refused)
}
