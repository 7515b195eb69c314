package geojson

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/readers/readertest"
)

// sweepChunks are the sizes of chunks that documents of the sweep are read in.
var sweepChunks = []int64{900, 1800, 4000, 12_000, 60_000}

// sweepEngine returns the index in sweepChunks of the chunks that the document of a seed is read in.
// Few are several tiles of the kernels.
func sweepEngine(seed uint64) int {
	r := rand.New(rand.NewPCG(seed, 4))
	if r.IntN(50) == 0 {
		return 3 + r.IntN(8)/7
	}
	return []int{0, 0, 1, 1, 1, 1, 1, 2, 2, 2}[r.IntN(10)]
}

// sweeper writes documents of several chunks whose features begin alike, so that a device reads
// most of them: what a document has little of is in all of its chunks, and nothing is odd in
// every document.
type sweeper struct {
	*generator
	order    []string // of the members of features
	open     string   // what a feature begins with, before its first member
	kinds    []int    // of geometries
	dim      int      // ordinates of most positions
	oddDim   int      // one position in n has others; 0: none
	ids      int      // kind of ids; -1: none
	columns  []sweepColumn
	fresh    bool // each feature has a property of its own
	features int
	oddities int // one thing in n is odd
}

// sweepColumn is a property of features from one on, with values of one kind as a rule.
type sweepColumn struct {
	name  string
	kind  int
	first int
	rare  int // one feature in n lacks it
}

// newSweepDocument writes the document of a seed.
func newSweepDocument(seed uint64) readertest.Input {
	g := newGenerator(seed)
	g.Shuffle(len(g.names), func(i, j int) { g.names[i], g.names[j] = g.names[j], g.names[i] })
	g.dups, g.compact, g.wild, g.loose = g.one(20), true, g.one(4), g.one(3)
	w := &sweeper{generator: g, oddities: []int{8, 60, 400, 1 << 30}[g.IntN(4)]}
	w.plan()
	chunk := int(sweepChunks[sweepEngine(seed)])
	text, sequence := w.document(2*chunk + chunk/2 + g.IntN(3*chunk))
	d := readertest.Input{Name: "a.geojson", Text: w.mutateSome([]byte(text), chunk)}
	if sequence && !g.one(4) {
		d.Name = g.pick("a.geojsonl", "a.geojsons", "a.ndjson")
	}
	if g.one(3) {
		d.Options = map[string]any{"on_error": g.pick("skip", "null", "repair")}
	}
	if g.one(2) {
		d.Limits.BatchRows = 1 + g.IntN(40)
	}
	if g.one(30) {
		d.Limits.MaxDepth = 5 + g.IntN(8)
	}
	if g.one(30) {
		d.Limits.MaxFeatureBytes = int64(100 + g.IntN(600))
	}
	return d
}

// odd reports now and then that something is to be odd.
func (w *sweeper) odd() bool { return w.one(w.oddities) }

// plan decides what the features of a document have in common.
func (w *sweeper) plan() {
	w.order = []string{"type", "id", "properties", "geometry", "bbox"}
	if w.one(2) {
		w.Shuffle(len(w.order), func(i, j int) { w.order[i], w.order[j] = w.order[j], w.order[i] })
		for w.order[0] == "id" || w.order[0] == "bbox" { // not all features have them
			w.order = append(w.order[1:], w.order[0])
		}
	}
	w.open = w.pick("{", "{", "{ ", "{\n  ", "{\t")
	switch kind := w.IntN(6); w.IntN(5) {
	case 0, 1:
		w.kinds = []int{kind}
	case 2:
		w.kinds = []int{kind, (kind + 3) % 6}
	case 3:
		w.kinds = []int{kind, w.IntN(6), 6}
	case 4:
		w.kinds = []int{0, 1, 2, 3, 4, 5, 6}[:6+w.IntN(2)]
	}
	w.dim = 2 + w.IntN(3)/2
	w.oddDim = []int{0, 0, 3, 50}[w.IntN(4)]
	w.ids = w.IntN(12) - 6
	for i, name := range w.names {
		if slices.Contains(w.names[:i], name) && !w.dups {
			continue
		}
		w.columns = append(w.columns, sweepColumn{name: name, kind: w.generator.kinds[i]})
	}
	if w.one(8) {
		for i := range 10 + w.IntN(60) {
			name := fmt.Sprintf("c%d%s", i, strings.Repeat("_long", w.IntN(3)*w.IntN(20)))
			w.columns = append(w.columns, sweepColumn{name: name, kind: w.IntN(14), rare: 2 + w.IntN(3)})
		}
	}
	w.fresh = w.one(40)
	for i := range w.columns {
		c := &w.columns[i]
		if w.one(5) {
			c.first = w.IntN(40)
		}
		if w.one(3) {
			c.rare = 2 + w.IntN(20)
		}
	}
}

