package kml_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/kml"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/slots"
)

// ordinary writes files as programs do.
type ordinary struct {
	*rand.Rand
	prefix     string
	pretty     bool // a tag a line
	geometries []func(*ordinary) string
	data       func(*ordinary, int) string
}

func (o *ordinary) tag(name string, content ...string) string {
	text, gap := strings.Join(content, ""), ""
	if o.pretty && strings.HasPrefix(text, "<") && !strings.HasPrefix(text, "<!") {
		gap = "\n  "
	}
	open, _, _ := strings.Cut(name, " ")
	return gap + "<" + o.prefix + name + ">" + text + gap + "</" + o.prefix + open + ">"
}

func (o *ordinary) tuples(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%.*f,%.*f", o.IntN(15), o.Float64()*360-180, 1+o.IntN(9), o.Float64()*180-90)
		if !o.pretty {
			all[i] += ",0"
		}
	}
	if o.pretty {
		return "\n\t" + strings.Join(all, "\n\t ") + "\n"
	}
	return strings.Join(all, " ")
}

func (o *ordinary) point() string { return o.tag("Point", o.tag("coordinates", o.tuples(1))) }

func (o *ordinary) line() string {
	return o.tag("LineString", o.tag("tessellate", "1"), o.tag("altitudeMode", "absolute"),
		o.tag("coordinates", o.tuples(1+o.IntN(5))))
}

func (o *ordinary) polygon() string {
	ring := func() string { return o.tag("LinearRing", o.tag("coordinates", o.tuples(3+o.IntN(4)))) }
	rings := []string{o.tag("outerBoundaryIs", ring())}
	for range o.IntN(3) {
		rings = append(rings, o.tag("innerBoundaryIs", ring()))
	}
	return o.tag("Polygon", rings...)
}

// multi returns a MultiGeometry of some members.
func (o *ordinary) multi(members ...func(*ordinary) string) string {
	all := make([]string, 1+o.IntN(4))
	for i := range all {
		all[i] = members[o.IntN(len(members))](o)
	}
	return o.tag("MultiGeometry", all...)
}

func (o *ordinary) placemark(i int) string {
	text := o.tag("name", fmt.Sprintf("Palm Blvd %d é", i)) + o.tag("styleUrl", "#s") +
		o.tag("description", "<![CDATA[<b>no. "+fmt.Sprint(i)+"</b> & more]]>")
	if o.IntN(3) == 0 {
		text += o.tag("visibility", fmt.Sprint(o.IntN(2)))
	}
	text += o.data(o, i)
	if len(o.geometries) > 0 {
		text += o.geometries[o.IntN(len(o.geometries))](o)
	}
	return o.tag(fmt.Sprintf(`Placemark id="p%d"`, i), text)
}

// untyped is Data of each Placemark.
func untyped(o *ordinary, i int) string {
	text := o.tag(`Data name="code"`, o.tag("value", fmt.Sprint(o.IntN(1e6))))
	if i%3 == 0 {
		text += o.tag(`Data name="kind"`, o.tag("displayName", "x"), o.tag("value", ""))
	}
	if i%50 == 7 {
		text += o.tag(fmt.Sprintf(`Data name="rare %d"`, i/50%10))
	}
	return o.tag("ExtendedData", text)
}

// typed is SimpleData of the schema that file writes.
func typed(o *ordinary, i int) string {
	text := o.tag(`SimpleData name="i"`, fmt.Sprint(i)) + o.tag(`SimpleData name="f"`, fmt.Sprint(o.Float64())) +
		o.tag(`SimpleData name="s"`, "text & more"[:4])
	if i%3 == 0 {
		text += o.tag(`SimpleData name="wide"`, fmt.Sprint(i*1e7))
	}
	if i%4 == 0 {
		text += o.tag(`SimpleData name="null"`, "")
	}
	return o.tag("TimeStamp", o.tag("when", fmt.Sprintf("2024-03-%02dT10:00:00Z", 1+i%30))) +
		o.tag("ExtendedData", o.tag(`SchemaData schemaUrl="#s"`, text))
}

