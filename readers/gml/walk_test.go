package gml_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/gml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

func TestCollections(t *testing.T) {
	check(t, readCase{}, []textCase{
		{"GML 2 and 3", fc("<f><a>1</a></f>", "<f><a>2</a></f>"), "a: int32: 1 | 2"},
		{"featureMembers", "<FeatureCollection><featureMembers><f><a>1</a></f><f><a>2</a></f></featureMembers>" +
			"</FeatureCollection>", "a: int32: 1 | 2"},
		{"WFS 2.0", "<w:FeatureCollection><w:member><f><a>1</a></f></w:member><w:member><f><a>2</a></f></w:member>" +
			"</w:FeatureCollection>", "a: int32: 1 | 2"},
		{"any root and member", "<Dataset><hydroMember><f><a>1</a></f></hydroMember><CITYOBJECTMEMBER><f><a>2</a>" +
			"</f></CITYOBJECTMEMBER></Dataset>", "a: int32: 1 | 2"},
		{"one and many", "<c><member><f><a>1</a></f></member><members><f><a>2</a></f><f><a>3</a></f></members>" +
			"<member><f><a>4</a></f></member></c>", "a: int32: 1 | 2 | 3 | 4"},
		{"two in a member", "<c><member><f><a>1</a></f><f><a>2</a></f></member><member/><member><f><a>3</a></f>" +
			"</member></c>", "a: int32: 1 | 2 | 3"},
		{
			"a collection as a member", "<FeatureCollection><member><FeatureCollection><boundedBy/><member><f><a>" +
				"1</a></f></member></FeatureCollection></member>" +
				"<member><FeatureCollection><member><f><a>2</a></f></member><member><f><a>3</a></f></member>" +
				"</FeatureCollection></member><member><f><a>4</a></f></member></FeatureCollection>",
			"a: int32: 1 | 2 | 3 | 4",
		},
		{"tuples of a join", "<FeatureCollection><member><Tuple><member><f><a>1</a></f></member><member><g><a>x</a>" +
			"</g></member></Tuple></member>" +
			"<member><Tuple><member><f><a>2</a></f></member><member><g><a>y</a></g></member></Tuple></member>" +
			"</FeatureCollection>", "a: int32: 1 | 2"},
		{
			"additional objects", "<FeatureCollection><member><f><a>1</a></f></member><additionalObjects>" +
				"<SimpleFeatureCollection><member><f><a>2</a></f></member></SimpleFeatureCollection>" +
				"</additionalObjects></FeatureCollection>",
			"a: int32: 1 | 2",
		},
		{"what is passed", "<c><name>n</name><boundedBy><Null>unknown</Null></boundedBy><x><featureMember><f><a>" +
			"9</a></f></featureMember></x><member><f><a>1</a></f></member><!-- <member> --><?pi?></c>", "a: int32: 1"},
		{"empty collection", "<FeatureCollection/>", ""},
		{"collection without features", "<FeatureCollection><boundedBy/><member/></FeatureCollection>", ""},
		{"features of nothing", fc("<f/>", "<f></f>"), ""},
		{"byte order mark and declaration", "\xEF\xBB\xBF<?xml version='1.0' encoding='UTF-8'?>\n" +
			values("<a>ü</a>"), `a: string: "ü"`},
		{"ISO-8859-1", "<?xml version='1.0' encoding='ISO-8859-1'?>\n" + values("<stra\xDFe>\xFC</stra\xDFe>",
			"<stra\xDFe>1</stra\xDFe>"), "straße: string: \"ü\" | \"1\""},
		{"CRLF", strings.ReplaceAll(values("\n<a>b\nc</a>\n"), "\n", "\r\n"), `a: string: "b\nc"`},
		{"quotes and blanks in tags", "<c ><member  x = 'a>b' ><f\n><a >1</a\n></f ></member></c >", "a: int32: 1"},
	})
}