// document returns about n bytes, and maybe a sequence.
func (w *sweeper) document(size int) (text string, sequence bool) {
	var b strings.Builder
	form := w.IntN(10) // 0 to 2: a sequence, 3: an array, else a collection
	separator, end := w.pick(",", ",\n", ", ", " ,\r\n", ",\n\n  "), ""
	switch {
	case form < 3:
		separator = w.pick("\n", "\n", "\r\n", "\n\x1e", "\n\n", " \n\t")
		b.WriteString(w.pick("", "", "\x1e", "\xEF\xBB\xBF"))
	case form == 3:
		b.WriteString("[")
		end = w.pick("]", "]\n", " ]")
	default:
		b.WriteString("{")
		if w.one(3) {
			fmt.Fprintf(&b, `"name":%s,"bbox":[1,2,3,4],"x":%s,`, w.text(), w.anyValue(2))
		}
		if w.one(8) {
			fmt.Fprintf(&b, `"crs":%s,`, w.crs())
		}
		b.WriteString(w.pick(`"type":"FeatureCollection","features":[`, `"type": "FeatureCollection",`+
			"\n"+`"features": [`+"\n", `"features":[`))
		end = w.pick("]}", "]\n}\n", `],"x":{"type":"Feature"}}`)
		if !strings.Contains(b.String(), "FeatureCollection") {
			end = `],"type":"FeatureCollection"}`
		}
	}
	for b.Len() < size {
		if w.features > 0 {
			b.WriteString(separator)
			if w.loose && w.odd() {
				b.WriteString(w.pick(" ", "\n", "\t\t", "\r\n "))
			}
		}
		if form < 3 && w.odd() && w.odd() {
			b.WriteString(w.shape())
		} else {
			b.WriteString(w.oneFeature())
		}
		w.features++
	}
	if form < 3 {
		end = w.pick("", "\n", "\r\n", "\n\n ")
	}
	return b.String() + end, form < 3
}

// oneFeature returns the next feature.
func (w *sweeper) oneFeature() string {
	var b strings.Builder
	b.WriteString(w.open)
	n := 0
	add := func(name, value string) {
		if n > 0 {
			b.WriteString("," + w.blank())
		}
		if n == 0 {
			fmt.Fprintf(&b, `"%s":%s`, name, value)
		} else {
			fmt.Fprintf(&b, `"%s"%s:%s%s%s`, name, w.blank(), w.blank(), value, w.blank())
		}
		n++
	}
	for i, name := range w.order {
		value, odd := "", w.odd() && (i > 0 || w.one(4))
		switch name {
		case "type":
			value = `"Feature"`
			if odd {
				value = w.pick(`"Feature"`, `"Feature"`, `"Feature"`, `"Feat\u0075re"`)
				name = w.pick("type", `t\u0079pe`)
			}
		case "id":
			value = w.id()
		case "properties":
			if value = w.someProperties(); odd {
				value = w.pick("", "null", "{}", "{ }")
			}
		case "geometry":
			if value = w.shape(); odd {
				value = w.pick("", "null", "null")
			}
		case "bbox":
			if odd {
				value = w.pick("[1,2,3,4]", "[ 1 , 2 ]", "null", `"none"`)
			}
		}
		if value != "" {
			add(name, value)
		}
		if w.odd() && w.one(2) {
			add(w.pick("foreign", "meta", "links", "coordinates", "features", "é", `\u0066oreign`,
				"geometries", strings.Repeat("x", 300)), w.anyValue(3))
		}
	}
	return b.String() + w.blank() + "}"
}

// id returns one, or "".
func (w *sweeper) id() string {
	kind := w.ids
	if kind < 0 {
		return ""
	}
	if w.odd() {
		kind = w.IntN(7)
	}
	switch kind {
	case 0:
		return fmt.Sprint(w.features)
	case 1:
		return fmt.Sprintf(`"id-%d"`, w.features)
	case 2:
		return w.integer()
	case 3:
		return w.pick("", "null", "1", "-1", "0")
	case 4:
		return w.text()
	case 5:
		return w.float()
	}
	return `"` + w.date() + `"`
}

