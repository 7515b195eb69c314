package kml_test

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
	prefix  string
	gap     func() string // between tags
	odd     int           // one thing in n is odd
	columns int           // names of extended data
	types   bool          // times and typed data are of many kinds
	depth   int
}

// newSweepDocument writes the document of a seed.
func newSweepDocument(seed uint64) readertest.Input {
	r := rand.New(rand.NewPCG(seed, 9))
	w := &sweeper{Rand: r, odd: []int{10, 200, 1000, 1 << 40}[r.IntN(4)], columns: 1 + r.IntN(5), types: r.IntN(2) == 0}
	w.prefix = w.pick("", "", "", "kml:", "a.b-c:")
	w.gap = func() string { return "" }
	if r.IntN(2) == 0 {
		w.gap = func() string {
			return w.pick("", "\n", "\r\n\t", " ", " ", "<!-- <Placemark> -->", "<?a <Placemark>?>", "\n<!---->\n")
		}
	}
	in := readertest.Input{Name: "dir/a.kml"}
	text := w.document(w.pick("", "", "", "Latin1", "windows-1252", "UTF-8"))
	for range r.IntN(3) * r.IntN(2) {
		text = w.respelled(text)
	}
	in.Text = w.mutate([]byte(text))
	if r.IntN(5) == 0 {
		in.Layer = w.pick("d", "d", "A", "A_2", "Layer1", "a")
	}
	if r.IntN(3) == 0 {
		in.Options = map[string]any{"on_error": w.pick("skip", "null", "repair", "repair")}
	}
	in.Limits.BatchRows = 1 + r.IntN(8)
	if r.IntN(4) == 0 {
		in.Limits.BatchRows = 100
	}
	if r.IntN(4) == 0 {
		in.Limits.BatchBytes = 1 + r.Int64N(2000)
	}
	if r.IntN(10) == 0 {
		in.Limits.MaxFeatureBytes = 50 + r.Int64N(600)
	}
	if r.IntN(10) == 0 {
		in.Limits.MaxDepth = 3 + r.IntN(10)
	}
	return in
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

// tag returns an element.
func (w *sweeper) tag(name string, content ...string) string {
	name = w.prefix + name
	text := strings.Join(content, "")
	if text == "" && w.one(2) {
		return w.gap() + "<" + name + "/>"
	}
	attribute := ""
	if w.one(20) {
		attribute = w.pick(" id='i'", ` xmlns:q="x>y"`, " id = \"a&#x41;\tb\"", "\n")
	}
	return w.gap() + "<" + name + attribute + ">" + text + "</" + name + w.pick("", "", "", " ") + ">"
}

// respelled has elements that KML does not have, misplaced elements, and malformed tuples.
func (w *sweeper) respelled(text string) string {
	pairs := [][2]string{
		{"MultiGeometry", "MultiPoint"},
		{"MultiGeometry", "MultiPolygon"},
		{"MultiGeometry", "GeometryCollection"},
		{"LinearRing", "LINEARRING"},
		{"outerBoundaryIs", "LinearRing"},
		{"Point", "POINT"},
		{"LineString", "linestring"},
		{"coordinates", "Coordinates"},
		{"Placemark", "placemark"},
		{"Folder", "folder"},
		{"name", "Name"},
		{"Data", "data"},
		{" ", ","},
		{",", ", "},
		{",", ",,"},
		{"LinearRing", "coordinates"},
		{"Polygon", "MultiSurface"},
		{"Point", "NetworkLink"},
	}
	pair := pairs[w.IntN(len(pairs))]
	if w.IntN(2) == 0 {
		return strings.Replace(text, pair[0], pair[1], 1+w.IntN(4))
	}
	return strings.ReplaceAll(text, pair[0], pair[1])
}

func (w *sweeper) document(encoding string) string {
	head := ""
	if encoding != "" {
		head = `<?xml version="1.0" encoding='` + encoding + `'?>` + w.gap()
	} else if w.one(8) {
		head = "\uFEFF"
	}
	content := []string{w.tag("name", "d")}
	if w.one(2) {
		content = append(content, w.schema())
	}
	content = append(content, w.some(12, w.child))
	text := head + w.tag("kml", w.tag("Document", content...), w.some(1, w.child)) + w.gap()
	if encoding == "Latin1" || encoding == "windows-1252" {
		var b []byte
		for _, r := range text {
			b = append(b, byte(r))
		}
		return string(b)
	}
	return text
}

func (w *sweeper) schema() string {
	field := func() string {
		kind := w.pick("SimpleField", "SimpleField", "SimpleField", "SimpleArrayField")
		return fmt.Sprintf(`<%s%s name="%s" type="%s"/>`, w.prefix, kind, w.name(),
			w.pick("int", "float", "bool", "string", "uint", "short", "what"))
	}
	return fmt.Sprintf(`<%sSchema id="%s" name="n">%s</%[1]sSchema>`, w.prefix, w.pick("s", "s", "t"), w.some(5, field))
}

func (w *sweeper) name() string { return string(rune('a' + w.IntN(w.columns))) }

// child returns one of a container.
func (w *sweeper) child() string {
	switch w.IntN(16) {
	case 0, 1:
		if w.depth > 3 {
			return ""
		}
		w.depth++
		defer func() { w.depth-- }()
		name := ""
		if w.one(2) {
			name = w.tag("name", w.pick("A", "B", "A_2", " d ", ""))
		}
		return w.tag(w.pick("Folder", "Folder", "Document"), name, w.some(6, w.child))
	case 2:
		return w.schema()
	case 3:
		return w.tag(w.pick("Style", "NetworkLink", "Placemarks", "LookAt"), w.some(2, w.child), w.words())
	case 4:
		return w.tag("GroundOverlay", w.some(2, w.member), w.tag("LatLonBox", w.tag("north", w.number()),
			w.tag("south", w.number()), w.tag("east", w.number()), w.tag("west", "1")))
	case 5:
		return w.tag("GroundOverlay", w.some(2, w.member),
			w.tag("drawOrder", w.pick("1", "-2", "3000000000", "1.5", "")), w.tag("LatLonQuad", w.coordinates(4)))
	case 6:
		return w.tag("name", w.words())
	}
	if w.one(12) {
		return w.tag("Placemark")
	}
	return w.tag("Placemark", w.some(4, w.member), w.some(1, w.geometry), w.some(2, w.member))
}

func (w *sweeper) words() string {
	if w.isOdd() {
		return w.pick("<b>x</b>", "&nbsp;", "a<", "]]>", "\x01", "</Placemark>", "<![CDATA[", "<!-- -- -->",
			"&#0;", "&#x110000;", "\xff\xfe", "<b></c>")
	}
	return w.pick("", "a", "é", "&amp;&#65;", "<![CDATA[<Placemark>]]>", "x<!-- y -->z", "a\r\nb", " b ",
		"1", "2020-01-01", "日本", "a]]b", strings.Repeat("long ", 1+w.IntN(30)))
}

func (w *sweeper) when() string {
	if !w.types {
		return w.pick("2020-01-01T00:00:00Z", "2021-01-01T00:00:00.5Z")
	}
	return w.pick("2020-01-01T00:00:00Z", "2020-01-01", "2020", "2020-05", "spring", "", "2020-01-01T00:00:00+02:00",
		"2020-01-01T00:00:00", "2020-13")
}

func (w *sweeper) member() string {
	switch w.IntN(9) {
	case 0:
		return w.tag("name", w.words())
	case 1:
		return w.tag("description", w.words())
	case 2:
		return w.tag("TimeStamp", w.tag("when", w.when()))
	case 3:
		return w.tag("TimeSpan", w.tag("begin", w.when()), w.tag("end", w.when()))
	case 4:
		return w.tag("visibility", w.flag())
	case 5:
		return w.tag(w.pick("Snippet", "styleUrl", "Style", "address"), w.words())
	case 6:
		return w.tag("ExtendedData", w.some(3, func() string {
			return fmt.Sprintf(`<%sData name="%s">%s</%[1]sData>`, w.prefix, w.name(), w.some(1, func() string {
				return w.tag("value", w.words())
			}))
		}))
	}
	return w.extended()
}

// extended returns extended data of a schema.
func (w *sweeper) extended() string {
	return w.tag("ExtendedData", fmt.Sprintf(`<%sSchemaData schemaUrl="#%s">%s</%[1]sSchemaData>`, w.prefix,
		w.pick("s", "t", "n", "u"), w.some(4, func() string {
			if w.one(4) {
				values := w.some(3, func() string { return w.tag("value", w.value()) })
				return fmt.Sprintf(`<%sSimpleArrayData name='%s'>%s</%[1]sSimpleArrayData>`, w.prefix, w.name(), values)
			}
			return fmt.Sprintf(`<%sSimpleData name='%s'>%s</%[1]sSimpleData>`, w.prefix, w.name(), w.value())
		})))
}

func (w *sweeper) value() string {
	if w.types {
		return w.pick("1", "007", "", " 2 ", "3000000000", "1.5", "99999999999999999999", "-0", "true",
			"9007199254740993", w.words())
	}
	return w.pick("1", "0", "", "1 ")
}

func (w *sweeper) flag() string {
	if w.isOdd() {
		return w.pick("2", "yes", "-1")
	}
	return w.pick("0", "1", " 1", "true", "")
}

func (w *sweeper) number() string {
	if w.isOdd() {
		return w.pick("x", "nan", "1e999", "--1", "1.2.3", "", "1e")
	}
	return w.pick("0", "-1.5", "+2", "007", ".5", "5.", "1e2", fmt.Sprint(w.NormFloat64()),
		fmt.Sprintf("%.17g", w.Float64()*360-180), "-0", "1.7976931348623157e308",
		"4.9e-324", "123456789012345678901234567890.123456789012345678901234567890")
}

func (w *sweeper) tuple(comma string) string {
	n := 2
	if w.one(3) {
		n = 3
	}
	if w.isOdd() {
		n = w.IntN(5)
	}
	var all []string
	for range n {
		all = append(all, w.number())
	}
	return strings.Join(all, comma)
}

func (w *sweeper) coordinates(most int) string {
	var b strings.Builder
	for range w.IntN(most + 1) {
		comma := ","
		if w.one(30) {
			comma = w.pick(", ", " ,", " , ", "&#44;", ",<!-- , -->", "<![CDATA[,]]>")
		}
		b.WriteString(w.tuple(comma))
		if most > 1 {
			b.WriteString(w.pick(" ", "\n", "\t ", "  ", "<!-- -->\n", " "))
		}
	}
	return w.tag("coordinates", b.String())
}

// drawn returns what may be next to coordinates.
func (w *sweeper) drawn() string {
	return w.some(1, func() string {
		return w.tag(w.pick("extrude", "tessellate"), w.flag()) + w.some(1, func() string {
			return w.tag("altitudeMode", w.words())
		})
	})
}

func (w *sweeper) ring() string { return w.tag("LinearRing", w.coordinates(5)) }

func (w *sweeper) geometry() string {
	if w.depth > 6 {
		return ""
	}
	w.depth++
	defer func() { w.depth-- }()
	if w.isOdd() {
		return w.pick(w.tag("Model", w.words()), w.geometry()+w.geometry())
	}
	switch w.IntN(9) {
	case 0:
		return w.tag("LineString", w.drawn(), w.coordinates(6))
	case 1:
		return w.tag("LinearRing", w.coordinates(6))
	case 2, 3:
		outer, inner := w.tag("outerBoundaryIs", w.ring()), func() string {
			return w.tag("innerBoundaryIs", w.ring(), w.some(1, w.ring))
		}
		return w.tag("Polygon", w.drawn(), w.some(1, inner), outer, w.some(2, inner))
	case 4:
		return w.tag("MultiGeometry", w.some(4, w.geometry), w.drawn())
	case 5:
		kind := w.pick("Point", "LineString")
		return w.tag("MultiGeometry", w.some(4, func() string { return w.tag(kind, w.coordinates(1)) }))
	case 6:
		return w.track()
	case 7:
		return w.tag("MultiTrack", w.some(3, w.track))
	}
	return w.tag("Point", w.drawn(), w.coordinates(1))
}

func (w *sweeper) track() string {
	return w.tag("Track", w.some(3, func() string {
		return w.tag("when", w.when())
	}), w.some(3, func() string { return w.tag("coord", w.tuple(" ")) }), w.some(1, w.extended))
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
				"<a>", "</a>", "<Placemark>", "</Placemark>", "</Folder>", "<Folder>", ",", " ", "1",
				"\xc3", "<?x?>", "<a b='1' b='2'/>", "<!DOCTYPE x>")
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
