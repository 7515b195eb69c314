package gml_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/gml"
	"github.com/vibeflight/vibeflight/readers/readertest"
)

// deviceStyle is how the features of a file are written: all alike.
type deviceStyle struct {
	*rand.Rand
	system  string // attribute
	size    int    // of positions
	kinds   []string
	around  [2]string // what is between two features
	bounded bool
	ids     bool
}

// deviceFile returns a collection of features of everything that columns are made of.
func deviceFile(r *rand.Rand, features int) []byte {
	all := []string{"Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon", "MultiGeometry"}
	s := deviceStyle{
		Rand: r, size: 2, kinds: []string{all[r.IntN(len(all))]}, bounded: r.IntN(3) == 0,
		ids: r.IntN(4) > 0,
	}
	s.system = []string{"", ` srsName="urn:ogc:def:crs:EPSG::4326"`, ` srsName="EPSG:25832"`}[r.IntN(3)]
	switch r.IntN(4) {
	case 0:
		s.kinds = all[:3]
	case 1:
		s.kinds = []string{"Polygon", "MultiPolygon"}
	}
	s.around = [][2]string{
		{"<gml:featureMember>", "</gml:featureMember>\n"},
		{"\n<wfs:member>\n", "\r\n</wfs:member>"},
		{"", "\n"},
	}[r.IntN(3)]
	if r.IntN(3) == 0 {
		s.size = 3
	}
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs" xmlns:gml="http://www.opengis.net/gml">`)
	if s.around[0] == "" {
		b.WriteString("<gml:featureMembers>")
	}
	for i := range features {
		b.WriteString(s.around[0] + s.feature(i) + s.around[1])
	}
	if s.around[0] == "" {
		b.WriteString("</gml:featureMembers>")
	}
	b.WriteString("</wfs:FeatureCollection>")
	return []byte(b.String())
}

// feature returns one feature.
func (s *deviceStyle) feature(i int) string {
	words := []string{
		"plain", "é ü 😀", "A &amp; B &lt;c&gt;", "  blanks around ", "two\r\nlines", "",
		"true", "<![CDATA[<b>a & b</b>\r\n]]>", " <![CDATA[x]]>\n", strings.Repeat("long ", 90), "&quot;&apos;",
	}
	var b strings.Builder
	if s.ids {
		fmt.Fprintf(&b, `<t:f gml:id="f.%d">`, i)
	} else {
		b.WriteString("<t:f>")
	}
	if s.bounded {
		b.WriteString(`<gml:boundedBy><gml:Envelope` + s.system +
			`><gml:lowerCorner>1 2</gml:lowerCorner></gml:Envelope></gml:boundedBy>`)
	}
	value := func(name, text string) {
		if s.IntN(8) > 0 {
			b.WriteString("<t:" + name + ">" + text + "</t:" + name + ">")
		}
	}
	value("id", fmt.Sprint(i-5))
	value("wide", fmt.Sprint(i*i*i*1000000))
	value("real", fmt.Sprintf("%g", s.NormFloat64()))
	value("ok", fmt.Sprint(i%3 == 0))
	if s.IntN(6) > 0 {
		b.WriteString("<t:shape>" + s.geometry(s.kinds[s.IntN(len(s.kinds))], s.system) + "</t:shape>")
	}
	value("s", words[s.IntN(len(words))])
	value("day", fmt.Sprintf("2024-02-%02d", 1+i%29))
	value("at", fmt.Sprintf("2024-03-01T10:%02d:00.25Z", i%60))
	value("code", fmt.Sprintf("%05d", i%1000))
	if i%20 == 19 {
		value("mixed", "none")
	} else {
		value("mixed", fmt.Sprint(i))
	}
	if i%5 == 0 {
		b.WriteString("<t:owner><t:name>" + words[s.IntN(len(words))] + "</t:name></t:owner><t:empty/>")
	}
	b.WriteString("</t:f>")
	return b.String()
}