func (o *ordinary) file(placemarks int) []byte {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<" + o.prefix +
		"kml xmlns=\"http://www.opengis.net/kml/2.2\">\n")
	field := func(name, kind string) string {
		return fmt.Sprintf(`<%sSimpleField name="%s" type="%s"/>`, o.prefix, name, kind)
	}
	content := o.tag(`Schema id="s" name="n"`, field("i", "int"), field("wide", "int"), field("f", "double"),
		field("s", "string"), field("null", "float"), field("none", "string"))
	var rows strings.Builder
	rows.WriteString(o.tag("name", "rows"))
	for i := range placemarks {
		rows.WriteString(o.placemark(i) + "\n")
	}
	b.WriteString(o.tag("Document", content+o.tag("Folder", rows.String())))
	b.WriteString("</" + o.prefix + "kml>\n")
	return []byte(b.String())
}

var (
	points   = (*ordinary).point
	lines    = (*ordinary).line
	polygons = (*ordinary).polygon
)

// many returns a MultiGeometry of some kinds.
func many(members ...func(*ordinary) string) func(*ordinary) string {
	return func(o *ordinary) string { return o.multi(members...) }
}

// TestDeviceAcceptsOrdinaryFiles holds the tables of the device against those of the CPU engine,
// and has it refuse nothing.
func TestDeviceAcceptsOrdinaryFiles(t *testing.T) {
	type shapes = []func(*ordinary) string
	for _, c := range []struct {
		name string
		file ordinary
	}{
		{"points", ordinary{geometries: shapes{points}, data: untyped}},
		{"lines, pretty", ordinary{geometries: shapes{lines}, data: untyped, pretty: true}},
		{"polygons", ordinary{geometries: shapes{polygons}, data: typed}},
		{"any kind, with prefix", ordinary{
			geometries: shapes{points, lines, polygons}, data: typed,
			prefix: "kml:", pretty: true,
		}},
		{"multipoints", ordinary{geometries: shapes{many(points)}, data: untyped}},
		{"lines and multilines", ordinary{geometries: shapes{lines, many(lines)}, data: untyped}},
		{"multipolygons", ordinary{geometries: shapes{many(polygons)}, data: untyped}},
		{"collections", ordinary{geometries: shapes{many(points, lines, polygons), points}, data: untyped}},
		{"no geometry", ordinary{data: typed}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.file.Rand = rand.New(rand.NewPCG(7, 1))
			text := c.file.file(120)
			d := readertest.NewDevice(t, kml.Format(), 9<<10)
			d.Accepts(t, 3, readertest.Input{
				Name: "a.kml", Text: text,
				Limits: readers.Limits{BatchRows: 100},
			})
		})
	}
}

// TestDeviceFaults has calls of the device fail.
func TestDeviceFaults(t *testing.T) {
	o := ordinary{
		Rand: rand.New(rand.NewPCG(7, 9)), geometries: []func(*ordinary) string{points, lines, polygons},
		data: typed,
	}
	readertest.DeviceFaults(t, kml.Format(), readertest.Input{
		Name: "a.kml", Text: o.file(150),
		Limits: readers.Limits{BatchRows: 100},
	})
}

