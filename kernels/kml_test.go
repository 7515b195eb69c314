package kernels_test

import (
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/gpu"
	"github.com/vibeflight/vibeflight/kernels"
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
// behind, a number.
var kmlElements = map[string]kernels.KMLElement{
	"Placemark": kernels.KMLPlacemark, "name": kernels.KMLName, "description": kernels.KMLDescription,
	"visibility": kernels.KMLVisibility, "TimeStamp": kernels.KMLTimeStamp,
	"when": kernels.KMLWhen, "ExtendedData": kernels.KMLExtendedData, "Data": kernels.KMLData,
	"value": kernels.KMLValue, "SchemaData": kernels.KMLSchemaData,
	"SimpleData": kernels.KMLSimpleData, "Point": kernels.KMLPoint, "LineString": kernels.KMLLineString,
	"LinearRing": kernels.KMLLinearRing, "Polygon": kernels.KMLPolygon,
	"MultiGeometry": kernels.KMLMultiGeometry, "outerBoundaryIs": kernels.KMLOuterBoundary,
	"innerBoundaryIs": kernels.KMLInnerBoundary, "coordinates": kernels.KMLCoordinates,
	"altitudeMode": kernels.KMLAltitudeMode, "tessellate": kernels.KMLTessellate, "Track": kernels.KMLRefused,
}

// kmlTags makes a dictionary of the keys of a text.
func kmlTags(keys []string) (texts []string, tags []kernels.KMLTag, locals []string) {
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
		t := kernels.KMLTag{
			End: key[0] == '/', Empty: strings.HasSuffix(key, "/"),
			OpenID: strings.HasSuffix(key, ` id="`), Element: kmlElements[name], Local: n, Name: n,
		}
		switch attributes {
		case `name="n"`:
			t.Column = kernels.KMLColumns
		case `name="i"`:
			t.Column = kernels.KMLColumns + 1
		case "schema":
			t.Column = kernels.KMLColumns + 2
		}
		texts, tags = append(texts, key), append(tags, t)
	}
	return texts, tags, locals
}

const kmlNumbers = uint64(1<<kernels.KMLColumnVisibility | 1<<kernels.KMLColumnTessellate | 1<<(kernels.KMLColumns+1))

// readKML reads a text on the device: its lines, and its cells column by column, with "-" for none;
// or what is odd.
func readKML(r *rig, text string) (lines string, cells [][]string, foreign map[string]uint32, odd kernels.KMLOdd) {
	r.Helper()
	dev := upload(r, []byte(text))
	x, err := r.k.AllocXML(r.s, dev)
	r.ok(err)
	r.Cleanup(func() { r.ok(x.Free(r.s)) })
	if x.Fault >= 0 {
		r.Fatalf("%q: fault at byte %d", text, x.Fault)
	}
	starts, ends := read(r, x.Starts), read(r, x.Ends)
	from, to := poisoned[int64](r, x.Tags), poisoned[int64](r, x.Tags)
	r.ok(r.k.KMLKeys(r.s, dev, x.Starts, x.Ends, from, to))
	keys := make([]string, x.Tags)
	for i, end := range read(r, to) {
		keys[i] = text[starts[i]+1 : end]
		if want := kmlKey(text[starts[i]+1 : ends[i]]); keys[i] != want {
			r.Fatalf("%q: got key %q, want %q", text, keys[i], want)
		}
	}
	texts, tags, locals := kmlTags(keys)
	fields, err := kernels.AllocFields(r.s, texts)
	r.ok(err)
	r.Cleanup(func() { r.ok(fields.Free(r.s)) })
	table, err := kernels.AllocKMLTags(r.s, tags)
	r.ok(err)
	r.Cleanup(func() { freed(r, table) })
	source := kernels.KMLSource{
		Text: dev, XML: x, KeyEnds: to, Fields: poisoned[int32](r, x.Tags),
		Table: table, Numbers: kmlNumbers,
	}
	r.ok(r.k.MatchKeys(r.s, dev, from, to, fields, source.Fields))
	source.Rows, err = r.k.AllocKMLRows(r.s, source.Fields, table)
	r.ok(err)
	r.Cleanup(func() { freed(r, source.Rows) })
	rows := source.Rows.Len()
	counts := kernels.KMLCounts{
		Pieces: poisoned[int64](r, rows+1), Mixed: poisoned[uint64](r, kernels.Words(rows)),
		First:   poisoned[uint32](r, kernels.MostKMLColumns),
		Foreign: poisoned[uint32](r, len(locals)), Odd: poisoned[uint32](r, 1),
	}
	r.ok(r.k.CountKML(r.s, &source, counts))
	if odd = kernels.KMLOdd(read(r, counts.Odd)[0]); odd != 0 {
		return "", nil, nil, odd
	}
	foreign = map[string]uint32{}
	for i, n := range read(r, counts.Foreign) {
		if n > 0 {
			foreign[locals[i]] = n
		}
	}
	lines, cells, odd = writeKML(r, text, &source, counts)
	return lines, cells, foreign, odd
}

