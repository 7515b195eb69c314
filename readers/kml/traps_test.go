package kml_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/geoarrow"
	"github.com/vibeflight/vibeflight/readers/kml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestTraps are the rows of the list of traps, by their numbers.
func TestTraps(t *testing.T) {
	check(t, readCase{}, []textCase{
		{
			"K1 CDATA", doc(pm("<description><![CDATA[<Point><coordinates>9,9]]></description>", point("1,2"))),
			"description: string: \"<Point><coordinates>9,9\"\ngeometry: geoarrow.point xy: POINT (1 2)",
		},
		{
			"K2 dimensions", doc(pm(point("1,2,3")), pm(point("4,5"))),
			"geometry: geoarrow.point xyz: POINT Z (1 2 3) | POINT (4 5)",
		},
		{
			"K3 blanks", doc(pm(line("\n\t1,2,0\n\t3,4,0\n"))),
			"geometry: geoarrow.linestring xyz: LINESTRING Z (1 2 0, 3 4 0)",
		},
		{
			"K4 MultiGeometry", doc(pm("<MultiGeometry>", point("1,2"), line("5,6 7,8"), "</MultiGeometry>"),
				pm(point("3,4"))),
			"geometry: geoarrow.wkb xy: GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (5 6, 7 8)) | POINT (3 4)",
		},
		{
			"K5 attribute", doc(pm(`<Point><coordinates attr="">1,2</coordinates></Point>`)),
			"geometry: geoarrow.point xy: POINT (1 2)",
		},
		{
			"K5 prefix", `<p:kml xmlns:p="x"><p:Placemark><p:Point><p:coordinates>1,2</p:coordinates></p:Point></p:Placemark></p:kml>`,
			"geometry: geoarrow.point xy: POINT (1 2)",
		},
		{
			"K6 hole first", doc(pm("<Polygon><innerBoundaryIs>", ring("1,1 2,1 2,2 1,1"),
				"</innerBoundaryIs><outerBoundaryIs>", ring("0,0 9,0 9,9 0,0"),
				"</outerBoundaryIs><innerBoundaryIs>", ring("3,3 4,3 4,4 3,3"), "</innerBoundaryIs></Polygon>")),
			"geometry: geoarrow.polygon xy: POLYGON ((0 0, 9 0, 9 9, 0 0), (1 1, 2 1, 2 2, 1 1), (3 3, 4 3, 4 4, 3 3))",
		},
		{
			"K7 blanks around commas", doc(pm(line("1, 2 3 ,4"))),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)",
		},
		{"K7 a comma too many", doc(pm(line("1,2, 3¦,4"))), "two or three numbers"},
		{
			"K8 entities", doc(pm("<name>&lt;&#65;&#x42;&amp;</name>", point("1&#44;2"))),
			"Name: string: \"<AB&\"\ngeometry: geoarrow.point xy: POINT (1 2)",
		},
		{"K8 unknown entity", doc(pm("<name>¦&nbsp;</name>")), "predefine"},
		{
			"K8 Model", doc(pm("<Model><Location><longitude>1</longitude></Location></Model><name>m</name>")),
			"Name: string: \"m\"\nforeign: \"Model\" 1",
		},
		{
			"K8 NetworkLink", doc("<NetworkLink><name>n</name></NetworkLink>", pm("<name>m</name>")),
			"Name: string: \"m\"\nlinks: 1 NetworkLink, not followed",
		},
		{
			"N7 numbers", doc(pm(point("+01.,-.5")), pm(point("-0,00.25e1"))),
			"geometry: geoarrow.point xy: POINT (1 -0.5) | POINT (-0 2.5)",
		},
		{"N5 no numbers", doc(pm(point("¦nan,1"))), "a number"},
		{"N6 no number", doc(pm(point("1,¦--1"))), "a number"},
		{"N6 two points", doc(pm(point("1.2¦.3,4"))), `want ","`},
		{"N6 hexadecimal", doc(pm(point("1,0¦x10"))), `"," or a blank`},
		{"N11 beyond float64", doc(pm(point("1,¦1e400"))), "range of float64"},
		{"J15 UTF-16", utf16le("\uFEFF" + doc(pm(point("1,2")))), "geometry: geoarrow.point xy: POINT (1 2)"},
		{"J17 cut", doc(pm("<name>a</name>"))[:120] + "¦", "found the end of the file"},
	})
}