func TestFaults(t *testing.T) {
	check(t, readCase{}, []textCase{
		{"no XML", "¦garbage", "want \"<\" of the root element"},
		{"empty file", "¦", "a root element"},
		{"another root", "¦<kml><Document/></kml>", "<kml> is no FeatureCollection"},
		{"cut in a feature", "<c><member><f><a>1</a>¦", "want the end tag"},
		{"cut after a feature", "<c><member><f><a>1</a></f></member>¦", "want the end tag"},
		{"wrong end tag", "<c><member><f><a>1¦</b></f></member></c>", `want the end tag "</a>"`},
		{"wrong end of a member", "<c><member><f/>¦</members></c>", `want the end tag "</member>"`},
		{"text after the root", "<c><member><f/></member></c>¦x", "text after the root element"},
		{"malformed in another layer", fc("<f><a>1</a></f>", "<g><a>1¦</b></g>"), `want the end tag "</a>"`},
		{
			"document type", "¦<!DOCTYPE c [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><c/>",
			"a document type declaration, which is not read",
		},
		{"entity", values("<a>¦&b;</a>"), "a reference to an entity that XML does not predefine"},
		{"not UTF-8", values("<a>¦\xFF</a>"), "UTF-8"},
		{
			"exception report", `¦<ows:ExceptionReport version="2.0.0"><ows:Exception exceptionCode="InvalidParameterValue"><ows:ExceptionText>Unknown  type &lt;a&gt;</ows:ExceptionText><ows:ExceptionText>b</ows:ExceptionText></ows:Exception></ows:ExceptionReport>`,
			"the server sent an exception in place of features: Unknown type <a>; b",
		},
		{"service exception report", `¦<ServiceExceptionReport><ServiceException code="x">no</ServiceException></ServiceExceptionReport>`, "in place of features: no"},
		{"exception after features", `<FeatureCollection><member><f/></member>¦<ExceptionReport><ExceptionText>out of memory</ExceptionText></ExceptionReport></FeatureCollection>`, "in place of features: out of memory"},
	})
}

func TestSkip(t *testing.T) {
	bad := `<g><Point><pos>1 x</pos></Point></g>`
	check(t, skipping, []textCase{
		{"first", values(bad+"<a>x</a>", "<a>1</a>", "<a>2</a>"), "a: int32: 1 | 2\nskipped: 1 at [34]"},
		{"last", values("<a>1</a>", bad), "a: int32: 1\nskipped: 1 at [80]"},
		{"all", values(bad, bad), "skipped: 2 at [34 108]"},
		{"names of features that were left out", values(bad+"<b>1</b>", "<a>1</a>"), "a: int32: 1\nskipped: 1 at [34]"},
		{"broken after", values("<a>1</a>", "<g><Point><pos>1 ¦x</pos></g>"), "want an ordinate"},
		{"broken before", values("<a>1</a>", "<a>1¦</b><g><Point><pos>1 x</pos></Point></g>"), "want the end tag"},
	})
}

func TestLayers(t *testing.T) {
	text := fc("<x:roads><a>1</a></x:roads>", "<x:rivers><b>2</b></x:rivers>", "<y:roads><a>3</a></y:roads>",
		"<x:roads><a>4</a></x:roads>")
	check(t, readCase{}, []textCase{{"first", text, "a: int32: 1 | 3 | 4"}})
	check(t, readCase{layer: "roads"}, []textCase{{"by name", text, "a: int32: 1 | 3 | 4"}})
	check(t, readCase{layer: "rivers"}, []textCase{
		{"second", text, "b: int32: 2"},
		{
			"fault in the first", fc("<roads><g><Point><pos>x</pos></Point></g></roads>", "<rivers><b>2</b></rivers>"),
			"b: int32: 2",
		},
		{"malformed in the first", fc("<roads><a>¦&</a></roads>", "<rivers><b>2</b></rivers>"), "&amp;"},
	})
	in := readertest.Input{Name: "a.gml", Text: []byte(text), Layer: "rivers"}
	table, err := readertest.Parse(t, gml.Format(), in)
	if err != nil || !slices.Equal(table.Summary.Layers, []string{"roads", "rivers"}) {
		t.Errorf("got %v, %v", table, err)
	}
	in.Layer = "lakes"
	_, err = readertest.Parse(t, gml.Format(), in)
	if none := new(readers.NoLayerError); !errors.As(err, &none) || !slices.Equal(none.Layers,
		[]string{"roads", "rivers"}) {
		t.Errorf("got %v", err)
	}
}

