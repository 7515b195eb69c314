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

// geometryFile returns features that have nothing but geometries, which shape gives by their
// number.
func geometryFile(features int, sequence bool, shape func(i int) string) string {
	open, separator, end := `{"type":"FeatureCollection","features":[`, ",\n", "]}"
	if sequence {
		open, separator, end = "", "\n", "\n"
	}
	all := make([]string, features)
	for i := range all {
		all[i] = fmt.Sprintf(`{"type":"Feature","properties":{"n":%d},"geometry":%s}`, i, shape(i))
	}
	return open + strings.Join(all, separator) + end
}

// sameGeometries holds the device's table against the CPU engine's, and gives how many chunks the
// device read and refused.
func sameGeometries(t *testing.T, d *readertest.Device, name string, limits readers.Limits, text string) (accepted,
	refused int64, why string,
) {
	t.Helper()
	before := d.Counts()
	d.Same(t, readertest.Input{Name: name, Text: []byte(text), Limits: limits})
	c := d.Counts()
	return c.Chunks - before.Chunks, c.Refused - before.Refused, c.Reason
}

// geometriesAccepted is sameGeometries of files that the device may refuse nothing of.
func geometriesAccepted(t *testing.T, d *readertest.Device, features int, shape func(i int) string) {
	t.Helper()
	names := []string{"a.geojson", "a.geojsonl"}
	if testing.Short() {
		names = names[features%2:][:1]
	}
	for _, name := range names {
		accepted, refused, why := sameGeometries(t, d, name, readers.Limits{BatchRows: 100},
			geometryFile(features, name == "a.geojsonl", shape))
		if refused == 1 && why == "no feature that begins as those before" { // the last one, by itself
			refused = 0
		}
		if accepted < 1 || refused > 0 {
			t.Errorf("%s: %d chunks accepted, %d refused: %s", name, accepted, refused, why)
		}
	}
}

// inTurn returns geometries in turn.
func inTurn(shapes ...string) func(i int) string {
	return func(i int) string { return shapes[i%len(shapes)] }
}

// withBlanks has blanks at each place where JSON allows them.
func withBlanks(text string) string {
	for _, c := range "[]{},:" {
		text = strings.ReplaceAll(text, string(c), " \n"+string(c)+"\t ")
	}
	return text
}

func shapeText(kind, text string) string {
	return fmt.Sprintf(`{"type":%q,"coordinates":%s}`, kind, text)
}

// What one kind of geometry may have in addition to two ordinates per position.
var oddShapes = []struct {
	name   string
	shapes []string
}{
	{"points with z", []string{shapeText("Point", "[1,2,3]")}},
	{"points with and without z", []string{shapeText("Point", "[1,2]"), shapeText("Point", "[1,2,-0]"), "null"}},
	{"points of four and more ordinates", []string{
		shapeText("Point", "[1,2,3,4]"), shapeText("Point", "[1,2,3,4,5,6]"),
		shapeText("Point", "[-0.0,2]"),
	}},
	{"empty points", []string{
		shapeText("Point", "[]"), shapeText("Point", "[1,2]"),
		shapeText("Point", "[ \n]"), "null",
	}},
	{"empty points and z", []string{shapeText("Point", "[]"), shapeText("Point", "[1,2,3]"), "null"}},
	{"only empty points", []string{shapeText("Point", "[]")}},
	{"empty points and nulls", []string{shapeText("Point", "[]"), "null", "null"}},
	{"nulls", []string{"null"}},
	{"hard numbers", []string{
		shapeText("Point", "[9007199254740993.00000000000000000001,0.1]"),
		shapeText("Point", "[1.00000000000000011102230246251565404236316680908203125,1,1]"),
	}},
	{"lines with z", []string{shapeText("LineString", "[[1,2,3],[4,5,6]]")}},
	{"lines with z here and there", []string{
		shapeText("LineString", "[[1,2,3],[4,5]]"),
		shapeText("LineString", "[[1,2],[4,5]]"), shapeText("LineString", "[]"), "null",
	}},
	{"lines of no or of one position", []string{
		shapeText("LineString", "[]"), shapeText("LineString", "[[1,2]]"),
		shapeText("LineString", "[[1,2,3]]"),
	}},
	{"polygons with z", []string{
		shapeText("Polygon", "[[[0,0,1],[1,0,1],[1,1,1],[0,0,2]]]"),
		shapeText("Polygon", "[[[0,0],[1,0],[1,1],[0,1]],[]]"), shapeText("Polygon", "[]"),
	}},
	{"multis", []string{
		shapeText("MultiLineString", "[[[1,2,3,4]],[]]"), shapeText("MultiLineString", "[]"),
		shapeText("MultiLineString", "[[]]"),
	}},
	{"points of several", []string{
		shapeText("MultiPoint", "[[1,2,3],[1,2]]"), shapeText("MultiPoint", "[]"),
		shapeText("MultiPoint", "[[1,2]]"),
	}},
	{"polygons of several", []string{
		shapeText("MultiPolygon", "[[[[0,0],[1,0],[1,1,9],[0,0]]],[],[[]]]"),
		shapeText("MultiPolygon", "[]"), "null", shapeText("MultiPolygon", "[[[[1,1]]]]"),
	}},
}