func TestGeometry(t *testing.T) {
	check(t, readCase{}, []textCase{
		{"null", doc(pm()), ""},
		{
			"empty", doc(pm("<Point/>"), pm("<Point><coordinates/></Point>"), pm(point(" "))),
			"geometry: geoarrow.point xy: POINT EMPTY | POINT EMPTY | POINT EMPTY",
		},
		{"empty line", doc(pm(line(""))), "geometry: geoarrow.linestring xy: LINESTRING EMPTY"},
		{"empty polygon", doc(pm("<Polygon/>")), "geometry: geoarrow.polygon xy: POLYGON EMPTY"},
		{"short line", doc(pm(line("1,2"))), "geometry: geoarrow.linestring xy: LINESTRING (1 2)\nshort lines: 1"},
		{
			"ring alone", doc(pm(ring("0,0 1,0 1,1 0,0"))),
			"geometry: geoarrow.linestring xy: LINESTRING (0 0, 1 0, 1 1, 0 0)",
		},
		{
			"promoted", doc(pm(point("1,2")), pm("<MultiGeometry>", point("3,4"), point("5,6"), "</MultiGeometry>")),
			"geometry: geoarrow.multipoint xy: POINT (1 2) | MULTIPOINT ((3 4), (5 6))",
		},
		{
			"lines", doc(pm("<MultiGeometry>", line("1,2 3,4"), ring("0,0 1,0 1,1 0,0"), "</MultiGeometry>")),
			"geometry: geoarrow.multilinestring xy: MULTILINESTRING ((1 2, 3 4), (0 0, 1 0, 1 1, 0 0))",
		},
		{"no member", doc(pm("<MultiGeometry/>")), "geometry: geoarrow.wkb xy: GEOMETRYCOLLECTION EMPTY"},
		{
			"empty member", doc(pm("<MultiGeometry>", point("1,2"), "<Point/></MultiGeometry>")),
			"geometry: geoarrow.wkb xy: GEOMETRYCOLLECTION (POINT (1 2), POINT EMPTY)",
		},
		{
			"nested", doc(pm("<MultiGeometry>", point("1,2"), "<MultiGeometry>", point("3,4"),
				"</MultiGeometry></MultiGeometry>")),
			"geometry: geoarrow.wkb xy: GEOMETRYCOLLECTION (POINT (1 2), MULTIPOINT ((3 4)))",
		},
		{
			"tracks in a collection", doc(pm(
				"<MultiGeometry><gx:Track><when>2020-01-01</when><gx:coord>1 2</gx:coord></gx:Track>",
				point("1,2"), "</MultiGeometry>",
			)),
			"begin: date32: 2020-01-01\nend: date32: 2020-01-01\nwhen: list<string>: [\"2020-01-01\"]\n" +
				"geometry: geoarrow.wkb xy: GEOMETRYCOLLECTION (LINESTRING (1 2), POINT (1 2))\nshort lines: 1",
		},
		{
			"drawn", doc(pm("<LineString><extrude>1</extrude><tessellate> false "+
				"</tessellate><altitudeMode>absolute</altitudeMode><gx:drawOrder>7</gx:drawOrder>",
				"<coordinates>1,2 3,4</coordinates></LineString>")),
			"altitudeMode: string: \"absolute\"\ntessellate: int32: 0\nextrude: int32: 1\ndrawOrder: int32: " +
				"7\ngeometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)",
		},
		{
			"comments", doc(pm(line("1<!-- , -->,2 <![CDATA[3,]]>4"))),
			"geometry: geoarrow.linestring xy: LINESTRING (1 2, 3 4)",
		},
		{"fault in decoded text", doc(pm(line("¦1,2 <!-- -->x"))), "no coordinates"},
		{"fault before a reference", doc(pm(line("1,¦x&#32;"))), "a number"},
		{"malformed XML after a fault", doc(pm(line("1,¦x&nbsp;"))), "a number"},
		{"elements", doc(pm("<Point><coordinates>¦1,2<b>2</b></coordinates></Point>")), "elements in coordinates"},
		{"element for a number", doc(pm("<Point><coordinates>1,¦<b>2</b></coordinates></Point>")), "a number"},
		{"two tuples", doc(pm(point("1,2 ¦3,4"))), "one tuple"},
		{"one number", doc(pm(point("1¦"))), "a second number"},
		{"two geometries", doc(pm(point("1,2"), "¦", point("3,4"))), "a second geometry"},
		{
			"two coordinates", doc(pm("<Point><coordinates>1,2</coordinates>¦<coordinates>1,2</coordinates></Point>")),
			"already",
		},
		{"two shells", doc(pm("<Polygon><outerBoundaryIs/>¦<outerBoundaryIs/></Polygon>")), "a second outer boundary"},
		{
			"no shell", doc(pm("<Polygon><innerBoundaryIs>", ring("0,0 1,0 1,1 0,0"), "</innerBoundaryIs>¦</Polygon>")),
			"without an outer boundary",
		},
		{"first fault of a polygon", doc(pm("<Polygon><innerBoundaryIs>", ring("¦x"),
			"</innerBoundaryIs><outerBoundaryIs>", ring("y"), "</outerBoundaryIs></Polygon>")), "a number"},
		{"bad flag", doc(pm("<visibility> ¦yes</visibility>")), "0 or 1"},
		{"bad order", doc("<GroundOverlay><drawOrder>¦x</drawOrder></GroundOverlay>"), "a number"},
		{
			"track", doc(pm("<gx:Track><gx:coord>1 2 3</gx:coord><gx:coord> </gx:coord></gx:Track>")),
			"geometry: geoarrow.linestring xyz: LINESTRING Z (1 2 3, nan nan nan)",
		},
		{"bad coord", doc(pm("<gx:Track><gx:coord>1 2¦,3</gx:coord></gx:Track>")), "a blank"},
		{"coord of one", doc(pm("<gx:Track><gx:coord>1¦</gx:coord></gx:Track>")), "a second number"},
		{"coord of four", doc(pm("<gx:Track><gx:coord>1 2 3 ¦4</gx:coord></gx:Track>")), "the end of a position"},
	})
}

