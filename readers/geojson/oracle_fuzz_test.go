package geojson

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vibeflight/vibeflight/readers"
	"github.com/vibeflight/vibeflight/readers/readertest"
	"github.com/vibeflight/vibeflight/readers/source"
)

// oracleRun is how a document is read.
type oracleRun struct {
	lines     bool // the name promises a sequence
	batchRows int  // 0: the default
	readBytes int  // 0: the default
}

// parseFile reads data with the parser, from a file at path that it overwrites.
func (r oracleRun) parseFile(path string, data []byte) (*readers.Table, error) {
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return nil, err
	}
	name := "f.geojson"
	if r.lines {
		name = "f.geojsonl"
	}
	src, err := source.Open(name, path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	opts, err := Format().ParseOptions(nil)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	layout, err := Format().Open(ctx, src, opts)
	if err != nil {
		return nil, err
	}
	p := parser{layout: layout, readBytes: r.readBytes}
	return readers.Read(ctx, Format(), p, src, readers.Limits{BatchRows: r.batchRows}, nil)
}

// difference says where the parser and the oracle disagree about data, or "".
func (r oracleRun) difference(path string, data []byte) string {
	got, err := r.parseFile(path, data)
	want, o, wantErr := runOracle(data, r.lines)
	if err != nil {
		if wantErr == nil {
			if o.oddCRS && strings.Contains(err.Error(), "crs") { // what such a member means is open
				return ""
			}
			return "the parser refuses what the oracle accepts: " + err.Error()
		}
		return r.errorDifference(path, data, err)
	}
	if wantErr != nil {
		return "the parser accepts what the oracle refuses: " + wantErr.Error()
	}
	table, err := neutralTable(got)
	if err != nil {
		return err.Error()
	}
	if o.oddCRS {
		table.crs = want.crs
	}
	return table.difference(want)
}

// errorDifference checks that an error is in the file and is the same for the whole file at once.
func (r oracleRun) errorDifference(path string, data []byte, err error) string {
	var parse *readers.ParseError
	var limit *readers.LimitError
	switch {
	case errors.As(err, &parse):
		if parse.Offset < 0 || parse.Offset > int64(len(data)) {
			return "an error outside of the file: " + err.Error()
		}
	case !errors.As(err, &limit):
		return "an error of no known kind: " + err.Error()
	}
	if _, whole := (oracleRun{lines: r.lines}).parseFile(path, data); whole == nil || whole.Error() != err.Error() {
		return fmt.Sprintf("two errors: %v, at once %v", err, whole)
	}
	return ""
}

// inParts has several workers read data in parts of about a 64th to the half of it, as size says,
// and asks for what one worker gives.
func (r oracleRun) inParts(t testing.TB, data []byte, size int, skip bool) {
	t.Helper()
	in := readertest.Input{Name: "f.geojson", Text: data, Limits: readers.Limits{BatchRows: r.batchRows}}
	if r.lines {
		in.Name = "f.geojsonl"
	}
	if skip {
		in.Options = map[string]any{"on_error": "skip"}
	}
	part := 1 + len(data)/64 + size%(len(data)/2+1)
	readertest.Same(t, Format(), in, []int{part}, readertest.Variant{Name: "parallel", Parser: Parallel})
}

// difference returns the first difference of two tables.
func (t *neutral) difference(want *neutral) string {
	switch {
	case t.crs != want.crs:
		return fmt.Sprintf("crs: got %q, want %q", t.crs, want.crs)
	case len(t.wkb) != len(want.wkb):
		return fmt.Sprintf("rows: got %d, want %d", len(t.wkb), len(want.wkb))
	case len(t.columns) != len(want.columns):
		return fmt.Sprintf("columns: got %d, want %d", len(t.columns), len(want.columns))
	case t.kind != want.kind || t.dim != want.dim:
		return fmt.Sprintf("geometry: got %s %d, want %s %d", t.kind, t.dim, want.kind, want.dim)
	case t.counts != want.counts:
		return fmt.Sprintf("counts: got %+v, want %+v", t.counts, want.counts)
	}
	for i, c := range t.columns {
		w := want.columns[i]
		if c.name != w.name || c.typ != w.typ {
			return fmt.Sprintf("column %d: got %q %s, want %q %s", i, c.name, c.typ, w.name, w.typ)
		}
		if s := rowDifference(c.rows, w.rows); s != "" {
			return fmt.Sprintf("column %q %s, %s", c.name, c.typ, s)
		}
	}
	if s := rowDifference(t.wkb, want.wkb); s != "" {
		return "wkb, " + s
	}
	if s := rowDifference(t.native, want.native); s != "" {
		return "native, " + s
	}
	return ""
}

func rowDifference(got, want []string) string {
	if len(got) != len(want) {
		return fmt.Sprintf("rows: got %d, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			return fmt.Sprintf("row %d: got %s, want %s", i, got[i], want[i])
		}
	}
	return ""
}

// oraclePath returns a file to write documents to, in memory where the system has it.
func oraclePath(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "geojson")
	if err != nil {
		return filepath.Join(t.TempDir(), "f")
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "f")
}

// FuzzOracle compares the parser with the oracle on any bytes, with chunks of few rows and small
// windows, and several workers with one.
func FuzzOracle(f *testing.F) {
	for i, s := range oracleSeeds() {
		if testing.Short() && len(s) > longSeed && i%3 != 0 { // TestOracleSeeds reads it
			continue
		}
		f.Add([]byte(s), i%5 == 0, uint8(i), uint16(0))
		f.Add([]byte(s), true, uint8(i/2), uint16(i%97))
	}
	path := oraclePath(f)
	f.Fuzz(func(t *testing.T, data []byte, lines bool, batchRows uint8, readBytes uint16) {
		r := oracleRun{lines: lines, batchRows: int(batchRows % 7), readBytes: int(readBytes % 512)}
		if s := r.difference(path, data); s != "" {
			t.Fatalf("%+v: %s\n%q", r, s, data)
		}
		r.inParts(t, data, int(readBytes)+64*int(batchRows), batchRows >= 128)
	})
}

