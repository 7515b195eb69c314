package gml_test

import (
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/gml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// TestTypes has the types of GML's columns, as docs/formats/gml.md says.
func TestTypes(t *testing.T) {
	check(t, readCase{}, []textCase{
		{"integers", values("<a>1</a>", "<a>-2147483648</a>", "<a>0</a>"), "a: int32: 1 | -2147483648 | 0"},
		{"wide integers", values("<a>1</a>", "<a>9223372036854775807</a>"), "a: int64: 1 | 9223372036854775807"},
		{
			"integers beyond int64", values("<a>1</a>", "<a>9223372036854775808</a>"),
			`a: string: "1" | "9223372036854775808"`,
		},
		{
			"floats", values("<a>1</a>", "<a>1.5</a>", "<a>1e3</a>", "<a>.5</a>", "<a>5.</a>", "<a>-.25e1</a>"),
			"a: float64: 1 | 1.5 | 1000 | 0.5 | 5 | -2.5",
		},
		{"zeros in front", values("<a>007</a>", "<a>1</a>"), `a: string: "007" | "1"`},
		{
			"no numbers", values("<a>+5</a>", "<b>1e400</b>", "<c>NaN</c>", "<d>INF</d>", "<e>0x10</e>",
				"<f>1,5</f>", "<g>.</g>", "<h>-</h>", "<i>1.2.3</i>"),
			`a: string: "+5" | null | null | null | null | null | null | null | null
b: string: null | "1e400" | null | null | null | null | null | null | null
c: string: null | null | "NaN" | null | null | null | null | null | null
d: string: null | null | null | "INF" | null | null | null | null | null
e: string: null | null | null | null | "0x10" | null | null | null | null
f: string: null | null | null | null | null | "1,5" | null | null | null
g: string: null | null | null | null | null | null | "." | null | null
h: string: null | null | null | null | null | null | null | "-" | null
i: string: null | null | null | null | null | null | null | null | "1.2.3"`,
		},
		{"booleans", values("<a>true</a>", "<a>false</a>", ""), "a: bool: true | false | null"},
		{"boolean with number", values("<a>true</a>", "<a>1</a>"), `a: string: "true" | "1"`},
		{"boolean with text", values("<a>true</a>", "<a>TRUE</a>"), `a: string: "true" | "TRUE"`},
		{
			"dates", values("<a>2020-01-02</a>", "<a/>", "<a>2021/03/04</a>"),
			"a: date32: 2020-01-02 | null | 2021-03-04",
		},
		{"impossible date", values("<a>2020-02-30</a>"), `a: string: "2020-02-30"`},
		{"date with zone", values("<a>2020-02-03Z</a>"), `a: string: "2020-02-03Z"`},
		{
			"timestamps", values("<a>2020-01-02T03:04:05.5Z</a>", "<a>2020-01-02T03:04:05Z</a>"),
			"a: timestamp[ms, tz=UTC]: 2020-01-02T03:04:05.5 | 2020-01-02T03:04:05",
		},
		{"times", values("<a>12:34:56</a>"), "a: time32[ms]: 12:34:56"},
		{"date with number", values("<a>2020-01-02</a>", "<a>1.5</a>"), `a: string: "2020-01-02" | "1.5"`},
		{
			"empty, blank and nil", `<FeatureCollection xmlns:xsi="x"><member><f><a/><b> </b><c xsi:nil="true"/><d xsi:nil="1">5</d><e xsi:nil="false">5</e></f></member></FeatureCollection>`,
			"a: string: null\nb: string: null\nc: string: null\nd: string: null\ne: int32: 5",
		},
		{"blanks around values", values("<a>\n 1 </a>", "<a>2</a>"), "a: int32: 1 | 2"},
		{"blanks around texts", values("<a>\n b c </a>"), `a: string: "b c"`},
		{
			"entities and sections", values("<a>&lt;b&gt; &#x41;<![CDATA[&amp;<]]></a>", "<a><![CDATA[<Point>]]></a>"),
			`a: string: "<b> A&amp;<" | "<Point>"`,
		},
		{"comment in a number", values("<a>1<!-- 2 -->3</a>"), "a: int32: 13"},
		{"prefixes", values("<x:a>1</x:a>", "<a>2</a>"), "a: int32: 1 | 2"},
		{"case of names", values("<a>1</a><A>2</A>"), "a: int32: 1\nA: int32: 2"},
	})
}

func TestLists(t *testing.T) {
	check(t, readCase{}, []textCase{
		{"integers", values("<a>1</a><a>2</a>", "", "<a>3</a>"), "a: list<int32>: [1 2] | null | [3]"},
		{"int with float", values("<a>1</a><a>2.5</a>", "<a>3</a>"), "a: list<float64>: [1 2.5] | [3]"},
		{"booleans", values("<a>true</a><a>false</a>"), "a: list<bool>: [true false]"},
		{"texts", values("<a>b</a><a>c</a>", "<a>d</a>"), `a: list<string>: ["b" "c"] | ["d"]`},
		{
			"nulls are left out", values("<a>1</a><a/><a>3</a>", "<a/><a>4</a>", "<a/><a/>"),
			"a: list<int32>: [1 3] | [4] | null",
		},
		{"beyond int64", values("<a>1</a><a>9223372036854775808</a>"), `a: list<string>: ["1" "9223372036854775808"]`},
		{"two kinds in a list", values("<a>1</a><a>b</a>"), `a: list<string>: ["1" "b"]`},
		{"apart", values("<a>1</a><b>x</b><a>2</a>"), "a: list<int32>: [1 2]\nb: string: \"x\""},
		{"from two levels", values("<a>1</a><b><c><a>2</a></c></b>"), "a: int32: 1\nb.c.a: int32: 2"},
	})
}

func TestNames(t *testing.T) {
	check(t, readCase{}, []textCase{
		{"fid", fc(`<f fid="f.1"><a>1</a></f>`, `<f><a>2</a></f>`), "fid: string: \"f.1\" | null\na: int32: 1 | 2"},
		{"gml:id", fc(`<f gml:id="1"><a>1</a></f>`), "gml_id: string: \"1\"\na: int32: 1"},
		{"both", fc(`<f gml:id="1"/>`, `<f fid="2"/>`), "fid: string: null | \"2\"\ngml_id: string: \"1\" | null"},
		{"an element of that name", fc(`<f fid="f.1"><fid>7</fid></f>`), "fid: string: \"f.1\"\nfid_1: int32: 7"},
		{"an element called geometry", values("<geometry>1</geometry>"), "geometry_1: int32: 1"},
		{"nested", values("<a><B><c>1</c><d>2</d></B></a><e>3</e>"), "c: int32: 1\nd: int32: 2\ne: int32: 3"},
		{
			"standard properties", values("<gml:name>n</gml:name><gml:description>d</gml:description>"),
			"name: string: \"n\"\ndescription: string: \"d\"",
		},
		{
			"unit of a measure", values(`<a uom="m2">12</a>`, `<a>13</a>`),
			"a: int32: 12 | 13\na_uom: string: \"m2\" | null",
		},
		{
			"reference", values(`<a xlink:href="#o1"/>`, `<b xlink:href="u">t</b>`),
			"a_href: string: \"#o1\" | null\nb: string: null | \"t\"\nb_href: string: null | \"u\"",
		},
		{
			"boundedBy", values(`<boundedBy><Envelope><lowerCorner>1 2</lowerCorner></Envelope></boundedBy><a>1</a>`,
				`<gml:boundedBy><gml:null>unknown</gml:null></gml:boundedBy>`),
			"a: int32: 1 | null",
		},
	})
}

// TestTextThenTexts: a text is a list of one where others of its name are lists of texts, wherever
// the two stand.
func TestTextThenTexts(t *testing.T) {
	check(t, readCase{}, []textCase{
		{"the text first", values("<b>x</b>", "<b>y</b><b>0</b>"), `b: list<string>: ["x"] | ["y" "0"]`},
		{"the list first", values("<b>y</b><b>0</b>", "<b>x</b>"), `b: list<string>: ["y" "0"] | ["x"]`},
	})
}

// TestColumnOfOthers: rows at the edge of a batch may have none of the columns that the others of
// their part have, and are read again without them.
func TestColumnOfOthers(t *testing.T) {
	rows := make([]string, 60)
	for i := range rows {
		rows[i] = "<a>1</a>"
		if i%3 == 0 {
			rows[i] = "<c>2</c>"
		}
	}
	rows[59] = "<c>x</c>"
	in := readertest.Input{Name: "a.gml", Text: []byte(values(rows...)), Limits: readers.Limits{BatchRows: 1}}
	if _, err := readertest.Check(t, gml.Format(), in); err != nil {
		t.Fatal(err)
	}
	readertest.Same(t, gml.Format(), in, []int{150, 400, 700}, parallel)
}