// writeKML writes what was counted.
func writeKML(r *rig, text string, source *kernels.KMLSource, counts kernels.KMLCounts) (lines string,
	cells [][]string, odd kernels.KMLOdd,
) {
	r.Helper()
	rows := source.Rows.Len()
	to := kernels.KMLCells{}
	for c, tag := range read(r, counts.First) {
		if tag != math.MaxUint32 && c != kernels.KMLColumns+2 {
			to.Used |= 1 << c
		}
	}
	columns, pieces := bits.OnesCount64(to.Used), int(read(r, counts.Pieces)[rows])
	to.From, to.To, to.Valid = poisoned[int64](r, columns*rows), poisoned[int64](r, columns*rows),
		poisoned[uint64](r, columns*kernels.Words(rows))
	to.Pieces, to.Offsets = poisoned[kernels.KMLPiece](r, pieces), poisoned[int64](r, pieces+1)
	r.ok(r.k.WriteKML(r.s, source, counts, to))
	from, end, valid := read(r, to.From), read(r, to.To), read(r, to.Valid)
	for c := range columns {
		column := make([]string, rows)
		for i := range column {
			if column[i] = "-"; valid[c*kernels.Words(rows)+i/64]>>(i%64)&1 != 0 {
				column[i] = text[from[c*rows+i]:end[c*rows+i]]
			}
		}
		cells = append(cells, column)
	}
	out := poisoned[byte](r, int(read(r, to.Offsets)[pieces]))
	r.ok(gpu.Fill(r.s, counts.Odd, 0))
	r.ok(r.k.KMLLines(r.s, source.Text, to, out, counts.Odd))
	return string(read(r, out)), cells, kernels.KMLOdd(read(r, counts.Odd)[0])
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
	r := open(t)
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
	r := open(t)
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
	r := open(t)
	deep := strings.Repeat("<a>", 20) + strings.Repeat("</a>", 20)
	for _, c := range []struct {
		name, text string
		want       kernels.KMLOdd
	}{
		{"not ended", kmlRow() + "<Placemark><a>", kernels.KMLNesting},
		{"another end", "<Placemark><a></b></Placemark>", kernels.KMLNesting},
		{"a track", kmlRow("<Track></Track>"), kernels.KMLElements},
		{"two geometries", kmlRow(kmlPoint("1,2"), kmlPoint("1,2")), kernels.KMLElements},
		{"a hole first", kmlRow("<Polygon><innerBoundaryIs></innerBoundaryIs></Polygon>"), kernels.KMLElements},
		{"two shells", kmlRow("<Polygon><outerBoundaryIs></outerBoundaryIs><outerBoundaryIs></outerBoundaryIs>" +
			"</Polygon>"), kernels.KMLElements},
		{"collections in each other", kmlRow(kmlMulti(kmlMulti(kmlPoint("1,2")))), kernels.KMLElements},
		{"a row in a row", kmlRow(kmlRow()), kernels.KMLElements | kernels.KMLBetween},
		{"elements in a value", kmlRow("<name><b></b></name>"), kernels.KMLText},
		{"text before a section", kmlRow("<name>a<![CDATA[b]]></name>"), kernels.KMLText},
		{"text behind a section", kmlRow("<name><![CDATA[b]]>a</name>"), kernels.KMLText},
		{"a flag", kmlRow("<visibility>2</visibility>"), kernels.KMLText},
		{"a month", kmlRow("<TimeStamp><when>2020-05</when></TimeStamp>"), kernels.KMLText},
		{"blanks around a time", kmlRow("<TimeStamp><when> 2020-05-01</when></TimeStamp>"), kernels.KMLText},
		{"a section of a number", kmlRow(`<ExtendedData><Data name="i"><value><![CDATA[1]]></value></Data></ExtendedData>`), kernels.KMLText},
		{
			"twice", kmlRow(`<ExtendedData><Data name="n"><value>1</value><value>2</value></Data></ExtendedData>`),
			kernels.KMLTwice,
		},
		{"no coordinates", kmlRow("<Point></Point>"), kernels.KMLCoordinate},
		{"blank coordinates", kmlRow(kmlPoint("\n ")), kernels.KMLCoordinate},
		{
			"coordinates twice", kmlRow("<Point><coordinates>1,2</coordinates><coordinates>1,2</coordinates></Point>"),
			kernels.KMLCoordinate,
		},
		{"no ring", kmlRow("<Polygon></Polygon>"), kernels.KMLCoordinate},
		{"no member", kmlRow(kmlMulti()), kernels.KMLCoordinate},
		{"many blanks", kmlRow(kmlLine(strings.Repeat(" ", 300) + "1,2")), kernels.KMLCoordinate},
		{"two tuples", kmlRow(kmlPoint("1,2 3,4")), kernels.KMLCoordinate},
		{"a blank beside a comma", kmlRow(kmlLine("1, 2")), kernels.KMLCoordinate},
		{"two commas", kmlRow(kmlLine("1,,2")), kernels.KMLCoordinate},
		{"a comma first", kmlRow(kmlLine(",1")), kernels.KMLCoordinate},
		{"a comma last", kmlRow(kmlLine("1,2,")), kernels.KMLCoordinate},
		{"a letter", kmlRow(kmlLine("1,2)")), kernels.KMLCoordinate},
		{"deep", kmlRow(deep), kernels.KMLLong},
		{"many elements", kmlRow(strings.Repeat("<a></a>", 1<<15)), kernels.KMLLong},
		{"something between", kmlRow() + "<a></a>" + kmlRow(), kernels.KMLBetween},
		{"something before", "<a></a>" + kmlRow(), kernels.KMLBetween},
		{"something behind", kmlRow() + "</a>", kernels.KMLBetween},
	} {
		if _, _, _, got := readKML(r, strings.Repeat(kmlRow(), 40)+c.text); got != c.want {
			t.Errorf("%s: %.200q: got %b, want %b", c.name, c.text, got, c.want)
		}
	}
}