func TestLimits(t *testing.T) {
	long := values("<a>"+strings.Repeat("b", 100)+"</a>", "<a>c</a>")
	for _, c := range []struct {
		name, text string
		limits     readers.Limits
		want       string
	}{
		{"depth", values("<a><b><c>1</c></b></a>"), readers.Limits{MaxDepth: 5}, "--max-depth"},
		{"feature", long, readers.Limits{MaxFeatureBytes: 50}, "--max-feature-bytes"},
		{"text between features", strings.Replace(long, "<featureMember>", "<!--"+strings.Repeat("b", 100)+
			"--><featureMember>", 1), readers.Limits{MaxFeatureBytes: 90}, "--max-feature-bytes"},
		{
			"feature that is left out", strings.Replace(long, "<a>", "<Point><pos>x</pos></Point><a>", 1),
			readers.Limits{MaxFeatureBytes: 50},
			"--max-feature-bytes",
		},
	} {
		for _, size := range []int{0, 1, 10, 60, 1000} {
			in := readertest.Input{
				Name: "a.gml", Text: []byte(c.text), Limits: c.limits,
				Options: map[string]any{"on_error": "skip"},
			}
			in.Parser = func(l readers.Layout) readers.Parser { return windows.Parser(l, size) }
			_, err := readertest.Parse(t, gml.Format(), in)
			if limit := new(readers.LimitError); !errors.As(err, &limit) || limit.Flag != c.want {
				t.Errorf("%s, windows of %d: got %v, want a limit of %s", c.name, size, err, c.want)
			}
		}
	}
}

// TestManyFeatures has more features than a part holds, in members of several kinds, with names
// that look like rows where there are none.
func TestManyFeatures(t *testing.T) {
	var b strings.Builder
	b.WriteString("<FeatureCollection>" + envelope(urn))
	for i := range 120 {
		switch {
		case i%50 == 49:
			fmt.Fprintf(&b, "<members><f><a>%d</a></f><g/><f><a>-1</a><g><Point><pos>%d "+
				"2</pos></Point></g></f></members>", i, i)
		case i%40 == 39:
			b.WriteString("<member><FeatureCollection><member><f><b>x</b></f></member></FeatureCollection></member>")
		case i == 100:
			b.WriteString("<member><f><a>text</a></f></member>")
		default:
			fmt.Fprintf(&b, "<member><f><a>%d</a><c><![CDATA[<f><a>x</a></f>]]></c><d><f>7</f></d></f></member><!-- "+
				"<f> -->", i)
		}
	}
	b.WriteString("</FeatureCollection>")
	in := readertest.Input{Name: "a.gml", Text: []byte(b.String())}
	var sizes []int
	for size := 1; size < b.Len()/2; size += 1 + size/2 {
		sizes = append(sizes, size)
	}
	for _, rows := range []int{0, 7} {
		in.Limits.BatchRows = rows
		readertest.Same(t, gml.Format(), in, sizes, parallel, windows)
	}
}

func TestSniff(t *testing.T) {
	for _, c := range []struct {
		name, head string
		want       bool
	}{
		{"WFS", `<?xml version="1.0"?><wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0">`, true},
		{"GML", `<!-- a --><gml:FeatureCollection xmlns:gml="http://www.opengis.net/gml">`, true},
		{"GDAL", `<ogr:FeatureCollection xmlns:ogr="http://ogr.maptools.org/">`, true},
		{"another root", `<Dataset xmlns:gml="http://www.opengis.net/gml/3.2"><gml:featureMember><a>`, true},
		{"exception", `<ServiceExceptionReport xmlns:wfs="http://www.opengis.net/wfs">`, false},
		{"KML", `<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gml="http://www.opengis.net/gml"><Document>`, false},
		{
			"schema", `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:gml="http://www.opengis.net/gml">`,
			false,
		},
		{"other XML", `<FeatureCollection>`, false},
		{"no XML", `{"type":"FeatureCollection","a":"http://www.opengis.net/gml"}`, false},
		{"nothing", "", false},
	} {
		if got := gml.Format().Sniff([]byte(c.head)); got != c.want {
			t.Errorf("%s: got %t", c.name, got)
		}
	}
}
