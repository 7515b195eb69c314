package gml_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/gml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// xsd returns a schema of features f whose elements are declared so.
func xsd(elements string) string {
	return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:a="a">` +
		`<xs:import namespace="http://www.opengis.net/gml/3.2" schemaLocation="http://schemas.opengis.net/gml/3.2.1/gml.xsd"/>` +
		`<xs:element name="f" type="a:fType" substitutionGroup="gml:AbstractFeature"/>` +
		`<xs:complexType name="fType"><xs:complexContent><xs:extension base="gml:AbstractFeatureType"><xs:sequence>` +
		elements +
		`</xs:sequence></xs:extension></xs:complexContent></xs:complexType></xs:schema>`
}

// typed returns an element a of a type.
func typed(name string) string {
	return xsd(`<xs:element name="a" type="` + name + `" minOccurs="0"/>`)
}

func TestSchema(t *testing.T) {
	for _, c := range []struct {
		name, xsd string
		cases     []textCase
	}{
		{"string", typed("xs:string"), []textCase{
			{"of numbers", values("<a>1</a>", "<a>2</a>"), `a: string: "1" | "2"`},
			{"of dates", values("<a>2020-01-02</a>", "<a/>"), `a: string: "2020-01-02" | null`},
			{"of nothing", values("", "<b>1</b>"), "a: string: null | null\nb: int32: null | 1"},
		}},
		{"integers", xsd(`<xs:element name="a" type="xs:int"/><xs:element name="b" type="xs:long"/><xs:element name="c" type="xs:integer"/><xs:element name="d" type="xs:unsignedByte"/>`), []textCase{
			{
				"small", values("<a>1</a><b>2</b><c>3</c><d>255</d>"),
				"a: int32: 1\nb: int64: 2\nc: int32: 3\nd: int32: 255",
			},
			{
				"wide", values("<a>+007</a><b>-9223372036854775808</b><c>9223372036854775807</c>"),
				"a: int32: 7\nb: int64: -9223372036854775808\nc: int64: 9223372036854775807\nd: int32: null",
			},
			{
				"an integer beyond int64", values("<c>1</c>", "<c>99999999999999999999</c>"),
				"a: int32: null | null\nb: int64: null | null\nc: string: \"1\" | \"99999999999999999999\"\nd: " +
					"int32: null | null",
			},
			{
				"beyond an int", values("<a>¦2147483648</a>"),
				"feature 0, a: want an integer, as the type is xs:int, found",
			},
			{"beyond a long", values("<b>¦9223372036854775808</b>"), "xs:long"},
			{"beyond a byte", values("<d> ¦256</d>"), "xs:unsignedByte"},
			{"below zero", values("<d>¦-1</d>"), "xs:unsignedByte"},
			{"a fraction", values("<a>¦1.0</a>"), "xs:int"},
			{"no number", values("<a>1</a>", "<a>¦x</a>"), "feature 1, a: want an integer"},
			{
				"order of the schema", values("<d>1</d><z>5</z><a>1</a>"),
				"a: int32: 1\nb: int64: null\nc: int32: null\nd: int32: 1\nz: int32: 5",
			},
		}},
		{"floats", xsd(`<xs:element name="a" type="xs:double"/><xs:element name="b" type="xs:decimal"/>`), []textCase{
			{
				"integers", values("<a>1</a><b>2</b>", "<a>9007199254740993</a><b>.5</b>"),
				"a: float64: 1 | 9.007199254740992e+15\nb: float64: 2 | 0.5",
			},
			{
				"words", values("<a>INF</a>", "<a>-INF</a>", "<a>NaN</a>"),
				"a: float64: +Inf | -Inf | NaN 0x7ff8000000000000\nb: float64: null | null | null",
			},
			{"no decimal", values("<b>¦INF</b>"), "a number, as the type is xs:decimal"},
			{"no double", values("<a>¦1,5</a>"), "a number, as the type is xs:double"},
			{"beyond float64", values("<a>¦1e400</a>"), "xs:double"},
		}},
		{"booleans", typed("xs:boolean"), []textCase{
			{
				"all ways", values("<a>true</a>", "<a>0</a>", "<a>1</a>", "<a>false</a>", ""),
				"a: bool: true | false | true | false | null",
			},
			{"none", values("<a>¦yes</a>"), "true, false, 1 or 0"},
		}},
		{"times", xsd(`<xs:element name="a" type="xs:date"/><xs:element name="b" type="xs:dateTime"/><xs:element name="c" type="xs:time"/>`), []textCase{
			{
				"values", values("<a>2020-01-02</a><b>2020-01-02T03:04:05Z</b><c>12:13:14</c>", ""),
				"a: date32: 2020-01-02 | null\nb: timestamp[ms, tz=UTC]: 2020-01-02T03:04:05 | null\nc: time32[ms]: " +
					"12:13:14 | null",
			},
			{"nothing", values(""), "a: date32: null\nb: string: null\nc: time32[ms]: null"},
			{
				"zones", values("<a>2020-01-02Z</a><c>12:13:14+01:00</c>", "<a>2020-01-02</a>"),
				"a: string: \"2020-01-02Z\" | \"2020-01-02\"\nb: string: null | null\nc: string: \"12:13:14+01:00\" " +
					"| null",
			},
			{
				"zones after nothing", values("", "<a>2020-01-02Z</a>"),
				"a: string: null | \"2020-01-02Z\"\nb: string: null | null\nc: time32[ms]: null | null",
			},
			{"impossible date", values("<a>¦2020-02-30</a>"), "want a date, as the type is xs:date"},
			{"date for a time", values("<b>¦2020-02-03</b>"), "want a date and a time"},
		}},
		{"lists", xsd(`<xs:element name="a" type="xs:int" maxOccurs="unbounded"/><xs:element name="b" type="xs:string" maxOccurs="2"/>`), []textCase{
			{
				"one and many", values("<a>1</a><a>2</a><b>3</b>", "<a>4</a>"),
				"a: list<int32>: [1 2] | [4]\nb: list<string>: [\"3\"] | null",
			},
		}},
		{"kinds of definitions", xsd(`<xs:element name="a"><xs:simpleType><xs:restriction base="xs:string"><xs:maxLength value="5"/></xs:restriction></xs:simpleType></xs:element>` +
			`<xs:element name="b" type="gml:MeasureType"/><xs:element name="g" type="gml:PointPropertyType"/><xs:element name="c"><xs:complexType><xs:sequence>` +
			`<xs:element name="D"><xs:complexType><xs:sequence><xs:element name="e" type="xs:double"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>` +
			`<xs:element name="u" type="x:unknown"/>`), []textCase{
			{
				"all", values(`<a>1</a><b uom="m">1</b><g/><c><D><e>1</e></D></c><u>1</u>`),
				"a: string: \"1\"\nb: float64: 1\ne: float64: 1\nu: int32: 1\nb_uom: string: \"m\"",
			},
		}},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, readCase{xsd: c.xsd}, c.cases) })
	}
	check(t, readCase{xsd: typed("xs:int"), options: map[string]any{"on_error": "skip"}}, []textCase{
		{"skip", values("<a>x</a>", "<a>1</a>"), "a: int32: 1\nskipped: 1 at [34]"},
	})
	check(t, readCase{xsd: typed("xs:int")}, []textCase{
		{"another layer", fc("<g><a>x</a></g>"), `a: string: "x"`},
		{"no rows", "<FeatureCollection/>", ""},
	})
}

func TestSchemaFaults(t *testing.T) {
	for _, c := range []struct{ name, xsd, want string }{
		{"another root", "<a/>", "dir/a.xsd: gml: byte 0: want the root element <schema>"},
		{"malformed", "<schema>", "dir/a.xsd: gml: byte 8: want the end tag, found the end of the file"},
		{"document type", "<!DOCTYPE schema><schema/>", "dir/a.xsd: gml: byte 0: a document type declaration"},
	} {
		in := readertest.Input{
			Name: "dir/a.gml", Text: []byte(values("")),
			Siblings: map[string][]byte{".xsd": []byte(c.xsd)},
		}
		_, err := readertest.Parse(t, gml.Format(), in)
		if parse := new(readers.ParseError); !errors.As(err, &parse) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}