// longSeed is from which length on seeds are read fewer times under -short: the oracle's tree of a
// thousand brackets takes its time.
const longSeed = 2000

func TestOracleSeeds(t *testing.T) {
	path := oraclePath(t)
	accepted := 0
	for i, s := range oracleSeeds() {
		runs := []oracleRun{{}, {true, 1, 0}, {false, 1, 1}, {false, 2, 17}, {true, 0, 5}, {false, 3, 64}}
		if testing.Short() && len(s) > longSeed {
			runs = runs[i%len(runs):][:1]
		}
		for _, r := range runs {
			if different := r.difference(path, []byte(s)); different != "" {
				t.Errorf("%+v: %s\n%s", r, different, shortened(s))
			}
			if _, _, err := runOracle([]byte(s), r.lines); err == nil {
				accepted++
			}
		}
	}
	t.Logf("%d documents, %d runs accepted", len(oracleSeeds()), accepted)
}

func shortened(s string) string {
	if len(s) > 600 {
		return strconv.Quote(s[:300]) + " … " + strconv.Quote(s[len(s)-300:])
	}
	return strconv.Quote(s)
}

// TestOracleGenerated compares the parser with the oracle on random documents: valid ones, most of
// them odd, and the same with mistakes in them.
func TestOracleGenerated(t *testing.T) {
	documents, mutants := 1_500, 3_000
	if !testing.Short() {
		documents, mutants = 15_000, 30_000
	}
	t.Run("valid", func(t *testing.T) {
		compareGenerated(t, documents, 0, func(g *generator) []byte { return []byte(g.document()) })
	})
	t.Run("mutated", func(t *testing.T) {
		compareGenerated(t, mutants, 1_000_000, func(g *generator) []byte { return g.mutate([]byte(g.document())) })
	})
}

// TestOracleReplacedCharacters: a list of texts that a later chunk makes JSON keeps its escapes as
// they are written, so that nothing is replaced in it.
func TestOracleReplacedCharacters(t *testing.T) {
	const text = `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"v":["\ud800"]}},{"type":"Feature","properties":{"v":[[]]}}]}`
	path := oraclePath(t)
	for _, rows := range []int{0, 1} {
		table, err := oracleRun{batchRows: rows}.parseFile(path, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := table.ReplacedCharacters; got != 0 {
			t.Errorf("%s\nin chunks of %d rows: %d characters replaced, want 0", text, rows, got)
		}
	}
}

// compareGenerated makes n documents with seeds from first on and compares what the two parsers
// make of them, up to 10 differences.
func compareGenerated(t *testing.T, n, first int, document func(*generator) []byte) {
	path, began, accepted, different := oraclePath(t), time.Now(), 0, 0
	for seed := first; seed < first+n && different < 10; seed++ {
		g := newGenerator(uint64(seed))
		data, r := document(g), g.run()
		if _, _, err := runOracle(data, r.lines); err == nil {
			accepted++
		}
		if s := r.difference(path, data); s != "" {
			t.Errorf("seed %d, %+v: %s\n%s", seed, r, s, shortened(string(data)))
			different++
		}
		if seed%eachInParts() == 0 && !t.Failed() {
			r.inParts(t, data, g.Int(), g.one(3))
		}
	}
	t.Logf("%d documents, %d accepted, %.1f s", n, accepted, time.Since(began).Seconds())
}

// eachInParts returns which of the generated documents several workers read: all, under -short
// every third one.
func eachInParts() int {
	if testing.Short() {
		return 3
	}
	return 1
}

// generator writes random GeoJSON.
type generator struct {
	*rand.Rand
	loose   bool // blanks in odd places
	dups    bool // members twice
	wild    bool // values of any kind in any property
	names   []string
	kinds   []int // of properties by name: what a feature writes unless wild
	shape   int   // of geometries; -1: any
	z       int   // 0: two ordinates, 1: three, 2: any
	compact bool  // members in the same order in every feature
}

func newGenerator(seed uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 42))}
	g.loose, g.dups, g.wild, g.compact = g.one(3), g.one(4), g.one(3), g.one(2)
	all := []string{
		"a", "b", "name", "id", "geometry", "type", "coordinates", "properties", "", "geometry_1",
		"feature_id", "é", `t\u0079pe`, `\"`,
		"a_long_name_of_more_than_sixteen_bytes", "features", `\ud800`, "crs",
	}
	for range 1 + g.IntN(6) {
		g.names = append(g.names, all[g.IntN(len(all))])
		g.kinds = append(g.kinds, g.IntN(14))
	}
	g.shape, g.z = g.IntN(9)-1, g.IntN(3)
	return g
}

func (g *generator) one(in int) bool { return g.IntN(in) == 0 }

func (g *generator) pick(s ...string) string { return s[g.IntN(len(s))] }

func (g *generator) run() oracleRun {
	r := oracleRun{lines: g.one(4)}
	if g.one(2) {
		r.batchRows = 1 + g.IntN(4)
	}
	if g.one(2) {
		r.readBytes = 1 + g.IntN(300)
	}
	return r
}