// someProperties are those of the next feature.
func (w *sweeper) someProperties() string {
	var members []member
	for _, c := range w.columns {
		if w.features < c.first || c.rare > 0 && w.one(c.rare) {
			continue
		}
		kind := c.kind
		if w.wild && w.odd() {
			kind = w.IntN(14)
		}
		value := w.value(kind, 3)
		if kind == 2 && w.odd() {
			value = w.longNumber()
		}
		if kind == 4 && w.odd() {
			value = `"` + strings.Repeat(w.pick("long ", "é", `\n`, "日", `\ud83d\ude00`, `\\`), 20+w.IntN(300)) + `"`
		}
		members = append(members, member{c.name, value})
	}
	if w.fresh {
		members = append(members, member{fmt.Sprintf("fresh%d", w.features), w.anyValue(1)})
	}
	return w.object(members)
}

// longNumber returns one that few digits do not decide.
func (w *sweeper) longNumber() string {
	return w.pick("1."+strings.Repeat("0", 30+w.IntN(800))+"1", "9007199254740993."+strings.Repeat("0", w.IntN(60))+
		w.pick("", "1"), strings.Repeat("9", 17+w.IntN(300)), "0."+strings.Repeat("0", w.IntN(340))+"123",
		"1e-"+strings.Repeat("0", w.IntN(30))+"9", "-"+strings.Repeat("7", 20)+"e-20", "5e-324",
		"2.4703282292062327e-324", "1.7976931348623158e308", "89255.37219374799999e0",
		"100000000000000016777215.99999999999999999999")
}

// shape returns a geometry.
func (w *sweeper) shape() string {
	kind := w.kinds[w.IntN(len(w.kinds))]
	if w.odd() {
		kind = w.IntN(7)
	}
	return w.shapeOf(kind, 0)
}

func (w *sweeper) shapeOf(kind, depth int) string {
	if kind == 6 {
		inner := some(w.IntN(4), func() string {
			k := w.IntN(6)
			if depth < 2 && w.odd() {
				k = 6
			}
			return w.shapeOf(k, depth+1)
		})
		return w.object(w.foreign([]member{{"type", `"GeometryCollection"`}, {"geometries", w.array(inner)}}))
	}
	name := []string{"Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon"}[kind]
	coordinates := w.coordinates([]int{0, 1, 2, 1, 2, 3}[kind])
	if kind == 0 && w.odd() {
		coordinates = "[" + w.blank() + "]"
	}
	members := []member{{"type", `"` + name + `"`}, {"coordinates", coordinates}}
	if w.odd() {
		members[0], members[1] = members[1], members[0]
	}
	return w.object(w.foreign(members))
}

// foreign sometimes adds a foreign member.
func (w *sweeper) foreign(members []member) []member {
	if w.odd() {
		members = append(members, member{w.pick("bbox", "x", "properties", "coordinates_", "id", "crs"), w.anyValue(2)})
	}
	return members
}

// coordinates returns arrays so deep.
func (w *sweeper) coordinates(level int) string {
	if level == 0 {
		n := w.dim
		if w.oddDim > 0 && w.one(w.oddDim) {
			n = 2 + w.IntN(4)
		}
		if w.odd() && w.one(3) {
			return w.array(some(n, w.longNumber))
		}
		return w.array(some(n, w.float))
	}
	if level == 1 && w.one(4) { // a ring that closes
		p := w.coordinates(0)
		return w.array([]string{p, w.coordinates(0), w.coordinates(0), p})
	}
	return w.array(some([]int{0, 1, 2, 3, 5}[w.IntN(5)], func() string { return w.coordinates(level - 1) }))
}

