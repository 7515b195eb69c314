package gml_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/vibeflight/vibeflight/readers/readertest"
)

// sweeper writes documents of everything that the grammar has.
type sweeper struct {
	*rand.Rand
	prefix  string        // of elements that are GML's
	gap     func() string // between tags
	odd     int           // one thing in n is odd
	columns int           // names of values
	types   bool          // values are of many kinds
	systems []string      // of reference, some of which swap axes
	size    int           // of positions
	depth   int
}

// newSweepDocument writes the document of a seed.
func newSweepDocument(seed uint64) readertest.Input {
	r := rand.New(rand.NewPCG(seed, 11))
	w := &sweeper{
		Rand: r, odd: []int{10, 200, 1000, 1 << 40}[r.IntN(4)], columns: 1 + r.IntN(5),
		types: r.IntN(2) == 0, size: 2 + r.IntN(2),
	}
	w.prefix = w.pick("", "gml:", "gml:", "a.b-c:")
	w.systems = []string{""}
	if r.IntN(2) == 0 {
		w.systems = []string{w.pick("urn:ogc:def:crs:EPSG::4326", "EPSG:4326",
			"http://www.opengis.net/def/crs/EPSG/0/25832", "of our own", "EPSG:7415", "urn:ogc:def:crs:EPSG::x")}
	}
	if r.IntN(6) == 0 {
		w.systems = append(w.systems, "EPSG:3857", "")
	}
	w.gap = func() string { return "" }
	if r.IntN(2) == 0 {
		w.gap = func() string {
			return w.pick("", "\n", "\r\n\t", " ", " ", "<!-- <featureMember> -->", "<?a <featureMember>?>",
				"\n<!---->\n")
		}
	}
	text := w.document(w.pick("", "", "", "ISO-8859-1", "windows-1252", "UTF-8"))
	in := readertest.Input{Name: "dir/a.gml", Text: w.mutate([]byte(text))}
	w.choose(&in)
	return in
}

// choose draws the layer, the options, the schema and the limits.
func (w *sweeper) choose(in *readertest.Input) {
	if w.one(5) {
		in.Layer = w.pick("f", "g", "g", "h", "none")
	}
	in.Options = map[string]any{}
	if w.one(2) {
		in.Options["on_error"] = w.pick("skip", "null", "repair")
	}
	if w.one(8) {
		in.Options["geometry"] = w.pick("a", "b", "g", "shape")
	}
	in.Options["linearize"] = w.one(2)
	if w.one(6) {
		in.Options["axis_order"] = w.pick("xy", "yx")
	}
	if w.one(5) {
		in.Siblings = map[string][]byte{".xsd": []byte(w.schema())}
	}
	in.Limits.BatchRows = 1 + w.IntN(8)
	if w.one(4) {
		in.Limits.BatchRows = 100
	}
	if w.one(4) {
		in.Limits.BatchBytes = 1 + w.Int64N(2000)
	}
	if w.one(10) {
		in.Limits.MaxFeatureBytes = 50 + w.Int64N(600)
	}
	if w.one(10) {
		in.Limits.MaxDepth = 3 + w.IntN(10)
	}
}

func (w *sweeper) one(n int) bool { return w.IntN(n) == 0 }

func (w *sweeper) isOdd() bool { return w.IntN(w.odd) == 0 }

func (w *sweeper) pick(from ...string) string { return from[w.IntN(len(from))] }

// some returns up to n of what f gives.
func (w *sweeper) some(n int, f func() string) string {
	var b strings.Builder
	for range w.IntN(n + 1) {
		b.WriteString(f())
	}
	return b.String()
}

// element returns one with attributes, each of which has a blank in front.
func (w *sweeper) element(name, attributes string, content ...string) string {
	text := strings.Join(content, "")
	if w.one(20) {
		attributes += w.pick(" xml:lang='e'", ` xmlns:q="x>y"`, " a = \"a&#x41;\tb\"", "\n")
	}
	if text == "" && w.one(2) {
		return w.gap() + "<" + name + attributes + "/>"
	}
	return w.gap() + "<" + name + attributes + ">" + text + "</" + name + w.pick("", "", "", " ") + ">"
}

// tag returns an element that is GML's.
func (w *sweeper) tag(name string, content ...string) string {
	return w.element(w.prefix+name, w.named(8), content...)
}

// named returns a srsName on one element in n.
func (w *sweeper) named(n int) string {
	srs := w.pick(w.systems...)
	if srs == "" || !w.one(n) {
		return ""
	}
	return ` srsName="` + srs + `"`
}