// TestDeviceDimensions has geometries of one kind with more ordinates, fewer positions, and blanks.
func TestDeviceDimensions(t *testing.T) {
	d := readertest.NewDevice(t, geojson.Format(), 2<<10)
	for _, tt := range oddShapes {
		t.Run(tt.name, func(t *testing.T) {
			if !testing.Short() {
				geometriesAccepted(t, d, 180, inTurn(tt.shapes...))
			}
			r := rand.New(rand.NewPCG(6, 30))
			geometriesAccepted(t, d, 141, func(int) string {
				if shape := tt.shapes[r.IntN(len(tt.shapes))]; r.IntN(3) > 0 {
					return shape
				} else {
					return withBlanks(shape)
				}
			})
		})
	}
}

// A third ordinate that comes late, or only in the first feature: what was guessed of a chunk was
// wrong, of the length of its WKB too.
func TestDeviceLateZ(t *testing.T) {
	d := readertest.NewDevice(t, geojson.Format(), 2<<10)
	line, withZ := shapeText("LineString", "[[1,2],[4,5]]"), shapeText("LineString", "[[1,2],[4,5,6]]")
	for _, others := range [][]string{{line}, {line, shapeText("Point", "[1,2]"), "null"}} {
		for _, late := range []int{0, 1, 100, 150} {
			t.Run(fmt.Sprint(len(others), " ", late), func(t *testing.T) {
				geometriesAccepted(t, d, 151, func(i int) string {
					if i == late {
						return withZ
					}
					return others[i%len(others)]
				})
			})
		}
	}
}

// What the CPU engine refuses in each of these, it says, not the device.
func TestDeviceRefusesCoordinates(t *testing.T) {
	d := readertest.NewDevice(t, geojson.Format(), 2<<10)
	for _, bad := range []string{
		shapeText("LineString", "[[]]"), shapeText("LineString", "[[1,2],[ ]]"), shapeText("MultiPoint", "[[]]"),
		shapeText("Polygon", "[[[]]]"),
		shapeText("Point", "[1]"), shapeText("Point", "[1,2,3,]"), shapeText("Point", `[1,2,3,"4"]`),
		shapeText("Point", "[1,2,3,null]"),
		shapeText("LineString", "[[1,2],3]"), shapeText("Point", "[[1,2]]"), shapeText("Point", "[NaN,1]"),
		shapeText("Pt", "[1,2]"), shapeText("Feature", "[1,2]"),
		`{"type":"Point"}`, `{"coordinates":[1,2]}`, `{}`, `{"type":"Point","geometries":[]}`,
		`{"type":"GeometryCollection","coordinates":[]}`,
		`{"type":null,"coordinates":[1,2]}`, shapeText("Point", "null"), shapeText("Point", "{}"),
		shapeText("Point", "[1,2,1e400]"),
	} {
		good := shapeText("Point", "[1,2,3]")
		if strings.Contains(bad, "LineString") {
			good = shapeText("LineString", "[[1,2]]")
		}
		text := geometryFile(80, false, func(i int) string {
			if i == 50 {
				return bad
			}
			return good
		})
		t.Run(bad, func(t *testing.T) {
			if accepted, refused, _ := sameGeometries(t, d, "a.geojson", readers.Limits{}, text); accepted == 0 ||
				refused == 0 {
				t.Errorf("%d chunks accepted, %d refused, want some of both", accepted, refused)
			}
		})
	}
}