var sweepTokens = append([]string{
	`\ud800`, `\udc00`, `\u0000`, `\ud83d\ude00`, `\`, `\\`, `\"`, `"`, `""`, "\x01", "\x1f", "\x7f",
	"\x80", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "é", "\u2028", "0", "9", "-", "+", ".", "e",
	"E5", "-0", "1e400", "00",
	"\n", "\r", "\v", "\f", "\x1e\n", "\xc2\xa0", `{"type":"Feature",`, `,"a":1`, `"a":1,`, `,"type":"Feature"`,
	`,"id":2`, `]}`, `}}`, `]]`, `[[`, `[]`, `null`, `nul`, `true`, "[1,2]", `"coordinates":[]`, `"bbox":[1]`,
}, oracleTokens...)

// mutateSome makes up to three mistakes, most of them after the first chunk.
func (w *sweeper) mutateSome(text []byte, chunk int) []byte {
	for range []int{0, 0, 1, 1, 1, 2, 3}[w.IntN(7)] {
		if len(text) <= 1 {
			return text
		}
		at := w.IntN(len(text))
		if w.IntN(5) > 0 && len(text) > chunk+1 {
			at = chunk + w.IntN(len(text)-chunk)
		}
		text = w.mutateAt(text, at)
	}
	return text
}

// mutateAt makes a mistake at or near a byte.
func (w *sweeper) mutateAt(text []byte, at int) []byte {
	spliced := func(from, to int, with string) []byte {
		return append(append(append([]byte{}, text[:from]...), with...), text[to:]...)
	}
	span := func(from int) (to int) { return min(len(text), from+1+w.IntN(1+w.IntN(80))) }
	switch w.IntN(14) {
	case 10, 11, 12: // another value
		if from, to := valueBehind(text, at); from < to {
			return spliced(from, to, w.otherValue())
		}
		return text
	case 13: // another name
		if colon := strings.IndexByte(string(text[at:]), ':'); colon > 0 {
			end := at + len(strings.TrimRight(string(text[at:at+colon]), " \t\r\n")) - 1
			if from := strings.LastIndexByte(string(text[:max(0, end)]), '"'); from >= 0 && end > from {
				return spliced(from+1, end, w.pick("type", "geometry", "properties", "id", "coordinates",
					"geometries", "bbox", "crs", "features", "a", `t\u0079pe`, `\u0061`, `\ud800`, `\udfff`,
					"\ufffd", "", "new"))
			}
		}
		return text
	case 0: // a bit
		return spliced(at, at+1, string([]byte{text[at] ^ 1<<w.IntN(8)}))
	case 1: // a byte
		return spliced(at, at+1, string([]byte{byte(w.IntN(256))}))
	case 2:
		return spliced(at, span(at), "")
	case 3: // a span twice
		from := w.IntN(len(text))
		return spliced(at, at, string(text[from:span(from)]))
	case 4:
		return w.swapTokens(text)
	case 5, 6:
		return spliced(at, at+w.IntN(2), sweepTokens[w.IntN(len(sweepTokens))])
	case 7: // a token elsewhere
		for at < len(text)-1 && strings.IndexByte(`{}[],:"`, text[at]) < 0 {
			at++
		}
		return spliced(at, at+1, w.pick("", "{", "}", "[", "]", ",", ":", `"`))
	case 8: // another digit
		for at < len(text)-1 && (text[at] < '0' || text[at] > '9') {
			at++
		}
		return spliced(at, at+1, w.pick("", "0", "00", "7", "-", ".", "e", "99999999999999999999"))
	}
	if w.one(4) {
		return text[:at]
	}
	return spliced(at, at, w.pick(" ", "\n", "\t", "\r\n"))
}

// otherValue returns a value that may replace any other.
func (w *sweeper) otherValue() string {
	return w.pick("null", "true", "1", "-1.5", `"x"`, `""`, "[]", "{}", "[1,2]", "[[1,2],[3,4]]",
		"[[[1,2],[3,4],[5,6],[1,2]]]", "[null]", `["1","2"]`, `{"type":"Point","coordinates":[1,2]}`, `{"type":"X"}`,
		`{"coordinates":[1,2]}`, `"Point"`, `"LineString"`, `"MultiPolygon"`, `"GeometryCollection"`,
		`"Feature"`, "1e400", "01", "9223372036854775808", `"2024-02-29"`, w.anyValue(2), w.shape(),
		"["+w.shape()+"]", w.text(), w.integer(),
		strings.Repeat("[", 9)+strings.Repeat("]", 9), `{"a":[1e400]}`, "[1e400]", "[1,01]", `{"a":1,"a":2}`,
		`{"a" 1}`, "[1,]", `["\x"]`, "[tru]")
}

// valueBehind returns about where the value of the first member at or after a byte is.
func valueBehind(text []byte, at int) (from, to int) {
	colon := bytes.IndexByte(text[at:], ':')
	if colon < 0 {
		return at, at
	}
	from = at + colon + 1
	open, inside := 0, false
	for to = from; to < len(text); to++ {
		switch c := text[to]; {
		case inside && c == '\\':
			to++
		case c == '"':
			inside = !inside
		case inside:
		case c == '{' || c == '[':
			open++
		case c == '}' || c == ']' || c == ',':
			if open == 0 {
				return from, to
			}
			if c != ',' {
				open--
			}
		}
	}
	return from, min(to, len(text))
}