func (w *sweeper) document(encoding string) string {
	head := ""
	if encoding != "" {
		head = `<?xml version="1.0" encoding='` + encoding + `'?>` + w.gap()
	} else if w.one(8) {
		head = "\uFEFF"
	}
	text := head + w.collection() + w.gap()
	if encoding == "ISO-8859-1" || encoding == "windows-1252" {
		var b []byte
		for _, r := range text {
			b = append(b, byte(r))
		}
		return string(b)
	}
	return text
}

func (w *sweeper) collection() string {
	bounds := w.some(1, w.bounds)
	if w.one(3) {
		return w.element("FeatureCollection", "", bounds, w.tag("featureMembers", w.some(12, w.feature)))
	}
	return w.element("FeatureCollection", "", bounds, w.some(12, w.member))
}

func (w *sweeper) bounds() string {
	corner := func(name string) string { return w.element(w.prefix+name, "", w.number()+" "+w.number()) }
	srs := ""
	if name := w.systems[0]; name != "" {
		srs = ` srsName="` + name + `"`
	}
	if w.one(3) {
		srs += w.pick(` srsDimension="2"`, ` srsDimension="3"`)
	}
	return w.element(w.prefix+"boundedBy", "", w.element(w.prefix+"Envelope", srs, corner("lowerCorner"),
		corner("upperCorner")))
}

func (w *sweeper) member() string {
	switch {
	case w.depth < 2 && w.one(12):
		w.depth++
		defer func() { w.depth-- }()
		return w.element("wfs:member", "", w.collection())
	case w.one(12):
		return w.element("other", "", w.some(2, w.feature), w.words())
	}
	return w.tag(w.pick("featureMember", "featureMember", "member"), w.some(1, w.feature), w.some(1, w.feature))
}

func (w *sweeper) feature() string {
	id := ""
	if w.one(2) {
		id = w.pick(` fid="f.1"`, ` gml:id="g1"`, ` gml:id=""`)
	}
	bounds := ""
	if w.one(10) {
		bounds = w.bounds()
	}
	geometry := func() string { return w.element(w.pick("geom", "the_geom"), "", w.some(1, w.geometry)) }
	return w.element(w.pick("f", "f", "f", "ns:g", "h"), id, bounds, w.some(4, w.value), w.some(1, geometry),
		w.some(2, w.value))
}

func (w *sweeper) name() string { return string(rune('a' + w.IntN(w.columns))) }

func (w *sweeper) value() string {
	switch {
	case w.one(10) && w.depth < 5:
		w.depth++
		defer func() { w.depth-- }()
		return w.element("nest", "", w.some(3, w.value), w.words())
	case w.one(15):
		return w.element(w.name(), w.pick(` uom="m2"`, ` xlink:href="#o1"`, ` xsi:nil="true"`), w.scalar())
	}
	return w.element(w.name(), "", w.scalar())
}

func (w *sweeper) scalar() string {
	if w.types {
		return w.pick("1", "007", "", " 2 ", "3000000000", "1.5", "99999999999999999999", "-0", "+5",
			"true", "9007199254740993", "2020-01-01", "2020-01-01T00:00:00Z", "12:00:00", "NaN", w.words())
	}
	return w.pick("1", "0", "", "1 ")
}

func (w *sweeper) words() string {
	if w.isOdd() {
		return w.pick("<b>x</b>", "&nbsp;", "a<", "]]>", "\x01", "</featureMember>", "<![CDATA[",
			"<!-- -- -->", "&#0;", "\xff\xfe", "<b></c>")
	}
	return w.pick("", "a", "é", "&amp;&#65;", "<![CDATA[<f>]]>", "x<!-- y -->z", "a\r\nb", " b ", "日本",
		"a]]b", strings.Repeat("long ", 1+w.IntN(30)))
}

func (w *sweeper) number() string {
	if w.isOdd() {
		return w.pick("x", "nan", "1e999", "--1", "1.2.3", "", "1e")
	}
	return w.pick("0", "-1.5", "+2", "007", ".5", "5.", "1e2", fmt.Sprint(w.NormFloat64()),
		fmt.Sprintf("%.17g", w.Float64()*360-180), "-0", "1.7976931348623157e308",
		"4.9e-324", "123456789012345678901234567890.123456789012345678901234567890")
}

// position returns the ordinates of one.
func (w *sweeper) position(between string) string {
	n := w.size
	if w.isOdd() {
		n = w.IntN(6)
	}
	var all []string
	for range n {
		all = append(all, w.number())
	}
	return strings.Join(all, between)
}