func (g *generator) blank() string {
	if !g.loose || g.one(2) {
		return ""
	}
	return g.pick(" ", " ", "\n", "\t", "\r\n", "  ", "          ", " \t\n\r ")
}

// member is a name, already written as JSON text without quotes, and a value.
type member struct{ name, value string }

func (g *generator) object(members []member) string {
	if g.dups && g.one(3) && len(members) > 0 {
		again := members[g.IntN(len(members))]
		if g.one(2) {
			again.value = g.anyValue(1)
		}
		members = append([]member{again}, members...)
		if g.one(3) {
			members = append(members[1:], again)
		}
	}
	if !g.compact || g.one(20) {
		g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	}
	var b strings.Builder
	b.WriteString("{" + g.blank())
	for i, m := range members {
		if i > 0 {
			b.WriteString("," + g.blank())
		}
		b.WriteString(`"` + m.name + `"` + g.blank() + ":" + g.blank() + m.value + g.blank())
	}
	return b.String() + "}"
}

func (g *generator) array(values []string) string {
	var b strings.Builder
	b.WriteString("[" + g.blank())
	for i, v := range values {
		if i > 0 {
			b.WriteString("," + g.blank())
		}
		b.WriteString(v + g.blank())
	}
	return b.String() + "]"
}

// some returns n values of f.
func some(n int, f func() string) []string {
	var out []string
	for range n {
		out = append(out, f())
	}
	return out
}

func (g *generator) document() string {
	rows := []int{0, 1, 1, 2, 3, 5, 8, 20}[g.IntN(8)]
	features := some(rows, g.feature)
	switch g.IntN(8) {
	case 0:
		return g.sequence(features)
	case 1:
		if len(features) > 0 {
			return g.blank() + g.array(features) + g.blank()
		}
	case 2:
		return g.geometry(0)
	case 3:
		return g.feature()
	}
	members := []member{{"type", `"FeatureCollection"`}}
	if g.one(3) {
		members = append(members, member{g.pick("links", "name", "bbox", "type_", "numberMatched"), g.anyValue(2)})
	}
	if g.one(5) {
		members = append(members, member{"crs", g.crs()})
	}
	members = append(members, member{"features", g.array(features)})
	return g.pick("", "", "", "\xEF\xBB\xBF") + g.blank() + g.object(members) + g.pick("", "\n", " \r\n")
}

func (g *generator) sequence(features []string) string {
	var b strings.Builder
	b.WriteString(g.pick("", "", "\x1e", "\n", "\xEF\xBB\xBF"))
	for _, f := range features {
		if g.one(5) {
			f = g.geometry(0)
		}
		b.WriteString(f + g.pick("\n", "\n", "\n", "\r\n", "\n\x1e", "\n\n", " \n "))
	}
	return b.String()
}

func (g *generator) crs() string {
	return g.pick("null", `{"type":"name","properties":{"name":"EPSG:3857"}}`,
		`{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}}`,
		`{"type":"EPSG","properties":{"code":25832}}`, `{"type":"name","properties":{"name":"mine"}}`,
		`{"type":"link"}`, `3`)
}

func (g *generator) feature() string {
	geometry := "null"
	if !g.one(6) {
		geometry = g.geometry(0)
	}
	members := []member{{g.pick("type", "type", "type", `t\u0079pe`), `"Feature"`}}
	if g.one(4) {
		members = append(members, member{"id", g.pick("1", "17", `"a"`, "null", "9223372036854775808",
			"-1", "1.5", `"é\n"`, `"2024-01-01"`, "1")})
	}
	if !g.one(10) {
		members = append(members, member{"properties", g.properties()})
	}
	if !g.one(10) {
		members = append(members, member{"geometry", geometry})
	}
	if g.one(10) {
		members = append(members, member{
			g.pick("bbox", "foreign", "meta", "coordinates", "links", "features"),
			g.anyValue(2),
		})
	}
	if g.one(40) {
		members = append(members, member{"crs", g.crs()})
	}
	return g.object(members)
}

func (g *generator) properties() string {
	if g.one(12) {
		return "null"
	}
	var members []member
	for i, name := range g.names {
		if g.one(6) {
			continue
		}
		kind := g.kinds[i]
		if g.wild && g.one(8) {
			kind = g.IntN(14)
		}
		members = append(members, member{name, g.value(kind, 2)})
	}
	return g.object(members)
}

func (g *generator) anyValue(depth int) string { return g.value(g.IntN(14), depth) }

// value returns a JSON value of a kind.
func (g *generator) value(kind, depth int) string {
	if g.one(12) {
		return "null"
	}
	switch kind {
	case 0:
		return strconv.Itoa(g.IntN(2000) - 1000)
	case 1:
		return g.integer()
	case 2:
		return g.float()
	case 3:
		return g.pick("true", "false")
	case 4:
		return g.text()
	case 5:
		return `"` + g.date() + `"`
	case 6:
		return `"` + g.date() + g.pick("T", " ") + g.clock() + `"`
	case 7:
		return `"` + g.date() + "T" + g.clock() + g.pick("Z", "Z", "+02:00", "+0200", "-05", "+00:00", "-00:00") + `"`
	case 8:
		return `"` + g.clock() + `"`
	case 9:
		return g.array(some(g.IntN(4), g.integer))
	case 10:
		return g.array(some(g.IntN(4), g.text))
	case 11:
		return g.array(some(g.IntN(3), func() string { return g.pick("true", "false") }))
	case 12:
		return g.array(some(g.IntN(4), g.float))
	}
	if depth == 0 {
		return "[]"
	}
	if g.one(2) {
		return g.array(some(g.IntN(3), func() string { return g.anyValue(depth - 1) }))
	}
	var members []member
	for range g.IntN(3) {
		members = append(members, member{g.pick("type", "coordinates", "x", "geometry"), g.anyValue(depth - 1)})
	}
	return g.object(members)
}

