package kml_test

import (
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
	kjson "github.com/vibeflight/vibeflight/kernels/json"
	kkml "github.com/vibeflight/vibeflight/kernels/kml"
	kxml "github.com/vibeflight/vibeflight/kernels/xml"
)

// kmlKey is the text by which a tag is looked up, as KMLKeys has it.
func kmlKey(tag string) string {
	name, id, _ := strings.Cut(tag, " ")
	if value, ok := strings.CutPrefix(id, `id="`); ok && len(name) < 64 && len(tag)-len(name) < 256 &&
		strings.HasSuffix(value, `"`) {
		if value = value[:len(value)-1]; !strings.ContainsAny(value, "\"&\t\r\n") {
			return name + ` id="`
		}
	}
	return tag
}

// kmlElements are the elements of the tests. Data of the name "n" is column KMLColumns, "i" the one
// after, a number.
var kmlElements = map[string]kkml.KMLElement{
	"Placemark": kkml.KMLPlacemark, "name": kkml.KMLName, "description": kkml.KMLDescription,
	"visibility": kkml.KMLVisibility, "TimeStamp": kkml.KMLTimeStamp,
	"when": kkml.KMLWhen, "ExtendedData": kkml.KMLExtendedData, "Data": kkml.KMLData,
	"value": kkml.KMLValue, "SchemaData": kkml.KMLSchemaData,
	"SimpleData": kkml.KMLSimpleData, "Point": kkml.KMLPoint, "LineString": kkml.KMLLineString,
	"LinearRing": kkml.KMLLinearRing, "Polygon": kkml.KMLPolygon,
	"MultiGeometry": kkml.KMLMultiGeometry, "outerBoundaryIs": kkml.KMLOuterBoundary,
	"innerBoundaryIs": kkml.KMLInnerBoundary, "coordinates": kkml.KMLCoordinates,
	"altitudeMode": kkml.KMLAltitudeMode, "tessellate": kkml.KMLTessellate, "Track": kkml.KMLRefused,
}

// kmlTags makes a dictionary of the keys of a text.
func kmlTags(keys []string) (texts []string, tags []kkml.KMLTag, locals []string) {
	number := map[string]uint16{}
	for _, key := range keys {
		if slices.Contains(texts, key) {
			continue
		}
		name, attributes, _ := strings.Cut(strings.Trim(key, "/"), " ")
		n, known := number[name]
		if !known {
			n = uint16(len(number))
			number[name] = n
			locals = append(locals, name)
		}
		t := kkml.KMLTag{
			End: key[0] == '/', Empty: strings.HasSuffix(key, "/"),
			OpenID: strings.HasSuffix(key, ` id="`), Element: kmlElements[name], Local: n, Name: n,
		}
		switch attributes {
		case `name="n"`:
			t.Column = kkml.KMLColumns
		case `name="i"`:
			t.Column = kkml.KMLColumns + 1
		case "schema":
			t.Column = kkml.KMLColumns + 2
		}
		texts, tags = append(texts, key), append(tags, t)
	}
	return texts, tags, locals
}

const kmlNumbers = uint64(1<<kkml.KMLColumnVisibility | 1<<kkml.KMLColumnTessellate | 1<<(kkml.KMLColumns+1))