// What rows of several kinds may be.
var mixedShapes = []struct {
	name   string
	shapes []string
}{
	{"points", []string{
		shapeText("Point", "[1,2]"), shapeText("MultiPoint", "[[1,2],[3,4]]"), "null",
		shapeText("MultiPoint", "[]"),
	}},
	{"points, some empty", []string{
		shapeText("Point", "[]"), shapeText("Point", "[5,6]"),
		shapeText("MultiPoint", "[[1,2,3],[3,4]]"),
	}},
	{"empty points", []string{shapeText("Point", "[]"), shapeText("MultiPoint", "[]")}},
	{"lines", []string{shapeText("LineString", "[[1,2],[3,4]]"), shapeText("MultiLineString",
		"[[[1,2]],[],[[5,6],[7,8]]]"), "null"}},
	{"lines, some empty", []string{
		shapeText("LineString", "[]"), shapeText("MultiLineString", "[[]]"),
		shapeText("LineString", "[[1,2,3],[3,4]]"), shapeText("MultiLineString", "[]"),
	}},
	{"polygons", []string{shapeText("Polygon", "[[[0,0],[1,0],[1,1],[0,0]]]"), shapeText("MultiPolygon",
		"[[[[0,0],[1,0]],[]],[]]"), "null"}},
	{"polygons, some empty", []string{
		shapeText("Polygon", "[]"), shapeText("MultiPolygon", "[[],[[]]]"),
		shapeText("Polygon", "[[[0,0,1],[1,0]]]"), shapeText("MultiPolygon", "[]"), shapeText("Polygon", "[[]]"),
	}},
	{"points and lines", []string{shapeText("Point", "[1,2]"), shapeText("LineString", "[[1,2],[3,4]]")}},
	{"points and lines, one z", []string{
		shapeText("Point", "[1,2,3]"), shapeText("LineString", "[[1,2],[3,4]]"),
		"null",
	}},
	{"all kinds", []string{
		shapeText("Point", "[1,2]"), shapeText("Point", "[1,2,3]"), shapeText("Point", "[]"),
		shapeText("LineString", "[[1,2]]"), shapeText("LineString", "[[1,2,3,4],[5,6]]"),
		shapeText("Polygon", "[[[0,0],[1,0],[1,1],[0,0]],[[0,0],[1,0]]]"),
		shapeText("Polygon", "[[[0,0,5],[1,0],[1,1],[0,0]]]"), shapeText("Polygon", "[]"), "null",
		shapeText("MultiPoint", "[[1,2],[3,4]]"), shapeText("MultiPoint", "[[1,2,3],[3,4]]"),
		shapeText("MultiPoint", "[]"), shapeText("MultiLineString", "[[[1,2]],[],[[5,6],[7,8,9]]]"),
		shapeText("MultiPolygon", "[[[[0,0],[1,0]],[]],[]]"), shapeText("MultiPolygon",
			"[[[[0,0],[1,0],[1,1],[-0,0]],[[1,1,1]]],[[[5,5]]]]"), shapeText("MultiPolygon", "[]"),
	}},
}

// TestDeviceSeveralKinds has rows of several kinds, which become a Multi kind or WKB.
func TestDeviceSeveralKinds(t *testing.T) {
	d := readertest.NewDevice(t, geojson.Format(), 2<<10)
	for _, tt := range mixedShapes {
		t.Run(tt.name, func(t *testing.T) {
			if !testing.Short() {
				geometriesAccepted(t, d, 180, inTurn(tt.shapes...))
			}
			r := rand.New(rand.NewPCG(6, 31))
			geometriesAccepted(t, d, 141, func(i int) string {
				few := tt.shapes[:min(len(tt.shapes), 1+i/12)] // chunks of one kind, and of several
				if shape := few[r.IntN(len(few))]; r.IntN(5) > 0 {
					return shape
				} else {
					return withBlanks(shape)
				}
			})
		})
	}
}

// Geometries larger than a tile of WKB between small ones, and enough of them for the CPU engine to
// turn to WKB early.
func TestDeviceLargeGeometries(t *testing.T) {
	d := readertest.NewDevice(t, geojson.Format(), 256<<10)
	r := rand.New(rand.NewPCG(6, 32))
	several := func(least, most int, one func() string) func() string {
		return func() string {
			all := make([]string, least+r.IntN(most-least))
			for i := range all {
				all[i] = one()
			}
			return "[" + strings.Join(all, ",") + "]"
		}
	}
	position := func() string { return fmt.Sprintf("[%d,%d]", r.IntN(9), r.IntN(9)) }
	shapes := []func() string{
		func() string { return shapeText("Point", position()) },
		func() string { return shapeText("LineString", several(0, 4000, position)()) },
		func() string { return shapeText("MultiPoint", several(0, 2000, position)()) },
		func() string { return shapeText("MultiLineString", several(0, 300, several(0, 5, position))()) },
		func() string {
			return shapeText("MultiPolygon", several(0, 20, several(0, 9, several(0, 5, position)))())
		},
	}
	geometriesAccepted(t, d, 150, func(int) string { return shapes[r.IntN(len(shapes))]() })
}