func (g *generator) integer() string {
	if g.one(3) {
		return g.pick("-0", "0", "2147483647", "2147483648", "-2147483648", "-2147483649", "9007199254740993",
			"9223372036854775807",
			"9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
			"18446744073709551616",
			"123456789012345678901234567890", "-1")
	}
	return strconv.FormatInt(g.Int64()>>g.IntN(64), 10)
}

func (g *generator) float() string {
	switch g.IntN(6) {
	case 0:
		return g.pick("-0.0", "1e3", "1E+2", "4.9e-324", "1.7976931348623157e308", "1e-400", "0.1",
			"90.81246689931749", "5e-1", "0e5",
			"2.2250738585072014e-308", "123456789012345678901.5", "9007199254740993.0",
			"0.000000000000000000000000000001")
	case 1:
		return strconv.FormatFloat(g.NormFloat64(), 'e', g.IntN(18), 64)
	case 2:
		return strconv.Itoa(g.IntN(180))
	}
	return strconv.FormatFloat(g.Float64()*360-180, 'f', g.IntN(17)-1, 64)
}

func (g *generator) text() string {
	var b strings.Builder
	b.WriteByte('"')
	for range g.IntN(6) {
		b.WriteString(g.pick("a", "Zürich", `\n`, `\"`, `\\`, `\/`, `\u00e9`, `\ud83d\ude00`, `\ud800`,
			`\udc00`, "]}{[", `\"coordinates\":[9,9]`, `\u0000`,
			"日本語", "\u2028", "0123456789abcdef", "\x7f", `\b\f\r\t`, " "))
	}
	return b.String() + `"`
}

func (g *generator) date() string {
	sep := g.pick("-", "-", "-", "/")
	day := g.IntN(28) + 1
	if g.one(60) {
		day = 31
	}
	return fmt.Sprintf("%04d%s%02d%s%02d", []int{0, 1677, 1678, 1969, 1970, 2000, 2023, 2024, 2262, 9999}[g.IntN(10)],
		sep, g.IntN(12)+1, sep, day)
}

func (g *generator) clock() string {
	s := fmt.Sprintf("%02d:%02d", g.IntN(24), g.IntN(60))
	if g.one(4) {
		return s
	}
	s += fmt.Sprintf(":%02d", g.IntN(60))
	if g.one(2) {
		return s
	}
	return s + "." + "123456789012"[:[]int{1, 3, 3, 6, 9, 11}[g.IntN(6)]]
}

func (g *generator) position() string {
	n := 2 + g.z%2
	if g.z == 2 {
		n = 2 + g.IntN(2)
	}
	if g.one(50) {
		n = 4 + g.IntN(2)
	}
	return g.array(some(n, g.float))
}

func (g *generator) nested(level int) string {
	if level == 0 {
		return g.position()
	}
	return g.array(some([]int{0, 1, 2, 4, 5}[g.IntN(5)], func() string { return g.nested(level - 1) }))
}

func (g *generator) geometry(depth int) string {
	kind := g.shape
	if kind < 0 || g.one(30) {
		kind = g.IntN(8)
	}
	if depth == 0 && kind < 6 && g.one(6) {
		kind = (kind + 3) % 6
	}
	if kind > 5 {
		if depth > 2 {
			kind = 0
		} else {
			members := []member{{"type", `"GeometryCollection"`}, {"geometries", g.array(some(g.IntN(4), func() string {
				return g.geometry(depth + 1)
			}))}}
			return g.object(g.withForeign(members))
		}
	}
	name := []string{"Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon"}[kind]
	coordinates := g.nested([]int{0, 1, 2, 1, 2, 3}[kind])
	if kind == 0 && g.one(8) {
		coordinates = "[" + g.blank() + "]"
	}
	return g.object(g.withForeign([]member{{"type", `"` + name + `"`}, {"coordinates", coordinates}}))
}

func (g *generator) withForeign(members []member) []member {
	if g.one(10) {
		members = append(members, member{
			g.pick("bbox", "x", "geometries", "properties", "coordinates_"),
			g.anyValue(2),
		})
	}
	return members
}