// readKML reads a text on the device: its lines, and its cells column by column, with "-" for none;
// or what is odd.
func readKML(r *kerneltest.Rig, text string) (lines string, cells [][]string, foreign map[string]uint32,
	odd kkml.KMLOdd,
) {
	r.Helper()
	dev := kerneltest.Upload(r, []byte(text))
	x, err := kxml.AllocXML(r.Set, r.Stream, dev)
	r.OK(err)
	r.Cleanup(func() { r.OK(x.Free(r.Stream)) })
	if x.Fault >= 0 {
		r.Fatalf("%q: fault at byte %d", text, x.Fault)
	}
	starts, ends := kerneltest.Read(r, x.Starts), kerneltest.Read(r, x.Ends)
	from, to := kerneltest.Poisoned[int64](r, x.Tags), kerneltest.Poisoned[int64](r, x.Tags)
	r.OK(kkml.KMLKeys(r.Set, r.Stream, dev, x.Starts, x.Ends, from, to))
	keys := make([]string, x.Tags)
	for i, end := range kerneltest.Read(r, to) {
		keys[i] = text[starts[i]+1 : end]
		if want := kmlKey(text[starts[i]+1 : ends[i]]); keys[i] != want {
			r.Fatalf("%q: got key %q, want %q", text, keys[i], want)
		}
	}
	texts, tags, locals := kmlTags(keys)
	fields, err := kjson.AllocFields(r.Stream, texts)
	r.OK(err)
	r.Cleanup(func() { r.OK(fields.Free(r.Stream)) })
	table, err := kkml.AllocKMLTags(r.Stream, tags)
	r.OK(err)
	r.Cleanup(func() { kerneltest.Freed(r, table) })
	source := kkml.KMLSource{
		Text: dev, XML: x, KeyEnds: to, Fields: kerneltest.Poisoned[int32](r, x.Tags),
		Table: table, Numbers: kmlNumbers,
	}
	r.OK(kjson.MatchKeys(r.Set, r.Stream, dev, from, to, fields, source.Fields))
	source.Rows, err = kkml.AllocKMLRows(r.Set, r.Stream, source.Fields, table)
	r.OK(err)
	r.Cleanup(func() { kerneltest.Freed(r, source.Rows) })
	rows := source.Rows.Len()
	counts := kkml.KMLCounts{
		Pieces: kerneltest.Poisoned[int64](r, rows+1), Mixed: kerneltest.Poisoned[uint64](r, kernels.Words(rows)),
		First:   kerneltest.Poisoned[uint32](r, kkml.MaxKMLColumns),
		Foreign: kerneltest.Poisoned[uint32](r, len(locals)), Odd: kerneltest.Poisoned[uint32](r, 1),
	}
	r.OK(kkml.CountKML(r.Set, r.Stream, &source, counts))
	if odd = kkml.KMLOdd(kerneltest.Read(r, counts.Odd)[0]); odd != 0 {
		return "", nil, nil, odd
	}
	foreign = map[string]uint32{}
	for i, n := range kerneltest.Read(r, counts.Foreign) {
		if n > 0 {
			foreign[locals[i]] = n
		}
	}
	lines, cells, odd = writeKML(r, text, &source, counts)
	return lines, cells, foreign, odd
}

// writeKML writes what was counted.
func writeKML(r *kerneltest.Rig, text string, source *kkml.KMLSource, counts kkml.KMLCounts) (lines string,
	cells [][]string, odd kkml.KMLOdd,
) {
	r.Helper()
	rows := source.Rows.Len()
	to := kkml.KMLCells{}
	for c, tag := range kerneltest.Read(r, counts.First) {
		if tag != math.MaxUint32 && c != kkml.KMLColumns+2 {
			to.Used |= 1 << c
		}
	}
	columns, pieces := bits.OnesCount64(to.Used), int(kerneltest.Read(r, counts.Pieces)[rows])
	to.From, to.To, to.Valid = kerneltest.Poisoned[int64](r, columns*rows), kerneltest.Poisoned[int64](r, columns*rows),
		kerneltest.Poisoned[uint64](r, columns*kernels.Words(rows))
	to.Pieces, to.Offsets = kerneltest.Poisoned[kkml.KMLPiece](r, pieces), kerneltest.Poisoned[int64](r, pieces+1)
	r.OK(kkml.WriteKML(r.Set, r.Stream, source, counts, to))
	from, end, valid := kerneltest.Read(r, to.From), kerneltest.Read(r, to.To), kerneltest.Read(r, to.Valid)
	for c := range columns {
		column := make([]string, rows)
		for i := range column {
			if column[i] = "-"; valid[c*kernels.Words(rows)+i/64]>>(i%64)&1 != 0 {
				column[i] = text[from[c*rows+i]:end[c*rows+i]]
			}
		}
		cells = append(cells, column)
	}
	out := kerneltest.Poisoned[byte](r, int(kerneltest.Read(r, to.Offsets)[pieces]))
	r.OK(gpu.Fill(r.Stream, counts.Odd, 0))
	r.OK(kkml.KMLLines(r.Set, r.Stream, source.Text, to, out, counts.Odd))
	return string(kerneltest.Read(r, out)), cells, kkml.KMLOdd(kerneltest.Read(r, counts.Odd)[0])
}

func kmlRow(members ...string) string {
	return "<Placemark>" + strings.Join(members, "") + "</Placemark>"
}

func kmlPoint(tuple string) string { return "<Point><coordinates>" + tuple + "</coordinates></Point>" }

func kmlLine(tuples string) string {
	return "<LineString><coordinates>" + tuples + "</coordinates></LineString>"
}