// positions are those of a line, in one of the ways to write them.
func (w *sweeper) positions(most int) string {
	n := w.IntN(most + 1)
	list := func(comma, blank string) string {
		var all []string
		for range n {
			all = append(all, w.position(comma))
		}
		return strings.Join(all, blank)
	}
	switch w.IntN(4) {
	case 0:
		return w.tag("coordinates", list(",", w.pick(" ", "\n", "  ")))
	case 1:
		var b strings.Builder
		for range n {
			b.WriteString(w.tag("pos", w.position(" ")))
		}
		return b.String()
	case 2:
		return w.element(w.prefix+"coordinates", ` cs=" " ts=";" decimal="."`, list(" ", ";"))
	}
	dimension := ""
	if w.size == 3 || w.one(4) {
		dimension = fmt.Sprintf(` srsDimension="%d"`, w.size)
	}
	return w.element(w.prefix+"posList", dimension, list(" ", w.pick(" ", "\n", "\t", "<!-- -->\n")))
}

func (w *sweeper) ring() string { return w.tag("LinearRing", w.positions(5)) }

func (w *sweeper) polygon() string {
	if w.one(2) {
		return w.tag("Polygon", w.tag("outerBoundaryIs", w.ring()), w.some(2, func() string {
			return w.tag("innerBoundaryIs", w.ring())
		}))
	}
	inner := func() string { return w.tag("interior", w.ring()) }
	return w.tag("Polygon", w.some(1, inner), w.tag("exterior", w.ring()), w.some(2, inner))
}

func (w *sweeper) geometry() string {
	if w.depth > 5 {
		return ""
	}
	w.depth++
	defer func() { w.depth-- }()
	if w.isOdd() {
		return w.pick(w.tag("Solid", w.words()), w.tag("Arc", w.positions(3)), w.geometry()+w.geometry())
	}
	switch w.IntN(9) {
	case 0:
		return w.tag("LineString", w.positions(6))
	case 1, 2:
		return w.polygon()
	case 3:
		return w.tag("MultiGeometry", w.some(3, func() string { return w.tag("geometryMember", w.geometry()) }))
	case 4:
		return w.tag("MultiPoint", w.some(3, func() string {
			return w.tag("pointMember", w.point())
		}), w.some(1, func() string { return w.tag("pointMembers", w.some(2, w.point)) }))
	case 5:
		return w.tag("MultiSurface", w.some(3, func() string { return w.tag("surfaceMember", w.polygon()) }))
	case 6:
		return w.tag("Curve", w.tag("segments", w.some(2, func() string {
			return w.tag("LineStringSegment", w.positions(4))
		})))
	case 7:
		return w.tag("Surface", w.tag("patches", w.some(2, func() string {
			return w.tag("PolygonPatch", w.tag("exterior", w.ring()))
		})))
	}
	return w.point()
}

func (w *sweeper) point() string {
	return w.tag("Point", w.pick(w.tag("pos", w.position(" ")), w.tag("coordinates", w.position(","))))
}

// schema returns an .xsd that says the types of some values.
func (w *sweeper) schema() string {
	element := func() string {
		return fmt.Sprintf(`<xs:element name="%s" type="xs:%s" minOccurs="0"%s/>`, w.name(),
			w.pick("string", "int", "long", "integer", "double", "boolean", "date", "dateTime"),
			w.pick("", "", "", ` maxOccurs="unbounded"`))
	}
	return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="f" type="T"/><xs:complexType name="T"><xs:sequence>` + w.some(4, element) +
		`</xs:sequence></xs:complexType></xs:schema>`
}

// mutate breaks most documents in one to three places.
func (w *sweeper) mutate(text []byte) []byte {
	if w.one(2) || len(text) == 0 {
		return text
	}
	for range 1 + w.IntN(3) {
		at := w.IntN(len(text) + 1)
		to := min(len(text), at+1+w.IntN([]int{1, 5, 200}[w.IntN(3)]))
		switch w.IntN(7) {
		case 0:
			if at < len(text) {
				text = bytes.Clone(text)
				text[at] = byte(w.IntN(256))
			}
		case 1:
			text = append(bytes.Clone(text[:at]), text[to:]...)
		case 2:
			text = bytes.Clone(text[:at])
		case 3, 4:
			odd := w.pick("<", ">", "&", "\"", "\x00", "</", "/>", "]]>", "<!--", "-->", "<![CDATA[",
				"<a>", "</a>", "<f>", "</f>", "<featureMember>", "</featureMember>", ",", " ", "1", "\xc3",
				"<?x?>", "<a b='1' b='2'/>", "<!DOCTYPE x>")
			text = bytes.Join([][]byte{text[:at], text[at:]}, []byte(odd))
		case 5:
			text = bytes.Join([][]byte{text[:at], text[at:to], text[at:]}, nil)
		default:
			from := w.IntN(len(text) + 1)
			end := min(len(text), from+to-at)
			text = bytes.Join([][]byte{text[:at], text[at:]}, text[from:end])
		}
		if len(text) == 0 {
			break
		}
	}
	return text
}