// TestDeviceLeavesTheRest has files that devices do not read, or not all of: the tables and errors
// are those of the CPU engine.
func TestDeviceLeavesTheRest(t *testing.T) {
	k := readertest.Kernels(t)
	plain := strings.Repeat(pm("<name>a</name>", point("1.5,2"))+"\n", 30)
	for _, c := range []struct {
		name, odd string
		why       string // of a refusal; empty: of none
	}{
		{"nothing", "", ""},
		{"references", pm("<name>a &amp; &lt;b&gt;\r\n</name>"), ""},
		{"a CDATA section", pm("<name><![CDATA[a & <b> ]]]></name>"), ""},
		{"all kinds", pm(line("1,2 3,4")) + pm("<MultiGeometry>", point("1,2"), line("5,6 7,8"),
			"</MultiGeometry>"), ""},
		{"foreign elements", pm("<Style><a><b/></a></Style>", point("1,2")), ""},
		{"an empty Placemark", "<Placemark/>", ""},
		{"name twice", pm("<name>a</name><name>b</name>"), ""},
		{"two sections", pm("<name><![CDATA[a]]><![CDATA[b]]></name>"), "text that is not as XML"},
		{"a section next to text", pm("<name>a<![CDATA[b]]></name>"), "elements in a value"},
		{"text next to a section", pm("<name><![CDATA[b]]> </name>"), "elements in a value"},
		{"elements in a text", pm("<description>a<b>c</b></description>"), "elements in a value"},
		{"a character reference", pm("<name>&#65;</name>"), "a character reference"},
		{"an entity", pm("<name>&nbsp;</name>"), "a character reference"},
		{"a comment", pm("<name>a</name><!-- -->"), "one that is malformed"},
		{"a track", pm("<gx:Track><gx:coord>1 2</gx:coord></gx:Track>"), "an element that GPUs do not read"},
		{
			"an array", pm(`<ExtendedData><SchemaData><gx:SimpleArrayData name="a"/></SchemaData></ExtendedData>`),
			"an element that GPUs do not read",
		},
		{"a TimeSpan", pm("<TimeSpan><begin>2020</begin></TimeSpan>"), "an element that GPUs do not read"},
		{"two geometries", pm(point("1,2"), point("3,4")), "an element that GPUs do not read"},
		{
			"a hole first", pm("<Polygon><innerBoundaryIs>", ring("1,1 2,1 2,2 1,1"),
				"</innerBoundaryIs><outerBoundaryIs>", ring("0,0 9,0 9,9 0,0"), "</outerBoundaryIs></Polygon>"),
			"an element",
		},
		{"a flag in words", pm("<visibility>true</visibility>"), "not as most are"},
		{"a year", pm("<TimeStamp><when>2020</when></TimeStamp>"), "not as most are"},
		{"a name twice in the data", pm(`<ExtendedData><Data name="a"><value>1</value></Data><Data name="a"><value>2</value></Data></ExtendedData>`), "of one name twice"},
		{"no coordinates", pm("<Point/>"), "coordinates that are missing"},
		{"blanks around a comma", pm(point("1, 2")), "brackets"},
		{"two tuples in a Point", pm(point("1,2 3,4")), "brackets"},
		{"four numbers", pm(line("1,2,3,4 5,6,7,8")), "four numbers"},
		{"one number", pm(line("1 2")), "position"},
		{"no number", pm(point("x,2")), "a position"},
		{"wrong nesting", pm("<name>a</description>"), "elements in a value"},
		{"another container", "<Folder><name>x</name>" + pm() + "</Folder>", "something else between"},
		{"a GroundOverlay", "<GroundOverlay><name>x</name></GroundOverlay>", "something else between"},
		{"malformed", "<Placemark><name>a", "elements in a value"},
		{"an attribute twice", `<Placemark a="1" a="2"></Placemark>`, "one that is malformed"},
		{"an id that is not alone", `<Placemark id="1" a="2"></Placemark>`, "something else between"},
		{"deep elements", pm(strings.Repeat("<a>", 20) + strings.Repeat("</a>", 20)), "very many elements"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := readertest.NewDeviceOn(t, kml.Format(), slots.Config{Plan: slots.Plan{
				ChunkBytes: 1 << 10,
				Slots:      2, Work: 2,
			}}, k)
			in := readertest.Input{
				Name: "a.kml", Text: []byte(doc(plain, c.odd, plain)),
			}
			d.Refuses(t, c.why, readertest.Modes(in)[:2]...)
		})
	}
}