// TestTypes are the rows of KML in the list of types.
func TestTypes(t *testing.T) {
	schema := func(kind string, values ...string) string {
		features := []string{`<Schema id="s"><SimpleField name="f" type="` + kind + `"/></Schema>`}
		for _, v := range values {
			features = append(features, pm(`<ExtendedData><SchemaData schemaUrl="#s"><SimpleData name="f">`+
				v+`</SimpleData></SchemaData></ExtendedData>`))
		}
		return doc(features...)
	}
	data := func(values ...string) string {
		var features []string
		for _, v := range values {
			features = append(features, pm(`<ExtendedData><Data name="f"><value>`+v+`</value></Data></ExtendedData>`))
		}
		return doc(features...)
	}
	when := func(values ...string) string {
		var features []string
		for _, v := range values {
			features = append(features, pm("<TimeStamp><when>"+v+"</when></TimeStamp>"))
		}
		return doc(features...)
	}
	check(t, readCase{}, []textCase{
		{"int", schema("int", "1", " -2 ", "", "+03"), "f: int32: 1 | -2 | null | 3"},
		{"int beyond int32", schema("int", "1", "3000000000"), "f: int64: 1 | 3000000000"},
		{"int with a fraction", schema("int", "1", "1.5"), "f: float64: 1 | 1.5"},
		{"no int", schema("int", "1", "¦abc"), "a number"},
		{"uint", schema("uint", "1"), "f: int64: 1"},
		{"short", schema("ushort", "1"), "f: int32: 1"},
		{
			"float", schema("float", "1", ".5", "5.", "1e-400", "NaN", "-INF"),
			"f: float64: 1 | 0.5 | 5 | 0 | NaN 0x7ff8000000000000 | -Inf",
		},
		{"beyond float64", schema("double", "¦1e400"), "range of float64"},
		{"bool", schema("bool", "1", "0", "TRUE", "false", ""), "f: bool: true | false | true | false | null"},
		{"no bool", schema("bool", "¦yes"), "true or false"},
		{"string", schema("string", "2020-01-01", "", " 1 "), `f: string: "2020-01-01" | "" | " 1 "`},
		{"unknown type", schema("wstring", "1"), `f: string: "1"`},
		{"untyped", data("1", "2020-01-01", ""), `f: string: "1" | "2020-01-01" | ""`},
		{
			"typed and untyped", schema("int", "07", "8")[:len(schema("int", "07", "8"))-len("</Document></kml>")] +
				pm(`<ExtendedData><Data name="f"><value>x</value></Data></ExtendedData>`) + "</Document></kml>",
			`f: string mixed: "07" | "8" | "x"`,
		},
		{"days", when("2020-01-01", ""), "timestamp: date32: 2020-01-01 | null"},
		{
			"times", when("2020-01-01T00:00:00Z", "2020-01-01T01:00:00.5Z"),
			"timestamp: timestamp[ms, tz=UTC]: 2020-01-01T00:00:00 | 2020-01-01T01:00:00.5",
		},
		{"one zone", when("2020-01-01T02:00:00+02:00"), "timestamp: timestamp[ms, tz=+02:00]: 2020-01-01T00:00:00"},
		{
			"month and year", when("2020-12", "2020", "2020-01-01"),
			"timestamp: date32: null | null | 2020-01-01\ntimestamp_text: string: \"2020-12\" | \"2020\" | null",
		},
		{"no month", when("2020-13", "2020-00"), `timestamp: string: "2020-13" | "2020-00"`},
		{"no time", when("2020-01-01", "spring"), `timestamp: string: "2020-01-01" | "spring"`},
		{
			"zoned and a day", when("2020-01-01", "2020-01-01T00:00:00Z"),
			`timestamp: string: "2020-01-01" | "2020-01-01T00:00:00Z"`,
		},
		{
			"names are text", doc(pm("<name>2020-01-01</name><description>12:30</description>")),
			"Name: string: \"2020-01-01\"\ndescription: string: \"12:30\"",
		},
		{
			"the last counts", doc(pm("<name>a</name><name>b</name><visibility>0</visibility><visibility>"+
				"1</visibility><visibility/>",
				`<ExtendedData><Data name="x"><value>1</value></Data><Data name="x"><value>2</value></Data></ExtendedData>`)),
			"Name: string: \"b\"\nvisibility: int32: 1\nx: string: \"2\"",
		},
		{
			"empty is no null", doc(pm("<name/><description></description>")),
			"Name: string: \"\"\ndescription: string: \"\"",
		},
		{"no name", doc(pm("<ExtendedData>¦<Data><value>1</value></Data></ExtendedData>")), "without a name"},
		{
			"names of leading columns", doc(
				pm(`<name>n</name><ExtendedData><Data name="Name"><value>a</value></Data><Data name="Name_1"><value>b</value></Data><Data name="timestamp_text"><value>c</value></Data></ExtendedData>`),
			),
			"Name: string: \"n\"\nName_2: string: \"a\"\nName_1: string: \"b\"\ntimestamp_text: string: \"c\"",
		},
		{"snippet", doc(pm(), pm("<Snippet maxLines='1'>s</Snippet>")), `snippet: string: null | "s"`},
		{"markup", doc(pm("<description>a <b>c</b> &amp;</description>")), `description: string: "a <b>c</b> &amp;"`},
		{
			"foreign", doc(pm("<styleUrl>#a</styleUrl><Style/><address>x</address>"), pm("<styleUrl>#a</styleUrl>")),
			"foreign: \"Style\" 1, \"address\" 1, \"styleUrl\" 2",
		},
	})
	check(t, skipping, []textCase{
		{
			"skipped", doc(pm("<name>a</name>"),
				pm(`<ExtendedData><Data name="gone"><value>1</value></Data></ExtendedData><styleUrl/>`, point("x")),
				pm("<name>b</name>")),
			"Name: string: \"a\" | \"b\"\nskipped: 1 at [150]",
		},
		{"never past broken XML", doc(pm(point("¦x"), "<name>a</nam>")), "a number"},
		{"broken XML", doc(pm("<name>a¦</nam>", point("x"))), `"</name>"`},
	})
}