func kmlPolygon(rings ...string) string {
	text := "<Polygon>"
	for i, ring := range rings {
		tag := "innerBoundaryIs"
		if i == 0 {
			tag = "outerBoundaryIs"
		}
		text += "<" + tag + "><LinearRing><coordinates>" + ring + "</coordinates></LinearRing></" + tag + ">"
	}
	return text + "</Polygon>"
}

func kmlMulti(members ...string) string {
	return "<MultiGeometry>" + strings.Join(members, "") + "</MultiGeometry>"
}

func TestKMLLines(t *testing.T) {
	r := kerneltest.Open(t)
	for _, c := range []struct{ name, text, want string }{
		{"nothing", kmlRow() + "<Placemark/>", "NULL\nNULL\n"},
		{"point", kmlRow(kmlPoint("1,2")), "POINT(1 2)\n"},
		{"blanks", kmlRow(kmlLine("\n\t1,2,3 \r\n\n 4,5,6\n ")), "LINESTRING(1 2 3    ,4 5 6)\n"},
		{"polygon", kmlRow(kmlPolygon("0,0 9,0 9,9", "1,1 2,2", "3,3")), "POLYGON((0 0,9 0,9 9),(1 1,2 2),(3 3))\n"},
		{"multipoint", kmlRow(kmlMulti(kmlPoint("1,2"), kmlPoint("3,4"))), "MULTIPOINT(1 2,3 4)\n"},
		{"multiline", kmlRow(kmlMulti(kmlLine("1,2 3,4"), kmlLine("5,6"))), "MULTILINESTRING((1 2,3 4),(5 6))\n"},
		{
			"multipolygon", kmlRow(kmlMulti(kmlPolygon("1,1", "2,2"), kmlPolygon("3,3"))),
			"MULTIPOLYGON(((1 1),(2 2)),((3 3)))\n",
		},
		{
			"collection", kmlRow(kmlMulti(kmlPoint("1,2"), kmlPolygon("3,3", "4,4"), kmlLine("5,6"))),
			"GEOMETRYCOLLECTION(POINT(1 2),POLYGON((3 3),(4 4)),LINESTRING(5 6))\n",
		},
		{
			"many rows", strings.Repeat(kmlRow(kmlPoint("1.5,-2e3"))+kmlRow(), 300),
			strings.Repeat("POINT(1.5 -2e3)\nNULL\n", 300),
		},
		{"a long line", kmlRow(kmlLine(strings.Repeat("1,2\n", 5000) + "3,4")), "LINESTRING(" +
			strings.Repeat("1 2,", 5000) + "3 4)\n"},
	} {
		if got, _, _, odd := readKML(r, c.text); got != c.want || odd != 0 {
			t.Errorf("%s: %.400q\ngot  %.400q, odd %b\nwant %.400q", c.name, c.text, got, odd, c.want)
		}
	}
}

func TestKMLCells(t *testing.T) {
	r := kerneltest.Open(t)
	text := `<Placemark id="p1">x<name>a</name><name>b&amp;</name><a><Data/></a></Placemark>` +
		kmlRow("<visibility>1</visibility><name/>",
			`<ExtendedData><Data name="n"><b/><value><![CDATA[<c>]]></value></Data><d/></ExtendedData>`) +
		kmlRow(`<ExtendedData><SchemaData schema><SimpleData name="i">7</SimpleData><SimpleData name="n"></SimpleData></SchemaData></ExtendedData>`) +
		kmlRow(`<ExtendedData><SchemaData schema><SimpleData name="i"></SimpleData></SchemaData></ExtendedData>`,
			"<TimeStamp><when>2020-01-01</when></TimeStamp>") +
		kmlRow("<Point><altitudeMode>m</altitudeMode><tessellate>1</tessellate><tessellate>0</tessellate><e/>"+
			"<coordinates>1,2</coordinates></Point>")
	_, cells, foreign, odd := readKML(r, text)
	want := [][]string{
		{"p1", "-", "-", "-", "-"},
		{"b&amp;", "", "-", "-", "-"},
		{"-", "-", "-", "2020-01-01", "-"},
		{"-", "-", "-", "-", "m"},
		{"-", "<c>", "", "-", "-"},
		{"-", "-", "-", "-", "1"},
		{"-", "1", "-", "-", "-"},
		{"-", "-", "7", "-", "-"},
	}
	if odd != 0 || !slices.EqualFunc(cells, want, slices.Equal) {
		t.Errorf("%s\ngot  %q, odd %b\nwant %q", text, cells, odd, want)
	}
	if len(foreign) != 2 || foreign["a"] != 1 || foreign["d"] != 1 {
		t.Errorf("foreign elements %v", foreign)
	}
}