// geometry returns one of a kind.
func (s *deviceStyle) geometry(kind, system string) string {
	tag := func(name, attributes string, content ...string) string {
		return "<gml:" + name + attributes + ">" + strings.Join(content, "") + "</gml:" + name + ">"
	}
	several := func(member, kind string) (all []string) {
		for range 1 + s.IntN(3) {
			all = append(all, tag(member, "", s.geometry(kind, "")))
		}
		return all
	}
	switch kind {
	case "Point":
		return tag(kind, system, tag("pos", "", s.position(" ")))
	case "LineString":
		return tag(kind, system, s.positions(2+s.IntN(5)))
	case "Polygon":
		rings := []string{tag("exterior", "", tag("LinearRing", "", s.positions(4+s.IntN(30))))}
		for range s.IntN(3) {
			rings = append(rings, tag("interior", "", tag("LinearRing", "", s.positions(4))))
		}
		return tag(kind, system+` gml:id="g.`+fmt.Sprint(s.IntN(1000))+`"`, rings...)
	case "MultiPoint":
		return tag(kind, system, several("pointMember", "Point")...)
	case "MultiLineString":
		return tag(kind, system, several("lineStringMember", "LineString")...)
	case "MultiPolygon":
		return tag("MultiSurface", system, several("surfaceMember", "Polygon")...)
	}
	return tag("MultiGeometry", system, several("geometryMember", []string{
		"Point", "LineString",
		"Polygon",
	}[s.IntN(3)])...)
}

func (s *deviceStyle) position(between string) string {
	all := make([]string, s.size)
	for i := range all {
		all[i] = fmt.Sprintf("%.*f", s.IntN(15), s.Float64()*180-90)
	}
	return strings.Join(all, between)
}

// positions are those of a line.
func (s *deviceStyle) positions(n int) string {
	list := func(comma, blank string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = s.position(comma)
		}
		return strings.Join(all, blank)
	}
	switch s.IntN(6) {
	case 0:
		return "<gml:coordinates>" + list(",", " ") + "</gml:coordinates>"
	case 1:
		return "<gml:pos>" + list(" ", "</gml:pos><gml:pos>") + "</gml:pos>"
	}
	dimension, blank := "", []string{" ", "\n", "  "}[s.IntN(3)]
	if s.size == 3 {
		dimension = ` srsDimension="3"`
	}
	return "<gml:posList" + dimension + ">" + blank + list(" ", blank) + "</gml:posList>"
}

// TestDeviceAcceptsOrdinaryFiles holds the tables of the device against those of the CPU engine,
// and has it refuse nothing.
func TestDeviceAcceptsOrdinaryFiles(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			text := deviceFile(rand.New(rand.NewPCG(seed, 1)), 80)
			in := readertest.Input{Name: "a.gml", Text: text, Limits: readers.Limits{BatchRows: 100}}
			d := readertest.NewDevice(t, gml.Format(), 10<<10)
			d.Accepts(t, 2, in)
		})
	}
}

// TestDeviceFaults has calls of the device fail.
func TestDeviceFaults(t *testing.T) {
	text := deviceFile(rand.New(rand.NewPCG(7, 9)), 120)
	readertest.DeviceFaults(t, gml.Format(), readertest.Input{
		Name: "a.gml", Text: text,
		Limits: readers.Limits{BatchRows: 100},
	})
}

func TestDeviceLarge(t *testing.T) {
	readertest.DeviceLarge(t, gml.Format(), func() []readertest.Input {
		feature := `<f><id>7</id><g><Polygon gml:id="p"><exterior><LinearRing><posList>1 2 3.5 4.25 5 6 1 2</posList></LinearRing></exterior></Polygon></g><s>a &amp; b</s></f>`
		return []readertest.Input{{Name: "parcels.gml", Text: []byte(fc(slices.Repeat([]string{feature}, 12000)...))}}
	})
}

// TestDeviceMutants has one mistake, at each byte.
func TestDeviceMutants(t *testing.T) {
	const head, tail = "<FeatureCollection>", "</FeatureCollection>"
	rows := `<m:member><f gml:id="f.1"><a>1</a><g><Polygon srsName="EPSG:4326"><exterior><LinearRing><posList>0 0 0 1 1 1 0 0</posList></LinearRing></exterior></Polygon></g><b>x &amp; é</b></f></m:member>` + "\n" +
		`<m:member><f gml:id="f.2"><a>2.5</a><g><Polygon srsName="EPSG:4326"><exterior><LinearRing><posList>0 0 0 1 -1e0 1 0 0</posList></LinearRing></exterior></Polygon></g><b/></f></m:member>`
	d := readertest.NewDevice(t, gml.Format(), int64(len(rows)))
	from := len(head) + len(rows)
	d.Mutants(t, readertest.Input{
		Name: "a.gml",
		Text: []byte(head + strings.Repeat(rows, 4) + tail),
	}, from, from+len(rows), "<>/&;\" ,1-e:")
}