// TestNumbers reads ordinates of any shape, bit for bit as strconv.ParseFloat does.
func TestNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	var tuples []string
	var want []float64
	for range 2000 {
		var texts []string
		for range 3 {
			v := math.Float64frombits(r.Uint64())
			if math.IsNaN(v) || math.IsInf(v, 0) {
				v = r.NormFloat64()
			}
			if r.IntN(2) == 0 {
				v = 360*r.Float64() - 180
			}
			text := strconv.FormatFloat(v, "feg"[r.IntN(3)], r.IntN(18)-1, 64)
			if r.IntN(9) == 0 && !strings.HasPrefix(text, "-") {
				text = "+00" + text
			}
			texts = append(texts, text)
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, v)
		}
		tuples = append(tuples, strings.Join(texts, ","))
	}
	in := readertest.Input{Name: "a.kml", Text: []byte(doc(pm(line(strings.Join(tuples, " ")))))}
	table, err := readertest.Check(t, kml.Format(), in)
	if err != nil {
		t.Fatal(err)
	}
	g := table.Batches[0].Geometry
	for i, w := range want {
		got := []([]float64){g.X, g.Y, g.Z}[i%3][i/3]
		if math.Float64bits(got) != math.Float64bits(w) {
			t.Fatalf("%s, ordinate %d: got %v, want %v", tuples[i/3], i%3, got, w)
		}
	}
}

// TestSniff are the first bytes of files without a telling extension.
func TestSniff(t *testing.T) {
	for head, want := range map[string]bool{
		`<?xml version="1.0"?><kml xmlns="x">`: true, "\uFEFF<!-- a -->\n<k:kml>": true, "<gml/>": false,
		"{}": false, "": false, "<!DOCTYPE kml>": false,
	} {
		if got := kml.Format().Sniff([]byte(head)); got != want {
			t.Errorf("%q: got %v", head, got)
		}
	}
}