func TestKMLOdd(t *testing.T) {
	r := kerneltest.Open(t)
	deep := strings.Repeat("<a>", 20) + strings.Repeat("</a>", 20)
	for _, c := range []struct {
		name, text string
		want       kkml.KMLOdd
	}{
		{"not ended", kmlRow() + "<Placemark><a>", kkml.KMLNesting},
		{"another end", "<Placemark><a></b></Placemark>", kkml.KMLNesting},
		{"a track", kmlRow("<Track></Track>"), kkml.KMLElements},
		{"two geometries", kmlRow(kmlPoint("1,2"), kmlPoint("1,2")), kkml.KMLElements},
		{"a hole first", kmlRow("<Polygon><innerBoundaryIs></innerBoundaryIs></Polygon>"), kkml.KMLElements},
		{"two shells", kmlRow("<Polygon><outerBoundaryIs></outerBoundaryIs><outerBoundaryIs></outerBoundaryIs>" +
			"</Polygon>"), kkml.KMLElements},
		{"collections in each other", kmlRow(kmlMulti(kmlMulti(kmlPoint("1,2")))), kkml.KMLElements},
		{"a row in a row", kmlRow(kmlRow()), kkml.KMLElements | kkml.KMLBetween},
		{"elements in a value", kmlRow("<name><b></b></name>"), kkml.KMLText},
		{"text before a section", kmlRow("<name>a<![CDATA[b]]></name>"), kkml.KMLText},
		{"text behind a section", kmlRow("<name><![CDATA[b]]>a</name>"), kkml.KMLText},
		{"a flag", kmlRow("<visibility>2</visibility>"), kkml.KMLText},
		{"a month", kmlRow("<TimeStamp><when>2020-05</when></TimeStamp>"), kkml.KMLText},
		{"blanks around a time", kmlRow("<TimeStamp><when> 2020-05-01</when></TimeStamp>"), kkml.KMLText},
		{"a section of a number", kmlRow(`<ExtendedData><Data name="i"><value><![CDATA[1]]></value></Data></ExtendedData>`), kkml.KMLText},
		{
			"twice", kmlRow(`<ExtendedData><Data name="n"><value>1</value><value>2</value></Data></ExtendedData>`),
			kkml.KMLTwice,
		},
		{"no coordinates", kmlRow("<Point></Point>"), kkml.KMLCoordinate},
		{"blank coordinates", kmlRow(kmlPoint("\n ")), kkml.KMLCoordinate},
		{
			"coordinates twice", kmlRow("<Point><coordinates>1,2</coordinates><coordinates>1,2</coordinates></Point>"),
			kkml.KMLCoordinate,
		},
		{"no ring", kmlRow("<Polygon></Polygon>"), kkml.KMLCoordinate},
		{"no member", kmlRow(kmlMulti()), kkml.KMLCoordinate},
		{"many blanks", kmlRow(kmlLine(strings.Repeat(" ", 300) + "1,2")), kkml.KMLCoordinate},
		{"two tuples", kmlRow(kmlPoint("1,2 3,4")), kkml.KMLCoordinate},
		{"a blank next to a comma", kmlRow(kmlLine("1, 2")), kkml.KMLCoordinate},
		{"two commas", kmlRow(kmlLine("1,,2")), kkml.KMLCoordinate},
		{"a comma first", kmlRow(kmlLine(",1")), kkml.KMLCoordinate},
		{"a comma last", kmlRow(kmlLine("1,2,")), kkml.KMLCoordinate},
		{"a letter", kmlRow(kmlLine("1,2)")), kkml.KMLCoordinate},
		{"deep", kmlRow(deep), kkml.KMLLong},
		{"many elements", kmlRow(strings.Repeat("<a></a>", 1<<15)), kkml.KMLLong},
		{"something between", kmlRow() + "<a></a>" + kmlRow(), kkml.KMLBetween},
		{"something before", "<a></a>" + kmlRow(), kkml.KMLBetween},
		{"something behind", kmlRow() + "</a>", kkml.KMLBetween},
	} {
		if _, _, _, got := readKML(r, strings.Repeat(kmlRow(), 40)+c.text); got != c.want {
			t.Errorf("%s: %.200q: got %b, want %b", c.name, c.text, got, c.want)
		}
	}
}