var oracleTokens = []string{
	"{", "}", "[", "]", ",", ":", `"`, `\`, "null", "true", "1", "-", ".", "e", "0", "1e400", `""`, " ",
	"\n", "\t", "\x00", "\xff", "\xc3",
	`"type"`, `"Feature"`, `"Point"`, `"FeatureCollection"`, `"coordinates"`, `"geometry":null`, `"id":`,
	"[]", "{}", "\x1e", "\xEF\xBB\xBF", "9999999999", `\u12`,
	`"GeometryCollection"`, `"geometries":[]`, `"properties":{}`, `"type":"Feature"`, `"features":[]`,
	"[1,2]", "NaN", "01", "/",
}

// mutate makes one to three mistakes.
func (g *generator) mutate(data []byte) []byte {
	data = append([]byte{}, data...)
	for range 1 + g.IntN(3) {
		if len(data) == 0 {
			return data
		}
		at := g.IntN(len(data))
		to := min(len(data), at+1+g.IntN(8))
		switch g.IntN(7) {
		case 0:
			data[at] ^= 1 << g.IntN(8)
		case 1:
			data = append(data[:at:at], data[to:]...)
		case 2, 3:
			token := oracleTokens[g.IntN(len(oracleTokens))]
			data = append(data[:at:at], append([]byte(token), data[at+g.IntN(2):]...)...)
		case 4:
			data = data[:at]
		case 5: // swap two tokens
			data = g.swapTokens(data)
		case 6: // a piece again
			from := g.IntN(len(data))
			end := min(len(data), from+g.IntN(60))
			data = append(data[:at:at], append(append([]byte{}, data[from:end]...), data[at:]...)...)
		}
	}
	return data
}

// swapTokens exchanges two pieces between commas, colons and brackets.
func (g *generator) swapTokens(data []byte) []byte {
	piece := func() (from, to int) {
		cut := func(i int) bool { return strings.IndexByte("{}[],:", data[i]) >= 0 }
		from = g.IntN(len(data))
		for from > 0 && !cut(from-1) {
			from--
		}
		for to = from; to < len(data) && !cut(to); {
			to++
		}
		return from, to
	}
	a0, a1 := piece()
	b0, b1 := piece()
	if a0 > b0 {
		a0, a1, b0, b1 = b0, b1, a0, a1
	}
	if b0 < a1 {
		return data
	}
	s := string(data)
	return []byte(s[:a0] + s[b0:b1] + s[a1:b0] + s[a0:a1] + s[b1:])
}

// oracleSeeds returns the inputs that break parsers, one of each type of a column, and what went
// wrong once.
func oracleSeeds() []string {
	collection := func(features ...string) string {
		return `{"type":"FeatureCollection","features":[` + strings.Join(features, ",") + `]}`
	}
	feature := func(geometry, properties string) string {
		return `{"type":"Feature","geometry":` + geometry + `,"properties":` + properties + `}`
	}
	shape := func(kind, coordinates string) string {
		return `{"type":"` + kind + `","coordinates":` + coordinates + `}`
	}
	point := shape("Point", "[1,2]")
	values := func(values ...string) string { // a column v
		var features []string
		for _, v := range values {
			features = append(features, feature("null", `{"v":`+v+`}`))
		}
		return collection(features...)
	}
	geometries := func(geometries ...string) string {
		var features []string
		for _, g := range geometries {
			features = append(features, feature(g, "{}"))
		}
		return collection(features...)
	}
	seeds := []string{
		// roots
		"", " ", "\xEF\xBB\xBF", "garbage", "{}", "[]", "null", "1", `"a"`, "\xFF\xFE{\x00}\x00",
		"\x00{\x00}", "\x1e", "\x1e\n", "{", "[", "[1]", "[{}]", "[[]]", "[" + point + "]",
		point, point + "\n" + point, point + point, point + "\r" + point, point + " " + point, "\x1e" +
			point + "\n\x1e" + point, "\n\n" + point + "\r\n\r\n" + point + "\n",
		feature(point, "{}") + "\n" + feature("null", "null"), "[" + feature(point, "null") + "]",
		"[" + feature(point, "null") + ",]",
		collection(), collection() + collection(), collection() + "\n" + collection(), collection() + "x",
		"\xEF\xBB\xBF" + collection(feature(point, "{}")) + "\r\n ",
		`{"type":"FeatureCollection"}`, `{"features":[]}`, `{"features":[],"type":"FeatureCollection"}`,
		`{"type":"FeatureCollection","features":null}`,
		`{"type":"FeatureCollection","features":{}}`, `{"type":"FeatureCollection","features":[],"features":[]}`,
		`{"type":"FeatureCollection","features":[null]}`,
		`{"type":"FeatureCollection","features":[` + point + `]}`, `{"type":"featurecollection","features":[]}`,
		`{"type":1,"features":[]}`,
		`{"features":[],"type":"Feature"}`, `{"type":"Feature","features":[1]}`,
		`{"type":"X","type":"FeatureCollection","features":[]}`,
		`{"type":"FeatureCollection","features":[],"type":"X"}`,
		`{"type":"FeatureCollection","type":"Feature","geometry":null}`,
		`{"type":"Feature","type":"FeatureCollection","features":[]}`, `{"data":` + collection() + `}`,
		"[" + collection() + "]",
		`{"type":"FeatureCollection","links":[{"rel":"self"},{"rel":"n"}],"features":[` + feature(point, "{}") +
			`],"name":"x","bbox":[1,2,3,4]}`,
		`{"type":"GeometryCollection","geometries":[` + point + `]}`, `{"type":"Topology"}`,
		`{"type":"FeatureCollection","features":[]`,
		`{"type":"FeatureCollection","features":[}`, `{"type":"FeatureCollection","features":[]]`,
		collection() + "}", "\x1e" + collection(), "\x1e" + "[" + feature("null", "null") + "]",
		point + "\n" + collection(), feature("null", "null") + "\n" +
			`{"type":"Feature","properties":{},"type":"Point","coordinates":[1,2]}`,
		`{"type":"Feature","geometry":null}` + "\n" +
			`{"type":"Feature","geometry":null,"type":"Point","coordinates":[1,2]}`,
		// crs
		`{"type":"FeatureCollection","crs":null,"features":[]}`,
		`{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::3857"}},"features":[]}`,
		`{"type":"FeatureCollection","crs":{"type":"EPSG","properties":{"code":25832}},"features":[` +
			feature(point, "{}") + `],"crs":null}`,
		`{"type":"Point","crs":{"type":"name","properties":{"name":"EPSG:3857"}},"coordinates":[1,2]}` + "\n" + point,
		`{"type":"Feature","crs":{"type":"name","properties":{"name":"EPSG:3857"}},"geometry":null,"properties":{"a":1}}` + "\n" + `{"type":"Feature","geometry":null,"properties":{"a":"x"}}`,
		collection(`{"type":"Feature","crs":null,"geometry":null,"properties":null}`),
		// features
		collection(`{"geometry":` + point + `}`), collection(`{"type":"feature"}`), collection(`{"type":"Feature"}`),
		collection(`{"type":"Feature","properties":[]}`),
		collection(`{"type":"Feature","properties":1}`), collection(`{"type":"Feature","geometry":[]}`),
		collection(`{"type":"Feature","geometry":{}}`), collection(`{"type":"Feature","geometry":"x"}`),
		collection(`{"type" : "Feature" , "geometry" : {"type" : "Point","coordinates" : [1,2]} , "properties" : { "a" : 1 } }`), collection(`{"t\u0079pe":"Feat\u0075re","g\u0065ometry":` + point + `}`),
		collection(feature(point, shape("Point", "[9,9]"))), collection(feature(point, `{"type":"shop"}`)),
		collection(feature(point, `{"coordinates":[9,9]}`)),
		collection(`{"type":"Feature","meta":{"type":"x"},"properties":{"geometry":` + shape("Point", "[9,9]") +
			`},"geometry":` + point + `}`),
		collection(`{"type":"Feature","geometry":`+point+`,"geometry":null}`,
			`{"type":"Feature","geometry":null,"geometry":`+point+`}`),
		collection(`{"type":"Feature","properties":{"a":1},"properties":{"b":2}}`,
			`{"type":"Feature","properties":{"a":1},"properties":null}`),
		collection(feature(point, `{"a":1,"a":"x","b":2,"a":true}`), feature(point, `{"a":false}`)),
		collection(feature("null", `{"a":null,"a":1}`), feature("null", `{"a":1,"a":null}`)),
		collection(feature("null", `{"a":1e400,"a":1}`)), collection(`{"type":"Feature","id":true,"id":1}`),
		collection(`{"type":"Feature","geometry":1,"geometry":null}`),
		collection(`{"type":"Feature","properties":1,"properties":{"a":1}}`),
		collection(`{"type":"X","type":"Feature"}`), collection(`{"type":"Feature","type":"X"}`),
		collection(`{"type":"Feature","id":1,"id":"x","properties":{"x":[1],"x":[[1]]}}`, feature("null", `{"x":[2]}`)),
		// ids
		collection(`{"type":"Feature","id":1}`, `{"type":"Feature","id":null}`, `{"type":"Feature","id":-0}`),
		collection(`{"type":"Feature","id":1}`, `{"type":"Feature","id":"1"}`),
		collection(`{"type":"Feature","id":18446744073709551615}`), collection(`{"type":"Feature","id":-1}`,
			`{"type":"Feature","id":18446744073709551615}`), collection(`{"type":"Feature","id":1.50}`),
		collection(`{"type":"Feature","id":null}`), collection(`{"type":"Feature","id":false}`),
		collection(`{"type":"Feature","id":[]}`), collection(`{"type":"Feature","id":{}}`),
		collection(`{"type":"Feature","id":1,"properties":{"id":2,"feature_id":3,"feature_id_1":4,"geometry":5,"geometry_1":6}}`), collection(`{"type":"Feature","id":99999999999999999999}`),
		collection(`{"type":"Feature","id":1e400}`), collection(`{"type":"Feature","id":"2024-01-01"}`),
		collection(feature("null", `{"a":1}`), `{"type":"Feature","id":7,"properties":{"a":2}}`),
		// values
		values("1", "2"), values("1", "-2147483649"), values("18446744073709551615", "1"),
		values("18446744073709551615", "-1"), values("18446744073709551616", "9007199254740993"),
		values("1", "1.0"), values("1e3", "-0", "-0.0"), values("-0", "0"), values("true", "false"),
		values("true", "2"), values("true", "1.5", "null"), values("null", "null"), values(`"a"`, "1"),
		values("true", `"a"`, "1.50", "[ 1 ]", `{"a" : [ ]}`),
		values("{}"), values("[]"), values("[]", "[1]"), values("[]", `["a"]`, `"b"`), values("[]", "1"),
		values("[]", "true"), values("[]", "true", "1"), values("[1,2.5]"), values("[1]", "2.5", "true"),
		values("[true]", "false"),
		values("[true,1]"), values("[null]"), values("[1,null]"), values("[[1]]"), values("[1]", `["a"]`),
		values("[1]", `["a"]`, "3"), values("[18446744073709551615]", "[-1]"), values("[1e400]"),
		values(`[1e400,"a"]`), values("[[1e400]]"), values(`{"a":1e400}`),
		values("1e400"), values("-1e400"), values("1e-400"), values("1e99999999999"), values("1e-99999999999"),
		values("01"), values("+1"), values(".5"), values("5."), values("1e"), values("1e+"), values("-"),
		values("--1"), values("0x10"), values("1_000"), values("1.2.3"), values("NaN"), values("Infinity"),
		values("tru"), values("nul"), values("True"),
		values("4.9e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "90.81246689931749"),
		values("9007199254740993"), values("1." + strings.Repeat("0", 800) + "1"), values(strings.Repeat("9", 308)),
		values(strings.Repeat("9", 310)),
		values("9007199254740992."+strings.Repeat("9", 30), "9007199254740993."+strings.Repeat("0", 30)),
		values("12345678", "123456789", "1234567812345678", "12345678123456789", "1234567.8", "12345678.9"),
		// texts and times
		values(`"2024-02-29"`, `"2024/03/01"`), values(`"2023-02-29"`), values(`"2024-02-29"`, `""`),
		values(`"0000-01-01"`, `"9999-12-31"`), values(`"2024-02-29"`, "1"), values(`"2024-02-29"`, `"x"`),
		values(`"2024-02/29"`),
		values(`"2024-02-29T12:34"`, `"2024-02-29 12:34:56.1"`, `"1600-01-01"`),
		values(`"2024-02-29T12:34:56.1234567"`), values(`"2024-02-29T12:34:56.1234567"`, `"1600-01-01"`),
		values(`"2024-02-29T12:34:56.1234567890"`),
		values(`"2024-02-29T12:34:56Z"`, `"2024-02-29T12:34:56+00:00"`), values(`"2024-02-29T12:34:56+02:00"`,
			`"2024-02-29T12:34:56.5+0200"`, `"2024-02-29T12:34:56+02"`), values(`"2024-02-29T12:34:56+02:00"`,
			`"2024-02-29T12:34:56Z"`),
		values(`"2024-02-29T12:34:56Z"`, `"2024-02-29"`), values(`"2024-02-29T12:34:56Z"`, `"2024-02-29T12:34:56"`),
		values(`"2024-02-29T24:00"`), values(`"2024-02-29T23:59:60Z"`), values(`"2024-02-29t12:34:56z"`),
		values(`"2024-02-29T12:34:56+24:00"`),
		values(`"12:34"`, `"12:34:56.789"`), values(`"12:34:56.7891"`), values(`"12:34:56.7891234"`, `"1:34"`),
		values(`"12:34"`, `"2024-02-29"`), values(`"12:34:"`), values(`"12:34:56."`), values(`"\u0032024-01-01"`),
		values(`"1677-09-21T00:12:43.145224192"`, `"2262-04-11T23:47:15.854775807"`),
		values(`"2262-04-11T23:47:16.854775807Z"`), values(`"1677-09-21T00:12:44.145224192-00:01"`),
		values(`"1969-12-31T23:59:59.999"`, `"1969-12-31"`),
		values(`"a\u0000b"`, `"\ud800"`, `"\udc00\ud800"`, `"\ud83d\ude00"`, `"\ud800\ud83d\ude00"`),
		values(`["\ud800"]`), values("\"\xff\""), values("\"\xc3\""), values("\"\xed\xa0\x80\""),
		values("\"a\tb\""), values("\"a\nb\""), values("\"\x00\""), values("\"\x7f\u2028\""), values(`"\x"`),
		values(`"\u12"`), values(`"\u12g4"`),
		values(`"\"coordinates\":[9,9]"`, `"]}{["`, `"c:\\"`), values(`"`), values(`"abc`), values(`"\`),
		collection(feature("null", "{\"\xff\":1}")), collection(feature("null", `{"\ud800":1,"\udfff":2}`)),
		collection(feature("null", `{1:1}`)), collection(feature("null", `{"a"}`)),
		collection(feature("null", `{"a":}`)),
		collection(feature("null", `{"a":1,}`)), collection(feature("null", `{,}`)),
		collection(feature("null", `{"a":1 "b":2}`)), collection(feature("null", `{"a":1]`)),
		collection(feature("null", "{\r\n\t\"a\"\r\n:\t1\r\n}")), collection(feature("null", "{\"a\":\v1}")),
		values("/**/1"),
		// geometries
		geometries(shape("LineString", "[[1,2,100],[3,4,200]]")),
		geometries(shape("Polygon", "[[[0,0,1],[1,0,1],[1,1,1],[0,0,1]]]"),
			shape("Polygon", "[[[0,0],[1,0],[1,1],[0,0]]]")), geometries(shape("Point", "[1,2,3]"),
			shape("LineString", "[[1,2],[3,4]]")),
		geometries(shape("Point", "[]"), point), geometries(shape("Point", "[]"), shape("LineString", "[[1,2],[3,4]]")),
		geometries(shape("LineString", "[]"), shape("LineString", "[[1,2],[3,4]]")),
		geometries(shape("MultiPoint", "[]"), shape("MultiPoint", "[[1,2]]")),
		geometries("null", point), geometries("null", "null"), geometries(shape("Point", "[]"), "null",
			shape("Point", "[1,2,3]")), geometries(shape("LineString", "[[1,null],[3,4]]")),
		geometries(shape("LineString", `[["1",2],[3,4]]`)), geometries(shape("LineString", "[[1,NaN]]")),
		geometries(shape("Point", "[1,2,3,4,5]")), geometries(shape("Point", "[1,2,3,null]")),
		geometries(shape("Point", `[1,2,3,4,"5"]`)), geometries(shape("Point", "[1]")),
		geometries(shape("Point", "[1,2,]")), geometries(shape("Point", "[[1,2]]")), geometries(shape("Point", "null")),
		geometries(shape("Point", "1")), geometries(`{"type":"Point"}`),
		geometries(shape("LineString", "[[]]")), geometries(shape("Polygon", "[[]]"),
			shape("MultiPolygon", "[[[]],[]]"), shape("Polygon", "[]")),
		geometries(shape("MultiLineString", "[[]]"), shape("LineString", "[]"), shape("LineString", "[[1,2]]")),
		geometries(shape("MultiPolygon", "[[[[1,2],[3,4]]]]"), shape("Polygon", "[[[1,2],[3,4],[5,6],[1,2]],[[7,8]]]")),
		geometries(shape("MultiPoint", "[[1,2],[3,4,5]]"), point, shape("Point", "[]"), "null"),
		geometries(shape("Polygon", "[[1,2]]")), geometries(shape("Polyline", "[]")),
		geometries(shape("point", "[1,2]")), geometries(shape("Point ", "[1,2]")), geometries(shape("", "[]")),
		geometries(`{"type":"GeometryCollection","geometries":[]}`),
		geometries(`{"type":"GeometryCollection","geometries":[`+point+`,{"type":"GeometryCollection","geometries":[`+
			shape("LineString", "[[1,2],[3,4,5]]")+`]},`+shape("Point", "[]")+`]}`, point),
		geometries(`{"type":"GeometryCollection"}`), geometries(`{"type":"GeometryCollection","geometries":null}`),
		geometries(`{"type":"GeometryCollection","geometries":[null]}`),
		geometries(`{"type":"GeometryCollection","geometries":[` + point + `,]}`),
		geometries(`{"geometries":[` + point + `],"type":"GeometryCollection"}`),
		geometries(`{"type":"GeometryCollection","geometries":[1],"geometries":[]}`),
		geometries(`{"type":"GeometryCollection","geometries":[1],"type":"Point","coordinates":[1,2]}`),
		geometries(`{"type":"GeometryCollection","geometries":[` + point + `],"geometries":[` +
			shape("Point", "[3,4,5]") + `]}`),
		geometries(`{"coordinates":[[1,2],[3,4]],"type":"LineString"}`, `{"coordinates":[1,2],"type":"Point"}`,
			`{"coordinates":[[3,4]],"type":"MultiPoint"}`),
		geometries(`{"type":"Point","coordinates":[1,2],"coordinates":[3,4]}`),
		geometries(`{"type":"Point","coordinates":[[1,2]],"coordinates":[3,4]}`),
		geometries(`{"type":"Point","coordinates":[1,2],"type":"LineString"}`),
		geometries(`{"type":"LineString","coordinates":[1,2],"type":"Point"}`),
		geometries(`{"type":"X","coordinates":[1,2],"type":"Point"}`),
		geometries(`{"type":"Point","coordinates":[1,2],"coordinates":null}`),
		geometries(`{"type":"Point","bbox":[1,2,1,2],"coordinates":[1,2],"x":{"type":"y"}}`),
		geometries("{ \"type\" :\t\"Point\" ,\n\"coordinates\" : [ 1 ,\t2 ] }"),
		geometries(shape("Point", "[-0,-0.0]")), geometries(shape("Point", "[1e400,0]")),
		geometries(shape("Point", "[1,2,3,1e400]")),
		geometries(shape("Point", "[90.81246689931749,-179.99999999999997]")), geometries(shape("Point", "[1 2]")),
		geometries(shape("Point", "[1,2")), geometries(shape("LineString", "[[1,2][3,4]]")),
		geometries(shape("LineString", "[[1,2],]")),
		geometries(shape("LineString", "[[ 1 , 2 ] , [3,4 ,5] ,[ 6,7]]")),
		`{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"LineString","coordinates":[[1,2],[3,4`,
	}
	// what went wrong once
	crs := `"crs":{"type":"name","properties":{"name":"EPSG:3857"}}`
	truncated := collection(feature("null", `{"a":null,"a":1}`), feature("null", `{"a":1,"a":`))
	seeds = append(seeds, values("18446744073709551615", "[1]", "-1"), strings.TrimSuffix(truncated, "}]}"),
		`[{"type":"Feature","properties":{},"properties":0}`, `{"type":"Feature","properties":{},"properties":0}{}`,
		collection(feature("null", `{"a":1,"b":2}`), feature("null", `{"a": 1, "b":  2}`),
			feature("null", "{\"a\":\t1}")),
		collection(feature(point, "{}"), `{"type":"Feature","geometry": `+shape("Point", " [3,4]")+
			`,"properties":\n{} }`, feature(shape("Point", "\n[5,6]"), " null")),
		collection(feature("null", `{"x":1,"x":2}`), feature("null", `{"x":"a","x":3}`), feature("null", `{"x":"y"}`)),
		collection(feature("null", `{"x":1}`), feature("null", `{"x":"a","x":[3]}`), feature("null", `{"x":"y"}`)),
		collection(feature("null", `{"x":1}`), `{"type":"Feature","geometry":null,"properties":`),
		collection(feature("null", `{"x":1}`), `{"type":"Feature","geometry":null,"properties":{"x":`),
		`{"type":"Feature",`+crs+`,"properties":{"a":1}}`+"\n"+`{"type":"Feature",`+crs+`,"properties":{"a":2}}`+
			"\n"+`{"type":"Feature","properties":{"a":"x"}}`,
		geometries(`{"type":"GeometryCollection","x":1,"geometries":[{"type":"Point","y":2,"coordinates":[1,2]}],"z":3,"geometries":[{"type":"Point","w":4,"coordinates":[1,2]}]}`),
	)
	for _, n := range []int{1, 2, 3, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025} {
		seeds = append(seeds, values(`"`+strings.Repeat(`\`, n)+`"`), values(`"`+strings.Repeat(`\\`, n)+`"`,
			strings.Repeat("[", n)+strings.Repeat("]", n)))
	}
	for n := 1017; n <= 1026; n++ { // --max-depth
		nested := strings.Repeat("[", n) + strings.Repeat("]", n)
		open, closed := strings.Repeat(`{"type":"GeometryCollection","geometries":[`, n/2), strings.Repeat("]}", n/2)
		collections := open + shape("Polygon", "[[[1,2]]]") + closed
		seeds = append(seeds, values(nested), feature("null", `{"v":`+nested+`}`), geometries(collections),
			collections, geometries(open+shape("Point", "[1]")+closed), `{"type":"FeatureCollection","x":`+
				nested+`,"features":[]}`)
	}
	return seeds
}