// TestLimits are --max-depth and --max-feature-bytes.
func TestLimits(t *testing.T) {
	deep := doc(pm(strings.Repeat("<MultiGeometry>", 50) + strings.Repeat("</MultiGeometry>", 50)))
	long := doc(pm("<name>" + strings.Repeat("x", 5000) + "</name>"))
	comment := doc(pm(), "<!--"+strings.Repeat("x", 5000)+"-->", pm())
	for _, c := range []struct {
		name, text, flag string
		limits           readers.Limits
	}{
		{"depth", deep, "--max-depth", readers.Limits{MaxDepth: 52}},
		{"enough depth", deep, "", readers.Limits{MaxDepth: 53}},
		{"bytes", long, "--max-feature-bytes", readers.Limits{MaxFeatureBytes: 5000}},
		{"bytes of a comment between rows", comment, "--max-feature-bytes", readers.Limits{MaxFeatureBytes: 5000}},
		{"enough bytes for it", comment, "", readers.Limits{MaxFeatureBytes: 5007}},
		{"enough bytes", long, "", readers.Limits{MaxFeatureBytes: 5100}},
	} {
		in := readertest.Input{Name: "a.kml", Text: []byte(c.text), Limits: c.limits}
		_, err := readertest.Parse(t, kml.Format(), in)
		if (err == nil) != (c.flag == "") || err != nil && !strings.Contains(err.Error(), c.flag) {
			t.Errorf("%s: got %v", c.name, err)
		}
		readertest.Same(t, kml.Format(), in, []int{1, 100, 1000}, windows, parallel)
	}
}

// TestFaultsAtLimits reads rows with a fault near the end of --max-feature-bytes:
// whatever the windows, it is one of the two.
func TestFaultsAtLimits(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"end tag", doc(pm("<name>a</nam>"))},
		{"tuple", doc(pm(line("1,2 3")))},
		{"decoded tuples", doc(pm(line("1,2<!-- --> 3")))},
		{"hole without a shell", doc(pm("<Polygon><innerBoundaryIs>", ring("0,0"), "</innerBoundaryIs></Polygon>"))},
		{"characters", doc(pm("<name>\xFF 12</name>"), "<!-- \xFF 12 -->")},
	} {
		for _, how := range []readCase{{}, skipping} {
			for most := range int64(len(c.text)) {
				in := readertest.Input{
					Name: "a.kml", Text: []byte(c.text), Options: how.options,
					Limits: readers.Limits{MaxFeatureBytes: most},
				}
				readertest.Same(t, kml.Format(), in, []int{1, 3, 20}, windows)
			}
		}
	}
}

// TestSkippedFault: an error after a row that was left out says nothing of that row's field.
func TestSkippedFault(t *testing.T) {
	_, err := readertest.Parse(t, kml.Format(), readertest.Input{
		Name: "a.kml",
		Text: []byte("<kml>" + pm(point("x")) + "</kmz>"), Options: skipping.options,
	})
	if at, wrong := readertest.Place(err); wrong != nil || at.Field != "" || at.Row != -1 {
		t.Errorf("got %v", err)
	}
}

// TestHoles reads polygons whose holes are anywhere among the boundaries, against a plain
// reading.
func TestHoles(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	for range 50 {
		n := 1 + r.IntN(4)
		shell := r.IntN(n)
		var text string
		var holes []string
		first := ""
		for i := range n {
			tuples, wkt := fmt.Sprintf("%d,0 %d,1 %d,2 %d,0", i, i, i, i),
				fmt.Sprintf("(%d 0, %d 1, %d 2, %d 0)", i, i, i, i)
			if i == shell {
				text += "<outerBoundaryIs>" + ring(tuples) + "</outerBoundaryIs>"
				first = wkt
				continue
			}
			text += "<innerBoundaryIs>" + ring(tuples) + "</innerBoundaryIs>"
			holes = append(holes, wkt)
		}
		table, err := readertest.Check(t, kml.Format(), readertest.Input{
			Name: "a.kml",
			Text: []byte(doc(pm("<Polygon>" + text + "</Polygon>"))),
		})
		want := "POLYGON (" + strings.Join(append([]string{first}, holes...), ", ") + ")"
		if err != nil || table.Batches[0].Geometry.Kind != geoarrow.Polygon || !strings.Contains(columns(table), want) {
			t.Fatalf("%s\ngot %s %v\nwant %s", text, columns(table), err, want)
		}
	}
}

// utf16le returns a text in UTF-16LE.
func utf16le(text string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, unit)
	}
	return string(b)
}
